"""Resource files: the common format of models and tables, and where installed files are found.

A resource file is a magic word, a JSON header (kind, language, analysis fingerprint, sources, licence, date, free
`info`, directory of arrays) and the arrays themselves, aligned, optionally deflated. Reading executes nothing and
trusts nothing: sizes are bounded by the file, and a checksum guards every byte.
"""

from __future__ import annotations

import json
import math
import mmap
import os
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from operator import itemgetter
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from tesla_eval.base.errors import ResourceError
from tesla_eval.base.files import replacing
from tesla_eval.base.identity import Fingerprinted
from tesla_eval.base.version import DATA_VERSION

Loaded = TypeVar("Loaded")
MAGIC = b"TESLARES"
FORMAT_VERSION = 1
SUFFIX = ".tesla"
_ALIGNMENT = 64
_PREFIX_LENGTH = len(MAGIC) + 4 + 8 + 4  # magic, format version, header length, header checksum
_MAX_INFLATED = 1 << 32
_MOST_DIMENSIONS = 8
_GET_DATA = f"pip install tesla-eval-data=={DATA_VERSION}, or in a clone: pip install ./packages/data"
_DTYPES = frozenset({"|u1", "|i1", "<u2", "<i2", "<u4", "<i4", "<u8", "<i8", "<f4", "<f8"})


@dataclass(frozen=True)
class Provenance:
    """Where a model or table comes from: the data it was made from, the licence of that data, the date.

    >>> Provenance(date="2026-11-15").or_from(["news.en"])
    Provenance(sources=('news.en',), licence='', date='2026-11-15')
    """

    sources: tuple[str, ...] = ()
    licence: str = ""
    date: str = ""

    def or_from(self, sources: Iterable[str]) -> Provenance:
        """The same, with these sources if none are named."""
        return self if self.sources else replace(self, sources=tuple(sources))


UNSTATED = Provenance()
"""The default: nothing is known about where it comes from."""


@dataclass(frozen=True)
class Resource(Fingerprinted):
    """One model or table: what it is, where it comes from, and its arrays."""

    kind: str
    language: str
    arrays: Mapping[str, npt.NDArray[Any]]
    analysis: str = ""
    provenance: Provenance = UNSTATED
    info: Mapping[str, Any] = field(default_factory=dict)
    path: Path | None = None

    def text(self, name: str) -> str:
        """The array `name` as the UTF-8 text it holds."""
        return self.arrays[name].tobytes().decode("utf-8")


def text_array(text: str) -> npt.NDArray[np.uint8]:
    """`text` as an array of UTF-8 bytes, for storing in a resource."""
    return np.frombuffer(text.encode("utf-8"), dtype=np.uint8)


@contextmanager
def interpreting(resource: Resource, what: str = "table", advice: str = "rebuild it") -> Iterator[None]:
    """Turn what goes wrong when a table or model is made of a resource's arrays into `ResourceError`.

    Checksums keep accidents out; this is for files that were made wrong, by mistake or on purpose.
    """
    try:
        yield
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        where = resource.path or f"{resource.kind}-{resource.language}"
        raise ResourceError(f"{where}: is not a valid {what} ({error}); reinstall it, or {advice}") from error


def byte_planes(numbers: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    """32-bit numbers byte by byte, all lowest bytes first: high bytes are mostly 0 and compress well.

    >>> byte_planes(np.array([1, 256])).tolist()
    [[1, 0], [0, 1], [0, 0], [0, 0]]
    """
    return np.ascontiguousarray(numbers.astype("<u4").view(np.uint8).reshape(-1, 4).T)


def from_byte_planes(planes: npt.NDArray[Any]) -> npt.NDArray[np.uint32]:
    """The numbers that `byte_planes` took apart; `ValueError` for an array of another shape."""
    if planes.ndim != 2 or len(planes) != 4 or planes.dtype != np.uint8:
        raise ValueError("an array of 32-bit numbers has an invalid shape or dtype")
    return np.ascontiguousarray(planes.T).view("<u4").reshape(-1).astype(np.uint32, copy=False)


def write_resource(path: Path, resource: Resource, *, compress: bool = True) -> None:
    """Write `resource` to `path`, creating its folder if necessary."""
    directory: list[dict[str, Any]] = []
    blobs: list[bytes] = []
    offset = 0
    for name, value in resource.arrays.items():
        array = np.ascontiguousarray(value)
        dtype = array.dtype.newbyteorder("<").str if array.dtype.itemsize > 1 else array.dtype.str
        raw = array.astype(dtype, copy=False).tobytes()
        blob = zlib.compress(raw, 9) if compress else raw
        blob += b"\0" * (-len(blob) % _ALIGNMENT)
        directory.append(
            {"name": name, "dtype": dtype, "shape": list(array.shape), "offset": offset, "stored": len(blob),
             "deflated": compress, "crc": zlib.crc32(raw)}
        )  # fmt: skip
        blobs.append(blob)
        offset += len(blob)
    header = {
        "kind": resource.kind, "language": resource.language, "analysis": resource.analysis,
        "sources": list(resource.provenance.sources), "licence": resource.provenance.licence,
        "date": resource.provenance.date, "info": dict(resource.info), "arrays": directory,
    }  # fmt: skip
    encoded = json.dumps(header, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode("utf-8")
    encoded += b" " * (-(_PREFIX_LENGTH + len(encoded)) % _ALIGNMENT)
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as temporary, temporary.open("wb") as out:
        out.write(MAGIC)
        out.write(FORMAT_VERSION.to_bytes(4, "little"))
        out.write(len(encoded).to_bytes(8, "little"))
        out.write(zlib.crc32(encoded).to_bytes(4, "little"))
        out.write(encoded)
        out.writelines(blobs)


def read_resource(path: Path, kind: str | None = None) -> Resource:
    """Read the resource at `path`; arrays stored plain are memory-mapped.

    Raises `ResourceError`, naming the file and what to do, for anything that is not a sound file of that kind.
    """
    try:
        with path.open("rb") as handle:
            size = os.fstat(handle.fileno()).st_size
            if size < _PREFIX_LENGTH:
                raise _damaged(path, "it is too short")
            view = memoryview(mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_READ))
    except OSError as error:
        raise ResourceError(f"{path}: cannot be read ({error.strerror})") from error
    header = _parse_header(path, view)
    if kind is not None and header["kind"] != kind:
        raise ResourceError(f"{path}: is a {header['kind']}, not a {kind}")
    base = _PREFIX_LENGTH + int.from_bytes(view[len(MAGIC) + 4 : len(MAGIC) + 12], "little")
    arrays = {entry["name"]: _read_array(path, view[base:], entry) for entry in header["arrays"]}
    return Resource(
        kind=header["kind"], language=header["language"], arrays=arrays, analysis=header["analysis"],
        provenance=Provenance(tuple(header["sources"]), header["licence"], header["date"]), info=header["info"],
        path=path,
    ).known_as(f"{zlib.crc32(view):08x}")  # fmt: skip


def _damaged(path: Path, why: str) -> ResourceError:
    return ResourceError(f"{path}: is damaged or not a tesla-eval resource ({why}); reinstall or rebuild it")


def _parse_header(path: Path, view: memoryview) -> dict[str, Any]:
    if view[: len(MAGIC)] != MAGIC:
        raise _damaged(path, "it does not begin with the bytes of a resource")
    version = int.from_bytes(view[8:12], "little")
    if version != FORMAT_VERSION:
        raise ResourceError(
            f"{path}: has format {version}, but this version of tesla-eval reads format {FORMAT_VERSION}; rebuild it"
        )
    length = int.from_bytes(view[12:20], "little")
    if length > len(view) - _PREFIX_LENGTH:
        raise _damaged(path, "its header is cut off")
    encoded = bytes(view[_PREFIX_LENGTH : _PREFIX_LENGTH + length])
    if zlib.crc32(encoded) != int.from_bytes(view[20:24], "little"):
        raise _damaged(path, "its header fails the checksum")
    try:
        header = json.loads(encoded)
    except (ValueError, RecursionError):
        header = None
    # A checksum says that nothing was lost on the way, not that `write_resource` wrote it.
    parts: list[tuple[Any, Mapping[str, type]]] = [(header, _HEADER)]
    for value, fields in parts:  # the header, then the entries that it holds
        if not (
            isinstance(value, dict) and all(isinstance(value.get(k), kind) for k, kind in fields.items())
        ):
            raise _damaged(path, "its header lacks required fields")
        parts += [(entry, _ENTRY) for entry in value["arrays"]] if fields is _HEADER else []
    if not all(isinstance(source, str) for source in header["sources"]):
        raise _damaged(path, "its header lacks required fields")
    entries: list[dict[str, Any]] = header["arrays"]
    end = 0
    # Arrays that share bytes of the file or a name are refused: a small file could fill the memory.
    for entry in sorted(entries, key=itemgetter("offset", "stored")):
        if entry["offset"] < end:
            raise _damaged(path, f"array {entry['name']!r} overlaps another one")
        end = entry["offset"] + max(entry["stored"], 0)
    if len({entry["name"] for entry in entries}) < len(entries):
        raise _damaged(path, "two arrays have the same name")
    checked: dict[str, Any] = header
    return checked


_HEADER = {
    "kind": str, "language": str, "analysis": str, "sources": list, "licence": str, "date": str, "info": dict,
    "arrays": list,
}  # fmt: skip
_ENTRY = {
    "name": str, "dtype": str, "shape": list, "offset": int, "stored": int, "deflated": bool, "crc": int,
}  # fmt: skip


def _read_array(path: Path, body: memoryview, entry: dict[str, Any]) -> npt.NDArray[Any]:
    name, dtype, shape = entry["name"], entry["dtype"], entry["shape"]
    start, end = entry["offset"], entry["offset"] + entry["stored"]
    is_sound = len(shape) <= _MOST_DIMENSIONS and all(type(size) is int and size >= 0 for size in shape)
    if not is_sound or dtype not in _DTYPES:
        raise _damaged(path, f"array {name!r} has an invalid shape or dtype")
    if not 0 <= start <= end <= len(body):
        raise _damaged(path, f"array {name!r} is cut off")
    blob = body[start:end]
    nbytes = math.prod(shape) * np.dtype(dtype).itemsize
    if nbytes > _MAX_INFLATED:
        raise _damaged(path, f"array {name!r} claims {nbytes} bytes")
    raw: bytes | memoryview = blob[:nbytes]
    if entry["deflated"]:
        try:
            raw = zlib.decompressobj().decompress(blob, nbytes) if nbytes else b""
        except zlib.error as error:
            raise _damaged(path, f"array {name!r} cannot be decompressed") from error
    if len(raw) != nbytes or zlib.crc32(raw) != entry["crc"]:
        raise _damaged(path, f"array {name!r} fails the checksum")
    return np.frombuffer(raw, dtype=dtype).reshape(shape)


@cache
def shipped_folder() -> Path:
    """The folder of the package `tesla-eval-data`, in the version that this code was measured with."""
    try:
        import tesla_eval_data
    except ImportError:
        raise ResourceError("the models and tables are not installed", hint=_GET_DATA) from None
    if tesla_eval_data.__version__ != DATA_VERSION:
        raise ResourceError(
            f"tesla-eval-data {tesla_eval_data.__version__} is installed, but this version of tesla-eval needs "
            f"{DATA_VERSION}",
            hint=_GET_DATA,
        )
    return Path(tesla_eval_data.__file__).parent


_PACKAGED_FOLDERS: list[Path] = []


def add_resource_folder(folder: Path) -> None:
    """Find resources in the folder of another package too, after the user's own and the shipped ones."""
    if folder not in _PACKAGED_FOLDERS:
        _PACKAGED_FOLDERS.append(folder)


def home_folder() -> Path | None:
    """The user's home; None for a user without one, as in a container that runs under any user number."""
    try:
        return Path.home()
    except RuntimeError:
        return None


def find_user_data_folder() -> Path | None:
    """The folder for the user's own resources: `$TESLA_EVAL_DATA`, else the platform's data folder, if there is one."""
    if override := os.environ.get("TESLA_EVAL_DATA"):
        return Path(override)
    if root := os.environ.get("XDG_DATA_HOME"):
        return Path(root) / "tesla-eval"
    home = home_folder()
    return None if home is None else home / ".local" / "share" / "tesla-eval"


def user_data_folder() -> Path:
    """The same folder for what is to be written there."""
    folder = find_user_data_folder()
    if folder is None:
        raise ResourceError(
            "you have no home folder for your own resources", hint="name a folder in $TESLA_EVAL_DATA"
        )
    return folder


def resource_folders() -> list[Path]:
    """Where resources are looked for: the user's own before the shipped ones."""
    own = find_user_data_folder()
    return [*([] if own is None else [own]), shipped_folder(), *_PACKAGED_FOLDERS]


def find_resource(kind: str, language: str, suffix: str = SUFFIX) -> Path | None:
    """The file of that kind for a language, the user's own before the shipped one; `None` if there is no such file."""
    for folder in resource_folders():
        path = folder / f"{kind}-{language}{suffix}"
        if path.is_file():
            return path
    return None


def missing_resource(what: str, language: str, command: str = "", note: str = "") -> ResourceError:
    """The error for a model that is not installed: what is missing, for which language, and how to make one.

    >>> print(missing_resource("PEM model", "eo", "tesla train pem -l eo"))
    no PEM model is installed for language 'eo'; make one with `tesla train pem -l eo` (see `tesla resources -h`)
    """
    hint = f"; make one with `{command}` (see `tesla resources -h`)" if command else ""
    return ResourceError(f"no {what} is installed for language {language!r}{note}{hint}")


@dataclass(frozen=True)
class Kind(Generic[Loaded]):
    """A kind of resource: how its files are called, what is made of one, and which command makes one."""

    name: str
    make: Callable[[Resource], Loaded]
    what: str = ""
    command: str = ""

    def find(self, language: str) -> Path | None:
        """The file for a language; see `find_resource`."""
        return find_resource(self.name, language)

    def read(self, path: Path) -> Loaded:
        """What is in a file."""
        return self.make(read_resource(path, self.name))

    def load(self, language: str) -> Loaded | None:
        """What is installed for a language, if anything."""
        path = self.find(language)
        return None if path is None else self.read(path)

    def need(self, language: str) -> Loaded:
        """What is installed for a language; `ResourceError` if nothing is."""
        path = self.find(language)
        if path is None:
            raise missing_resource(self.what or self.name, language, self.command.format(language=language))
        return self.read(path)


def installed_resources() -> Iterator[Path]:
    """All resource files, the user's own first."""
    for folder in resource_folders():
        yield from resources_in(folder)


def resources_in(folder: Path) -> list[Path]:
    """The resource files of a folder; none if it does not exist."""
    return sorted(folder.glob(f"*{SUFFIX}")) if folder.is_dir() else []
