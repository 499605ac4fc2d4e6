"""Tables of word vectors (specification §8b) from published embeddings: read as data, made small, nothing executed.

Vectors lose their mean, get length 1, are turned to their principal axes and rounded to 8 bits. Sums and products are
those of whole numbers, which have no order: the same file gives the same table.
"""

from __future__ import annotations

import json
import math
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from tesla_eval.base.arrays import FloatArray
from tesla_eval.base.errors import BuildError, InputError
from tesla_eval.base.resources import UNSTATED, Provenance, Resource, text_array
from tesla_eval.language.analysis.vectors import KIND, WordVectors, strip_accents
from tesla_eval.texts.lines import LineReader, is_number, read_lines

DIMENSIONS = 64
"""Default number of dimensions of a table."""
WORDS = 40_000
"""Default number of words of a table of whole words, which then stays below 3 MB."""
DROPPED_AXES = 8
"""The first principal axes of whole words, which mostly tell how frequent a word is (Mu & Viswanath 2018)."""
EMBEDDINGS_TENSOR = "embeddings.word_embeddings.weight"

MOST_DIMENSIONS_OF_TABLE = 256  # as in core/language/analysis/vector_table.h

_LONGEST_HEADER = 16 << 20  # bytes; that of a large model has some hundred thousand
_MOST_DIMENSIONS = 4096
_MOST_COLUMNS = 1 << 15
_MOST_ROWS = 1 << 21
_LONGEST_WORD = 100
_LARGEST_NUMBER = 1e30
_FINE, _COARSE = 2.0**24, 2.0**18  # steps per unit: sums and products of so many of them fit a double exactly
_LARGEST = 127
_WIDTHS = {"F32": 4, "F16": 2, "BF16": 2, "F64": 8}


@dataclass(frozen=True)
class Embeddings:
    """Words or WordPieces with their vectors; a row of zeros is an entry that only serves to cut words."""

    entries: Sequence[str]
    vectors: npt.NDArray[np.float32]
    pieces: bool = False

    def __post_init__(self) -> None:
        if self.vectors.ndim != 2 or len(self.entries) != len(self.vectors):
            raise BuildError(
                f"{len(self.entries)} words do not fit vectors of the shape {self.vectors.shape}"
            )


def vector_table(
    embeddings: Embeddings,
    language: str,
    *,
    dimensions: int = DIMENSIONS,
    dropped_axes: int = 0,
    provenance: Provenance = UNSTATED,
) -> Resource:
    """The table to store; `dropped_axes` of the principal axes, the first, are left out.

    Raises `BuildError` where there are fewer vectors or dimensions than the table needs.
    """
    usable: npt.NDArray[np.bool_] = np.any(embeddings.vectors != 0, axis=1)
    axes = dimensions + dropped_axes
    if embeddings.vectors.shape[1] < axes or int(usable.sum()) <= axes:
        raise BuildError(
            f"{int(usable.sum())} vectors of {embeddings.vectors.shape[1]} numbers are too few for a table "
            f"with {dimensions} dimensions and {dropped_axes} dropped axes"
        )
    small = np.zeros((len(usable), dimensions), np.int8)
    small[usable] = _rounded(_principal_axes(_centred(embeddings.vectors[usable]), axes)[:, dropped_axes:])
    entries = embeddings.entries
    accents = any(strip_accents(entry) != entry for entry in entries if not entry.isascii())
    resource = Resource(
        kind=KIND, language=language, provenance=provenance,
        arrays={"entries": text_array("\n".join(entries)), "vectors": small},
        info={
            "segmentation": "wordpiece" if embeddings.pieces else "words",
            "strip_accents": embeddings.pieces and not accents,
            "entries": len(entries), "with vector": int(usable.sum()), "dimensions": dimensions,
            "dropped axes": dropped_axes,
        },
    )  # fmt: skip
    WordVectors(resource)  # refuses what could not be read again
    return resource


def _centred(vectors: npt.NDArray[np.float32]) -> FloatArray:
    """The vectors without their mean, of length 1, as whole numbers of `_COARSE` steps."""
    if not np.isfinite(vectors).all():
        raise BuildError("the vectors hold numbers that are not finite")
    largest = float(np.abs(vectors).max())
    scale = _FINE / 2.0 ** np.ceil(np.log2(largest))  # a power of two: only the smallest bits are rounded
    whole = np.rint(vectors.astype(np.float64) * scale)
    centred = whole - np.rint(whole.sum(axis=0) / len(whole))
    length = np.sqrt(np.square(centred).sum(axis=1, keepdims=True))
    return np.asarray(np.rint(_COARSE * centred / np.maximum(length, 1.0)))


def _principal_axes(vectors: FloatArray, dimensions: int) -> FloatArray:
    """The vectors along the axes on which they differ most; the largest number of every axis is positive."""
    mean = np.rint(vectors.sum(axis=0) / len(vectors))
    centred = vectors - mean
    _, axes = np.linalg.eigh(centred.T @ centred)
    leading = axes[:, ::-1][:, :dimensions]
    leading = leading * np.sign(leading[np.abs(leading).argmax(axis=0), np.arange(dimensions)])
    return np.asarray(centred @ np.rint(_COARSE * leading))


def _rounded(vectors: FloatArray) -> npt.NDArray[np.int8]:
    """8 bits per number, each row with its own scale: only directions count."""
    largest = np.abs(vectors).max(axis=1, keepdims=True)
    return np.asarray(np.floor(_LARGEST * vectors / np.maximum(largest, 1.0) + 0.5).astype(np.int8))


def read_safetensors(handle: IO[bytes], name: str, tensor: str, *, axes: int = 2) -> npt.NDArray[np.float32]:
    """The matrix `tensor` (with one axis: the vector) of a safetensors file; `name` is what errors call the file.

    The name of the tensor may have a prefix in the file (`bert.embeddings...`). Raises `InputError` for anything that
    is not a sound file with that matrix.
    """
    handle.seek(0)
    header, base = _safetensors_header(handle, name)
    names = [key for key in header if key == tensor or key.endswith(f".{tensor}")]
    if len(names) != 1:
        raise InputError(f"{name}: has {len(names)} tensors called {tensor!r}; expected 1")
    entry = header[names[0]]
    dtype, shape, (begin, end) = _tensor_entry(entry, f"{name}: {names[0]!r}", axes)
    handle.seek(base + begin)
    raw = handle.read(end - begin)
    if len(raw) != end - begin:
        raise InputError(f"{name}: is cut off within tensor {names[0]!r}")
    if dtype == "BF16":
        return (np.frombuffer(raw, "<u2").astype(np.uint32) << 16).view(np.float32).reshape(shape)
    kind = {"F32": "<f4", "F16": "<f2", "F64": "<f8"}[dtype]
    return np.frombuffer(raw, kind).astype(np.float32).reshape(shape)


def _safetensors_header(handle: IO[bytes], name: str) -> tuple[dict[str, Any], int]:
    """The directory of a safetensors file, and where its data begins."""
    length = int.from_bytes(handle.read(8), "little")
    if not 2 <= length <= _LONGEST_HEADER:
        raise InputError(f"{name}: is not a safetensors file (its header claims {length} bytes)")
    encoded = handle.read(length)
    try:
        header = json.loads(encoded)
    except (ValueError, RecursionError):
        header = None
    if len(encoded) != length or not isinstance(header, dict):
        raise InputError(f"{name}: is not a safetensors file (its header is not a JSON object)")
    return header, 8 + length


def _tensor_entry(entry: Any, name: str, axes: int) -> tuple[str, tuple[int, ...], tuple[int, int]]:
    """Type, shape and place of a matrix or vector, checked."""

    def numbers(value: Any, count: int) -> tuple[int, ...] | None:
        whole = isinstance(value, list) and len(value) == count and all(type(one) is int for one in value)
        return tuple(value) if whole else None

    if isinstance(entry, dict) and (dtype := entry.get("dtype")) in _WIDTHS:
        shape, place = numbers(entry.get("shape"), axes), numbers(entry.get("data_offsets"), 2)
        if (
            shape and place and 0 < shape[0] <= _MOST_ROWS and 0 < shape[-1] <= _MOST_COLUMNS and place[0] >= 0
            and place[1] - place[0] == math.prod(shape) * _WIDTHS[dtype]
        ):  # fmt: skip
            return dtype, shape, (place[0], place[1])
    what = "a matrix" if axes == 2 else "a vector"
    raise InputError(f"{name} is not {what} of {', '.join(_WIDTHS)} numbers with a sound place")


def read_wordpieces(
    lines: Sequence[str], vectors: npt.NDArray[np.float32], name: str, *, first: int | None = None
) -> Embeddings:
    """The pieces of a WordPiece vocabulary (one per line) with their vectors; `name` is what errors call it.

    Pieces before line `first` (counted from 0; default: the first piece of two letters) keep no vector: these are
    single characters. Special pieces such as [CLS] are left out. Of pieces that differ only in capitals, the first
    stays.
    """
    lines = lines[:-1] if lines and not lines[-1] else lines
    if len(lines) != len(vectors):
        raise InputError(f"{name}: has {len(lines)} pieces, but there are {len(vectors)} vectors")
    if first is None:
        words = (i for i, piece in enumerate(lines) if len(piece) > 1 and piece.isalpha())
        first = next(words, len(lines))
    kept: dict[str, int] = {}
    for i, piece in enumerate(lines):
        if not piece or any(map(str.isspace, piece)):
            raise InputError(f"{name}, line {i + 1}: a piece is empty or holds white space")
        if not (len(piece) > 2 and piece[0] == "[" and piece[-1] == "]"):
            kept.setdefault(piece.lower(), i)
    if not any(piece.startswith("##") for piece in kept):
        raise InputError(f"{name}: is not a WordPiece vocabulary (no piece begins with ##)")
    numbers = list(kept.values())
    chosen = vectors[numbers]
    chosen[np.array(numbers) < first] = 0
    return Embeddings(list(kept), chosen, pieces=True)


def read_huggingface_folder(folder: Path) -> Embeddings:
    """The input embeddings of a model with WordPieces: `model.safetensors` and `vocab.txt` of its folder."""
    model, vocabulary = folder / "model.safetensors", folder / "vocab.txt"
    for path in (model, vocabulary):
        if not path.is_file():
            raise InputError(
                f"{folder}: has no file {path.name}; a folder with model.safetensors and vocab.txt is needed"
            )
    with model.open("rb") as handle:
        vectors = read_safetensors(handle, str(model), EMBEDDINGS_TENSOR)
    return read_wordpieces(read_lines(str(vocabulary)), vectors, str(vocabulary))


def read_vector_text(path: str, *, words: int = WORDS) -> Embeddings:
    """The first `words` words of a text file of vectors: fastText, word2vec (with a head line) or GloVe (without).

    Words become lower case; of equal ones the first stays, for files begin with the most frequent words. Entries
    without letters and digits and entries of several words are passed over.
    """
    reader = LineReader(path)
    size: int | None = None
    kept: dict[str, npt.NDArray[np.float32]] = {}
    for line in reader:
        fields = line.rstrip(" ").split(" ")
        if reader.count == 1 and len(fields) == 2 and all(field.isdecimal() for field in fields):
            size = _checked_size(int(fields[1]), reader)  # a head line: number of words, size of a vector
            continue
        if size is None:
            size = _checked_size(len(fields) - 1, reader)
        if len(fields) <= size:
            raise InputError(
                f"{reader.name}, line {reader.count}: has {len(fields) - 1} numbers; expected {size}"
            )
        word = unicodedata.normalize("NFC", " ".join(fields[:-size])).lower()
        numbers = _numbers(fields[-size:], reader)
        usable = (
            any(map(str.isalnum, word)) and not any(map(str.isspace, word)) and len(word) <= _LONGEST_WORD
        )
        if usable and word not in kept and numbers.any():
            kept[word] = numbers
            if len(kept) == words:
                break
    if size is None or not kept:
        raise InputError(f"{reader.name}: holds no vectors")
    return Embeddings(list(kept), np.array(list(kept.values()), np.float32))


def _checked_size(size: int, reader: LineReader) -> int:
    if not 2 <= size <= _MOST_DIMENSIONS:
        raise InputError(
            f"{reader.name}, line {reader.count}: a vector of {size} numbers; expected a word and 2 to "
            f"{_MOST_DIMENSIONS} numbers with single spaces between them"
        )
    return size


def _numbers(fields: Sequence[str], reader: LineReader) -> npt.NDArray[np.float32]:
    try:
        numbers = np.array([float(field) for field in fields])
    except ValueError:
        bad = next(field for field in fields if not is_number(field))
        raise InputError(f"{reader.name}, line {reader.count}: {bad[:40]!r} is not a number") from None
    if not (np.abs(numbers) <= _LARGEST_NUMBER).all():  # so that NaN is refused too
        raise InputError(f"{reader.name}, line {reader.count}: a number is not finite or too large")
    return numbers.astype(np.float32)
