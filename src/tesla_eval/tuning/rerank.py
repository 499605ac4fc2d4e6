"""Re-ranking (specification §15; PEM paper §7): of several candidates for a segment, the one a metric prefers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tesla_eval.errors import InputError
from tesla_eval.metrics.base import Metric
from tesla_eval.textio import STANDARD_INPUT, LineReader, read_in_step

__all__ = ["Candidates", "Ranked", "Ranking", "candidates_in_files", "candidates_in_nbest", "rerank"]

_SEPARATOR = "|||"
_SEGMENT = re.compile(r"\s*[0-9]{1,18}\s*")
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
    """The candidates of every segment in the order of their scores."""
    chunk: list[Candidates] = []
    for segment in segments:
        chunk.append(segment)
        if len(chunk) == _SEGMENTS_AT_ONCE:
            yield from _rankings(metric, chunk)
            chunk = []
    if chunk:
        yield from _rankings(metric, chunk)


def _rankings(metric: Metric, segments: Sequence[Candidates]) -> Iterator[Ranking]:
    texts = [text for segment in segments for text in segment.texts]
    references = [segment.reference for segment in segments for _ in segment.texts]
    found = metric.score_segments(texts, [references])
    sign = 1 if metric.higher_is_better else -1
    start = 0
    for segment in segments:
        end = start + len(segment.texts)
        order = np.argsort(-sign * found.scores[start:end], kind="stable").tolist()
        yield Ranking(
            segment.reference,
            tuple(
                Ranked(
                    segment.names[k], segment.texts[k], float(found.scores[start + k]),
                    dict(zip(metric.feature_names, found.features[start + k].tolist(), strict=True)),
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


def candidates_in_nbest(reference: str, path: str) -> Iterator[Candidates]:
    """Moses' n-best lists: lines `SEGMENT ||| TEXT ||| ...`, segments counted from 0 and in order."""
    if reference == path == STANDARD_INPUT:
        raise InputError("standard input (-) can be read only once")
    references = LineReader(reference)
    lists = _nbest_lists(path)
    upcoming = next(lists, None)
    for segment, original in enumerate(references):
        if upcoming is None or upcoming[0] != segment:
            raise InputError(
                f"{path}: has no candidates for segment {segment} (line {segment + 1} of {reference})"
            )
        texts = tuple(upcoming[1])
        yield Candidates(original, tuple(str(place) for place in range(1, len(texts) + 1)), texts)
        upcoming = next(lists, None)
    if references.count == 0:
        raise InputError(f"{reference}: is empty; it must have a line for each segment")
    if upcoming is not None:
        raise InputError(
            f"{path}: has candidates for segment {upcoming[0]}, but {reference} has {references.count} lines"
        )


def _nbest_lists(path: str) -> Iterator[tuple[int, list[str]]]:
    reader = LineReader(path)
    current = -1
    texts: list[str] = []
    for line in reader:
        number, separator, rest = line.partition(_SEPARATOR)
        if not separator or not _SEGMENT.fullmatch(number):
            raise InputError(f"{path}, line {reader.count}: must be SEGMENT ||| TEXT, with segments from 0")
        segment = int(number)
        if segment < current:
            raise InputError(f"{path}, line {reader.count}: segment {segment} comes after segment {current}")
        if segment != current:
            if texts:
                yield current, texts
            current, texts = segment, []
        texts.append(rest.partition(_SEPARATOR)[0].strip())
    if texts:
        yield current, texts
