"""The contract of a metric: segments in, scores out, and everything that all metrics share around that."""

from __future__ import annotations

import unicodedata
import warnings
from abc import ABC, ABCMeta, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from inspect import Parameter, signature
from typing import Any, ClassVar, NamedTuple, Protocol, TypeVar

import numpy as np

from tesla_eval.arrays import ExactSum, FloatArray, Index
from tesla_eval.errors import InputError, UsageError
from tesla_eval.parallel import map_in_order
from tesla_eval.records import CorpusScore, Explanation, Score, Signature

__all__ = [
    "Chunk",
    "Metric",
    "References",
    "SegmentScores",
    "Total",
    "blocks_of_pairs",
    "check_orientation",
    "check_references",
    "mean_over_references",
    "new_matrix",
    "reference_count",
    "same_text",
]

References = Sequence[Sequence[str | None]]
"""K streams of N texts (sacreBLEU's order); `None` marks a missing reference."""

_CHUNK = 256  # segments that cross into the core at once
_SHARED_OPTIONS = ("lang", "workers")  # of every metric: not part of what makes one differ from another
_Any = TypeVar("_Any")


class Chunk(NamedTuple):
    """Some segments of a corpus."""

    hypotheses: Sequence[str]
    references: References
    sources: Sequence[str] | None = None


@dataclass(frozen=True)
class SegmentScores:
    """The scores of N segments, their features (N × F), and statistics that add up, if the metric has them."""

    scores: FloatArray
    features: FloatArray
    statistics: FloatArray | None = None

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
    """The system score is the mean of the segment scores, whatever their order (specification §5)."""

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


class _Sealing(ABCMeta):
    """Keeps the arguments that made a metric, for copies of it, and then seals its parameters."""

    def __call__(cls: type[_Any], *args: Any, **options: Any) -> _Any:
        metric: _Any = super().__call__(*args, **options)  # type: ignore[misc]  # ABCMeta's own
        vars(metric).update(_arguments=(args, options), _sealed=True)
        return metric


class Metric(ABC, metaclass=_Sealing):
    """A metric with sacreBLEU's habits. A new one says how it scores segments and what its signature is.

    Its parameters are fixed once it is made: change one by making another metric. A metric can be pickled and copied;
    the copy is made anew from the same arguments.
    """

    id: ClassVar[str]
    """The name in outputs, such as `tesla-m`."""
    higher_is_better: ClassVar[bool] = True
    needs_references: ClassVar[bool] = True
    """Whether a text is judged against references; a metric that needs none accepts and ignores them."""
    uses_source: ClassVar[bool] = False
    """Whether `score_segments` and `explain` take `sources`."""
    lang: str = ""
    feature_names: tuple[str, ...] = ()
    workers: int = 1
    """Threads for a corpus; results do not depend on it."""

    def __setattr__(self, name: str, value: object) -> None:
        if not name.startswith("_") and name != "workers" and vars(self).get("_sealed"):
            raise AttributeError(
                f"{name!r}: the parameters of a metric are fixed; make a new {type(self).__name__} instead"
            )
        super().__setattr__(name, value)

    def __reduce__(self) -> tuple[Any, ...]:
        args, options = vars(self)["_arguments"]
        return _make, (type(self), args, options), {"workers": self.workers}

    def __repr__(self) -> str:
        args, options = vars(self).get("_arguments", ((), {}))
        defaults = type(self).option_defaults()
        given = {"lang": self.lang or (args[0] if args else ""), **options}
        shown = [
            f"{k}={v!r}" for k, v in given.items() if k == "lang" or k not in defaults or defaults[k] != v
        ]
        return f"{type(self).__name__}({', '.join(shown)})"

    @classmethod
    def option_defaults(cls) -> dict[str, Any]:
        """The options that its constructor takes beside `lang` and `workers`, with their defaults."""
        return {
            name: parameter.default
            for name, parameter in signature(cls.__init__).parameters.items()
            if parameter.kind in (Parameter.KEYWORD_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
            and name not in ("self", *_SHARED_OPTIONS)
        }

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

    def explain(
        self, hypothesis: str, references: Sequence[str] = (), sources: str | None = None
    ) -> Explanation:
        """The score of one segment with everything that produced it (specification §17)."""
        raise UsageError(f"{self.id} cannot be explained: it has no matching to show")

    def new_total(self) -> Total:
        """An empty system score."""
        return MeanTotal()

    def sentence_score(
        self, hypothesis: str, references: Sequence[str] = (), sources: str | None = None
    ) -> Score:
        """The score of one segment against one or several references, if the metric needs any."""
        streams = _streams_of_one(references)
        check_references([hypothesis], streams, needed=self.needs_references)
        scored = self._score_chunk(Chunk([hypothesis], streams, None if sources is None else [sources]))
        features = dict(zip(self.feature_names, scored.features[0].tolist(), strict=True))
        return Score(self.id, float(scored.scores[0]), features, self.result_signature(streams))

    def corpus_score(
        self,
        hypotheses: Sequence[str],
        references: References = (),
        sources: Sequence[str] | None = None,
        *,
        references_by_segment: bool = False,
    ) -> CorpusScore:
        """The score of a system: K reference streams, each as long as the hypotheses.

        With `references_by_segment` the references are N lists instead, one per hypothesis.
        """
        if references_by_segment:
            references = _streams_by_segment(hypotheses, references)
        check_references(hypotheses, references, needed=self.needs_references)
        if not references_by_segment:
            check_orientation(hypotheses, references)
        if sources is not None and len(sources) != len(hypotheses):
            raise InputError(f"{len(hypotheses)} hypotheses, but {len(sources)} sources")
        total = self.new_total()
        parts = []
        for part in self.score_chunks(_chunks(hypotheses, references, sources)):
            total.add(part)
            parts.append(part)
        scored = SegmentScores.concatenate(parts)
        return CorpusScore(
            self.id, total.score(), scored.scores, scored.features, self.feature_names,
            self.result_signature(references),
        )  # fmt: skip

    def result_signature(self, references: References) -> Signature:
        """The signature of scores against these references, which says how many there were."""
        return self.get_signature().with_references(
            reference_count(references) if self.needs_references else 0
        )

    def score_chunks(
        self, chunks: Iterable[Chunk | tuple[Sequence[str], References]]
    ) -> Iterator[SegmentScores]:
        """Score chunk after chunk, in order, `workers` at a time; chunks are taken only as they are needed."""
        yield from map_in_order(lambda chunk: self._score_chunk(Chunk(*chunk)), chunks, self.workers)

    def _score_chunk(self, chunk: Chunk) -> SegmentScores:
        if self.uses_source:
            return self.score_segments(chunk.hypotheses, chunk.references, sources=chunk.sources)  # type: ignore[call-arg]
        return self.score_segments(chunk.hypotheses, chunk.references)

    def pairwise(self, hypotheses: Sequence[str], references: Sequence[str]) -> FloatArray:
        """The score of every hypothesis (row) against every reference (column)."""
        matrix = new_matrix(hypotheses, references)
        for column, reference in enumerate(references):
            matrix[:, column] = self.score_segments(hypotheses, [[reference] * len(hypotheses)]).scores
        return matrix


def _make(cls: type[Metric], args: tuple[Any, ...], options: Mapping[str, Any]) -> Metric:
    return cls(*args, **options)


def _chunks(
    hypotheses: Sequence[str], references: References, sources: Sequence[str] | None
) -> Iterator[Chunk]:
    for start in range(0, len(hypotheses), _CHUNK):
        span = slice(start, start + _CHUNK)
        streams = [stream[span] for stream in references]
        yield Chunk(hypotheses[span], streams, None if sources is None else sources[span])


def _streams_of_one(references: Sequence[str]) -> list[list[str]]:
    if isinstance(references, str):
        raise UsageError("the references of a sentence are a list: write [reference]")
    return [[reference] for reference in references]


def reference_count(references: References) -> int | str:
    """How many references every segment has; `var` where segments differ.

    >>> reference_count([["a", "b"], ["c", "d"]]), reference_count([["a", "b"], ["c", None]])
    (2, 'var')
    """
    if not any(text is None for stream in references for text in stream):
        return len(references)
    counts = {sum(text is not None for text in texts) for texts in zip(*references, strict=True)}
    return counts.pop() if len(counts) == 1 else "var"


def new_matrix(hypotheses: Sequence[str], references: Sequence[str]) -> FloatArray:
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


def check_orientation(hypotheses: Sequence[str], references: References) -> None:
    """Warn where as many streams as segments seem to be lists of one segment's references each.

    Both readings fit then. The texts tell: those of the right reading resemble the hypotheses far more.
    """
    n = len(hypotheses)
    if n < 2 or len(references) != n:
        return
    some = range(min(n, _ORIENTATION_SAMPLE))
    hypothesis_pieces = [_pieces(hypotheses[i]) for i in some]
    as_given = other = 0.0
    for i in some:
        for k in some:
            if i != k:
                as_given += _resemblance(hypothesis_pieces[i], references[k][i])
                other += _resemblance(hypothesis_pieces[i], references[i][k])
    pairs = len(some) * (len(some) - 1)
    if other > 2 * as_given and other - as_given > 0.1 * pairs:
        warnings.warn(
            f"{n} hypotheses and {n} lists of {n} references: they are read as streams, but look like one list per "
            "hypothesis; if so, pass references_by_segment=True",
            stacklevel=3,
        )


_ORIENTATION_SAMPLE = 16


def _pieces(text: str) -> frozenset[str]:
    """The runs of three characters in a text: a measure of likeness for any script."""
    folded = f" {_folded(text).lower()} "[:2000]
    return frozenset(folded[i : i + 3] for i in range(len(folded) - 2))


def _resemblance(pieces: frozenset[str], text: str | None) -> float:
    others = _pieces(text or "")
    return len(pieces & others) / (len(pieces | others) or 1)


def _streams_by_segment(hypotheses: Sequence[str], references: References) -> list[list[str | None]]:
    """N lists of references as K streams, with None where a segment has fewer than others.

    >>> _streams_by_segment(["x", "y"], [["a", "b"], ["c"]])
    [['a', 'c'], ['b', None]]
    """
    if not (_is_list(hypotheses) and _is_list(references) and all(map(_is_list, references))):
        raise UsageError("hypotheses are a list of texts, references one list of texts for each of them")
    if len(references) != len(hypotheses):
        raise InputError(
            f"{len(hypotheses)} hypotheses, but references of {len(references)} segments; with "
            "references_by_segment=True there is one list of references per hypothesis"
        )
    most = max(map(len, references), default=0)
    return [[given[k] if k < len(given) else None for given in references] for k in range(most)]


def _is_list(texts: object) -> bool:
    """Whether it has a length and an order, as lists, tuples and NumPy's arrays have, and is no single text."""
    return hasattr(texts, "__len__") and hasattr(texts, "__getitem__") and not isinstance(texts, str)


def mean_over_references(values: FloatArray) -> FloatArray:
    """The mean over the first axis without NaN, the same to the last bit for any order of the references.

    >>> mean_over_references(np.array([[0.5, np.nan], [0.25, np.nan]])).tolist()
    [0.375, nan]
    """
    ordered = np.sort(values, axis=0)  # NaN goes last
    present = ~np.isnan(ordered)
    counts = present.sum(axis=0)
    sums = np.where(present, ordered, 0.0).sum(axis=0)
    mean = np.full(sums.shape, np.nan)
    np.divide(sums, counts, out=mean, where=counts > 0)
    return mean


def same_text(a: str, b: str) -> bool:
    """Whether two texts are equal after NFC and white-space folding, for texts without tokens (specification §5).

    >>> same_text(" ?! ", "?!"), same_text("?", "!")
    (True, False)
    """
    return _folded(a) == _folded(b)


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).split())
