"""Exchanged roles between parsed texts: the same verb or noun, with doer and undergoer in each other's place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import product

from tesla_eval.base.arrays import Index
from tesla_eval.base.resources import find_resource, read_resource
from tesla_eval.language.analysis import AnalysedBatch
from tesla_eval.language.analysis.senses import SenseTable, load_senses
from tesla_eval.metrics.contradictions.exchanges import CONVERSE, SYMMETRIC, Exchange, ExchangeFinder
from tesla_eval_papers.srl.propositions import DOER, RECIPIENT, UNDERGOER, Proposition, read_propositions

_LIGHT = frozenset(
    """go come have get take make receive see hear like love fear know own need want suffer face please""".split()  # noqa: SIM905
)
"""Verbs that depend on their objects, or whose subject does nothing: `the prize went to her`, `she received praise`."""
_PARSER = "parser"
_Place = tuple[str, str, str]
"""A predicate, its doer, and its undergoer or recipient."""


class ParsedExchangeFinder(ExchangeFinder):
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

    def find_by_parse(
        self, reference: AnalysedBatch, hypothesis: AnalysedBatch, i: Index, j: Index, unclear: list[int]
    ) -> Mapping[int, Exchange]:
        """The exchanges that the parses of the pairs show."""
        if not (self._parses and unclear):
            return {}
        sides = ([reference.texts[i[k]] for k in unclear], [hypothesis.texts[j[k]] for k in unclear])
        distinct = {text: place for place, text in enumerate(dict.fromkeys([*sides[0], *sides[1]]))}
        said = read_propositions(list(distinct), self._language, nouns=False)
        found = {
            k: self._exchange(said[distinct[x]], said[distinct[y]])
            for k, x, y in zip(unclear, *sides, strict=True)
        }
        return {k: exchange for k, exchange in found.items() if exchange is not None}

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


def participants(
    propositions: Iterable[Proposition], role: str = UNDERGOER
) -> dict[tuple[str, str, str], None]:
    """All predicates with a doer and an undergoer of theirs, or who has that other role, in their order.

    Predicates of `SYMMETRIC` do not count.
    """
    return {
        (one.predicate, doer, other): None
        for one in propositions
        if one.predicate not in SYMMETRIC
        for doer in sorted(one.fillers(DOER))
        for other in sorted(one.fillers(role))
        if doer != other
    }
