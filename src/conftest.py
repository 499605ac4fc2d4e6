"""The examples in the docstrings of a plug run where its neighbour is installed."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave a plug out whose neighbour is missing; any other error is one."""
    if collection_path.parent.name != "connect" or collection_path.suffix != ".py":
        return None
    try:
        import_module(f"tesla_eval.connect.{collection_path.stem}")
    except ModuleNotFoundError as error:
        return True if error.name and not error.name.startswith("tesla_eval") else None
    return None
