"""Parallel segments: conversion to lists, checks before scoring, all pairs in blocks, means over references."""

from __future__ import annotations

import unicodedata
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tesla_eval import _core
from tesla_eval.base.arrays import FloatArray, Index
from tesla_eval.base.errors import InputError, UsageError

References = Sequence[Sequence[str | None]]
"""K streams of N texts (sacreBLEU's order); `None` marks a missing reference."""


_LISTS = {list, tuple}
_TEXT, _PLAIN = {str}, {str, type(None)}  # the types of what needs no second look
_WAYS_TO_A_LIST = ("to_pylist", "to_list", "tolist")  # of Arrow, of Polars, of pandas and NumPy
_PANDAS_MISSING = {"NAType", "NaTType"}  # told by name: pandas is not imported for it


def texts_of(texts: Any) -> Any:
    """A list of texts as it is; Arrow arrays, pandas and Polars Series and NumPy arrays as lists; missing as `None`.

    `None`, NaN and pandas' NA mean that a text is missing. What is not a list of texts comes back as it is, for
    `check_references` to refuse.

    >>> texts_of(np.array(["a", float("nan")], dtype=object))
    ['a', None]
    """
    if type(texts) not in _LISTS:
        way = next((way for way in _WAYS_TO_A_LIST if hasattr(texts, way)), None)
        texts = texts if way is None else getattr(texts, way)()
        if not _is_list(texts):
            return texts
    kinds = _types_in(texts)
    if not kinds <= _PLAIN and any(map(_may_be_missing, kinds)):
        return [None if _is_missing(text) else text for text in texts]
    return texts


def _types_in(texts: Sequence[Any]) -> set[type]:
    return _core.types_in(texts) if type(texts) is list else set(map(type, texts))


def streams_of_texts(references: Any) -> Any:
    """The streams of references, each by `texts_of`."""
    listed = texts_of(references)
    return [texts_of(stream) for stream in listed] if _is_list(listed) else listed


def _may_be_missing(kind: type) -> bool:
    return issubclass(kind, float | np.floating) or kind.__name__ in _PANDAS_MISSING


def _is_missing(value: Any) -> bool:
    return _may_be_missing(type(value)) and bool(type(value).__name__ in _PANDAS_MISSING or np.isnan(value))


def streams_of_one(
    hypothesis: str, references: Sequence[str | None], *, needed: bool = True, blank_is_text: bool = False
) -> list[list[str]]:
    """The references that one segment has (`present_references`) as streams, checked as `check_references` does.

    >>> streams_of_one("a text", ["one", "two", None])
    [['one'], ['two']]
    """
    if isinstance(references, str):
        raise UsageError("the references of a sentence are a list: write [reference]")
    streams = [[reference] for reference in texts_of(references)]
    plain = streams and isinstance(hypothesis, str) and all(isinstance(text, str) for (text,) in streams)
    if not plain:
        check_references([hypothesis], streams, needed=needed)
    present = present_references(streams, blank_is_text=blank_is_text)
    return [[text] for (text,) in present if text is not None]


def reference_count(references: References) -> int | str:
    """How many references every segment has; `var` where segments differ.

    >>> reference_count([["a", "b"], ["c", "d"]]), reference_count([["a", "b"], ["c", None]])
    (2, 'var')
    """
    if all(map(all, references)) or not any(text is None for stream in references for text in stream):
        return len(references)
    counts = {len(texts) - texts.count(None) for texts in zip(*references, strict=True)}
    return counts.pop() if len(counts) == 1 else "var"


def present_references(references: References, *, blank_is_text: bool = False) -> References:
    """The one rule for missing references (specification §5): the streams as they are scored, a missing one as `None`.

    With several references an empty or white-space one is missing, as `None` is. Where all of a segment are missing, or
    there is only one, the reference is the empty text. With `blank_is_text`, which is sacreBLEU's rule, only `None` is
    missing.

    >>> present_references([["a", "b", ""], ["c", " ", None]])
    [['a', 'b', ''], ['c', None, None]]
    >>> present_references([["a", "b", ""], ["c", " ", None]], blank_is_text=True)
    [['a', 'b', ''], ['c', ' ', None]]
    """
    several = len(references) > 1
    missing = [
        blank_places(stream) if several and not blank_is_text else
        [place for place, text in enumerate(stream) if text is None] if None in stream else []
        for stream in references
    ]  # fmt: skip
    if not any(missing):
        return references
    lacking_all = set(missing[0]).intersection(*missing[1:])
    streams = [list(stream) for stream in references]
    for stream, places in zip(streams, missing, strict=True):
        for place in places:
            stream[place] = None
    for place in lacking_all:
        streams[0][place] = ""
    return streams


def blank_places(texts: Sequence[str | None]) -> list[int]:
    """The places of the texts that are missing, empty, or white space.

    >>> blank_places(["a", "", " ", None])
    [1, 2, 3]
    """
    if all(texts) and not any(map(str.isspace, texts)):  # type: ignore[arg-type]  # none is None: three times as fast
        return []
    return [place for place, text in enumerate(texts) if not text or text.isspace()]


def new_matrix(hypotheses: Sequence[str], references: Sequence[str]) -> FloatArray:
    """Room for the score of every hypothesis (row) against every reference (column), which must be lists of texts."""
    if isinstance(hypotheses, str) or isinstance(references, str):
        raise UsageError("hypotheses and references are lists of texts")
    for what, texts in (("hypothesis", hypotheses), ("reference", references)):
        _check_texts(what, texts)
    return np.empty((len(hypotheses), len(references)))


def distinct_texts(texts: Sequence[str]) -> tuple[list[str], Index]:
    """Each text once, in the order of their first appearance, and which of them every text is.

    >>> distinct, place = distinct_texts(["a", "b", "a"])
    >>> distinct, place.tolist()
    (['a', 'b'], [0, 1, 0])
    """
    number: dict[str, int] = {}
    place = np.array([number.setdefault(text, len(number)) for text in texts], np.int64)
    return list(number), place


def blocks_of_pairs(
    hypotheses: int, references: int, most: int = 1 << 15
) -> Iterator[tuple[Index, Index, Index]]:
    """All pairs in blocks of about `most`: the rows of the matrix, and each pair's hypothesis and reference.

    >>> [(i.tolist(), j.tolist()) for _, i, j in blocks_of_pairs(2, 2, most=2)]
    [([0, 0], [0, 1]), ([1, 1], [0, 1])]
    """
    rows_at_once = max(1, most // references)
    for start in range(0, hypotheses, rows_at_once):
        rows = np.arange(start, min(start + rows_at_once, hypotheses))
        yield rows, np.repeat(rows, references), np.tile(np.arange(references), len(rows))


def _check_texts(what: str, texts: Sequence[str]) -> None:
    if _types_in(texts) <= _TEXT:
        return
    for number, text in enumerate(texts, 1):
        if text is None:
            raise InputError(f"{what} {number} is missing (None, NaN or NA): give a text, which may be empty")
        if not isinstance(text, str):
            raise InputError(f"{what} {number} is {text!r}, not a text")


def check_references(hypotheses: Sequence[str], references: References, *, needed: bool = True) -> None:
    """Refuse what cannot be scored: no segments, no streams, streams of other lengths, what is no text.

    Where references are not `needed` there may be none.
    """
    if not (_is_list(hypotheses) and _is_list(references) and all(map(_is_list, references))):
        raise UsageError("hypotheses are a list of texts, references a list of such lists: [references]")
    if len(hypotheses) == 0:
        raise InputError("there is no hypothesis to score")
    if len(references) == 0 and needed:
        raise InputError("there is no reference to score against")
    for number, stream in enumerate(references, 1):
        if len(stream) != len(hypotheses):
            by_segment = "; for one list per hypothesis pass references_by_segment=True"
            raise InputError(
                f"{len(hypotheses)} hypotheses, but reference stream {number} has {len(stream)} texts; references are "
                "K streams of N texts, None for a missing one"
                + by_segment
                * (len(references) == len(hypotheses))
            )
    _check_texts("hypothesis", hypotheses)
    for stream in references:
        kinds = _types_in(stream)
        if not (kinds <= _PLAIN or all(kind is type(None) or issubclass(kind, str) for kind in kinds)):
            raise InputError("a reference is neither a text nor None")


def check_sources(hypotheses: Sequence[str], sources: Sequence[str] | None, *, read: bool) -> None:
    """Refuse sources that are not one per hypothesis, and where they are `read`, those that are no texts."""
    if sources is None:
        return
    if not _is_list(sources):
        raise UsageError("sources are a list of texts, one per hypothesis")
    if len(sources) != len(hypotheses):
        raise InputError(f"{len(hypotheses)} hypotheses, but {len(sources)} sources")
    if read:
        _check_texts("source", sources)


def check_orientation(hypotheses: Sequence[str], references: References) -> None:
    """Warn where as many streams as segments seem to be lists of one segment's references each.

    Both readings fit then. The texts tell: those of the right reading resemble the hypotheses far more.
    """
    n = len(hypotheses)
    if n < 2 or len(references) != n:
        return
    some = range(min(n, _ORIENTATION_SAMPLE))
    hypothesis_pieces = [_pieces(hypotheses[i]) for i in some]
    as_given = other = 0.0
    for i in some:
        for k in some:
            if i != k:
                as_given += _resemblance(hypothesis_pieces[i], references[k][i])
                other += _resemblance(hypothesis_pieces[i], references[i][k])
    pairs = len(some) * (len(some) - 1)
    if other > 2 * as_given and other - as_given > 0.1 * pairs:
        warnings.warn(
            f"{n} hypotheses and {n} lists of {n} references: they are read as streams, but look like one list per "
            "hypothesis; if so, pass references_by_segment=True",
            stacklevel=3,
        )


_ORIENTATION_SAMPLE = 16


def _pieces(text: str) -> frozenset[str]:
    """The runs of three characters in a text: a measure of likeness for any script."""
    folded = f" {_folded(text).lower()} "[:2000]
    return frozenset(folded[i : i + 3] for i in range(len(folded) - 2))


def _resemblance(pieces: frozenset[str], text: str | None) -> float:
    others = _pieces(text or "")
    return len(pieces & others) / (len(pieces | others) or 1)


def streams_by_segment(hypotheses: Sequence[str], references: References) -> list[list[str | None]]:
    """N lists of references as K streams, with None where a segment has fewer than others.

    >>> streams_by_segment(["x", "y"], [["a", "b"], ["c"]])
    [['a', 'c'], ['b', None]]
    """
    references = texts_of(references)
    if _is_list(references) and not set(map(type, references)) <= _LISTS:
        references = [() if given is None else texts_of(given) for given in references]
    if not (_is_list(hypotheses) and _is_list(references) and all(map(_is_list, references))):
        raise UsageError("hypotheses are a list of texts, references one list of texts for each of them")
    if len(references) != len(hypotheses):
        raise InputError(
            f"{len(hypotheses)} hypotheses, but references of {len(references)} segments; with "
            "references_by_segment=True there is one list of references per hypothesis"
        )
    most = max(map(len, references), default=0)
    return [[given[k] if k < len(given) else None for given in references] for k in range(most)]


def _is_list(texts: object) -> bool:
    """Whether the value is a sequence (a list, a tuple, a NumPy array) but not a single text."""
    return hasattr(texts, "__len__") and hasattr(texts, "__getitem__") and not isinstance(texts, str)


def mean_over_references(values: FloatArray) -> FloatArray:
    """The mean over the first axis without NaN, the same to the last bit for any order of the references.

    >>> mean_over_references(np.array([[0.5, np.nan], [0.25, np.nan]])).tolist()
    [0.375, nan]
    """
    if len(values) == 1:
        return np.array(values[0])
    rows = np.ascontiguousarray(values, np.float64).reshape(len(values), -1)
    return _core.mean_over_references(rows).reshape(values.shape[1:])


def same_text(a: str, b: str) -> bool:
    """Whether two texts are equal after NFC and white-space folding, for texts without tokens (specification §5).

    >>> same_text(" ?! ", "?!"), same_text("?", "!")
    (True, False)
    """
    return _folded(a) == _folded(b)


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).split())
