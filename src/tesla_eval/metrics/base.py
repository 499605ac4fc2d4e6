"""The contract of a metric: segments in, scores out, and everything that all metrics share around that."""

from __future__ import annotations

import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from tesla_eval.errors import InputError, UsageError
from tesla_eval.metrics.exact_sum import ExactSum
from tesla_eval.parallel import map_in_order
from tesla_eval.records import CorpusScore, Explanation, Score, Signature

__all__ = [
    "Metric",
    "References",
    "SegmentScores",
    "Total",
    "blocks_of_pairs",
    "check_references",
    "differing_parameters",
    "mean_over_references",
    "new_matrix",
    "same_text",
]

References = Sequence[Sequence[str | None]]
"""K streams of N texts (sacreBLEU's order); `None` marks a missing reference."""

Index = npt.NDArray[np.int64]
Chunk = tuple[Sequence[str], References]
_CHUNK = 256  # segments that cross into the core at once


@dataclass(frozen=True)
class SegmentScores:
    """What a metric says of N segments: scores, features (N × F), and statistics that add up, if it has them."""

    scores: npt.NDArray[np.float64]
    features: npt.NDArray[np.float64]
    statistics: npt.NDArray[np.float64] | None = None

    @staticmethod
    def concatenate(parts: Sequence[SegmentScores]) -> SegmentScores:
        """The parts, one after the other."""
        statistics = [part.statistics for part in parts if part.statistics is not None]
        return SegmentScores(
            np.concatenate([part.scores for part in parts]),
            np.concatenate([part.features for part in parts]),
            np.concatenate(statistics) if statistics else None,
        )


class Total(Protocol):
    """A system score in the making: constant memory, whatever the number of segments."""

    def add(self, part: SegmentScores) -> None:
        """Take in more segments."""

    def score(self) -> float:
        """The system score of the segments so far."""


class MeanTotal:
    """SPEC §5: the system score is the mean of the segment scores, whatever their order."""

    def __init__(self) -> None:
        self._sum = ExactSum()
        self._count = 0

    def add(self, part: SegmentScores) -> None:
        """Take in more segments."""
        self._sum.add(part.scores)
        self._count += len(part.scores)

    def score(self) -> float:
        """The mean of the segments so far."""
        return float(self._sum) / self._count


class Metric(ABC):
    """A metric with sacreBLEU's habits. A new one says how it scores segments and what its signature is."""

    id: ClassVar[str]
    """The name in outputs, such as `tesla-m`."""
    higher_is_better: ClassVar[bool] = True
    needs_references: ClassVar[bool] = True
    """Whether a text is judged against references; those that need none may be given some all the same."""
    feature_names: tuple[str, ...] = ()
    workers: int = 1
    """Threads for a corpus; results do not depend on it."""

    @property
    def shortcomings(self) -> list[str]:
        """What the metric lacks in this language, for a warning."""
        return []

    @abstractmethod
    def get_signature(self) -> Signature:
        """Name, version, language, parameters and resources: what makes a score reproducible."""

    @abstractmethod
    def score_segments(self, hypotheses: Sequence[str], references: References) -> SegmentScores:
        """The scores of some segments; safe to call from several threads."""

    def explain(self, hypothesis: str, references: Sequence[str]) -> Explanation:
        """The score of one segment with everything that produced it (SPEC §17)."""
        score = self.sentence_score(hypothesis, references)
        details = tuple(self._explain_reference(hypothesis, reference) for reference in references)
        return Explanation(self.id, score.signature, score.score, hypothesis, tuple(references), details)

    def _explain_reference(self, hypothesis: str, reference: str) -> dict[str, Any]:
        """What produced the score against one reference; a metric that can tell overrides it."""
        raise UsageError(f"{self.id} cannot be explained: it has no matching to show")

    def new_total(self) -> Total:
        """An empty system score."""
        return MeanTotal()

    def sentence_score(self, hypothesis: str, references: Sequence[str] = ()) -> Score:
        """The score of one segment against one or several references, if the metric needs any."""
        streams = _streams_of_one(references)
        check_references([hypothesis], streams, needed=self.needs_references)
        found = self.score_segments([hypothesis], streams)
        features = dict(zip(self.feature_names, found.features[0].tolist(), strict=True))
        return Score(self.id, float(found.scores[0]), features, self.get_signature())

    def corpus_score(self, hypotheses: Sequence[str], references: References = ()) -> CorpusScore:
        """The score of a system: K reference streams, each as long as the hypotheses."""
        check_references(hypotheses, references, needed=self.needs_references)
        total = self.new_total()
        parts = []
        for part in self.score_chunks(_chunks(hypotheses, references)):
            total.add(part)
            parts.append(part)
        found = SegmentScores.concatenate(parts)
        return CorpusScore(
            self.id, total.score(), found.scores, found.features, self.feature_names, self.get_signature()
        )

    def score_chunks(self, chunks: Iterator[Chunk]) -> Iterator[SegmentScores]:
        """Score chunk after chunk, in order, `workers` at a time; chunks are taken only as they are needed."""
        yield from map_in_order(lambda chunk: self.score_segments(*chunk), chunks, self.workers)

    def pairwise(self, hypotheses: Sequence[str], references: Sequence[str]) -> npt.NDArray[np.float64]:
        """The score of every hypothesis (row) against every reference (column)."""
        matrix = new_matrix(hypotheses, references)
        for column, reference in enumerate(references):
            matrix[:, column] = self.score_segments(hypotheses, [[reference] * len(hypotheses)]).scores
        return matrix


def _chunks(hypotheses: Sequence[str], references: References) -> Iterator[Chunk]:
    for start in range(0, len(hypotheses), _CHUNK):
        span = slice(start, start + _CHUNK)
        yield hypotheses[span], [stream[span] for stream in references]


def _streams_of_one(references: Sequence[str]) -> list[list[str]]:
    if isinstance(references, str):
        raise UsageError("the references of a sentence are a list: write [reference]")
    return [[reference] for reference in references]


def new_matrix(hypotheses: Sequence[str], references: Sequence[str]) -> npt.NDArray[np.float64]:
    """Room for the score of every hypothesis (row) against every reference (column), which must be lists of texts."""
    if isinstance(hypotheses, str) or isinstance(references, str):
        raise UsageError("hypotheses and references are lists of texts")
    for what, texts in (("hypothesis", hypotheses), ("reference", references)):
        _check_texts(what, texts)
    return np.empty((len(hypotheses), len(references)))


def blocks_of_pairs(hypotheses: int, references: int, most: int) -> Iterator[tuple[Index, Index, Index]]:
    """All pairs in blocks of about `most`: the rows of the matrix, and each pair's hypothesis and reference.

    >>> [(i.tolist(), j.tolist()) for _, i, j in blocks_of_pairs(2, 2, most=2)]
    [([0, 0], [0, 1]), ([1, 1], [0, 1])]
    """
    rows_at_once = max(1, most // references)
    for start in range(0, hypotheses, rows_at_once):
        rows = np.arange(start, min(start + rows_at_once, hypotheses))
        yield rows, np.repeat(rows, references), np.tile(np.arange(references), len(rows))


def _check_texts(what: str, texts: Sequence[str]) -> None:
    for number, text in enumerate(texts, 1):
        if not isinstance(text, str):
            raise InputError(f"{what} {number} is {text!r}, not a text")


def check_references(hypotheses: Sequence[str], references: References, *, needed: bool = True) -> None:
    """Refuse what cannot be scored: no segments, streams of other lengths, a segment without any reference.

    Where references are not `needed` there may be none.
    """
    if not (_is_list(hypotheses) and _is_list(references) and all(map(_is_list, references))):
        raise UsageError("hypotheses are a list of texts, references a list of such lists: [references]")
    if len(hypotheses) == 0:
        raise InputError("there is no hypothesis to score")
    if len(references) == 0 and needed:
        raise InputError("there is no reference to score against")
    for number, stream in enumerate(references, 1):
        if len(stream) != len(hypotheses):
            raise InputError(
                f"{len(hypotheses)} hypotheses, but reference stream {number} has {len(stream)} texts; "
                "references are K streams of N texts, None for a missing one"
            )
    _check_texts("hypothesis", hypotheses)
    missing = []
    for stream in references:
        kinds = set(map(type, stream))
        if not all(kind is type(None) or issubclass(kind, str) for kind in kinds):
            raise InputError("a reference is neither a text nor None")
        missing.append({i for i, text in enumerate(stream) if text is None} if type(None) in kinds else set())
    nowhere = set.intersection(*missing) if missing else set()
    if nowhere and needed:
        raise InputError(f"segment {min(nowhere) + 1} has no reference")


def _is_list(texts: object) -> bool:
    """Whether it has a length and an order, as lists, tuples and NumPy's arrays have, and is no single text."""
    return hasattr(texts, "__len__") and hasattr(texts, "__getitem__") and not isinstance(texts, str)


def differing_parameters(parameters: Mapping[str, tuple[float, float]]) -> dict[str, str]:
    """Of parameters, each with its default, those that differ from it, as signatures write them.

    >>> differing_parameters({"alpha": (0.5, 0.8), "discount": (0.1, 0.1)})
    {'alpha': '0.5'}
    """
    return {name: f"{value:g}" for name, (value, default) in parameters.items() if value != default}


def mean_over_references(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The mean over the first axis without NaN, the same to the last bit for any order of the references.

    >>> mean_over_references(np.array([[0.5, np.nan], [0.25, np.nan]])).tolist()
    [0.375, nan]
    """
    ordered = np.sort(values, axis=0)  # NaN goes last
    there = ~np.isnan(ordered)
    counts = there.sum(axis=0)
    sums = np.where(there, ordered, 0.0).sum(axis=0)
    mean = np.full(sums.shape, np.nan)
    np.divide(sums, counts, out=mean, where=counts > 0)
    return mean


def same_text(a: str, b: str) -> bool:
    """Whether two texts are equal after NFC and white-space folding: what counts where no token is left (SPEC §5).

    >>> same_text(" ?! ", "?!"), same_text("?", "!")
    (True, False)
    """
    return _folded(a) == _folded(b)


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).split())
