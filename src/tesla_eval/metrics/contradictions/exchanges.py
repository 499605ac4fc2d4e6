"""Exchanged roles as signs of another meaning: `dog bites man`, `man bites dog` (specification §13)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from tesla_eval.base.arrays import Index
from tesla_eval.language.analysis import AnalysedBatch
from tesla_eval.language.analysis.conllu import UNIVERSAL_IDS

_LONGEST = 25
"""Longer texts are not compared: roles in one clause say little of the whole."""
_LISTING = frozenset(["and", "or", "nor", "&", "with", "than", "like", "as"])
"""The order of the neighbours of these words means little."""
_NOUNS = [UNIVERSAL_IDS[tag] for tag in ("NOUN", "PROPN", "PRON")]

SYMMETRIC = frozenset(
    """be become remain equal mean match resemble meet marry divorce date border accompany join fight differ
    correspond coincide intersect overlap""".split()  # noqa: SIM905
)
"""Predicates whose doer and undergoer may change places while the meaning stays."""

CONVERSE = frozenset(
    frozenset(pair.split("/"))
    for pair in """buy/sell give/take give/receive give/get lend/borrow win/lose beat/lose defeat/lose teach/learn
    precede/follow send/receive send/get export/import lead/follow own/belong husband/wife parent/child teacher/student
    teacher/pupil employer/employee ancestor/descendant doctor/patient host/guest aunt/nephew uncle/niece above/below
    over/under before/after behind/front predecessor/successor landlord/tenant lender/borrower buyer/seller
    earlier/later""".split()  # noqa: SIM905
)
"""Words that say the same when the participants change places."""


class Exchange(NamedTuple):
    """A predicate, and who is doer and undergoer in the reference; in the hypothesis it is the other way round."""

    predicate: str
    doer: str
    undergoer: str


class ExchangeFinder:
    """Finds pairs of texts that differ in nothing but the places of two nouns around the same verb.

    It needs no parser. The package `tesla-eval-papers` has a finder that parses what remains.
    """

    @property
    def signature(self) -> Mapping[str, str]:
        """The fingerprints of what it reads."""
        return {}

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
        exchanges.update(self.find_by_parse(reference, hypothesis, i, j, unclear))
        return exchanges

    def find_by_parse(
        self, reference: AnalysedBatch, hypothesis: AnalysedBatch, i: Index, j: Index, unclear: list[int]
    ) -> Mapping[int, Exchange]:
        """The exchanges among the pairs that a look at two nouns does not settle: none without a parser."""
        return {}


def _swapped_nouns(reference: AnalysedBatch, a: int, hypothesis: AnalysedBatch, b: int) -> Exchange | None:
    """The exchange between texts that differ in nothing but the places of two nouns.

    A parse would go wrong where a verb looks like a noun: `The dog bit the man.`
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
