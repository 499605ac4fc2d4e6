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
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from tesla_eval import TeslaSSource
from tesla_eval.base.arrays import FloatArray, Index
from tesla_eval.judgements.summaries import read_summaries
from tesla_eval.language.analysis import split_sentences
from tesla_eval.metrics.features.ngrams import SourceGroup
from tesla_eval.metrics.tesla_s_source import pieces
from tesla_eval.statistics.correlation import kendall, spearman

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT.parent / "shared" / "data" / "faithfulness" / "qags.tsv.gz"
SETS = ("cnndm", "xsum")
DOUBTED = (0.25, 0.5, 0.75)
CANDIDATES = tuple(product((0.0, 0.1, 0.2, 0.25, 0.3, 0.4, 0.5), DOUBTED))
FORMS = tuple(
    product(
        ("vectors", "content", "form"),
        ("content", "form", "closest"),
        (*(k / 10 for k in range(11)),),
        (*DOUBTED, 1.0),
    )
)
DRAWS, SEED = 1000, 12345
SHIPPED = tuple(TeslaSSource.option_defaults()[name] for name in ("pair_share", "doubted"))
SMALLEST_GROUP = 4
JUDGED = {"summeval": "consistency", "summeval_op": "Faithfulness"}
"""Sets of summaries with a human score of support; `s-source` was not shaped on them."""

HEAD = """# What the source supports: QAGS

Written by `python -m research.source_support`.

Area under the curve for "people found every sentence supported" (QAGS, Wang et al. 2020: 235 summaries of CNN/DM, 239
of XSum), with 95 % intervals over {draws} draws of summaries. Unigram and bigram precision are over the words of the
whole summary.

`s-source` has two numbers, `pair_share` and `doubted`, and {count} candidates: `pair_share` is at most a half, so that
a sentence in other words keeps half of its support. They are chosen on one set and measured on the other. **The form
of the score was found with both sets in view.** "The form chosen too" repeats the design by a program that sees one
set only: {forms} candidates, with words compared by vectors, by form, or by form with little weight on function words;
and pairs that are skip bigrams with or without that weight, or what the closest sentence has; without a limit for
`pair_share`.

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
        metric = TeslaSSource()
        self.evidence = metric.evidence(texts, self.sources)
        self._forms(metric, texts)
        self.words = np.array([float(len(text.split())) for text in texts])
        self.precisions = {n: precision(texts, self.sources, n) for n in (1, 2)}

    def _forms(self, metric: TeslaSSource, texts: Sequence[str]) -> None:
        """Other evidence than that of `s-source`, for each sentence."""
        evidence, every = self.evidence, np.arange(len(self.evidence.summary))
        sentences = [texts[k][slice(*span)] for k, span in zip(evidence.summary, evidence.spans, strict=True)]
        own = [(k, span) for k, text in enumerate(self.sources) for span in split_sentences(text, "en")]
        inside = [self.sources[k][slice(*span)] for k, span in own]
        sides = metric.analysis.analyse(
            *(list(map(pieces, texts)) for texts in (self.sources, sentences, inside))
        )
        self.word_columns, self.pair_columns = {"vectors": evidence.words}, {}
        for name, discount in (("content", 0.1), ("form", 1.0)):
            group = SourceGroup(discount=discount).bind(metric.analysis)
            whole, parts, inner = (group.prepare(side) for side in sides)
            columns = np.nan_to_num(group.compare(whole, parts, evidence.summary, every)).T
            self.word_columns[name], self.pair_columns[name] = columns
            owner = np.array([k for k, _ in own])
            pairs = [(z, y) for y in every for z in np.flatnonzero(owner == evidence.summary[y])]
            near = np.nan_to_num(group.compare(inner, parts, *np.array(pairs).T)).mean(axis=1)
            self.pair_columns["closest"] = np.zeros(len(every))
            np.maximum.at(self.pair_columns["closest"], [y for _, y in pairs], near)

    def formed(self, words: str, pairs: str, pair_share: float, doubted: float) -> FloatArray:
        changed = replace(self.evidence, words=self.word_columns[words], pairs=self.pair_columns[pairs])
        return self._mean(changed.scores(pair_share, doubted))

    def support(self, pair_share: float, doubted: float) -> FloatArray:
        return self._mean(self.evidence.scores(pair_share, doubted))

    def _mean(self, scores: FloatArray) -> FloatArray:
        sums, counts = (
            np.bincount(self.evidence.summary, column, len(self.words))
            for column in (scores, self.evidence.worded)
        )
        return np.asarray(sums / np.maximum(counts, 1))

    def best_of(self, score: Callable[..., FloatArray], candidates: Sequence[Any]) -> Any:
        return max(candidates, key=lambda candidate: area(score(*candidate), self.supported))


def precision(texts: Sequence[str], sources: Sequence[str], n: int) -> FloatArray:
    """The share of the n-grams of each text that its source has."""
    known = {source: set(_ngrams(source, n)) for source in set(sources)}
    grams = [_ngrams(text, n) for text in texts]
    return np.array(
        [
            sum(map(known[source].__contains__, own)) / max(len(own), 1)
            for own, source in zip(grams, sources, strict=True)
        ]
    )


def _ngrams(text: str, n: int) -> list[tuple[str, ...]]:
    words = re.findall(r"\w+", text.lower())
    return list(zip(*(words[k:] for k in range(n)), strict=False))


def area(scores: FloatArray, positive: FloatArray) -> float:
    """The area under the curve: the share of pairs in the right order, a tie counting half."""
    difference = scores[positive][:, None] - scores[~positive][None]
    return float(((difference > 0) + 0.5 * (difference == 0)).mean())


def _draws(count: int) -> Index:
    return np.random.default_rng(SEED).integers(count, size=(DRAWS, count))


def _wins(ours: FloatArray, others: Sequence[FloatArray], positive: FloatArray, draw: Index) -> bool:
    area_of = [area(scores[draw], positive[draw]) for scores in (ours, *others)]
    return area_of[0] > max(area_of[1:])


def _cell(scores: FloatArray, positive: FloatArray) -> str:
    draws = [area(scores[draw], positive[draw]) for draw in _draws(len(scores))]
    low, high = np.percentile(draws, [2.5, 97.5])
    return f"{area(scores, positive):.3f} [{low:.3f}, {high:.3f}]"


def report(sets: dict[str, Summaries]) -> Iterator[str]:
    chosen = {name: one.best_of(one.support, CANDIDATES) for name, one in sets.items()}
    formed = {name: one.best_of(one.formed, FORMS) for name, one in sets.items()}
    rows: dict[str, list[str]] = {}
    for name, one in sets.items():
        (other,) = (key for key in sets if key != name)
        columns = {
            "number of words": one.words, "unigram precision": one.precisions[1],
            "bigram precision": one.precisions[2], "s-source, chosen on the other set": one.support(*chosen[other]),
            "the form chosen too": one.formed(*formed[other]),
            "s-source, words alone": one.support(0.0, 1.0), "s-source, as it ships": one.support(*SHIPPED),
        }  # fmt: skip
        for label, scores in columns.items():
            rows.setdefault(label, []).append(_cell(scores, one.supported))
    yield f"| | {' | '.join(sets)} |"
    yield f"|---|{'--:|' * len(sets)}"
    yield from (f"| {label} | {' | '.join(cells)} |" for label, cells in rows.items())
    yield ""
    for name, one in sets.items():
        pair_share, doubted = chosen[name]
        yield f"Chosen on {name}: `pair_share` {pair_share:g}, `doubted` {doubted:g}; with the form: {formed[name]}."
        (other,) = (key for key in sets if key != name)
        bars = [one.precisions[n] for n in one.precisions]
        won = np.mean(
            [_wins(one.support(*chosen[other]), bars, one.supported, draw) for draw in _draws(len(one.words))]
        )
        yield f"{name}: above the better of the two precisions in {100 * won:.0f} % of the draws."
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


def bias_section(sets: dict[str, Summaries]) -> Iterator[str]:
    """How scores move with length and abstraction where people found the same support."""
    yield "## Length and abstraction where people found the same support\n"
    yield "Spearman's ρ within groups of summaries with the same human score, weighted by size, of a score with the"
    yield "number of words, and with abstraction (the share of bigrams that the source lacks). Groups: supported or not"
    yield "(QAGS); consistency (SummEval) or faithfulness (SummEval-OP) of one topic, groups of at least four.\n"
    yield "| | summaries | s-source: words | abstraction | unigrams: words | abstraction | bigrams: words |"
    yield "|---|--:|--:|--:|--:|--:|--:|"
    groups = {
        name: (one.support(*SHIPPED), one.precisions, one.words, one.supported.astype(str))
        for name, one in sets.items()
    }
    for name in JUDGED:
        groups[name] = _judged(name)
    tables = {name: groups[name] for name in JUDGED}
    for name, (ours, precisions, words, level) in groups.items():
        abstraction = 1 - precisions[2]
        inside = [np.flatnonzero(level == value) for value in np.unique(level)]
        inside = [places for places in inside if len(places) >= SMALLEST_GROUP]
        pairs = (
            (ours, words), (ours, abstraction), (precisions[1], words), (precisions[1], abstraction),
            (precisions[2], words),
        )  # fmt: skip
        cells = (f"{_within(inside, one, other):.2f}" for one, other in pairs)
        yield f"| {name} | {sum(map(len, inside))} | {' | '.join(cells)} |"
    yield "\nMean score of the least and of the most abstractive third of the supported summaries:\n"
    yield "| | s-source | unigram precision | bigram precision |"
    yield "|---|--:|--:|--:|"
    for name, one in sets.items():
        places = np.flatnonzero(one.supported)
        places = places[np.argsort(1 - one.precisions[2][places], kind="stable")]
        third = len(places) // 3
        cells = (
            f"{scores[places[:third]].mean():.2f}, {scores[places[-third:]].mean():.2f}"
            for scores in (one.support(*SHIPPED), *one.precisions.values())
        )
        yield f"| {name} | {' | '.join(cells)} |"
    yield "\n## Sets that `s-source` was not shaped on\n"
    yield "Kendall's τ of the summaries of a topic with what people said of support, its mean over the topics:\n"
    yield "| | s-source | unigram precision | bigram precision | number of words |"
    yield "|---|--:|--:|--:|--:|"
    for name, (ours, precisions, words, level) in tables.items():
        topic, human = np.array([pair.split() for pair in level]).astype(float).T
        cells = (f"{_tau(topic, human, scores):.3f}" for scores in (ours, *precisions.values(), words))
        yield f"| {name}, {JUDGED[name].lower()} | {' | '.join(cells)} |"
    yield ""


def _tau(topic: FloatArray, human: FloatArray, scores: FloatArray) -> float:
    values = [kendall(human[topic == one], scores[topic == one]).value for one in np.unique(topic)]
    return float(np.nanmean(values))


def _within(groups: Sequence[Index], one: FloatArray, other: FloatArray) -> float:
    values = [(len(places), spearman(one[places], other[places]).value) for places in groups]
    known = [(count, value) for count, value in values if np.isfinite(value)]
    return float(np.average([value for _, value in known], weights=[count for count, _ in known]))


def _judged(name: str) -> tuple[FloatArray, dict[int, FloatArray], FloatArray, FloatArray]:
    """Scores, precisions and lengths of all summaries of a set, and their topic with their level of support."""
    read = read_summaries(str(DATA.parents[1] / "summaries" / name))
    assert read.sources is not None
    human = read.human[JUDGED[name]]
    rows = [
        (text, read.sources[t], f"{t} {human[k][t]:.2f}")
        for k, texts in enumerate(read.hypotheses)
        for t, text in enumerate(texts)
        if text and np.isfinite(human[k][t])
    ]
    texts, sources, levels = zip(*rows, strict=True)
    ours = TeslaSSource().score_segments(texts, sources=sources).scores
    precisions = {n: precision(texts, sources, n) for n in (1, 2)}
    return ours, precisions, np.array([float(len(text.split())) for text in texts]), np.array(levels)


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
    text = (
        HEAD.format(count=len(CANDIDATES), forms=len(FORMS), draws=DRAWS)
        + "\n".join([*report(sets), *bias_section(sets)])
        + "\n"
    )
    wishes.output.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
