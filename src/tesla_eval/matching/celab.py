"""TESLA-CELAB's covering program (specification §9): what share of both texts' n-grams matched ones cover, exactly.

The program falls into one for each side. Which n-grams of a side can be matched together is a transversal matroid,
and by the theorem of Mendelsohn and Dulmage one matching gives both the reference and the hypothesis the best that
each could have alone. So the score is (covered reference + f · covered hypothesis) / Z with both optima on their own;
`core/celab/cover.h` and `core/celab/paths.h` say how each is found without a general solver.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from math import isnan
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tesla_eval._core import CelabBatch, NgramVocabulary
from tesla_eval.base.arrays import FloatArray, Index
from tesla_eval.base.errors import InputError, UsageError
from tesla_eval.base.explanations import Coverage, CoveringDetail, CoveringLink, LinkPart
from tesla_eval.matching.bags.units import MAX_UNITS, NgramWeights
from tesla_eval.matching.synonyms import SynonymTable, are_synonyms

__all__ = [
    "ORDER",
    "PRECISION_WEIGHT",
    "CelabMatcher",
    "Covering",
    "CoveringMatch",
    "cut_link",
]


class _Cut(NamedTuple):
    """A way to cut the rest of both n-grams: compared by equal units, then by the number of parts."""

    equal_units: int
    pieces: int
    parts: tuple[LinkPart, ...]


def cut_link(
    reference: Sequence[str],
    hypothesis: Sequence[str],
    spans: tuple[int, int, int, int],
    synonymous: Callable[[str, str], bool],
) -> tuple[LinkPart, ...]:
    """The finest cut of a linked pair of n-grams, with as many equal units as possible.

    >>> cut = cut_link("买雨伞", "买伞", (0, 3, 0, 2), lambda a, b: {a, b} == {"雨伞", "伞"})
    >>> [(part.reference, part.hypothesis, part.equal) for part in cut]
    [((0, 1), (0, 1), True), ((1, 3), (1, 2), False)]
    """
    a, b, c, d = spans
    best: dict[tuple[int, int], _Cut] = {(b, d): _Cut(0, 0, ())}
    for i in range(b - 1, a - 1, -1):
        for j in range(d - 1, c - 1, -1):
            for m in range(i + 1, b + 1):
                for n in range(j + 1, d + 1):
                    rest = best.get((m, n))
                    if rest is None:
                        continue
                    x, y = "".join(reference[i:m]), "".join(hypothesis[j:n])
                    equal = x == y
                    if not (equal or synonymous(x, y)):
                        continue
                    cut = _Cut(
                        rest.equal_units + (m - i if equal else 0),
                        rest.pieces + 1,
                        (LinkPart((i, m), (j, n), equal), *rest.parts),
                    )
                    if (i, j) not in best or cut[:2] > best[i, j][:2]:
                        best[i, j] = cut
    return best[a, c].parts


ORDER = 4
"""specification §9: the longest n-gram."""
PRECISION_WEIGHT = 0.25
"""specification §9: f, the weight of the hypothesis's n-grams beside the reference's."""

_ROWS_PER_UNIT = 0.5
"""How many rows of a program may be connected, as a share of the units that a text may have. In repetitive texts the
rows are connected: time grows with the fourth power of their number (2,500 take some ten seconds), memory with the
square. Other texts, however long, never come near it."""
_SHOWN = 10  # units of a text in a message
_ROUNDING = 1e-9
_MOST_NGRAMS = 1 << 19  # kept with their categories from one call to the next


@dataclass(frozen=True)
class Covering:
    """Of every pair: the score, the covered share of the reference (recall) and of the hypothesis (precision).

    NaN where both texts have no unit: what that is worth is for the metric to say (specification §5).
    """

    score: FloatArray
    recall: FloatArray
    precision: FloatArray


Link = tuple[int, int, int, int, float]
"""Reference start and end, hypothesis start and end, in units; weight w > 0."""


@dataclass(frozen=True)
class CoveringMatch:
    """One pair with a matching that reaches the optimum."""

    score: float
    recall: float
    precision: float
    links: tuple[Link, ...]
    parts: tuple[tuple[LinkPart, ...], ...]
    """For each link, why it is one."""
    reference_coverage: FloatArray
    """c(X) by start (row) and length from 1 (column); NaN past the end of the text."""
    hypothesis_coverage: FloatArray

    def essential_links(self) -> tuple[Link, ...]:
        """The links without those that cover nothing which longer ones do not cover: what a reader wants to see."""
        sides = (np.zeros(self.reference_coverage.shape), np.zeros(self.hypothesis_coverage.shape))
        for a, b, c, d, weight in self.links:
            _add_below(sides[0], a, b, weight)
            _add_below(sides[1], c, d, weight)
        kept = list(self.links)
        for link in sorted(self.links, key=lambda link: link[1] - link[0] + link[3] - link[2]):
            a, b, c, d, weight = link
            _add_below(sides[0], a, b, -weight)
            _add_below(sides[1], c, d, -weight)
            if _still_covers(sides[0], self.reference_coverage) and _still_covers(
                sides[1], self.hypothesis_coverage
            ):
                kept.remove(link)
            else:
                _add_below(sides[0], a, b, weight)
                _add_below(sides[1], c, d, weight)
        return tuple(kept)

    def to_detail(self) -> CoveringDetail:
        """The match as explanations hold it."""
        essential = set(self.essential_links())
        return CoveringDetail(
            tuple(
                CoveringLink(link[:2], link[2:4], link[4], link in essential, parts)
                for link, parts in zip(self.links, self.parts, strict=True)
            ),
            {
                "reference": _coverage_entries(self.reference_coverage),
                "hypothesis": _coverage_entries(self.hypothesis_coverage),
            },
        )


class CelabMatcher:
    """Matches texts, given as the keys of their units, under one set of parameters; safe to use from several threads.

    >>> from tesla_eval.matching.synonyms import SynonymSets
    >>> matcher = CelabMatcher(SynonymSets([["伞", "雨伞"]]))
    >>> matcher.match([list("买雨伞")], [list("买伞")]).score.tolist()
    [1.0]
    """

    def __init__(
        self,
        synonyms: SynonymTable | None = None,
        *,
        order: int = ORDER,
        precision_weight: float = PRECISION_WEIGHT,
        weights: NgramWeights | None = None,
        max_units: int = MAX_UNITS,
    ) -> None:
        if not 1 <= order <= 8:
            raise UsageError(f"order {order}: n-grams have 1 to 8 units")
        if not precision_weight >= 0:
            raise UsageError(f"precision weight {precision_weight!r}: must not be negative")
        self.synonyms = synonyms
        self.order = order
        self.precision_weight = precision_weight
        self.weights = weights
        self.max_units = max_units
        self._vocabulary = NgramVocabulary()

    def match(
        self,
        references: Sequence[list[str]],
        hypotheses: Sequence[list[str]],
        reference_index: Index | None = None,
        hypothesis_index: Index | None = None,
    ) -> Covering:
        """Match reference `reference_index[k]` with hypothesis `hypothesis_index[k]`; by default k with k."""
        if reference_index is None or hypothesis_index is None:
            if len(references) != len(hypotheses):
                raise InputError(f"{len(references)} references, but {len(hypotheses)} hypotheses")
            reference_index = hypothesis_index = np.arange(len(references))
        # Texts that no pair names cost nothing.
        x, x_index = np.unique(reference_index, return_inverse=True)
        y, y_index = np.unique(hypothesis_index, return_inverse=True)
        texts = [*(references[i] for i in x.tolist()), *(hypotheses[j] for j in y.tolist())]
        return self._solve(texts, x_index, y_index + len(x))

    def explain(self, reference: list[str], hypothesis: list[str]) -> CoveringMatch:
        """One pair with its links and the coverage of every n-gram."""
        batch = self._batch([reference, hypothesis])
        try:
            totals, spans, weights = batch.explain(0, 1, self._max_rows)
        except ValueError as error:
            raise self._too_large(reference, hypothesis) from error
        covering = self._score(totals[None], [reference], [hypothesis])
        starts, ends = spans[:, ::2], spans[:, ::2] + spans[:, 1::2]
        order = np.lexsort((starts[:, 1], ends[:, 0], starts[:, 0]))
        links = np.column_stack([starts[:, 0], ends[:, 0], starts[:, 1], ends[:, 1]])[order].tolist()
        synonymous = cache(partial(are_synonyms, self.synonyms))
        return CoveringMatch(
            float(covering.score[0]), float(covering.recall[0]), float(covering.precision[0]),
            tuple((a, b, c, d, weight) for (a, b, c, d), weight in zip(links, weights[order].tolist(), strict=True)),
            tuple(cut_link(reference, hypothesis, tuple(link), synonymous) for link in links),
            _coverage(len(reference), self.order, spans[:, :2], weights),
            _coverage(len(hypothesis), self.order, spans[:, 2:], weights),
        )  # fmt: skip

    def _solve(self, texts: list[list[str]], reference: Index, hypothesis: Index) -> Covering:
        totals = self._batch(texts).solve(reference, hypothesis, self._max_rows)
        refused = np.flatnonzero(np.isnan(totals[:, 0]))
        if len(refused):
            raise self._too_large(texts[reference[refused[0]]], texts[hypothesis[refused[0]]])
        return self._score(totals, [texts[i] for i in reference], [texts[i] for i in hypothesis])

    def _batch(self, texts: list[list[str]]) -> CelabBatch:
        for text in texts:
            if len(text) > self.max_units:
                raise InputError(
                    f"a text has {len(text)} units, more than the {self.max_units} of max_units: "
                    "split it into segments, or raise max_units"
                )
        if len(self._vocabulary) > _MOST_NGRAMS:
            self._vocabulary = NgramVocabulary()
        weights = None if self.weights is None else [self._weights_of(text, self.weights) for text in texts]
        batch = CelabBatch(self._vocabulary, texts, self.order, weights)
        if self.synonyms is not None and (unknown := batch.unknown()):
            batch.define(*self.synonyms.lookup(unknown))
        return batch

    def _weights_of(self, text: list[str], rule: NgramWeights) -> FloatArray:
        weights = rule(text)[:, : self.order]
        if weights.shape != (len(text), self.order) or not ((weights >= 0) & (weights <= 1)).all():
            raise UsageError("n-gram weights: one number between 0 and 1 for every unit and length")
        return np.ascontiguousarray(weights, np.float64).ravel()

    def _score(
        self,
        totals: FloatArray,
        references: Sequence[list[str]],
        hypotheses: Sequence[list[str]],
    ) -> Covering:
        covered, total, hypothesis_covered, hypothesis_total = totals.T
        f = self.precision_weight
        bound = total + f * hypothesis_total
        with np.errstate(invalid="ignore"):
            score = np.minimum((covered + f * hypothesis_covered) / bound, 1.0)
            covering = Covering(score, covered / total, hypothesis_covered / hypothesis_total)
        for k in np.flatnonzero(bound == 0).tolist():  # nothing that weighs anything
            if references[k] or hypotheses[k]:
                score[k] = float(references[k] == hypotheses[k])
        return covering

    @property
    def _max_rows(self) -> int:
        return max(1, int(_ROWS_PER_UNIT * self.max_units))

    def _too_large(self, reference: list[str], hypothesis: list[str]) -> InputError:
        begins = " and ".join(repr("".join(text[:_SHOWN])) for text in (reference, hypothesis))
        return InputError(
            f"the texts that begin {begins} are too repetitive: more than {self._max_rows:,} sets of n-grams "
            "compete with each other; shorten them, or raise the bound (-m celab:max_units=N, in Python max_units=N)"
        )


def _coverage(units: int, order: int, spans: npt.NDArray[np.int32], weights: FloatArray) -> FloatArray:
    """c(X) = min(1, Σ w(Y) over the n-grams Y that cover X), for every n-gram X of a side."""
    covered = np.full((units, order), np.nan)
    for start in range(units):
        covered[start, : units - start] = 0.0
    for (start, length), weight in zip(spans.tolist(), weights.tolist(), strict=True):
        _add_below(covered, start, start + length, weight)
    np.minimum(covered, 1.0, out=covered)
    return covered


def _add_below(covered: FloatArray, start: int, end: int, weight: float) -> None:
    """Add `weight` to all n-grams that lie within the one from `start` to `end`."""
    for inner in range(start, end):
        covered[inner, : end - inner] += weight


def _still_covers(sums: FloatArray, coverage: FloatArray) -> bool:
    return not (sums < coverage - _ROUNDING).any()


def _coverage_entries(coverage: FloatArray) -> Coverage:
    return tuple(
        ((start, start + length), value)
        for start, row in enumerate(coverage.tolist())
        for length, value in enumerate(row, 1)
        if not isnan(value)
    )
