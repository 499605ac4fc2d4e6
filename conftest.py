"""What the tests of all packages share: fixtures, and which modules are collected."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

pytest_plugins = ["tests.fixtures"]


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave a module out that needs a missing package; any other error is one."""
    room, name = collection_path.parent.name, collection_path.stem
    if collection_path.suffix != ".py" or room not in {"connect", "serving"}:
        return None
    try:
        import_module(f"tesla_eval.{room}.{name}")
    except ModuleNotFoundError as error:
        return True if error.name and not error.name.startswith("tesla_eval") else None
    return None
