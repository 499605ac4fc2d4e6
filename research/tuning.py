"""The experiment of "Better Evaluation Metrics Lead to Better Machine Translation" (2011) in today's setting.

Usage: python -m research.tuning [--work FOLDER] [--sets NAME ...] > research/tuning-results.md

Hypothesis selection: the candidates of a source segment are all systems' outputs, the features are made without the
reference. Weights are tuned on the segments with an odd number for each objective, and judged on those with an even
number by every metric and by the human scores. Features and choices are kept in FOLDER: a second run is quick.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import math
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
import numpy.typing as npt

from tesla_eval import statistics
from tesla_eval.choosing.mbr import agreement_with_aggregate
from tesla_eval.choosing.nbest import CandidateList, read_nbest
from tesla_eval.choosing.parameters import Parameters
from tesla_eval.judgements.judges import annotator_agreement
from tesla_eval.judgements.nouns import EvalSet
from tesla_eval.judgements.wmt import read_rankings, read_segments
from tesla_eval.language.lm import load_language_model
from tesla_eval.metrics import create_metric
from tesla_eval.metrics.base import Metric
from tesla_eval.metrics.cache import ScoreCache
from tesla_eval.statistics.candidates import Additive
from tesla_eval.statistics.resampling import paired_bootstrap
from tesla_eval_papers.tuning.mert import MertOptions
from tesla_eval_papers.tuning.objective import TuningObjective
from tesla_eval_papers.tuning.outer import optimise
from tesla_eval_papers.tuning.pool import Pool

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "wmt"
SETS = {
    "zh-en newstest2020": ("wmt20-mqm", "MQM"),
    "zh-en newstest2021": ("wmt21-mqm-news", "MQM"),
    "zh-en tedtalks2021": ("wmt21-mqm-ted", "MQM"),
    "ja-en newstest2021": ("wmt21-da-toen", "DA"),
}
TWO_REFERENCES = ("zh-en newstest2020", "zh-en newstest2021", "zh-en tedtalks2021")
"""Sets whose segments have two references each; they are also tuned for and judged with both."""
OBJECTIVES = ("bleu", "ter", "chrf", "m", "b", "f", "x")
AGREEMENT = ("bleu", "chrf", "m", "x")
NBEST, RESTARTS, SEED = 300, 20, 2011
RESAMPLES = 1000
SAMPLES = 4
FloatArray = npt.NDArray[np.float64]


@dataclass
class Selection:
    """What one objective chose on the test half, and what it took to tune for it."""

    objective: str
    texts: list[str]
    humans: FloatArray
    tuned_score: float
    rounds: int
    score_seconds: float
    tune_seconds: float


@dataclass
class Half:
    """Segments with their candidates, references and human scores by text."""

    lists: list[CandidateList]
    references: list[list[str]]
    """One stream for each reference."""
    humans: list[dict[str, float]]


def write_features(outputs: EvalSet, path: Path) -> None:
    """An n-best list of all systems' outputs with features that need no reference."""
    metrics = [create_metric(name, "en") for name in AGREEMENT]
    model = load_language_model("en")
    names = ["lm", "length", "ngrams", *(f"agree.{name}" for name in AGREEMENT)]
    unfinished = path.with_suffix(".unfinished.gz")
    with gzip.open(unfinished, "wt", encoding="utf-8", compresslevel=4) as handle:
        for place in range(len(outputs.segments)):
            given = [row[place] for row in outputs.hypotheses if row[place] is not None]
            texts = list(dict.fromkeys(text.replace("|||", " ").strip() for text in given if text))[:NBEST]
            texts = texts or [""]
            share = np.ones(len(texts)) / len(texts)
            lengths = np.array([max(1, len(text.split())) for text in texts])
            others = [(matrix.sum(axis=1) - np.diag(matrix)) / max(1, len(texts) - 1)
                      for matrix in (metric.pairwise(texts, texts) for metric in metrics)]  # fmt: skip
            columns = [
                np.nan_to_num(model.normalised(texts), nan=-10.0), np.log(lengths / lengths.mean()),
                agreement_with_aggregate(texts, share), *others,
            ]  # fmt: skip
            for text, row in zip(texts, np.stack(columns, axis=1).tolist(), strict=True):
                features = " ".join(f"{name}={value!r}" for name, value in zip(names, row, strict=True))
                handle.write(f"{place} ||| {text} ||| {features}\n")
    unfinished.replace(path)


def halves(outputs: EvalSet, path: Path, references: int = 1) -> tuple[Half, Half]:
    """Odd segment numbers to tune on, even ones to judge; segments without so many references are left out."""
    found = tuple(Half([], [[] for _ in range(references)], []) for _ in range(2))
    for place, entry in enumerate(read_nbest(str(path))):
        given = [text for row in outputs.references if (text := row[place]) is not None][:references]
        if len(given) < references:
            continue
        half = found[(int(outputs.segments[place]) + 1) % 2]
        human: dict[str, list[float]] = {}
        for row, scores in zip(outputs.hypotheses, outputs.human[:, place].tolist(), strict=True):
            text = row[place]
            if text is not None and not math.isnan(scores):
                human.setdefault(text.replace("|||", " ").strip(), []).append(scores)
        half.lists.append(CandidateList(len(half.lists), entry.place, entry.candidates))
        for stream, text in zip(half.references, given, strict=True):
            stream.append(text)
        half.humans.append({text: sum(values) / len(values) for text, values in human.items()})
    return found[0], found[1]


def select(name: str, tune: Half, test: Half) -> Selection:
    """Tune on one half for one objective, and choose on the other."""
    metric = create_metric(name, "en")
    metric.sentence_score("warm up", ["warm up"])
    pool = Pool(len(tune.lists))
    pool.add(tune.lists)
    start = time.process_time()
    pool.score(metric, tune.references)
    scored = time.process_time()
    problem = pool.problem(TuningObjective.of(metric))
    scale = np.maximum(problem.features.std(axis=1), 1e-12)  # random starts reach every feature alike
    standard = problem.with_features(problem.features / scale[:, None])
    tuned = optimise(standard, Parameters.named(problem.names), MertOptions(RESTARTS), (SEED,))
    ended = time.process_time()
    weights = dict(zip(problem.names, (tuned.weights / scale).tolist(), strict=True))
    texts = [_best(entry, weights) for entry in test.lists]
    humans = np.array([known.get(text, math.nan) for text, known in zip(texts, test.humans, strict=True)])
    sign = 1 if problem.objective.higher_is_better else -1
    best = max(tuned.descents, key=lambda descent: sign * standard.score(descent.weights))
    return Selection(name, texts, humans, tuned.score, best.rounds, scored - start, ended - scored)


def kept_selection(work: Path, name: str, metric: Metric, path: Path, tune: Half, test: Half) -> Selection:
    """What an objective chose, from an earlier run with the same metric and features where there was one."""
    key = hashlib.sha256(f"{metric.get_signature()}\n".encode() + path.read_bytes()).hexdigest()[:16]
    kept = work / f"{path.name.removesuffix('.nbest.gz')}.{name}.{len(tune.references)}.{key}.json"
    if kept.exists():
        stored = json.loads(kept.read_text("utf-8"))
        return Selection(**{**stored, "humans": np.array(stored["humans"], np.float64)})
    found = select(name, tune, test)
    plain = {**asdict(found), "humans": [None if math.isnan(h) else h for h in found.humans.tolist()]}
    kept.write_text(json.dumps(plain), "utf-8")
    return found


def _best(entry: CandidateList, weights: dict[str, float]) -> str:
    totals = [sum(weights[n] * v for n, v in zip(c.names, c.values, strict=True)) for c in entry.candidates]
    return entry.candidates[int(np.argmax(totals))].text


def metric_table(
    selections: list[Selection], metrics: dict[str, Metric], test: Half, cache: ScoreCache
) -> list[str]:
    """Every objective judged by every metric, with intervals from resampled segments."""
    columns = {}
    for name, metric in metrics.items():
        found = [cache.score(metric, chosen.texts, test.references) for chosen in selections]
        objective = TuningObjective.of(metric)
        rows = np.stack([objective.statistics(part) for part in found], axis=1)
        subject = (
            Additive.of_segment_scores(rows[..., 0])
            if objective.formula is None
            else Additive.of_statistics(rows, objective.formula)
        )
        columns[name] = (paired_bootstrap(subject, resamples=RESAMPLES), objective.higher_is_better)
    lines = ["| tuned for | " + " | ".join(metrics) + " |", "|---" * (len(metrics) + 1) + "|"]
    for place, chosen in enumerate(selections):
        cells = []
        for name in metrics:
            test_of, higher = columns[name]
            digits = 1 if name in ("bleu", "ter", "chrf") else 4
            value = f"{test_of.scores[place]:.{digits}f}"
            best = test_of.scores[place] == (test_of.scores.max() if higher else test_of.scores.min())
            low, high = test_of.low[place], test_of.high[place]
            cells.append(f"{'**' + value + '**' if best else value} ({low:.{digits}f}–{high:.{digits}f})")
        lines.append(f"| {chosen.objective} | " + " | ".join(cells) + " |")
    return lines


def human_tables(selections: list[Selection], title: str) -> list[str]:
    """Mean human score with intervals, share of best, score1, score2; wins of each pair with the sign test."""
    scores = np.stack([chosen.humans for chosen in selections], axis=1)
    known = ~np.isnan(scores).any(axis=1)
    scores = scores[known]
    names = [chosen.objective for chosen in selections]
    boot = paired_bootstrap(Additive.of_segment_scores(scores), resamples=RESAMPLES)
    wins = (scores[:, :, None] > scores[:, None, :]).sum(axis=0).astype(np.float64)
    ties = (scores[:, :, None] == scores[:, None, :]).sum(axis=0).astype(np.float64)
    ranks = np.array([[1 + int((row > value).sum()) for value in row] for row in scores])
    tasks = np.repeat(np.arange(len(scores)), len(names)).tolist()
    best = statistics.share_of_best(tasks, names * len(scores), ranks.reshape(-1))
    one, two = statistics.score1(wins, ties), statistics.score2(wins, ties)
    lines = [
        f"Human scores ({title}) of {len(scores)} segments in which every choice was judged:", "",
        "| tuned for | mean | 95 % interval | best | score1 | score2 |", "|---|---|---|---|---|---|",
    ]  # fmt: skip
    for k, name in enumerate(names):
        lines.append(
            f"| {name} | {boot.scores[k]:.3f} | {boot.low[k]:.3f} to {boot.high[k]:.3f} | {100 * best[name]:.1f}% "
            f"| {100 * one[k]:.1f}% | {100 * two[k]:.1f}% |"
        )
    matrix = statistics.pairwise_shares(wins, ties)
    lines += [
        "",
        "Row preferred / column preferred; * p < 0.05, ** p < 0.01 (sign test, Holm's correction):",
        "",
    ]
    return lines + _matrix(names, wins, matrix)


def _matrix(names: list[str], wins: FloatArray, matrix: FloatArray) -> list[str]:
    pairs = list(combinations(range(len(names)), 2))
    adjusted = statistics.holm(
        [statistics.sign_test(int(wins[i, j]), int(wins[j, i])).p_value for i, j in pairs]
    )
    stars = {
        pair: "**" if p < 0.01 else "*" if p < 0.05 else "" for pair, p in zip(pairs, adjusted, strict=True)
    }
    lines = ["| | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]
    for i, name in enumerate(names):
        cells = []
        for j in range(len(names)):
            star = stars.get((min(i, j), max(i, j)), "").replace("*", "\\*")
            cells.append("–" if i == j else f"{100 * matrix[i, j]:.1f}% / {100 * matrix[j, i]:.1f}%{star}")
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return lines


def other_tables(selections: list[Selection], test: Half) -> list[str]:
    """Output length, time, rounds; how often two objectives choose differently; some choices."""
    reference = np.mean([len(text.split()) for text in test.references[0]])
    lines = [
        f"Words per output (references: {reference:.1f}), CPU seconds and rounds of the best restart:", "",
        "| tuned for | words | scoring | tuning | rounds |", "|---|---|---|---|---|",
    ]  # fmt: skip
    for chosen in selections:
        words = np.mean([len(text.split()) for text in chosen.texts])
        lines.append(
            f"| {chosen.objective} | {words:.1f} | {chosen.score_seconds:.1f} | {chosen.tune_seconds:.1f} "
            f"| {chosen.rounds} |"
        )
    names = [chosen.objective for chosen in selections]
    lines += ["", "Share of segments with different outputs:", ""]
    lines += ["| | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]
    for first in selections:
        shares = [
            np.mean([a != b for a, b in zip(first.texts, second.texts, strict=True)]) for second in selections
        ]
        lines.append(f"| {first.objective} | " + " | ".join(f"{100 * share:.0f}%" for share in shares) + " |")
    return lines


def samples(selections: list[Selection], test: Half) -> list[str]:
    """The first segments, not too long, on which bleu and m choose differently."""
    by_name = {chosen.objective: chosen.texts for chosen in selections}
    lines = ["", "Some choices:", "", "| tuned for | output |", "|---|---|"]
    shown = 0
    for place, reference in enumerate(test.references[0]):
        if by_name["bleu"][place] == by_name["m"][place] or len(reference) > 120:
            continue
        lines.append(f"| *reference* | {_cell(reference)} |")
        lines += [f"| {name} | {_cell(texts[place])} |" for name, texts in by_name.items()]
        shown += 1
        if shown == SAMPLES:
            break
    return lines


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")


def pooled(everything: dict[str, list[Selection]]) -> list[str]:
    """Human preferences over all sets together."""
    names = [chosen.objective for chosen in next(iter(everything.values()))]
    wins, ties = np.zeros((2, len(names), len(names)))
    tasks: list[tuple[str, int]] = []
    ranks: list[int] = []
    for title, selections in everything.items():
        scores = np.stack([chosen.humans for chosen in selections], axis=1)
        scores = scores[~np.isnan(scores).any(axis=1)]
        wins += (scores[:, :, None] > scores[:, None, :]).sum(axis=0)
        ties += (scores[:, :, None] == scores[:, None, :]).sum(axis=0)
        for number, row in enumerate(scores):
            tasks += [(title, number)] * len(names)
            ranks += [1 + int((row > value).sum()) for value in row]
    segments = len(ranks) // len(names)
    best = statistics.share_of_best(tasks, names * segments, ranks)
    one, two = statistics.score1(wins, ties), statistics.score2(wins, ties)
    lines = [f"{segments} segments in which every choice was judged:", "",
             "| tuned for | best | score1 | score2 |", "|---|---|---|---|"]  # fmt: skip
    lines += [f"| {name} | {100 * best[name]:.1f}% | {100 * one[k]:.1f}% | {100 * two[k]:.1f}% |"
              for k, name in enumerate(names)]  # fmt: skip
    lines += [
        "",
        "Row preferred / column preferred; * p < 0.05, ** p < 0.01 (sign test, Holm's correction):",
        "",
    ]
    return lines + _matrix(names, wins, statistics.pairwise_shares(wins, ties))


RANKINGS = ("wmt12-rr.rawranks.tsv.gz", "wmt13-rr-fren.rawranks.tsv.gz")
PAPER_AGREEMENT = {"fr-en": (0.6846, 0.5269), "es-en": (0.6124, 0.4185), "de-en": (0.3973, 0.0960)}
"""Table 5 of the paper: P(A) and kappa with P(E) = 1/3, four judges of tuned systems for each language pair."""
AGREEMENT_TEXT = """## Agreement of judges

The systems of this page were not ranked by judges side by side, so that the paper's table 5 (P(A), and kappa with
P(E) = 1/3) has a counterpart only in WMT's own rankings: all pairs of outputs that two judges ranked.

| | P(A) | kappa | pairs of judgements | paper: P(A) | kappa |
|---|--:|--:|--:|--:|--:|"""


def judges_table() -> list[str]:
    """The paper's table 5 on rankings that are here: two judges of the same pair of outputs, ties included."""
    lines = [AGREEMENT_TEXT]
    for file in RANKINGS:
        for (lp, testset), ranked in sorted(read_rankings(str(DATA / file)).items()):
            found = annotator_agreement(ranked)
            paper = [f"{value:.4f}" for value in PAPER_AGREEMENT.get(lp, ())] or ["–", "–"]
            figures = [f"{found.p_agree:.4f}", f"{found.kappa:.4f}", f"{found.n:,}", *paper]
            lines.append(f"| {lp} {testset} | {' | '.join(figures)} |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()) / "tuning-experiment")
    parser.add_argument("--sets", nargs="*", default=list(SETS))
    chosen = parser.parse_args()
    chosen.work.mkdir(parents=True, exist_ok=True)
    metrics = {name: create_metric(name, "en") for name in OBJECTIVES}
    everything: dict[str, list[Selection]] = {}
    body: list[str] = []
    with ScoreCache(chosen.work) as cache:
        for title, references in [(title, 1) for title in chosen.sets] + [
            (title, 2) for title in chosen.sets if title in TWO_REFERENCES
        ]:
            file, kind = SETS[title]
            lp, testset = title.split()
            outputs = next(
                o for o in read_segments(str(DATA / f"{file}.seg.tsv.gz")) if o.key == (lp, testset)
            )
            path = chosen.work / f"{file}.{lp}.nbest.gz"
            if not path.exists():
                write_features(outputs, path)
            tune, test = halves(outputs, path, references)
            selections = []
            for name in OBJECTIVES:
                selections.append(kept_selection(chosen.work, name, metrics[name], path, tune, test))
                print(f"{title}, {references} references: {name} done", file=sys.stderr, flush=True)
            body += [f"## {title}{', two references' * (references > 1)}", "",
                     f"{len(outputs.systems)} systems, {len(tune.lists)} segments to tune on, "
                     f"{len(test.lists)} to judge.", "", *metric_table(selections, metrics, test, cache), "",
                     *human_tables(selections, kind), ""]  # fmt: skip
            if references == 1:
                everything[title] = selections
                body += [*other_tables(selections, test), *samples(selections, test), ""]
    print("# Tuning for one metric, judged by all: results\n")
    print(
        "Made by `python -m research.tuning`; [tuning](../docs/tuning.md) says what is measured and what it shows. The "
        "rows and\ncolumns `bleu`, `m`, `b` and `f` stand for table 5 of TESLA at WMT 2011, whose Urdu set-up is not "
        "public.\n"
    )
    print("\n".join(f"- `{metric.get_signature()}`" for metric in metrics.values()))
    print("\n## All sets together, one reference: human preferences\n")
    print("\n".join([*pooled(everything), "", *judges_table(), "", *body]).rstrip())


if __name__ == "__main__":
    main()
