"""DICOMER (specification §11): readability from the transitions of discourse roles. Needs no reference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

import numpy as np

from tesla_eval.base.errors import ResourceError, UsageError
from tesla_eval.base.explanations import CoherenceDetail, ReferenceExplanation, ValueDetail
from tesla_eval.base.records import Signature
from tesla_eval.base.version import __version__
from tesla_eval.metrics.base import Metric
from tesla_eval.metrics.results import Explanation, SegmentScores
from tesla_eval.metrics.segments import References
from tesla_eval_papers.discourse.document import Document, Relation
from tesla_eval_papers.discourse.relation_parser import TextParser, load_discourse_parser
from tesla_eval_papers.discourse.roles import (
    KIND,
    SCALES,
    VARIANTS,
    CoherenceModel,
    RoleMatrix,
    load_coherence_model,
    read_coherence_model,
    role_matrix,
    uses_explicitness,
    uses_intra_cell,
)


class Dicomer(Metric):
    """DICOMER, or its variants LIN, LIN+C and LIN+E: how coherent a text of several sentences is. Experimental.

    It tells long texts from permutations of their sentences. On coherence ratings of data sets that it was not
    trained on, it is not better than the number of words (docs/dicomer.md).

    >>> metric = Dicomer()
    >>> good = "Tom fell ill. He stayed at home because he had a fever. But his fever soon went down."
    >>> score = metric.sentence_score(good)
    >>> score.score == score.features["log"] <= 0
    True
    """

    id: ClassVar[str] = "dicomer"
    summary: ClassVar[str] = (
        "order of sentences, no reference; below the word overlap of neighbouring sentences"
    )
    scale: ClassVar[str] = "learned"
    languages: ClassVar[str] = "en"
    needs_references: ClassVar[bool] = False
    feature_names = SCALES
    signed: ClassVar[frozenset[str]] = frozenset({"variant", "scale", "model"})
    sections: ClassVar[Mapping[str, str]] = {"variant": "§11", "scale": "§11", "model": "§11"}
    choices: ClassVar[Mapping[str, tuple[str, ...]]] = {"variant": VARIANTS, "scale": SCALES}

    def __init__(
        self,
        lang: str = "en",
        *,
        variant: str = KIND,
        scale: str = SCALES[0],
        model: CoherenceModel | Path | str | None = None,
        workers: int = 1,
    ) -> None:
        if scale not in SCALES:
            raise UsageError(f"dicomer: the scale is one of {', '.join(SCALES)}, not {scale!r}")
        self.scaling = scale
        self.parser: TextParser = load_discourse_parser(lang)
        if isinstance(model, str | Path):
            model = read_coherence_model(Path(model))
        self.model = model or load_coherence_model(self.parser.pipeline.language, variant)
        if model is not None and variant not in (KIND, self.model.variant):
            raise UsageError(f"dicomer: the model is for the variant {self.model.variant!r}, not {variant!r}")
        if self.model.variant not in VARIANTS:
            raise UsageError(f"unknown variant {self.model.variant!r}; known are {', '.join(VARIANTS)}")
        if self.model.parser and self.model.parser != self.parser.fingerprint:
            raise ResourceError(
                f"the DICOMER model was trained with the parser {self.model.parser}, the one installed is "
                f"{self.parser.fingerprint}; train it again with `tesla train dicomer`"
            )
        self.workers = workers
        self.lang = self.parser.pipeline.language

    def get_signature(self) -> Signature:
        """Name, version, language, variant, scale, and the models."""
        return Signature(
            {
                "metric": self.id, "version": __version__, "lang": self.lang,
                "variant": self.model.variant, "scale": self.scaling,
                "tagger": self.parser.pipeline.signature["tagger"], "parser": self.parser.fingerprint,
                "model": self.model.fingerprint,
            }
        )  # fmt: skip

    def score_segments(self, hypotheses: Sequence[str], references: References = ()) -> SegmentScores:
        """The score of each text on every scale; references are not looked at."""
        values = np.array([self._score(document)[0] for document in self.parser.documents(hypotheses)])
        values = values.reshape(-1, len(SCALES))
        return SegmentScores(values[:, SCALES.index(self.scaling)].copy(), values)

    def _score(
        self, document: Document
    ) -> tuple[tuple[float, ...], list[Relation], RoleMatrix, dict[str, float]]:
        relations = self.parser.parser.parse(document)
        variant = self.model.variant
        matrix = role_matrix(document, relations, explicitness=uses_explicitness(variant))
        features = matrix.features(intra_cell=uses_intra_cell(variant))
        words = (word for sentence in document.sentences for word in sentence.words)
        has_words = any(map(str.isalnum, "".join(words)))  # punctuation alone is as good as nothing
        sentences = len(document) if has_words else 0
        return self.model.scores(features, sentences), relations, matrix, features

    def explain(
        self, hypothesis: str, references: Sequence[str] = (), sources: str | None = None
    ) -> Explanation:
        """The role matrix, the relations behind it, and what each transition added to the score."""
        detail = self.explain_text(hypothesis)
        reference = ReferenceExplanation("", detail.score, coherence=detail)
        return Explanation(self.id, self.get_signature(), detail.score, hypothesis, (reference,))

    def explain_text(self, text: str) -> CoherenceDetail:
        """What the metric sees in one text."""
        (document,) = self.parser.documents([text])
        values, relations, matrix, features = self._score(document)
        shares = sorted(self.model.shares(features).items(), key=lambda item: (-item[1], item[0]))
        return CoherenceDetail(
            score=values[SCALES.index(self.scaling)],
            variant=self.model.variant,
            sentences=tuple(text[s.spans[0][0] : s.spans[-1][1]] for s in document.sentences),
            relations=tuple(relation.to_dict(text, document.spans) for relation in relations),
            matrix={
                term: tuple(tuple(matrix.cell(sentence, term)) for sentence in range(matrix.sentences))
                for term in matrix.columns
            },
            features=(
                *(ValueDetail(name=name, value=value) for name, value in zip(SCALES, values, strict=True)),
                *(
                    ValueDetail(name=name, value=features[name], weight=self.model.weights[name], share=share)
                    for name, share in shares
                ),
            ),
        )
