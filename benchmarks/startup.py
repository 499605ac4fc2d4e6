"""What a fresh process costs before its first score, beside sacreBLEU's; the scores of ten lines, beside `sacrebleu`.

python -m benchmarks startup

Run it in an environment with the wheel (and with PYTHONPATH=. for the benchmark itself): an editable install is slower.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median

from benchmarks.common import wmt14_pairs

LINES = 10
ROUNDS = 9
# The binary logarithm of the cycles that an idle thread of NumPy's linear algebra waits busily.
TIMEOUT = "OPENBLAS_THREAD_TIMEOUT"
PRODUCTS = """
import numpy, time
matrix = numpy.ones((256, 256))
start = time.perf_counter()
for _ in range(400):
    (matrix @ matrix).sum()
print(time.perf_counter() - start)
"""


def main() -> None:
    pairs = wmt14_pairs(LINES)
    with tempfile.TemporaryDirectory() as folder:
        hypothesis, reference = (Path(folder) / name for name in ("hypothesis.txt", "reference.txt"))
        hypothesis.write_text("".join(f"{pair[0]}\n" for pair in pairs), encoding="utf-8")
        reference.write_text("".join(f"{pair[1]}\n" for pair in pairs), encoding="utf-8")
        files = str(reference), str(hypothesis)
        score = ("-m", "tesla_eval.cli", "score", "-l", "en", "-r", *files)
        commands = {
            "import numpy": ("-c", "import numpy"),
            "sacreBLEU's BLEU()": ("-c", "from sacrebleu.metrics import BLEU; BLEU()"),
            "TeslaM()": ("-c", "from tesla_eval import TeslaM; TeslaM()"),
            "sacrebleu, ten lines": ("-m", "sacrebleu", files[0], "-i", files[1]),
            "tesla score -m m, ten lines": (*score, "-m", "m"),
            "tesla score -m m,x, ten lines": score,
        }
        found = _interleaved({name: partial(_cpu_of_process, command) for name, command in commands.items()})
    for name, times in found.items():
        print(
            f"{name:32} {median(times):.3f} s of CPU time ({min(times):.3f} to {max(times):.3f} in {ROUNDS} runs)"
        )
    for ours, theirs in (
        ("TeslaM()", "sacreBLEU's BLEU()"),
        ("tesla score -m m, ten lines", "sacrebleu, ten lines"),
    ):
        ratios = [own / other for own, other in zip(found[ours], found[theirs], strict=True)]
        print(f"{ours} costs {median(ratios):.2f} times what {theirs} costs")
    products = _interleaved({waits: partial(_elapsed_of_products, waits) for waits in ("26", "20")})
    ratios = [ours / usual for usual, ours in zip(products["26"], products["20"], strict=True)]
    print(
        f"matrix products where NumPy's threads wait 2^20 cycles, not 2^26, take {median(ratios):.2f} times as long "
        f"({min(ratios):.2f} to {max(ratios):.2f})"
    )


def _interleaved(works: dict[str, Callable[[], float]]) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(ROUNDS):
        for name, work in works.items():
            found[name].append(work())
    return found


def _elapsed_of_products(waits: str) -> float:
    """Seconds for products of matrices, one after another, by a new process whose idle threads wait as told."""
    command = [sys.executable, "-c", PRODUCTS]
    return float(
        subprocess.run(command, env=os.environ | {TIMEOUT: waits}, capture_output=True, check=True).stdout
    )


def _cpu_of_process(arguments: tuple[str, ...]) -> float:
    """User and system time of a Python process from its start to its end; modules may be compiled once and kept."""
    process = subprocess.Popen(
        [sys.executable, *arguments],
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": ""},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"{' '.join(arguments)}: ended with status {process.returncode}")
    return usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    main()
