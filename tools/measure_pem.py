"""PEM beside people, and beside BLEU, chrF and TESLA-M: the figures and the plot of docs/pem.md.

    measure_pem.py [--pivots zh ...] [--plot docs/pem-scatter.svg]

Held-out pairs of ParaBank (every third original), with and without the paper's controls; ParaScore-Twitter. With
`--pivots` a model is trained for each set of pivot languages (joined by commas) and only they are compared.
"""

from __future__ import annotations

import argparse
import csv
import gzip
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from build_pem import LANGUAGE_MODEL, PARABANK, split
from tesla_eval import stats
from tesla_eval.meta.drawing import Dot, Drawing, Line, Shape, Words, write_drawing
from tesla_eval.metrics import Pem, create_metric
from tesla_eval.metrics.pem import pem_features
from tesla_eval.training.paraphrases import (
    FULLY_NOVEL,
    SHUFFLED_EVERY,
    RatedPair,
    novelty,
    overall_score,
    read_parabank,
    shared_words,
    shuffled,
)
from tesla_eval.training.pem import train_pem, with_controls
from tesla_eval.training.svr import Grid

Scores = dict[str, npt.NDArray[np.float64]]

TWITTER = PARABANK.with_name("parascore_twitter.tsv.gz")
BASELINES = {"bleu": "BLEU", "chrf": "chrF", "m": "TESLA-M"}
HIGH_ADEQUACY, HIGH_GRAMMAR = 75.0, 1.5  # four of five on the paper's scale
ADEQUATE, GRAMMATICAL = 80.0, 1.5  # for the ordering
BUILT_IN = Grid((10.0,), (0.3,), (0.3,))  # what the search found for the built-in model
PAPER_TABLE_2 = {
    "adequacy": 0.7635,
    "grammar": 0.3736,
    "dissimilarity": -0.3737,
    "dissimilarity, both high": 0.8881,
}


def pearson(values: npt.NDArray[np.float64], target: npt.NDArray[np.float64]) -> float:
    return stats.pearson(values, target).value


def score_all(metric: Pem, originals: Sequence[str], paraphrases: Sequence[str]) -> Scores:
    found = metric.score_segments(paraphrases, [originals])
    scores = {"PEM": found.scores, **dict(zip(metric.feature_names, found.features.T, strict=True))}
    for name, title in BASELINES.items():
        scores[title] = create_metric(name, "en").score_segments(paraphrases, [originals]).scores
    return scores


def correlations(values: npt.NDArray[np.float64], target: npt.NDArray[np.float64]) -> str:
    return f"{pearson(values, target):.3f} / {stats.spearman(values, target).value:.3f}"


def table(scores: Scores, columns: dict[str, tuple[npt.NDArray[np.intp], npt.NDArray[np.float64]]]) -> None:
    """Rows are metrics; a column is a choice of pairs (which may repeat) and what people said of them."""
    print("| | " + " | ".join(columns) + " |")
    print("|---|" + "---|" * len(columns))
    for name, values in scores.items():
        cells = [correlations(values[pairs], target) for pairs, target in columns.values()]
        print(f"| {name} | " + " | ".join(cells) + " |")
    print()


def single_judgements(pairs: Sequence[RatedPair], new: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """One row a judgement: the pair's place, overall, adequacy, grammar."""
    return np.array(
        [
            (place, overall_score(adequacy, grammar, float(new[place])), adequacy, grammar)
            for place, pair in enumerate(pairs)
            for adequacy, grammar in pair.ratings
        ]
    )


def by_system(pairs: Sequence[RatedPair], values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The mean of each system over the pairs that it made."""
    names = sorted({name for pair in pairs for name in pair.systems}, key=int)
    return np.array(
        [
            np.mean([v for pair, v in zip(pairs, values, strict=True) if name in pair.systems])
            for name in names
        ]
    )


def report_parabank(metric: Pem, held: Sequence[RatedPair]) -> tuple[Scores, list[RatedPair]]:
    pairs = with_controls(held, metric.features, salad=False)
    scores = score_all(metric, [p.original for p in pairs], [p.paraphrase for p in pairs])
    count = len(held)
    rated = np.arange(count)
    overall = np.array([pair.overall for pair in pairs])
    adequacy = np.array([np.mean([a for a, _ in pair.ratings]) for pair in held])
    grammar = np.array([np.mean([g for _, g in pair.ratings]) for pair in held])
    new = novelty([p.original for p in held], [p.paraphrase for p in held], "en")
    single = single_judgements(held, new)
    place = single[:, 0].astype(np.intp)
    print(
        f"ParaBank, {count} held-out pairs of {len({p.group for p in held})} originals; Pearson / Spearman\n"
    )
    table(scores, {
        "overall, with controls": (np.arange(len(pairs)), overall), "overall": (rated, overall[:count]),
        "adequacy": (rated, adequacy), "grammar": (rated, grammar), "one rater's overall": (place, single[:, 1]),
        "one rater's adequacy": (place, single[:, 2]), "one rater's grammar": (place, single[:, 3]),
    })  # fmt: skip
    shared = shared_words([p.original for p in held], [p.paraphrase for p in held], "en")
    reworded = np.flatnonzero(shared <= FULLY_NOVEL)
    chosen = np.flatnonzero(np.isin(place, reworded))
    print(f"The same, {len(reworded)} pairs that share at most {FULLY_NOVEL:.0%} of their words\n")
    table(scores, {
        "adequacy": (reworded, adequacy[reworded]), "grammar": (reworded, grammar[reworded]),
        "one rater's adequacy": (place[chosen], single[chosen, 2]),
        "one rater's grammar": (place[chosen], single[chosen, 3]),
    })  # fmt: skip
    systems = {name: by_system(held, values[:count]) for name, values in scores.items()}
    every = np.arange(len(next(iter(systems.values()))))
    print(f"The same, {len(every)} systems\n")
    table(systems, {
        name: (every, by_system(held, target))
        for name, target in (("overall", overall[:count]), ("adequacy", adequacy), ("grammar", grammar))
    })  # fmt: skip
    report_table_2(scores, held, overall, adequacy, grammar)
    report_order(metric, scores["PEM"], pairs, held, adequacy, grammar)
    return scores, pairs


def report_table_2(scores: Scores, held: Sequence[RatedPair], overall, adequacy, grammar) -> None:  # type: ignore[no-untyped-def]
    """Pearson of criteria with overall, controls included, as in the paper's table 2."""
    controls = (len(overall) - len(held)) // 3
    a = np.concatenate([adequacy, np.tile([100.0, 0.0, 0.0], controls)])
    g = np.concatenate([grammar, np.tile([2.0, 2.0, 0.0], controls)])
    different = 1 - scores["dissimilarity"]
    high = (a >= HIGH_ADEQUACY) & (g >= HIGH_GRAMMAR)
    found = {
        "adequacy": pearson(a, overall), "grammar": pearson(g, overall), "dissimilarity": pearson(different, overall),
        "dissimilarity, both high": pearson(different[high], overall[high]),
    }  # fmt: skip
    print("| criterion against overall | here | the paper's judges |\n|---|---|---|")
    for name, value in found.items():
        print(f"| {name} | {value:.3f} | {PAPER_TABLE_2[name]:.3f} |")
    people = high[: len(held)]
    value = pearson(different[: len(held)][people], overall[: len(held)][people])
    print(f"\nwithout controls, both high: {value:.3f}; PEM itself there: "
          f"{pearson(different[high], scores['PEM'][high]):.3f}\n")  # fmt: skip


def report_order(metric: Pem, values, pairs, held, adequacy, grammar) -> None:  # type: ignore[no-untyped-def]
    """Good and new above the copy, the copy above what is unrelated and above noise."""
    count = len(held)
    copies = {pairs[i].group: values[i] for i in range(count, len(pairs), 3)}
    shared = shared_words([p.original for p in held], [p.paraphrase for p in held], "en")
    good = np.flatnonzero((adequacy >= ADEQUATE) & (grammar >= GRAMMATICAL) & (shared < 0.5))
    above = np.mean([values[i] > copies[held[i].group] for i in good])
    print(f"adequate, grammatical and new above the copy: {100 * above:.1f} % of {len(good)}")
    for name, step in (("unrelated sentences", 1), ("unigram noise", 2)):
        below = [copies[pairs[i].group] > values[i] for i in range(count + step, len(pairs), 3)]
        print(f"the copy above {name}: {100 * np.mean(below):.1f} % of {len(below)}")
    originals = list(dict.fromkeys(pair.original for pair in held))
    salads = list(shuffled([text for text in originals for _ in range(SHUFFLED_EVERY)]))  # of every original
    found = metric.score_segments([s.paraphrase for s in salads], [[s.original for s in salads]]).scores
    print(f"PEM of originals with their words shuffled: {found.mean():.2f} on average\n")


def report_twitter(metric: Pem) -> None:
    with gzip.open(TWITTER, "rt", encoding="utf-8", newline="\n") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
    scores = score_all(metric, [row["source"] for row in rows], [row["candidate"] for row in rows])
    human = np.array([float(row["score"]) for row in rows])
    there = np.flatnonzero(~np.isnan(scores["adequacy"]) & ~np.isnan(scores["fluency"]))
    print(f"ParaScore-Twitter, {len(there)} candidates\n")
    table(scores, {"same meaning": (there, human[there])})


def draw(scores: Scores, pairs: Sequence[RatedPair], path: Path) -> None:
    """PEM against the overall score, a dot a pair."""
    width, height, left, bottom = 460.0, 420.0, 60.0, 370.0
    across = lambda value: left + (value - 1) * 94  # noqa: E731
    up = lambda value: bottom - (value - 1) * 82  # noqa: E731
    shapes: list[Shape] = [
        Words(width / 2, 20, f"PEM and people: {len(pairs)} held-out pairs of ParaBank and controls")
    ]
    for tick in range(1, 6):
        shapes += [
            Line(across(tick), up(5), across(tick), bottom, "#dddddd"), Words(across(tick), bottom + 16, str(tick)),
            Line(left, up(tick), across(5), up(tick), "#dddddd"), Words(left - 10, up(tick) + 4, str(tick)),
        ]  # fmt: skip
    random = np.random.default_rng(0)
    for pair, value in zip(pairs, scores["PEM"], strict=True):
        made = not pair.ratings
        jitter = random.uniform(-0.04, 0.04) if made else 0.0
        shapes.append(
            Dot(
                round(across(pair.overall + jitter), 1),
                round(up(float(value)), 1),
                "",
                "#c0392b" if made else "#1f5fa8",
                1.5,
            )
        )
    shapes += [
        Words(width / 2, height - 14, "overall score of the raters"),
        Words(18, height / 2, "PEM", turned=True),
    ]
    shapes.append(Words(across(4.4), up(1.15), "red: controls", size=11))
    write_drawing(Drawing(width, height, shapes), path)


def compare_pivots(choices: Sequence[str]) -> None:
    train, held = split(read_parabank(str(PARABANK)))
    print(
        "| pivots | overall, with controls | overall | adequacy part against raw adequacy |\n|---|---|---|---|"
    )
    for choice in choices:
        pivots = choice.split(",")
        features = pem_features("en", pivots, LANGUAGE_MODEL)
        metric = Pem(
            model=train_pem(with_controls(train, features), "en", pivots, LANGUAGE_MODEL, grid=BUILT_IN)
        )
        pairs = with_controls(held, features, salad=False)
        found = metric.score_segments([p.paraphrase for p in pairs], [[p.original for p in pairs]])
        overall = np.array([pair.overall for pair in pairs])
        adequacy = np.array([np.mean([a for a, _ in pair.ratings]) for pair in held])
        count = len(held)
        print(f"| {' + '.join(pivots)} | {correlations(found.scores, overall)} | "
              f"{correlations(found.scores[:count], overall[:count])} | "
              f"{correlations(found.features[:count, 0], adequacy)} |", flush=True)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pivots", nargs="+", default=[])
    parser.add_argument("--plot", type=Path)
    arguments = parser.parse_args()
    if arguments.pivots:
        compare_pivots(arguments.pivots)
        return
    metric = Pem(lang="en")
    _, held = split(read_parabank(str(PARABANK)))
    scores, pairs = report_parabank(metric, held)
    report_twitter(metric)
    if arguments.plot:
        draw(scores, pairs, arguments.plot)


if __name__ == "__main__":
    main()
