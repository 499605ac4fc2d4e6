"""What every family of features is worth to TESLA-X: learned without it, measured on every test set.

    ablate_weights.py [--only en|und] [-o FILE]        # two tables; `make_results.py` puts them into docs/results.md

The first column is the mean Kendall τ (WMT's form) on what was held out: the other test sets for English, the other
languages else. Then the mean over the language pairs of every test set: τ of segments, Pearson's r of systems. TESLA-M
and chrF++ stand beside on the same segments. Features come from the cache of `tesla meta`, where they are kept.
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean

import numpy as np

from tesla_eval.arrays import Index
from tesla_eval.judgements.nouns import Key, Preferences
from tesla_eval.meta import Joined, averages, evaluate, join, read_preferences
from tesla_eval.meta.evaluate import Result
from tesla_eval.meta.join import MetricScores, choose_outputs
from tesla_eval.meta.run import JudgedSet, score_metric, target_language, wmt_sets
from tesla_eval.metrics import create_metric
from tesla_eval.metrics.cache import ScoreCache
from tesla_eval.metrics.feature_metric import FeatureMetric
from tesla_eval.metrics.groups import Feature
from tesla_eval.metrics.tesla_x import TeslaX
from tesla_eval.models import LinearModel
from tesla_eval.training import TrainingSet, collect, kendall
from tesla_eval.training.fit import Problem, set_folds
from tesla_eval.training.recipe import Recipe, features_for
from train_weights import LEFT_OUT, LIFTS, ODD_PARTS, odd_segments
from wmt_sections import DATA, SECTIONS, Section, analysable, read

GROUPS = ("target", "chars", "surface")
PEERS = ("m", "chrf++")
PENALTY = {"en": 0.001, "und": 0.1}
FAMILIES = {
    "words and synonyms (ms)": ("ms",), "lemmas (lem)": ("lem",), "parts of speech (pos)": ("pos",),
    "characters (chr)": ("chr",), "rare words": ("rareword", "rarelemma"),
    "word order": ("lcs", "fragments", "order", "chunks"), "numbers": ("number",), "names (capital)": ("capital",),
    "foreign letters": ("foreign",), "punctuation": ("punct",), "content and function words": ("content", "function"),
    "length": ("length",),
}  # fmt: skip
TRAINED_ON = {"en": ("wmt12-rr", "wmt13-rr"), "und": ("wmt12-rr", "wmt24-esa-outofen-odd")}
TRAINED_PAIRS = ("en-cs", "en-de", "en-es", "en-fr", "en-ru")
"""Out of English: the pairs of `TRAINED_ON` that are learned from; the others of WMT24 are languages never seen."""


@dataclass(frozen=True)
class Variant:
    """A way to train TESLA-X."""

    title: str
    without: Set[str]
    lifts: Mapping[str, float]
    modern: bool = True
    """Whether the odd segments of later years are learned from too."""

    def fit(self, sets: Sequence[TrainingSet], features: Sequence[Feature], penalty: float) -> LinearModel:
        recipe = Recipe(TeslaX, "und", without=tuple(self.without))
        columns = [column for column, feature in enumerate(features) if recipe.keeps(feature)]
        kept = [features[column] for column in columns]
        chosen = [
            one.with_features(np.array(columns, np.int64))
            for one in sets
            if self.modern or "-odd" not in one.name
        ]
        lifts = {one.name: self.lifts[one.name] for one in kept if one.name in self.lifts}
        return Problem(chosen, kept).fit(penalty=penalty, lifts=lifts)


def variants(language: str) -> Iterator[Variant]:
    """The shipped model, what it was trained with taken away, then each family taken away or added."""
    left_out, lifts = frozenset(LEFT_OUT[language]), LIFTS.get(language, {})
    yield Variant("**as shipped**", left_out, lifts)
    if lifts:
        yield Variant("without the lifts", left_out, {})
    if language == "en":
        yield Variant("without WMT20's odd segments", left_out, lifts, modern=False)
        yield Variant("without both", left_out, {}, modern=False)
    for title, families in FAMILIES.items():
        if not left_out.issuperset(families):
            yield Variant(f"without {title}", left_out.union(families), lifts)
    for title, families in FAMILIES.items():
        if left_out.issuperset(families):
            yield Variant(f"with {title}", left_out.difference(families), lifts)


def training_sets(language: str, cache: ScoreCache) -> tuple[list[TrainingSet], tuple[Feature, ...]]:
    """What the shipped weights were learned from, with all features that there are."""
    uncombined = features_for(Recipe(TeslaX, language, GROUPS))
    with tempfile.TemporaryDirectory() as folder:
        parts = [odd_segments(*part, Path(folder)) for part in ODD_PARTS.get(f"x-{language}", [])]
        judged = [
            one
            for file in TRAINED_ON[language]
            for one in wmt_sets([str(DATA / f"{file}.seg.tsv.gz")], preferences_of(file))
            if learned_from(one.outputs.lp, language)
        ]
        judged += wmt_sets(parts) if parts else []
    sets = collect(judged, uncombined, cache, threshold=0.5)
    return sets, uncombined(judged[0].outputs.lp).features


def learned_from(lp: str, language: str) -> bool:
    return lp.endswith("-en") if language == "en" else lp in TRAINED_PAIRS


def preferences_of(file: str) -> dict[Key, Preferences]:
    path = DATA / f"{file}.pairs.tsv.gz"
    return read_preferences(str(path)) if path.exists() else {}


def held_out(
    variant: Variant, sets: Sequence[TrainingSet], features: Sequence[Feature], language: str
) -> float:
    """Mean τ on the test sets (English) or the languages that were not learned from."""
    taus: list[float] = []
    for train, test in set_folds(sets) if language == "en" else language_folds(sets):
        model = variant.fit(train, features, PENALTY[language])
        taus += [kendall_of(model, one, features) for one in test if len(one.better)]
    return fmean(taus)


def kendall_of(model: LinearModel, one: TrainingSet, features: Sequence[Feature]) -> float:
    return kendall(model, one.with_features(columns_of(model, features)))


def columns_of(model: LinearModel, features: Sequence[Feature]) -> Index:
    names = [feature.name for feature in features]
    return np.array([names.index(name) for name in model.features], np.int64)


def language_folds(sets: Sequence[TrainingSet]) -> Iterator[tuple[list[TrainingSet], list[TrainingSet]]]:
    for lp in sorted({one.name.split()[0] for one in sets}):
        yield (
            [one for one in sets if one.name.split()[0] != lp],
            [one for one in sets if one.name.split()[0] == lp],
        )


def measure(
    section: Section, models: Mapping[str, LinearModel], language: str, cache: ScoreCache
) -> dict[str, tuple[float, float]]:
    """Of every model and peer: mean τ of segments and mean r of systems over the language pairs of a section."""
    uncombined = features_for(Recipe(TeslaX, language, GROUPS))
    results: list[Result] = []
    for whole in read(section):
        code = analysable(target_language(whole.outputs.lp))
        if code is None:
            continue
        print(f"{section.title}: {whole.outputs.lp}", file=sys.stderr, flush=True)
        judged = without_learned(whole, section, language)
        scores = variant_scores(judged, models, uncombined(whole.outputs.lp), cache)
        for name in PEERS:
            metric = create_metric(name, code)
            scores[metric.id] = score_metric(
                metric, judged.outputs, cache, segments=judged.scored_segments(False)
            )
        joined: Joined = join(
            judged.outputs, scores, preferences=judged.preferences, system_scores=judged.systems
        )
        results.extend(evaluate(joined, permutations=1))  # they serve soft accuracy, which is not shown
    of_segments = "kendall_wmt" if section.pairs else "kendall"
    found: dict[str, dict[str, float]] = {}
    for row in averages(results):
        if (row.level, row.statistic) in (("segment", of_segments), ("system", "pearson")):
            found.setdefault(row.metric, {})[row.level] = row.value
    return {name: (values["segment"], values["system"]) for name, values in found.items()}


def without_learned(judged: JudgedSet, section: Section, language: str) -> JudgedSet:
    """The test set without the human scores that the shipped weights were learned from."""
    outputs = judged.outputs
    if (section.file, outputs.lp) not in ODD_PARTS.get(f"x-{language}", []):
        return judged
    odd = np.array([int(name) % 2 == 1 for name in outputs.segments])
    return replace(judged, outputs=replace(outputs, human=np.where(odd, np.nan, outputs.human)))


def variant_scores(
    judged: JudgedSet, models: Mapping[str, LinearModel], metric: FeatureMetric, cache: ScoreCache
) -> dict[str, MetricScores]:
    """The scores of every model from features that are computed once."""
    chosen = choose_outputs(judged.outputs, judged.scored_segments(False))
    rows = cache.score(metric, chosen.hypotheses, chosen.references).features
    by_title = {}
    for title, model in models.items():
        scores = np.full(judged.outputs.human.shape, np.nan)
        scores[chosen.cells] = model.score(rows[:, columns_of(model, metric.features)])
        by_title[title] = MetricScores(scores)
    return by_title


def tables(language: str, cache: ScoreCache) -> Iterator[str]:
    """The table of one language, line by line."""
    sets, features = training_sets(language, cache)
    ways = list(variants(language))
    models = {way.title: way.fit(sets, features, PENALTY[language]) for way in ways}
    held = {way.title: f"{held_out(way, sets, features, language):.4f}" for way in ways}
    learned_years = TRAINED_ON["en"] if language == "en" else ("wmt12-rr",)
    sections = [
        section
        for section in SECTIONS
        if section.into_english == (language == "en") and section.file not in learned_years
    ]
    columns = [measure(section, models, language, cache) for section in sections]
    heads = [
        section.title.replace(" into English", "").replace(" out of English", "") for section in sections
    ]
    title = "into English" if language == "en" else "out of English"
    yield f"| TESLA-X {title} | held out τ | {' | '.join(f'{head}, τ | r' for head in heads)} |"
    yield f"|---|--:|{'--:|--:|' * len(heads)}"
    for row in [*models, "tesla-m", "chrf++"]:
        cells = [_shown(value) for column in columns for value in column[row]]
        yield f"| {row} | {held.get(row, '')} | {' | '.join(cells)} |"


def _shown(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.3f}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", choices=[*TRAINED_ON])
    parser.add_argument("-o", "--output", type=argparse.FileType("w", encoding="utf-8"), default=sys.stdout)
    wishes = parser.parse_args()
    with ScoreCache() as cache:
        for language in TRAINED_ON:
            if wishes.only in (None, language):
                print(*tables(language, cache), "", sep="\n", file=wishes.output, flush=True)


if __name__ == "__main__":
    main()
