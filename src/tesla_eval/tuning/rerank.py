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
from tesla_eval.metrics.base import Metric
from tesla_eval.texts.lines import STANDARD_INPUT, LineReader, read_in_step
from tesla_eval.tuning.nbest import CandidateList, complete_lists, read_nbest

_SEGMENTS_AT_ONCE = 256


@dataclass(frozen=True)
class Candidates:
    """The texts to choose from for one segment, and what each is called: a file, or a place in an n-best list."""

    reference: str
    names: tuple[str, ...]
    texts: tuple[str, ...]


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

    reference: str
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
    references = [segment.reference for segment in segments for _ in segment.texts]
    scored = metric.score_segments(texts, [references])
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


def candidates_in_files(reference: str, paths: Sequence[str]) -> Iterator[Candidates]:
    """Line i of every file is a candidate for segment i."""
    for references, *systems in read_in_step([reference, *paths]):
        for original, *texts in zip(references, *systems, strict=True):
            yield Candidates(original, tuple(paths), tuple(texts))


def candidates_in_nbest(reference: str, path: str, nbest_format: str | None = None) -> Iterator[Candidates]:
    """The lists of an n-best list (see `tuning.nbest`), segments counted from 0, with their references."""
    if reference == path == STANDARD_INPUT:
        raise InputError("standard input (-) can be read only once")
    references = list(LineReader(reference))
    if not references:
        raise InputError(f"{reference}: is empty; it must have a line for each segment")
    lists = read_nbest(path, nbest_format, len(references))
    for candidates in complete_lists(lists, path, len(references)):
        names = tuple(str(place) for place in range(1, len(candidates.candidates) + 1))
        yield Candidates(references[candidates.segment], names, candidates.texts)


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
