"""The parts of an explanation: matched tokens, covered units, values of features, each feature's share of the score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tesla_eval.base.records import Span, Token, Unit


@dataclass(slots=True)
class Link:
    """How much an n-gram of the reference sends to one of the hypothesis, both given as token spans."""

    reference: Span
    hypothesis: Span
    similarity: float
    weight: float

    def to_dict(self) -> dict[str, Any]:
        """The link as plain data."""
        return {"reference": [*self.reference], "hypothesis": [*self.hypothesis],
                "similarity": self.similarity, "weight": self.weight}  # fmt: skip


@dataclass(frozen=True, slots=True)
class PivotLink:
    """How much a pivot n-gram of the reference sends to one of the hypothesis, both given as text."""

    reference: str
    hypothesis: str
    weight: float
    similarity: float = 1.0

    def to_dict(self) -> dict[str, Any]:
        """The link as plain data."""
        return {"reference": self.reference, "hypothesis": self.hypothesis,
                "similarity": self.similarity, "weight": self.weight}  # fmt: skip


@dataclass(frozen=True, slots=True)
class PivotPhrase:
    """A phrase of a text with its translations: (text, probability, how much of the match it carried)."""

    tokens: Span
    phrase: str
    translations: tuple[tuple[str, float, float], ...]

    def to_dict(self) -> dict[str, Any]:
        """The phrase as plain data."""
        keys = ("text", "probability", "carried")
        return {"tokens": [*self.tokens], "phrase": self.phrase,
                "translations": [dict(zip(keys, row, strict=True)) for row in self.translations]}  # fmt: skip


@dataclass(slots=True, kw_only=True)
class FeatureDetail:
    """One feature of an explanation; subclasses say what it is made of.

    Details, links and shares are made by the hundred for every explanation, so they are not frozen, which costs time.
    """

    name: str
    group: str = ""
    """The group of features that it belongs to, where a model weighs groups."""
    weight: float | Mapping[str, float] | None = None
    """The learned weight; one per measure where precision, recall and F are weighted apart."""

    def to_dict(self) -> dict[str, Any]:
        """The feature as plain data."""
        learned = {} if self.weight is None else {"weight": self.weight}
        return {
            "name": self.name,
            **self._content(),
            **({"group": self.group} if self.group else {}),
            **learned,
        }

    def _content(self) -> dict[str, Any]:
        return {}


@dataclass(slots=True, kw_only=True)
class MeasuredDetail(FeatureDetail):
    """Precision, recall and F of a matching problem; by itself, one whose flow is omitted."""

    similarity: str
    n: int
    precision: float
    recall: float
    f: float

    def _content(self) -> dict[str, Any]:
        return {"similarity": self.similarity, "n": self.n, "precision": self.precision, "recall": self.recall,
                "f": self.f}  # fmt: skip


@dataclass(slots=True, kw_only=True)
class MatchDetail(MeasuredDetail):
    """A matching problem with the flow that reaches its optimum."""

    objective: float
    reference_weight: float
    hypothesis_weight: float
    flow: tuple[Link, ...]
    gap: int = 0
    """Skip bigrams: up to so many tokens lie between the two words."""

    def _content(self) -> dict[str, Any]:
        return {
            **MeasuredDetail._content(self), **({"gap": self.gap} if self.gap else {}),
            "objective": self.objective, "reference_weight": self.reference_weight,
            "hypothesis_weight": self.hypothesis_weight, "flow": [link.to_dict() for link in self.flow],
        }  # fmt: skip


@dataclass(slots=True, kw_only=True)
class PivotDetail(MeasuredDetail):
    """A matching problem between pivot n-grams; unigrams also show the phrases behind them."""

    pivot: str
    objective: float
    reference_weight: float
    hypothesis_weight: float
    flow: tuple[PivotLink, ...]
    segments: Mapping[str, tuple[PivotPhrase, ...]] = field(default_factory=dict)
    """For `reference` and `hypothesis`."""

    def _content(self) -> dict[str, Any]:
        return {
            "pivot": self.pivot, **MeasuredDetail._content(self), "objective": self.objective,
            "reference_weight": self.reference_weight, "hypothesis_weight": self.hypothesis_weight,
            "flow": [link.to_dict() for link in self.flow], **_segments(self.segments),
        }  # fmt: skip


@dataclass(slots=True, kw_only=True)
class ValueDetail(FeatureDetail):
    """A feature that is one number, with what it is made of where that can be shown."""

    value: float
    words: tuple[tuple[str, float], ...] = ()
    """Language models: every word with ln P."""
    pivots: tuple[PivotValue, ...] = ()
    """PEM's adequacy: one entry per pivot language."""
    share: float | None = None
    """What the feature adds to the score, where each has a weight of its own (DICOMER)."""
    contradictions: tuple[Contradiction, ...] = ()
    """PEM-X's adequacy: what one text says and the other denies."""

    def _content(self) -> dict[str, Any]:
        content: dict[str, Any] = {"value": self.value}
        if self.words:
            content["words"] = [{"word": word, "log_probability": log} for word, log in self.words]
        if self.pivots:
            content["pivots"] = [pivot.to_dict() for pivot in self.pivots]
        if self.contradictions:
            content["contradictions"] = [one.to_dict() for one in self.contradictions]
        return content if self.share is None else {**content, "share": self.share}


@dataclass(frozen=True)
class Contradiction:
    """Something that changes the meaning: its kind, and the words behind it on each side (empty if there are none)."""

    kind: str
    reference: str
    hypothesis: str

    def to_dict(self) -> dict[str, Any]:
        """The contradiction as plain data."""
        return {"kind": self.kind, "reference": self.reference, "hypothesis": self.hypothesis}


@dataclass(frozen=True)
class PivotValue:
    """The pivot F1 of one language, with the n-grams that both texts share and the phrases behind them."""

    pivot: str
    value: float
    flow: tuple[PivotLink, ...]
    segments: Mapping[str, tuple[PivotPhrase, ...]]

    @property
    def name(self) -> str:
        """The name under which it is drawn."""
        return f"adequacy.{self.pivot}"

    def to_dict(self) -> dict[str, Any]:
        """The value as plain data."""
        return {"name": self.name, "pivot": self.pivot, "value": self.value,
                "flow": [link.to_dict() for link in self.flow], **_segments(self.segments)}  # fmt: skip


def _segments(segments: Mapping[str, tuple[PivotPhrase, ...]]) -> dict[str, Any]:
    if not segments:
        return {}
    return {
        "segments": {side: [phrase.to_dict() for phrase in phrases] for side, phrases in segments.items()}
    }


@dataclass(slots=True)
class Share:
    """What one feature adds to a linear score: weight × standardised value."""

    name: str
    group: str
    label: str
    """What the feature looks at, in words."""
    value: float | None
    weight: float
    share: float


class LinkPart(NamedTuple):
    """One part of a CELAB link: its units on both sides, and whether they are equal (else they are synonyms)."""

    reference: Span
    hypothesis: Span
    equal: bool

    def to_dict(self) -> dict[str, Any]:
        """The part as plain data."""
        return {"reference": [*self.reference], "hypothesis": [*self.hypothesis], "equal": self.equal}


class CoveringLink(NamedTuple):
    """Two linked n-grams of units; essential if something would be less covered without the link."""

    reference: Span
    hypothesis: Span
    weight: float
    essential: bool
    parts: tuple[LinkPart, ...]

    def to_dict(self) -> dict[str, Any]:
        """The link as plain data."""
        return {"reference": [*self.reference], "hypothesis": [*self.hypothesis], "weight": self.weight,
                "essential": self.essential, "parts": [part.to_dict() for part in self.parts]}  # fmt: skip


Coverage = Sequence[Sequence[float]]
"""c of every n-gram of a side, by its start and its length from 1."""


@dataclass(frozen=True)
class CoveringDetail:
    """TESLA-CELAB's links and what they cover on each side."""

    links: tuple[CoveringLink, ...]
    coverage: Mapping[str, Coverage]

    def to_dict(self) -> dict[str, Any]:
        """The covering as plain data."""
        return {
            "links": [link.to_dict() for link in self.links],
            "coverage": {
                side: [
                    {"span": [start, start + length], "c": c}
                    for start, row in enumerate(covered)
                    for length, c in enumerate(row, 1)
                ]
                for side, covered in self.coverage.items()
            },
        }


@dataclass(frozen=True)
class CoherenceDetail:
    """DICOMER's view of a text: sentences, discourse relations, the role matrix, and what each transition adds."""

    score: float
    variant: str
    sentences: tuple[str, ...]
    relations: tuple[Mapping[str, Any], ...]
    matrix: Mapping[str, tuple[tuple[str, ...], ...]]
    """For each term its roles in every sentence."""
    features: tuple[ValueDetail, ...]

    def to_dict(self) -> dict[str, Any]:
        """The text's coherence as plain data."""
        return {
            "score": self.score, "variant": self.variant, "sentences": list(self.sentences),
            "relations": [dict(relation) for relation in self.relations],
            "matrix": {term: [list(cell) for cell in column] for term, column in self.matrix.items()},
            "features": [feature.to_dict() for feature in self.features],
        }  # fmt: skip


@dataclass(frozen=True)
class SentenceSupport:
    """What the source says to one sentence of a summary (specification §10); spans are places in the two texts."""

    text: str
    start: int
    score: float
    words: float
    """How much of its words the source has, similar words included."""
    pairs: float
    """How much of its skip bigrams the source has."""
    unsupported: tuple[Span, ...]
    """The words that the source does not have."""
    unknown: tuple[Span, ...]
    """The names and numbers that it does not have."""
    source: str
    """The closest sentence of the source."""
    source_span: Span
    contradictions: tuple[Contradiction, ...]

    def surface(self, span: Span) -> str:
        """The text of a span of the summary."""
        return self.text[span[0] - self.start : span[1] - self.start]

    def to_dict(self) -> dict[str, Any]:
        """The support of the sentence as plain data."""
        places = {
            name: [{"surface": self.surface(span), "start": span[0], "end": span[1]} for span in spans]
            for name, spans in (("unsupported", self.unsupported), ("unknown", self.unknown))
        }
        return {
            "sentence": self.text, "start": self.start, "score": self.score, "words": self.words,
            "pairs": self.pairs, **places,
            "source": {"text": self.source, "start": self.source_span[0], "end": self.source_span[1]},
            "contradictions": [one.to_dict() for one in self.contradictions],
        }  # fmt: skip


@dataclass(frozen=True)
class ReferenceExplanation:
    """What produced the score against one reference (or, for DICOMER, without any)."""

    text: str
    score: float
    features: tuple[FeatureDetail, ...] = ()
    reference: tuple[Token | Unit, ...] = ()
    hypothesis: tuple[Token | Unit, ...] = ()
    linear: float | None = None
    """The score before it is scaled, of metrics with a linear model."""
    shares: tuple[Share, ...] = ()
    covering: CoveringDetail | None = None
    coherence: CoherenceDetail | None = None
    support: tuple[SentenceSupport, ...] = ()
    """The sentences of a summary that was compared with its source."""

    def to_dict(self) -> dict[str, Any]:
        """The explanation as plain data."""
        if self.coherence is not None and not self.features:
            return self.coherence.to_dict()
        shares = [
            {
                "name": one.name,
                "group": one.group,
                "value": one.value,
                "weight": one.weight,
                "share": one.share,
            }
            for one in self.shares
        ]
        return {
            "score": self.score,
            **({} if self.linear is None else {"linear": self.linear}),
            "reference": [token.to_dict() for token in self.reference],
            "hypothesis": [token.to_dict() for token in self.hypothesis],
            "features": [feature.to_dict() for feature in self.features],
            **({"shares": shares} if shares else {}),
            **({} if self.covering is None else self.covering.to_dict()),
            **({} if self.coherence is None else {"coherence": self.coherence.to_dict()}),
            **({"support": [one.to_dict() for one in self.support]} if self.support else {}),
        }
