"""Phrase tables from bitexts or from Moses' text format: analyse, align, count phrases, merge (specification §6)."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tesla_eval._core import PhraseCounter
from tesla_eval.base.errors import BuildError, InputError, UsageError
from tesla_eval.base.files import write_text
from tesla_eval.base.parallel import NO_PROGRESS, Progress
from tesla_eval.base.resources import UNSTATED, Provenance, Resource
from tesla_eval.language.analysis.conllu import UNIVERSAL_TAGS
from tesla_eval.language.analysis.pipeline import Pipeline, load_pipeline, load_stems
from tesla_eval.language.pivot import (
    BYTES,
    FUNCTION_BIT,
    KIND,
    LAYOUT,
    NUMBERS,
    OFFSETS,
    STEMS,
    STEPS,
    FunctionTag,
)
from tesla_eval.texts.lines import LineReader, read_in_step
from tesla_eval.training.alignment import align_files_by_agreement
from tesla_eval.training.bitext import (
    Bitext,
    TagCounts,
    align_with_eflomal,
    analysed_pairs,
    find_eflomal,
    lemma_lines,
    lemma_names,
)

ALIGNERS = ("hmm", "eflomal")
"""Our own aligner, which comes first, and a separate program."""
_MOSES_LINES_AT_ONCE = 4096
_COUNTS_FIELD = 4
_LARGEST_COUNT = 0xFFFFFFFF


def parse_moses_line(line: str, where: str) -> tuple[str, str, int]:
    """Source and target phrase of a line and their joint count, which is the third number of the fifth field.

    >>> parse_moses_line("bon jour ||| good morning ||| 0.5 0.1 0.5 0.1 ||| 0-0 1-1 ||| 4 4 2 ||| |||", "line 1")
    ('bon jour', 'good morning', 2)
    """
    fields = [field.strip() for field in line.split("|||")]
    if len(fields) <= _COUNTS_FIELD:
        raise InputError(
            f"{where}: has {len(fields)} fields; a Moses phrase table has counts in its fifth field"
        )
    counts = fields[_COUNTS_FIELD].split()
    try:
        count = float(counts[2])
        if not 0 <= count <= _LARGEST_COUNT:
            raise ValueError
    except (IndexError, ValueError):
        raise InputError(
            f"{where}: {fields[_COUNTS_FIELD]!r} must be counts (target, source and joint count of the pair)"
        ) from None
    return fields[0], fields[1], round(count)


def count_moses_phrases(
    path: str, pipelines: tuple[Pipeline, Pipeline], counter: PhraseCounter, tags: TagCounts, *, swapped: bool
) -> Iterator[int]:
    """Add the phrases of a table, analysed, to `counter`; yields how many more lines were read.

    `pipelines` are those of the target language and of the pivot; unless `swapped`, the table's source side is the
    target language.
    """
    reader = LineReader(path)
    lines = iter(reader)
    while chunk := list(islice(lines, _MOSES_LINES_AT_ONCE)):
        first = reader.count - len(chunk) + 1
        pairs = [parse_moses_line(line, f"{reader.name}, line {first + k}") for k, line in enumerate(chunk)]
        *sides, counts = map(list, zip(*pairs, strict=True))
        if swapped:
            sides.reverse()
        (x,), (y,) = (pipeline.analyse(side) for pipeline, side in zip(pipelines, sides, strict=True))
        names = lemma_names(y)
        tags.count(y, names)
        counter.add_pairs(lemma_lines(x, lemma_names(x)), lemma_lines(y, names), np.array(counts, np.uint32))
        yield len(chunk)


_PAIRS_A_PART = 500_000
_RECORDS_A_RUN = 4_000_000  # of 36 bytes
_LINES_AT_ONCE = 4096
_ANALYSED = "analysed.json"


@dataclass(frozen=True)
class PhraseTableRecipe:
    """The data of a phrase table, and how it is pruned."""

    language: str
    pivot: str
    bitexts: tuple[Bitext, ...] = ()
    moses: tuple[str, ...] = ()
    """Phrase tables in Moses' text format to import."""
    moses_swapped: bool = False
    """The Moses tables translate from the pivot language to the target language."""
    min_count: int = 1
    """Phrases seen less often are not in the table."""
    min_probability: float = 0.0
    """Pivot phrases with this probability or less are not in the table, save the best one of each phrase."""
    stems: bool = False
    """PEM's analysis on both sides (specification §13), in the place of lemmas without punctuation."""
    aligner: str = ALIGNERS[0]
    """One of `ALIGNERS`; not used if the bitexts have alignments."""
    pairs_a_part: int = _PAIRS_A_PART
    compact: bool = False
    provenance: Provenance = UNSTATED

    def __post_init__(self) -> None:
        if not self.bitexts and not self.moses:
            raise UsageError("a phrase table needs a bitext, or a Moses phrase table to import")
        if len({bitext.alignments is None for bitext in self.bitexts}) > 1:
            raise UsageError("give alignments for all bitexts or for none")
        if self.language == self.pivot:
            raise UsageError("the pivot language must differ from the target language")
        if self.aligner not in ALIGNERS:
            raise UsageError(f"aligner {self.aligner!r} is unknown; choose {' or '.join(ALIGNERS)}")
        if self.min_count < 1 or not 0 <= self.min_probability < 1:
            raise UsageError(
                "prune: the count must be at least 1 and the probability must be from 0 to below 1"
            )

    @property
    def pipelines(self) -> tuple[Pipeline, Pipeline]:
        """The analyses of the target language and of the pivot."""
        load = load_stems if self.stems else load_pipeline
        return load(self.language), load(self.pivot)

    @property
    def aligned(self) -> bool:
        """Whether the alignments are given."""
        return any(bitext.alignments is not None for bitext in self.bitexts)

    @property
    def needs_eflomal(self) -> bool:
        """Whether a separate program aligns."""
        return bool(self.bitexts) and not self.aligned and self.aligner == "eflomal"

    @property
    def link_suffixes(self) -> tuple[str, str]:
        """The files of links, one for each direction; twice the same file where they are symmetric already."""
        if self.aligned:
            return "links", "links"
        return ("forward", "reverse") if self.aligner == "eflomal" else ("agreed-forward", "agreed-reverse")


def build_phrase_table(
    recipe: PhraseTableRecipe, work: Path, progress: Progress = NO_PROGRESS, *, threads: int = 1
) -> Resource:
    """Build the table in the folder `work`; finished stages of an interrupted call are not repeated."""
    if recipe.needs_eflomal:
        find_eflomal()  # better now than after an hour
    _claim(work, recipe)
    stages = _Stages(recipe, work, progress, threads)
    tags: dict[str, FunctionTag] = {}
    counter = PhraseCounter()
    runs = _Runs(work, counter)
    if recipe.bitexts:
        parts = stages.analyse()
        tags = stages.read_tags()
        stages.align(parts)
        stages.count(parts, counter, runs)
    if recipe.moses:
        tags |= _import_moses(recipe, counter, runs, progress)
    runs.end()
    progress.stage("merging counts")
    try:
        merged = counter.merge([str(path) for path in runs.paths], recipe.min_count, recipe.min_probability)
    except RuntimeError as error:  # a run was changed, or is gone
        raise BuildError(str(error)) from error
    if not merged["total"]:
        raise BuildError("no phrase pair was found: are the files translations of each other, line by line?")
    return table_resource(
        recipe.pipelines[0], recipe.pivot, merged, tags,
        info={
            "min_count": recipe.min_count, "min_probability": recipe.min_probability, "sentence pairs": stages.pairs,
            **({STEMS: True} if recipe.stems else {}),
            **({} if recipe.aligned or not recipe.bitexts else {"aligner": recipe.aligner}),
        },
        compact=recipe.compact,
        provenance=recipe.provenance.or_from(Path(bitext.target).name for bitext in recipe.bitexts),
    )  # fmt: skip


def _claim(work: Path, recipe: PhraseTableRecipe) -> None:
    """Record what the folder is for; refuse one that belongs to other data or another analysis."""
    here = _identity(recipe)
    note = work / "build.json"
    if note.is_file():
        if json.loads(note.read_text(encoding="utf-8")) == here:
            return
        if (work / _ANALYSED).is_file():
            raise BuildError(
                f"{work}: belongs to a build from other files, languages or analyses; "
                "delete it, or choose another folder with --work"
            )
    elif work.is_dir() and any(work.iterdir()):
        raise BuildError(f"{work}: is not empty; choose a new folder with --work")
    work.mkdir(parents=True, exist_ok=True)
    _write_json(note, here)


def _identity(recipe: PhraseTableRecipe) -> dict[str, Any]:
    paths = [path for b in recipe.bitexts for path in (b.target, b.pivot, b.alignments) if path is not None]
    try:
        files = [[path, Path(path).stat().st_size, Path(path).stat().st_mtime_ns] for path in paths]
    except OSError as error:
        raise BuildError(f"{error.filename}: cannot be read ({error.strerror})") from error
    digest = hashlib.sha256(json.dumps(files).encode()).hexdigest()
    analyses = [pipeline.lemma_fingerprint for pipeline in recipe.pipelines]
    return {
        "language": recipe.language, "pivot": recipe.pivot, "files": digest, "analyses": analyses,
        "pairs a part": recipe.pairs_a_part,
    }  # fmt: skip


def _write_json(path: Path, content: Any) -> None:
    write_text(path, json.dumps(content, ensure_ascii=False))


class _Runs:
    """Sorted runs of counted phrase pairs on disk."""

    def __init__(self, work: Path, counter: PhraseCounter) -> None:
        self._work, self._counter = work, counter
        self.paths: list[Path] = []

    def spill(self) -> None:
        """Write a run once enough records are pending."""
        if self._counter.pending >= _RECORDS_A_RUN:
            self.end()

    def end(self) -> None:
        """Write the pending records."""
        if self._counter.pending:
            self.paths.append(self._work / f"run-{len(self.paths):04}.bin")
            try:
                self._counter.write_run(str(self.paths[-1]))
            except RuntimeError as error:  # the disk is full
                raise BuildError(str(error)) from error


class _Stages:
    """The stages that read bitexts, each with its files in the work folder."""

    def __init__(self, recipe: PhraseTableRecipe, work: Path, progress: Progress, threads: int) -> None:
        self._recipe, self._work, self._progress, self._threads = recipe, work, progress, threads
        self._note = work / _ANALYSED
        self._tags = work / "pivot-words.json"
        self.pairs = 0

    def analyse(self) -> int:
        """Lines of lemmas in parts; returns how many parts there are."""
        if not self._note.is_file():
            tags = TagCounts()
            parts = pairs = 0
            self._progress.stage("analysing (sentence pairs)")
            for columns in self._analysed_parts(tags):
                for suffix, column in columns.items():
                    self._path(parts, suffix).write_text(
                        "".join(f"{line}\n" for line in column), encoding="utf-8"
                    )
                parts, pairs = parts + 1, pairs + len(columns["target"])
            if not pairs:
                raise BuildError("no sentence pair has words on both sides")
            _write_json(self._tags, {word: list(tag) for word, tag in tags.most_frequent().items()})
            _write_json(self._note, {"parts": parts, "pairs": pairs})
        note = json.loads(self._note.read_text(encoding="utf-8"))
        self.pairs = int(note["pairs"])
        return int(note["parts"])

    def _analysed_parts(self, tags: TagCounts) -> Iterator[dict[str, list[str]]]:
        columns = defaultdict[str, list[str]](list)
        for bitext in self._recipe.bitexts:
            for some in analysed_pairs(bitext, *self._recipe.pipelines, tags, self._progress):
                for name, lines in some.items():
                    columns[name] += lines
                if len(columns["target"]) >= self._recipe.pairs_a_part:
                    yield columns
                    columns = defaultdict(list)
        if columns["target"]:
            yield columns

    def read_tags(self) -> dict[str, FunctionTag]:
        """The most frequent tag of each pivot word."""
        stored = json.loads(self._tags.read_text(encoding="utf-8"))
        return {word: FunctionTag(*tag) for word, tag in stored.items()}

    def align(self, parts: int) -> None:
        """Links for every part that has none yet."""
        if self._recipe.aligned:
            return
        for part in range(parts):
            target, pivot, forward, reverse = (
                self._path(part, suffix) for suffix in ("target", "pivot", *self._recipe.link_suffixes)
            )
            if forward.is_file() and reverse.is_file():
                continue
            if self._recipe.needs_eflomal:
                self._progress.stage(f"aligning words with eflomal (part {part + 1} of {parts})")
                align_with_eflomal(target, pivot, forward, reverse)
            else:
                align_files_by_agreement(
                    target, pivot, forward, reverse, threads=self._threads, progress=self._progress
                )

    def count(self, parts: int, counter: PhraseCounter, runs: _Runs) -> None:
        """Phrase pairs of all parts."""
        suffixes = self._recipe.link_suffixes
        self._progress.stage("counting phrases (sentence pairs)", self.pairs)
        for part in range(parts):
            paths = [
                str(self._path(part, suffix)) for suffix in ("target", "pivot", *dict.fromkeys(suffixes))
            ]
            done = 0
            for columns in read_in_step(paths, _LINES_AT_ONCE):
                try:
                    counter.add_sentences(columns[0], columns[1], columns[2], columns[-1])
                except ValueError as error:
                    lines = f"lines {done + 1} to {done + len(columns[0])}"
                    raise BuildError(
                        f"{paths[2]}, {lines}: {error}; delete the file to align again"
                    ) from error
                done += len(columns[0])
                runs.spill()
                self._progress.advance(len(columns[0]))

    def _path(self, part: int, suffix: str) -> Path:
        return self._work / f"part-{part:04}.{suffix}"


def _import_moses(
    recipe: PhraseTableRecipe, counter: PhraseCounter, runs: _Runs, progress: Progress
) -> Mapping[str, FunctionTag]:
    tags = TagCounts()
    progress.stage("importing (phrases)")
    for path in recipe.moses:
        for done in count_moses_phrases(path, recipe.pipelines, counter, tags, swapped=recipe.moses_swapped):
            runs.spill()
            progress.advance(done)
    return tags.most_frequent()


def table_resource(
    analysis: Pipeline, pivot: str, merged: Mapping[str, Any], tags: Mapping[str, FunctionTag], *,
    info: Mapping[str, Any], compact: bool, provenance: Provenance = UNSTATED,
) -> Resource:  # fmt: skip
    """The resource of a table whose arrays the core has merged; `tags` has the tag of each pivot word."""
    target_words, target_ends = _joined(merged["target_words"])
    pivot_words, pivot_ends = _joined(merged["pivot_words"])
    arrays: dict[str, npt.NDArray[Any]] = {
        "target_words": target_words, "pivot_words": pivot_words,
        "pivot_tags": np.array([_tag_byte(tags[word]) for word in merged["pivot_words"]], np.uint8),
        "target_ends": target_ends, "pivot_ends": pivot_ends,
        **{name: merged[name] for name in (*OFFSETS[2:], *NUMBERS)},
    }  # fmt: skip
    counts = merged["node_count"]
    told = {
        "layout": LAYOUT, "tags": " ".join(UNIVERSAL_TAGS), "pivot": pivot, "total": int(merged["total"]),
        "phrases": int(np.count_nonzero(counts)), "extracted phrases": int(merged["phrases"]),
        "extracted pairs": int(merged["pairs"]),
    }  # fmt: skip
    return Resource(
        kind=KIND, language=analysis.language, arrays=_packed(arrays) if compact else arrays,
        analysis=analysis.lemma_fingerprint, provenance=provenance,
        info={**told, **info},
    )  # fmt: skip


def _joined(words: Sequence[str]) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint32]]:
    encoded = [word.encode() for word in words]
    ends = np.cumsum([0, *map(len, encoded)], dtype=np.uint32)
    return np.frombuffer(b"".join(encoded), np.uint8), ends


def _tag_byte(tag: FunctionTag) -> int:
    return UNIVERSAL_TAGS.index(tag.tag) | (FUNCTION_BIT if tag.function else 0)


def _packed(arrays: Mapping[str, npt.NDArray[Any]]) -> dict[str, npt.NDArray[Any]]:
    """Offsets as differences, numbers in the smallest type: half the bytes after compression."""
    packed = {name: arrays[name] for name in BYTES}
    packed |= {name: _narrow(arrays[name]) for name in NUMBERS}
    steps = {name: np.diff(arrays[name].astype(np.int64), prepend=0) for name in OFFSETS}
    return packed | {f"{name}{STEPS}": _narrow(values) for name, values in steps.items()}


def _narrow(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return values.astype(np.min_scalar_type(int(values.max(initial=0))))
