"""PEM beside people, and beside BLEU, chrF and TESLA-M: the figures and the plot of docs/pem.md and research/pem.md.

    python -m research.pem [--plot docs/pem-scatter.svg] | --frontier

Held-out pairs of ParaBank (every third original), with and without the paper's controls; ParaScore-Twitter. With
`--frontier` other shapes of the overall score are tried, by cross-validation on what the built-in model learned from:
how far copies can be low and raw adequacy be met at once.
"""

from __future__ import annotations

import argparse
import csv
import gzip
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from build_pem import LANGUAGE_MODEL, PARABANK, PIVOTS, split, to_learn_from
from tesla_eval import statistics
from tesla_eval.judgements.meta.plots import Dot, Drawing, Line, Shape, Words, write_drawing
from tesla_eval.metrics import create_metric
from tesla_eval_papers import Pem
from tesla_eval_papers.judgements import (
    RatedPair,
    novelty,
    overall_score,
    read_parabank,
    shared_words,
)
from tesla_eval_papers.metrics.features.paraphrases import PARAPHRASE_FEATURES
from tesla_eval_papers.training.regressions import (
    GRID,
    compute_features,
    fit_support_vectors,
    paraphrase_features,
    with_controls,
)

Scores = dict[str, npt.NDArray[np.float64]]

TWITTER = PARABANK.with_name("parascore_twitter.tsv.gz")
BASELINES = {"bleu": "BLEU", "chrf": "chrF", "m": "TESLA-M"}
ADEQUATE, GRAMMATICAL = 80.0, 1.5  # for the ordering
BUILT_IN = replace(GRID, cost=(1.0,), gamma=(0.3,), epsilon=(0.2,))  # what the search found
NOVELTIES = (0.75, 0.85, 0.9, 0.95, 0.99)
REWORDED = 0.75  # pairs that share no more of their words are no near-copies


def shuffled(originals: Sequence[str], seed: int = 0) -> Iterator[RatedPair]:
    """Each original with its words in another order: nonsense that shares all its words."""
    random = np.random.default_rng(seed)
    for original in originals:
        words = original.split()
        yield RatedPair(original, " ".join(words[k] for k in random.permutation(len(words))), original, 1.0)


def pearson(values: npt.NDArray[np.float64], target: npt.NDArray[np.float64]) -> float:
    return statistics.pearson(values, target).value


def score_all(metric: Pem, originals: Sequence[str], paraphrases: Sequence[str]) -> Scores:
    found = metric.score_segments(paraphrases, [originals])
    scores = {"PEM": found.scores, **dict(zip(metric.feature_names, found.features.T, strict=True))}
    for name, title in BASELINES.items():
        scores[title] = create_metric(name, "en").score_segments(paraphrases, [originals]).scores
    return scores


def correlations(values: npt.NDArray[np.float64], target: npt.NDArray[np.float64]) -> str:
    return f"{pearson(values, target):.3f} / {statistics.spearman(values, target).value:.3f}"


def table(scores: Scores, columns: dict[str, tuple[npt.NDArray[np.intp], npt.NDArray[np.float64]]]) -> None:
    """Rows are metrics; a column is a choice of pairs (which may repeat) and what people said of them."""
    print("| | " + " | ".join(columns) + " |")
    print("|---|" + "---|" * len(columns))
    for name, values in scores.items():
        cells = [correlations(values[pairs], target) for pairs, target in columns.values()]
        print(f"| {name} | " + " | ".join(cells) + " |")
    print()


def by_system(
    pairs: Sequence[RatedPair], chosen: npt.NDArray[np.intp], values: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """The mean of each system over those of the chosen pairs that it made."""
    members: dict[str, list[int]] = {}
    for place in chosen.tolist():
        for name in pairs[place].systems:
            members.setdefault(name, []).append(place)
    return np.array([values[members[name]].mean() for name in sorted(members, key=int)])


def report_parabank(metric: Pem, held: Sequence[RatedPair]) -> tuple[Scores, list[RatedPair]]:
    pairs = with_controls(held, paraphrase_features("en", PIVOTS, LANGUAGE_MODEL))
    scores = score_all(metric, [p.original for p in pairs], [p.paraphrase for p in pairs])
    overall = np.array([pair.overall for pair in pairs])
    print(f"ParaBank, {len(held)} held-out pairs, {len(pairs) - len(held)} controls; Pearson / Spearman\n")
    table(scores, {"overall, with controls": (np.arange(len(pairs)), overall)})
    texts = [p.original for p in held], [p.paraphrase for p in held]
    shared, new = shared_words(*texts, "en"), novelty(*texts, "en")
    place = np.array([k for k, pair in enumerate(held) for _ in pair.ratings])
    given = np.array([rating for pair in held for rating in pair.ratings])
    single = {
        "overall": np.array([overall_score(a, g, new[k]) for k, (a, g) in zip(place, given, strict=True)]),
        "adequacy": given[:, 0], "grammar": given[:, 1], "adequacy × grammar": given[:, 0] * given[:, 1],
    }  # fmt: skip
    ratings = np.bincount(place)
    means = {name: np.bincount(place, values) / ratings for name, values in single.items()}
    for title, chosen in (
        ("all pairs", np.arange(len(held))),
        ("without copies", np.flatnonzero(scores["dissimilarity"][: len(held)] < 1)),
        (f"at most {REWORDED:.0%} of the words shared", np.flatnonzero(shared <= REWORDED)),
    ):
        judged = np.flatnonzero(np.isin(place, chosen))
        originals = len({held[k].group for k in chosen.tolist()})
        print(f"{title}: {len(chosen)} pairs of {originals} originals, {len(judged)} single judgements\n")
        table(scores, {
            **{name: (chosen, values[chosen]) for name, values in means.items()},
            **{f"one rater's {name}": (place[judged], values[judged]) for name, values in single.items()},
        })  # fmt: skip
        systems = {name: by_system(held, chosen, values) for name, values in scores.items()}
        every = np.arange(len(systems["PEM"]))
        print(f"{title}: {len(every)} systems\n")
        table(systems, {name: (every, by_system(held, chosen, values)) for name, values in means.items()})
    report_order(metric, scores["PEM"], pairs, held, means["adequacy"], means["grammar"])
    return scores, pairs


def good_and_new(held: Sequence[RatedPair], shared, adequacy, grammar):  # type: ignore[no-untyped-def]
    """Adequate, grammatical pairs that share less than half of their words, and where the copies of theirs are."""
    good = np.flatnonzero((adequacy >= ADEQUATE) & (grammar >= GRAMMATICAL) & (shared < 0.5))
    groups = list(dict.fromkeys(pair.group for pair in held))
    copy = {group: len(held) + 3 * number for number, group in enumerate(groups)}
    return good, np.array([copy[held[k].group] for k in good.tolist()])


def report_order(metric: Pem, values, pairs, held, adequacy, grammar) -> None:  # type: ignore[no-untyped-def]
    """Good and new above the copy, the copy above what is unrelated and above noise."""
    shared = shared_words([p.original for p in held], [p.paraphrase for p in held], "en")
    good, copies = good_and_new(held, shared, adequacy, grammar)
    above = values[good] > values[copies]
    print(f"adequate, grammatical and new above the copy: {100 * above.mean():.1f} % of {len(good)}")
    controls = values[len(held) :].reshape(-1, 3)
    for name, step in (("unrelated sentences", 1), ("unigram noise", 2)):
        below = controls[:, 0] > controls[:, step]
        print(f"the copy above {name}: {100 * below.mean():.1f} % of {len(below)}")
    originals = list(dict.fromkeys(pair.original for pair in held))
    salads = list(shuffled(originals))
    found = metric.score_segments([s.paraphrase for s in salads], [[s.original for s in salads]]).scores
    print(f"PEM of originals with their words shuffled: {found.mean():.2f} on average\n")


def report_frontier() -> None:
    """Shapes of the overall score on the originals learned from: raw adequacy against the order of copies."""
    train = to_learn_from(read_parabank(str(PARABANK)))
    features = paraphrase_features("en", PIVOTS, LANGUAGE_MODEL)
    pairs = with_controls(train, features)
    rows = compute_features(features, pairs)
    count = len(train)
    shared = shared_words([p.original for p in train], [p.paraphrase for p in train], "en")
    adequacy, grammar = np.array([np.mean(pair.ratings, axis=0) for pair in train]).T
    good, copies = good_and_new(train, shared, adequacy, grammar)
    new = rows[:count, 2] < 1
    made = np.array([pair.overall for pair in pairs[count:]])

    def line(name: str, values: npt.NDArray[np.float64], *more: float) -> None:
        cells = [correlations(values[:count], adequacy), correlations(values[:count][new], adequacy[new])]
        criteria = [f"{value:.3f}" for value in more] or [""]
        order = 100 * np.mean(values[good] > values[copies])
        print(f"| {name} | {' | '.join([*criteria, *cells])} | {order:.1f} % |")

    titles = ("novelty complete at", "overall, with controls", "raw adequacy, all pairs",
              "raw adequacy, without copies", "new above the copy")  # fmt: skip
    print(f"| {' | '.join(titles)} |\n|{'---|' * len(titles)}")
    for full in NOVELTIES:
        said = to_learn_from(read_parabank(str(PARABANK), fully_novel=full))
        overall = np.concatenate([[pair.overall for pair in said], made])
        found = fit_support_vectors(
            PARAPHRASE_FEATURES, rows, overall, [pair.group for pair in pairs], BUILT_IN
        )
        line(f"{full:.0%}", found.held_out, pearson(found.held_out, overall))
    alone = rows[:, 0]
    line("adequacy part", alone)
    lowest_tenth = np.sort(alone[good])[len(good) // 10 - 1]
    low = np.where(rows[:, 2] < 1, alone, lowest_tenth)
    line("adequacy part, copies put down", low)
    line("chrF", create_metric("chrf", "en").score_segments(
        [p.paraphrase for p in pairs], [[p.original for p in pairs]]).scores)  # fmt: skip


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--frontier", action="store_true")
    parser.add_argument("--plot", type=Path)
    arguments = parser.parse_args()
    if arguments.frontier:
        report_frontier()
        return
    metric = Pem(lang="en")
    _, held = split(read_parabank(str(PARABANK)))
    scores, pairs = report_parabank(metric, held)
    report_twitter(metric)
    if arguments.plot:
        draw(scores, pairs, arguments.plot)


if __name__ == "__main__":
    main()
