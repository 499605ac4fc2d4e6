"""Leave one year out over ../shared/data/wmt, into English: TESLA-N's choices, its figures, and its weights.

    loyo_n.py evidence [-j 2] [--only 0,5,...]   encode all outputs once; existing files are kept
    loyo_n.py study                              what each candidate gives where a year is left out
    loyo_n.py report [-o research/n-results.md]      the tables of the docs, with the nested choice
    loyo_n.py train                              the shipped weights, learned from everything; scores of the self-test

For a year that is left out, TESLA-X's weights and those of TESLA-N's features are learned from the other years. The
nested choice leaves out a second year: for each year a candidate is chosen by what it gives on the other years, each
measured by weights of the rest. The outputs of every year are encoded by the encoder that was tuned without that year:
--cache holds encoder-12.tesla, …, encoder-final.tesla (`FOLDS`), built by `tesla train encoder --tuned`. The evidence,
which are TESLA-N's own features, is kept there by encoder, TESLA-X's features in the cache of scores.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import combinations
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # sums in one order: the same weights, to the last digit

import numpy as np

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools"))

import loyo  # noqa: E402
from tesla_eval._core import STATE_PROBLEMS  # noqa: E402
from tesla_eval.base.arrays import FloatArray  # noqa: E402
from tesla_eval.base.parallel import map_in_order  # noqa: E402
from tesla_eval.cli.shared.terminal import progress  # noqa: E402
from tesla_eval.matching.matcher import RECALL_WEIGHT  # noqa: E402
from tesla_eval.metrics.features import Feature  # noqa: E402
from tesla_eval.models.documents import write_document  # noqa: E402
from tesla_eval.models.linear import LinearModel, load_weights  # noqa: E402
from tesla_eval.training.judged import TrainingSet  # noqa: E402
from tesla_eval_neural import selftest  # noqa: E402
from tesla_eval_neural.encoder import load_encoder, shipped_file  # noqa: E402
from tesla_eval_neural.group import MEAN, f_measure  # noqa: E402
from tesla_eval_neural.learning import (  # noqa: E402
    LEARNED,
    PENALTY,
    features_metric,
    fit_features,
    flattened,
    learned_features,
    shipped_model,
    with_columns,
    x_scores,
)
from tesla_eval_neural.metric import TeslaN, weights_file  # noqa: E402
from yearly import MOST_PAIRS, Figures, YearlySet, fit_years, interval  # noqa: E402

NAME, X, M = "tesla-n", "tesla-x", "tesla-m"
DATE = "2026-11-18"
SYSTEMS_SHARE = 1 / 3
"""How much the mean system Pearson counts beside the mean τ in the nested choice."""
FOLDS = {
    "wmt12": "12", "wmt13": "13", "wmt14": "14", "wmt17": "final", "wmt19": "19", "wmt20": "20-21", "wmt21": "20-21",
}  # fmt: skip
"""The encoder of each year, which was tuned without its judgements; no encoder saw those of WMT17."""
_TEXTS_AT_ONCE = 4096


@dataclass(frozen=True)
class Candidate:
    """One way to learn TESLA-N."""

    why: str
    learned: tuple[str, ...] = LEARNED
    alpha: float = RECALL_WEIGHT
    penalty: float = PENALTY
    floors: Mapping[str, float] = field(default_factory=dict)


SHIPPED = "as shipped"
CANDIDATES = {
    SHIPPED: Candidate("F of best partners, TESLA-X and the penalty for tenses"),
    "with mean": Candidate("and the cosine of whole texts", learned=(*LEARNED, MEAN)),
    "with pairs": Candidate("and neighbouring pieces", learned=(*LEARNED, "ctx.pair.f")),
    "with flow": Candidate("and the exact flow", learned=(*LEARNED, "ctx.flow.f")),
    "with even": Candidate("and equal weights of pieces", learned=(*LEARNED, "ctx.even.f")),
    "all": Candidate("all of these", learned=(*LEARNED, "ctx.even.f", "ctx.pair.f", "ctx.flow.f", MEAN)),
    "without x": Candidate("the encoder alone", learned=("ctx.best.f",)),
    "without tense": Candidate("no penalty for tenses", learned=("x", "ctx.best.f")),
    "α .5": Candidate("precision counts as much as recall", alpha=0.5),
    "α .65": Candidate("α as the encoders were tuned with", alpha=0.65),
    "penalty .03": Candidate("weights that are more alike", penalty=0.03),
    "x at least .2": Candidate("more of TESLA-X, which ranks systems better", floors={"x": 0.2}),
}  # fmt: skip
HEAD = """# TESLA-N where a year is left out

Every figure of TESLA-N and TESLA-X on this page is of weights that were learned from all *other* years. The page is
written by `python packages/neural/tools/loyo_n.py report -o research/n-results.md`. Year × language pair × kind of
judgement counts alike. τ is Kendall's τ over human pairs (for direct assessment of single outputs, WMT17, over pairs of
outputs of different segments); r is Pearson's correlation of system means with human system scores. Intervals (95 %)
resample segments. WMT21's cs-en, de-en and ha-en have scores of systems only.

The encoder of a year was tuned without the judgements of that year: one encoder for each of WMT12, 13, 14 and 19, one
for WMT20 and 21 together. WMT17 is measured with the shipped encoder, for none was tuned on it. Two things remain
that saw more than they should. The recipe of tuning was chosen among eight by these very years. And the weights of a
year are learned from the other years' evidence, each by the encoder tuned without *that* year, which saw the year that
is left out."""
NESTED_HEAD = """
## Nested choice

What is shipped was chosen while all years were in sight: among the candidates below, by τ, r, [changes of
meaning](../docs/tesla-n.md#changes-of-meaning) and [what is left out](../docs/tesla-n.md#limits). Here no choice saw
its year: for each year the candidate is the one with the highest τ + r / 3 on the *other* years, each of which is
measured by weights that saw neither of both. The encoders of those other years were tuned on the year that the choice
is for."""


def fold_encoder(folder: Path, year: str) -> Path:
    """The file of the encoder that did not see a year."""
    return folder / f"encoder-{FOLDS[year]}.tesla"


def evidence_file(folder: Path, year: str, lp: str, name: str) -> Path:
    fingerprint = load_encoder("en", fold_encoder(folder, year)).fingerprint
    return folder / fingerprint / f"{year}-{lp}-{name.replace(' ', '-')}.npy"


def gather_evidence(folder: Path, numbers: Sequence[int], jobs: int) -> None:
    """The evidence of every set, one file each; files that exist are kept."""
    for number, (year, kind, judged) in enumerate(loyo.judged(True)):
        outputs = judged.outputs
        path = evidence_file(folder, year, outputs.lp, f"{kind} {outputs.testset}")
        if path.exists() or (numbers and number not in numbers):
            continue
        metric = features_metric("en", encoder=str(fold_encoder(folder, year)), workers=jobs)
        references = outputs.first_reference
        cells = [
            (g, s)
            for g in np.flatnonzero(judged.scored_segments(False)).tolist()
            for s in range(len(outputs.systems))
            if outputs.hypotheses[s][g] is not None
        ]
        parts = []
        with progress(path.stem, len(cells)) as bar:
            for start in range(0, len(cells), _TEXTS_AT_ONCE):
                some = cells[start : start + _TEXTS_AT_ONCE]
                hypotheses = [outputs.hypotheses[s][g] or "" for g, s in some]
                parts.append(
                    metric.score_segments(hypotheses, [[references[g] or "" for g, _ in some]]).features
                )
                bar.advance(len(some))
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(".unfinished")
        with unfinished.open("wb") as file:
            np.save(file, np.concatenate(parts).astype(np.float32))
        unfinished.replace(path)  # an interrupted run leaves no half of a file
        print(f"{number} {path.name}: {len(cells)} outputs", file=sys.stderr, flush=True)


def read_evidence(folder: Path, one: YearlySet) -> FloatArray:
    path = evidence_file(folder, one.year, one.lp, one.name)
    if not path.exists():
        raise SystemExit(f"{path}: does not exist; run `loyo_n.py evidence` first")
    values = np.load(path)
    if values.shape != (len(one.features), len(learned_features(features_metric("en"))) - 1):
        raise SystemExit(f"{path}: does not fit; delete it and run `loyo_n.py evidence` again")
    return values.astype(np.float64)


class Data:
    """The judged sets with TESLA-X's features and TESLA-N's evidence; what is learned from some years is kept."""

    def __init__(
        self,
        sets: Sequence[YearlySet],
        x_features: Sequence[Feature],
        evidence: Mapping[YearlySet, FloatArray],
    ) -> None:
        self.sets, self.x_features, self.evidence = sets, x_features, evidence
        self.features = learned_features(features_metric("en"))
        self.years = sorted({one.year for one in sets})
        self.x_model = cache(self._x_model)

    @classmethod
    def read(cls, folder: Path, jobs: int) -> Data:
        """All sets, with their evidence from the folder."""
        sets, x_features = loyo.collect("en", jobs)
        return cls(sets, x_features, {one: read_evidence(folder, one) for one in sets})

    def others(self, without: frozenset[str]) -> list[YearlySet]:
        """The sets with pairs of all years but these."""
        return [one for one in self.sets if one.year not in without and one.has_pairs]

    def _x_model(self, without: frozenset[str]) -> LinearModel:
        recipe = loyo.RECIPES["en"]
        return fit_years(
            self.others(without), self.x_features, recipe.keeps, "signed", recipe.penalty or 0.01, recipe.floors
        )  # fmt: skip

    def columns(self, one: YearlySet, x_model: LinearModel, alpha: float) -> FloatArray:
        """TESLA-X's linear score and TESLA-N's own features, F with another α."""
        evidence = self.evidence[one]
        problems = len(STATE_PROBLEMS)
        precision, recall = evidence[:, :problems], evidence[:, problems : 2 * problems]
        x = x_scores(x_model, self.x_features, one.features)
        f, others = f_measure(precision, recall, alpha), evidence[:, 3 * problems :]
        return np.column_stack([x, precision, recall, f, others])

    def fit(
        self, candidate: Candidate, without: frozenset[str], columns: Mapping[YearlySet, FloatArray]
    ) -> LinearModel:
        """The weights of the features from all years but these."""
        training = [self._training_set(one, columns[one]) for one in self.others(without)]
        return fit_features(
            training, self.features, candidate.penalty, floors=candidate.floors, learned=candidate.learned
        )

    def score(
        self, one: YearlySet, learned: LinearModel, x_model: LinearModel, columns: FloatArray
    ) -> FloatArray:
        """The scores of a set by the model as it would be shipped."""
        model = flattened(learned, x_model)
        features = (*self.features, *self.x_features)
        place = {feature.name: k for k, feature in enumerate(features)}
        chosen = [place[name] for name in model.features]
        families = tuple(features[k].family for k in chosen)
        return replace(model, families=families).score(np.column_stack([columns, one.features])[:, chosen])

    @staticmethod
    def _training_set(one: YearlySet, columns: FloatArray) -> TrainingSet:
        return with_columns(one.training_set(np.zeros(0, np.int64), MOST_PAIRS), columns)

    def measure(
        self, without: frozenset[str], candidates: Mapping[str, Candidate]
    ) -> dict[str, list[Figures]]:
        """The sets of the years left out, by what each candidate learns from the others."""
        x_model = self.x_model(without)
        left_out = [one for one in self.sets if one.year in without]
        figures_of = {}
        by_alpha: dict[float, dict[YearlySet, FloatArray]] = {}
        for title, candidate in candidates.items():
            if candidate.alpha not in by_alpha:
                by_alpha[candidate.alpha] = {
                    one: self.columns(one, x_model, candidate.alpha)
                    for one in {*self.others(without), *left_out}
                }
            columns = by_alpha[candidate.alpha]
            model = self.fit(candidate, without, columns)
            figures_of[title] = [
                Figures(
                    one,
                    {
                        **one.baselines,
                        X: np.clip(columns[one][:, 0], 0, 1),
                        NAME: self.score(one, model, x_model, columns[one]),
                    },
                )
                for one in left_out
            ]
        return figures_of


def leave_out(data: Data, jobs: int) -> dict[str, list[Figures]]:
    """What every candidate gives on every year by weights of the other years."""
    figures: dict[str, list[Figures]] = {title: [] for title in CANDIDATES}
    with progress("years", len(data.years)) as bar:
        left_out = [frozenset({year}) for year in data.years]
        for measured in map_in_order(lambda without: data.measure(without, CANDIDATES), left_out, jobs):
            for title, some in measured.items():
                figures[title] += some
            bar.advance(1)
    return figures


def worth(values: Sequence[tuple[float, float]]) -> float:
    """What candidates are chosen by, from τ and r of some sets."""
    tau, pearson = np.nanmean(np.array(values), axis=0).tolist()
    return float(tau + SYSTEMS_SHARE * pearson)


def values_of(figures: Sequence[Figures]) -> list[tuple[float, float]]:
    return [(one.tau(NAME), one.pearson(NAME)) for one in figures]


def choose(data: Data, jobs: int) -> dict[str, str]:
    """For every year the candidate that is best on the other years, by weights that saw neither of the two."""

    def measured(pair: tuple[str, str]) -> list[tuple[str, str, list[tuple[float, float]]]]:
        """The values of one year of the pair, by candidate, with the year that they help to choose for."""
        by_title = data.measure(frozenset(pair), CANDIDATES)
        return [
            (chosen_for, title, values_of([one for one in figures if one.data.year == year]))
            for year, chosen_for in (pair, pair[::-1])
            for title, figures in by_title.items()
        ]

    values: dict[str, dict[str, list[tuple[float, float]]]] = {
        year: {title: [] for title in CANDIDATES} for year in data.years
    }
    pairs = list(combinations(data.years, 2))
    with progress("pairs of years", len(pairs)) as bar:
        for measured_years in map_in_order(measured, pairs, jobs):
            for year, title, some in measured_years:
                values[year][title] += some
            bar.advance(1)
    return {year: max(some, key=lambda title: worth(some[title])) for year, some in values.items()}


def study(data: Data, jobs: int) -> None:
    figures = leave_out(data, jobs)
    print(f"{'':28} mean τ, mean r, then year by year")
    for metric in (M, "chrf++", X):
        print(loyo.line(metric, figures[SHIPPED], metric))
    for title, some in figures.items():
        print(f"{loyo.line(title, some, NAME)}  {worth(values_of(some)):.4f}", flush=True)


def report(data: Data, jobs: int) -> Iterator[str]:
    candidates = leave_out(data, jobs)
    figures = candidates[SHIPPED]
    metrics = (NAME, X, M, "chrf++")
    yield HEAD
    yield "\n| mean over sets | " + " | ".join(metrics) + " |\n|---|" + "--:|" * len(metrics)
    for title, statistic in (
        ("segments, τ", "tau"),
        ("systems, Pearson", "pearson"),
        ("systems, accuracy", "accuracy"),
    ):
        values = (np.nanmean([getattr(one, statistic)(metric) for one in figures]) for metric in metrics)
        yield f"| {title} | " + " | ".join(f"{value:.3f}" for value in values) + " |"
    yield ""
    for other in (X, M):
        for sign, statistic in (("τ", "tau"), ("r", "pearson")):
            yield f"- {NAME} − {other}, {sign}, mean over sets: {_difference(figures, other, statistic)}"
    yield "\n## Year by year\n"
    yield (
        "| year | τ "
        + " | τ ".join(metrics[:3])
        + " | τ: N − X | r "
        + " | r ".join(metrics[:3])
        + " | r: N − X | r: N − M |"
    )
    yield "|---|" + "--:|" * 9
    for year in data.years:
        some = [one for one in figures if one.data.year == year]
        taus, pearsons = (
            [
                _mean([getattr(one, statistic)(metric) for one in some if one.data.has(statistic)])
                for metric in metrics[:3]
            ]
            for statistic in ("tau", "pearson")
        )  # fmt: skip
        cells = [
            *taus,
            _difference(some, X, "tau"),
            *pearsons,
            _difference(some, X, "pearson"),
            _difference(some, M, "pearson"),
        ]
        yield f"| {year.upper()} | " + " | ".join(cells) + " |"
    yield "\n## Set by set\n"
    yield (
        "| set | τ "
        + " | τ ".join(metrics)
        + " | r "
        + " | r ".join(metrics)
        + " |\n|---|"
        + "--:|" * 2 * len(metrics)
    )
    for one in figures:
        values = [getattr(one, statistic)(metric) for statistic in ("tau", "pearson") for metric in metrics]
        cells = ["–" if np.isnan(value) else f"{value:.3f}" for value in values]
        yield f"| {one.data.year.upper()} {one.data.lp} {one.data.name} | " + " | ".join(cells) + " |"
    yield from _nested(choose(data, jobs), candidates)


def _nested(chosen: Mapping[str, str], candidates: Mapping[str, list[Figures]]) -> Iterator[str]:
    yield NESTED_HEAD
    yield "\n| candidate | why | τ | r | τ + r / 3 |\n|---|---|--:|--:|--:|"
    for title, figures in candidates.items():
        tau, pearson = loyo.means(figures, NAME)
        yield f"| {title} | {CANDIDATES[title].why} | {tau:.4f} | {pearson:.4f} | {worth(values_of(figures)):.4f} |"
    yield "\n| year | chosen by the other years | τ | τ: − X | r | r: − X |\n|---|---|--:|--:|--:|--:|"
    nested = []
    for year, title in chosen.items():
        some = [one for one in candidates[title] if one.data.year == year]
        nested += some
        taus, pearsons = (
            [getattr(one, statistic)(NAME) for one in some if one.data.has(statistic)]
            for statistic in ("tau", "pearson")
        )
        cells = [_mean(taus), _difference(some, X, "tau"), _mean(pearsons), _difference(some, X, "pearson")]
        yield f"| {year.upper()} | {title} | " + " | ".join(cells) + " |"
    tau, pearson = loyo.means(nested, NAME)
    cells = [f"{tau:.3f}", _difference(nested, X, "tau"), f"{pearson:.3f}", _difference(nested, X, "pearson")]
    yield "| mean over sets | | " + " | ".join(cells) + " |"


def _mean(values: Sequence[float]) -> str:
    return f"{np.mean(values):.3f}" if values else "–"


def _difference(figures: Sequence[Figures], other: str, statistic: str) -> str:
    usable = [one for one in figures if one.data.has(statistic)]
    if not usable:
        return "–"
    mean, low, high = interval(usable, NAME, other, statistic)
    return f"{mean:+.4f} [{low:+.4f}, {high:+.4f}]"


def learned_model(data: Data) -> LinearModel:
    """The shipped weights: TESLA-X's shipped weights, and the rest from all sets.

    Every set's evidence is of the encoder that did not see its year: on years that it saw, an encoder seems better than
    it is, and its features would get too much weight.
    """
    candidate = CANDIDATES[SHIPPED]
    x_model = load_weights("tesla-x", "en")
    columns = {one: data.columns(one, x_model, candidate.alpha) for one in data.sets}
    learned = data.fit(candidate, frozenset(), columns)
    shares = dict(zip(learned.features, learned.weights.tolist(), strict=True))
    return shipped_model(
        learned, x_model, features_metric("en", x_model), load_encoder("en"), date=DATE,
        data=tuple(
            f"{one.year} {one.lp} {one.name}: {one.counts.sum():.0f} pairs" for one in data.sets if one.has_pairs
        ),
        training={
            "learner": "signed", "penalty": candidate.penalty, "floors": dict(candidate.floors),
            "x": x_model.fingerprint, "shares": shares,
        },
    )  # fmt: skip


def train(data: Data) -> None:
    """Write the shipped weights and the scores of the self-test, and say what the weights are."""
    model = learned_model(data)
    path = shipped_file(weights_file("en"))
    write_document(path, model)
    print(path, model.training["shares"])
    cases, _ = selftest.scores()
    metric = TeslaN("en")
    for case in cases:
        case["score"] = metric.sentence_score(case["hypothesis"], case["references"]).score
    stored = json.dumps(cases, ensure_ascii=False, indent=1) + "\n"
    shipped_file("selftest-n.json").write_text(stored, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["evidence", "study", "report", "train"])
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("--cache", type=Path, default=ROOT / "build" / "loyo-n")
    parser.add_argument("--only", default="", help="numbers of sets, for `evidence`: for several processes")
    parser.add_argument("-j", "--jobs", type=int, default=1, help="threads")
    given = parser.parse_args()
    if given.what == "evidence":
        gather_evidence(given.cache, [int(number) for number in given.only.split(",") if number], given.jobs)
        return
    data = Data.read(given.cache, given.jobs)
    if given.what == "report":
        text = "\n".join(report(data, given.jobs)) + "\n"
        print(text) if given.output is None else given.output.write_text(text, encoding="utf-8")
    else:
        study(data, given.jobs) if given.what == "study" else train(data)


if __name__ == "__main__":
    main()
