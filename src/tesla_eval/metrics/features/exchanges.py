"""Exchanged roles as signs of another meaning: `dog bites man`, `man bites dog` (specification §13)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import product

import numpy as np

from tesla_eval.base.arrays import Index
from tesla_eval.base.resources import find_resource, read_resource
from tesla_eval.language.analysis import AnalysedBatch
from tesla_eval.language.analysis.conllu import UNIVERSAL_IDS
from tesla_eval.language.analysis.senses import SenseTable, load_senses
from tesla_eval.language.srl.exchanged import CONVERSE, SYMMETRIC, Exchange, participants
from tesla_eval.language.srl.propositions import RECIPIENT, Proposition, read_propositions

_LONGEST = 25
"""Longer texts are not parsed: time grows with their length, and roles in one clause say little of the whole."""
_LISTING = frozenset(["and", "or", "nor", "&", "with", "than", "like", "as"])
"""The order of the neighbours of these words means little."""
_LIGHT = frozenset(
    """go come have get take make receive see hear like love fear know own need want suffer face please""".split()  # noqa: SIM905
)
"""Verbs that depend on their objects, or whose subject does nothing: `the prize went to her`, `she received praise`."""
_PARSER = "parser"
_Place = tuple[str, str, str]
"""A predicate, its doer, and its undergoer or recipient."""


class ExchangeFinder:
    """Finds pairs of texts in which two participants changed places around the same verb or a synonym of it.

    English has a parser; without one, only texts that differ in nothing but the places of two nouns are found.
    """

    def __init__(self, language: str) -> None:
        self._language = language
        self._parses = find_resource(_PARSER, language) is not None

    @cached_property
    def signature(self) -> dict[str, str]:
        """The fingerprint of the parser."""
        path = find_resource(_PARSER, self._language)
        return {"parser": "none" if path is None else read_resource(path, _PARSER).fingerprint}

    @cached_property
    def _senses(self) -> SenseTable | None:
        return load_senses(self._language)

    def find(
        self, reference: AnalysedBatch, hypothesis: AnalysedBatch, i: Index, j: Index
    ) -> dict[int, Exchange]:
        """For each pair (text `i[k]` of the reference, `j[k]` of the hypothesis) with exchanged roles, by k, which."""
        exchanges: dict[int, Exchange] = {}
        unclear = []
        for k, (a, b) in enumerate(zip(i.tolist(), j.tolist(), strict=True)):
            if max(reference.lengths[a], hypothesis.lengths[b]) > _LONGEST:
                continue
            if (swap := _swapped_nouns(reference, a, hypothesis, b)) is not None:
                exchanges[k] = swap
            else:
                unclear.append(k)
        if self._parses and unclear:
            sides = ([reference.texts[i[k]] for k in unclear], [hypothesis.texts[j[k]] for k in unclear])
            distinct = {text: place for place, text in enumerate(dict.fromkeys([*sides[0], *sides[1]]))}
            said = read_propositions(list(distinct), self._language, nouns=False)
            for k, x, y in zip(unclear, *sides, strict=True):
                if (exchange := self._exchange(said[distinct[x]], said[distinct[y]])) is not None:
                    exchanges[k] = exchange
        return exchanges

    def _exchange(
        self, reference: Sequence[Proposition], hypothesis: Sequence[Proposition]
    ) -> Exchange | None:
        x, y = ([*participants(side), *participants(side, RECIPIENT)] for side in (reference, hypothesis))
        for (predicate, doer, undergoer), (other, *places) in product(x, y):
            if doer in places[1:] or undergoer in places[:1]:
                doers = [
                    {place[1] for place in side if self._alike(predicate, place[0], x, y)} for side in (x, y)
                ]
                if self._alike(predicate, other, x, y) and doers[0].isdisjoint(doers[1]):
                    return Exchange(predicate, doer, places[0] if doer == places[1] else undergoer)
        return None

    def _alike(self, one: str, other: str, x: Sequence[_Place], y: Sequence[_Place]) -> bool:
        """Whether two predicates say the same: equal, of one sense, or each the only one that its text has."""
        if one == other or frozenset((one, other)) in CONVERSE or not _LIGHT.isdisjoint((one, other)):
            return one == other
        if {place[0] for place in x} == {one} and {place[0] for place in y} == {other}:
            return True
        senses = self._senses
        return senses is not None and not set(senses.senses(one)).isdisjoint(senses.senses(other))


def _swapped_nouns(reference: AnalysedBatch, a: int, hypothesis: AnalysedBatch, b: int) -> Exchange | None:
    """The exchange between texts that differ in nothing but the places of two nouns.

    It needs no parse, which goes wrong where a verb looks like a noun: `The dog bit the man.`
    """
    if reference.lengths[a] != hypothesis.lengths[b]:
        return None
    span_x, span_y = (
        slice(batch.offsets[k], batch.offsets[k + 1]) for batch, k in ((reference, a), (hypothesis, b))
    )
    x, y = reference.lemma[span_x], hypothesis.lemma[span_y]
    places = np.flatnonzero(x != y)
    if len(places) != 2:
        return None
    p, q = places.tolist()
    if x[p] != y[q] or x[q] != y[p] or q - p < 2:
        return None
    if not np.isin(reference.universal[span_x][places], _NOUNS).all():
        return None
    between = reference.vocabulary.lexicon.lemmas(x[p + 1 : q])
    content = [
        w
        for w, function in zip(between, reference.function[span_x][p + 1 : q].tolist(), strict=True)
        if not function
    ]
    if not content or not _LISTING.isdisjoint(between) or not SYMMETRIC.isdisjoint(between):
        return None
    lemma = reference.vocabulary.lexicon.lemma
    return Exchange(content[0], lemma(int(x[p])), lemma(int(x[q])))


_NOUNS = [UNIVERSAL_IDS[tag] for tag in ("NOUN", "PROPN", "PRON")]
