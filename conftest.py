"""The examples in the docstrings of a plug or of the HTTP server run where the packages that it needs are installed."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave a module out that needs a missing package; any other error is one."""
    room, name = collection_path.parent.name, collection_path.stem
    if collection_path.suffix != ".py" or not (room == "connect" or (room, name) == ("tuning", "http")):
        return None
    try:
        import_module(f"tesla_eval.{room}.{name}")
    except ModuleNotFoundError as error:
        return True if error.name and not error.name.startswith("tesla_eval") else None
    return None
