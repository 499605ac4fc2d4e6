"""Files that appear when they are complete, scratch folders, and folders that one process writes to at a time.

What is not complete has a random name and is locked while its process lives. So whatever is not locked was left by a
process that was killed; the next one that writes there removes it.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tesla_eval.base.errors import ResourceError

_UNFINISHED = r"\.(?:[0-9a-f]{12}|\d+)\.part"
"""How unfinished names end: with a random number, in older versions with the process id."""
_SECONDS_TO_KEEP = 24 * 3600
"""Windows does not lock what others open by name; what was not changed for so long is removed there."""


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary file beside `path` that becomes `path` at the end; interrupted work leaves nothing half-made.

    Each writer has a file of its own; the last one to finish wins. An existing file keeps its mode. A link keeps
    pointing to its file, which is replaced. Pipes and devices such as /dev/null are written directly.
    """
    if path.exists() and not path.is_file():
        yield path
        return
    path = path.resolve()
    mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else None

    def new_file(name: str) -> Path:
        temporary = path.with_name(name)
        temporary.touch(0o666 if mode is None else mode | stat.S_IRUSR | stat.S_IWUSR, exist_ok=False)
        return temporary

    _remove_leftovers(path.parent, f".{path.name}")
    with _held(f".{path.name}", new_file) as temporary:
        try:
            yield temporary
            if mode is not None:
                temporary.chmod(mode)
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write `text` as UTF-8 to `path`, which appears when it is complete."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")


@contextmanager
def scratch_folder(name: str, folder: Path | None = None) -> Iterator[Path]:
    """A new folder in `folder`, by default in the system's for temporary files, that is removed at the end."""
    if folder is None:
        from tempfile import gettempdir  # takes time to import: only when asked for

        folder = Path(gettempdir())

    def new_folder(name: str) -> Path:
        (folder / name).mkdir(stat.S_IRWXU)
        return folder / name

    _remove_leftovers(folder, name)
    with _held(name, new_folder) as scratch:
        try:
            yield scratch
        finally:
            shutil.rmtree(scratch, ignore_errors=True)


@contextmanager
def _held(stem: str, make: Callable[[str], Path]) -> Iterator[Path]:
    """What `make` makes under a name that nobody else has, locked so that nobody takes it for a leftover."""
    while True:
        path = make(f"{stem}.{os.urandom(6).hex()}.part")
        if sys.platform == "win32":
            yield path
            return
        with _locked_if_possible(path, wait=True):
            if not path.exists():  # somebody took it for a leftover before it was locked
                continue
            yield path
            return


def _remove_leftovers(folder: Path, stem: str) -> None:
    """Remove what killed processes left under such names, where that is possible."""
    with suppress(OSError):
        for path in folder.iterdir():
            if path.name.startswith(stem) and re.fullmatch(_UNFINISHED, path.name[len(stem) :]):
                _remove_if_left(path)


def _remove_if_left(path: Path) -> None:
    with suppress(OSError):
        if sys.platform == "win32":
            if time.time() - path.stat().st_mtime > _SECONDS_TO_KEEP:
                _remove(path)
            return
        with _locked_if_possible(path) as is_left:
            if is_left:
                _remove(path)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()


@contextmanager
def _locked_if_possible(path: Path, *, wait: bool = False) -> Iterator[bool]:
    """Whether the file or folder is locked now: not if another process holds it, or the file system has no locks."""
    try:
        number = os.open(path, (os.O_RDONLY if path.is_dir() else os.O_RDWR) | os.O_NOFOLLOW)
    except FileNotFoundError:
        yield False
        return
    try:
        yield _lock(number, wait=wait)
    finally:
        os.close(number)


def _lock(number: int, *, wait: bool = False) -> bool:
    """Lock an open file, and say whether that was possible. The system unlocks it when the process ends."""
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(number, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(number, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        return False
    return True


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
        if not _lock(file.fileno()):
            raise ResourceError(f"{path.parent}: another process is writing there; wait until it ends")
        yield
