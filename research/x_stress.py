"""How easily TESLA-X is fooled, and what its penalties cost, each year by weights that did not see it.

    python -m research.x_stress [en|und] [-o research/x-stress.md]

Damaged texts are those of `tesla stress` for some segments of every set. One curve multiplies the weights of all given
penalties (those of the recipe in tools/loyo.py) by a strength: 1 is what ships, 0 is TESLA-X without them. The others
change the penalty for any length beyond the reference's, and that for added sentences. Features come from the cache
that tools/loyo.py fills.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from loyo import BASELINES, NAME, OF_X, RECIPES, TITLES, collect, difference, judged
from tesla_eval import TeslaX, create_metric
from tesla_eval.base.arrays import FloatArray
from tesla_eval.judgements.meta.run import JudgedSet, target_language
from tesla_eval.language.analysis.languages import is_spaced, resolve_language
from tesla_eval.metrics.feature_metric import FeatureMetric
from tesla_eval.metrics.features import Feature
from tesla_eval.models.linear import LinearModel
from tesla_eval.stress.kinds import DEGENERATE, choose_kinds
from tesla_eval.stress.run import DamagedText, damage
from tesla_eval.training.judged import pairs_of_scores
from tesla_eval.training.recipe import Recipe, features_for
from yearly import Figures, YearlySet, fit_years, leave_out

KINDS = (
    "doubled", "words-doubled", "sentence-added", "words-shuffled", "half", "padded", "number", "negation",
    "word-repeated", "neighbours-swapped",
)  # fmt: skip
RECENT = ("wmt19", "wmt20", "wmt21", "wmt24")
SEGMENTS = 200
RUN = 5
STRENGTHS = (0.0, 0.25, 0.5, 0.75, 1.0, 1.5)
CURVES = {"long": (0.0, 0.03, 0.06, 0.1, 0.2), "stray": (0.0, 0.05, 0.1, 0.15, 0.3)}
"""Other weights of single penalties."""
_OLD_GROUPS = ("target", "tags", "chars", "surface")
_OLD_WITHOUT = (
    "order",
    "long",
    "foreign",
    *(f"chr.{n}.r" for n in range(1, 7)),
    "chr.4.f",
    "chr.5.f",
    "chr.6.f",
)
FORMER = {
    "en": Recipe(TeslaX, "en", groups=(*_OLD_GROUPS, "vectors"), penalty=0.01, floors={"pos": 0.075},
                 without=("order", "long", "vec.best0.r", "vec.best0.f")),
    "und": Recipe(TeslaX, "und", groups=_OLD_GROUPS, penalty=0.1, floors={"pos": 0.05, "chr": 0.5},
                  without=(*_OLD_WITHOUT, *(one for one in RECIPES["und"].without if one.endswith(".p")))),
}  # fmt: skip
"""TESLA-X before it had guards; it had not seen WMT25."""
NEWEST = "wmt25"
HEAD = """# TESLA-X under stress, by year

Shares of damaged texts that fool TESLA-X ([`tesla stress`](../docs/stress.md)), by weights learned from all *other*
years, {segments} segments per set, mean over the sets of WMT19 to WMT24; in brackets WMT12 to WMT17. The first five
kinds are made from the reference: the share above real outputs of the same segment. The others are made from outputs:
the share that does not score lower. τ and r are means over all sets as in [the page of results](x-results.md).
"Guards × 1" ships. In the rows `long` (length) and `stray` (added sentences) that penalty has another weight, and the
other guards are as shipped.
Written by `python -m research.x_stress -o research/x-stress.md`."""


@dataclass(frozen=True, eq=False)
class DamagedSet:
    """Damaged texts of some segments of a set, with their features."""

    data: YearlySet
    texts: Sequence[DamagedText]
    features: FloatArray
    rows: Sequence[Sequence[int]]
    """By segment of the sample the rows of its outputs."""
    bases: Sequence[int]
    """By segment of the sample the row of the output that is edited."""

    def shares(self, model: LinearModel, columns: Sequence[int]) -> dict[str, float]:
        """By kind the share that fools a model."""
        real, damaged = model.score(self.data.features[:, columns]), model.score(self.features[:, columns])
        fooled: dict[str, list[float]] = {}
        for one, score in zip(self.texts, damaged.tolist(), strict=True):
            if one.kind.family == DEGENERATE:
                others = real[list(self.rows[one.segment])]
                share = float(np.mean((score > others) + 0.5 * (score == others)))
            else:
                share = float(score >= real[self.bases[one.segment]])
            fooled.setdefault(one.kind.name, []).append(share)
        return {kind: float(np.mean(values)) for kind, values in fooled.items()}


def damaged_set(
    one: JudgedSet, data: YearlySet, metric: FeatureMetric, features: Sequence[Feature]
) -> DamagedSet:
    """The damaged texts of evenly chosen segments."""
    by_segment: dict[int, list[int]] = {}
    for row, segment in enumerate(data.cells[:, 0].tolist()):
        by_segment.setdefault(segment, []).append(row)
    some = np.unique(np.linspace(0, len(by_segment) - 1, min(SEGMENTS, len(by_segment))).round().astype(int))
    chosen = [sorted(by_segment)[k] for k in some.tolist()]
    rows = [by_segment[segment] for segment in chosen]
    bases = [of_segment[k % len(of_segment)] for k, of_segment in enumerate(rows)]
    references = [one.outputs.first_reference[segment] or "" for segment in chosen]
    outputs = [
        one.outputs.hypotheses[system][segment] or "" for segment, system in data.cells[bases].tolist()
    ]
    language = resolve_language(target_language(data.lp))
    texts, _ = damage(references, language, [outputs], kinds=choose_kinds(KINDS))
    scored = metric.score_segments(
        [text.text for text in texts], [[references[text.segment] for text in texts]]
    )
    place = {feature.name: column for column, feature in enumerate(metric.features)}
    values = np.full((len(texts), len(features)), np.nan)
    for column, feature in enumerate(features):
        if feature.name in place:
            values[:, column] = scored.features[:, place[feature.name]]
    return DamagedSet(data, texts, values, rows, bases)


def runs(one: JudgedSet, metric: FeatureMetric, model: LinearModel) -> tuple[int, float, float]:
    """Neighbouring segments as one text: how many, and τ of TESLA-X and chrF++ by the mean human score."""
    outputs = one.outputs
    blank = " " if is_spaced(target_language(outputs.lp)) else ""
    starts = range(0, len(outputs.segments) - RUN + 1, RUN)
    human = np.stack([outputs.human[:, start : start + RUN].mean(axis=1) for start in starts], axis=1)

    def joined(texts: Sequence[str | None], start: int) -> str:
        return blank.join(text or "" for text in texts[start : start + RUN])

    cells = np.argwhere(~np.isnan(human))
    texts = [joined(outputs.hypotheses[system], starts[run]) for system, run in cells.tolist()]
    references = [joined(outputs.first_reference, starts[run]) for _, run in cells.tolist()]
    place = {feature.name: column for column, feature in enumerate(metric.features)}
    values = metric.score_segments(texts, [references]).features
    columns = [
        values[:, place[name]] if name in place else np.full(len(cells), np.nan) for name in model.features
    ]
    chrf = create_metric("chrf++", metric.lang).score_segments(texts, [references]).scores
    taus = []
    segment, better, worse = pairs_of_scores(human, 0.0)
    for scores in (model.score(np.column_stack(columns)), chrf):
        table = np.full(human.shape, np.nan)
        table[cells[:, 0], cells[:, 1]] = scores
        taus.append(float(np.sign(table[better, segment] - table[worse, segment]).mean()))
    return len(starts), taus[0], taus[1]


def with_penalties(model: LinearModel, penalties: Mapping[str, float]) -> LinearModel:
    """The model with other weights of the given penalties."""
    weights = [
        -penalties.get(name, -weight)
        for name, weight in zip(model.features, model.weights.tolist(), strict=True)
    ]
    return replace(model, weights=np.array(weights))


def report(directions: Sequence[str], jobs: int) -> Iterator[str]:
    yield HEAD.format(segments=SEGMENTS)
    for direction in directions:
        recipe = RECIPES[direction]
        shipped = {"long": 0.0, **recipe.floors}
        recipe = replace(
            recipe, floors=shipped, without=tuple(one for one in recipe.without if one != "long")
        )
        sets, features = collect(direction, jobs)
        place = {feature.name: column for column, feature in enumerate(features)}
        years = sorted({one.year for one in sets if one.reported})
        models = {year: _without_year(year, sets, features, recipe) for year in years}
        metrics = features_for(replace(recipe, floors={}), jobs)
        reported = [one for one in sets if one.reported]
        damaged = [
            damaged_set(one, data, metrics(data.lp), features)
            for (_, _, one), data in zip(judged(recipe.language == "en"), reported, strict=True)
        ]
        yield f"\n## {TITLES[recipe.language]}\n\n| | τ | r | " + " | ".join(KINDS) + " |"
        yield "|---|--:|--:|" + "--:|" * len(KINDS)
        given = {kind: weight for kind, weight in shipped.items() if not _is_agreement(kind, features)}
        points = [
            (f"guards × {x:g}", {kind: x * weight for kind, weight in given.items()}) for x in STRENGTHS
        ]
        points += [
            (f"`{kind}` {x:g}", {**given, kind: x})
            for kind, weights in CURVES.items()
            for x in weights
            if x != given.get(kind, x)
        ]
        for title, penalties in points:
            curve = {year: with_penalties(model, penalties) for year, model in models.items()}
            scores, shares = [], []
            for one in damaged:
                model = curve[one.data.year]
                columns = [place[name] for name in model.features]
                scores.append(model.score(one.data.features[:, columns]))
                shares.append(one.shares(model, columns))
            figures = [Figures(one.data, {NAME: values}) for one, values in zip(damaged, scores, strict=True)]
            taus, pearsons = ([getattr(one, name)(NAME) for one in figures] for name in ("tau", "pearson"))
            recent = [one.data.year in RECENT for one in damaged]
            old = [one.data.year < RECENT[0] for one in damaged]
            cells = " | ".join(
                f"{_mean(shares, recent, kind)} ({_mean(shares, old, kind)})" for kind in KINDS
            )
            yield f"| {title} | {np.nanmean(taus):.4f} | {np.nanmean(pearsons):.4f} | {cells} |"
            if title == "guards × 1":
                now, newest = figures, _newest(figures)
                missed = list(unseen(damaged, curve, place))
        yield from missed
        yield from by_year(direction, now, jobs)
        yield from newest
        yield f"\nRuns of {RUN} neighbouring segments as one text, by their mean human score (WMT20, WMT21):\n"
        for (_, kind, one), data in zip(judged(recipe.language == "en"), reported, strict=True):
            if data.year in ("wmt20", "wmt21") and "mqm" in kind:
                count, ours, chrf = runs(one, metrics(data.lp), models[data.year])
                yield f"- {data.year.upper()} {data.lp} {kind}, {count} runs: τ tesla-x {ours:.3f}, chrf++ {chrf:.3f}"


def _is_agreement(kind: str, features: Sequence[Feature]) -> bool:
    return any(feature.kind == kind and feature.more_is_better for feature in features)


def unseen(
    damaged: Sequence[DamagedSet], models: Mapping[str, LinearModel], place: Mapping[str, int]
) -> Iterator[str]:
    """Why edits of recent years are not seen: the output scores 0 already, or the reference has not the number.

    The reference has a number that was changed if fewer numbers of the text are the reference's after the change.
    """
    padded, number, confirmed = np.zeros(3, int), np.zeros(6, int), np.zeros(2, int)
    for one in damaged:
        if one.data.year not in RECENT:
            continue
        model = models[one.data.year]
        columns = [place[name] for name in model.features]
        real, edited = model.score(one.data.features[:, columns]), model.score(one.features[:, columns])
        for row, text in enumerate(one.texts):
            base = one.bases[text.segment]
            missed, at_zero = edited[row] >= real[base], real[base] == 0
            if text.kind.name == "padded":
                padded += (1, missed, missed and at_zero)
            elif text.kind.name == "number":
                wrong = one.features[row, place["numbers"]] - one.data.features[base, place["numbers"]]
                above_zero = missed and not at_zero
                neither, tie = above_zero and wrong == 0, edited[row] == real[base]
                number += (1, missed, missed and at_zero, neither, neither and tie, above_zero and wrong < 0)
                if wrong > 0:
                    confirmed += (1, missed)
    yield (
        "\nNot lower, WMT19 to WMT24 together: "
        "`padded` {1} of {0}, {2} of them outputs that score 0 already; "
        "`number` {4} of {3}, {5} of them at 0, {6} where the reference has neither number ({7} of these keep their "
        "score), {8} that the change put right. Where the reference has the number that was changed: "
        "{10} of {9} ({11:.3f}).".format(*padded, *number, *confirmed, confirmed[1] / confirmed[0])
    )


def by_year(direction: str, now: Sequence[Figures], jobs: int) -> Iterator[str]:
    """Differences from the former TESLA-X, each year by weights without it, with 95 % intervals."""
    recipe = FORMER[direction]
    sets, features = collect(recipe, jobs, ())
    known = [one if one.year != NEWEST else replace(one, better=one.better[:0]) for one in sets]
    former = leave_out(
        known, features, name=NAME, kept=recipe.keeps, penalty=recipe.penalty or 0.01, floors=recipe.floors
    )
    scores = {(one.data.year, one.data.lp, one.data.name): one.scores[NAME] for one in former}
    both = [
        Figures(
            one.data, {NAME: one.scores[NAME], "former": scores[one.data.year, one.data.lp, one.data.name]}
        )
        for one in now
    ]
    yield "\nDifferences from TESLA-X without guards as it was before (95 % intervals resample segments):\n"
    yield "| year | τ | r |\n|---|--:|--:|"
    groups = {
        year.upper(): [one for one in both if one.data.year == year]
        for year in sorted({x.data.year for x in both})
    }
    for title, figures in (
        groups | {f"all but {NEWEST.upper()}": [x for x in both if x.data.year != NEWEST]}
    ).items():
        cells = []
        for statistic in ("tau", "pearson"):
            usable = [one for one in figures if one.data.has(statistic)]
            cells.append(difference(usable, NAME, "former", statistic) if usable else "–")
        yield f"| {title} | {cells[0]} | {cells[1]} |"


def _without_year(
    year: str, sets: Sequence[YearlySet], features: Sequence[Feature], recipe: Recipe
) -> LinearModel:
    others = [one for one in sets if one.year != year]
    return fit_years(others, features, recipe.keeps, recipe.learner, recipe.penalty or 0.01, recipe.floors)


def _mean(shares: Sequence[Mapping[str, float]], wanted: Sequence[bool], kind: str) -> str:
    values = [one[kind] for one, is_wanted in zip(shares, wanted, strict=True) if is_wanted and kind in one]
    return f"{np.mean(values):.3f}" if values else "–"


def _newest(figures: Sequence[Figures]) -> list[str]:
    """τ on the newest year, beside the baselines, and the difference from the last of these with its interval."""
    name = BASELINES[-1]
    both = [
        Figures(one.data, {**one.data.baselines, **one.scores})
        for one in figures
        if one.data.year > RECENT[-1]
    ]
    lines = []
    for one in both:
        values = ", ".join(f"{metric} {one.tau(metric):.3f}" for metric in (NAME, *BASELINES))
        lead = difference([one], NAME, name, "tau")
        lines.append(f"- {one.data.year.upper()} {one.data.lp}: τ {values}; {NAME} − {name} {lead}")
    if both:
        lead = difference(both, NAME, name, "tau")
        lines.append(f"- {both[0].data.year.upper()}, mean: {NAME} − {name} {lead}")
    return ["", *lines] if lines else []


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("directions", nargs="*", choices=[*OF_X, []])
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("-j", "--jobs", type=int, default=1)
    given = parser.parse_args()
    text = "\n".join(report(given.directions or OF_X, given.jobs)) + "\n"
    print(text) if given.output is None else given.output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
