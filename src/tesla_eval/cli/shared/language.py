"""`-l auto`: the language of the references, identified before any metric is made."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import islice

from tesla_eval.base.errors import UsageError
from tesla_eval.cli.shared.terminal import note, warn
from tesla_eval.language.analysis.languages import LANGUAGES
from tesla_eval.texts.lines import STANDARD_INPUT, LineReader, is_marked_up
from tesla_eval.texts.tables import Columns, is_summary_source, is_table, sample_references

__all__ = ["AUTO", "identified_language", "sample_files"]

AUTO = "auto"
"""What `-l` means by default."""

_SAMPLE = 128  # texts that are looked at
_SHORT = 20  # with fewer words a guess is good enough
_FALLBACK = "en"


def identified_language(asked: str, sample: Callable[[], Sequence[str]]) -> str:
    """The language that `-l` names, or with `auto` that of the sample, which is said on standard error.

    Of short texts the best guess is taken, or English; of longer ones that cannot be told, `UsageError` asks for -l. A
    given language that the texts contradict is a warning.
    """
    from tesla_eval.language.analysis.detection import contradicts, identify

    if asked != AUTO:
        other = contradicts(asked, sample())
        if other is not None:
            looks = (
                _named(other.language)
                if other.language != "und"
                else f"text in another script ({other.script})"
            )
            warn(f"-l {asked}, but the references look like {looks}")
        return asked
    identified = identify(list(dict.fromkeys(sample())))  # repeated lines tell nothing new
    if identified.certain:
        note(f"language: {_named(identified.language)}, identified from the references")
        return identified.language
    guess = identified.language
    if identified.words >= _SHORT:
        best = "" if guess == "und" else f"; the best guess is {_named(guess)}"
        raise UsageError(
            f"cannot tell the language of the references ({identified.note}{best}); give it with -l, for example -l en"
        )
    if guess == "und" or identified.script == "Latin":
        guess = _FALLBACK
    note(f"language: {_named(guess)} is assumed, because the text is too short to tell; -l sets another one")
    return guess


def _named(code: str) -> str:
    return f"{LANGUAGES[code].name} ({code})" if code in LANGUAGES else code


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
        return [text for version in versions for text in islice(version.texts.values(), _SAMPLE) if text]
    if columns is not None or (not plain and is_table(file)):
        return sample_references(file, None if columns is None else Columns.parse(columns), _SAMPLE)
    if not plain and is_summary_source(file):
        from tesla_eval.judgements.summaries import read_summaries  # takes time: only when asked for

        streams = read_summaries(file).reference_streams
        return [text for stream in streams for text in islice(stream, _SAMPLE) if text is not None]
    lines: Iterable[str] = islice(LineReader(file), _SAMPLE * (20 if analysed else 1))
    if analysed:  # CoNLL-U: the second column holds the words
        lines = [
            " ".join(line.split("\t")[1] for line in lines if line[:1].isdigit() and line.count("\t") > 1)
        ]
    return list(lines)
