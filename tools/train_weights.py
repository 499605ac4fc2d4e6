"""Train the shipped weights of TESLA-X and TESLA-F from ../shared/data/wmt, one after the other.

    train_weights.py [x-en|x-und|f-en|f-cs|f-de|f-es|f-fr|f-und ...] [--date 2026-11-15] [--output FOLDER]

English: the rankings of WMT12 and WMT13 into English and, for TESLA-X, the segments of WMT20 (MQM) with an odd number;
WMT14, all other later years and the even segments of WMT20 stay for testing. Every other
language: the rankings of WMT12 out of English (Czech, German, Spanish, French) and the scores of WMT24 (odd segments)
of Czech, Spanish and Russian; WMT14, WMT20, WMT21 and WMT24's other languages stay for testing. Features that add
nothing where a year (English) or a language (others) is held out are left out: see docs/training.md.
"""

from __future__ import annotations

import argparse
import gzip
import tempfile
from itertools import chain
from pathlib import Path

from tesla_eval.cli import tesla

ROOT = Path(__file__).resolve().parents[1]
WMT = ROOT.parent / "shared" / "data" / "wmt"
DATA = ROOT / "src" / "tesla_eval" / "data"


def judgements(*years: str) -> list[str]:
    return [
        part
        for year in years
        for part in (
            "--segments",
            str(WMT / f"{year}.seg.tsv.gz"),
            "--pairs",
            str(WMT / f"{year}.pairs.tsv.gz"),
        )
    ]


def without(*families: str) -> list[str]:
    return [part for family in families for part in ("--without", family)]


def lifted(lifts: dict[str, float]) -> list[str]:
    return [part for name, lift in lifts.items() for part in ("--lift", f"{name}={lift}")]


def only(*lps: str) -> list[str]:
    return [part for lp in lps for part in ("--lp", lp)]


def odd_segments(file: str, lp: str, folder: Path) -> str:
    """The outputs of one language pair with an odd segment number, as a test set of their own."""
    path = folder / f"{file}.{lp}.odd.seg.tsv.gz"
    with (
        gzip.open(WMT / f"{file}.seg.tsv.gz", "rt", encoding="utf-8", newline="\n") as whole,
        gzip.open(path, "wt", encoding="utf-8", newline="\n") as part,
    ):
        part.write(next(whole))
        for line in whole:
            row_lp, test_set, system, segment, rest = line.split("\t", 4)
            if row_lp == lp and int(segment) % 2 == 1:
                part.write("\t".join([row_lp, f"{test_set}-odd", system, segment, rest]))
    return str(path)


OUT_OF_ENGLISH = [*judgements("wmt12-rr"), "--segments", str(WMT / "wmt24-esa-outofen-odd.seg.tsv.gz"),
                  *only("en-cs", "en-de", "en-es", "en-fr", "en-ru")]  # fmt: skip
GROUPS = ["--groups", "target,chars,surface"]
LEFT_OUT = {
    "en": ("pos", "content", "function", "length", "number"),
    "und": ("pos", "content", "function", "punct", "foreign", "number"),
}
"""Features that add nothing where a year (English) or a language (others) is held out."""
LIFTS = {"en": {"ms.3.f": 0.3, "lcs.r": 0.1}}
"""What systems differ in more than the outputs that people saw side by side: see docs/training.md."""
RECIPES = {
    "x-en": ["x", *judgements("wmt12-rr", "wmt13-rr"), *GROUPS, *without(*LEFT_OUT["en"]), *lifted(LIFTS["en"])],
    "x-und": ["x", "-l", "und", *OUT_OF_ENGLISH, *GROUPS, *without(*LEFT_OUT["und"])],
    "f-en": ["f", *judgements("wmt12-rr", "wmt13-rr"), "--learner", "svm"],
    **{f"f-{x}": ["f", "-l", x, *judgements("wmt12-rr"), "--learner", "svm"] for x in ("cs", "de", "es", "fr")},
    "f-und": ["f", "-l", "und", *OUT_OF_ENGLISH, "--groups", "target"],
}  # fmt: skip
ODD_PARTS = {"x-en": [("wmt20-mqm", "zh-en")]}
"""Of these test sets half is learned from, the segments with an odd number."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", choices=[*RECIPES, []], help="default: all")
    parser.add_argument("--date", default="2026-11-15")
    parser.add_argument("--output", type=Path, default=DATA)
    wishes = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for name in wishes.names or RECIPES:
            parts = [("--segments", odd_segments(*part, Path(folder))) for part in ODD_PARTS.get(name, [])]
            where = ["--date", wishes.date, "-o", str(wishes.output / f"weights-{name}.json")]
            tesla.main(["train", *RECIPES[name], *chain(*parts), *where], standalone_mode=False)


if __name__ == "__main__":
    main()
