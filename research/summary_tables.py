"""Write summary-tables.md: tables 3 to 5 of the paper on summaries (2012) on public sets.

    python -m research.summary_tables [-o FILE]

Data: ../shared/data/summaries. The recipe is that of the shipped models (packages/papers/tools/build_dicomer.py),
trained on the other sets, or on other topics of the same set.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from build_dicomer import RATED, Laboratory, Learned, coherence, others
from tesla_eval import create_metric
from tesla_eval.base.arrays import FloatArray
from tesla_eval.judgements.summaries import OVERALL, SummarySet
from tesla_eval.statistics.correlation import kendall, pearson, spearman
from tesla_eval_papers.discourse.roles import VARIANTS, Variant

ROOT = Path(__file__).resolve().parents[1]
DRAWS, SEED, FOLDS = 1000, 2012, 5
CORRELATIONS = {"Pearson": pearson, "Spearman": spearman, "Kendall": kendall}
COLUMNS = (*CORRELATIONS, "Kendall within topics")
ROUGE = {"R-2": "rouge2:part=recall", "R-SU4": "rougesu4:part=recall"}
KERNELS = {"CREMER LF": "linear", "CREMER PF": "poly", "CREMER RBF": "rbf"}
READABILITY = {
    "R-2": (0.7524, 0.3975, 0.2925), "R-SU4": (0.7840, 0.3953, 0.2925), "LIN": (0.8556, 0.6593, 0.4953),
    "LIN+C": (0.8612, 0.6703, 0.4984), "LIN+E": (0.8619, 0.6855, 0.5079), "DICOMER": (0.8666, 0.7122, 0.5348),
}  # fmt: skip
RESPONSIVENESS = {
    "R-2": (0.9416, 0.7897, 0.6096), "R-SU4": (0.9545, 0.7902, 0.6017), "CREMER LF": (0.9381, 0.8346, 0.6635),
    "CREMER PF": (0.9621, 0.8567, 0.6921), "CREMER RBF": (0.9716, 0.8836, 0.7206),
}  # fmt: skip
"""Tables 3 and 5 of the paper, initial task: Pearson, Spearman and Kendall of systems."""

HEAD = """# The paper's tables on summaries, each set left out

Written by

```
python -m research.summary_tables
```

Tables 3, 4 and 5 of Lin, Liu, Ng and Kan (2012) on public data. TAC's summaries need an agreement with NIST, so the
sets are SummEval (16 systems, 100 topics), Newsroom (7, 60) and SummEval-OP (12, 32). Models are trained as in the
paper ([DICOMER](../docs/dicomer.md), [CREMER](../docs/cremer.md)), in two ways:

- on the **other two sets**. This is what to expect on data of your own. (The shipped models learn from all three
  sets, and also from permuted documents.)
- on **other topics of the same set**, in five folds. This is nearer to the paper, where models learned from TAC 2009
  and 2010 and were tested on TAC 2011: the same task, summaries of one length. But here the systems are the same in
  training and test, so the model may know them by their habits.

*Readability* is the rating of coherence, *responsiveness* the mean of all ratings. For REALSumm, which has no ratings
of readability, responsiveness is the recall of its content units, and the models learned from all three sets.

Correlations are of systems; those within topics are of single summaries, their mean over the topics. R-2 and R-SU4
are recall, as in TAC. Brackets hold 95 % of 1,000 draws of topics. The column *paper* has TAC 2011's initial task.
"""

Tables = Mapping[str, FloatArray]
"""Metric → systems × topics."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "research" / "summary-tables.md")
    text = "".join(f"{line}\n" for line in page(Laboratory()))
    parser.parse_args().output.write_text(text, encoding="utf-8", newline="\n")


def page(laboratory: Laboratory) -> Iterator[str]:
    """The lines of the page."""
    yield from HEAD.splitlines()
    for title, study in (("other sets", _other_sets), ("other topics of the same set", _other_topics)):
        yield from ("", f"## Trained on {title}")
        yield from readability(laboratory, study)
        yield from responsiveness(laboratory, study)


Scorer = Callable[[Learned, str, Sequence[int]], FloatArray]
"""From what was learned, a set and topics of it to scores, systems × topics."""
Study = Callable[[Laboratory, str, Scorer], FloatArray]


def _other_sets(laboratory: Laboratory, name: str, scorer: Scorer) -> FloatArray:
    return scorer(laboratory.whole(others(name)), name, range(len(laboratory.summaries[name].topics)))


def _other_topics(laboratory: Laboratory, name: str, scorer: Scorer) -> FloatArray:
    ((_, topics),) = laboratory.whole([name])
    table = np.empty((len(laboratory.summaries[name].systems), len(topics)))
    for fold in range(FOLDS):
        learned = tuple(topic for topic in topics if topic % FOLDS != fold)
        table[:, fold::FOLDS] = scorer(((name, learned),), name, topics[fold::FOLDS])
    return table


def readability(laboratory: Laboratory, study: Study) -> Iterator[str]:
    """Tables 3 and 4."""

    def scorer(variant: Variant) -> Scorer:
        return lambda learned, name, topics: laboratory.scores(
            laboratory.model(variant, learned), name, topics
        )

    sets = {
        name: Agreement(
            coherence(laboratory.summaries[name]),
            {
                **rouge(laboratory.summaries[name]),
                **{variant.upper(): study(laboratory, name, scorer(variant)) for variant in VARIANTS},
            },
        )
        for name in RATED
    }
    yield from tables("Table 3: readability", READABILITY, sets)
    yield from ("", "### Table 4: significance of DICOMER over LIN", "")
    yield "Koehn's test: the share of 1,000 draws of topics in which DICOMER correlates better than LIN. The paper has"
    yield "at least 95 % for Pearson, Spearman and Kendall."
    yield ""
    yield f"| | {' | '.join(RATED)} |"
    yield f"|---|{'--:|' * len(RATED)}"
    for place, column in enumerate(COLUMNS):
        wins = (sets[name].better(place, "DICOMER", "LIN") for name in RATED)
        yield f"| {column} | {' | '.join(f'{100 * share:.1f} %' for share in wins)} |"


def responsiveness(laboratory: Laboratory, study: Study) -> Iterator[str]:
    """Table 5."""

    def scorer(kernel: str) -> Scorer:
        def scores(learned: Learned, name: str, topics: Sequence[int]) -> FloatArray:
            regression, _ = laboratory.cremer(learned, kernel)
            rows = laboratory.features(laboratory.model("dicomer", learned), name, topics)
            return regression.predict(rows).reshape(-1, len(topics))

        return scores

    names = laboratory.summaries if study is _other_sets else RATED
    sets = {}
    for name in names:
        read = laboratory.summaries[name]
        human = read.human[OVERALL] if name in RATED else next(iter(read.human.values()))
        rows = {row: study(laboratory, name, scorer(kernel)) for row, kernel in KERNELS.items()}
        sets[name] = Agreement(human, {**rouge(read), "TESLA-S": laboratory.content(name), **rows})
    yield from tables("Table 5: responsiveness", RESPONSIVENESS, sets)


def rouge(read: SummarySet) -> dict[str, FloatArray]:
    """Recall of ROUGE-2 and ROUGE-SU4, systems × topics."""
    metrics = {row: create_metric(name, "en") for row, name in ROUGE.items()}
    return {
        row: np.array(
            [
                metric.score_segments([text or "" for text in texts], read.reference_streams).scores
                for texts in read.hypotheses
            ]
        )
        for row, metric in metrics.items()
    }


class Agreement:
    """The correlations of metrics with people on one set, and what draws of its topics give."""

    def __init__(self, human: FloatArray, tables: Tables) -> None:
        topics = human.shape[1]
        draws = np.random.default_rng(SEED).integers(topics, size=(DRAWS, topics))
        weights = np.stack(
            [np.ones(topics, np.int64), *(np.bincount(draw, minlength=topics) for draw in draws)]
        )
        people = weights @ human.T
        self.values: dict[str, FloatArray] = {}
        """Metric → rows (0 is the set itself, the others are draws) by columns."""
        for name, scores in tables.items():
            within = np.nan_to_num([kendall(human[:, k], scores[:, k]).value for k in range(topics)])
            rows = [
                [correlation(x, y).value for correlation in CORRELATIONS.values()]
                for x, y in zip(people, weights @ scores.T, strict=True)
            ]
            self.values[name] = np.column_stack([rows, weights @ within / topics])

    def better(self, place: int, first: str, second: str) -> float:
        """The share of draws in which the first metric has the higher correlation."""
        return float((self.values[first][1:, place] > self.values[second][1:, place]).mean())

    def cell(self, name: str, place: int) -> str:
        column = self.values[name][:, place]
        low, high = np.nanquantile(column[1:], (0.025, 0.975))
        return f"{column[0]:.3f} [{low:.3f}, {high:.3f}]"


def tables(
    title: str, paper: Mapping[str, tuple[float, ...]], sets: Mapping[str, Agreement]
) -> Iterator[str]:
    """One table for each correlation."""
    yield from ("", f"### {title}")
    for place, column in enumerate(COLUMNS):
        yield ""
        yield f"| {column} | paper | {' | '.join(sets)} |"
        yield f"|---|{'--:|' * (len(sets) + 1)}"
        for name in next(iter(sets.values())).values:
            known = f"{paper[name][place]:.4f}" if name in paper and column in CORRELATIONS else "–"
            yield f"| {name} | {known} | {' | '.join(one.cell(name, place) for one in sets.values())} |"


if __name__ == "__main__":
    main()
