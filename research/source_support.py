"""Write source-support.md: does `s-source` tell supported summaries from others? Designed on one set, tried on another.

    python -m research.source_support [-o FILE]

Data: ../shared/data/faithfulness/qags.tsv.gz. A summary is supported if the majority of three people said so of every
sentence. Form and numbers of `s-source` are chosen on one set and reported on the other, both ways. Intervals: 1,000
draws of summaries.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tesla_eval import TeslaSSource
from tesla_eval.base.arrays import FloatArray, Index
from tesla_eval.judgements.summaries import read_summaries
from tesla_eval.language.analysis import AnalysedBatch, split_sentences
from tesla_eval.metrics.features.ngrams import WINDOW, SourceGroup
from tesla_eval.metrics.tesla_s_source import pieces
from tesla_eval.statistics.correlation import kendall, spearman

Mask = npt.NDArray[np.bool_]
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
PLAIN = (0.5, 0.5)
"""Words and pairs count alike, as in TESLA-S, and a doubt halves: nothing is chosen."""
REPLACES = 0.95
"""Other evidence replaces that of TESLA-S and TESLA-X only if it wins so many draws on the set where it is chosen."""
SMALLEST_GROUP = 4
JUDGED = {"summeval": "consistency", "summeval_op": "Faithfulness"}
"""Sets of summaries with a human score of support; `s-source` was not shaped on them."""
REMEDIES = {
    "pairs of lemmas": ("lemma", False, False),
    "pairs of lemmas in any order": ("lemma", True, False),
    "only pairs of words that the source has": ("lowered", False, True),
}
"""Other pairs, which might cost abstractive summaries less: the key of a word, any order, no pairs of unknown words."""

HEAD = """# What the source supports: QAGS

Written by `python -m research.source_support`.

Area under the curve for "people found every sentence supported" (QAGS, Wang et al. 2020: 235 summaries of CNN/DM, 239
of XSum), with 95 % intervals over {draws} draws of summaries. Unigram and bigram precision are over the words of the
whole summary.

**The evidence** of `s-source` comes from other metrics: TESLA-X's similar words, TESLA-S's skip bigrams. **Two
numbers**, `pair_share` and `doubted`, say how much pairs and doubts count, {count} candidates; `pair_share` is at most
a half, so that a sentence in other words keeps half of its support.

- *nothing chosen*: both numbers are a half. Words and pairs count alike, as in TESLA-S.
- *designed on the other set*: the best of {forms} other forms there, if it wins {replaces:.0%} of the draws there
  against the evidence of `s-source` with its best numbers; otherwise that. The forms compare words by vectors, by form,
  or by form with little weight on function words; pairs are skip bigrams with or without that weight, or what the
  closest sentence has; `pair_share` has no limit. No set tells these forms apart: without the rule the choice is noise.
- *best form on the other set*: the same without the rule.

Earlier designers of `s-source` had both sets in view, and the rule was added after the plain choice had failed. A
logistic regression with weights of 0 or more over all this evidence was tried as well. It is below the bars.

"""


class Judged:
    """Summaries with their sources and levels of human support, and what `s-source` and precisions see."""

    def __init__(self, texts: Sequence[str], sources: Sequence[str], level: Sequence[str]) -> None:
        self.texts, self.sources, self.level = texts, sources, np.array(level)
        self.metric = TeslaSSource()
        self.evidence = self.metric.evidence(texts, sources)
        self.words = np.array([float(len(text.split())) for text in texts])
        self.precisions = {n: precision(texts, sources, n) for n in (1, 2)}
        spans = zip(self.evidence.summary, self.evidence.spans, strict=True)
        self.sentences = [pieces(texts[k][slice(*span)]) for k, span in spans]

    @classmethod
    def read(cls, name: str) -> Judged:
        """A set of summaries with human scores; a level is a topic with a score."""
        read = read_summaries(str(DATA.parents[1] / "summaries" / name))
        assert read.sources is not None
        human = read.human[JUDGED[name]]
        rows = [
            (text, read.sources[t], f"{t} {human[k][t]:.2f}")
            for k, texts in enumerate(read.hypotheses)
            for t, text in enumerate(texts)
            if text and np.isfinite(human[k][t])
        ]
        return cls(*zip(*rows, strict=True))

    def support(self, pair_share: float, doubted: float) -> FloatArray:
        """The scores of the summaries."""
        return self.changed(self.evidence.words, self.evidence.pairs, pair_share, doubted)

    def changed(self, words: FloatArray, pairs: FloatArray, pair_share: float, doubted: float) -> FloatArray:
        """The scores with other evidence."""
        scores = replace(self.evidence, words=words, pairs=pairs).scores(pair_share, doubted)
        sums, counts = (
            np.bincount(self.evidence.summary, column, len(self.words))
            for column in (scores, self.evidence.worded)
        )
        return np.asarray(sums / np.maximum(counts, 1))

    def remedied(self, key: str, any_order: bool, known: bool) -> FloatArray:
        """The scores with other pairs."""
        wholes = list(dict.fromkeys(self.sources))
        x, y = self.metric.analysis.analyse(list(map(pieces, wholes)), self.sentences)
        place = {text: k for k, text in enumerate(wholes)}
        pairs = self.evidence.pairs.copy()
        bags = [_skip_bigrams(*_keys(x, k, key), any_order) for k in range(len(wholes))]
        present = [set(_keys(x, k, key)[0]) for k in range(len(wholes))]
        for k, summary in enumerate(self.evidence.summary):
            source = place[self.sources[summary]]
            words, weights = _keys(y, k, key)
            if known:
                weights = [w * (word in present[source]) for word, w in zip(words, weights, strict=True)]
            own = _skip_bigrams(words, weights, any_order)
            if (total := sum(own.values())) > 0:
                pairs[k] = sum(min(w, bags[source][pair]) for pair, w in own.items()) / total
            elif len(words) > 1:
                pairs[k] = 1.0
        return self.changed(self.evidence.words, pairs, *SHIPPED)


class Summaries(Judged):
    """The summaries of one set of QAGS, with other evidence too."""

    def __init__(self, rows: Sequence[dict[str, str]]) -> None:
        by_id: dict[str, list[dict[str, str]]] = {}
        for row in rows:
            by_id.setdefault(row["id"], []).append(row)
        self.supported = np.array([all(row["faithful"] == "1" for row in group) for group in by_id.values()])
        super().__init__(
            [" ".join(row["sentence"] for row in group) for group in by_id.values()],
            [group[0]["source"] for group in by_id.values()],
            self.supported.astype(str).tolist(),
        )
        votes = np.array([int(row["votes"].split("/")[0]) for row in rows])
        self.rater_agrees = float(np.maximum(votes, 3 - votes).mean() / 3)
        self._forms()

    def _forms(self) -> None:
        """Other evidence than that of `s-source`, for each sentence."""
        evidence, every = self.evidence, np.arange(len(self.sentences))
        own = [(k, span) for k, text in enumerate(self.sources) for span in split_sentences(text, "en")]
        inside = [pieces(self.sources[k][slice(*span)]) for k, span in own]
        sides = self.metric.analysis.analyse(list(map(pieces, self.sources)), self.sentences, inside)
        self.word_columns, self.pair_columns = {"vectors": evidence.words}, {}
        for name, discount in (("content", 0.1), ("form", 1.0)):
            group = SourceGroup(discount=discount).bind(self.metric.analysis)
            whole, parts, inner = (group.prepare(side) for side in sides)
            columns = np.nan_to_num(group.compare(whole, parts, evidence.summary, every)).T
            self.word_columns[name], self.pair_columns[name] = columns
            owner = np.array([k for k, _ in own])
            pairs = [(z, y) for y in every for z in np.flatnonzero(owner == evidence.summary[y])]
            near = np.nan_to_num(group.compare(inner, parts, *np.array(pairs).T)).mean(axis=1)
            self.pair_columns["closest"] = np.zeros(len(every))
            np.maximum.at(self.pair_columns["closest"], [y for _, y in pairs], near)

    def formed(self, words: str, pairs: str, pair_share: float, doubted: float) -> FloatArray:
        return self.changed(self.word_columns[words], self.pair_columns[pairs], pair_share, doubted)

    def best_of(self, score: Callable[..., FloatArray], candidates: Sequence[Any]) -> Any:
        return max(candidates, key=lambda candidate: area(score(*candidate), self.supported))

    def wins(self, ours: FloatArray, *others: FloatArray) -> float:
        """The share of the draws in which our area is above all others."""
        draws = _draws(len(self.words))
        areas = np.array(
            [[area(scores[draw], self.supported[draw]) for scores in (ours, *others)] for draw in draws]
        )
        return float((areas[:, 0] > areas[:, 1:].max(axis=1)).mean())


def _keys(batch: AnalysedBatch, text: int, key: str) -> tuple[list[int], list[float]]:
    """The words of a text by form or lemma, and their weights."""
    tokens = slice(batch.offsets[text], batch.offsets[text + 1])
    return getattr(batch, key)[tokens].tolist(), np.where(batch.function[tokens] > 0, 0.1, 1.0).tolist()


def _skip_bigrams(
    words: Sequence[int], weights: Sequence[float], any_order: bool
) -> Counter[tuple[int, int]]:
    bag: Counter[tuple[int, int]] = Counter()
    for first in range(len(words)):
        for second in range(first + 1, min(first + WINDOW + 2, len(words))):
            pair = words[first], words[second]
            bag[min(pair, pair[::-1]) if any_order else pair] += weights[first] * weights[second]  # type: ignore[assignment]
    return bag


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


def area(scores: FloatArray, positive: Mask) -> float:
    """The area under the curve: the share of pairs in the right order, a tie counting half."""
    difference = scores[positive][:, None] - scores[~positive][None]
    return float(((difference > 0) + 0.5 * (difference == 0)).mean())


def _draws(count: int) -> Index:
    return np.random.default_rng(SEED).integers(count, size=(DRAWS, count))


def _cell(scores: FloatArray, positive: Mask) -> str:
    draws = [area(scores[draw], positive[draw]) for draw in _draws(len(scores))]
    low, high = np.percentile(draws, [2.5, 97.5])
    return f"{area(scores, positive):.3f} [{low:.3f}, {high:.3f}]"


def report(sets: dict[str, Summaries]) -> Iterator[str]:
    chosen = {name: one.best_of(one.support, CANDIDATES) for name, one in sets.items()}
    formed = {name: one.best_of(one.formed, FORMS) for name, one in sets.items()}
    won = {
        name: one.wins(one.formed(*formed[name]), one.support(*chosen[name])) for name, one in sets.items()
    }
    rows: dict[str, list[str]] = {}
    notes: dict[str, str] = {}
    for name, one in sets.items():
        (other,) = (key for key in sets if key != name)
        designed = one.formed(*formed[other]) if won[other] >= REPLACES else one.support(*chosen[other])
        columns = {
            "number of words": one.words, "unigram precision": one.precisions[1],
            "bigram precision": one.precisions[2], "s-source, nothing chosen": one.support(*PLAIN),
            "s-source, designed on the other set": designed,
            "best form on the other set": one.formed(*formed[other]),
            "s-source, words alone": one.support(0.0, 1.0), "s-source, as it ships": one.support(*SHIPPED),
        }  # fmt: skip
        for label, scores in columns.items():
            rows.setdefault(label, []).append(_cell(scores, one.supported))
        bars = tuple(one.precisions.values())
        notes[name] = " and ".join(
            f"{100 * one.wins(scores, *bars):.0f} % ({label})"
            for label, scores in (
                ("nothing chosen", one.support(*PLAIN)),
                ("designed on the other set", designed),
            )
        )
    yield f"| | {' | '.join(sets)} |"
    yield f"|---|{'--:|' * len(sets)}"
    yield from (f"| {label} | {' | '.join(cells)} |" for label, cells in rows.items())
    yield ""
    for name, one in sets.items():
        pair_share, doubted = chosen[name]
        yield f"- {name}: above the better of the two precisions in {notes[name]} of the draws."
        yield (
            f"- Chosen on {name}: `pair_share` {pair_share:g}, `doubted` {doubted:g}. The best form there, "
            f"{formed[name]}, is above it in {100 * won[name]:.0f} % of the draws."
        )
        for label, mask in (
            ("an unknown name or number", one.evidence.unknown),
            ("a contradiction", one.evidence.contradicted),
        ):
            marked = np.bincount(one.evidence.summary, mask, len(one.words)) > 0
            yield (
                f"- {name}: {label} in {marked.sum()} summaries, of which {(~one.supported[marked]).sum()} are not "
                f"supported (of all: {100 * (~one.supported).mean():.0f} %)."
            )
        yield f"- {name}: one person agrees with the majority about {100 * one.rater_agrees:.0f} % of the sentences."
    yield ""


def bias_section(sets: dict[str, Summaries]) -> Iterator[str]:
    """How scores move with length and abstraction where people found the same support."""
    yield "## Length and abstraction where people found the same support\n"
    yield "Spearman's ρ within groups of summaries with the same human score, weighted by size, of a score with the"
    yield "number of words, and with abstraction (the share of bigrams that the source lacks). Groups: supported or not"
    yield "(QAGS); consistency (SummEval) or faithfulness (SummEval-OP) of one topic, groups of at least four.\n"
    judged = {name: Judged.read(name) for name in JUDGED}
    every: dict[str, Judged] = {**sets, **judged}
    yield "| | summaries | s-source: words | abstraction | unigrams: words | abstraction | bigrams: words |"
    yield "|---|--:|--:|--:|--:|--:|--:|"
    for name, one in every.items():
        ours, (unigrams, bigrams) = one.support(*SHIPPED), one.precisions.values()
        pairs = (
            (ours, one.words), (ours, 1 - bigrams), (unigrams, one.words), (unigrams, 1 - bigrams),
            (bigrams, one.words),
        )  # fmt: skip
        cells = (f"{_within(one, *pair):.2f}" for pair in pairs)
        yield f"| {name} | {sum(map(len, _groups(one)))} | {' | '.join(cells)} |"
    yield "\nMean score of the least and of the most abstractive third of the supported summaries:\n"
    yield "| | s-source | unigram precision | bigram precision |"
    yield "|---|--:|--:|--:|"
    for name, qags in sets.items():
        places = np.flatnonzero(qags.supported)
        places = places[np.argsort(1 - qags.precisions[2][places], kind="stable")]
        third = len(places) // 3
        cells = (
            f"{scores[places[:third]].mean():.2f}, {scores[places[-third:]].mean():.2f}"
            for scores in (qags.support(*SHIPPED), *qags.precisions.values())
        )
        yield f"| {name} | {' | '.join(cells)} |"
    yield from remedy_section(sets, every)
    yield "\n## Sets that `s-source` was not shaped on\n"
    yield "Kendall's τ of the summaries of a topic with what people said of support, its mean over the topics:\n"
    yield "| | s-source | unigram precision | bigram precision | number of words |"
    yield "|---|--:|--:|--:|--:|"
    for name, one in judged.items():
        topic, human = np.array([pair.split() for pair in one.level]).astype(float).T
        columns = (one.support(*SHIPPED), *one.precisions.values(), one.words)
        cells = (f"{_tau(topic, human, scores):.3f}" for scores in columns)
        yield f"| {name}, {JUDGED[name].lower()} | {' | '.join(cells)} |"
    yield ""


def remedy_section(sets: dict[str, Summaries], every: dict[str, Judged]) -> Iterator[str]:
    """Other pairs of words, tried so that abstraction costs less."""
    yield "\nTried so that abstraction costs less: other pairs. ρ with abstraction at equal support, and the area under"
    yield "the curve. None changes ρ by more than a few hundredths, so none was taken.\n"
    yield f"| | {' | '.join(every)} | {' | '.join(f'area, {name}' for name in sets)} |"
    yield f"|---|{'--:|' * (len(every) + len(sets))}"
    for label, remedy in {"s-source, as it ships": None, **REMEDIES}.items():
        scores = {
            name: one.support(*SHIPPED) if remedy is None else one.remedied(*remedy)
            for name, one in every.items()
        }
        cells = [f"{_within(one, scores[name], 1 - one.precisions[2]):.2f}" for name, one in every.items()]
        cells += [f"{area(scores[name], one.supported):.3f}" for name, one in sets.items()]
        yield f"| {label} | {' | '.join(cells)} |"


def _tau(topic: FloatArray, human: FloatArray, scores: FloatArray) -> float:
    values = [kendall(human[topic == one], scores[topic == one]).value for one in np.unique(topic)]
    return float(np.nanmean(values))


def _groups(one: Judged) -> list[Index]:
    """Summaries on which people agreed, in groups that are large enough."""
    groups = (np.flatnonzero(one.level == value) for value in np.unique(one.level))
    return [places for places in groups if len(places) >= SMALLEST_GROUP]


def _within(one: Judged, scores: FloatArray, other: FloatArray) -> float:
    values = [(len(places), spearman(scores[places], other[places]).value) for places in _groups(one)]
    known = [(count, value) for count, value in values if np.isfinite(value)]
    return float(np.average([value for _, value in known], weights=[count for count, _ in known]))


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
        HEAD.format(count=len(CANDIDATES), forms=len(FORMS), draws=DRAWS, replaces=REPLACES)
        + "\n".join([*report(sets), *bias_section(sets)])
        + "\n"
    )
    wishes.output.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
