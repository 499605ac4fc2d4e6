"""PEM (SPEC §13): how good is a paraphrase, from 1 to 5, given adequacy, fluency and dissimilarity."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from tesla_eval.analysis import AnalysedBatch, Analyser, Pipeline, load_pipeline
from tesla_eval.errors import ResourceError, UsageError
from tesla_eval.lm import load_language_model
from tesla_eval.metrics.base import Metric, References, SegmentScores, check_references, mean_over_references
from tesla_eval.metrics.pem_features import FEATURES, FloatArray, Index, PemFeatures
from tesla_eval.metrics.pem_model import PemModel, find_pem_model, read_pem_model
from tesla_eval.pivot import load_phrase_table
from tesla_eval.records import Signature
from tesla_eval.version import __version__

__all__ = ["HIGHEST", "LEAST_COUNT", "LOWEST", "Pem", "pem_features"]

LOWEST, HIGHEST = 1.0, 5.0
"""The scale of the overall score; an empty text gets the lowest (SPEC §5)."""

LEAST_COUNT = 50
"""Phrases of several words that the bitext has less often are not used (SPEC §6 leaves a table's size open). A rare
phrase has the few translations that it happened to get, so that it meets little but itself: on the pairs that the
built-in model learned from, adequacy correlates with the raters' at 0.55 without them and at 0.53 with them."""


def pem_features(
    lang: str, pivots: Sequence[str], language_model: str, least_count: int = LEAST_COUNT
) -> PemFeatures:
    """The features of a language over these pivot languages and this language model."""
    pipeline = load_pipeline(lang)
    if not pivots:
        raise UsageError("pem: without a pivot language there is no adequacy")
    return PemFeatures(
        pipeline,
        [load_phrase_table(pipeline.language, pivot).without_rare_phrases(least_count) for pivot in pivots],
        load_language_model(pipeline.language, language_model),
    )


class Pem(Metric):
    """PEM: the references are originals, the hypotheses their paraphrases.

    >>> metric = Pem(lang="en")
    >>> score = metric.sentence_score("It began to rain.", ["It started raining."])
    >>> sorted(score.features)
    ['adequacy', 'dissimilarity', 'fluency']
    >>> metric.sentence_score("", ["It started raining."]).score
    1.0
    """

    id: ClassVar[str] = "pem"
    feature_names = FEATURES

    def __init__(
        self,
        lang: str = "en",
        *,
        model: PemModel | str | Path | None = None,
        analyser: Analyser | Pipeline | None = None,
        synonyms: str | None = None,
        workers: int = 1,
    ) -> None:
        if analyser is not None or synonyms is not None:
            raise UsageError("pem reads plain text with the language's own analysis, and knows no synonyms")
        self.analysis = load_pipeline(lang)
        self.model = self._choose_model(model)
        self.features = pem_features(
            self.analysis.language, self.model.pivots, self.model.language_model, self.model.least_count
        )
        self.workers = workers

    def _choose_model(self, model: PemModel | str | Path | None) -> PemModel:
        language = self.analysis.language
        if model is None:
            chosen = find_pem_model(language)
        else:
            chosen = model if isinstance(model, PemModel) else read_pem_model(Path(model))
        if chosen.language != language:
            raise ResourceError(f"pem: this is a model of language {chosen.language!r}, not of {language!r}")
        if chosen.regression.features != FEATURES:
            raise ResourceError(
                "pem: the model was trained with other features; make it anew with `tesla train pem`"
            )
        if chosen.analysis and chosen.analysis != self.analysis.lemma_fingerprint:
            raise ResourceError(
                f"pem: the model was trained with the analysis {chosen.analysis}, the one installed is "
                f"{self.analysis.lemma_fingerprint}; make it anew with `tesla train pem`"
            )
        return chosen

    def get_signature(self) -> Signature:
        """Name, version, language, and fingerprints of the analysis, the tables, the language model and the model."""
        tables = "+".join(f"{table.pivot}.{table.resource.fingerprint}" for table in self.features.tables)
        return Signature(
            {
                "metric": self.id, "version": __version__, **self.analysis.signature, "pivots": tables,
                "least_count": str(self.model.least_count),
                "lm": f"{self.model.language_model}.{self.features.language_model.fingerprint}",
                "model": self.model.fingerprint or "own",
            }
        )  # fmt: skip

    def score_segments(self, hypotheses: Sequence[str], references: References) -> SegmentScores:
        """The scores of some paraphrases, each the mean over the originals it has."""
        streams = [["" if text is None else text for text in stream] for stream in references]
        hypothesis, *sides = self.analysis.analyse(hypotheses, *streams)
        shape = (len(references), len(hypotheses))
        scores = np.full(shape, np.nan)
        features = np.full((*shape, len(FEATURES)), np.nan)
        for k, (side, stream) in enumerate(zip(sides, references, strict=True)):
            there = np.array([index for index, text in enumerate(stream) if text is not None], np.int64)
            found = self.features.compute(side, hypothesis, there, there)
            features[k, there] = found
            scores[k, there] = self._scores(found, side, hypothesis, there, there)
        return SegmentScores(mean_over_references(scores), mean_over_references(features))

    def _scores(
        self, found: FloatArray, x: AnalysedBatch, y: AnalysedBatch, x_index: Index, y_index: Index
    ) -> npt.NDArray[np.float64]:
        """What the regression says, within the scale; the lowest score where a side has no word left."""
        scores = np.full(len(found), LOWEST)
        there = (x.lengths[x_index] > 0) & (y.lengths[y_index] > 0)
        scores[there] = np.clip(self.model.regression.predict(found[there]), LOWEST, HIGHEST)
        return scores

    def _explain_reference(self, hypothesis: str, reference: str) -> dict[str, Any]:
        check_references([hypothesis], [[reference]])
        y, x = self.analysis.analyse([hypothesis], [reference])
        only = np.zeros(1, np.int64)
        found = self.features.compute(x, y, only, only)
        return {
            "score": float(self._scores(found, x, y, only, only)[0]),
            "reference": [token.to_dict() for token in x.tokens(0)],
            "hypothesis": [token.to_dict() for token in y.tokens(0)],
            "features": self.features.explain(x, y),
        }
