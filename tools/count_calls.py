"""Count the functions of the package that a command calls: how much code a reader must know to follow it.

python tools/count_calls.py                        # with the interpreter of the checkout that is measured
python tools/count_calls.py score report --list    # the functions by module, in the order of their first calls
python tools/count_calls.py --run compare -r ref.txt a.txt b.txt     # any other command

A function is a `def` of the package's Python code that runs at least once from start to end of the process, imports
included. Bodies of modules and classes, lambdas, comprehensions and generated methods (dataclasses) are not counted.
The commands read the small texts in examples/ and identify the language themselves; each has a process of its own.

Two more columns show repeated work. "texts prepared" counts the texts that the core tokenises, tags and lemmatises;
texts that are kept from an earlier call are not counted again. "explanations" counts the calls of a metric's `explain`,
without those that another `explain` makes. "30 of 15" means 30 times for 15 different texts, or for 15 different
combinations of metric and texts. The columns do not see the characters of CELAB or the words of sacreBLEU.

At commit 304b81c, with Python 3.11:

    command   functions  modules  texts prepared              explanations
    score           312       44  15 of 15, at most 1 each    0
    meta            302       46  30 of 20, at most 3 each    0
    explain         280       41  2 of 2, at most 1 each      1 of 1, at most 1 each
    report          424       61  30 of 15, at most 2 each    32 of 20, at most 3 each
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import inspect
import io
import json
import os
import runpy
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator
from itertools import combinations, groupby
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
SYSTEMS = ("system-a", "system-b")


class Tracer:
    """What a run calls: the functions in the order of their first calls, the texts, the explanations."""

    def __init__(self, package: Path) -> None:
        self._inside = f"{package}{os.sep}"
        self._codes: dict[CodeType, bool] = {}
        self.functions: list[CodeType] = []
        self.prepared: Counter[str] = Counter()
        self.explained: Counter[tuple[Any, ...]] = Counter()
        self.measures_texts = False

    def __call__(self, frame: FrameType, event: str, argument: object) -> None:
        """For `sys.setprofile`."""
        if event != "call":
            return
        code = frame.f_code
        if code not in self._codes:
            self._codes[code] = code.co_filename.startswith(self._inside) and is_function(code)
            if self._codes[code]:
                self.functions.append(code)
                if not self.measures_texts:
                    self._watch_core()
        if self._codes[code] and code.co_name == "explain":
            self._count_explanation(frame)

    def _count_explanation(self, frame: FrameType) -> None:
        """Count a call of a metric's `explain`, unless it is a part of another one."""
        metric = frame.f_locals.get("self")
        if not is_metric(metric):
            return
        caller = frame.f_back
        while caller is not None:
            if caller.f_code.co_name == "explain" and is_metric(caller.f_locals.get("self")):
                return
            caller = caller.f_back
        names = frame.f_code.co_varnames[1 : frame.f_code.co_argcount]
        self.explained[(str(metric), *(repr(frame.f_locals.get(name)) for name in names))] += 1

    def _watch_core(self) -> None:
        """Count the texts that reach the core's analysis, once the run itself has imported it.

        A core without this method is no error: the texts are not measured.
        """
        analyser_class = getattr(sys.modules.get("tesla_eval._core"), "Analyser", None)
        if analyser_class is None:
            return
        analyse = analyser_class.analyse

        def counting(analyser: Any, groups: Any, *others: Any) -> Any:
            for texts in groups:
                self.prepared.update(texts)
            return analyse(analyser, groups, *others)

        analyser_class.analyse = counting
        self.measures_texts = True


def is_function(code: CodeType) -> bool:
    """Whether it is the body of a `def`: not a module, a class, a lambda or a comprehension."""
    return not code.co_name.startswith("<") and bool(code.co_flags & inspect.CO_OPTIMIZED)


def is_metric(value: object) -> bool:
    """Whether it is a metric of ours; nothing is imported for the answer."""
    return any(base.__name__ == "Metric" for base in type(value).__mro__)


def trace(arguments: list[str]) -> dict[str, Any]:
    """Run `tesla` with these arguments in this process."""
    spec = importlib.util.find_spec("tesla_eval")
    assert spec is not None
    assert spec.origin is not None
    package = Path(spec.origin).parent
    tracer = Tracer(package)
    sys.argv = ["tesla", *arguments]
    status: object = 0
    threading.setprofile(tracer)
    with contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO(), "utf-8")):
        sys.setprofile(tracer)
        try:
            runpy.run_module("tesla_eval.cli", run_name="__main__", alter_sys=True)
        except SystemExit as end:
            status = end.code
        finally:
            sys.setprofile(None)
    if status:
        raise SystemExit(f"tesla {' '.join(arguments)} ended with status {status}")
    return {
        "functions": [
            (
                Path(code.co_filename).relative_to(package).as_posix(),
                getattr(code, "co_qualname", code.co_name),  # co_qualname is new in Python 3.11
                code.co_firstlineno,
            )
            for code in tracer.functions
        ],
        "prepared": dict(tracer.prepared) if tracer.measures_texts else None,
        "explained": {" ".join(key): count for key, count in tracer.explained.items()},
    }


def lines_of(name: str) -> list[str]:
    """The lines of one of the example files."""
    return (EXAMPLES / f"{name}.txt").read_text("utf-8").splitlines()


def write_judgements(folder: Path) -> None:
    """Invented judgements of the example systems and of a third one, in the formats of `tesla meta`."""
    references = lines_of("reference")
    outputs = {name: lines_of(name) for name in SYSTEMS}
    outputs["system-c"] = [text[: len(text) // 2] for text in outputs["system-a"]]
    human = {"system-a": [5, 3, 4, 4, 2], "system-b": [2, 3, 2, 2, 3], "system-c": [1, 2, 1, 1, 1]}
    segments = [("lp", "testset", "system", "seg_id", "human_score", "hypothesis", "reference")]
    pairs = [("lp", "testset", "seg_id", "system_better", "system_worse")]
    systems = [("lp", "testset", "system", "human_system_score", "score_type", "n_judgements")]
    for place, reference in enumerate(references):
        number = str(place + 1)
        segments += [
            ("de-en", "example", name, number, str(human[name][place]), texts[place], reference)
            for name, texts in outputs.items()
        ]
        pairs += [
            ("de-en", "example", number, *sorted(both, key=lambda name: -human[name][place]))
            for both in combinations(outputs, 2)
        ]
    systems += [
        ("de-en", "example", name, str(sum(scores)), "da_z", str(len(scores)))
        for name, scores in human.items()
    ]
    for stem, rows in (("segments", segments), ("pairs", pairs), ("systems", systems)):
        (folder / f"{stem}.tsv").write_text("".join("\t".join(row) + "\n" for row in rows), "utf-8")


def commands(folder: Path) -> dict[str, list[str]]:
    """The commands that are measured, with files in `folder`."""
    systems = ["-r", str(EXAMPLES / "reference.txt"), *(str(EXAMPLES / f"{name}.txt") for name in SYSTEMS)]
    judgements = [
        part
        for name in ("segments", "pairs", "systems")
        for part in (f"--{name}", str(folder / f"{name}.tsv"))
    ]
    return {
        "score": ["score", "-m", "m,x", *systems],
        "meta": ["meta", "-m", "m,chrf", *judgements],
        "explain": ["explain", "-m", "x", lines_of(SYSTEMS[1])[1], lines_of("reference")[1]],
        "report": ["report", *systems, "-o", str(folder / "report.html")],
    }


def measure(arguments: list[str], folder: Path) -> dict[str, Any]:
    """Trace a command in a process of its own, with an empty cache."""
    result = folder / "result.json"
    run = subprocess.run(
        [sys.executable, __file__, "--trace", str(result), "--", *arguments],
        check=False, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "TESLA_EVAL_CACHE": tempfile.mkdtemp(dir=folder)},
    )  # fmt: skip
    if run.returncode:
        raise SystemExit(run.stderr)
    traced: dict[str, Any] = json.loads(result.read_text("utf-8"))
    return traced


def repeats(counts: dict[str, int] | None) -> str:
    """How often something was done, and to how many different things."""
    if counts is None:
        return "not measured"
    if not counts:
        return "0"
    return f"{sum(counts.values())} of {len(counts)}, at most {max(counts.values())} each"


def by_module(functions: list[list[Any]]) -> Iterator[str]:
    """The functions in the order of their first calls, under the module that each is in."""
    for module, of_module in groupby(functions, key=lambda function: function[0]):
        yield f"  {module}"
        yield from (f"    {line:5} {name}" for _, name, line in of_module)


def main() -> None:
    if sys.argv[1:2] == ["--trace"]:
        Path(sys.argv[2]).write_text(json.dumps(trace(sys.argv[4:])), "utf-8")
        return
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("commands", nargs="*", help="of score, meta, explain and report; by default all")
    parser.add_argument(
        "--run", nargs=argparse.REMAINDER, help="trace `tesla` with the arguments that follow"
    )
    parser.add_argument(
        "--list", action="store_true", help="list the functions, in the order of their first calls"
    )
    parser.add_argument(
        "--repeated", action="store_true", help="list what was prepared or explained repeatedly"
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_judgements(folder)
        known = {options.run[0]: options.run} if options.run else commands(folder)
        if unknown := set(options.commands) - set(known):
            parser.error(f"unknown command {min(unknown)!r}; the commands are {', '.join(known)}")
        print(f"{'command':8}  {'functions':>9}  {'modules':>7}  {'texts prepared':26}  explanations")
        for command, arguments in known.items():
            if options.commands and command not in options.commands:
                continue
            traced = measure(arguments, folder)
            functions = traced["functions"]
            modules = len({module for module, _, _ in functions})
            prepared, explained = repeats(traced["prepared"]), repeats(traced["explained"])
            print(f"{command:8}  {len(functions):9}  {modules:7}  {prepared:26}  {explained}", flush=True)
            if options.repeated:
                for kind in ("prepared", "explained"):
                    for what, count in (traced[kind] or {}).items():
                        if count > 1:
                            print(f"  {kind} {count} times: {what}")
            if options.list:
                print(*by_module(functions), sep="\n")


if __name__ == "__main__":
    main()
