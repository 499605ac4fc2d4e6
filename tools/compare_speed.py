"""Compare the speed of two checkouts: the same cold WMT14 texts, CPU time, runs that take turns.

python tools/compare_speed.py OLD/.venv/bin/python NEW/.venv/bin/python m x s m:one-by-one [--rounds 7]
python tools/compare_speed.py OLD/.venv/bin/python NEW/.venv/bin/python command:score command:meta import [--rounds 15]

    METRIC               a corpus of 5,000 segments, without the time to load the metric
    METRIC:one-by-one    the same segments, one call for each
    command:NAME         a whole process of `tesla score`, `compare`, `report` or `meta`, from start to end
    command:NAME:m,bleu  the same with these metrics
    import               a process that imports the package
    import:NAME          a process that imports a public name, such as create_metric

A ratio is measured within a round. For metrics it is old / new (above 1: the new checkout is faster), for processes
new / old (above 1: the new checkout needs more time). Every process starts with an empty score cache.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.common import SHARED_DATA, ratio, rounds_of, wmt14_pairs

ONE_BY_ONE = "one-by-one"
PAIRS = 5_000
METRIC_ROUNDS, PROCESS_ROUNDS = 7, 15
IMPORTS = 10  # processes of one measurement: one alone takes little more than the interpreter
LANGUAGE_PAIR = "cs-en"  # of the systems
JUDGED_PAIRS = ("cs-en", "fr-en")
SYSTEMS = 3
SEGMENTS = 3_000
REPORTED_SEGMENTS = 150  # a report explains every segment
SCORE = """
import json, sys, time
from tesla_eval import create_metric
name, way = sys.argv[1:3]
pairs = json.load(sys.stdin)
metric = create_metric(name, "en")
metric.sentence_score("Resources load.", ["Resources are loaded."])
start = time.process_time()
if way:
    scores = [metric.sentence_score(h, [r]).score for h, r in pairs]
else:
    metric.corpus_score([h for h, _ in pairs], [[r for _, r in pairs]])
print(time.process_time() - start)
"""
STEMS = ("reference", *(f"system-{place}" for place in range(SYSTEMS)))
OUTPUTS = ("-l", "en", "-r", *(f"{stem}.txt" for stem in STEMS))
FEW_OUTPUTS = ("-l", "en", "-r", *(f"{stem}-few.txt" for stem in STEMS))
COMMANDS = {
    "score": ("score", "-m", "m,x", *OUTPUTS, "--json", "--segments"),
    "compare": ("compare", "-m", "m,x,bleu", *OUTPUTS),
    "report": ("report", "-m", "m,x", *FEW_OUTPUTS, "-o", "report.html"),
    "meta": ("meta", "-l", "en", "-m", "m,x", "--segments", "judged.seg.tsv", "--pairs", "judged.pairs.tsv"),
}


def write_texts(folder: Path) -> None:
    """WMT14 texts as the commands read them: a reference and systems, and judged segments."""
    wmt = SHARED_DATA / "wmt"
    rows = _rows(wmt / "wmt14-rr.seg.tsv.gz")
    _write(folder / "judged.seg.tsv", rows)
    _write(folder / "judged.pairs.tsv", _rows(wmt / "wmt14-rr.pairs.tsv.gz"))
    columns = [rows[0].index(name) for name in ("lp", "system", "hypothesis", "reference")]
    outputs: dict[str, list[tuple[str, str]]] = {}
    for lp, system, hypothesis, reference in ([row[column] for column in columns] for row in rows):
        if lp == LANGUAGE_PAIR:
            outputs.setdefault(system, []).append((hypothesis, reference))
    first, *others = sorted(outputs)[:SYSTEMS]
    texts = [[reference for _, reference in outputs[first]]]
    texts += [[hypothesis for hypothesis, _ in outputs[system]] for system in (first, *others)]
    for stem, lines in zip(STEMS, texts, strict=True):
        _write(folder / f"{stem}.txt", [[line] for line in lines[:SEGMENTS]])
        _write(folder / f"{stem}-few.txt", [[line] for line in lines[:REPORTED_SEGMENTS]])


def _rows(path: Path) -> list[list[str]]:
    """The head of a table, and the rows of the language pairs that are judged."""
    if not path.exists():
        raise SystemExit(f"{path} is needed for this benchmark")
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as lines:
        rows = [line.rstrip("\n").split("\t") for line in lines]
    return [rows[0], *(row for row in rows[1:] if row[0] in JUDGED_PAIRS)]


def _write(path: Path, rows: list[list[str]]) -> None:
    path.write_text("".join("\t".join(row) + "\n" for row in rows), "utf-8", newline="\n")


def process_seconds(command: list[str], folder: Path) -> float:
    """CPU time, of the user and of the system, of a process and its children; its score cache is empty."""
    cache = tempfile.mkdtemp(dir=folder)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run = subprocess.run(
        command, cwd=folder, check=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, text=True,
        env={**os.environ, "TESLA_EVAL_CACHE": cache, "PYTHONDONTWRITEBYTECODE": ""},
    )  # fmt: skip
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if run.returncode:
        raise SystemExit(f"{' '.join(command)}: status {run.returncode}\n{run.stderr}")
    return (after.ru_utime - before.ru_utime) + (after.ru_stime - before.ru_stime)


def process_work(asked: str, folder: Path) -> Callable[[str], float]:
    """What measures a command or an import with an interpreter."""
    kind, _, name = asked.partition(":")
    if kind == "command":
        name, _, metrics = name.partition(":")
        arguments = ["-m", "tesla_eval.cli", *COMMANDS[name]]
        if metrics:
            arguments[arguments.index("-m", 2) + 1] = metrics
        return lambda python: process_seconds([python, *arguments], folder)
    program = f"from tesla_eval import {name}" if name else "import tesla_eval"
    return lambda python: sum(process_seconds([python, "-c", program], folder) for _ in range(IMPORTS))


def metric_work(asked: str, pairs: str) -> Callable[[str], float]:
    """What measures a metric with an interpreter."""
    name, _, way = asked.partition(":")

    def seconds(python: str) -> float:
        run = subprocess.run(
            [python, "-c", SCORE, name, way], input=pairs, capture_output=True, text=True, check=True
        )
        return float(run.stdout)

    return seconds


def compare_processes(work: Callable[[str], float], old: str, new: str, rounds: int) -> str:
    """The median and the range of new / old; each side goes first in every other round."""
    for python in (old, new):
        work(python)  # files and compiled modules are then in memory for both
    seconds: dict[str, list[float]] = {"old": [], "new": []}
    sides = [("old", old), ("new", new)]
    for _ in range(rounds):
        for side, python in sides:
            seconds[side].append(work(python))
        sides.reverse()
    ratios = sorted(y / x for x, y in zip(seconds["old"], seconds["new"], strict=True))
    medians = {side: statistics.median(values) for side, values in seconds.items()}
    return (
        f"{statistics.median(ratios):.3f} ({ratios[0]:.3f} to {ratios[-1]:.3f}) times the CPU time; "
        f"medians of {rounds}: old {medians['old']:.2f} s, new {medians['new']:.2f} s, "
        f"ratio {medians['new'] / medians['old']:.3f}"
    )


def is_process(asked: str) -> bool:
    """Whether a whole process is asked for, not a metric."""
    return asked.partition(":")[0] in ("command", "import")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("old", help="the interpreter of one checkout")
    parser.add_argument("new", help="that of the other")
    parser.add_argument("works", nargs="+", metavar="WORK", help="what to measure, as listed above")
    parser.add_argument(
        "--rounds", type=int, help=f"default: {METRIC_ROUNDS} for metrics, {PROCESS_ROUNDS} for processes"
    )
    options = parser.parse_args()
    for asked in options.works:
        kind, _, name = asked.partition(":")
        if kind == "command" and name.partition(":")[0] not in COMMANDS:
            parser.error(f"unknown command {name!r}; the commands are {', '.join(COMMANDS)}")
    pairs = "" if all(map(is_process, options.works)) else json.dumps(wmt14_pairs(PAIRS))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if any(map(is_process, options.works)):
            write_texts(folder)
        for asked in options.works:
            if is_process(asked):
                rounds = options.rounds or PROCESS_ROUNDS
                result = compare_processes(process_work(asked, folder), options.old, options.new, rounds)
            else:
                work = metric_work(asked, pairs)
                sides = {"old": options.old, "new": options.new}
                seconds = rounds_of(
                    {side: lambda python=python, work=work: work(python) for side, python in sides.items()},  # type: ignore[misc]
                    options.rounds or METRIC_ROUNDS,
                )
                result = f"{ratio(seconds['old'], seconds['new'])} times as fast"
            print(f"{asked}: {result}", flush=True)


if __name__ == "__main__":
    main()
