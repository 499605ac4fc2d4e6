"""The protocol of the Z-MERT integration, plugged into `tesla serve`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tesla_eval.base.errors import TeslaError, UsageError
from tesla_eval.choosing.nbest import SEPARATOR
from tesla_eval.metrics.base import Metric
from tesla_eval.serving.protocols import MOST_REFERENCES, MetricMaker, Protocol, Segment, shown

_MOST_SENTENCES = 65_535
"""Z-MERT adds statistics in 32 bits: 15 bits of a score leave room for so many sentences."""
_HIGH = 15
_UNIT = 1 << 30


class ZMert(Protocol):
    """`REFS n k` and n·k lines, then again and again `SCORE n` and n lines `i ||| candidate` with i from 0.

    REFS is answered by `OK n k`, SCORE by n lines `high low`: round(score · 2³⁰) in two parts of 15 bits, whose sums
    over 65,535 sentences fit 32 bits. An answer that starts with ERROR ends the request.
    """

    def __init__(self, metric: Metric | MetricMaker) -> None:
        super().__init__(metric)
        self._references: list[tuple[str, ...]] = []
        self._waiting = 0
        self._body: list[str | None] = []
        self._end: Callable[[], list[str]] = list

    def answer(self, lines: Sequence[str | None]) -> str:
        """The answers to the requests that are complete with these lines."""
        answers: list[str] = []
        for line in lines:
            self._line += 1
            if self._waiting:
                self._body.append(line)
                self._waiting -= 1
            else:
                answers += self._begin(line)
            if self._waiting == 0 and self._body:
                answers += self._end()
                self._body = []
        return "".join(f"{text}\n" for text in answers)

    def _begin(self, line: str | None) -> list[str]:
        words = (line or "").split()
        numbers = [int(word) for word in words[1:] if word.isascii() and word.isdigit() and len(word) < 10]
        if words[:1] == ["REFS"] and len(words) == len(numbers) + 1 == 3 and min(numbers) > 0:
            count, each = numbers
            if count > _MOST_SENTENCES or each > MOST_REFERENCES:
                return [
                    f"ERROR line {self._line}: at most {_MOST_SENTENCES} sentences and {MOST_REFERENCES} references"
                ]
            self._waiting, self._end = count * each, lambda: self._keep_references(count, each)
            return []
        if words[:1] == ["SCORE"] and len(words) == len(numbers) + 1 == 2 and numbers[0] > 0:
            self._waiting, self._end = numbers[0], self._score_candidates
            return []
        return [f"ERROR line {self._line}: must be REFS n k or SCORE n"]

    def _keep_references(self, count: int, each: int) -> list[str]:
        texts = [text for text in self._body if text is not None]
        if len(texts) < len(self._body):
            return [f"ERROR line {self._line}: a reference is not valid UTF-8, or too long"]
        try:
            self._metric = self.metric_for(texts).for_corpus([texts[k::each] for k in range(each)])
        except TeslaError as error:
            return [f"ERROR line {self._line}: {shown(error)}"]
        self._references = [tuple(texts[k * each : (k + 1) * each]) for k in range(count)]
        return [f"OK {count} {each}"]

    def check(self, metric: Metric) -> None:
        """Refuse an error rate."""
        if not metric.higher_is_better:
            raise UsageError(f"{metric.id}: lower is better; Z-MERT needs a metric whose best score is 1")

    def _score_candidates(self) -> list[str]:
        segments = []
        first = self._line - len(self._body) + 1
        for number, line in enumerate(self._body, first):
            place, separator, text = (line or "").partition(SEPARATOR)
            place = place.strip()
            if not (separator and place.isascii() and place.isdigit() and len(place) < 10):
                return [f"ERROR line {number}: must be SENTENCE ||| CANDIDATE"]
            if int(place) >= len(self._references):
                return [
                    f"ERROR line {number}: sentence {place}, but there are references for {len(self._references)}"
                ]
            segments.append(Segment(text.strip(), self._references[int(place)]))
        results = self.score(segments)
        is_percent = self.metric_for().formula_of_sums is not None
        answers = []
        for number, result in enumerate(results, first):
            if isinstance(result, str):
                return [f"ERROR line {number}: {result}"]
            score = result[0] / 100 if is_percent else result[0]
            if not 0 <= score <= 1:
                return [f"ERROR line {number}: score {score:g}; Z-MERT needs a metric between 0 and 1"]
            whole = round(score * _UNIT)
            answers.append(f"{whole >> _HIGH} {whole & ((1 << _HIGH) - 1)}")
        return answers
