"""How often an edit that does harm raises a metric's score, starting from real outputs of ../shared/data/wmt.

    python -m research.edits [-m x,m,chrf++] [--outputs 1000]

An edit drops a content word, inserts one from the reference of another segment, or shuffles all words. Texts are split
at white space, so languages without it are left out. Content words are the words of four letters or more that are
among the rarer half of their text's words in the judged set. The same seed gives the same edits.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import random
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import tesla_eval

DATA = Path(__file__).resolve().parents[1].parent / "shared" / "data" / "wmt"
SETS = (
    ("wmt19-darr", ("gu-en", "kk-en", "lt-en")),
    ("wmt20-mqm", ("zh-en", "en-de")),
    ("wmt24-esa-outofen-odd", ("en-cs", "en-es", "en-hi", "en-is", "en-ru", "en-uk")),
)
SEED = 16
CONTENT = 4
"""A content word has at least so many letters."""

Edit = Callable[[list[str], list[str], Counter[str], random.Random], list[str] | None]
"""Words of the output, words of another reference, how often words occur: to the edited words, if there are any."""


def content_words(words: Sequence[str], frequency: Counter[str]) -> list[int]:
    """The places of content words."""
    long = [place for place, word in enumerate(words) if sum(map(str.isalpha, word)) >= CONTENT]
    long.sort(key=lambda place: (frequency[words[place].lower()], place))
    return long[: (len(long) + 1) // 2]


def drop(
    words: list[str], other: list[str], frequency: Counter[str], draw: random.Random
) -> list[str] | None:
    places = content_words(words, frequency)
    if not places or len(words) < 2:
        return None
    place = draw.choice(places)
    return words[:place] + words[place + 1 :]


def insert(
    words: list[str], other: list[str], frequency: Counter[str], draw: random.Random
) -> list[str] | None:
    places = content_words(other, frequency)
    if not places:
        return None
    where = draw.randrange(len(words) + 1)
    return [*words[:where], other[draw.choice(places)], *words[where:]]


def shuffle(
    words: list[str], other: list[str], frequency: Counter[str], draw: random.Random
) -> list[str] | None:
    if len(words) < 3:
        return None
    mixed = draw.sample(words, len(words))
    return mixed if mixed != words else None


EDITS: dict[str, Edit] = {"drop": drop, "insert": insert, "shuffle": shuffle}


def outputs(file: str, lp: str, most: int) -> list[tuple[str, str]]:
    """Evenly chosen outputs with their references."""
    with gzip.open(DATA / f"{file}.seg.tsv.gz", "rt", encoding="utf-8", newline="\n") as lines:
        rows = csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
        texts = [(row["hypothesis"], row["reference"]) for row in rows if row["lp"] == lp]
    texts = [
        (hypothesis, reference) for hypothesis, reference in texts if hypothesis and hypothesis != reference
    ]
    return texts[:: max(1, len(texts) // most)][:most]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("-m", "--metrics", default="x,m,chrf++")
    parser.add_argument("--outputs", type=int, default=1000)
    given = parser.parse_args()
    raised: dict[tuple[str, str, str], list[int]] = {}
    for file, lps in SETS:
        for lp in lps:
            texts = outputs(file, lp, given.outputs)
            draw = random.Random(f"{SEED} {lp}")
            frequency = Counter(word.lower() for _, reference in texts for word in reference.split())
            for kind, edit in EDITS.items():
                edited = [
                    edit(hypothesis.split(), draw.choice(texts)[1].split(), frequency, draw)
                    for hypothesis, _ in texts
                ]
                chosen = [k for k, words in enumerate(edited) if words is not None]
                before = [" ".join(texts[k][0].split()) for k in chosen]
                after = [" ".join(edited[k] or ()) for k in chosen]
                references = [texts[k][1] for k in chosen]
                for name in given.metrics.split(","):
                    metric = tesla_eval.create_metric(name, lp.partition("-")[2])
                    old, new = (metric.score_segments(some, [references]).scores for some in (before, after))
                    way = "into English" if lp.endswith("-en") else "out of English"
                    raised.setdefault((way, name, kind), []).extend((new > old + 1e-12).tolist())
    print("| | metric | " + " | ".join(EDITS) + " |\n|---|---|" + "--:|" * len(EDITS))
    for way, name in dict.fromkeys((way, name) for way, name, _ in raised):
        shares = [sum(raised[way, name, kind]) / len(raised[way, name, kind]) for kind in EDITS]
        print(f"| {way} | {name} | " + " | ".join(f"{share:.1%}" for share in shares) + " |")


if __name__ == "__main__":
    main()
