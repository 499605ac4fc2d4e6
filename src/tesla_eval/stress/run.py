"""How easily metrics are fooled (specification §18): damaged texts scored beside real outputs."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from tesla_eval.base.arrays import FloatArray
from tesla_eval.base.errors import InputError, SegmentError
from tesla_eval.base.parallel import NO_PROGRESS, Progress
from tesla_eval.metrics.scoring import NamedMetric, cut_chunks, score_systems
from tesla_eval.metrics.segments import References
from tesla_eval.stress.kinds import DEGENERATE, HARMFUL, HARMLESS, Kind, choose_kinds
from tesla_eval.stress.words import Case, Corpus, Words, analysed_words

DEFAULT_SEED = 1


@dataclass(frozen=True)
class DamagedText:
    """One damaged text: its segment, kind, and the number of the output that it was made from; −1 is the reference."""

    segment: int
    kind: Kind
    made_from: int
    text: str


@dataclass(frozen=True)
class StressRow:
    """How one metric fares with one kind; None where something was not measured."""

    kind: str
    family: str
    metric: str
    texts: int
    fooled: float | None
    """Degenerate: share above the real outputs of the segment, a tie is ½. Harmful: share that does not score lower."""
    above_harmless: float | None
    """Share above harmless edits of the same text, a tie is ½."""
    drop: float
    """Median drop of the score: from the outputs' median for degenerate texts, from the edited text for edits."""
    relative_drop: float | None
    """The drop over the median difference between two systems' outputs of one segment."""


@dataclass(frozen=True)
class StressResult:
    """The rows of all kinds and metrics, and what could not be made, as plain data."""

    language: str
    segments: int
    systems: tuple[str, ...]
    seed: int
    signatures: Mapping[str, str]
    typical_differences: Mapping[str, float | None]
    """By metric the median difference between two systems' outputs of one segment."""
    rows: tuple[StressRow, ...]
    left_out: Mapping[str, str]
    """Kinds that could not be made, with the reason."""
    texts: tuple[DamagedText, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Everything but the texts, ready for JSON."""
        plain = {name: value for name, value in vars(self).items() if name not in ("texts", "rows")}
        return {**plain, "systems": list(self.systems), "rows": [asdict(row) for row in self.rows]}


def damage(
    references: Sequence[str],
    language: str,
    outputs: Sequence[Sequence[str]] = (),
    sources: Sequence[str] | None = None,
    kinds: Sequence[Kind] | None = None,
    seed: int = DEFAULT_SEED,
) -> tuple[list[DamagedText], dict[str, str]]:
    """The damaged texts of all kinds, and the kinds that cannot be made, with the reason.

    Edits are made from one output per segment, in turn from each system; without outputs from the reference. A text
    depends on the seed, its kind, its segment and the texts given, not on the other kinds.
    """
    kinds = choose_kinds() if kinds is None else kinds
    corpus = Corpus(language, analysed_words(references, language), sources)
    words = [analysed_words(texts, language) for texts in outputs]
    texts: list[DamagedText] = []
    left_out = {kind.name: reason for kind in kinds if (reason := kind.lacks(corpus))}
    for kind in kinds:
        if kind.name in left_out:
            continue
        made = [
            DamagedText(segment, kind, system, text)
            for segment, system, base in _bases(kind, corpus, words)
            if (text := _made(kind, base, segment, corpus, seed)) is not None and text != base.text
        ]
        if not made:
            left_out[kind.name] = "no text allows it"
        texts += made
    return texts, left_out


def _bases(kind: Kind, corpus: Corpus, outputs: list[list[Words]]) -> Iterator[tuple[int, int, Words]]:
    """Segment, number of the output or −1, and the text to start from."""
    for segment, reference in enumerate(corpus.references):
        if kind.family == DEGENERATE or not outputs:
            yield segment, -1, reference
        else:
            system = segment % len(outputs)
            yield segment, system, outputs[system][segment]


def _made(kind: Kind, base: Words, segment: int, corpus: Corpus, seed: int) -> str | None:
    return kind.make(Case(base, segment, corpus, random.Random(f"{seed} {kind.name} {segment}")))


def stress(
    metrics: Sequence[NamedMetric],
    references: References,
    language: str,
    outputs: Mapping[str, Sequence[str]] | None = None,
    sources: Sequence[str] | None = None,
    *,
    kinds: Sequence[Kind] | None = None,
    seed: int = DEFAULT_SEED,
    jobs: int = 1,
    progress: Progress = NO_PROGRESS,
) -> StressResult:
    """How often each metric is fooled by each kind of damage; texts are made from the first reference and the outputs.

    >>> from tesla_eval.metrics.requests import create_metric
    >>> refs = ["The cat sat on the mat.", "Nobody saw the dog.", "It rained all day."]
    >>> metric = NamedMetric("chrf", create_metric("chrf", "en"))
    >>> result = stress([metric], [refs], "en", {"a": ["A cat sat.", "No one saw the dog.", "It was rainy."]},
    ...                 kinds=choose_kinds(["empty", "doubled"]))
    >>> [(row.kind, row.fooled) for row in result.rows]
    [('empty', 0.0), ('doubled', 1.0)]
    """
    first = [
        next((stream[k] for stream in references if stream[k]), "") or "" for k in range(len(references[0]))
    ]
    if not any(first):
        raise InputError("the references are empty: there is nothing to damage")
    outputs = outputs or {}
    texts, left_out = damage(first, language, list(outputs.values()), sources, kinds, seed)
    count = len(first)
    real = list(outputs.values()) or [first]
    hypotheses = [*(text for stream in real for text in stream), *(one.text for one in texts)]
    places = [*range(count)] * len(real) + [one.segment for one in texts]
    progress.stage("scoring (texts)", len(hypotheses))
    chunks = cut_chunks(
        [hypotheses],
        [[stream[k] for k in places] for stream in references],
        None if sources is None else [sources[k] for k in places],
    )
    try:
        scored = score_systems([""], metrics, chunks, jobs=jobs, progress=progress)
    except SegmentError as refused:
        owners = [name for name in outputs or ["references"] for _ in range(count)]
        owners += [f"damaged text ({one.kind.name})" for one in texts]
        raise refused.moved(places[refused.segment], owners[refused.segment]) from None
    rows: list[StressRow] = []
    typical: dict[str, float | None] = {}
    for column, (name, metric) in enumerate(metrics):
        scores = scored.segments(0, column).scores * (1 if metric.higher_is_better else -1)
        table = scores[: count * len(real)].reshape(len(real), count)
        typical[name] = _typical_difference(table)
        rows += _rows(
            name, texts, scores[table.size :], table, has_outputs=bool(outputs), typical=typical[name]
        )
    return StressResult(
        language, count, tuple(outputs), seed,
        {name: str(scored.segment_signature(column)) for column, (name, _) in enumerate(metrics)},
        typical, tuple(rows), left_out, tuple(texts),
    )  # fmt: skip


def _above(scores: FloatArray | float, others: FloatArray) -> FloatArray:
    return np.asarray((scores > others) + 0.5 * (scores == others))


def _mean_above(scores: FloatArray, others: Sequence[FloatArray]) -> float | None:
    """The mean share of the others, where there are any, that each score is above."""
    shares = [_above(score, some).mean() for score, some in zip(scores, others, strict=True) if len(some)]
    return float(np.mean(shares)) if shares else None


def _typical_difference(real: FloatArray) -> float | None:
    """The median difference between two systems' outputs of one segment."""
    if len(real) < 2:
        return None
    first, second = np.triu_indices(len(real), 1)
    return float(np.median(np.abs(real[first] - real[second])))


def _rows(
    metric: str,
    texts: Sequence[DamagedText],
    damaged: FloatArray,
    real: FloatArray,
    *,
    has_outputs: bool,
    typical: float | None,
) -> Iterator[StressRow]:
    """From one metric's scores, higher is better: of the damaged texts, and of outputs (or references) by segment."""
    segment = np.array([one.segment for one in texts], np.int64)
    made_from = np.array([max(one.made_from, 0) for one in texts], np.int64)
    by_kind: dict[str, list[int]] = {}
    for number, one in enumerate(texts):
        by_kind.setdefault(one.kind.name, []).append(number)
    harmless = np.array([k for k, one in enumerate(texts) if one.kind.family == HARMLESS], np.int64)
    for kind, rows in by_kind.items():
        family, scores, outputs = texts[rows[0]].kind.family, damaged[rows], real[:, segment[rows]]
        before = real[made_from[rows], segment[rows]]
        fooled = above_harmless = None
        if family == DEGENERATE and has_outputs:
            before = np.median(outputs, axis=0)
            fooled = float(_above(scores, outputs).mean())
        elif family != HARMLESS:
            edits = [damaged[harmless[segment[harmless] == segment[row]]] for row in rows]
            above_harmless = _mean_above(scores, edits)
            if family == HARMFUL:
                fooled = float((scores >= before).mean())
        drop = float(np.median(before - scores))
        relative = drop / typical if typical else None
        yield StressRow(kind, family, metric, len(rows), fooled, above_harmless, drop, relative)
