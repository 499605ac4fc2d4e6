"""From texts and scores to the data of a report: exact scores, comparisons, findings, and the links of segments."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tesla_eval.base.arrays import FloatArray
from tesla_eval.base.errors import UsageError
from tesla_eval.base.parallel import NO_PROGRESS, Progress
from tesla_eval.base.version import __version__
from tesla_eval.language.analysis.tagger import TaggerModel
from tesla_eval.metrics.base import Metric
from tesla_eval.metrics.comparison import SystemComparison, compare_systems
from tesla_eval.metrics.registry import digits
from tesla_eval.metrics.scoring import Chunk, Scored
from tesla_eval.report.embedding import encoded
from tesla_eval.report.findings import CLASSES, LENGTHS, Findings

__all__ = [
    "FORMAT",
    "FORMAT_VERSION",
    "Blocks",
    "ReportTexts",
    "ScoredMetric",
    "collect",
    "scored_metrics",
    "telling_segments",
]

FORMAT = "tesla-report"
FORMAT_VERSION = 1
MATCHING_BYTES = 12_000_000
"""How much of the page the links may take, if the user does not say for how many segments they are wanted."""
_EXPLANATIONS_PER_BLOCK = 160
_FEATURE_DIGITS = 6


@dataclass(frozen=True)
class ReportTexts:
    """The texts of a report; `names` are those of the segments, where they have any."""

    systems: tuple[str, ...]
    hypotheses: Sequence[Sequence[str]]
    references: Sequence[Sequence[str | None]]
    sources: Sequence[str] | None = None
    names: tuple[str, ...] | None = None

    @classmethod
    def of_chunks(
        cls, systems: Sequence[str], chunks: Sequence[Chunk], names: tuple[str, ...] | None = None
    ) -> ReportTexts:
        """The texts of all chunks; a chunk with fewer references than another lacks the others."""
        references: list[list[str | None]] = [
            [] for _ in range(max(len(chunk.references) for chunk in chunks))
        ]
        for chunk in chunks:
            gaps = [[None] * chunk.segments] * (len(references) - len(chunk.references))
            for stream, texts in zip(references, [*chunk.references, *gaps], strict=True):
                stream.extend(texts)
        return cls(
            tuple(systems),
            [[text for chunk in chunks for text in chunk.systems[k]] for k in range(len(systems))],
            references,
            None
            if any(chunk.sources is None for chunk in chunks)
            else [text for chunk in chunks for text in chunk.sources or ()],
            names,
        )

    @property
    def count(self) -> int:
        """How many segments there are."""
        return len(self.hypotheses[0])

    def references_of(self, segment: int) -> list[str]:
        """The references that a segment has."""
        return [text for stream in self.references if (text := stream[segment]) is not None]


@dataclass(frozen=True, eq=False)
class ScoredMetric:
    """A metric with the scores of all systems: system scores, segments (systems, N) and features (systems, N, F)."""

    name: str
    metric: Metric
    signature: str
    segment_signature: str
    digits: int
    scores: tuple[float, ...]
    segments: FloatArray
    features: FloatArray
    comparison: SystemComparison


def scored_metrics(scored: Scored, **test: Any) -> list[ScoredMetric]:
    """Each metric with its scores of all systems, compared by `compare_systems` with the options of `test`."""
    return [_scored_metric(scored, place, test) for place in range(len(scored.metrics))]


def _scored_metric(scored: Scored, place: int, test: dict[str, Any]) -> ScoredMetric:
    name, metric = scored.metrics[place]
    parts = [scored.segments(system, place) for system in range(len(scored.systems))]
    return ScoredMetric(
        name=name, metric=metric, signature=str(scored.signature(place)),
        segment_signature=str(scored.segment_signature(place)), digits=digits(name),
        scores=tuple(row[place] for row in scored.scores), segments=np.stack([part.scores for part in parts]),
        features=np.stack([part.features for part in parts]),
        comparison=compare_systems(scored.table(place), **test),
    )  # fmt: skip


@dataclass(frozen=True)
class Blocks:
    """The data of a report: the core, and encoded blocks that the page reads when it needs them."""

    core: dict[str, Any]
    others: dict[str, str]


def collect(
    texts: ReportTexts,
    scored: Sequence[ScoredMetric],
    *,
    title: str,
    command: str,
    language: str,
    flows: int | None = None,
    progress: Progress = NO_PROGRESS,
) -> Blocks:
    """Everything that the page shows. `flows` is the number of segments whose links are embedded.

    Without it, there are as many as fit into `MATCHING_BYTES`, those that tell most first.
    """
    explained = [one for one in scored if _can_explain(one.metric, texts)]
    findings, classes, lengths = _find(texts, explained, progress)
    others = {
        f"tesla-features-{place}": encoded({"metric": one.name, "values": _feature_values(one)})
        for place, one in enumerate(scored)
        if one.features.shape[2]
    }
    order = telling_segments(scored[0]) if explained else []
    blocks, places = _matching(texts, explained, order if flows is None else order[:flows], flows, progress)
    core = {
        "format": FORMAT, "version": FORMAT_VERSION, "tesla": __version__, "title": title,
        "command": command, "language": language, "systems": list(texts.systems),
        "metrics": [_metric(one, one in explained) for one in scored],
        "texts": {
            "names": None if texts.names is None else list(texts.names),
            "sources": None if texts.sources is None else list(texts.sources),
            "references": [list(stream) for stream in texts.references],
            "hypotheses": [list(lines) for lines in texts.hypotheses],
        },
        "lengths": lengths, "length_bins": list(LENGTHS),
        "word_classes": list(CLASSES), "lost_classes": classes,
        "findings": findings, "findings_metric": explained[0].name if explained else None,
        "matching": {"blocks": places, "segments": len(places), "of": texts.count},
    }  # fmt: skip
    return Blocks(core, {**others, **blocks})


def _can_explain(metric: Metric, texts: ReportTexts) -> bool:
    try:
        _explain(metric, texts, 0, 0)
    except UsageError:
        return False
    return True


def _explain(metric: Metric, texts: ReportTexts, system: int, segment: int) -> dict[str, Any]:
    hypothesis, references = texts.hypotheses[system][segment], texts.references_of(segment)
    if metric.uses_source and texts.sources is not None:
        return metric.explain(hypothesis, references, sources=texts.sources[segment]).to_dict()
    return metric.explain(hypothesis, references).to_dict()


def _metric(one: ScoredMetric, explained: bool) -> dict[str, Any]:
    return {
        "name": one.name, "signature": one.signature, "segment_signature": one.segment_signature,
        "higher_is_better": one.metric.higher_is_better, "digits": one.digits, "explained": explained,
        "scores": list(one.scores), "segments": one.segments.tolist(), "comparison": one.comparison.to_dict(),
        "feature_names": list(one.metric.feature_names),
        "feature_means": [_means(features) for features in one.features],
    }  # fmt: skip


def _means(features: FloatArray) -> list[float | None]:
    """The mean of each feature over the segments that have it."""
    columns = ([value for value in column if not math.isnan(value)] for column in features.T.tolist())
    return [round(math.fsum(column) / len(column), _FEATURE_DIGITS) if column else None for column in columns]


def _feature_values(one: ScoredMetric) -> list[list[list[float | None]]]:
    """By system, feature and segment, rounded: to sort by, not to compute with."""
    rounded = np.round(one.features, _FEATURE_DIGITS)
    return [
        [[None if math.isnan(value) else value for value in column] for column in features.T.tolist()]
        for features in rounded
    ]


def telling_segments(one: ScoredMetric) -> list[int]:
    """The segments in the order in which they tell most: by turns the widest differences, the worst, an even sample.

    With one system the differences are all 0, and the order is that of the other two.
    """
    count = one.segments.shape[1]
    sign = 1.0 if one.metric.higher_is_better else -1.0
    spread = np.argsort(-np.ptp(one.segments, axis=0), kind="stable").tolist()
    worst = np.argsort(sign * one.segments.mean(axis=0), kind="stable").tolist()
    step = max(1, count // 97)
    even = [place for start in range(step) for place in range(start, count, step)]
    return list(dict.fromkeys(place for places in zip(spread, worst, even, strict=True) for place in places))


def _find(
    texts: ReportTexts, explained: Sequence[ScoredMetric], progress: Progress
) -> tuple[list[dict[str, Any]], list[list[int]], list[int]]:
    """The findings of each system, the classes of the words that each segment lost, and the references' lengths."""
    if not explained:
        longest = [
            max((len(text.split()) for text in texts.references_of(k)), default=0) for k in range(texts.count)
        ]
        return [], [], longest
    metric = explained[0].metric
    universal = _universal_tags(metric)
    progress.stage("errors", texts.count * len(texts.systems))
    findings = [Findings(universal) for _ in texts.systems]
    for system, of_system in enumerate(findings):
        for segment in range(texts.count):
            details = _explain(metric, texts, system, segment)["references"]
            best = max(details, key=lambda detail: detail["score"])
            source = None if texts.sources is None else texts.sources[segment]
            of_system.add(segment, best, source)
            progress.advance(1)
    return (
        [one.to_dict() for one in findings],
        [one.classes for one in findings],
        findings[0].reference_lengths,
    )


def _universal_tags(metric: Metric) -> Callable[[str], str]:
    """From the tags of a metric's words to universal ones."""
    tagger = getattr(getattr(metric, "analysis", None), "tagger", None)
    known: dict[str, str] = {}
    if isinstance(tagger, TaggerModel):
        for label in tagger.labels:
            known.setdefault(label.fine, label.universal)
    return lambda tag: known.get(tag, tag)


def _matching(
    texts: ReportTexts,
    explained: Sequence[ScoredMetric],
    order: Sequence[int],
    flows: int | None,
    progress: Progress,
) -> tuple[dict[str, str], dict[str, int]]:
    """Encoded blocks of explanations, and for each segment the number of its block."""
    blocks: dict[str, str] = {}
    places: dict[str, int] = {}
    if not explained:
        return blocks, places
    step = max(1, _EXPLANATIONS_PER_BLOCK // (len(texts.systems) * len(explained)))
    used = 0
    progress.stage("links", len(order))
    for number, some in enumerate(_slices(order, step)):
        data = encoded({
            one.name: {
                str(segment): [_explain(one.metric, texts, system, segment) for system in range(len(texts.systems))]
                for segment in some
            }
            for one in explained
        })  # fmt: skip
        used += len(data)
        if flows is None and used > MATCHING_BYTES and blocks:
            break
        blocks[f"tesla-matching-{number}"] = data
        places.update({str(segment): number for segment in some})
        progress.advance(len(some))
    return blocks, places


def _slices(values: Sequence[int], step: int) -> Iterator[Sequence[int]]:
    for start in range(0, len(values), step):
        yield values[start : start + step]
