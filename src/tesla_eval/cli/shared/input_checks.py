"""Warnings about inputs that are probably a mistake; each names file and line, and comes once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import blake2b

from tesla_eval.cli.shared.inputs import Inputs
from tesla_eval.cli.shared.terminal import warn
from tesla_eval.language.choice import other_language
from tesla_eval.metrics.scoring import Chunk
from tesla_eval.texts.lines import looks_lowercased, looks_tokenised

_SAMPLE = 32  # texts of each system whose language is looked at: 128 take 1 % of the time of scoring it


class _Stream:
    """The texts of one system or reference, as they pass by."""

    def __init__(self, name: str, unit: str) -> None:
        self.name, self.unit = name, unit
        self.count = 0
        self.is_blank = True
        self._has_null = False
        self.digest = blake2b(digest_size=16)  # equal for streams of equal texts

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
    for number, chunk in enumerate(given.chunks):
        if number == 0:
            if not (prepared or given.analysed):
                streams = [[text or "" for text in stream] for stream in chunk.references if given.references]
                _warn_of_preparation((*given.references, *given.systems), [*streams, *chunk.systems])
            if not given.analysed:
                _warn_of_language(given, chunk, language)
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
        yield chunk
    _warn_of_content(systems, references)


def _warn_of_content(systems: Sequence[_Stream], references: Sequence[_Stream]) -> None:
    """Warn of blank and of equal streams, once all of them was read."""
    first_of: dict[bytes, _Stream] = {}
    for stream in (*references, *systems):
        lines = f"{stream.unit}s 1 to {stream.count}" if stream.count > 1 else f"{stream.unit} 1"
        if stream.is_blank:
            kind = "reference counts as missing" if stream in references else "system has no text"
            warn(f"{stream.name}, {lines}: all are blank; this {kind}")
        elif (first := first_of.setdefault(stream.digest.digest(), stream)) is not stream:
            kind = "reference" if stream in references else "system"
            other = f"{first.name}, a reference" if first in references else first.name
            is_twice = first.name == stream.name and first not in references
            warn(f"{stream.name}, {lines}: this {kind} {'is given twice' if is_twice else f'equals {other}'}")


def _warn_of_language(given: Inputs, chunk: Chunk, language: str) -> None:
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


def _warn_of_preparation(names: Sequence[str], texts: Sequence[Sequence[str]]) -> None:
    for looks, what in ((looks_tokenised, "already tokenised"), (looks_lowercased, "lower-cased")):
        suspects = [name for name, lines in zip(names, texts, strict=True) if looks(lines)]
        if suspects:
            warn(
                f"{', '.join(suspects)}: the text looks {what}; scores are meant for text as people write it"
            )
