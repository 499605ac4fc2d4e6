"""ASO as the learner of TESLA-X, beside one model for all pairs and one for each.

    python -m research.aso_ranking [few] [en|und ...]

Leave one year out. A problem is a language pair (all its sets of other years) or a year. Rows:

- signed: TESLA-X's own learner and recipe, all pairs together.
- together: all pairs as one problem, modified Huber loss.
- alone: each language pair by itself; a pair that no other year has is scored by `together`.
- pairs, h: ASO over language pairs; a pair that no other year has is scored by all pairs together with Θ.
- years, h: ASO over years; the target is all pairs together with Θ.

The penalties of each learner, and h, are chosen for each year by the figures of the other years. The second table gives
the language pair that is measured only a few of its judgements; other pairs keep theirs (`few`: only this table).
Features come from the cache that tools/loyo.py fills (TESLA_EVAL_CACHE).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from loyo import NAME, RECIPES, TITLES, collect, fit_options
from research.shared_ranking import RankingProblem, fit_ranking, fit_shared, pooled
from tesla_eval.base.arrays import FloatArray
from tesla_eval.metrics.features import Feature
from tesla_eval.models.linear import LinearModel
from tesla_eval_papers.models.aso import shared_structure
from yearly import Figures, YearlySet, fit_years, interval, leave_out

PENALTIES = (10.0, 1.0, 0.1, 0.03, 0.01, 0.001)
STRUCTURE_PENALTIES = (0.1, 0.01)
"""Of the auxiliary problems. A large penalty of the target keeps it within the shared structure."""
DIMENSIONS = (1, 2, 5)
FEW = (30, 100, 300, 1000)
TOGETHER_PENALTY = 0.01
"""Of all pairs together, in the table of few judgements; TESLA-X's own."""
MOST_PAIRS = 1500
"""Pairs of one set that are learned from, evenly chosen."""


class Year:
    """The problems of all years but one, standardised, and the sets of that year."""

    def __init__(
        self, year: str, sets: Sequence[YearlySet], features: Sequence[Feature], keeps: Callable
    ) -> None:  # type: ignore[type-arg]
        self.name = year
        self.known = [one for one in sets if one.year != year and one.has_pairs]
        self.measured = [one for one in sets if one.year == year]
        # The free logistic model of all pairs together: its means and deviations standardise for everyone.
        self.model: LinearModel = fit_years(self.known, features, keeps, "logistic", 0.01, {})
        place = {feature.name: column for column, feature in enumerate(features)}
        self.columns = np.array([place[name] for name in self.model.features], np.int64)
        self.problems = [self._problem(one) for one in self.known]

    def standardised(self, one: YearlySet) -> FloatArray:
        complete = self.model.complete(one.features[:, self.columns])
        return np.asarray((complete - self.model.means) / self.model.deviations)

    def _problem(self, one: YearlySet) -> RankingProblem:
        z = self.standardised(one)
        return RankingProblem(z[one.better] - z[one.worse], one.counts).first(MOST_PAIRS)

    def by(self, key: Callable[[YearlySet], str]) -> dict[str, RankingProblem]:
        names = sorted({key(one) for one in self.known})
        return {
            name: pooled([p for one, p in zip(self.known, self.problems, strict=True) if key(one) == name])
            for name in names
        }

    @property
    def together(self) -> RankingProblem:
        return pooled(self.problems)


Option = tuple[float, ...]
"""The penalty, and that of the auxiliary problems."""
Weights = Mapping[str, FloatArray]
"""Of each language pair of the year that is left out."""


def for_pairs(year: Year, own: Weights, rest: FloatArray) -> dict[str, FloatArray]:
    return {one.lp: own.get(one.lp, rest) for one in year.measured}


def structures(problems: Mapping[str, RankingProblem]) -> dict[float, FloatArray]:
    """Weights of all problems (rows) by penalty."""
    return {
        penalty: np.stack([fit_ranking(one, penalty) for one in problems.values()])
        for penalty in STRUCTURE_PENALTIES
    }


def learners(year: Year) -> Iterable[tuple[str, Option, Weights]]:
    """Name, penalties and weights of every learner."""
    pairs, years, together = year.by(lambda one: one.lp), year.by(lambda one: one.year), year.together
    unseen = any(one.lp not in pairs for one in year.measured)
    by_pair, by_year = structures(pairs), structures(years)
    for penalty in PENALTIES:
        all_pairs = fit_ranking(together, penalty)
        yield "together", (penalty,), for_pairs(year, {}, all_pairs)
        alone = {one.lp: fit_ranking(pairs[one.lp], penalty) for one in year.measured if one.lp in pairs}
        yield "alone", (penalty,), for_pairs(year, alone, all_pairs)
        for of_structure in STRUCTURE_PENALTIES:
            for h in DIMENSIONS:
                theta = shared_structure(by_pair[of_structure], h)
                own = {lp: fit_ranking(pairs[lp], penalty, theta) for lp in alone}
                rest = fit_ranking(together, penalty, theta) if unseen else all_pairs
                yield f"pairs, h = {h}", (penalty, of_structure), for_pairs(year, own, rest)
                target = fit_ranking(together, penalty, shared_structure(by_year[of_structure], h))
                yield f"years, h = {h}", (penalty, of_structure), for_pairs(year, {}, target)


def scored(year: Year, weights: Weights) -> list[FloatArray]:
    return [year.standardised(one) @ weights[one.lp] for one in year.measured]


def key(one: YearlySet) -> tuple[str, str, str]:
    return one.year, one.lp, one.name


class Results:
    """Scores of every learner and penalty on every set."""

    def __init__(self, sets: Sequence[YearlySet]) -> None:
        self.sets = {key(one): one for one in sets}
        self.scores: dict[str, dict[Option, dict[tuple[str, str, str], FloatArray]]] = {}

    def add(self, name: str, option: Option, one: YearlySet, scores: FloatArray) -> None:
        self.scores.setdefault(name, {}).setdefault(option, {})[key(one)] = scores

    def tau(self, name: str, option: Option, years: Iterable[str]) -> float:
        found = [
            self.sets[place].tau(scores)
            for place, scores in self.scores[name][option].items()
            if place[0] in years and self.sets[place].has_pairs
        ]
        return float(np.mean(found))

    def chosen(self, names: Sequence[str]) -> dict[tuple[str, str, str], FloatArray]:
        """For each year the scores of the learner and penalty that is best in the other years."""
        years = {place[0] for place in self.sets}
        best: dict[tuple[str, str, str], FloatArray] = {}
        for year in sorted(years):
            options = [(name, option) for name in names for option in self.scores[name]]
            name, option = max(options, key=lambda choice: self.tau(*choice, years - {year}))
            best |= {place: s for place, s in self.scores[name][option].items() if place[0] == year}
            print(f"{' | '.join(names)}: {year} {name} {option}", file=sys.stderr)
        return best


def compare(
    direction: str, sets: Sequence[YearlySet], features: Sequence[Feature], years: Sequence[Year]
) -> None:
    """All learners, and the difference to all pairs together with its interval."""
    results = Results(sets)
    for year in years:
        for name, option, weights in learners(year):
            for one, scores in zip(year.measured, scored(year, weights), strict=True):
                results.add(name, option, one, scores)
        print(f"{year.name} done", file=sys.stderr, flush=True)
    names = list(results.scores)
    groups = {name: [name] for name in names}
    groups["pairs, h chosen"] = [name for name in names if name.startswith("pairs")]
    groups["years, h chosen"] = [name for name in names if name.startswith("years")]
    signed = leave_out(sets, features, name=NAME, **fit_options(direction))
    scores = {name: results.chosen(members) for name, members in groups.items()}
    figures = [
        Figures(
            one.data, {"signed": one.scores[NAME], **{name: s[key(one.data)] for name, s in scores.items()}}
        )
        for one in signed
    ]
    trained = {
        (one.lp, other.year)
        for one in sets
        for other in sets
        if one.lp == other.lp and one.year != other.year and one.has_pairs
    }
    known = [one for one in figures if (one.data.lp, one.data.year) in trained]
    judged = [one for one in figures if one.data.has_pairs]
    seen = sum(one.data.has_pairs for one in known)
    print(f"\n## {TITLES[direction]}: {len(judged)} sets, {seen} of pairs that other years have\n")
    print("| learner | τ, all sets | r, systems | τ, pairs that other years have | τ − together |")
    print("|---|--:|--:|--:|---|")
    for name in ("signed", *groups):
        mean, low, high = interval(judged, name, "together", "tau")
        told = "" if name == "together" else f"{mean:+.4f} [{low:+.4f}, {high:+.4f}]"
        print(
            f"| {name} | {average(judged, name, 'tau'):.4f} | {average(figures, name, 'pearson'):.4f} "
            f"| {average(known, name, 'tau'):.4f} | {told} |",
            flush=True,
        )


def average(figures: Sequence[Figures], name: str, statistic: str) -> float:
    return float(np.nanmean([getattr(one, statistic)(name) for one in figures]))


def few_judgements(years: Sequence[Year]) -> None:
    """The language pair that is measured has few judgements, the others have all of theirs."""
    print("\nFew judgements of the pair that is measured, all of the other pairs: τ\n")
    print("| judgements | alone | together | ASO over pairs | ASO − alone |\n|---|--:|--:|--:|---|")
    for count in (*FEW, None):
        measured = [
            one for year in years for one in year.measured
            if one.has_pairs and any(known.lp == one.lp for known in year.known)
        ]  # fmt: skip
        results = Results(measured)
        for year in years:
            pairs = year.by(lambda one: one.lp)
            auxiliary = {
                of: {name: fit_ranking(one, of) for name, one in pairs.items()} for of in STRUCTURE_PENALTIES
            }
            for lp in sorted({one.lp for one in year.measured if one.has_pairs and one.lp in pairs}):
                own = pairs[lp] if count is None else pairs[lp].first(count)
                for name, option, weights in few_learners(own, lp, pairs, auxiliary):
                    for one in year.measured:
                        if one.lp == lp and one.has_pairs:
                            results.add(name, option, one, year.standardised(one) @ weights)
        aso = [name for name in results.scores if name.startswith("aso")]
        choices = {"alone": ["alone"], "together": ["together"], "aso": aso}
        scores = {name: results.chosen(names) for name, names in choices.items()}
        figures = [Figures(one, {name: s[key(one)] for name, s in scores.items()}) for one in measured]
        mean, low, high = interval(figures, "aso", "alone", "tau")
        cells = " | ".join(f"{average(figures, name, 'tau'):.4f}" for name in choices)
        print(f"| {count or 'all'} | {cells} | {mean:+.4f} [{low:+.4f}, {high:+.4f}] |", flush=True)


def few_learners(
    own: RankingProblem,
    lp: str,
    pairs: Mapping[str, RankingProblem],
    auxiliary: Mapping[float, Mapping[str, FloatArray]],
) -> Iterable[tuple[str, Option, FloatArray]]:
    """Name, penalties and weights; the other pairs and the few judgements make the structure."""
    others = [name for name in pairs if name != lp]
    joined = _joined(own, [pairs[name] for name in others])
    yield "together", (TOGETHER_PENALTY,), fit_ranking(joined, TOGETHER_PENALTY)
    thetas = {
        of: np.stack([*(by_name[name] for name in others), fit_ranking(own, of)])
        for of, by_name in auxiliary.items()
    }
    for penalty in PENALTIES:
        yield "alone", (penalty,), fit_ranking(own, penalty)
        for of, weights in thetas.items():
            for h in DIMENSIONS:
                found = fit_ranking(own, penalty, shared_structure(weights, h))
                yield f"aso, h = {h}", (penalty, of), found


def _joined(own: RankingProblem, others: Sequence[RankingProblem]) -> RankingProblem:
    """All judgements together, each counting alike: few judgements count little."""
    problems = [own, *others]
    return RankingProblem(
        np.concatenate([one.differences for one in problems]),
        np.concatenate([one.counts for one in problems]),
    )


def rounds(years: Sequence[Year], penalty: float, h: int) -> None:
    """Does it help to alternate more than once? Here with one penalty for all, as in the papers."""
    print(
        f"\nRounds of alternation over pairs (penalty {penalty}, h = {h}): τ of the pairs that other years have\n"
    )
    print("| rounds | τ |\n|---|--:|")
    for count in (1, 2, 5):
        taus = []
        for year in years:
            weights, _ = fit_shared(year.by(lambda one: one.lp), h, penalty, rounds=count)
            taus += [
                one.tau(year.standardised(one) @ weights[one.lp])
                for one in year.measured if one.has_pairs and one.lp in weights
            ]  # fmt: skip
        print(f"| {count} | {np.mean(taus):.4f} |", flush=True)


def main() -> None:
    only_few = "few" in sys.argv[1:]
    for direction in [name for name in sys.argv[1:] if name != "few"] or RECIPES:
        sets, features = collect(direction, 1, ())
        names = sorted({one.year for one in sets if one.has_pairs})
        sets = [one for one in sets if one.year in names]
        years = [Year(name, sets, features, RECIPES[direction].keeps) for name in names]
        if not only_few:
            compare(direction, sets, features, years)
            rounds(years, 0.03, 2)
        few_judgements(years)


if __name__ == "__main__":
    main()
