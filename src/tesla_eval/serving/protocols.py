"""The protocols of `tesla serve stdio`: METEOR's and JSON Lines.

A protocol takes lines and gives back one answer for each request, in order. It is given as many lines at once as have
arrived, so that they can be scored together; a line that it cannot read is answered, too, and ends nothing.
"""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tesla_eval.base.errors import InputError, SegmentError, TeslaError, UsageError
from tesla_eval.choosing.nbest import SEPARATOR
from tesla_eval.metrics.base import Metric
from tesla_eval.metrics.scoring import Chunk, score_texts
from tesla_eval.texts.lines import parse_json_object, to_number
from tesla_eval.texts.tables import usual_name

MOST_REFERENCES = 1000


@dataclass(frozen=True)
class Segment:
    """A request: score this text against these references."""

    hypothesis: str
    references: tuple[str, ...]


MetricMaker = Callable[[Sequence[str]], Metric]
"""Makes the metric for the language of the first references."""

Scored = tuple[float, "list[float]"] | str
"""The score and the statistics of a segment, or what is wrong with it."""


class Protocol(ABC):
    """Lines in, answers out."""

    def __init__(self, metric: Metric | MetricMaker) -> None:
        self._metric = metric
        if isinstance(metric, Metric):
            self.check(metric)
        self._line = 0

    def metric_for(self, references: Sequence[str] = ()) -> Metric:
        """The metric; the first references decide about its language if nothing else does."""
        if not isinstance(self._metric, Metric):
            made = self._metric(references)
            self.check(made)
            self._metric = made
        return self._metric

    def check(self, metric: Metric) -> None:  # noqa: B027  # most protocols serve any metric
        """Refuse a metric that the protocol cannot serve."""

    @abstractmethod
    def answer(self, lines: Sequence[str | None]) -> str:
        """The answers to some lines, each with its line end; None is a line that could not be read."""

    def score(self, segments: Sequence[Segment]) -> list[Scored]:
        """The segments with equally many references are scored together; each is scored as a sentence alone."""
        try:
            if segments:
                self.metric_for([text for one in segments for text in one.references])
        except TeslaError as error:
            return [shown(error)] * len(segments)
        results: list[Scored] = [""] * len(segments)
        by_count: dict[int, list[int]] = {}
        for k, segment in enumerate(segments):
            by_count.setdefault(len(segment.references), []).append(k)
        for places in by_count.values():
            chosen = [segments[k] for k in places]
            for k, result in zip(places, self._score_alike(chosen), strict=True):
                results[k] = result
        return results

    def _score_alike(self, segments: Sequence[Segment]) -> list[Scored]:
        try:
            streams = [list(stream) for stream in zip(*(one.references for one in segments), strict=True)]
            scored = score_texts(self.metric_for(), Chunk([[one.hypothesis for one in segments]], streams))
        except (TeslaError, ValueError, MemoryError, OverflowError) as error:
            if len(segments) == 1:
                return [shown(error.reason if isinstance(error, SegmentError) else error)]
            return [result for segment in segments for result in self._score_alike([segment])]
        rows = scored.scores[:, None]
        if self.metric_for().formula_of_sums is not None and scored.statistics is not None:
            rows = scored.statistics
        return list(zip(scored.scores.tolist(), rows.tolist(), strict=True))


def shown(error: Exception) -> str:
    """What went wrong, in one line."""
    return " ".join(str(error).split()) or type(error).__name__


def _is_json(value: object) -> bool:
    """Whether a value can be given back: JSON has no NaN and no infinity, which Python reads all the same."""
    try:
        json.dumps(value, allow_nan=False)
    except ValueError:
        return False
    return True


class JsonLines(Protocol):
    """`{"hyp": ..., "refs": [...]}` is answered by `{"score": ...}`; an `id` is given back.

    Other usual names (`texts.tables`) are understood, too.
    """

    def answer(self, lines: Sequence[str | None]) -> str:
        """One JSON object per line, blank lines too."""
        parsed: list[Segment | str] = []
        ids: list[object] = []
        for line in lines:
            self._line += 1
            place = f"line {self._line}"
            ids.append(None)
            try:
                if line is None:
                    raise InputError(f"{place}: is not valid UTF-8, or too long")
                request = parse_json_object(line, place)
                ids[-1] = request.get("id")
                if not _is_json(ids[-1]):
                    ids[-1] = None
                    raise InputError(f"{place}: id holds a number that JSON does not have")
                parsed.append(self._segment(request, place))
            except TeslaError as error:
                parsed.append(str(error))
        good = [item for item in parsed if isinstance(item, Segment)]
        results = iter(self.score(good))
        answers = []
        for offset, (item, given) in enumerate(zip(parsed, ids, strict=True), self._line - len(parsed) + 1):
            result = next(results) if isinstance(item, Segment) else item
            body = {"error": result} if isinstance(result, str) else {"score": result[0]}
            if isinstance(item, Segment) and isinstance(result, str):
                body = {"error": f"line {offset}: {result}"}
            answers.append(json.dumps(body if given is None else {"id": given, **body}, ensure_ascii=False))
        return "".join(f"{text}\n" for text in answers)

    def _segment(self, item: dict[str, object], place: str) -> Segment:
        hypothesis, name = item.get(usual_name(item, "hyp") or ""), usual_name(item, "ref")
        references = item.get(name or "", [])
        if name in ("ref", "reference") and isinstance(references, str):
            references = [references]
        if not isinstance(hypothesis, str):
            raise InputError(f"{place}: hyp must be a text")
        if not isinstance(references, list) or not all(isinstance(text, str) for text in references):
            raise InputError(f"{place}: {name} must be a list of texts")
        if not references and self.metric_for([hypothesis]).needs_references:
            raise InputError(f"{place}: refs must hold at least one text")
        if len(references) > MOST_REFERENCES:
            raise InputError(f"{place}: more than {MOST_REFERENCES} references")
        return Segment(hypothesis, tuple(references))


class Meteor(Protocol):
    """METEOR's `-stdio`: `SCORE ||| ref ||| ... ||| hyp` gives statistics, `EVAL ||| statistics ||| ...` the scores.

    Statistics are an opaque line for the client: the score, and what adds up to the corpus score. EVAL prints the
    score of each segment, then that of all.
    """

    def check(self, metric: Metric) -> None:
        """Refuse a metric that needs all references before the first score."""
        if metric.corpus_wide:
            raise UsageError(
                f"{metric.id}: its scores depend on the references of the whole corpus, which this protocol does not "
                "give in advance",
                hint="use tesla score or tesla compare",
            )

    def answer(self, lines: Sequence[str | None]) -> str:
        """One line per SCORE, one more than segments per EVAL, one that starts with ERROR for anything else."""
        parsed = [self._parse(line) for line in lines]
        results = iter(self.score([item for item in parsed if isinstance(item, Segment)]))
        answers = [
            self._statistics(item, next(results)) if isinstance(item, Segment) else item for item in parsed
        ]
        return "".join(f"{text}\n" for text in answers)

    def _statistics(self, segment: Segment, result: Scored) -> str:
        if isinstance(result, str):
            return f"ERROR {result}"
        score, row = result
        if not segment.hypothesis:  # METEOR gives 0, whatever the reference
            score, row = 0.0, row if self.metric_for().formula_of_sums else [0.0]
        return " ".join(map(repr, [score, *row]))

    def _parse(self, line: str | None) -> Segment | str:
        self._line += 1
        if line is None:
            return f"ERROR line {self._line}: is not valid UTF-8, or too long"
        verb, *fields = [field.strip() for field in line.split(SEPARATOR)]
        if verb == "SCORE" and 2 <= len(fields) <= MOST_REFERENCES + 1:
            return Segment(fields[-1], tuple(fields[:-1]))
        if verb == "EVAL" and fields:
            try:
                return "\n".join(map(repr, self._evaluate(fields)))
            except ValueError:
                return f"ERROR line {self._line}: EVAL takes the statistics that SCORE gave, and nothing else"
        return f"ERROR line {self._line}: must be SCORE ||| REFERENCE ||| ... ||| HYPOTHESIS or EVAL ||| STATISTICS"

    def _evaluate(self, fields: list[str]) -> list[float]:
        rows = [list(map(to_number, field.split())) for field in fields]
        if not all(rows) or not all(map(math.isfinite, (number for row in rows for number in row))):
            raise ValueError
        scores = [row[0] for row in rows]
        formula = self.metric_for().formula_of_sums
        full = [row[1:] for row in rows if len(row) > 1]
        if formula is None or not full:
            return [*scores, math.fsum(scores) / len(scores)]
        return [*scores, float(formula(np.array(full).sum(axis=0)[None])[0])]


PROTOCOLS: dict[str, type[Protocol]] = {"meteor": Meteor, "jsonl": JsonLines}
