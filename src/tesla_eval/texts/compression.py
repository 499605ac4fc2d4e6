"""Compressed files by the end of their name: .gz and .bz2, read as a stream."""

from __future__ import annotations

import bz2
import gzip
import zlib
from typing import IO

__all__ = ["SUFFIXES", "compression_of_bytes", "is_damage", "open_bytes", "without_suffix"]

SUFFIXES = (".gz", ".bz2")
_DAMAGE: tuple[type[Exception], ...] = (EOFError, gzip.BadGzipFile, zlib.error)
_MAGIC = {b"\x1f\x8b": ".gz", b"BZh": ".bz2", b"\xfd7zXZ\x00": ".xz", b"\x28\xb5\x2f\xfd": ".zst"}


def open_bytes(path: str) -> IO[bytes]:
    """The file's bytes, unpacked if its name says that it is compressed."""
    if path.endswith(".gz"):
        return gzip.open(path, "rb")  # type: ignore[return-value]
    if path.endswith(".bz2"):
        return bz2.open(path, "rb")
    return open(path, "rb")  # noqa: PTH123


def without_suffix(name: str) -> str:
    """The name without the ending of a compressed file.

    >>> without_suffix("sys.txt.gz"), without_suffix("sys.txt")
    ('sys.txt', 'sys.txt')
    """
    return next((name.removesuffix(suffix) for suffix in SUFFIXES if name.endswith(suffix)), name)


def compression_of_bytes(start: bytes) -> str | None:
    """The ending that a file with these first bytes should have, if it is compressed.

    >>> compression_of_bytes(b"BZh91AY"), compression_of_bytes(b"text")
    ('.bz2', None)
    """
    return next((suffix for magic, suffix in _MAGIC.items() if start.startswith(magic)), None)


def is_damage(error: Exception) -> bool:
    """Whether reading failed because the compressed data is not sound."""
    return isinstance(error, _DAMAGE) or (isinstance(error, OSError) and error.errno is None)
