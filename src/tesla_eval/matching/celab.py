"""TESLA-CELAB's covering program (specification §9): what share of both texts' n-grams matched ones cover, exactly.

The program falls into one for each side. Which n-grams of a side can be matched together is a transversal matroid,
and by the theorem of Mendelsohn and Dulmage one matching gives both the reference and the hypothesis the best that
each could have alone. So the score is (covered reference + f · covered hypothesis) / Z with both optima on their own;
`core/matching/celab/cover.h` and `core/matching/celab/paths.h` say how each is found without a general solver.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from tesla_eval._core import CelabBatch, NgramVocabulary
from tesla_eval.base.arrays import FloatArray, Index
from tesla_eval.base.errors import InputError, UsageError
from tesla_eval.base.explanations import Coverage, CoveringDetail, CoveringLink, LinkPart
from tesla_eval.matching.bags.units import MAX_UNITS, NgramWeights
from tesla_eval.matching.synonyms import SynonymSets

ORDER = 4
"""specification §9: the longest n-gram."""
PRECISION_WEIGHT = 0.25
"""specification §9: f, the weight of the hypothesis's n-grams beside the reference's."""

_ROWS_PER_UNIT = 0.5
"""How many rows of a program may be connected, as a share of the units that a text may have. In repetitive texts the
rows are connected: time grows with the fourth power of their number (2,500 take some ten seconds), memory with the
square. Other texts, however long, never come near it."""
_SHOWN = 10  # units of a text in a message
_MOST_NGRAMS = 1 << 19  # kept with their categories from one call to the next


@dataclass(frozen=True)
class Covering:
    """Of every pair: the score, the covered share of the reference (recall) and of the hypothesis (precision).

    NaN where both texts have no unit: what that is worth is for the metric to say (specification §5).
    """

    score: FloatArray
    recall: FloatArray
    precision: FloatArray


class CelabMatcher:
    """Matches texts, given as the keys of their units, under one set of parameters; safe to use from several threads.

    >>> matcher = CelabMatcher(SynonymSets([["伞", "雨伞"]]))
    >>> matcher.match([list("买雨伞")], [list("买伞")]).score.tolist()
    [1.0]
    """

    def __init__(
        self,
        synonyms: SynonymSets | None = None,
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

    def explain(self, reference: list[str], hypothesis: list[str]) -> tuple[Covering, CoveringDetail]:
        """One pair, with a matching that reaches the optimum and the coverage of every n-gram."""
        batch = self._batch([reference, hypothesis])
        try:
            totals, *links, reference_covered, hypothesis_covered = batch.explain(0, 1, self._max_rows)
        except ValueError as error:
            raise self._too_large(reference, hypothesis) from error
        coverage = {
            "reference": _coverage(reference_covered.reshape(-1, self.order)),
            "hypothesis": _coverage(hypothesis_covered.reshape(-1, self.order)),
        }
        covering = self._score(totals[None], [reference], [hypothesis])
        return covering, CoveringDetail(_links(*links), coverage)

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
                    f"the text that begins {_beginning(text)} has {len(text):,} units, more than "
                    f"{self.max_units:,}: split it into segments, or raise the bound: "
                    f"-m celab:max_units={len(text)} (in Python max_units={len(text)})"
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
        return InputError(
            f"the texts that begin {_beginning(reference)} and {_beginning(hypothesis)} are too repetitive: "
            f"more than {self._max_rows:,} sets of n-grams "
            "compete with each other; shorten them, or raise the bound (-m celab:max_units=N, in Python max_units=N)"
        )


def _beginning(text: list[str]) -> str:
    return repr("".join(text[:_SHOWN]))


def _links(
    spans: npt.NDArray[np.int32],
    weights: FloatArray,
    essential: npt.NDArray[np.uint8],
    parts: npt.NDArray[np.int32],
    part_ends: Index,
) -> tuple[CoveringLink, ...]:
    """The links of the core as records; parts that several links share are one object."""
    part_of = cache(lambda a, b, c, d, equal: LinkPart((a, b), (c, d), bool(equal)))
    all_parts = [part_of(*part) for part in parts.tolist()]
    ends = part_ends.tolist()
    return tuple(
        CoveringLink((a, b), (c, d), weight, bool(needed), tuple(all_parts[start:end]))
        for (a, b, c, d), weight, needed, start, end in zip(
            spans.tolist(), weights.tolist(), essential.tolist(), [0, *ends], ends, strict=False
        )
    )


def _coverage(covered: FloatArray) -> Coverage:
    """The array as rows, without what is past the end of the text."""
    return [row[: len(covered) - start] for start, row in enumerate(covered.tolist())]
