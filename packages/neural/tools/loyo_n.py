"""Leave one year out over ../shared/data/wmt, into English: TESLA-N's choices, its figures, and its weights.

    loyo_n.py evidence [--only 0,5,...]        encode all outputs once; kept in --cache
    loyo_n.py study                            what each choice gives where a year is left out
    loyo_n.py report [-o docs/n-results.md]    the tables of the docs
    loyo_n.py train                            the shipped weights, learned from everything

For a year that is left out, TESLA-X's weights, the weights of pieces and those of TESLA-N's features are all learned
from the other years. Encoding takes 2 ms per output (half a million outputs); the rest takes minutes.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools"))

import loyo  # noqa: E402
from tesla_eval.arrays import FloatArray  # noqa: E402
from tesla_eval.models.linear import LinearModel, load_weights, write_weights  # noqa: E402
from tesla_eval.training.judged import TrainingSet  # noqa: E402
from tesla_eval.training.yearly import MOST_PAIRS, Figures, YearlySet, fit_years, interval  # noqa: E402
from tesla_eval_neural.encoder import load_encoder, shipped_file  # noqa: E402
from tesla_eval_neural.learning import (  # noqa: E402
    EVIDENCE,
    LEARNED,
    PENALTY,
    context_features,
    evidence_metric,
    fit_features,
    flattened,
    learn_pieces,
    learned_features,
    shipped_model,
    with_columns,
    x_scores,
)  # fmt: skip
from tesla_eval_neural.metric import weights_file  # noqa: E402

NAME, X, M = "tesla-n", "tesla-x", "tesla-m"
FLOORS: Mapping[str, float] = {}
DATE = "2026-11-16"
_TEXTS_AT_ONCE = 4096
Year = tuple[LinearModel, Mapping[YearlySet, FloatArray]]
HEAD = """# TESLA-N where a year is left out

Every figure of TESLA-N and TESLA-X on this page is of weights that were learned from all *other* years. The page is
written by `python packages/neural/tools/loyo_n.py report -o docs/n-results.md`. Year × language pair × kind of
judgement counts alike. τ is Kendall's τ over human pairs (for direct assessment of single outputs, WMT17, over pairs of
outputs of different segments); r is Pearson's correlation of system means with human system scores. Intervals (95 %)
resample segments. WMT21's cs-en, de-en and ha-en have scores of systems only."""


def evidence_file(folder: Path, one: Any) -> Path:
    year, lp, name = one
    return folder / f"{year}-{lp}-{name.replace(' ', '-')}.npy"


def gather_evidence(folder: Path, only: Sequence[int]) -> None:
    """The evidence of every set, one file each; files that exist are kept."""
    metric = evidence_metric("en")
    folder.mkdir(parents=True, exist_ok=True)
    for number, (year, kind, judged) in enumerate(loyo.judged(True)):
        outputs = judged.outputs
        path = evidence_file(folder, (year, outputs.lp, f"{kind} {outputs.testset}"))
        if path.exists() or (only and number not in only):
            continue
        references = outputs.first_reference
        cells = [
            (g, s)
            for g in np.flatnonzero(judged.scored_segments(False)).tolist()
            for s in range(len(outputs.systems))
            if outputs.hypotheses[s][g] is not None
        ]
        parts = []
        for start in range(0, len(cells), _TEXTS_AT_ONCE):
            some = cells[start : start + _TEXTS_AT_ONCE]
            hypotheses = [outputs.hypotheses[s][g] or "" for g, s in some]
            parts.append(metric.score_segments(hypotheses, [[references[g] or "" for g, _ in some]]).features)
        np.save(path, np.concatenate(parts).astype(np.float32))
        print(f"{path.name}: {len(cells)} outputs", file=sys.stderr, flush=True)


class Data:
    """The judged sets with TESLA-X's features and TESLA-N's evidence."""

    def __init__(self, folder: Path, jobs: int) -> None:
        self.sets, self.x_features = loyo.collect("en", jobs)
        self.evidence = {
            one: np.load(evidence_file(folder, (one.year, one.lp, one.name))).astype(np.float64)
            for one in self.sets
        }
        for one, values in self.evidence.items():
            if values.shape != (len(one.features), EVIDENCE):
                raise SystemExit(f"the evidence of {one.year} {one.lp} {one.name} does not fit: make it anew")
        self.features = learned_features(load_encoder("en"))

    def x_model(self, sets: Sequence[YearlySet]) -> LinearModel:
        recipe = loyo.RECIPES["en"]
        return fit_years(sets, self.x_features, recipe.keeps, "signed", recipe.penalty or 0.01, recipe.floors)

    def pieces(self, sets: Sequence[YearlySet]) -> tuple[int, ...]:
        return learn_pieces([self._training_set(one, self.evidence[one]) for one in sets if one.has_pairs])

    def columns(self, one: YearlySet, x_model: LinearModel, pieces: Sequence[int]) -> FloatArray:
        x = x_scores(x_model, self.x_features, one.features)
        return np.column_stack([x, context_features(self.evidence[one], pieces)])

    def fit(
        self, sets: Sequence[YearlySet], columns: Mapping[YearlySet, FloatArray], **options: Any
    ) -> LinearModel:  # fmt: skip
        training = [self._training_set(one, columns[one]) for one in sets if one.has_pairs]
        return fit_features(training, self.features, **options)

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

    def year_by_year(self) -> Iterator[tuple[str, Year]]:
        """For every year that is left out, TESLA-X's model and the columns of all sets, learned from the others."""
        for year in sorted({one.year for one in self.sets}):
            others = [one for one in self.sets if one.year != year]
            x_model, pieces = self.x_model(others), self.pieces(others)
            yield year, (x_model, {one: self.columns(one, x_model, pieces) for one in self.sets})


def leave_out(data: Data, by_year: Mapping[str, Year], **options: Any) -> list[Figures]:
    figures = []
    for year, (x_model, columns) in by_year.items():
        model = data.fit([one for one in data.sets if one.year != year], columns, **options)
        for one in data.sets:
            if one.year == year:
                scores = {
                    **one.baselines,
                    X: np.clip(columns[one][:, 0], 0, 1),
                    NAME: data.score(one, model, x_model, columns[one]),
                }
                figures.append(Figures(one, scores))
    return figures


def study(data: Data) -> None:
    by_year = dict(data.year_by_year())
    names = [feature.name for feature in data.features]
    trials: dict[str, dict[str, Any]] = {
        "as shipped": {"floors": FLOORS},
        **{f"penalty {penalty}": {"penalty": penalty} for penalty in (0.01, 0.1, 1.0)},
        **{f"x at least {share}": {"floors": {"x": share}} for share in (0.2, 0.4)},
        **{f"without {left}": {"learned": [n for n in LEARNED if n != left]} for left in LEARNED},
        "precision and recall too": {"learned": names},
    }
    first = leave_out(data, by_year, **trials["as shipped"])
    print(f"{'':28} mean τ, mean r, then year by year")
    for metric in (M, "chrf++", X):
        print(loyo.line(metric, first, metric))
    for title, options in trials.items():
        print(loyo.line(title, leave_out(data, by_year, **options), NAME), flush=True)


def report(data: Data) -> Iterator[str]:
    by_year = dict(data.year_by_year())
    figures = leave_out(data, by_year, floors=FLOORS)
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
    for year in by_year:
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


def _mean(values: Sequence[float]) -> str:
    return f"{np.mean(values):.3f}" if values else "–"


def _difference(figures: Sequence[Figures], other: str, statistic: str) -> str:
    usable = [one for one in figures if one.data.has(statistic)]
    if not usable:
        return "–"
    mean, low, high = interval(usable, NAME, other, statistic)
    return f"{mean:+.4f} [{low:+.4f}, {high:+.4f}]"


def train(data: Data) -> None:
    """The shipped weights: TESLA-X's shipped weights, and the rest from all sets."""
    x_model = load_weights("tesla-x", "en")
    pieces = data.pieces(data.sets)
    columns = {one: data.columns(one, x_model, pieces) for one in data.sets}
    learned = data.fit(data.sets, columns, floors=FLOORS)
    encoder, metric = load_encoder("en"), evidence_metric("en", x_model)
    model = shipped_model(
        learned, x_model, pieces, metric, encoder, date=DATE,
        data=tuple(
            f"{one.year} {one.lp} {one.name}: {one.counts.sum():.0f} pairs" for one in data.sets if one.has_pairs
        ),
        training={"learner": "signed", "penalty": PENALTY, "floors": dict(FLOORS), "x": x_model.fingerprint},
    )  # fmt: skip
    path = shipped_file(weights_file("en"))
    write_weights(path, model)
    named = zip(learned.features, learned.weights.tolist(), strict=True)
    print(path, ", ".join(f"{name} {weight:.4f}" for name, weight in named if weight > 0), pieces)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["evidence", "study", "report", "train"])
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("--cache", type=Path, default=ROOT / "build" / "loyo-n")
    parser.add_argument("--only", default="", help="numbers of sets, for `evidence`")
    parser.add_argument("-j", "--jobs", type=int, default=1)
    given = parser.parse_args()
    if given.what == "evidence":
        gather_evidence(given.cache, [int(number) for number in given.only.split(",") if number])
        return
    data = Data(given.cache, given.jobs)
    if given.what == "report":
        text = "\n".join(report(data)) + "\n"
        print(text) if given.output is None else given.output.write_text(text, encoding="utf-8")
    else:
        study(data) if given.what == "study" else train(data)


if __name__ == "__main__":
    main()
