"""Write source-support.md: does `s-source` tell supported summaries from others? Designed on one set, tried on another.

    python -m research.source_support [-o FILE]

Data: ../shared/data/faithfulness/qags.tsv.gz. A summary is supported if the majority of three people said so of every
sentence. The two numbers of `s-source` are chosen on one set and reported on the other, both ways. Intervals: 1,000
draws of summaries.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import re
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path

import numpy as np

from tesla_eval import TeslaSSource
from tesla_eval.base.arrays import FloatArray

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT.parent / "shared" / "data" / "faithfulness" / "qags.tsv.gz"
SETS = ("cnndm", "xsum")
DOUBTED = (0.25, 0.5, 0.75)
CANDIDATES = tuple(product((0.0, 0.1, 0.2, 0.25, 0.3, 0.4, 0.5), DOUBTED))
UNLIMITED = (*CANDIDATES, *product((0.6, 0.7, 0.8, 0.9, 1.0), DOUBTED))
DRAWS, SEED = 1000, 12345

HEAD = """# What the source supports: QAGS

Written by `python -m research.source_support`.

Area under the curve for "people found every sentence supported" (QAGS, Wang et al. 2020: 235 summaries of CNN/DM, 239
of XSum). Unigram and bigram precision are over the words of the whole summary. `s-source` has two numbers, `pair_share`
and `doubted`, and {count} candidates: `pair_share` is at most a half, so that a sentence in other words keeps half of
its support. "Without the limit" it may be up to 1. The form of the score was found with both sets in view.

"""


class Summaries:
    """The summaries of one set, with what `s-source` and precisions see."""

    def __init__(self, rows: Sequence[dict[str, str]]) -> None:
        by_id: dict[str, list[dict[str, str]]] = {}
        for row in rows:
            by_id.setdefault(row["id"], []).append(row)
        texts = [" ".join(row["sentence"] for row in group) for group in by_id.values()]
        self.sources = [group[0]["source"] for group in by_id.values()]
        self.supported = np.array([all(row["faithful"] == "1" for row in group) for group in by_id.values()])
        votes = np.array([int(row["votes"].split("/")[0]) for row in rows])
        self.rater_agrees = float(np.maximum(votes, 3 - votes).mean() / 3)
        self.evidence = TeslaSSource().evidence(texts, self.sources)
        self.words = np.array([float(len(text.split())) for text in texts])
        self.precisions = {n: self._precision(texts, n) for n in (1, 2)}

    def _precision(self, texts: Sequence[str], n: int) -> FloatArray:
        shares = []
        for text, source in zip(texts, self.sources, strict=True):
            grams, known = (_ngrams(side, n) for side in (text, source))
            shares.append(sum(gram in set(known) for gram in grams) / max(len(grams), 1))
        return np.array(shares)

    def support(self, pair_share: float, doubted: float) -> FloatArray:
        sums, counts = (
            np.bincount(self.evidence.summary, column, len(self.words))
            for column in (self.evidence.scores(pair_share, doubted), self.evidence.worded)
        )
        return np.asarray(sums / np.maximum(counts, 1))

    def best_of(self, candidates: Sequence[tuple[float, float]]) -> tuple[float, float]:
        return max(candidates, key=lambda pair: area(self.support(*pair), self.supported))


def _ngrams(text: str, n: int) -> list[tuple[str, ...]]:
    words = re.findall(r"\w+", text.lower())
    return list(zip(*(words[k:] for k in range(n)), strict=False))


def area(scores: FloatArray, positive: FloatArray) -> float:
    """The area under the curve: the share of pairs in the right order, a tie counting half."""
    difference = scores[positive][:, None] - scores[~positive][None]
    return float(((difference > 0) + 0.5 * (difference == 0)).mean())


def _cell(scores: FloatArray, positive: FloatArray) -> str:
    draws = np.random.default_rng(SEED).integers(len(scores), size=(DRAWS, len(scores)))
    low, high = np.percentile([area(scores[draw], positive[draw]) for draw in draws], [2.5, 97.5])
    return f"{area(scores, positive):.3f} [{low:.3f}, {high:.3f}]"


def report(sets: dict[str, Summaries]) -> Iterator[str]:
    chosen, unlimited = (
        {name: one.best_of(candidates) for name, one in sets.items()}
        for candidates in (CANDIDATES, UNLIMITED)
    )
    default = TeslaSSource.option_defaults()
    shipped = (default["pair_share"], default["doubted"])
    rows: dict[str, list[str]] = {}
    for name, one in sets.items():
        (other,) = (key for key in sets if key != name)
        columns = {
            "number of words": one.words, "unigram precision": one.precisions[1],
            "bigram precision": one.precisions[2], "s-source, chosen on the other set": one.support(*chosen[other]),
            "without the limit": one.support(*unlimited[other]),
            "s-source, words alone": one.support(0.0, 1.0), "s-source, as it ships": one.support(*shipped),
        }  # fmt: skip
        for label, scores in columns.items():
            rows.setdefault(label, []).append(_cell(scores, one.supported))
    yield f"| | {' | '.join(sets)} |"
    yield f"|---|{'--:|' * len(sets)}"
    yield from (f"| {label} | {' | '.join(cells)} |" for label, cells in rows.items())
    yield ""
    for name, one in sets.items():
        pair_share, doubted = chosen[name]
        yield f"Chosen on {name}: `pair_share` {pair_share:g}, `doubted` {doubted:g}."
        for label, mask in (
            ("an unknown name or number", one.evidence.unknown),
            ("a contradiction", one.evidence.contradicted),
        ):
            marked = np.bincount(one.evidence.summary, mask, len(one.words)) > 0
            yield (
                f"{name}: {label} in {marked.sum()} summaries, of which {(~one.supported[marked]).sum()} are not "
                f"supported (of all: {100 * (~one.supported).mean():.0f} %)."
            )
        yield f"{name}: one person agrees with the majority about {100 * one.rater_agrees:.0f} % of the sentences.\n"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "research" / "source-support.md")
    wishes = parser.parse_args()
    csv.field_size_limit(1 << 24)
    with gzip.open(DATA, "rt", encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
    sets = {name: Summaries([row for row in rows if row["set"] == name]) for name in SETS}
    text = HEAD.format(count=len(CANDIDATES)) + "\n".join(report(sets)) + "\n"
    wishes.output.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
