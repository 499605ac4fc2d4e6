"""Re-ranking (specification §15; PEM paper §7): of several candidates for a segment, the one a metric prefers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from tesla_eval.base.arrays import FloatArray
from tesla_eval.base.errors import InputError
from tesla_eval.choosing.nbest import CandidateList, complete_lists, read_nbest
from tesla_eval.metrics.base import Metric
from tesla_eval.metrics.scoring import Chunk, score_texts
from tesla_eval.texts.lines import STANDARD_INPUT, read_in_step

_SEGMENTS_AT_ONCE = 256


@dataclass(frozen=True)
class Candidates:
    """The texts to choose from for one segment, and what each is called: a file, or a place in an n-best list."""

    names: tuple[str, ...]
    texts: tuple[str, ...]
    reference: str | None
    source: str | None = None


@dataclass(frozen=True)
class Ranked:
    """A candidate with its score and the features behind it; a feature that does not exist is NaN."""

    name: str
    text: str
    score: float
    features: dict[str, float]


@dataclass(frozen=True)
class Ranking:
    """The candidates of a segment, the best first; of equals the one that came first."""

    reference: str | None
    ranked: tuple[Ranked, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        return {
            "reference": self.reference,
            "candidates": [
                {
                    "name": item.name, "text": item.text, "score": item.score,
                    "features": {name: None if np.isnan(value) else value for name, value in item.features.items()},
                }
                for item in self.ranked
            ],
        }  # fmt: skip


def rerank(metric: Metric, segments: Iterable[Candidates]) -> Iterator[Ranking]:
    """The candidates of every segment in the order of their scores, by a metric for this corpus (`for_corpus`)."""
    rest = iter(segments)
    while chunk := list(islice(rest, _SEGMENTS_AT_ONCE)):
        yield from _rankings(metric, chunk)


def _rankings(metric: Metric, segments: Sequence[Candidates]) -> Iterator[Ranking]:
    texts = [text for segment in segments for text in segment.texts]
    repeated = [segment for segment in segments for _ in segment.texts]
    references = [[segment.reference for segment in repeated]] if metric.needs_references else []
    sources = [segment.source for segment in repeated if segment.source is not None]
    scored = score_texts(metric, Chunk([texts], references, sources or None))
    sign = 1 if metric.higher_is_better else -1
    start = 0
    for segment in segments:
        end = start + len(segment.texts)
        order = np.argsort(-sign * scored.scores[start:end], kind="stable").tolist()
        yield Ranking(
            segment.reference,
            tuple(
                Ranked(
                    segment.names[k], segment.texts[k], float(scored.scores[start + k]),
                    dict(zip(metric.feature_names, scored.features[start + k].tolist(), strict=True)),
                )
                for k in order
            ),
        )  # fmt: skip
        start = end


def candidates_in_files(
    paths: Sequence[str], reference: str | None, source: str | None = None
) -> Iterator[Candidates]:
    """Line i of every file is a candidate for segment i."""
    given = [file for file in (reference, source) if file is not None]
    for columns in read_in_step([*given, *paths]):
        for row in map(iter, zip(*columns, strict=True)):
            judged_by = _reference_and_source(row, reference, source)
            yield Candidates(tuple(paths), tuple(row), *judged_by)


def candidates_in_nbest(
    path: str, nbest_format: str | None, reference: str | None, source: str | None = None
) -> Iterator[Candidates]:
    """The lists of an n-best list (see `tuning.nbest`), segments counted from 0."""
    given = [file for file in (reference, source) if file is not None]
    if path == STANDARD_INPUT and path in given:
        raise InputError("standard input (-) can be read only once")
    rows = [row for columns in read_in_step(given) for row in zip(*columns, strict=True)] if given else []
    segments = len(rows) if given else None
    for candidates in complete_lists(read_nbest(path, nbest_format, segments), path, segments):
        names = tuple(str(place) for place in range(1, len(candidates.candidates) + 1))
        row = iter(rows[candidates.segment] if given else ())
        yield Candidates(names, candidates.texts, *_reference_and_source(row, reference, source))


def _reference_and_source(
    row: Iterator[str], reference: str | None, source: str | None
) -> tuple[str | None, str | None]:
    """The first texts of a row of the files that were given."""
    return (None if reference is None else next(row)), (None if source is None else next(row))


def best_by_weights(
    path: str, weights: Mapping[str, float], nbest_format: str | None = None
) -> Iterator[tuple[str, float]]:
    """The text of each segment with the highest model score under the weights, and that score; no reference needed."""
    for candidates in complete_lists(read_nbest(path, nbest_format), path):
        scores = model_scores(candidates, weights)
        best = int(np.argmax(scores))
        yield candidates.candidates[best].text, float(scores[best])


def model_scores(candidates: CandidateList, weights: Mapping[str, float] | None = None) -> FloatArray:
    """The model score of each candidate: features times weights, or the decoder's own score without weights."""
    if weights is None:
        scores = [candidate.score for candidate in candidates.candidates]
        if any(score is None for score in scores):
            raise InputError(
                f"{candidates.place}: candidates have no score; give feature weights with --params"
            )
        return np.array(scores, np.float64)
    totals = []
    for candidate in candidates.candidates:
        names = candidate.names
        if names and names[0] == "f1" and "f1" not in weights and len(names) == len(weights):
            names = tuple(weights)  # numbers without names are in the order of the weights
        unknown = [name for name in names if name not in weights]
        if unknown or not names:
            what = f"feature {unknown[0]!r} has no weight" if unknown else "candidates have no features"
            raise InputError(f"{candidates.place}: {what}")
        totals.append(
            math.fsum(weights[name] * value for name, value in zip(names, candidate.values, strict=True))
        )
    return np.array(totals)
