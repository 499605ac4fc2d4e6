"""What clients of `tesla serve --http` ask for: their JSON, read value by value, and the limits of a request.

`json.loads` keeps all other threads waiting until it has read everything, for seconds where a body is made for that.
Here they wait for one value at most, and what is too large or has another shape is not read to its end.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from tesla_eval.base.arrays import Index
from tesla_eval.base.errors import InputError, TeslaError, UsageError
from tesla_eval.language.choice import ChosenLanguage, choose
from tesla_eval.metrics.segments import References, check_references, streams_by_segment
from tesla_eval.serving.batching import TooLargeError, costs_of_segments

LONGEST_TEXT = 20_000  # characters
MOST_TEXTS = 1_000_000
MOST_REFERENCES = 100  # of a segment
LARGEST_SEGMENT, LARGEST_EXPLAINED = 100_000, 10_000
"""Characters to compare: those of the references, and of the hypothesis once per reference."""
MOST_EXPLAINED = 100  # segments: an explanation is a hundred times as long as its text

_SHAPES = {
    "hypotheses": "a list of texts",
    "references": "a list of lists of texts, null for a missing one",
    "references_by_segment": "true or false",
    "sources": "a list of texts",
    "metrics": "a list of names",
    "lang": 'a text, such as "en"',
    "drawing": "true or false",
}
_PLAIN = frozenset('"tfn')  # how texts, true, false and null begin
_scan = json.JSONDecoder().scan_once  # type: ignore[attr-defined]  # of json.decoder since Python 2.6
_skip_space = re.compile(r"[ \t\n\r]*").match
_read_mark = re.compile(r"[ \t\n\r]*([\[\]{}:,])[ \t\n\r]*").match


class NotJsonError(TeslaError):
    """A body that is no JSON."""


class _ShapeError(Exception):
    """A value of a field is not what the field takes."""


@dataclass(frozen=True)
class Query:
    """What a client asks for, checked; the metrics are named as they were given."""

    lang: ChosenLanguage
    metrics: list[str] | None
    hypotheses: list[str]
    references: References
    sources: list[str] | None
    costs: Index
    drawing: bool


def read_query(body: bytes, default_lang: str, most_metrics: int, *, explained: bool = False) -> Query:
    """The query that a body holds; whatever is wrong with it is a `TeslaError`.

    >>> read_query(b'{"hypotheses": ["a cat"], "references": [["the cat"]], "lang": "en"}', "auto", 1).hypotheses
    ['a cat']
    """
    document = _read(body, most_metrics, explained)
    hypotheses, sources = document.get("hypotheses", []), document.get("sources")
    references = document.get("references", [])
    if document.get("references_by_segment"):
        _check_count(max(map(len, references), default=0), len(references))
        references = streams_by_segment(hypotheses, references)
    check_references(hypotheses, references, needed=False)
    _check_count(len(references), len(hypotheses))
    if sources is not None and (len(sources) != len(hypotheses) or None in sources):
        raise InputError(f"{len(hypotheses)} hypotheses, but {len(sources)} sources, or some are not texts")
    costs = costs_of_segments(hypotheses, references)
    _check_costs(costs, explained)
    given = [text for stream in references for text in stream if text]
    lang = choose(document.get("lang", default_lang), given or hypotheses)
    return Query(
        lang, document.get("metrics"), hypotheses, references, sources, costs, bool(document.get("drawing"))
    )


def _read(body: bytes, most_metrics: int, explained: bool) -> dict[str, Any]:
    try:
        reader = _Reader(body.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise NotJsonError(f"the body is not JSON ({error})") from None
    readers: dict[str, Callable[[], Any]] = {
        **dict.fromkeys(("hypotheses", "sources"), reader.texts),
        "references": reader.streams,
        "metrics": partial(reader.names, most_metrics),
        "lang": partial(reader.plain, str),
        "references_by_segment": partial(reader.plain, bool),
    }
    if explained:
        readers["drawing"] = partial(reader.plain, bool)
    return reader.fields(readers)


class _Reader:
    """JSON of a known shape."""

    def __init__(self, text: str) -> None:
        self._text, self._texts_left = text, MOST_TEXTS
        self._at = self._end_of_space(0)

    def fields(self, readers: Mapping[str, Callable[[], Any]]) -> dict[str, Any]:
        """An object with the fields that have a reader; null is left out. Nothing may follow it."""
        try:
            found: dict[str, Any] = {}
            for _ in self._items("{}"):
                name = self.plain(str)
                if name not in readers or name in found:
                    raise _ShapeError
                self._mark(":")
                found[name] = self._unless_null(name, readers[name])
        except _ShapeError:
            fields = ", ".join(sorted(readers))
            raise UsageError(f"the body must be an object with the fields {fields}, and no others") from None
        if self._at < len(self._text):
            raise self._error()
        return {name: value for name, value in found.items() if value is not None}

    def _unless_null(self, name: str, read: Callable[[], Any]) -> Any:
        try:
            return self.plain(type(None)) if self._text.startswith("n", self._at) else read()
        except _ShapeError:
            raise UsageError(f"{name} must be {_SHAPES[name]}") from None

    def streams(self) -> list[list[str | None]]:
        """A list of lists of texts."""
        return [self.texts() for _ in self._items("[]")]

    def texts(self) -> list[str | None]:
        """A list of texts; null is a missing one."""
        texts: list[str | None] = []
        self._count_text()  # a list takes as much room as a text
        for _ in self._items("[]"):
            text = self.plain(str, type(None))
            if text is not None and len(text) > LONGEST_TEXT:
                raise TooLargeError(f"a text is longer than {LONGEST_TEXT} characters")
            self._count_text()
            texts.append(text)
        return texts

    def _count_text(self) -> None:
        self._texts_left -= 1
        if self._texts_left < 0:
            raise TooLargeError(f"more than {MOST_TEXTS} texts: split the request")

    def names(self, most: int) -> list[str]:
        """A list of not too many texts."""
        names: list[str] = []
        for _ in self._items("[]"):
            if len(names) == most:
                raise TooLargeError(f"more than {most} metrics")
            names.append(self.plain(str))
        if not names:
            raise _ShapeError
        return names

    def plain(self, *kinds: type) -> Any:
        """A value of one of these types: a text, true, false or null."""
        if self._text[self._at : self._at + 1] not in _PLAIN:
            raise _ShapeError if self._at < len(self._text) else self._error()
        try:
            value, self._at = _scan(self._text, self._at)
        except (StopIteration, ValueError):
            raise self._error() from None
        if not isinstance(value, kinds):
            raise _ShapeError
        return value

    def _items(self, ends: str) -> Iterator[None]:
        """Once per item between two brackets; the caller reads the item."""
        self._at = self._end_of_space(self._at)
        if not self._text.startswith(ends[0], self._at):
            raise _ShapeError if self._at < len(self._text) else self._error()
        self._mark(ends[0])
        if self._text.startswith(ends[1], self._at):
            self._mark(ends[1])
            return
        yield
        while self._mark(f",{ends[1]}") == ",":
            yield

    def _mark(self, allowed: str) -> str:
        """One of these characters, with the white space around it."""
        found = _read_mark(self._text, self._at)
        if found is None or found[1] not in allowed:
            raise self._error()
        self._at = found.end()
        return found[1]

    def _end_of_space(self, start: int) -> int:
        found = _skip_space(self._text, start)
        return found.end() if found else start

    def _error(self) -> NotJsonError:
        return NotJsonError(f"the body is not JSON (character {self._at + 1})")


def _check_count(references: int, segments: int) -> None:
    if references > MOST_REFERENCES:
        raise TooLargeError(f"a segment has more than {MOST_REFERENCES} references")
    if references * segments > MOST_TEXTS:
        raise TooLargeError(f"more than {MOST_TEXTS} references with the missing ones: split the request")


def _check_costs(costs: Index, explained: bool) -> None:
    if explained and len(costs) > MOST_EXPLAINED:
        raise TooLargeError(f"more than {MOST_EXPLAINED} segments to explain: split the request")
    limit = LARGEST_EXPLAINED if explained else LARGEST_SEGMENT
    if costs.max() > limit:
        raise TooLargeError(
            f"segment {int(costs.argmax()) + 1} has more than {limit} characters to compare: its references, and its "
            "hypothesis once per reference"
        )
