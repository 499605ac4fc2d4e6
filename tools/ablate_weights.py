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
import numpy.typing as npt

from tesla_eval.judgements.nouns import Key, Preferences
from tesla_eval.meta import Joined, averages, evaluate, join, read_preferences
from tesla_eval.meta.join import MetricScores, score_outputs
from tesla_eval.meta.run import JudgedSet, score_metric, target_language, wmt_sets
from tesla_eval.metrics import create_metric
from tesla_eval.metrics.cache import ScoreCache
from tesla_eval.metrics.tesla_x import TeslaX
from tesla_eval.models import LinearModel
from tesla_eval.segments import References
from tesla_eval.training import FeatureProbe, TrainingSet, collect, kendall
from tesla_eval.training.fit import Problem, set_folds
from tesla_eval.training.recipe import Recipe, keeps, probes_for
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

    def fit(self, sets: Sequence[TrainingSet], names: Sequence[str], penalty: float) -> LinearModel:
        kept = np.array([k for k, name in enumerate(names) if keeps(name, self.without)], np.int64)
        chosen = [one.with_features(kept) for one in sets if self.modern or "-odd" not in one.name]
        lifts = {name: lift for name, lift in self.lifts.items() if keeps(name, self.without)}
        return Problem(chosen, [names[k] for k in kept]).fit(penalty=penalty, lifts=lifts)


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


def training_sets(language: str, cache: ScoreCache) -> tuple[list[TrainingSet], tuple[str, ...]]:
    """What the shipped weights were learned from, with all features that there are."""
    probe_for = probes_for(Recipe(TeslaX, language, GROUPS))
    with tempfile.TemporaryDirectory() as folder:
        parts = [odd_segments(*part, Path(folder)) for part in ODD_PARTS.get(f"x-{language}", [])]
        judged = [
            one
            for file in TRAINED_ON[language]
            for one in wmt_sets([str(DATA / f"{file}.seg.tsv.gz")], preferences_of(file))
            if learned_from(one.outputs.lp, language)
        ]
        judged += wmt_sets(parts) if parts else []
    sets = collect(judged, probe_for, cache, threshold=0.5)
    return sets, probe_for(judged[0].outputs.lp).features.names


def learned_from(lp: str, language: str) -> bool:
    return lp.endswith("-en") if language == "en" else lp in TRAINED_PAIRS


def preferences_of(file: str) -> dict[Key, Preferences]:
    path = DATA / f"{file}.pairs.tsv.gz"
    return read_preferences(str(path)) if path.exists() else {}


def held_out(variant: Variant, sets: Sequence[TrainingSet], names: Sequence[str], language: str) -> float:
    """Mean τ on the test sets (English) or the languages that were not learned from."""
    found = []
    for train, test in set_folds(sets) if language == "en" else language_folds(sets):
        model = variant.fit(train, names, PENALTY[language])
        found += [kendall_of(model, one, names) for one in test if len(one.better)]
    return fmean(found)


def kendall_of(model: LinearModel, one: TrainingSet, names: Sequence[str]) -> float:
    return kendall(model, one.with_features(columns_of(model, names)))


def columns_of(model: LinearModel, names: Sequence[str]) -> npt.NDArray[np.int64]:
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
    probe_for = probes_for(Recipe(TeslaX, language, GROUPS))
    results = []
    for whole in read(section):
        code = analysable(target_language(whole.outputs.lp))
        if code is None:
            continue
        print(f"{section.title}: {whole.outputs.lp}", file=sys.stderr, flush=True)
        judged = without_learned(whole, section, language)
        scores = variant_scores(judged, models, probe_for(whole.outputs.lp), cache)
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
    judged: JudgedSet, models: Mapping[str, LinearModel], probe: FeatureProbe, cache: ScoreCache
) -> dict[str, MetricScores]:
    """The scores of every model from features that are computed once."""
    rows: list[npt.NDArray[np.float64]] = []

    def scorer(hypotheses: Sequence[str], references: References) -> npt.NDArray[np.float64]:
        found = cache.score(probe, hypotheses, references)
        assert found.statistics is not None
        rows.append(found.statistics)
        return found.scores

    table = score_outputs(judged.outputs, scorer, segments=judged.scored_segments(False))
    there = ~np.isnan(table)
    found = {}
    for title, model in models.items():
        scores = np.full(table.shape, np.nan)
        scores[there] = model.score(rows[0][:, columns_of(model, probe.features.names)])
        found[title] = MetricScores(scores)
    return found


def tables(language: str, cache: ScoreCache) -> Iterator[str]:
    """The table of one language, line by line."""
    sets, names = training_sets(language, cache)
    ways = list(variants(language))
    models = {way.title: way.fit(sets, names, PENALTY[language]) for way in ways}
    held = {way.title: f"{held_out(way, sets, names, language):.4f}" for way in ways}
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
