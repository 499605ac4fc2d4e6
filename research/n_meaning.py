"""How often a metric ranks an edit that keeps the meaning above one of the same size that changes it.

    python -m research.n_meaning [-m n,x,chrf++,m] [--edits 200]

Starts from English references of ../shared/data/wmt (newstest2019, newstest2020, newstest2021). Harmful edits insert
`not` behind an auxiliary verb, change a number, or put another name in the place of one. The harmless edit of the same
reference puts a synonym in the place of a word; with --fillers, against a negation it inserts a word that adds next to
nothing (`also`, `indeed`), which is harder. Both edits touch one word. The same seed gives the same edits.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import random
import re
from collections.abc import Callable
from pathlib import Path

import tesla_eval

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT.parent / "shared" / "data" / "wmt"
FILES = ("wmt19-darr", "wmt20-mqm", "wmt21-mqm-news")
SEED = 24
AUXILIARIES = (
    "is",
    "are",
    "was",
    "were",
    "will",
    "would",
    "can",
    "could",
    "should",
    "must",
    "has",
    "have",
    "had",
)
FILLERS = ("also", "now", "indeed", "just", "already")
SYNONYMS = {
    "said": "stated", "says": "states", "began": "started", "big": "large", "help": "assist", "many": "numerous",
    "needs": "requires", "showed": "demonstrated", "important": "significant", "however": "nevertheless",
    "because": "since", "quickly": "rapidly", "buy": "purchase", "bought": "purchased", "children": "kids",
    "whole": "entire", "difficult": "hard", "company": "firm", "several": "various", "ended": "finished",
    "told": "informed", "gave": "provided", "build": "construct", "built": "constructed", "small": "little",
    "started": "began", "chance": "opportunity", "problem": "issue", "problems": "issues", "cars": "automobiles",
    "but": "yet", "while": "whereas", "almost": "nearly", "mainly": "mostly", "often": "frequently",
    "about": "approximately",
    "huge": "enormous", "happened": "occurred", "allows": "permits", "allowed": "permitted", "received": "got",
    "sometimes": "occasionally", "hopes": "wishes", "also": "additionally", "quarter": "fourth", "nearly": "almost",
    "currently": "presently", "famous": "renowned", "finally": "eventually", "rich": "wealthy", "shut": "closed",
}  # fmt: skip
NAMES = (
    "Paris", "London", "Berlin", "Moscow", "China", "Germany", "France", "Russia", "Smith", "Johnson", "Obama",
    "Merkel", "Beijing", "Madrid", "India", "Brazil",
)  # fmt: skip
_NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-z]{3,}\b")
_NUMBER = re.compile(r"(?<![\w.,])\d+(?![\w])")

Edit = Callable[[str, random.Random], "str | None"]


def negated(text: str, draw: random.Random) -> str | None:
    places = list(re.finditer(rf"\b({'|'.join(AUXILIARIES)})\b(?! not)", text))
    return _inserted(text, draw.choice(places).end(), "not") if places else None


def filled(text: str, draw: random.Random) -> str | None:
    places = list(re.finditer(rf"\b({'|'.join(AUXILIARIES)})\b(?! not)", text))
    return _inserted(text, draw.choice(places).end(), draw.choice(FILLERS)) if places else None


def _inserted(text: str, place: int, word: str) -> str:
    return f"{text[:place]} {word}{text[place:]}"


def other_number(text: str, draw: random.Random) -> str | None:
    places = list(_NUMBER.finditer(text))
    if not places:
        return None
    chosen = draw.choice(places)
    old = chosen.group()
    digit = draw.choice([d for d in "123456789" if d != old[0]])
    return text[: chosen.start()] + digit + old[1:] + text[chosen.end() :]


def other_name(text: str, draw: random.Random) -> str | None:
    places = list(_NAME.finditer(text))
    if not places:
        return None
    chosen = draw.choice(places)
    name = draw.choice([name for name in NAMES if name not in text])
    return text[: chosen.start()] + name + text[chosen.end() :]


def synonym(text: str, draw: random.Random) -> str | None:
    places = [
        (m, SYNONYMS[m.group()])
        for m in re.finditer(rf"\b({'|'.join(sorted(SYNONYMS, key=len, reverse=True))})\b", text)
    ]
    if not places:
        return None
    chosen, word = draw.choice(places)
    return text[: chosen.start()] + word + text[chosen.end() :]


KINDS: dict[str, tuple[Edit, Edit]] = {
    "negation": (negated, synonym), "number": (other_number, synonym), "name": (other_name, synonym),
}  # fmt: skip


def references() -> list[str]:
    references: dict[str, None] = {}
    for file in FILES:
        with gzip.open(DATA / f"{file}.seg.tsv.gz", "rt", encoding="utf-8", newline="\n") as lines:
            for row in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE):
                if row["lp"].endswith("-en") and 6 <= len(row["reference"].split()) <= 30:
                    references.setdefault(row["reference"])
    return list(references)


def edits(most: int) -> dict[str, list[tuple[str, str, str]]]:
    """By kind: reference, harmful edit, harmless edit."""
    draw = random.Random(SEED)
    texts = references()
    draw.shuffle(texts)
    chosen: dict[str, list[tuple[str, str, str]]] = {kind: [] for kind in KINDS}
    for k, (kind, (harm, keep)) in enumerate(KINDS.items()):
        wanted = most // len(KINDS) + (k < most % len(KINDS))
        for text in texts:
            if len(chosen[kind]) == wanted:
                break
            harmful, harmless = harm(text, draw), keep(text, draw)
            if harmful is not None and harmless is not None:
                chosen[kind].append((text, harmful, harmless))
    return chosen


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("-m", "--metrics", default="n,x,m,chrf++")
    parser.add_argument("--edits", type=int, default=200)
    parser.add_argument("--show", type=int, default=0, help="print so many edits per kind")
    parser.add_argument(
        "--fillers", action="store_true", help="negations against words that add next to nothing"
    )
    given = parser.parse_args()
    if given.fillers:
        KINDS["negation"] = (negated, filled)
    chosen = edits(given.edits)
    for kind, some in chosen.items():
        for text, harmful, harmless in some[: given.show]:
            print(f"{kind}\n  {text}\n  harmful:  {harmful}\n  harmless: {harmless}")
    print("| metric | " + " | ".join(f"{kind} ({len(some)})" for kind, some in chosen.items()) + " | all |")
    print("|---|" + "--:|" * (len(chosen) + 1))
    for name in given.metrics.split(","):
        metric = tesla_eval.create_metric(name, "en")
        right: dict[str, list[float]] = {}
        for kind, some in chosen.items():
            texts = [[text for text, _, _ in some]]
            bad = metric.score_segments([harmful for _, harmful, _ in some], texts).scores
            good = metric.score_segments([harmless for _, _, harmless in some], texts).scores
            right[kind] = ((good > bad) + 0.5 * (good == bad)).tolist()
        everything = [value for values in right.values() for value in values]
        shares = [sum(values) / len(values) for values in (*right.values(), everything)]
        print(f"| {name} | " + " | ".join(f"{share:.2f}" for share in shares) + " |")


if __name__ == "__main__":
    main()
