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
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tesla_eval._core import CelabBatch, NgramVocabulary
from tesla_eval.bags.units import NgramWeights, Unit
from tesla_eval.errors import InputError, UsageError
from tesla_eval.matching.synonyms import SynonymTable, are_synonyms

__all__ = [
    "MAX_UNITS",
    "ORDER",
    "PRECISION_WEIGHT",
    "CelabMatcher",
    "Covering",
    "CoveringMatch",
    "Part",
    "cut_link",
]


class Part(NamedTuple):
    """One part of a link: its units on both sides, and whether they are equal (else they are synonyms)."""

    reference: tuple[int, int]
    hypothesis: tuple[int, int]
    equal: bool

    def to_dict(self) -> dict[str, object]:
        """The part as plain data."""
        return {"reference": list(self.reference), "hypothesis": list(self.hypothesis), "equal": self.equal}


class _Cut(NamedTuple):
    """A way to cut the rest of both n-grams: compared by equal units, then by the number of parts."""

    equal_units: int
    pieces: int
    parts: tuple[Part, ...]


def cut_link(
    reference: Sequence[str],
    hypothesis: Sequence[str],
    spans: tuple[int, int, int, int],
    synonymous: Callable[[str, str], bool],
) -> tuple[Part, ...]:
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
                        (Part((i, m), (j, n), equal), *rest.parts),
                    )
                    if (i, j) not in best or cut[:2] > best[i, j][:2]:
                        best[i, j] = cut
    return best[a, c].parts


ORDER = 4
"""Specification §9: the longest n-gram."""
PRECISION_WEIGHT = 0.25
"""Specification §9: f, the weight of the hypothesis's n-grams beside the reference's."""
MAX_UNITS = 5_000
"""Units of a text; half as many rows of a program may hang together (see `_ROWS_PER_UNIT`)."""

_ROWS_PER_UNIT = 0.5
"""Of texts that repeat themselves the rows hang together: time grows with the fourth power of their number (2,500 take
some ten seconds), memory with the square. Other texts, however long, never come near it."""
_SHOWN = 10  # units of a text in a message
_ROUNDING = 1e-9
_MOST_NGRAMS = 1 << 19  # kept with their categories from one call to the next


@dataclass(frozen=True)
class Covering:
    """Of every pair: the score, the covered share of the reference (recall) and of the hypothesis (precision).

    NaN where both texts have no unit: what that is worth is for the metric to say (specification §5).
    """

    score: npt.NDArray[np.float64]
    recall: npt.NDArray[np.float64]
    precision: npt.NDArray[np.float64]


Link = tuple[int, int, int, int, float]
"""Reference start and end, hypothesis start and end, in units; weight w > 0."""


@dataclass(frozen=True)
class CoveringMatch:
    """One pair with a matching that reaches the optimum."""

    score: float
    recall: float
    precision: float
    links: tuple[Link, ...]
    parts: tuple[tuple[Part, ...], ...]
    """For each link, why it is one."""
    reference_coverage: npt.NDArray[np.float64]
    """c(X) by start (row) and length from 1 (column); NaN past the end of the text."""
    hypothesis_coverage: npt.NDArray[np.float64]

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

    def to_dict(self, reference: Sequence[Unit], hypothesis: Sequence[Unit]) -> dict[str, Any]:
        """The match as specification §17 writes it."""
        essential = set(self.essential_links())
        return {
            "reference": [unit.to_dict() for unit in reference],
            "hypothesis": [unit.to_dict() for unit in hypothesis],
            "links": [
                {"reference": [a, b], "hypothesis": [c, d], "weight": weight,
                 "essential": (a, b, c, d, weight) in essential, "parts": [part.to_dict() for part in parts]}
                for (a, b, c, d, weight), parts in zip(self.links, self.parts, strict=True)
            ],
            "coverage": {
                "reference": _coverage_entries(self.reference_coverage),
                "hypothesis": _coverage_entries(self.hypothesis_coverage),
            },
        }  # fmt: skip


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

    def match(self, references: Sequence[list[str]], hypotheses: Sequence[list[str]]) -> Covering:
        """Match every reference with the hypothesis of the same index."""
        if len(references) != len(hypotheses):
            raise InputError(f"{len(references)} references, but {len(hypotheses)} hypotheses")
        numbers = np.arange(len(references))
        return self._solve([*references, *hypotheses], numbers, numbers + len(references))

    def match_all(self, references: Sequence[list[str]], hypotheses: Sequence[list[str]]) -> Covering:
        """Match every hypothesis (row) with every reference (column)."""
        rows, columns = np.indices((len(hypotheses), len(references))).reshape(2, -1)
        found = self._solve([*references, *hypotheses], columns, rows + len(references))
        shape = (len(hypotheses), len(references))
        return Covering(
            found.score.reshape(shape), found.recall.reshape(shape), found.precision.reshape(shape)
        )

    def explain(self, reference: list[str], hypothesis: list[str]) -> CoveringMatch:
        """One pair with its links and the coverage of every n-gram."""
        batch = self._batch([reference, hypothesis])
        try:
            totals, spans, weights = batch.explain(0, 1, self._max_rows)
        except ValueError as error:
            raise self._too_large(reference, hypothesis) from error
        found = self._score(totals[None], [reference], [hypothesis])
        starts, ends = spans[:, ::2], spans[:, ::2] + spans[:, 1::2]
        order = np.lexsort((starts[:, 1], ends[:, 0], starts[:, 0]))
        links = np.column_stack([starts[:, 0], ends[:, 0], starts[:, 1], ends[:, 1]])[order].tolist()
        synonymous = cache(partial(are_synonyms, self.synonyms))
        return CoveringMatch(
            float(found.score[0]), float(found.recall[0]), float(found.precision[0]),
            tuple((a, b, c, d, weight) for (a, b, c, d), weight in zip(links, weights[order].tolist(), strict=True)),
            tuple(cut_link(reference, hypothesis, tuple(link), synonymous) for link in links),
            _coverage(len(reference), self.order, spans[:, :2], weights),
            _coverage(len(hypothesis), self.order, spans[:, 2:], weights),
        )  # fmt: skip

    def _solve(
        self, texts: list[list[str]], reference: npt.NDArray[np.int64], hypothesis: npt.NDArray[np.int64]
    ) -> Covering:
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

    def _weights_of(self, text: list[str], rule: NgramWeights) -> npt.NDArray[np.float64]:
        weights = rule(text)[:, : self.order]
        if weights.shape != (len(text), self.order) or not ((weights >= 0) & (weights <= 1)).all():
            raise UsageError("n-gram weights: one number between 0 and 1 for every unit and length")
        return np.ascontiguousarray(weights, np.float64).ravel()

    def _score(
        self,
        totals: npt.NDArray[np.float64],
        references: Sequence[list[str]],
        hypotheses: Sequence[list[str]],
    ) -> Covering:
        covered, total, hypothesis_covered, hypothesis_total = totals.T
        f = self.precision_weight
        bound = total + f * hypothesis_total
        with np.errstate(invalid="ignore"):
            score = np.minimum((covered + f * hypothesis_covered) / bound, 1.0)
            found = Covering(score, covered / total, hypothesis_covered / hypothesis_total)
        for k in np.flatnonzero(bound == 0).tolist():  # nothing that weighs anything
            if references[k] or hypotheses[k]:
                score[k] = float(references[k] == hypotheses[k])
        return found

    @property
    def _max_rows(self) -> int:
        return max(1, int(_ROWS_PER_UNIT * self.max_units))

    def _too_large(self, reference: list[str], hypothesis: list[str]) -> InputError:
        begins = " and ".join(repr("".join(text[:_SHOWN])) for text in (reference, hypothesis))
        return InputError(
            f"the texts that begin {begins} repeat themselves too much: more than {self._max_rows:,} sets of n-grams "
            "compete with each other; shorten them, or raise the bound (max_units, on the command line --max-units)"
        )


def _coverage(
    units: int, order: int, spans: npt.NDArray[np.int32], weights: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """c(X) = min(1, Σ w(Y) over the n-grams Y that cover X), for every n-gram X of a side."""
    covered = np.full((units, order), np.nan)
    for start in range(units):
        covered[start, : units - start] = 0.0
    for (start, length), weight in zip(spans.tolist(), weights.tolist(), strict=True):
        _add_below(covered, start, start + length, weight)
    np.minimum(covered, 1.0, out=covered)
    return covered


def _add_below(covered: npt.NDArray[np.float64], start: int, end: int, weight: float) -> None:
    """Add `weight` to all n-grams that lie within the one from `start` to `end`."""
    for inner in range(start, end):
        covered[inner, : end - inner] += weight


def _still_covers(sums: npt.NDArray[np.float64], coverage: npt.NDArray[np.float64]) -> bool:
    return not (sums < coverage - _ROUNDING).any()


def _coverage_entries(coverage: npt.NDArray[np.float64]) -> list[dict[str, Any]]:
    return [
        {"span": [start, start + length], "c": value}
        for start, row in enumerate(coverage.tolist())
        for length, value in enumerate(row, 1)
        if not isnan(value)
    ]
