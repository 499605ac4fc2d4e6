"""Write summary-results.md: how well summary metrics agree with people on data sets that they did not learn from.

    python -m research.summary_results [-o FILE]

Data: ../shared/data/summaries. `s-x` is scored with a share and an amount that were chosen without the data set, the
choice nested in three sets. Intervals: 1,000 draws of topics.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np

from tesla_eval import TeslaS, TeslaSX, create_metric
from tesla_eval.base.arrays import FloatArray
from tesla_eval.judgements.summaries import OVERALL, SummarySet, read_summaries
from tesla_eval.metrics.cache import ScoreCache
from tesla_eval.metrics.tesla_s_x import amount_of_source, distinct_words
from tesla_eval.statistics.correlation import kendall, pearson, spearman

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT.parent / "shared" / "data" / "summaries"
SETS = ("newsroom", "realsumm", "summeval", "summeval_op")
ROUGE = tuple(
    f"{name}{kind}"
    for kind in ("", "-recall")
    for name in ("rouge1", "rouge2", "rougel", "rougelsum", "rougesu4")
)
PLAIN = ("s", "s-recall", "s-source", *ROUGE, "bleu", "chrf")
BY_DIMENSION = (
    "s",
    "s-recall",
    "s-x",
    "s-source",
    "rouge1",
    "rouge1:part=recall",
    "rougelsum:part=recall",
    "chrf",
    "words",
)
OURS, WORDS = "s-x", "words"
STRUCTURES = tuple(product((1, 3), (1, 2, 3)))
"""The most occurrences of a word that count, and how many times the words of the models are enough."""
SHARES = tuple(k / 10 for k in range(11))
NEAR = 0.8
"""Length is controlled by comparing only summaries of which the shorter has so much of the longer one's words."""
OVERRATED = ("ext/refresh_out", "abs/fast_abs_rl_out_rerank")
DRAWS, SEED = 1000, 12345

HEAD = """# Results on summaries

Written by

```
python -m research.summary_results
```

Four data sets with human scores: Newsroom (7 systems × 60 topics, one model, mean of four scores), REALSumm (25 × 100,
one model, LitePyramid recall), SummEval (16 × 100, eleven models, mean of four scores) and SummEval-OP (12 × 32 opinion
summaries, most by large language models; one human summary as the model; mean of seven scores). All four were in view
when these metrics were designed. Only means over raters are public, so that no human ceiling can be computed.

τ is Kendall's tau-b of the summaries of a topic, its mean over the topics. **τ, same length** is (concordant −
discordant) / pairs over all pairs of summaries of a topic that people told apart and of which the shorter has at least
80 % of the longer one's words. In brackets: 95 % intervals over 1,000 draws of topics. `words` is the number of words.
With several model summaries the best counts, for ROUGE too. DICOMER and CREMER have [a page of their
own](summary-tables.md).

"""

Scores = dict[str, FloatArray]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "research" / "summary-results.md")
    wishes = parser.parse_args()
    if not DATA.is_dir():
        raise SystemExit(f"{DATA} is needed")
    sets = {name: read_summaries(str(DATA / name)) for name in SETS}
    scores = {name: plain_scores(read) for name, read in sets.items()}
    choice = SharedChoice(sets)
    for name in sets:
        scores[name][OURS] = choice.table(name, *choice.without(name))
    studies = {name: Study(human_of(read), scores[name]) for name, read in sets.items()}
    parts = [
        HEAD,
        *summary_section(studies),
        *choice_section(choice, studies),
        *(line for name, study in studies.items() for line in set_section(name, sets[name], study)),
        *dimension_section(sets, scores),
        *what_recall_misses(),
    ]
    wishes.output.write_text("\n".join(parts), encoding="utf-8")


def human_of(read: SummarySet) -> FloatArray:
    return read.human[OVERALL] if OVERALL in read.human else next(iter(read.human.values()))


def texts_of(read: SummarySet) -> list[list[str]]:
    return [[text or "" for text in row] for row in read.hypotheses]


def plain_scores(read: SummarySet) -> Scores:
    tables = {}
    with ScoreCache() as cache_of_scores:
        for key in PLAIN:
            # Summaries of one line are cut into sentences.
            metric = create_metric(key, "en", **({"split": True} if key.startswith("rougelsum") else {}))
            sources = read.sources if metric.uses_source else None
            rows = [
                cache_of_scores.score(metric, row, read.reference_streams, sources=sources).scores
                for row in texts_of(read)
            ]
            tables[key] = np.array(rows)
    tables[WORDS] = np.array([[float(len(text.split())) for text in row] for row in texts_of(read)])
    return tables


class Pairs:
    """The pairs of summaries of a topic that people told apart, and which of them have about the same length."""

    def __init__(self, human: FloatArray, words: FloatArray) -> None:
        self.first, self.second = np.triu_indices(len(human), 1)
        self.human = np.nan_to_num(np.sign(human[self.first] - human[self.second]))
        shorter, longer = (f(words[self.first], words[self.second]) for f in (np.minimum, np.maximum))
        self.near = (self.human != 0) & (shorter >= NEAR * longer)

    def near_sums(self, table: FloatArray) -> tuple[FloatArray, FloatArray]:
        """For each topic concordant less discordant pairs of about the same length, and all of them."""
        agreed = np.sign(table[self.first] - table[self.second]) * self.human
        return (agreed * self.near).sum(axis=0), self.near.sum(axis=0)


def within_topics(human: FloatArray, table: FloatArray) -> FloatArray:
    """τ-b of each topic; 0 where a metric gives all summaries the same score."""
    return np.nan_to_num([kendall(human[:, t], table[:, t]).value for t in range(human.shape[1])])


class Study:
    """The agreement of metrics with people on one set, and what draws of its topics give."""

    def __init__(self, human: FloatArray, scores: Scores) -> None:
        topics = human.shape[1]
        draws = np.random.default_rng(SEED).integers(topics, size=(DRAWS, topics))
        weights = np.stack([np.bincount(draw, minlength=topics) for draw in draws])
        pairs = Pairs(human, scores[WORDS])
        self.near_pairs = int(pairs.near.sum())
        self.values: dict[str, FloatArray] = {}
        self.draws: dict[str, FloatArray] = {}
        for name, table in scores.items():
            within = within_topics(human, table)
            agreed, count = pairs.near_sums(table)
            means = human.mean(axis=1), table.mean(axis=1)
            systems = [correlation(*means).value for correlation in (pearson, spearman, kendall)]
            self.values[name] = np.array([within.mean(), agreed.sum() / count.sum(), *systems])
            self.draws[name] = np.stack(
                [weights @ within / topics, (weights @ agreed) / np.maximum(weights @ count, 1)]
            )

    def cell(self, metric: str, column: int) -> str:
        low, high = np.percentile(self.draws[metric][column], [2.5, 97.5])
        return f"{self.values[metric][column]:.3f} [{low:.3f}, {high:.3f}]"


class SharedChoice:
    """`s-x` by what it may be made of: the amount's definition (6 structures) and its share (tenths).

    A structure is chosen by leaving out each training set in turn, the share by all training sets; both by the mean
    of τ and of τ at the same length.
    """

    def __init__(self, sets: Mapping[str, SummarySet]) -> None:
        self.human = {name: human_of(read) for name, read in sets.items()}
        self.pairs: dict[str, Pairs] = {}
        self.content: dict[str, FloatArray] = {}
        self.factors: dict[str, FloatArray] = {}
        self.amounts: dict[tuple[str, tuple[int, int]], FloatArray] = {}
        metric = TeslaSX()
        for name, read in sets.items():
            assert read.sources is not None
            texts = texts_of(read)
            words = np.array([[float(len(text.split())) for text in row] for row in texts])
            self.pairs[name] = Pairs(self.human[name], words)
            parts = np.array(
                [metric.score_segments(row, read.reference_streams, read.sources).features for row in texts]
            )
            self.content[name], self.factors[name] = parts[:, :, 0], parts[:, :, 2:].prod(axis=2)
            flat = [text for row in texts for text in row]
            y, x, *sides = metric.content.analysis.analyse(
                flat, read.sources, *(texts for texts in map(list, read.references))
            )
            models = np.array([distinct_words(side).mean() for side in sides])
            topic = np.tile(np.arange(len(read.topics)), len(read.systems))
            for structure in STRUCTURES:
                amount = amount_of_source(y, x, topic, models[topic], *structure)
                self.amounts[name, structure] = amount.reshape(words.shape)

    def table(self, name: str, structure: tuple[int, int], share: float) -> FloatArray:
        parts = (1 - share) * self.content[name] + share * self.amounts[name, structure]
        return np.asarray(parts * self.factors[name])

    @cache  # noqa: B019  # lives as long as the program
    def agreement(self, name: str, structure: tuple[int, int], share: float) -> float:
        table = self.table(name, structure, share)
        agreed, count = self.pairs[name].near_sums(table)
        return float(within_topics(self.human[name], table).mean() + agreed.sum() / count.sum()) / 2

    def share(self, names: Sequence[str], structure: tuple[int, int]) -> float:
        return max(SHARES, key=lambda share: sum(self.agreement(name, structure, share) for name in names))

    def choose(self, names: Sequence[str]) -> tuple[tuple[int, int], float]:
        def held_out(structure: tuple[int, int]) -> float:
            return sum(
                self.agreement(name, structure, self.share([one for one in names if one != name], structure))
                for name in names
            )

        structure = max(STRUCTURES, key=held_out)
        return structure, self.share(names, structure)

    def without(self, name: str) -> tuple[tuple[int, int], float]:
        return self.choose([one for one in SETS if one != name])


def summary_section(studies: Mapping[str, Study]) -> Iterator[str]:
    first = next(iter(studies.values()))
    yield "## Mean over the data sets\n"
    yield "| metric | τ within topics | τ, same length | systems: r | ρ | τ |"
    yield "|---|--:|--:|--:|--:|--:|"
    rows = []
    for metric in first.values:
        values = np.mean([study.values[metric] for study in studies.values()], axis=0)
        draws = np.mean([study.draws[metric] for study in studies.values()], axis=0)
        low, high = np.percentile(draws, [2.5, 97.5], axis=1)
        cells = [f"{values[k]:.3f} [{low[k]:.3f}, {high[k]:.3f}]" for k in (0, 1)]
        rows.append((-values[0], metric, [*cells, *(f"{value:.3f}" for value in values[2:])]))
    yield from (f"| {metric} | {' | '.join(cells)} |" for _, metric, cells in sorted(rows))
    yield ""
    for k, label in enumerate(("τ", "τ at the same length")):
        mean_draws = {m: np.mean([s.draws[m][k] for s in studies.values()], axis=0) for m in first.values}
        others = [metric for metric in first.values if metric not in (OURS, "bleu")]
        shares = [f"{m} {100 * (mean_draws[OURS] > mean_draws[m]).mean():.0f} %" for m in others]
        yield f"Share of the draws in which {OURS} has a higher mean {label} than: {', '.join(shares)}.\n"


def choice_section(choice: SharedChoice, studies: Mapping[str, Study]) -> Iterator[str]:
    yield f"## {OURS}, each set left out\n"
    yield f"{len(STRUCTURES) * len(SHARES)} candidates: the most occurrences of a word that count (1 or 3), the"
    yield "size at which the amount is full (1, 2 or 3 times the words of the models), and the share of the"
    yield "amount in tenths. From all sets:"
    (often, size), share = choice.choose(SETS)
    yield f"{often} occurrences, {size} times, share {share:g}; this ships.\n"
    shown = (OURS, "s-recall", "s", "rouge1:part=recall", "rougelsum:part=recall", "chrf", WORDS)
    for column, label in enumerate(("τ within topics", "τ, same length")):
        yield f"| {label} | {' | '.join(shown)} | chosen without it |"
        yield f"|---|{'--:|' * (len(shown) + 1)}"
        for name, study in studies.items():
            (often, size), share = choice.without(name)
            pairs = f" ({study.near_pairs} pairs)" if column else ""
            cells = " | ".join(study.cell(metric, column) for metric in shown)
            yield f"| {name}{pairs} | {cells} | {often}, {size}, {share:g} |"
        yield ""


def set_section(name: str, read: SummarySet, study: Study) -> Iterator[str]:
    yield f"## {name}\n"
    yield f"{len(read.systems)} systems, {len(read.topics)} topics.\n"
    yield "| metric | τ within topics | τ, same length | systems: r | ρ | τ |"
    yield "|---|--:|--:|--:|--:|--:|"
    for metric, values in study.values.items():
        cells = [study.cell(metric, 0), study.cell(metric, 1), *(f"{value:.3f}" for value in values[2:])]
        yield f"| {metric} | {' | '.join(cells)} |"
    yield ""


def dimension_section(sets: Mapping[str, SummarySet], scores: Mapping[str, Scores]) -> Iterator[str]:
    """τ within topics and r of systems for every single human score."""
    yield "## By human score\n"
    yield "τ within topics, then r of systems.\n"
    for name, read in sets.items():
        if len(read.human) > 1:
            yield f"| {name} | {' | '.join(read.human)} |"
            yield f"|---|{'--:|' * len(read.human)}"
            for metric in BY_DIMENSION:
                table = scores[name][metric]
                cells = [
                    f"{within_topics(human, table).mean():.3f} / "
                    f"{pearson(human.mean(axis=1), table.mean(axis=1)).value:.3f}"
                    for human in read.human.values()
                ]
                yield f"| {metric} | {' | '.join(cells)} |"
            yield ""


def what_recall_misses() -> Iterator[str]:
    """REALSumm's recall by feature and by discount: where the system level is lost and the summary level won."""
    outputs = read_summaries(str(DATA / "realsumm"))
    human = outputs.human["litepyramid_recall"]
    texts = [text or "" for row in outputs.hypotheses for text in row]
    references = [models[0] for models in outputs.references] * len(outputs.systems)
    odd = np.array([system in OVERRATED for system in outputs.systems])
    abstractive = np.array([system.startswith("abs/") for system in outputs.systems])

    def row(name: str, scores: Sequence[float]) -> str:
        mine = np.asarray(scores).reshape(human.shape)
        groups = [np.ones(len(human), bool), abstractive, ~abstractive, ~odd]
        cells = [pearson(human[group].mean(axis=1), mine[group].mean(axis=1)).value for group in groups]
        cells.append(pearson(human.ravel(), mine.ravel()).value)
        return f"| {name} | {' | '.join(f'{cell:.3f}' for cell in cells)} |"

    yield "## What the recall of unigrams and skip bigrams sees\n"
    yield "REALSumm, Pearson; systems: all, abstractive only, extractive only, all but two that recall"
    yield "overrates most; then single summaries. Words in a mean summary of theirs and of the other systems:"
    lengths = np.array([len(text.split()) for text in texts]).reshape(human.shape).mean(axis=1)
    theirs = ", ".join(f"{name} {lengths[outputs.systems.index(name)]:.0f}" for name in OVERRATED)
    yield f"{theirs}; others {lengths[~odd].min():.0f} to {lengths[~odd].max():.0f}.\n"
    yield "| recall of | systems | abstractive | extractive | without the two | summaries |"
    yield "|---|--:|--:|--:|--:|--:|"
    for discount in (0.1, 0.3, 1.0):
        features = TeslaS(discount=discount, alpha=1.0).corpus_score(texts, [references]).features
        for name, scores in (
            ("`s.1`", features[:, 0]),
            ("`s.skip`", features[:, 1]),
            ("both", features.mean(axis=1)),
        ):
            yield row(f"{name}, function words weigh {discount:g}", scores)
    for name in ("rouge1:part=recall", "rouge2:part=recall", "rougesu4:part=recall"):
        yield row(name, create_metric(name, "en").corpus_score(texts, [references]).segments)
    yield row("words in the summary", [float(len(text.split())) for text in texts])
    yield ""


if __name__ == "__main__":
    main()
