"""Train the shipped weights of TESLA-F from ../shared/data/wmt, one after the other; TESLA-X's are made by loyo.py.

    train_weights.py [f-en|f-cs|f-de|f-es|f-fr|f-und ...] [--date 2026-11-15] [--output FOLDER]

English: the rankings of WMT12 and WMT13 into English. Other languages: the rankings of WMT12 out of English and, for
those without weights of their own, the scores of WMT24 (odd segments) of Czech, Spanish and Russian.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from tesla_eval.cli import tesla

ROOT = Path(__file__).resolve().parents[1]
WMT = ROOT.parent / "shared" / "data" / "wmt"
DATA = ROOT / "packages" / "data" / "src" / "tesla_eval_data"


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


def only(*lps: str) -> list[str]:
    return [part for lp in lps for part in ("--lp", lp)]


OUT_OF_ENGLISH = [*judgements("wmt12-rr"), "--segments", str(WMT / "wmt24-esa-outofen-odd.seg.tsv.gz"),
                  *only("en-cs", "en-de", "en-es", "en-fr", "en-ru")]  # fmt: skip
RECIPES = {
    "f-en": ["f", *judgements("wmt12-rr", "wmt13-rr"), "--learner", "svm"],
    **{f"f-{x}": ["f", "-l", x, *judgements("wmt12-rr"), "--learner", "svm"] for x in ("cs", "de", "es", "fr")},
    "f-und": ["f", "-l", "und", *OUT_OF_ENGLISH, "--groups", "target", "--learner", "logistic"],
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", choices=[*RECIPES, []], help="default: all")
    parser.add_argument("--date", default="2026-11-15")
    parser.add_argument("--output", type=Path, default=DATA)
    wishes = parser.parse_args()
    for name in wishes.names or RECIPES:
        where = ["--date", wishes.date, "-o", str(wishes.output / f"weights-{name}.json")]
        tesla.main(["train", *RECIPES[name], *where], standalone_mode=False)


if __name__ == "__main__":
    main()
