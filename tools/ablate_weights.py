"""What every family of features is worth to TESLA-X: trained without it, measured where it was not trained.

    ablate_weights.py [--every 4]        # every fourth pair of WMT13 and WMT14: a quarter of the time

Columns: the mean of WMT12 → WMT13 and WMT13 → WMT12 (what choices go by), then WMT14, WMT17's direct assessment and
WMT19 with the weights of both years: mean Kendall τ (WMT's form) over the language pairs. For other languages than
English: each language of the training data held out in turn, and what was never trained on. Features come from the
cache of `tesla meta`, where they are kept.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import numpy as np

from tesla_eval.meta import read_preferences
from tesla_eval.meta.run import JudgedSet, wmt_sets
from tesla_eval.metrics.cache import ScoreCache
from tesla_eval.metrics.tesla_x import TeslaX
from tesla_eval.training import TrainingSet, collect, fit_linear, kendall
from tesla_eval.training.recipe import Recipe, keeps, probes_for

WMT = Path(__file__).resolve().parents[2] / "shared" / "data" / "wmt"
GROUPS = ("target", "chars", "surface")
FAMILIES = {
    "words and synonyms (ms)": ("ms",), "lemmas (lem)": ("lem",), "parts of speech (pos)": ("pos",),
    "characters (chr)": ("chr",), "rare words": ("rareword", "rarelemma"),
    "word order": ("lcs", "fragments", "order", "chunks"), "numbers and names": ("number", "capital"),
    "foreign letters": ("foreign",), "punctuation": ("punct",), "content and function words": ("content", "function"),
    "length": ("length",),
}  # fmt: skip
SHIPPED_WITHOUT = {
    "en": {"pos", "content", "function", "length"},
    "und": {"pos", "content", "function", "length", "punct", "foreign"},
}


@dataclass(frozen=True)
class Sample:
    """The training sets of some files, and the columns of their features."""

    names: tuple[str, ...]
    sets: dict[str, list[TrainingSet]]

    def measure(
        self,
        train: Sequence[TrainingSet],
        test: Sequence[TrainingSet],
        without: Collection[str],
        penalty: float,
    ) -> float:
        kept = np.array([k for k, name in enumerate(self.names) if keeps(name, without)], np.int64)
        names = [self.names[k] for k in kept]
        model = fit_linear([one.with_features(kept) for one in train], names, penalty=penalty)
        return fmean(kendall(model, one.with_features(kept)) for one in test if len(one.better))


def read(files: Sequence[str], cache: ScoreCache, every: int, *, into_english: bool) -> Sample:
    probe_for = probes_for(Recipe(TeslaX, "en" if into_english else "und", GROUPS))
    sets = {}
    for file in files:
        print(f"features of {file}", file=sys.stderr, flush=True)
        found = collect(judged(file, into_english), probe_for, cache, threshold=0.5)
        step = 1 if file == "wmt12-rr" else every
        sets[file] = [one.with_pairs(np.arange(len(one.better)) % step == 0) for one in found]
    return Sample(probe_for("de-en" if into_english else "en-de").features.names, sets)


def judged(file: str, into_english: bool) -> Iterator[JudgedSet]:
    pairs = WMT / f"{file}.pairs.tsv.gz"
    preferences = read_preferences(str(pairs)) if pairs.exists() else {}
    for one in wmt_sets([str(WMT / f"{file}.seg.tsv.gz")], preferences, {}):
        if one.outputs.lp.endswith("-en") == into_english:
            yield one


def english(cache: ScoreCache, every: int) -> Iterator[str]:
    tests = ("wmt14-rr", "wmt17-da-toen", "wmt19-darr")
    sample = read(("wmt12-rr", "wmt13-rr", *tests), cache, every, into_english=True)
    first, second = sample.sets["wmt12-rr"], sample.sets["wmt13-rr"]
    yield "| English, TESLA-X | WMT12–13 held out | WMT14 | WMT17 | WMT19 |"
    yield "|---|--:|--:|--:|--:|"
    for title, without in variants(SHIPPED_WITHOUT["en"]):
        held_out = fmean([
            sample.measure(first, second, without, 0.003), sample.measure(second, first, without, 0.003)
        ])  # fmt: skip
        values = [sample.measure([*first, *second], sample.sets[test], without, 0.003) for test in tests]
        yield f"| {title} | {held_out:.4f} | {' | '.join(f'{value:.3f}' for value in values)} |"


def others(cache: ScoreCache, every: int) -> Iterator[str]:
    tests = ("wmt20-mqm", "wmt21-mqm-news", "wmt21-mqm-enru")
    sample = read(("wmt12-rr", "wmt24-esa-outofen-odd", *tests), cache, every, into_english=False)
    new = sample.sets["wmt24-esa-outofen-odd"]
    train = [*sample.sets["wmt12-rr"], *(one for one in new if one.name[:5] in ("en-cs", "en-es", "en-ru"))]
    unseen = [one for one in new if one.name[:5] not in ("en-cs", "en-es", "en-ru")]
    years = [one for test in tests for one in sample.sets[test]]
    yield "| other languages, TESLA-X | languages held out | WMT24, unseen languages | WMT20–21 |"
    yield "|---|--:|--:|--:|"
    for title, without in variants(SHIPPED_WITHOUT["und"]):
        held_out = fmean(
            sample.measure(
                [one for one in train if one.name[:5] != lp],
                [one for one in train if one.name[:5] == lp],
                without,
                0.1,
            )
            for lp in sorted({one.name[:5] for one in train})
        )
        values = [sample.measure(train, test, without, 0.1) for test in (unseen, years)]
        yield f"| {title} | {held_out:.4f} | {' | '.join(f'{value:.3f}' for value in values)} |"


def variants(left_out: set[str]) -> Iterator[tuple[str, set[str]]]:
    """The shipped model, then without each family that it has, then with each that it has not."""
    yield "**as shipped**", left_out
    for title, families in FAMILIES.items():
        if not left_out.issuperset(families):
            yield f"without {title}", left_out.union(families)
    for title, families in FAMILIES.items():
        if left_out.issuperset(families):
            yield f"with {title}", left_out.difference(families)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--only", choices=["en", "und"])
    wishes = parser.parse_args()
    with ScoreCache() as cache:
        for name, table in (("en", english), ("und", others)):
            if wishes.only in (None, name):
                for line in table(cache, wishes.every):
                    print(line, flush=True)
                print(flush=True)


if __name__ == "__main__":
    main()
