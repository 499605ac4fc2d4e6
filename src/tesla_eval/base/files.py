"""Files that appear when they are complete."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["replacing"]


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary name beside `path` that becomes `path` at the end; interrupted work leaves nothing half-made.

    A link keeps pointing to its file, which is replaced. Pipes and devices such as /dev/null are written directly.
    """
    if path.exists() and not path.is_file():
        yield path
        return
    path = path.resolve()
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        yield temporary
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
