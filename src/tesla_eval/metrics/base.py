"""The contract of a metric: segments in, scores out, and everything that all metrics share around that."""

from __future__ import annotations

from abc import ABC, ABCMeta, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, wraps
from inspect import Parameter, signature
from itertools import islice
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, TypeVar, cast

import numpy as np

from tesla_eval.base.arrays import ExactSum, FloatArray
from tesla_eval.base.errors import SegmentError, UsageError
from tesla_eval.base.identity import is_importable, name_of, own_name
from tesla_eval.base.parallel import NO_PROGRESS, Progress, check_workers
from tesla_eval.base.records import Signature
from tesla_eval.metrics.empty_texts import EmptyTexts
from tesla_eval.metrics.language_check import check_language
from tesla_eval.metrics.results import CorpusScore, Score, SegmentScores
from tesla_eval.metrics.scoring import Chunk, NamedMetric, score_systems, score_texts
from tesla_eval.metrics.segments import (
    References,
    check_orientation,
    check_references,
    check_sources,
    new_matrix,
    present_references,
    reference_count,
    streams_by_segment,
    streams_of_one,
    streams_of_texts,
    texts_of,
)

if TYPE_CHECKING:
    from tesla_eval.metrics.results import Explanation

__all__ = ["Metric", "SegmentScores"]  # what other packages import from here

_SMALLEST_CHUNK, _LARGEST_CHUNK = 64, 2048  # segments that cross into the core at once
_SHARED_OPTIONS = ("lang", "workers")  # of every metric: not part of what makes one differ from another
_NAMING = ("metric", "version", "scoring")  # what a signature begins with
_Any = TypeVar("_Any")


class _Wanted(NamedTuple):
    name: str
    types: tuple[type, ...]


_NUMBER = _Wanted("a number", (Real,))
_WANTED_TYPES = {
    bool: _Wanted("True or False", (bool, np.bool_)),
    int: _NUMBER,
    float: _NUMBER,
    str: _Wanted("a text", (str,)),
}
"""By the type of an option's default what a value must be."""


class Total(Protocol):
    """A system score in the making: constant memory, whatever the number of segments."""

    def add(self, part: SegmentScores) -> None:
        """Take in more segments."""

    def score(self) -> float:
        """The system score of the segments so far."""


@dataclass
class MeanTotal:
    """The system score is the mean of the segment scores, whatever their order (specification §5)."""

    _sum: ExactSum = field(default_factory=ExactSum)
    _count: int = 0

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
        options = cls.checked_options(options)  # type: ignore[attr-defined]  # of Metric
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
    blank_is_text: ClassVar[bool] = False
    """Whether an empty reference among several is a text, as for sacreBLEU, and not missing (specification §5)."""
    needs_references: ClassVar[bool] = True
    """Whether a text is judged against references; a metric that needs none accepts and ignores them."""
    corpus_wide: ClassVar[bool] = False
    """Whether the references of a whole corpus bear on each score, as in NIST: see `for_corpus`."""
    uses_source: ClassVar[bool] = False
    """Whether `score_segments` and `explain` take `sources`."""
    sections: ClassVar[Mapping[str, str]] = {}
    """The section of the specification that each option belongs to."""
    option_aliases: ClassVar[Mapping[str, str]] = {}
    """Other names of options, such as sacreBLEU's longer ones."""
    choices: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """The values of options that take one of a few words."""
    unexplained: ClassVar[str] = "it has no matching to show"
    """Why a metric that does not override `explain` cannot be explained, or what to take instead."""
    largest_chunk: ClassVar[int] = _LARGEST_CHUNK
    """Segments that are scored at once, at most."""
    signed: ClassVar[frozenset[str]] = frozenset()
    """Options that `get_signature` says itself, in full, or that change no score. All others are added to it."""
    lang: str = ""
    feature_names: tuple[str, ...] = ()
    workers: int = 1
    """Threads for a corpus; results do not depend on it."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "get_signature" in vars(cls):
            cls.get_signature = _completed(cls.get_signature)  # type: ignore[assignment, method-assign]

    def __setattr__(self, name: str, value: object) -> None:
        if not name.startswith("_") and name != "workers" and vars(self).get("_sealed"):
            raise AttributeError(
                f"{name!r}: the parameters of a metric are fixed; make a new {type(self).__name__} instead"
            )
        if name == "workers":
            check_workers(value)
        super().__setattr__(name, value)

    def __reduce__(self) -> tuple[Any, ...]:
        args, options = vars(self)["_arguments"]
        return _make, (type(self), args, options), {"workers": self.workers}

    def __repr__(self) -> str:
        args, options = vars(self).get("_arguments", ((), {}))
        lang = self.lang or (args[0] if args else options.get("lang", ""))
        usual = {**type(self).option_defaults(), "workers": type(self).workers}
        chosen = {**options, "workers": self.workers}
        different = {k: v for k, v in chosen.items() if k != "lang" and (k not in usual or usual[k] != v)}
        shown = ", ".join(f"{name}={value!r}" for name, value in {"lang": lang, **different}.items())
        return f"{type(self).__name__}({shown})"

    @classmethod
    def option_defaults(cls) -> dict[str, Any]:
        """The options that its constructor takes beside `lang` and `workers`, with their defaults."""
        return {
            name: parameter.default
            for name, parameter in signature(cls.__init__).parameters.items()
            if parameter.kind in (Parameter.KEYWORD_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
            and name not in ("self", *_SHARED_OPTIONS)
        }

    @classmethod
    def options_said_elsewhere(cls) -> frozenset[str]:
        """The options that a signature does not spell as they were given."""
        return cls.signed

    @cached_property
    def _added_to_signature(self) -> dict[str, str]:
        """The options that differ from the default, as they were given, and a class that only this process knows."""
        args, given = vars(self)["_arguments"]
        names = [name for name in signature(type(self).__init__).parameters if name != "self"]
        options = {**dict(zip(names, args, strict=False)), **given}
        defaults = {name: name_of(value) for name, value in self.option_defaults().items()}
        said = {*_SHARED_OPTIONS, *self.options_said_elsewhere()}
        chosen = {name: name_of(value) for name, value in options.items() if name not in said}
        items = {
            f"option-{name}" if name in _NAMING else name: text
            for name, text in chosen.items()
            if defaults.get(name) != text
        }
        return items if is_importable(type(self)) else {**items, "class": own_name(type(self))}

    @classmethod
    def checked_options(cls, options: Mapping[str, Any]) -> dict[str, Any]:
        """The options under their own names; an unknown one, or a value of the wrong type, is refused."""
        known = cls.option_defaults()
        checked = {}
        for given, value in options.items():
            name = cls.option_aliases.get(given, given)
            if name in checked:
                raise UsageError(f"metric {cls.id}: the option {name} is given twice")
            if name not in (*known, *_SHARED_OPTIONS) and not cls._takes_any_option():
                raise cls.unknown_option(given, [*_SHARED_OPTIONS, *known])
            wanted = _WANTED_TYPES.get(type(known.get(name)))
            if wanted is not None and not isinstance(value, wanted.types):
                raise TypeError(f"metric {cls.id}: {name} must be {wanted.name}, not {value!r}")
            checked[name] = value
        return checked

    @classmethod
    def _takes_any_option(cls) -> bool:
        """Whether the constructor takes keywords of any name, and nothing says which ones mean something."""
        parameters = signature(cls.__init__).parameters.values()
        is_open = any(parameter.kind is Parameter.VAR_KEYWORD for parameter in parameters)
        return is_open and cls.option_defaults.__func__ is Metric.option_defaults.__func__  # type: ignore[attr-defined]

    @classmethod
    def unknown_option(cls, given: str, known: Sequence[str], name: str = "") -> UsageError:
        """The error for an option that is not `known`, with the nearest one that is; `name` is that of the metric."""
        from difflib import get_close_matches  # rarely needed

        if not known:
            return UsageError(f"metric {name or cls.id} has no options")
        near = get_close_matches(given.lower(), [*known, *cls.option_aliases], n=1)
        return UsageError(
            f"metric {name or cls.id} has no option {given!r} (options: {', '.join(known)})",
            hint=f"did you mean {near[0]}?" if near else None,
        )

    @classmethod
    def option_sections(cls) -> dict[str, str]:
        """The sections of the specification that describe its options, where there are any."""
        return dict(cls.sections)

    @property
    def shortcomings(self) -> list[str]:
        """What the metric lacks in this language, for a warning."""
        return []

    @abstractmethod
    def get_signature(self) -> Signature:
        """Name, version, language, parameters and resources: what makes a score reproducible."""

    @abstractmethod
    def score_segments(self, hypotheses: Sequence[str], references: References) -> SegmentScores:
        """The scores of some segments; safe to call from several threads.

        Callers pass the references that each segment has, as `present_references` leaves them: `None` is a missing one.
        """

    def explain(
        self, hypothesis: str, references: Sequence[str] = (), sources: str | None = None
    ) -> Explanation:
        """The score of one segment with everything that produced it (specification §17)."""
        raise UsageError(f"{self.id} cannot be explained: {self.unexplained}")

    @property
    def explains(self) -> bool:
        """Whether it can show the matching behind a score."""
        return type(self).explain is not Metric.explain

    def for_corpus(self, references: References) -> Metric:
        """The metric for segments of a corpus with these references; only a `corpus_wide` one differs.

        Whoever scores part after part of a corpus asks for it first; the signature of the scores is that of the result.
        """
        return self

    def new_total(self) -> Total:
        """An empty system score."""
        return MeanTotal()

    def parts_of_total(self, total: Total) -> dict[str, Any] | None:
        """What makes up a system score, by name, if the metric has more to tell than the score."""
        return None

    def score_of_sums(self, sums: FloatArray) -> FloatArray:
        """The corpus scores of summed statistics, for many sums at once: the last axis holds the statistics."""
        raise UsageError(
            f"{self.id} has no statistics that add up: a system's score is the mean of its segments"
        )

    @property
    def formula_of_sums(self) -> Callable[[FloatArray], FloatArray] | None:
        """`score_of_sums`, or None for a metric whose system score is the mean of the segments' scores."""
        return None if type(self).score_of_sums is Metric.score_of_sums else self.score_of_sums

    def sentence_score(
        self, hypothesis: str, references: Sequence[str] = (), sources: str | None = None
    ) -> Score:
        """The score of one segment against one or several references, if the metric needs any."""
        streams = streams_of_one(
            hypothesis, references, needed=self.needs_references, blank_is_text=self.blank_is_text
        )
        scored = self._score_one(hypothesis, streams, sources)
        features = dict(zip(self.feature_names, scored.features[0].tolist(), strict=True))
        return Score(self.id, float(scored.scores[0]), features, self.result_signature(streams))

    def corpus_score(
        self,
        hypotheses: Sequence[str],
        references: References = (),
        sources: Sequence[str] | None = None,
        *,
        references_by_segment: bool = False,
        progress: Progress = NO_PROGRESS,
    ) -> CorpusScore:
        """The score of a system: K reference streams, each as long as the hypotheses.

        Among several references of a segment an empty one, or `None`, is missing; where none is left, the reference is
        the empty text. A warning counts the empty references and outputs.
        With `references_by_segment` the references are N lists instead, one per hypothesis. Arrow arrays, pandas and
        Polars Series and NumPy arrays are lists of texts too. `progress` is told how many segments are done.
        """
        hypotheses, sources = texts_of(hypotheses), texts_of(sources)
        if references_by_segment:
            references = streams_by_segment(hypotheses, references)
        references = streams_of_texts(references)
        check_references(hypotheses, references, needed=self.needs_references)
        if not references_by_segment:
            check_orientation(hypotheses, references)
        check_sources(hypotheses, sources, read=self.uses_source)
        chunks = _chunks(hypotheses, references, sources, self.workers, self.largest_chunk)
        empty = EmptyTexts()
        scored = score_systems(
            [""], [NamedMetric(self.id, self)], empty.watch(self._checking_language(chunks, references)),
            jobs=self.workers, progress=progress,
        )  # fmt: skip
        empty.warn()
        segments = scored.segments(0, 0)
        return CorpusScore(
            self.id, scored.scores[0][0], segments.scores, segments.features, self.feature_names, scored.signature(0)
        )  # fmt: skip

    def _checking_language(self, chunks: Iterator[Chunk], references: References) -> Iterator[Chunk]:
        """The chunks. The language is checked when the other workers, if there are any, have something to do."""
        yield from islice(chunks, self.workers - 1)
        check_language(self, references)
        yield from chunks

    def result_signature(self, references: References) -> Signature:
        """The signature of scores against these references, which says how many there were."""
        return self.get_signature().with_references(self.count_references(references))

    def count_references(self, references: References) -> int | str:
        """How many references each segment has for this metric; `var` where segments differ."""
        if not self.needs_references:
            return 0
        return reference_count(present_references(references, blank_is_text=self.blank_is_text))

    def _score_one(self, hypothesis: str, streams: References, source: str | None) -> SegmentScores:
        try:
            return score_texts(self, Chunk([[hypothesis]], streams, None if source is None else [source]))
        except SegmentError as refused:  # there is no other segment to tell it from
            raise refused.reason from None

    def pairwise(self, hypotheses: Sequence[str], references: Sequence[str]) -> FloatArray:
        """The score of every hypothesis (row) against every reference (column)."""
        hypotheses, references = texts_of(hypotheses), texts_of(references)
        matrix = new_matrix(hypotheses, references)
        for column, reference in enumerate(references):
            matrix[:, column] = self.score_segments(hypotheses, [[reference] * len(hypotheses)]).scores
        return matrix


def _completed(say: Callable[[_Any], Signature]) -> Callable[[_Any], Signature]:
    """`get_signature` of a class, to which all options are added that it does not say itself."""

    @wraps(say)
    def get_signature(self: _Any) -> Signature:
        said = say(self)
        if "_arguments" not in vars(self):  # it is still being made
            return said
        added = cast("Metric", self)._added_to_signature.items()
        items = {name: text for name, text in added if said.get(name) != text}
        return said.with_items(items) if items else said

    return get_signature


def _make(cls: type[Metric], args: tuple[Any, ...], options: Mapping[str, Any]) -> Metric:
    return cls(*args, **options)


def _chunks(
    hypotheses: Sequence[str],
    references: References,
    sources: Sequence[str] | None,
    workers: int,
    largest: int = _LARGEST_CHUNK,
) -> Iterator[Chunk]:
    for span in _spans(len(hypotheses), workers, largest):
        streams = [stream[span] for stream in references]
        yield Chunk([hypotheses[span]], streams, None if sources is None else sources[span])


def _spans(segments: int, workers: int, largest: int = _LARGEST_CHUNK) -> Iterator[slice]:
    """Large chunks: in each of them the tables that are read must find their way into the processor's cache again.

    Workers share nearly all that is left, one chunk each, and then the rest in the same way: all end at about the same
    time.

    >>> [span.stop - span.start for span in _spans(5000, workers=2)]
    [2048, 2048, 406, 406, 64, 28]
    """
    start = 0
    while start < segments:
        size = largest
        if workers > 1:
            size = min(max(9 * (segments - start) // (10 * workers), _SMALLEST_CHUNK), size)
        end = min(start + workers * size, segments)
        for first in range(start, end, size):
            yield slice(first, min(first + size, end))
        start = end
