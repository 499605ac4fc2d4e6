"""Reading GDTB: PDTB-style relations over GUM."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tesla_eval.base.errors import InputError
from tesla_eval.language.analysis import Pipeline
from tesla_eval.texts.lines import LineReader, read_json_lines
from tesla_eval_papers.discourse.document import (
    Document,
    Relation,
    RelationType,
    Sense,
    Span,
    TokenIndex,
    analyse_many,
)

__all__ = ["NON_COMMERCIAL_GENRES", "GoldDocument", "GoldRelation", "read_gdtb"]

SENSES: tuple[Sense, ...] = ("Temporal", "Contingency", "Comparison", "Expansion")
"""The four senses of level 1."""
NON_COMMERCIAL_GENRES = frozenset({"essay", "fiction", "letter", "podcast", "whow"})
"""Genres whose texts are CC BY-NC-SA: nothing learned from them is shipped."""

_TYPES: dict[str, RelationType] = {
    "Explicit": "Explicit",
    "Implicit": "Implicit",
    "AltLex": "AltLex",
    "AltLexC": "AltLex",  # specification §11
    "EntRel": "EntRel",
    "NoRel": "NoRel",
}
_LEFT_OUT = "Hypophora"  # specification §11
_MISSPELT = {"Cmparison": "Comparison"}
_COLUMNS = ("doc", "type", "sense1", "sense2", "conn_spans", "arg1_spans", "arg2_spans")


@dataclass(frozen=True)
class GoldRelation(Relation):
    """A relation as people (and rules) wrote it: a second sense, if there is one, is as right as the first."""

    senses: tuple[Sense, ...] = ()


@dataclass(frozen=True)
class GoldDocument:
    """A document of the corpus, its sentences as given, its words, tags and lemmas by our own analysis."""

    name: str
    split: str
    genre: str
    document: Document
    relations: tuple[GoldRelation, ...]

    @property
    def free(self) -> bool:
        """Whether a model learned from it may be shipped."""
        return self.genre not in NON_COMMERCIAL_GENRES


def read_gdtb(documents: str, relations: str, pipeline: Pipeline) -> list[GoldDocument]:
    """All documents with their relations; offsets of the files become tokens of our own analysis."""
    heads: list[dict[str, Any]] = []
    texts: list[tuple[str, list[Span]]] = []
    for place, entry in read_json_lines(documents):
        try:
            texts.append((entry["text"], _sentence_spans(entry["text"], entry["sents"])))
            heads.append({key: str(entry[key]) for key in ("doc", "split", "genre")})
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(f"{place}: is not a document of GDTB ({error})") from None
    analysed = analyse_many(pipeline, texts)
    places = {head["doc"]: _Places(document) for head, document in zip(heads, analysed, strict=True)}
    by_document = _read_relations(relations, places)
    return [
        GoldDocument(head["doc"], head["split"], head["genre"], document, tuple(by_document[head["doc"]]))
        for head, document in zip(heads, analysed, strict=True)
    ]


def _sentence_spans(text: str, sentences: Sequence[Sequence[str]]) -> list[Span]:
    """Where the sentences lie: their tokens stand in the text one after the other, with white space between."""
    spans, place = [], 0
    for tokens in sentences:
        start = None
        for token in tokens:
            begin = text.index(token, place)
            if text[place:begin].strip():
                raise ValueError("its tokens do not match its text")
            start = begin if start is None else start
            place = begin + len(token)
        if start is not None:
            spans.append((start, place))
    return spans


class _Places:
    """Which token lies at a character."""

    def __init__(self, document: Document) -> None:
        self._starts: list[int] = []
        self._indices: list[TokenIndex] = []
        for number, sentence in enumerate(document.sentences):
            for token, (start, _) in enumerate(sentence.spans):
                self._starts.append(start)
                self._indices.append((number, token))

    def tokens(self, spans: str) -> tuple[TokenIndex, ...]:
        """The tokens that begin within `a..b;c..d`."""
        indices: list[TokenIndex] = []
        for piece in filter(None, spans.split(";")):
            start, end = (int(number) for number in piece.split(".."))
            indices.extend(
                self._indices[bisect_right(self._starts, start - 1) : bisect_right(self._starts, end - 1)]
            )
        return tuple(sorted(indices))


def _read_relations(path: str, places: dict[str, _Places]) -> dict[str, list[GoldRelation]]:
    by_document: dict[str, list[GoldRelation]] = {name: [] for name in places}
    reader = LineReader(path)
    lines = iter(reader)
    header = next(lines, "").split("\t")
    missing = [column for column in _COLUMNS if column not in header]
    if missing:
        raise InputError(f"{reader.name}, line 1: has no column {missing[0]!r}")
    for line in lines:
        cells = dict(zip(header, line.split("\t"), strict=False))
        try:
            if cells["type"] != _LEFT_OUT and cells["doc"] in places:
                relation = _relation(cells, places[cells["doc"]])
                if relation is not None:
                    by_document[cells["doc"]].append(relation)
        except (KeyError, ValueError) as error:
            raise InputError(
                f"{reader.name}, line {reader.count}: is not a relation of GDTB ({error})"
            ) from None
    return by_document


def _relation(cells: dict[str, str], places: _Places) -> GoldRelation | None:
    kind = _TYPES[cells["type"]]
    if kind in ("EntRel", "NoRel"):
        senses: list[Sense] = [kind]
    else:
        names = (cells[column].partition(".")[0] for column in ("sense1", "sense2"))
        senses = [name for name in (_MISSPELT.get(n, n) for n in names) if name in SENSES]
    arg1, arg2 = places.tokens(cells["arg1_spans"]), places.tokens(cells["arg2_spans"])
    if not senses or not arg1 or not arg2:
        return None
    # GDTB spells out the connective of an AltLex in this column; only explicit ones are connectives.
    connective = places.tokens(cells["conn_spans"]) if kind == "Explicit" else ()
    return GoldRelation(kind, senses[0], connective, arg1, arg2, tuple(dict.fromkeys(senses)))
