"""Clusters of these tests have a secret and a folder of their own: they neither find other clusters nor are found.

Ray reads the variables when it is imported.
"""

from __future__ import annotations

import atexit
import os
import secrets
import shutil
import tempfile

_FOLDER = tempfile.mkdtemp(prefix="ray")  # short, because names of sockets are
os.environ.update(RAY_AUTH_MODE="token", RAY_AUTH_TOKEN=secrets.token_hex(32), RAY_TMPDIR=_FOLDER)
atexit.register(shutil.rmtree, _FOLDER, ignore_errors=True)
