"""`tesla selftest`: whether this machine computes what this version should."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click
import numpy as np

from tesla_eval.base.records import Signature
from tesla_eval.base.version import __version__
from tesla_eval.cli.shared.plugged import plugged
from tesla_eval.matching.vectors import KERNELS
from tesla_eval.metrics import create_metric
from tesla_eval.metrics.baselines.bleu import SacreBleuSignature

SELFTESTS = "tesla_eval.selftests"
"""The group of entry points under which other packages add stored scores that are exact up to a tolerance."""
_FORCES_KERNEL = "TESLA_EVAL_KERNEL"


@click.command()
@click.option(
    "--print-scores", is_flag=True, help="Print the cases with the scores of this machine, as JSON."
)
def selftest(print_scores: bool) -> None:
    """Recompute stored scores: the same version gives the same bits on every machine.

    They are computed once for each kind of instructions that this processor has. TESLA_EVAL_KERNEL=NAME takes one kind.

    \b
    tesla selftest
    tesla selftest --print-scores > here.json
    """
    cases: list[dict[str, Any]] = json.loads(Path(__file__).with_name("selftest.json").read_text("utf-8"))
    wrong = 0
    for case in cases:
        score, signature = _score(case)
        if print_scores:
            case.update(signature=signature, score=score.hex())
        elif score.hex() != case["score"] or signature != case["signature"]:
            wrong += 1
            click.echo(
                f"{case['metric']} {case['lang']}: {score.hex()} ({score!r}, {signature}), "
                f"stored {case['score']} ({case['signature']})",
                err=True,
            )
    plugged = [] if print_scores else list(_plugged_selftests())
    if print_scores:
        click.echo(json.dumps(cases, ensure_ascii=False, indent=1))
    elif wrong:
        click.echo(f"{wrong} of {len(cases)} stored scores differ: was a dependency changed?", err=True)
        raise click.exceptions.Exit(1)
    else:
        click.echo(f"tesla-eval {__version__}: all {len(cases)} stored scores agree to the last bit")
    others = [] if print_scores or _FORCES_KERNEL in os.environ else list(_other_kernels())
    for agrees, line in (*plugged, *others):
        click.echo(line, err=not agrees)
    if not all(agrees for agrees, _ in (*plugged, *others)):
        raise click.exceptions.Exit(1)


def _other_kernels() -> Iterator[tuple[bool, str]]:
    """The same in processes with other kernels; the last one has none of NumPy's for newer processors either."""
    kernels = KERNELS[1:] or KERNELS
    for kernel in kernels:
        environment = {**os.environ, _FORCES_KERNEL: kernel}
        if kernel == kernels[-1]:
            environment["NPY_DISABLE_CPU_FEATURES"] = " ".join(_numpy_features())
        run = subprocess.run(
            [sys.executable, "-m", "tesla_eval.cli", "selftest"],
            env=environment, capture_output=True, text=True, encoding="utf-8", check=False,
        )  # fmt: skip
        told = run.stderr.strip() if run.returncode else "the same scores"
        yield run.returncode == 0, f"kernel {kernel}: {told}"


def _numpy_features() -> list[str]:
    """The instructions that NumPy uses only where a processor has them, of those that this one has."""
    module = sys.modules.get("numpy._core._multiarray_umath") or sys.modules["numpy.core._multiarray_umath"]
    present: Mapping[str, bool] = vars(module)["__cpu_features__"]
    return [name for name in vars(module)["__cpu_dispatch__"] if present.get(name)]


def _score(case: Mapping[str, Any]) -> tuple[float, str]:
    """The score of this machine, and its signature."""
    metric = create_metric(case["metric"], case["lang"], **case.get("options", {}))
    score = metric.sentence_score(case["hypothesis"], case["references"], case.get("source")).score
    signature: Signature = metric.get_signature()
    if isinstance(signature, SacreBleuSignature):  # its version is not ours
        signature = Signature({key: value for key, value in signature.items() if key != "version"})
    return score, str(signature)


def _plugged_selftests() -> Iterator[tuple[bool, str]]:
    """The stored scores of other packages: a function of the entry-point group gives cases and a tolerance."""
    for package, point in plugged(SELFTESTS):
        try:
            cases, tolerance = point.load()()
            distances = [abs(_score(case)[0] - case["score"]) for case in cases]
        except Exception as error:  # whatever is wrong with another package must not hide what the others say
            yield False, f"{package}: its self-test failed ({type(error).__name__}: {error})"
            continue
        furthest = float(np.max(distances, initial=0.0))  # NaN if one of them is, which agrees with nothing
        agrees = furthest <= tolerance
        verdict = "agree" if agrees else "do not all agree"
        precision = f"within {tolerance:g}" if tolerance else "to the last bit"
        yield (
            agrees,
            f"{package}: {len(cases)} stored scores {verdict} {precision} (the furthest by {furthest:.2g})",
        )
