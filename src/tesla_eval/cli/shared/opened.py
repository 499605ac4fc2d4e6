"""From the options of a command to open inputs, their language and the metrics for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import NamedTuple

from tesla_eval.base.errors import UsageError
from tesla_eval.cli.shared.inputs import Inputs, TextOptions, open_outputs
from tesla_eval.cli.shared.language import identified_language
from tesla_eval.cli.shared.options import choose_metrics
from tesla_eval.cli.shared.terminal import warn
from tesla_eval.language.choice import other_language
from tesla_eval.metrics.empty_texts import EmptyTexts
from tesla_eval.metrics.requests import parse_requests
from tesla_eval.metrics.scoring import Chunk, NamedMetric
from tesla_eval.texts.lines import looks_lowercased, looks_tokenised

_SAMPLE = 32  # texts of each system whose language is looked at: 128 take 1 % of the time of scoring it


@dataclass(eq=False)
class _Stream:
    """The texts of one system or reference, as they pass by."""

    name: str
    unit: str
    count: int = 0
    is_blank: bool = True
    _has_null: bool = False
    digest: blake2b = field(default_factory=lambda: blake2b(digest_size=16))
    """Equal for streams of equal texts."""

    def add(self, texts: Sequence[str | None]) -> None:
        """Look at more texts; None is a missing one."""
        joined = "\n".join(text or "" for text in texts)
        self.digest.update(f"{joined}\n".encode("utf-8", "surrogatepass"))
        self.is_blank = self.is_blank and not joined.strip()
        if "\0" in joined and not self._has_null:
            self._has_null = True
            number = next(number for number, text in enumerate(texts, self.count + 1) if "\0" in (text or ""))
            warn(f"{self.name}, {self.unit} {number}: has a NUL byte; is it text in another encoding?")
        self.count += len(texts)


def checked_chunks(given: Inputs, language: str, *, prepared: bool = False) -> Iterator[Chunk]:
    """The chunks of `given` as they pass by; `prepared` texts are known to be split already."""
    systems = [_Stream(name, given.unit) for name in given.systems]
    references: list[_Stream] = []
    empty = EmptyTexts([name if len(given.systems) > 1 else "" for name in given.systems], given.unit)
    for number, chunk in enumerate(given.chunks):
        if number == 0 and not given.analysed:
            _warn_of_texts(given, chunk, language, prepared)
        for place in range(len(references), len(chunk.references)):
            name = given.references[place] if given.references else f"reference {place + 1}"
            references.append(_Stream(name, given.unit))
            if systems[0].count:
                references[-1].add([None] * systems[0].count)
        gaps = [[None] * chunk.segments] * (len(references) - len(chunk.references))
        for stream, texts in zip(
            [*systems, *references], [*chunk.systems, *chunk.references, *gaps], strict=True
        ):
            stream.add(texts)
        empty.add(chunk)
        yield chunk
    _warn_of_content(systems, references)
    empty.warn()


def _warn_of_content(systems: Sequence[_Stream], references: Sequence[_Stream]) -> None:
    """Warn of blank and of equal streams, once all of them was read."""
    first_of: dict[bytes, _Stream] = {}
    for stream in (*references, *systems):
        lines = f"{stream.unit}s 1 to {stream.count}" if stream.count > 1 else f"{stream.unit} 1"
        if stream.is_blank:  # otherwise each of its texts is counted as empty
            if stream in references and len(references) > 1:
                warn(f"{stream.name}, {lines}: all are blank; this reference counts as missing")
        elif (first := first_of.setdefault(stream.digest.digest(), stream)) is not stream:
            kind = "reference" if stream in references else "system"
            other = f"{first.name}, a reference" if first in references else first.name
            is_twice = first.name == stream.name and first not in references
            warn(f"{stream.name}, {lines}: this {kind} {'is given twice' if is_twice else f'equals {other}'}")


def _warn_of_texts(given: Inputs, chunk: Chunk, language: str, prepared: bool) -> None:
    """Warn of texts that seem to be prepared, or in another language, by the first ones."""
    streams = [[text or "" for text in stream] for stream in chunk.references if given.references]
    named = list(zip((*given.references, *given.systems), [*streams, *chunk.systems], strict=True))
    for looks, what in ((looks_tokenised, "already tokenised"), (looks_lowercased, "lower-cased")):
        suspects = [name for name, texts in named if not prepared and looks(texts)]
        if suspects:
            warn(
                f"{', '.join(suspects)}: the text looks {what}; scores are meant for text as people write it"
            )
    for name, texts in zip(given.systems, chunk.systems, strict=True):
        step = max(1, len(texts) // _SAMPLE)
        other = other_language(language, texts[::step])
        if other is not None:
            line = next(
                (k for k, text in enumerate(texts, 1) if other_language(language, [text]) == other), 1
            )
            warn(
                f"{name}, {given.unit} {line}: the text looks like {other}, not like the references' {language!r}"
            )


class Opened(NamedTuple):
    """What is to be scored, the metrics, and the language that both are for."""

    inputs: Inputs
    metrics: list[NamedMetric]
    language: str


def open_for_metrics(
    texts: TextOptions, metrics: Sequence[str], language: str, *, one: bool = False, source_is_shown: bool = False,
    check: Callable[[Sequence[str]], object] = len,
) -> Opened:  # fmt: skip
    """Open the files, each once, then tell their language: bad usage and missing files are reported before it.

    `check` gets the names of the systems before the language is told.
    """
    if texts.missing == "null":
        raise UsageError(
            "--missing null: a null score needs a table as the output; write -o FILE.parquet, or skip"
        )
    given = open_outputs(texts, parse_requests(metrics))
    check(given.systems)
    code = identified_language(language, given.sample(), "references" if given.has_references else "texts")
    chosen = choose_metrics(
        metrics, code, analysed=texts.analysed, one=one, summaries=given.topics is not None
    )
    if texts.source is not None and not source_is_shown and not any(one.metric.uses_source for one in chosen):
        warn("--source has no effect: none of the metrics reads the source")
    prepared = all(getattr(one.metric, "pre_tokenized", False) for one in chosen)  # split into units already
    checked = checked_chunks(given, code, prepared=prepared)
    return Opened(replace(given, chunks=checked), chosen, code)
