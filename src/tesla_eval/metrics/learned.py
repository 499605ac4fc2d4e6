"""Metrics whose weights were learned from human judgements (SPEC §8, §8b): groups of features, one linear model.

A subclass lists its groups of features. The model says which of them it was trained with; only these are computed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from tesla_eval.analysis import AnalysedBatch, Analyser, Analysis, Pipeline, choose_analysis
from tesla_eval.errors import ResourceError
from tesla_eval.metrics.base import (
    Metric,
    References,
    SegmentScores,
    blocks_of_pairs,
    check_references,
    mean_over_references,
    new_matrix,
)
from tesla_eval.metrics.feature_groups import FeatureGroup, FeatureSet, FloatArray, Index
from tesla_eval.models import LinearModel, find_model, read_model
from tesla_eval.records import Signature
from tesla_eval.version import __version__

__all__ = ["GroupMaker", "LearnedMetric", "make_groups"]

GroupMaker = Callable[[Analysis], FeatureGroup | None]
"""Makes a group for an analysis, or nothing where the language has not what the group needs."""

_PAIRS_AT_ONCE = 1 << 15


def make_groups(
    makers: Mapping[str, GroupMaker], analysis: Analysis, wanted: Sequence[str] | None = None
) -> list[FeatureGroup]:
    """The groups of that name, by default all that this language has what they need."""
    names = list(makers) if wanted is None else wanted
    made = [(name, makers[name](analysis) if name in makers else None) for name in names]
    missing = [name for name, group in made if group is None]
    if wanted is not None and missing:
        raise ResourceError(f"the weights ask for features that are not installed here: {', '.join(missing)}")
    return [group for _, group in made if group is not None]


class LearnedMetric(Metric):
    """A metric over a linear model; a subclass gives its `id`, the `key` of its weights and its groups."""

    key: ClassVar[str]
    """The metric's name in `-m` and in `weights-KEY-LANGUAGE.json`."""
    group_makers: ClassVar[Mapping[str, GroupMaker]]
    """All groups of features it may be trained with, by name."""

    def __init__(
        self,
        lang: str = "en",
        *,
        weights: LinearModel | str | Path | None = None,
        analyser: Analyser | Pipeline | None = None,
        synonyms: str | None = None,
        workers: int = 1,
    ) -> None:
        self.analysis = choose_analysis(lang, analyser, synonyms)
        own_analysis = analyser is not None or synonyms is not None
        self.model = self._choose_model(weights)
        if not own_analysis:
            self._check_analysis()
        groups = make_groups(self.group_makers, self.analysis, self.model.groups)
        self.features = FeatureSet([group.restricted(self.model.features) for group in groups], self.analysis)
        self.feature_names = self.model.features
        self._columns = self._columns_of_model()
        self.workers = workers
        self._parameters: dict[str, str] = {}

    def _choose_model(self, weights: LinearModel | str | Path | None) -> LinearModel:
        if isinstance(weights, LinearModel):
            return weights
        language = self.analysis.signature["lang"]
        model = find_model(self.key, language) if weights is None else read_model(Path(weights))
        if model is None:
            raise ResourceError(
                f"{self.id}: there are no weights for {language!r}; make some with `tesla train {self.key}`"
            )
        if model.metric != self.id:
            raise ResourceError(f"these are weights of {model.metric}, not of {self.id}")
        return model

    def _check_analysis(self) -> None:
        """Weights were learned with one analysis; another one may mean other features (DESIGN, resource files)."""
        here = str(Signature(self.analysis.signature))
        if self.model.analysis and self.model.analysis != here:
            raise ResourceError(
                f"{self.id}: the weights were learned with the analysis {self.model.analysis}, the one installed is "
                f"{here}; train them again with `tesla train {self.key}`, or take -m m"
            )

    def _columns_of_model(self) -> npt.NDArray[np.int64]:
        place = {name: column for column, name in enumerate(self.features.names)}
        unknown = [name for name in self.model.features if name not in place]
        if unknown:
            raise ResourceError(
                f"{self.id}: the weights name features that do not exist: {', '.join(unknown)}"
            )
        return np.array([place[name] for name in self.model.features], np.int64)

    @property
    def shortcomings(self) -> list[str]:
        """What the analysis of this language lacks, for a warning."""
        return self.analysis.shortcomings

    def get_signature(self) -> Signature:
        """Name, version, language, resources, groups and weights."""
        head = {"metric": self.id, "version": __version__}
        return Signature(
            {
                **head,
                **self.features.signature,
                "weights": self.model.fingerprint or "own",
                **self._parameters,
            }
        )

    def score_features(self, features: FloatArray) -> FloatArray:
        """The scores of rows of features."""
        return self.model.score(features)

    def score_segments(self, hypotheses: Sequence[str], references: References) -> SegmentScores:
        """The scores of some segments, each the mean over the references it has."""
        streams = [["" if text is None else text for text in stream] for stream in references]
        hypothesis, *sides = self.analysis.analyse(hypotheses, *streams)
        prepared = self.features.prepare(hypothesis)
        shape = (len(references), len(hypotheses))
        scores = np.full(shape, np.nan)
        features = np.full((*shape, len(self.feature_names)), np.nan)
        for k, (side, stream) in enumerate(zip(sides, references, strict=True)):
            there = np.array([index for index, text in enumerate(stream) if text is not None], np.int64)
            found = self._compare(self.features.prepare(side), prepared, there, there)
            features[k, there] = found
            scores[k, there] = self._scores(found, side, hypothesis, there, there)
        return SegmentScores(mean_over_references(scores), mean_over_references(features))

    def pairwise(self, hypotheses: Sequence[str], references: Sequence[str]) -> FloatArray:
        """The score of every hypothesis (row) against every reference (column); each text is analysed once."""
        matrix = new_matrix(hypotheses, references)
        if not matrix.size:
            return matrix
        hypothesis, reference = self.analysis.analyse(hypotheses, references)
        prepared = self.features.prepare(reference), self.features.prepare(hypothesis)
        for rows, i, j in blocks_of_pairs(len(hypotheses), len(references), _PAIRS_AT_ONCE):
            found = self._compare(*prepared, j, i)
            matrix[rows] = self._scores(found, reference, hypothesis, j, i).reshape(len(rows), -1)
        return matrix

    def _compare(
        self, reference: list[Any], hypothesis: list[Any], reference_index: Index, hypothesis_index: Index
    ) -> FloatArray:
        found = self.features.compare(reference, hypothesis, reference_index, hypothesis_index)
        return np.asarray(found[:, self._columns])

    def _scores(
        self, found: FloatArray, reference: AnalysedBatch, hypothesis: AnalysedBatch,
        reference_index: Index, hypothesis_index: Index,
    ) -> FloatArray:  # fmt: skip
        """The score of each pair; 0 where a side has no token left (SPEC §5)."""
        empty = (reference.lengths[reference_index] == 0) | (hypothesis.lengths[hypothesis_index] == 0)
        return np.where(empty, 0.0, self.score_features(found))

    def _explain_reference(self, hypothesis: str, reference: str) -> dict[str, Any]:
        check_references([hypothesis], [[reference]])
        y, x = self.analysis.analyse([hypothesis], [reference])
        only = np.zeros(1, np.int64)
        found = self._compare(self.features.prepare(x), self.features.prepare(y), only, only)
        entries = self.features.explain(x, y)
        shares = self._share_entries(found)
        weight_of = {entry["name"]: entry["weight"] for entry in shares}
        for entry in entries:
            _add_weights(entry, weight_of)
        return {
            "score": float(self._scores(found, x, y, only, only)[0]),
            "linear": float(self.model.linear(found)[0]),
            "reference": [token.to_dict() for token in x.tokens(0)],
            "hypothesis": [token.to_dict() for token in y.tokens(0)],
            "features": entries,
            "shares": shares,
        }

    def _share_entries(self, found: FloatArray) -> list[dict[str, Any]]:
        shares = self.model.shares(found)[0]
        return [
            {
                "name": name, "group": self.features.group_of[name], "value": None if np.isnan(value) else float(value),
                "weight": float(weight), "share": float(share),
            }
            for name, value, weight, share in zip(
                self.feature_names, found[0], self.model.weights, shares, strict=True
            )
        ]  # fmt: skip


def _add_weights(entry: dict[str, Any], weight_of: Mapping[str, float]) -> None:
    """SPEC §17: learned metrics add each feature's weight; one for each measure where these are features."""
    name = entry["name"]
    measures = {
        measure: weight_of[f"{name}.{measure}"] for measure in "prf" if f"{name}.{measure}" in weight_of
    }
    entry["weight"] = measures or weight_of.get(name, 0.0)  # what the model leaves out weighs nothing
