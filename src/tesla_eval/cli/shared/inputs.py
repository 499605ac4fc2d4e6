"""Inputs of the subcommands: systems, references and sources as chunks of parallel segments."""

from __future__ import annotations

import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from itertools import chain, islice
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import click

from tesla_eval.base.errors import InputError, UsageError
from tesla_eval.cli.shared.terminal import warn
from tesla_eval.language.analysis.conllu import parse_conllu
from tesla_eval.metrics.registry import BUILT_IN
from tesla_eval.metrics.requests import MetricRequest, need_references
from tesla_eval.metrics.scoring import Chunk, cut_chunks
from tesla_eval.texts.compression import SUFFIXES
from tesla_eval.texts.lines import (
    STANDARD_INPUT,
    LineReader,
    PeekedReader,
    any_marked_up,
    name_of,
    read_in_step,
    read_lines,
)
from tesla_eval.texts.tables import (
    MISSING,
    Columns,
    Missing,
    Table,
    TableRow,
    has_columns,
    is_summary_source,
    is_table,
    open_table,
)

_ROWS_AT_ONCE = 1024
_TOPICS_AT_ONCE = 256
_COUNTED_BLOCK = 1 << 20


@dataclass(frozen=True)
class TextOptions:
    """The texts that the options of a command name."""

    references: Sequence[str]
    systems: Sequence[str]
    source: str | None = None
    columns: Columns | None = None
    missing: Missing = "empty"
    analysed: bool = False
    files: tuple[str, ...] = ()
    """All files that the options name."""


def text_options(command: Callable[..., object]) -> Callable[..., object]:
    """The options that name texts; the command gets them as `TextOptions`."""

    @click.option(
        "-r", "--reference", "references", multiple=True, metavar="FILE",
        help="A reference file; repeatable. With several, an empty line is a missing reference, but for BLEU, chrF and "
        "TER an empty text, as in sacreBLEU.",
    )  # fmt: skip
    @click.argument("systems", nargs=-1, metavar="[SYSTEM... | TABLE... | SUMMARIES]")
    @click.option(
        "-i", "--input", "-t", "--translations", "inputs", multiple=True, metavar="FILE", hidden=True,
        help="A system, as an option instead of an argument, as in sacreBLEU and COMET.",
    )  # fmt: skip
    @click.option(
        "-s",
        "--source",
        metavar="FILE",
        help="The source texts, for metrics that read them; a report shows them.",
    )
    @click.option(
        "--columns", metavar="hyp=NAME,ref=NAME,src=NAME,system=NAME",
        help="The columns of a table (.tsv, .csv, .jsonl, .parquet), by name, or by number without a header. Several "
        "are joined by +: every hyp column is a system, every ref column a reference. The system column names the "
        "system of each row.  [default: hyp or mt, ref, src, system]",
    )  # fmt: skip
    @click.option(
        "--missing", type=click.Choice(MISSING), default="empty",
        help="For rows of a table that lack a text (a null or an empty cell): empty scores an empty text, error stops, "
        "null writes a null score (with -o FILE.parquet), skip leaves the row out.",
    )  # fmt: skip
    @wraps(command)
    def with_texts(
        *, references: tuple[str, ...], systems: tuple[str, ...], inputs: tuple[str, ...], source: str | None,
        columns: str | None, missing: Missing, analysed: bool = False, **others: Any,
    ) -> object:  # fmt: skip
        parsed = None if columns is None else Columns.parse(columns)
        files = (*references, *inputs, *systems, *([] if source is None else [source]))
        texts = TextOptions(references, (*inputs, *systems), source, parsed, missing, analysed, files)
        return command(texts=texts, **others)

    return with_texts


@dataclass
class Inputs:
    """What is to be scored: the names of the systems, and their segments in chunks."""

    systems: tuple[str, ...]
    chunks: Iterator[Chunk]
    segments: int | None = None
    """How many there are, where that is known beforehand."""
    topics: tuple[str, ...] | None = None
    """The topics of summaries: the names of the segments."""
    references: tuple[str, ...] = ()
    """The names of the references, where they have any."""
    has_references: bool = True
    documents: tuple[str, ...] | None = None
    """The document of every segment, where the files say it."""
    unit: str = "line"
    """What holds a segment, for messages."""
    analysed: bool = False
    is_table: bool = False

    def sample(self) -> list[str]:
        """Texts of the first references, or of the first system without any; no file is opened twice for it."""
        first = next(self.chunks, None)
        if first is None:
            return []
        self.chunks = chain([first], self.chunks)
        streams = [[text for text in stream if text] for stream in first.references]
        texts = next(filter(None, streams), None) or list(first.systems[0])
        return [conllu_words(text) for text in texts] if self.analysed else texts


def or_standard_input(texts: TextOptions) -> TextOptions:
    """The same; without a system, with the one (or several) that comes through a pipe."""
    for name in texts.systems:
        if name.lower() in BUILT_IN and not Path(name).exists():
            raise click.UsageError(
                f"{name}: there is no such file; join several metrics by commas, such as -m m,{name}"
            )
    if texts.systems:
        return texts
    if not _has_piped_input():
        raise click.UsageError("give SYSTEM files, or pipe a system into standard input")
    return replace(texts, systems=(STANDARD_INPUT,))


def _has_piped_input() -> bool:
    try:
        return sys.stdin is not None and not sys.stdin.isatty() and sys.stdin.fileno() >= 0
    except (OSError, ValueError):  # closed, or no real file
        return False


def open_outputs(texts: TextOptions, requests: Sequence[MetricRequest]) -> Inputs:
    """Files of lines, tables, or summaries, whichever was given; no `requests` stand for the default metrics."""
    needed = need_references(requests)
    first = texts.systems[0]
    marked_up = any_marked_up(*texts.systems)
    if first == STANDARD_INPUT and needed and not texts.references and texts.columns is None:
        texts = replace(texts, columns=Columns())  # nothing but a table brings its references
    is_plain = texts.references or marked_up or texts.columns is not None or is_table(first)
    if not is_plain and (needed or is_summary_source(first)):
        if len(texts.systems) != 1 or not is_summary_source(first):
            raise click.UsageError(
                "give reference files with -r; without them, a table (.tsv, .csv, .jsonl, .parquet), or one JSON Lines "
                "file (.jsonl) or one folder of summaries"
            )
        if texts.analysed:
            raise click.UsageError("--analysed reads files of CoNLL-U, with -r")
        return _summary_inputs(first)
    inputs = _open_parallel(texts)
    if needed and not inputs.has_references:
        if marked_up:
            raise click.UsageError(f"{first}: has no references; give them with -r")
        raise UsageError(
            f"{name_of(first)}: which column holds the references?",
            hint="write --columns hyp=NAME,ref=NAME, or give a file of references with -r",
        )
    return inputs


def _open_parallel(texts: TextOptions) -> Inputs:
    """Files of lines in step, or tables with named columns; tab-separated standard input holds several systems."""
    references, names, source = texts.references, tuple(texts.systems), texts.source
    if texts.columns is not None or (not references and is_table(names[0])):
        if references or source is not None:
            raise click.UsageError("a table brings its references and sources: leave out -r and -s")
        return _table_inputs(names, texts.columns, texts.missing)
    _refuse_tables_as_lines([*references, *names, *([] if source is None else [source])])
    if any_marked_up(*references, *names, source):
        return _marked_inputs(references, names, source)
    length = known_length([*references, *names]) if sys.stderr is not None and sys.stderr.isatty() else None
    if names == (STANDARD_INPUT,) and not texts.analysed:
        standard_input = PeekedReader(STANDARD_INPUT)
        chunks = read_chunks(references, [standard_input], source)
        systems = standard_input.first.count("\t") + 1
        if systems > 1:  # as in sacreBLEU
            names = tuple(f"System {number}" for number in range(1, systems + 1))
            chunks = _split_chunks(chunks, standard_input.name, systems)
    else:
        chunks = read_chunks(references, names, source, analysed=texts.analysed)
    return Inputs(
        names, chunks, length, references=tuple(references), has_references=bool(references),
        analysed=texts.analysed, unit=ConlluReader.unit if texts.analysed else LineReader.unit,
    )  # fmt: skip


def read_chunks(
    references: Sequence[str], systems: Sequence[str | LineReader], source: str | None = None, *, analysed: bool = False
) -> Iterator[Chunk]:  # fmt: skip
    """Chunks of all files in step."""
    plain = [file for file in systems if isinstance(file, str)]
    if any_marked_up(*references, *plain, source) and len(plain) == len(systems) and not analysed:
        yield from _marked_inputs(references, plain, source).chunks
        return
    reader: type[LineReader] = ConlluReader if analysed else LineReader
    files = (*references, *systems, *([] if source is None else [source]))
    judged = len(references) + len(systems)
    for texts in read_in_step(files, reader=reader):
        yield Chunk(
            texts[len(references) : judged],
            texts[: len(references)],
            None if source is None else texts[judged],
        )


def _marked_inputs(references: Sequence[str], systems: Sequence[str], source: str | None) -> Inputs:
    from tesla_eval.judgements.marked import read_marked_inputs  # takes time to import: only when asked for

    marked = read_marked_inputs(references, systems, source)
    chunks = cut_chunks(list(marked.systems.values()), marked.references, marked.source)
    return Inputs(
        tuple(marked.systems), chunks, len(marked.keys), has_references=bool(marked.references),
        documents=marked.documents, unit="segment",
    )  # fmt: skip


def _split_chunks(chunks: Iterable[Chunk], name: str, systems: int) -> Iterator[Chunk]:
    """Every line as one text per system; all lines must have as many as the first."""
    number = 0
    for chunk in chunks:
        rows = []
        for line in chunk.systems[0]:
            number += 1
            rows.append(line.split("\t"))
            if len(rows[-1]) != systems:
                raise InputError(
                    f"{name}, line {number}: {len(rows[-1])} texts between tabs, but line 1 has {systems}; every line "
                    "must hold one text of each system"
                )
        yield replace(chunk, systems=[list(texts) for texts in zip(*rows, strict=True)])


def _refuse_tables_as_lines(files: Sequence[str]) -> None:
    """A table is no text with one segment per line, and it has references of its own."""
    for path in filter(has_columns, files):
        context = click.get_current_context(silent=True)
        command = "tesla score" if context is None else context.command_path
        raise UsageError(
            f"{path}: is a table, but beside -r every file has one segment per line",
            hint=f"name the columns instead of -r: {command} {path} --columns hyp=NAME,ref=NAME",
        )


class _Part(NamedTuple):
    """Rows with one segment after the other: those of a table, or of one system in it."""

    name: str
    """For messages."""
    systems: tuple[str, ...]
    rows: Iterator[TableRow]


def _parts_of_table(path: str, table: Table, *, several: bool) -> Iterator[_Part]:
    """The whole table, one of `several`; or, if a column names systems, one part for each of them."""
    columns = table.columns
    if columns.system:
        by_system: dict[str, list[TableRow]] = {}
        for row in table.rows:
            by_system.setdefault(row.system, []).append(row)
        for system, rows in by_system.items():
            yield _Part(f"{path}, {system}", (f"{path}:{system}" if several else system,), iter(rows))
    elif len(columns.hyp) == 1:
        yield _Part(path, (path,), table.rows)
    else:
        yield _Part(path, tuple(f"{path}:{name}" if several else name for name in columns.hyp), table.rows)


def _table_inputs(paths: Sequence[str], wanted: Columns | None, missing: Missing) -> Inputs:
    tables = [open_table(path, wanted, missing) for path in paths]
    parts = [
        part
        for path, table in zip(paths, tables, strict=True)
        for part in _parts_of_table(path, table, several=len(paths) > 1)
    ]
    return Inputs(
        tuple(system for part in parts for system in part.systems),
        _table_chunks(parts),
        has_references=bool(tables[0].columns.ref),
        unit="segment" if any(table.columns.system for table in tables) else "row",
        is_table=True,
    )


def _table_chunks(parts: Sequence[_Part]) -> Iterator[Chunk]:
    rows = _rows_in_step(parts)
    while some := list(islice(rows, _ROWS_AT_ONCE)):
        most = max(len(row.references) for row in some)
        padded = [[*row.references, *[None] * (most - len(row.references))] for row in some]
        streams = [list(stream) for stream in zip(*padded, strict=True)]
        texts = [list(lines) for lines in zip(*(row.hypotheses for row in some), strict=True)]
        sources = [row.source for row in some if row.source is not None]
        yield Chunk(texts, streams, sources if len(sources) == len(some) else None)


def _rows_in_step(parts: Sequence[_Part]) -> Iterator[TableRow]:
    """The rows of all parts side by side: as many in each, about the same references and sources."""
    count = skipped = 0
    first_skipped = ""
    while True:
        rows = [next(part.rows, None) for part in parts]
        if all(row is None for row in rows):
            if skipped:
                warn(f"{skipped} of {count} rows were skipped; the first is {first_skipped}")
            return
        head, *others = rows
        for part, row in zip(parts, rows, strict=True):
            if row is None:
                raise InputError(
                    f"{part.name}: has {count} rows, but another table or system has more; row i is segment i"
                )
        assert head is not None
        count += 1
        lacking = next((row for row in rows if row is not None and row.lacks), None)
        if lacking is not None:
            skipped += 1
            first_skipped = first_skipped or f"{lacking.place}, which has no {lacking.lacks}"
            continue
        for row in others:
            assert row is not None
            if row.references and row.references != head.references:
                raise InputError(f"{row.place}: has other references than {head.place}")
            if row.source is not None and head.source is not None and row.source != head.source:
                raise InputError(f"{row.place}: has another source than {head.place}")
            head = head._replace(hypotheses=[*head.hypotheses, *row.hypotheses])
        yield head


def known_length(paths: Sequence[str]) -> int | None:
    """The lines of the first plain file, for a progress bar."""
    for path in paths:
        try:
            plain = path != STANDARD_INPUT and not path.endswith(SUFFIXES)
            if plain and stat.S_ISREG(Path(path).stat().st_mode):
                with Path(path).open("rb") as handle:
                    last, count = b"\n", 0
                    while block := handle.read(_COUNTED_BLOCK):
                        last, count = block[-1:], count + block.count(b"\n")
                return count + (last != b"\n")
        except OSError:
            return None  # whoever reads it will say what is wrong
    return None


def _summary_inputs(path: str) -> Inputs:
    """Topics with all their models; every system must have summarised every topic."""
    from tesla_eval.judgements.summaries import read_summaries  # takes time to import: only when asked for

    summaries = read_summaries(path)
    for system, row in zip(summaries.systems, summaries.hypotheses, strict=True):
        if None in row:
            missing = summaries.topics[row.index(None)]
            raise InputError(
                f"{summaries.name}: {system} has no summary of {missing}; systems are comparable on the same topics "
                "only, so add it (an empty one scores 0) or leave the topic or the system out"
            )
    texts = [[text for text in row if text is not None] for row in summaries.hypotheses]
    chunks = cut_chunks(texts, summaries.reference_streams, summaries.sources, _TOPICS_AT_ONCE)
    return Inputs(summaries.systems, chunks, len(summaries.topics), summaries.topics, unit="topic")


def lines_of_segments(path: str, segments: int) -> list[str]:
    """The lines of a file that has one for each segment."""
    lines = read_lines(path)
    if len(lines) != segments:
        raise InputError(f"{path}: {len(lines)} lines, but there are {segments} segments")
    return lines


_NO_DOCUMENTS = "none"
"""What `--docs` takes to resample segments, whatever the files say."""

docs_option: Callable[[Callable[..., object]], Callable[..., object]] = click.option(
    "--docs", metavar="FILE",
    help="The document of each segment, one name per line: documents are resampled and scored. SGML and XML "
    "bring their documents; `--docs none` resamples segments all the same.",
)  # fmt: skip


def documents_to_resample(docs: str | None, own: Sequence[str] | None, segments: int) -> Sequence[str] | None:
    """The document of every segment if documents are resampled: those of `--docs`, else several of the files' own."""
    if docs is None:
        return own if own and len(set(own)) > 1 else None
    return None if docs == _NO_DOCUMENTS else lines_of_segments(docs, segments)


def conllu_words(sentence: str) -> str:
    """The words of a sentence in CoNLL-U, whose second column holds them."""
    rows = (line.split("\t") for line in sentence.split("\n") if line[:1].isdigit())
    return " ".join(fields[1] for fields in rows if len(fields) > 1)


class ConlluReader(LineReader):
    """The sentences of a file, each still as text; a sentence of comments only is an empty segment.

    Each sentence is checked here, where file and line are known.
    """

    unit: ClassVar[str] = "sentence"

    def __iter__(self) -> Iterator[str]:
        block: list[str] = []
        sentences = lines = 0
        for line in super().__iter__():
            lines += 1
            if line:
                block.append(line)
            elif block:
                sentences += 1
                yield self._checked(block, lines - len(block))
                block = []
        if block:
            sentences += 1
            yield self._checked(block, lines - len(block) + 1)
        self.count = sentences  # not lines

    def _checked(self, block: list[str], first_line: int) -> str:
        if not all(line.startswith("#") for line in block):
            for _ in parse_conllu(block, self.name, first_line):
                pass
        return "\n".join(block)
