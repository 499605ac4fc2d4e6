"""`-l`: the language of the references, identified or compared with the texts before any metric is made."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice

from tesla_eval.cli.shared.terminal import note, warn
from tesla_eval.language.choice import AUTO, other_language, resolve
from tesla_eval.texts.lines import STANDARD_INPUT, LineReader, is_marked_up
from tesla_eval.texts.tables import Columns, is_summary_source, is_table, sample_references

__all__ = ["SAMPLE", "identified_language", "sample_files"]

SAMPLE = 128
"""Texts that are looked at."""


def identified_language(asked: str, sample: Sequence[str], what: str = "references") -> str:
    """The language that `-l` names, or with `auto` that of the sample, which is said on standard error.

    A given language that the texts contradict is a warning.
    """
    code = resolve(asked, sample, note, what)
    other = other_language(code, sample) if asked != AUTO else None
    if other is not None:
        warn(f"-l {asked}, but the {what} look like {other}")
    return code


def sample_files(
    references: Sequence[str], systems: Sequence[str], *, columns: str | None = None, analysed: bool = False
) -> list[str]:
    """Some texts of the references, or of the systems where these cannot be read twice; none from standard input."""
    files = [path for path in (*references, *systems) if path != STANDARD_INPUT]
    return _sample(files[0], columns, analysed, plain=bool(references)) if files else []


def _sample(file: str, columns: str | None, analysed: bool, *, plain: bool) -> list[str]:
    if is_marked_up(file):
        from tesla_eval.texts.markup import read_marked_set  # takes time to import: only when asked for

        marked = read_marked_set(file)
        versions = [*marked.references.values(), *marked.systems.values()]
        return [text for version in versions for text in islice(version.texts.values(), SAMPLE) if text]
    if columns is not None or (not plain and is_table(file)):
        return sample_references(file, None if columns is None else Columns.parse(columns), SAMPLE)
    if not plain and is_summary_source(file):
        from tesla_eval.judgements.summaries import read_summaries  # takes time: only when asked for

        streams = read_summaries(file).reference_streams
        return [text for stream in streams for text in islice(stream, SAMPLE) if text is not None]
    lines: Iterable[str] = islice(LineReader(file), SAMPLE * (20 if analysed else 1))
    if analysed:  # CoNLL-U: the second column holds the words
        lines = [
            " ".join(line.split("\t")[1] for line in lines if line[:1].isdigit() and line.count("\t") > 1)
        ]
    return list(lines)
