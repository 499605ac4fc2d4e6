"""Clusters of these tests have a secret of their own: Ray refuses whoever does not have it.

Ray reads the variables when it is imported.
"""

from __future__ import annotations

import os
import secrets

os.environ.update(RAY_AUTH_MODE="token", RAY_AUTH_TOKEN=secrets.token_hex(32))
