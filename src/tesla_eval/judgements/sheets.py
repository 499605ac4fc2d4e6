"""Judging rounds: blind, shuffled sheets for judges, the key that undoes the shuffling, and reading filled sheets."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from tesla_eval.base.errors import InputError, UsageError
from tesla_eval.base.files import write_text
from tesla_eval.texts.lines import LineReader, read_headed_rows

RANKING, RATING = "ranking", "rating"
CRITERIA = ("adequacy", "fluency", "dissimilarity", "overall")
RANK = "rank"
HIGHEST = 5
"""The best rating, and the largest number of outputs in a ranking."""
_FORMAT = "tesla-judging 1"
_TEXT_COLUMNS = ("source", "reference", "output")
_KEY_COLUMNS = ("sheet", "task", "place")
_NAME = re.compile(r"[\w.@+-]{1,60}")
_Thing = TypeVar("_Thing")


@dataclass(frozen=True)
class Material:
    """What is judged: for each item its outputs by system, and what judges see beside them."""

    outputs: Mapping[str, Sequence[str]]
    """System to one output per item."""
    references: Sequence[str] | None = None
    sources: Sequence[str] | None = None

    def __post_init__(self) -> None:
        if not self.outputs:
            raise UsageError("a judging round needs at least one system")
        lengths = {name: len(lines) for name, lines in self.outputs.items()}
        for name, texts in (("the reference", self.references), ("the source", self.sources)):
            if texts is not None:
                lengths[name] = len(texts)
        if len(set(lengths.values())) > 1:
            shown = ", ".join(f"{name} {length}" for name, length in lengths.items())
            raise InputError(f"the files differ in length: {shown} lines")

    @property
    def items(self) -> int:
        """How many items there are."""
        return len(next(iter(self.outputs.values())))


@dataclass(frozen=True)
class Plan:
    """How a round is made. The same plan and material give the same sheets."""

    judges: tuple[str, ...]
    kind: str = RANKING
    criteria: tuple[str, ...] = ("adequacy", "fluency")
    items: int | None = None
    """How many items are drawn; None: all."""
    judges_per_item: int | None = None
    """How many of the judges see an item; None: all of them."""
    outputs_per_task: int | None = None
    """How many outputs a task shows; None: up to five for rankings, one for ratings."""
    repeated: float = 0.1
    """The share of each judge's tasks that are shown a second time, to measure self-agreement."""
    seed: int = 0
    lp: str = "-"
    testset: str = "judging"

    def __post_init__(self) -> None:
        if self.kind not in (RANKING, RATING):
            raise UsageError(f"kind {self.kind!r}: must be {RANKING} or {RATING}")
        if not self.judges or len(set(self.judges)) != len(self.judges):
            raise UsageError("name at least one judge, each once")
        for name in self.judges:
            if not _NAME.fullmatch(name):
                raise UsageError(f"judge {name!r}: use letters, digits and . @ + - _ only, up to 60 of them")
        unknown = [name for name in self.criteria if name not in CRITERIA]
        if self.kind == RATING and (
            unknown or not self.criteria or len(set(self.criteria)) != len(self.criteria)
        ):
            raise UsageError(
                f"criteria: choose from {', '.join(CRITERIA)}, each once; got {', '.join(self.criteria)}"
            )
        if not 0 <= self.repeated <= 1:
            raise UsageError(f"repeated: must be a share from 0 to 1, got {self.repeated:g}")
        if self.judges_per_item is not None and not 1 <= self.judges_per_item <= len(self.judges):
            raise UsageError(f"judges per item: must be from 1 to the number of judges, {len(self.judges)}")
        low = 2 if self.kind == RANKING else 1
        if not low <= self.shown <= HIGHEST:
            raise UsageError(f"outputs per task: must be from {low} to {HIGHEST}, got {self.shown}")
        for name in (self.lp, self.testset):
            if not name or "\t" in name or "\n" in name:
                raise UsageError(f"{name!r} cannot be the name of a language pair or test set")

    @property
    def shown(self) -> int:
        """How many outputs a task shows at most."""
        return self.outputs_per_task or (HIGHEST if self.kind == RANKING else 1)

    @property
    def fields(self) -> tuple[str, ...]:
        """The columns that judges fill in."""
        return (RANK,) if self.kind == RANKING else self.criteria


@dataclass(frozen=True)
class Task:
    """One item with outputs in the order in which a judge sees them; each output may come from several systems."""

    item: int
    systems: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Sheet:
    """What one judge gets: an id that says nothing, and tasks in their order."""

    id: str
    judge: str
    tasks: tuple[Task, ...]


@dataclass(frozen=True)
class JudgingKey:
    """Who judged what, in which order: what turns filled sheets into judgements of systems."""

    kind: str
    fields: tuple[str, ...]
    lp: str
    testset: str
    sheets: tuple[Sheet, ...]


def make_round(material: Material, plan: Plan) -> JudgingKey:
    """Draw items and outputs, share them among the judges and shuffle them.

    Systems with the same output for an item are shown once. All judges of an item compare the same outputs.

    >>> material = Material({"a": ["one", "two"], "b": ["uno", "two"]})
    >>> key = make_round(material, Plan(("ann",), repeated=0))
    >>> [(task.item, sorted(task.systems)) for task in key.sheets[0].tasks]
    [(0, [('a',), ('b',)])]
    """
    drawn = sorted(_shuffled(range(material.items), f"{plan.seed}/items")[: plan.items])
    tasks = [task for item in drawn for task in _tasks_of(item, material, plan)]
    if not tasks:
        raise UsageError("there is nothing to judge: in every item all systems have the same output")
    items = list(dict.fromkeys(task.item for task in tasks))
    wanted = plan.judges_per_item or len(plan.judges)
    turn = {item: place for place, item in enumerate(items)}
    sheets = []
    for number, judge in enumerate(plan.judges):
        own = [
            task for task in tasks if (number - turn[task.item] * wanted) % len(plan.judges) < wanted
        ]  # item k goes to the judges k * wanted, k * wanted + 1, … in turn
        salt = f"{plan.seed}/{judge}"
        sheets.append(Sheet(_digest(salt, "sheet")[:12], judge, tuple(_ordered(own, plan, salt))))
    return JudgingKey(plan.kind, plan.fields, plan.lp, plan.testset, tuple(sheets))


def _digest(*parts: object) -> str:
    return hashlib.sha256("\n".join(map(str, parts)).encode()).hexdigest()


def _shuffled(things: Sequence[_Thing], salt: str) -> list[_Thing]:
    """An order that depends on the salt alone, on every machine and in every version of Python."""
    places = sorted(range(len(things)), key=lambda k: _digest(salt, k))
    return [things[k] for k in places]


def _tasks_of(item: int, material: Material, plan: Plan) -> Iterator[Task]:
    by_text: dict[str, list[str]] = {}
    for system in sorted(material.outputs):
        by_text.setdefault(" ".join(material.outputs[system][item].split()), []).append(system)
    groups = _shuffled([tuple(systems) for systems in by_text.values()], f"{plan.seed}/outputs/{item}")
    if plan.kind == RANKING:
        if len(groups) > 1:
            yield Task(item, tuple(groups[: plan.shown]))
        return
    for start in range(0, len(groups), plan.shown):
        yield Task(item, tuple(groups[start : start + plan.shown]))


def _ordered(tasks: Sequence[Task], plan: Plan, salt: str) -> Iterator[Task]:
    """A judge's tasks: shuffled, outputs shuffled anew in each, repeats after all others in an order of their own."""
    first = _shuffled(tasks, f"{salt}/tasks")
    again = _shuffled(first, f"{salt}/again")[: math.floor(plan.repeated * len(first) + 0.5)]
    for number, task in enumerate([*first, *again]):
        yield Task(task.item, tuple(_shuffled(task.systems, f"{salt}/{number}")))


def sheet_lines(sheet: Sheet, key: JudgingKey, material: Material) -> Iterator[str]:
    """The sheet as a table with empty columns to fill in, one row per output."""
    shown = [name for name in _TEXT_COLUMNS if name == "output" or _texts(material, name) is not None]
    yield "\t".join([*_KEY_COLUMNS, *shown, *key.fields])
    for number, task in enumerate(sheet.tasks, start=1):
        for place in range(1, len(task.systems) + 1):
            cells = [cell(text_of(material, name, task, place)) for name in shown]
            yield "\t".join([sheet.id, str(number), str(place), *cells, *[""] * len(key.fields)])


def text_of(material: Material, column: str, task: Task, place: int) -> str:
    """What a task shows: its source, its reference, or an output."""
    if column == "output":
        return material.outputs[task.systems[place - 1][0]][task.item]
    texts = _texts(material, column)
    return texts[task.item] if texts is not None else ""


def _texts(material: Material, column: str) -> Sequence[str] | None:
    return material.sources if column == "source" else material.references


def cell(text: str, quote: str = "'") -> str:
    """A text as a cell: `quote` before it keeps spreadsheets from taking it for a formula.

    >>> cell("=1+1"), cell("=1+1", " "), cell("one  and\tone")
    ("'=1+1", ' =1+1', 'one and one')
    """
    plain = " ".join(text.split())
    return quote + plain if plain.startswith(("=", "+", "-", "@")) else plain


def write_key(path: Path, key: JudgingKey) -> None:
    """Write the key as JSON; judges must not see it."""
    plain = {"format": _FORMAT, **asdict(key)}
    write_text(path, json.dumps(plain, ensure_ascii=False, indent=1) + "\n")


def read_key(path: str) -> JudgingKey:
    """The key of a round; a file of another kind is an `InputError`."""
    try:
        plain = json.loads("\n".join(LineReader(path)))
        if not isinstance(plain, dict) or plain.pop("format", None) != _FORMAT:
            raise ValueError
        return _key_of(plain)
    except (ValueError, KeyError, TypeError, RecursionError):
        raise InputError(
            f"{path}: is not the key of a judging round (key.json of `tesla judge make`)"
        ) from None


def _key_of(plain: Mapping[str, Any]) -> JudgingKey:
    sheets = tuple(
        Sheet(
            _text(sheet["id"]),
            _text(sheet["judge"]),
            tuple(
                Task(int(task["item"]), tuple(tuple(map(_text, group)) for group in task["systems"]))
                for task in sheet["tasks"]
            ),
        )
        for sheet in plain["sheets"]
    )
    key = JudgingKey(
        plain["kind"], tuple(map(_text, plain["fields"])), _text(plain["lp"]), _text(plain["testset"]), sheets
    )
    ids = {sheet.id for sheet in sheets}
    if key.kind not in (RANKING, RATING) or len(ids) != len(sheets) or not key.fields:
        raise ValueError
    return key


def _text(value: object) -> str:
    if not isinstance(value, str) or "\t" in value or "\n" in value:
        raise ValueError
    return value


@dataclass(frozen=True)
class Verdict:
    """One value of one judge for one system's output; `task` is unlike that of every other task."""

    item: str
    task: str
    judge: str
    system: str
    field: str
    value: int


@dataclass
class FilledSheets:
    """The judgements of a round, and what is missing from it."""

    verdicts: list[Verdict] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    """Where a value is missing: sheet, task and place, in the words of a message."""


def read_filled(key: JudgingKey, paths: Sequence[str], *, partial: bool = False) -> FilledSheets:
    """The judgements in filled sheets, with the systems that the key names.

    Every task of every sheet of the key must be filled in; with `partial` tasks with gaps are left out instead, and
    listed in `missing`. Columns with texts are not read: only the key says what was judged.
    """
    sheets = {sheet.id: sheet for sheet in key.sheets}
    values: dict[tuple[str, int, int], dict[str, int]] = {}
    for path in paths:
        for where, row in read_headed_rows(path, [*_KEY_COLUMNS, *key.fields], _TEXT_COLUMNS):
            place = _placed(row, sheets, where)
            if place in values:
                raise InputError(f"{where}: a second row of task {place[1]}, output {place[2]}")
            values[place] = {
                name: _value(row[name].strip(), name, where) for name in key.fields if row[name].strip()
            }
    filled = FilledSheets()
    for sheet in key.sheets:
        for number, task in enumerate(sheet.tasks, start=1):
            _add_task(filled, key, sheet, number, task, values)
    if filled.missing and not partial:
        first = "; ".join(filled.missing[:3])
        more = f" and {len(filled.missing) - 3} more" if len(filled.missing) > 3 else ""
        raise InputError(f"the sheets are not complete: {first}{more}. Use --partial to leave such tasks out")
    return filled


def _placed(row: Mapping[str, str], sheets: Mapping[str, Sheet], where: str) -> tuple[str, int, int]:
    sheet = sheets.get(row["sheet"])
    if sheet is None:
        raise InputError(f"{where}: sheet {row['sheet']!r} is not of this round")
    task, place = (_whole(row[name]) for name in ("task", "place"))
    if not (1 <= task <= len(sheet.tasks) and 1 <= place <= len(sheet.tasks[task - 1].systems)):
        raise InputError(
            f"{where}: sheet {sheet.id} has no task {row['task']!r} with an output {row['place']!r}"
        )
    return sheet.id, task, place


def _whole(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0


def _value(text: str, name: str, where: str) -> int:
    value = _whole(text)
    if not 1 <= value <= HIGHEST:
        raise InputError(f"{where}: {name} {text!r} is not a whole number from 1 to {HIGHEST}")
    return value


def _add_task(
    filled: FilledSheets, key: JudgingKey, sheet: Sheet, number: int, task: Task,
    values: Mapping[tuple[str, int, int], Mapping[str, int]],
) -> None:  # fmt: skip
    rows = [values.get((sheet.id, number, place), {}) for place in range(1, len(task.systems) + 1)]
    gaps = [
        f"judge {sheet.judge}, task {number}, output {place} has no {name}"
        for place, row in enumerate(rows, start=1)
        for name in key.fields
        if name not in row
    ]
    filled.missing += gaps
    if gaps:
        return
    filled.verdicts += [
        Verdict(str(task.item + 1), f"{sheet.judge}-{number}", sheet.judge, system, name, row[name])
        for systems, row in zip(task.systems, rows, strict=True)
        for system in systems
        for name in key.fields
    ]
