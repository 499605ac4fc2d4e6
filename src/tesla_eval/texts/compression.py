"""Compressed files by the end of their name: .gz, .bz2, .xz and .zst, read as a stream in bounded memory."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zlib
from collections.abc import Callable, Sequence
from functools import partial
from typing import IO, Any

from tesla_eval.base.errors import InputError, UsageError

SUFFIXES = (".gz", ".bz2", ".xz", ".zst")
_DAMAGE: tuple[type[Exception], ...] = (EOFError, gzip.BadGzipFile, zlib.error, lzma.LZMAError)
_MAGIC = {b"\x1f\x8b": ".gz", b"BZh": ".bz2", b"\xfd7zXZ\x00": ".xz", b"\x28\xb5\x2f\xfd": ".zst"}
_XZ_MEMORY = 256 << 20  # `xz -9` asks for 65 MB; a file that asks for gigabytes is not to be trusted
_ZSTANDARD_BLOCK = 1 << 10  # 4 bytes can stand for 128 KB, so that a block unpacks to 32 MB at most


_ENDINGS = (".txt", ".tsv", ".csv", ".jsonl", ".parquet", ".sgm", ".sgml", ".xml", ".conllu")


def open_bytes(path: str) -> IO[bytes]:
    """The file's bytes, unpacked if its name says that it is compressed."""
    if path.endswith(".gz"):
        return gzip.open(path, "rb")  # type: ignore[return-value]
    if path.endswith(".bz2"):
        return bz2.open(path, "rb")
    if path.endswith(".xz"):
        return _Stream(path, partial(lzma.LZMADecompressor, memlimit=_XZ_MEMORY))  # type: ignore[return-value]
    if path.endswith(".zst"):
        return _open_zstandard(path)
    return open(path, "rb")  # noqa: PTH123


def without_suffix(name: str) -> str:
    """The name without the ending of a compressed file.

    >>> without_suffix("sys.txt.xz"), without_suffix("sys.txt")
    ('sys.txt', 'sys.txt')
    """
    return next((name.removesuffix(suffix) for suffix in SUFFIXES if name.endswith(suffix)), name)


def short_names(files: Sequence[str]) -> list[str]:
    """The names of files without folders and endings; as they are where two would have the same name.

    >>> short_names(["out/A.txt.gz", "out/B.v2.txt"]), short_names(["a/x.txt", "b/x.txt"])
    (['A', 'B.v2'], ['a/x.txt', 'b/x.txt'])
    """
    names = [without_suffix(name).replace("\\", "/").rpartition("/")[2] for name in files]
    short = [next((n.removesuffix(end) for end in _ENDINGS if n.endswith(end)), n) for n in names]
    return short if len(set(short)) == len(short) and all(short) else list(files)


def compression_of_bytes(start: bytes) -> str | None:
    """The ending that a file with these first bytes should have, if it is compressed.

    >>> compression_of_bytes(b"BZh91AY"), compression_of_bytes(b"text")
    ('.bz2', None)
    """
    return next((suffix for magic, suffix in _MAGIC.items() if start.startswith(magic)), None)


def reading_error(error: Exception, path: str, name: str) -> Exception:
    """An error of reading `path` for the user, who knows it as `name`; other errors come back as they are."""
    without_number = isinstance(error, OSError) and error.errno is None
    if isinstance(error, _DAMAGE) or without_number or type(error).__name__ == "ZstdError":
        kind = {"gz": "gzip"}.get(ending := path.rpartition(".")[2], ending)
        return InputError(f"{name}: is not a sound {kind} file ({error})")
    if isinstance(error, OSError):
        return InputError(f"{name}: cannot be read ({error.strerror or error})")
    return error


class _Stream(io.RawIOBase):
    """A compressed file of one or several streams, unpacked piece by piece by decompressors such as `lzma` has."""

    def __init__(self, path: str, new: Callable[[], Any], block: int = 1 << 16) -> None:
        self._file = open(path, "rb")  # noqa: PTH123, SIM115
        self._new, self._block = new, block
        self._decompressor = new()
        self._rest = b""

    def close(self) -> None:
        self._file.close()
        super().close()

    def read(self, size: int = -1) -> bytes:
        """About `size` bytes; none at the end of the file."""
        while True:
            if self._decompressor.eof and not self._begin_next_stream():
                return b""
            data = b""
            if self._decompressor.needs_input:
                data, self._rest = self._rest or self._file.read(self._block), b""
                if not data:
                    raise EOFError("the file ends in the middle")
            unpacked: bytes = self._decompressor.decompress(data, size)
            if unpacked:
                return unpacked

    def _begin_next_stream(self) -> bool:
        self._rest = self._decompressor.unused_data.lstrip(b"\x00")  # zeros may pad a stream
        while not self._rest:
            block = self._file.read(self._block)
            if not block:
                return False
            self._rest = block.lstrip(b"\x00")
        self._decompressor = self._new()
        return True


def _open_zstandard(path: str) -> IO[bytes]:
    try:
        from compression.zstd import ZstdDecompressor  # type: ignore[import-not-found]  # Python 3.14
    except ImportError:
        return _Stream(path, _zstandard_package(path), _ZSTANDARD_BLOCK)  # type: ignore[return-value]
    return _Stream(path, ZstdDecompressor)  # type: ignore[return-value]


class _ZstandardFrame:
    """A frame that the package zstandard unpacks; it gives out all that its input holds."""

    needs_input = True

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    @property
    def eof(self) -> bool:
        return bool(self._frame.eof)

    @property
    def unused_data(self) -> bytes:
        return bytes(self._frame.unused_data)

    def decompress(self, data: bytes, max_length: int = -1) -> bytes:
        return bytes(self._frame.decompress(data))


def _zstandard_package(path: str) -> Callable[[], _ZstandardFrame]:
    try:
        import zstandard
    except ImportError:
        raise UsageError(
            f"{path}: reading .zst needs zstandard, which is not installed: pip install 'tesla-eval[zstd]' "
            f"(or unpack it: zstd -d {path})"
        ) from None
    return lambda: _ZstandardFrame(zstandard.ZstdDecompressor().decompressobj())
