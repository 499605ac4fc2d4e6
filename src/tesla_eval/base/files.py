"""Files that appear when they are complete, and folders that one process writes to at a time."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tesla_eval.base.errors import ResourceError


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


def sync(path: Path) -> None:
    """Have a file or the names in a folder on the disk, so that they outlive a power cut."""
    number = os.open(path, os.O_RDONLY)
    try:
        with suppress(PermissionError):  # Windows does not sync what is open for reading only
            os.fsync(number)
    finally:
        os.close(number)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock file `path`. The system lets go of it when the process ends, however it ends."""
    with path.open("a+b") as file:
        try:
            if sys.platform == "win32":
                import msvcrt

                msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
            else:
                import fcntl

                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise ResourceError(
                f"{path.parent}: another process is writing there; wait until it ends"
            ) from error
        yield
