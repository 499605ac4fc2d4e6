"""From texts and scores to the data of a report: exact scores, comparisons, findings, and the links of segments."""

from __future__ import annotations

import gc
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tesla_eval.base.arrays import FloatArray
from tesla_eval.base.parallel import NO_PROGRESS, Progress
from tesla_eval.base.version import __version__
from tesla_eval.drawing.covering import compact
from tesla_eval.drawing.explanation import feature_titles
from tesla_eval.language.analysis.frequencies import load_frequencies
from tesla_eval.language.analysis.tags import TaggerModel
from tesla_eval.metrics.base import Metric
from tesla_eval.metrics.comparison import SystemComparison, compare_systems
from tesla_eval.metrics.feature_metric import FeatureMetric
from tesla_eval.metrics.registry import digits
from tesla_eval.metrics.scoring import Chunk, Scored, whole_streams
from tesla_eval.report.embedding import TEXTS, encoded
from tesla_eval.report.findings import CLASSES, LENGTHS, WORD_CLASSES, Findings, word_places
from tesla_eval.texts.compression import short_names

FORMAT = "tesla-report"
FORMAT_VERSION = 1
MATCHING_BYTES = 6_000_000
"""How much of the page the links may take, if the user does not say for how many segments they are wanted."""
_EXPLANATIONS_PER_BLOCK = 160
_FEATURE_DIGITS = 4
_MOST_SENTENCES = 60


@dataclass(frozen=True)
class ReportTexts:
    """The texts of a report; `names` are those of the segments, where they have any."""

    systems: tuple[str, ...]
    hypotheses: Sequence[Sequence[str]]
    references: Sequence[Sequence[str | None]]
    sources: Sequence[str] | None = None
    names: tuple[str, ...] | None = None
    groups: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """What segments are grouped by, such as documents or labels: for each segment the name of its group."""

    @classmethod
    def of_chunks(
        cls,
        systems: Sequence[str],
        chunks: Sequence[Chunk],
        names: tuple[str, ...] | None = None,
        groups: Mapping[str, Sequence[str]] | None = None,
    ) -> ReportTexts:
        """The texts of all chunks; a chunk with fewer references than another lacks the others."""
        return cls(
            tuple(systems),
            [[text for chunk in chunks for text in chunk.systems[k]] for k in range(len(systems))],
            whole_streams(chunks),
            None
            if any(chunk.sources is None for chunk in chunks)
            else [text for chunk in chunks for text in chunk.sources or ()],
            names,
            groups or {},
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

    def to_dict(self) -> dict[str, Any]:
        """What the page shows of it: scores, comparison, means of features over the segments that have them."""
        return {
            "name": self.name, "signature": self.signature, "segment_signature": self.segment_signature,
            "higher_is_better": self.metric.higher_is_better, "digits": self.digits,
            "explained": self.metric.explains, "scores": list(self.scores), "segments": self.segments.tolist(),
            "comparison": self.comparison.to_dict(), "feature_names": list(self.metric.feature_names),
            "feature_means": [
                [
                    round(math.fsum(known) / len(known), _FEATURE_DIGITS) if known else None
                    for column in features.T.tolist()
                    for known in [[value for value in column if not math.isnan(value)]]
                ]
                for features in self.features
            ],
        }  # fmt: skip


def scored_metrics(scored: Scored, **test: Any) -> list[ScoredMetric]:
    """Each metric with its scores of all systems, compared by `compare_systems` with the options of `test`."""
    metrics = []
    for place, (name, metric) in enumerate(scored.metrics):
        parts = [scored.segments(system, place) for system in range(len(scored.systems))]
        one = ScoredMetric(
            name=name, metric=metric, signature=str(scored.signature(place)),
            segment_signature=str(scored.segment_signature(place)), digits=digits(name),
            scores=tuple(row[place] for row in scored.scores), segments=np.stack([part.scores for part in parts]),
            features=np.stack([part.features for part in parts]),
            comparison=compare_systems(scored.table(place), **test),
        )  # fmt: skip
        metrics.append(one)
    return metrics


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
    explained = [one for one in scored if one.metric.explains]
    order = telling_segments(scored[0])
    links = _EmbeddedLinks(
        len(order) if flows is None else flows, MATCHING_BYTES if flows is None else math.inf
    )
    words = _Words([[] for _ in range(texts.count)], [0] * texts.count, [[] for _ in texts.systems])
    enabled = gc.isenabled()
    gc.disable()  # explanations are millions of small objects without cycles: to look for cycles takes an eighth more
    try:
        findings = _explain_all(texts, explained, order, links, words, progress)
    finally:
        if enabled:
            gc.enable()
    others = {}
    for place, one in enumerate(scored):
        if one.features.shape[2]:  # by system, feature and segment, rounded: to sort by, not to compute with
            values = [
                [[None if math.isnan(value) else value for value in column] for column in features.T.tolist()]
                for features in np.round(one.features, _FEATURE_DIGITS)
            ]
            others[f"tesla-features-{place}"] = encoded({"metric": one.name, "values": values})
    if findings:
        losses = [one.losses for one in findings]
        others["tesla-words"] = encoded(
            {"words": words.places, "references": words.references, "losses": losses}
        )
    others[TEXTS] = encoded(
        {
            "names": None if texts.names is None else list(texts.names),
            "sources": None if texts.sources is None else list(texts.sources),
            "references": [list(stream) for stream in texts.references],
            "groups": texts.groups,
            "hypotheses": [list(lines) for lines in texts.hypotheses],
        }
    )
    core = {
        "format": FORMAT, "version": FORMAT_VERSION, "tesla": __version__, "title": title,
        "command": command, "language": language, "systems": list(texts.systems),
        "names": short_names(texts.systems),
        "metrics": [one.to_dict() for one in scored],
        "lengths": findings[0].reference_lengths if findings else _longest_references(texts),
        "length_bins": list(LENGTHS), "word_classes": list(CLASSES), "classes": list(WORD_CLASSES),
        "lost_classes": [one.classes for one in findings], "findings": [one.to_dict() for one in findings],
        "findings_metric": explained[0].name if explained else None,
        "feature_titles": feature_titles(
            [*(name for one in scored for name in one.metric.feature_names), *sorted(links.features)]
        ),
        # For each system its least supported sentences, the worst first; nothing if no metric reads the source.
        "support": [
            sorted(some, key=lambda one: one["score"])[:_MOST_SENTENCES] for some in words.support
        ] if any(words.support) else [],
        "matching": {"blocks": links.places, "segments": len(links.places), "of": texts.count},
    }  # fmt: skip
    return Blocks(core, {**others, **links.blocks})


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


@dataclass
class _EmbeddedLinks:
    """Blocks of explanations that the page holds, of at most `segments` segments and about `size` bytes."""

    segments: int
    size: float
    """How many bytes are left."""
    blocks: dict[str, str] = field(default_factory=dict)
    features: set[str] = field(default_factory=set)
    """Their names."""
    places: dict[str, int] = field(default_factory=dict)
    """For each segment the number of its block."""

    def add(self, segments: Sequence[int], explanations: dict[str, dict[str, list[dict[str, Any]]]]) -> None:
        """Take in the explanations by metric, segment and system; the block that is too much is left out."""
        for by_segment in explanations.values():
            details = next(iter(by_segment.values()))[0]["references"]
            rows = (detail.get(key, ()) for detail in details for key in ("features", "shares"))
            self.features |= {one["name"] for row in rows for one in row}
        data = encoded(explanations)
        self.size -= len(data)
        if self.size >= 0 or not self.blocks:
            number = len(self.blocks)
            self.blocks[f"tesla-matching-{number}"] = data
            self.places.update({str(segment): number for segment in segments})


@dataclass
class _Words:
    """The words of the references, and the sentences that no source supports."""

    places: list[list[int]]
    """For each segment what `word_places` gives for the reference that its outputs are compared with."""
    references: list[int]
    """For each segment the number of that reference among those that it has."""
    support: list[list[dict[str, Any]]]
    """For each system the sentences of its summaries, each with its segment."""


def _explain_all(
    texts: ReportTexts,
    explained: Sequence[ScoredMetric],
    order: Sequence[int],
    links: _EmbeddedLinks,
    words: _Words,
    progress: Progress,
) -> list[Findings]:
    """Explain every output once, by the first metric for the findings and by all of them while links are wanted."""
    if not explained:
        return []
    first = explained[0]
    universal = _universal_tags(first.metric)
    known_words = load_frequencies(first.metric.lang)
    findings = [Findings(universal, texts.count, known_words) for _ in texts.systems]
    progress.stage("explaining (outputs)", texts.count * len(texts.systems))
    step = max(1, _EXPLANATIONS_PER_BLOCK // (len(texts.systems) * len(explained)))
    for start in range(0, len(order), step):
        some = order[start : start + step]
        linked = some[: links.segments - len(links.places)] if links.size > 0 else ()
        if linked:
            by_metric = {
                one.name: {str(segment): _explanations(one.metric, texts, segment) for segment in linked}
                for one in explained
            }
            links.add(linked, by_metric)
        for segment in some:
            source = None if texts.sources is None else texts.sources[segment]
            known = by_metric[first.name][str(segment)] if segment in linked else None
            place, details = _best_details(known) if known else _word_details(first.metric, texts, segment)
            words.references[segment] = place
            words.places[segment] = word_places(details[0].get("reference", ()), universal)
            for of_system, supported, detail in zip(findings, words.support, details, strict=True):
                of_system.add(segment, detail, source)
                supported.extend({**one, "segment": segment} for one in detail.get("support", ()))
        progress.advance(len(some) * len(texts.systems))
    return findings


def _explanations(metric: Metric, texts: ReportTexts, segment: int) -> list[dict[str, Any]]:
    """The explanations of a segment's outputs, as `Explanation.to_dict` gives them, with coverings made compact."""
    references = texts.references_of(segment)
    sources = {"sources": texts.sources[segment]} if metric.uses_source and texts.sources is not None else {}
    explanations = (metric.explain(lines[segment], references, **sources) for lines in texts.hypotheses)
    return [
        {"metric": one.metric, "signature": str(one.signature), "score": one.score,
         "references": [compact(detail) for detail in one.references]}
        for one in explanations
    ]  # fmt: skip


def _best_details(explanations: Sequence[dict[str, Any]]) -> tuple[int, list[dict[str, Any]]]:
    """The number of the reference that is closest to all outputs together, and each output explained by it."""
    scores = zip(*([detail["score"] for detail in one["references"]] for one in explanations), strict=True)
    sums = list(map(sum, scores))
    place = sums.index(max(sums))
    return place, [one["references"][place] for one in explanations]


def _word_details(metric: Metric, texts: ReportTexts, segment: int) -> tuple[int, list[dict[str, Any]]]:
    """What findings need of a segment's explanations: with one reference, the first links between words are enough."""
    references = texts.references_of(segment)
    if isinstance(metric, FeatureMetric) and len(references) == 1:
        details = metric.explain_words([lines[segment] for lines in texts.hypotheses], references[0])
        if None not in details:
            shared = [token.to_dict() for token in details[0].reference] if details[0] else []
            return 0, [
                {"reference": shared, "hypothesis": [token.to_dict() for token in detail.hypothesis],
                 "features": [feature.to_dict() for feature in detail.features]}
                for detail in details if detail is not None
            ]  # fmt: skip
    return _best_details(_explanations(metric, texts, segment))


def _longest_references(texts: ReportTexts) -> list[int]:
    return [
        max((len(text.split()) for text in texts.references_of(k)), default=0) for k in range(texts.count)
    ]


def _universal_tags(metric: Metric) -> Callable[[str], str]:
    """From the tags of a metric's words to universal ones."""
    tagger = getattr(getattr(metric, "analysis", None), "tagger", None)
    known: dict[str, str] = {}
    if isinstance(tagger, TaggerModel):
        for label in tagger.labels:
            known.setdefault(label.fine, label.universal)
    return lambda tag: known.get(tag, tag)
