"""The models and tables that this package ships."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tesla_eval.base.resources import add_resource_folder


def data_folder() -> Path:
    """The folder of the models and tables."""
    return Path(__file__).parent / "data"


def selftest() -> tuple[list[dict[str, Any]], float]:
    """Stored scores, and how far a score may be from its stored value: not at all."""
    return json.loads((data_folder() / "selftest.json").read_text("utf-8")), 0.0


add_resource_folder(data_folder())
