"""CREMER (specification §12): support vector regression from TESLA-S and DICOMER to overall responsiveness."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import numpy as np

from tesla_eval.base.errors import ResourceError, UsageError
from tesla_eval.base.explanations import ValueDetail
from tesla_eval.base.records import Signature
from tesla_eval.base.resources import find_resource, missing_resource, read_resource
from tesla_eval.base.version import __version__
from tesla_eval.metrics.base import Metric
from tesla_eval.metrics.results import Explanation, SegmentScores
from tesla_eval.metrics.segments import References
from tesla_eval.metrics.tesla_s import TeslaS
from tesla_eval_papers.discourse.roles import CoherenceModel
from tesla_eval_papers.metrics.dicomer import Dicomer
from tesla_eval_papers.models.svr import CREMER, CREMER_FEATURES, CremerModel, kernel_kind

_KERNELS = {"linear": "linear", "polynomial": "poly", "rbf": "rbf"}
"""The paper's kernels, and what the models call them."""


class Cremer(Metric):
    """CREMER: how well a summary serves its reader, by its content (TESLA-S) and its readability (DICOMER).

    >>> metric = Cremer()
    >>> models = ["Tom stayed at home because he had a fever."]
    >>> good = metric.sentence_score("Tom had a fever. So he stayed at home.", models)
    >>> sorted(good.features)
    ['dicomer', 'tesla-s']
    """

    id: ClassVar[str] = "cremer"
    summary: ClassVar[str] = "quality of a summary; below TESLA-S on sets that it has not seen"
    scale: ClassVar[str] = "learned"
    languages: ClassVar[str] = "en"
    feature_names = CREMER_FEATURES
    signed: ClassVar[frozenset[str]] = frozenset({"kernel", "model", "dicomer"})
    sections: ClassVar[Mapping[str, str]] = {"kernel": "§12", "model": "§12", "dicomer": "§11"}
    choices: ClassVar[Mapping[str, tuple[str, ...]]] = {"kernel": tuple(_KERNELS)}

    def __init__(
        self,
        lang: str = "en",
        *,
        kernel: str = "rbf",
        model: CremerModel | Path | str | None = None,
        dicomer: CoherenceModel | Path | str | None = None,
        workers: int = 1,
    ) -> None:
        if kernel not in _KERNELS:
            raise UsageError(f"cremer: the kernel is one of {', '.join(_KERNELS)}, not {kernel!r}")
        self.content = TeslaS(lang)
        self.coherence = Dicomer(lang, model=dicomer)
        language = self.coherence.parser.pipeline.language
        if model is None:
            model = find_resource(kernel_kind(_KERNELS[kernel]), language)
            if model is None:
                raise missing_resource(
                    f"CREMER model ({kernel})",
                    language,
                    f"tesla train cremer --kernel {_KERNELS[kernel]} -l {language}",
                )
        if not isinstance(model, CremerModel):
            model = CremerModel.from_resource(read_resource(Path(model), CREMER))
        if model.dicomer and model.dicomer != self.coherence.model.fingerprint:
            raise ResourceError(
                f"the CREMER model was trained with the DICOMER model {model.dicomer}, the one in use is "
                f"{self.coherence.model.fingerprint}; train it again with `tesla train cremer`"
            )
        self.model = model
        self.workers = workers
        self.lang = language

    def get_signature(self) -> Signature:
        """Name, version, language, kernel, and the models."""
        inner = self.coherence.get_signature()
        kept = {key: inner[key] for key in ("lang", "variant", "tagger", "parser")}
        return Signature(
            {
                "metric": self.id, "version": __version__, **kept, "dicomer": inner["model"],
                "kernel": self.model.regression.kernel, "model": self.model.fingerprint,
            }
        )  # fmt: skip

    def score_segments(self, hypotheses: Sequence[str], references: References) -> SegmentScores:
        """The regression's value for each summary."""
        content = self.content.score_segments(hypotheses, references).scores
        coherence = self.coherence.score_segments(hypotheses).scores
        features = np.stack([content, coherence], axis=1)
        scores = self.model.predict(features)
        (words,) = self.content.analysis.analyse(hypotheses)
        scores[words.lengths == 0] = self.model.lowest  # specification §5
        return SegmentScores(scores, features)

    def explain(
        self, hypothesis: str, references: Sequence[str] = (), sources: str | None = None
    ) -> Explanation:
        """Both parts of the score with all that produced them; for each model summary the score it alone would give."""
        content = self.content.explain(hypothesis, references)
        coherence = self.coherence.explain_text(hypothesis)

        def overall(content_score: float) -> float:
            if not content.references[0].hypothesis:
                return self.model.lowest
            return float(self.model.predict(np.array([[content_score, coherence.score]]))[0])

        details = []
        for detail in content.references:
            values = zip(CREMER_FEATURES, (detail.score, coherence.score), strict=True)
            parts = (ValueDetail(name=name, value=value) for name, value in values)
            details.append(
                replace(
                    detail, score=overall(detail.score), features=(*parts, *detail.features), coherence=coherence
                )
            )  # fmt: skip
        signature = self.result_signature([[text] for text in references])
        return Explanation(self.id, signature, overall(content.score), hypothesis, tuple(details))
