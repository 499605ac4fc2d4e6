"""Generated pairs through a metric: `python -m tests.fuzz.pairs --metric m --count 1000000`.

Nothing may happen but scores in range and `TeslaError`. A call that takes more than `--limit` seconds of processor time
is a failure; one that does not come back in ten times as long ends the program with the stacks of all threads.
"""

from __future__ import annotations

import argparse
import faulthandler
import sys
import time

import numpy as np

from tesla_eval.base.errors import TeslaError
from tesla_eval.metrics import Metric, create_metric
from tests.fuzz.texts import Pair, hostile_pairs

ROUGE = {f"rouge{kind}{part}" for kind in ("1", "2", "l", "lsum", "su4") for part in ("", "-recall")}
HIGHEST = {
    **dict.fromkeys({"m", "x", "b", "f", "celab", "celab-", "s", "s-recall", *ROUGE}, 1.0),
    **dict.fromkeys({"bleu", "bleu:tok=char", "chrf", "chrf++"}, 100.0 + 1e-9),  # sacreBLEU rounds on the way
    "pem": 5.0,
}
"""The best score; the worst is 0."""
LANGUAGES = {"celab": "zh", "celab-": "zh"}
SURROGATES = ("\ud800", "a \udfff b", "\udc80")


class FuzzError(AssertionError):
    """A pair that breaks a promise."""


def score(metric: Metric, name: str, pairs: list[Pair], limit: float) -> float:
    """Score a batch and check it; returns the seconds of processor time."""
    hypotheses, references = (list(side) for side in zip(*pairs, strict=True))
    faulthandler.dump_traceback_later(10 * limit, exit=True)
    start = time.process_time()
    try:
        found = metric.score_segments(hypotheses, [references]).scores
    finally:
        seconds = time.process_time() - start
        faulthandler.cancel_dump_traceback_later()
    if seconds > limit:
        raise FuzzError(f"{len(pairs)} pairs took {seconds:.1f} s")
    if len(found) != len(pairs):
        raise FuzzError(f"{len(pairs)} pairs, {len(found)} scores")
    if not np.isfinite(found).all():
        raise FuzzError(f"no number for {pairs[int(np.flatnonzero(~np.isfinite(found))[0])]!r}")
    wrong = np.flatnonzero((found < 0) | (found > HIGHEST[name])) if name in HIGHEST else ()
    if len(wrong):
        raise FuzzError(f"out of range: {pairs[int(wrong[0])]!r}")
    return seconds


def fuzz(
    name: str, language: str, count: int, *, seed: int = 1, batch: int = 500, limit: float = 10
) -> tuple[float, int]:
    """Score `count` pairs; returns the longest call in seconds and the number of pairs that were refused."""
    metric = create_metric(name, language)
    longest, refused = 0.0, 0
    for first in range(0, count, batch):
        pairs = hostile_pairs(seed + first, min(batch, count - first))
        try:
            longest = max(longest, score(metric, name, pairs, limit))
        except TeslaError:  # one of them; each must be scored or refused by itself
            for pair in pairs:
                try:
                    longest = max(longest, score(metric, name, [pair], limit))
                except TeslaError:
                    refused += 1
    for text in SURROGATES:
        for pair in ((text, "a"), ("a", text), (text, text)):
            try:
                score(metric, name, [pair], limit)
            except TeslaError:
                refused += 1
    return longest, refused


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--metric", default="m", help="names, separated by commas")
    parser.add_argument("--language", help="English, or Chinese for celab")
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--batch", type=int, default=500)
    parser.add_argument("--limit", type=float, default=10, help="seconds of processor time for one call")
    options = parser.parse_args()
    faulthandler.enable()
    for name in options.metric.split(","):
        language = options.language or LANGUAGES.get(name, "en")
        start = time.process_time()
        try:
            longest, refused = fuzz(
                name, language, options.count, seed=options.seed, batch=options.batch, limit=options.limit
            )
        except FuzzError as failure:
            sys.exit(f"{name}: {failure}")
        seconds = time.process_time() - start
        print(
            f"{name} {language}: {options.count:,} pairs, {options.count / seconds:,.0f} per second of processor time, "
            f"longest call {longest:.2f} s, {refused} refused",
            flush=True,
        )


if __name__ == "__main__":
    main()
