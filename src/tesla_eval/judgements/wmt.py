"""Readers of WMT data: tables in our common layout, and the folders of mt-metrics-eval.

Tables (segments, preferences, raw rankings, system scores) are tab-separated UTF-8 with one header line, `.gz` or
plain, read line by line; columns are found by name, and an `InputError` names file and line. In the folders file names
are the schema:

TESTSET/sources/LP.txt                        one line per segment; for metrics that read the source
TESTSET/references/LP.NAME.txt                one line per segment
TESTSET/system-outputs/LP/NAME.txt            one line per segment
TESTSET/human-scores/LP.NAME.{seg,sys}.score  "SYSTEM SCORE" lines; None is a missing score
TESTSET/metric-scores/LP/NAME-REF.{seg,sys}.score
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

from tesla_eval.base.errors import InputError, UsageError
from tesla_eval.base.files import write_text
from tesla_eval.judgements.nouns import (
    EvalSet,
    FloatTable,
    Key,
    Preferences,
    Rankings,
    SystemScores,
    columns_of,
)
from tesla_eval.judgements.rnk import is_rnk_header, read_rnk_results
from tesla_eval.texts.compression import without_suffix
from tesla_eval.texts.lines import LineReader, parse_number, read_headed_rows, read_lines

_SEGMENTS = ("lp", "testset", "system", "seg_id", "human_score", "hypothesis", "reference")
_PREFERENCES = ("lp", "testset", "seg_id", "system_better", "system_worse")
_RANKINGS = ("lp", "testset", "seg_id", "task", "judge", "system", "rank")
_SYSTEM_SCORES = ("lp", "testset", "system", "human_system_score", "score_type", "n_judgements")


class _Row(NamedTuple):
    """A data line: where it stands and its fields."""

    source: str
    line: int
    key: Key
    fields: list[str]

    @property
    def place(self) -> str:
        return f"{self.source}, line {self.line}"

    def error(self, message: str) -> InputError:
        return InputError(f"{self.place}: {message}")


def read_segments(path: str, lps: Collection[str] | None = None) -> Iterator[EvalSet]:
    """The test sets of a `*.seg.tsv` file one after the other, or only those of the language pairs `lps`.

    Rows of a test set must stand together. A segment's references must be the same in all of its rows. With
    several reference columns an empty one is a missing reference, unless all are empty.
    """
    rows = _read_rows(path, _SEGMENTS, more_references=True)
    kind = without_suffix(Path(path).name).removesuffix(".tsv").removesuffix(".seg")
    begun: set[Key] = set()
    for key, group in groupby(rows, key=lambda row: row.key):
        if lps is None or key[0] in lps:
            yield _eval_set(key, group, kind, is_whole=key not in begun)
        begun.add(key)


def read_preferences(*paths: str) -> dict[Key, Preferences]:
    """The pairwise judgements of `*.pairs.tsv` files by language pair and test set, each in one of the files."""
    by_key: dict[Key, Preferences] = {}
    for path in paths:
        for key, preferences in _preferences_in(path).items():
            if key in by_key:
                raise InputError(f"{path}: the preferences for {' '.join(key)} are also in an earlier file")
            by_key[key] = preferences
    return by_key


def _preferences_in(path: str) -> dict[Key, Preferences]:
    rows: dict[Key, list[tuple[str, str, str, int]]] = {}
    for row in _read_rows(path, _PREFERENCES):
        _, _, segment, better, worse = row.fields
        if better == worse:
            raise row.error(f"system {better} is compared with itself")
        rows.setdefault(row.key, []).append((segment, better, worse, row.line))
    return {key: Preferences(LineReader(path).name, *columns_of(group)) for key, group in rows.items()}


def read_rankings(path: str) -> dict[Key, Rankings]:
    """The raw rankings of a `*.rawranks.tsv` file, or of WMT's original CSV, by language pair and test set."""
    if is_rnk_header(next(iter(LineReader(path)), "")):
        return read_rnk_results(path)
    rows: dict[Key, list[tuple[str, str, str, str, int, int]]] = {}
    for row in _read_rows(path, _RANKINGS):
        _, _, segment, task, judge, system, rank = row.fields
        if not (rank.isascii() and rank.isdigit() and int(rank) > 0):
            raise row.error(f"rank {rank!r} is not a whole number of at least 1")
        rows.setdefault(row.key, []).append((segment, task, judge, system, int(rank), row.line))
    return {key: Rankings(LineReader(path).name, *columns_of(group)) for key, group in rows.items()}


def read_system_scores(path: str) -> dict[Key, SystemScores]:
    """The human system scores of a `system_scores.tsv` file by language pair and test set."""
    result: dict[Key, SystemScores] = {}
    for row in _read_rows(path, _SYSTEM_SCORES):
        _, _, system, score, score_type, _ = row.fields
        scores = result.setdefault(row.key, SystemScores(row.source)).by_type.setdefault(score_type, {})
        if system in scores:
            raise row.error(f"a second {score_type} score for system {system}")
        scores[system] = parse_number(score, row.place, "human_system_score")
    return result


def _read_rows(path: str, columns: tuple[str, ...], *, more_references: bool = False) -> Iterator[_Row]:
    """The data lines of a table with these columns, in any order and among others; their fields are in this order.

    `more_references` are those of further columns whose names begin with "reference".
    """
    name = LineReader(path).name
    for number, (_, cells) in enumerate(read_headed_rows(path, columns, None), start=2):
        fields = [cells[column] for column in columns]
        if more_references:
            fields += [text for column, text in cells.items() if re.fullmatch(r"reference.+", column)]
        yield _Row(name, number, (cells["lp"], cells["testset"]), fields)


def _eval_set(key: Key, rows: Iterator[_Row], kind: str, *, is_whole: bool) -> EvalSet:
    systems: dict[str, int] = {}
    segments: dict[str, list[str | None]] = {}
    cells: dict[tuple[str, str], tuple[str, float]] = {}
    for row in rows:
        if not is_whole:
            raise row.error(f"the rows of {' '.join(key)} are not next to each other; sort the file")
        _, _, system, segment, score, hypothesis, *cells_of_references = row.fields
        references = [text or None for text in cells_of_references]
        systems.setdefault(system, len(systems))
        if segments.setdefault(segment, references) != references:
            raise row.error(f"segment {segment} has other references than in an earlier row")
        if (system, segment) in cells:
            raise row.error(f"a second output of system {system} for segment {segment}")
        human = parse_number(score, row.place, "human_score") if score else math.nan
        cells[system, segment] = hypothesis, human
    names = tuple(sorted(systems))
    return EvalSet(
        *key,
        systems=names,
        segments=tuple(segments),
        hypotheses=tuple(tuple(cells.get((s, g), (None,))[0] for g in segments) for s in names),
        references=tuple(zip(*segments.values(), strict=True)),
        human=np.array([[cells.get((s, g), ("", math.nan))[1] for g in segments] for s in names]),
        score_kind=kind,
    )


# Of several kinds of human scores the more careful protocol is the default.
SCORE_NAMES = ("mqm", "esa", "psqm", "wmt-appraise-z", "wmt-z", "wmt-appraise", "wmt-raw")
_MISSING = "None"


def language_pairs(folder: Path) -> list[str]:
    """The language pairs that have system outputs in a test set's folder."""
    outputs = folder / "system-outputs"
    if not outputs.is_dir():
        raise InputError(f"{folder}: is not a test set of mt-metrics-eval (it has no folder system-outputs)")
    return sorted(path.name for path in outputs.iterdir() if path.is_dir())


def read_eval_set(
    folder: Path, lp: str, *, score_name: str | None = None, human_translations: bool = False
) -> EvalSet:
    """One language pair of a test set with its segment scores of the kind `score_name`.

    Without a name the first of `SCORE_NAMES` that there is, else the first by name. References that stand
    among the system outputs are left out unless `human_translations`.
    """
    references = _read_references(folder, lp)
    length = len(next(iter(references.values())))
    outputs = {
        path.stem: _read_parallel(path, length)
        for path in sorted((folder / "system-outputs" / lp).glob("*.txt"))
        if human_translations or path.stem not in references
    }
    if not outputs:
        raise InputError(f"{folder}: no system outputs for {lp}")
    source = folder / "sources" / f"{lp}.txt"
    human = np.full((len(outputs), length), math.nan)
    chosen = _chosen_score(folder, lp, "seg", score_name)
    if chosen is not None:
        human = _score_table(chosen, tuple(outputs), length)
    return EvalSet(
        lp=lp,
        testset=folder.name,
        systems=tuple(outputs),
        segments=tuple(str(number) for number in range(1, length + 1)),
        hypotheses=tuple(tuple(lines) for lines in outputs.values()),
        references=tuple(map(tuple, references.values())),
        human=human,
        score_kind="" if chosen is None else _score_name(chosen, lp),
        reference_names=tuple(references),
        sources=tuple(_read_parallel(source, length)) if source.exists() else None,
    )


def read_human_systems(folder: Path, lp: str) -> SystemScores:
    """The human system scores (`*.sys.score`) of a language pair, by the names of their files."""
    scores = SystemScores(str(folder / "human-scores"))
    for path in _score_files(folder, lp, "sys"):
        table = read_score_file(path)
        for system, values in table.items():
            if len(values) != 1:
                raise InputError(f"{path}: has {len(values)} scores for system {system}; one is expected")
        scores.by_type[_score_name(path, lp)] = {
            system: values[0] for system, values in table.items() if not math.isnan(values[0])
        }
    return scores


def read_score_file(path: Path) -> dict[str, list[float]]:
    """The scores of every system in the order of the file; None becomes NaN."""
    scores: dict[str, list[float]] = {}
    for number, line in enumerate(LineReader(str(path)), start=1):
        place, fields = f"{path}, line {number}", line.split()
        if len(fields) != 2:
            raise InputError(f"{place}: has {len(fields)} fields; a system and its score are expected")
        system, text = fields
        value = math.nan if text == _MISSING else parse_number(text, place)
        scores.setdefault(system, []).append(value)
    return scores


def write_score_file(
    folder: Path,
    lp: str,
    metric: str,
    references: Sequence[str],
    scores: Mapping[str, Sequence[float]],
    *,
    level: Literal["seg", "sys"] = "seg",
) -> Path:
    """Write scores (system -> one per segment, or one for `sys`) where mt-metrics-eval looks for them.

    `references` names the references used: none for a metric without, ["all"] for all of them. A metric's
    file may not have gaps, so NaN is an `InputError`.
    """
    for name in (lp, metric, *references):
        if not re.fullmatch(r"[\w.,:=+-]+", name):
            raise InputError(f"{name!r} cannot be part of a file name")
    path = folder / "metric-scores" / lp / f"{metric}-{'.'.join(references) or 'src'}.{level}.score"
    for system, values in scores.items():
        gaps = np.flatnonzero(~np.isfinite(values))
        if len(gaps):
            raise InputError(
                f"{path}: system {system} has no score for {level} {gaps[0] + 1}; every {level} needs one"
            )
    lines = [f"{system}\t{float(value)!r}\n" for system, values in scores.items() for value in values]
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, "".join(lines))
    return path


def _read_references(folder: Path, lp: str) -> dict[str, list[str]]:
    paths = sorted((folder / "references").glob(f"{lp}.*.txt"))
    if not paths:
        raise InputError(f"{folder}: no references for {lp}")
    references = {
        path.name.removeprefix(f"{lp}.").removesuffix(".txt"): read_lines(str(path)) for path in paths
    }
    lengths = {name: len(lines) for name, lines in references.items()}
    if len(set(lengths.values())) > 1:
        raise InputError(f"{folder}: references of {lp} differ in length: {lengths}")
    return references


def _read_parallel(path: Path, length: int) -> list[str]:
    lines = read_lines(str(path))
    if len(lines) != length:
        raise InputError(f"{path}: {len(lines)} lines, but the references have {length}")
    return lines


def _score_files(folder: Path, lp: str, level: str) -> list[Path]:
    return sorted((folder / "human-scores").glob(f"{lp}.*.{level}.score"))


def _score_name(path: Path, lp: str) -> str:
    return path.name.removeprefix(f"{lp}.").removesuffix(".score").rpartition(".")[0]


def _chosen_score(folder: Path, lp: str, level: str, wish: str | None) -> Path | None:
    paths = {_score_name(path, lp): path for path in _score_files(folder, lp, level)}
    if wish is not None:
        if wish not in paths:
            raise UsageError(
                f"{folder}: no {level} scores {wish!r} for {lp}; there are: {', '.join(paths) or 'none'}"
            )
        return paths[wish]
    names = [name for name in SCORE_NAMES if name in paths] or list(paths)
    return paths[names[0]] if names else None


def _score_table(path: Path, systems: tuple[str, ...], length: int) -> FloatTable:
    scores = read_score_file(path)
    table = np.full((len(systems), length), math.nan)
    for place, system in enumerate(systems):
        values = scores.get(system)
        if values is None:
            continue
        if len(values) != length:
            raise InputError(
                f"{path}: {len(values)} scores for system {system}, but there are {length} segments"
            )
        table[place] = values
    return table
