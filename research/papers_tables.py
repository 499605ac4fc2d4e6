"""Write research/papers-tables.md: each table of the papers beside the same table on public data.

    python -m research.papers_tables [-o FILE] [--every N] [--meteor-jar FILE]

Data: ../shared/data/wmt. Scores and features are cached on disk. METEOR's rows need Java and its jar. `--every 12`
takes one judged segment in twelve of every language pair, evenly.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np

from research.papers_tables_text import (
    CELAB_IWSLT,
    CELAB_NIST,
    CONSISTENCY_INTO,
    CONSISTENCY_OUT,
    HEAD,
    SPEARMAN_INTO,
    SPEARMAN_OUT,
    TAIL,
    TUNING_INTO,
    TUNING_OUT,
    PaperTable,
)
from tesla_eval import TeslaF, create_metric
from tesla_eval.base.arrays import FloatArray
from tesla_eval.judgements.meta.join import Joined
from tesla_eval.judgements.meta.run import JudgedSet, score_and_join, target_language, wmt_sets
from tesla_eval.judgements.nouns import Preferences
from tesla_eval.judgements.wmt import read_preferences, read_system_scores
from tesla_eval.metrics.base import Metric
from tesla_eval.metrics.cache import ScoreCache
from tesla_eval.statistics import pearson, spearman
from tesla_eval.training import collect
from tesla_eval.training.recipe import Recipe, features_for, train

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT.parent / "shared" / "data" / "wmt"
EVERY = 12
INTO = ("cs-en", "de-en", "es-en", "fr-en")
OUT = ("en-cs", "en-de", "en-es", "en-fr")
NAMES = {
    "m": "TESLA-M", "b": "TESLA-B", "f": "TESLA-F", "maxsim": "MaxSim", "meteor": "METEOR", "bleu": "BLEU",
    "ter": "TER",
    "bleu-char": "BLEU, characters", "nist-char": "NIST, characters", "ter-char": "TER, characters",
    "celab-": "TESLA-CELAB⁻", "celab": "TESLA-CELAB",
}  # fmt: skip
INTO_METRICS = ("m", "b", "f", "maxsim", "meteor", "bleu", "ter")
OUT_METRICS = ("m", "b", "maxsim", "bleu", "ter")
CHINESE_METRICS = ("bleu-char", "nist-char", "ter-char", "m", "celab-", "celab")
PENALTY = 1.0
"""Of the ranking SVM: not chosen by any figure of the page."""

Figures = dict[str, dict[str, float]]
"""Metric → column → figure."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "research" / "papers-tables.md")
    parser.add_argument("--every", type=int, default=EVERY)
    parser.add_argument("--meteor-jar")
    given = parser.parse_args()
    text = "".join(f"{line}\n" for line in page(DATA, given.every, given.meteor_jar))
    given.output.write_text(text, encoding="utf-8", newline="\n")
    print(f"{given.output}: {len(text):,} characters", file=sys.stderr)


def page(data: Path, every: int, meteor_jar: str | None = None) -> Iterator[str]:
    """The lines of the page."""
    with ScoreCache() as cache_on_disk:
        study = _Study(data, every, cache_on_disk, meteor_jar)
        into = study.joined("wmt12-rr", INTO, INTO_METRICS)
        out = study.joined("wmt12-rr", OUT, OUT_METRICS)
        chinese = study.joined("wmt24-esa-outofen-odd", ("en-zh",), CHINESE_METRICS)
    share = "every judged segment" if every == 1 else f"one judged segment in {every}"
    yield from HEAD.format(every=share).splitlines()
    for title, sets, papers in (
        ("Into English", into, (CONSISTENCY_INTO, SPEARMAN_INTO, TUNING_INTO)),
        ("Out of English", out, (CONSISTENCY_OUT, SPEARMAN_OUT, TUNING_OUT)),
    ):
        tables = _by_statistic(sets)
        yield ""
        yield f"## {title}"
        yield ""
        yield _amount(sets)
        for statistic, figures in tables.items():
            yield from _table(f"{statistic}, WMT 2012", figures)
        for paper in papers:
            yield from _paper_table(paper)
            column = "overall" if "consistency" in paper.data else "average"
            ours = tables["Consistency" if "consistency" in paper.data else "Spearman"]
            yield from _verdict(paper, -1, {name: row[column] for name, row in ours.items()})
    yield from _chinese(chinese)
    yield ""
    yield from TAIL.splitlines()


def _chinese(sets: Sequence[Joined]) -> Iterator[str]:
    tables = _by_statistic(sets)
    yield ""
    yield "## English–Chinese"
    yield ""
    yield _amount(sets)
    figures = {
        name: {statistic: tables[statistic][name]["en-zh"] for statistic in tables}
        for name in tables["Consistency"]
    }
    yield from _table("WMT 2024", figures)
    for paper in (CELAB_IWSLT, CELAB_NIST):
        yield from _paper_table(paper)
        yield from _verdict(paper, 0, {name: row["Consistency"] for name, row in figures.items()})


@dataclass(frozen=True)
class _Study:
    data: Path
    every: int
    cache: ScoreCache
    meteor_jar: str | None

    def sets(self, name: str, lps: Sequence[str]) -> Iterator[JudgedSet]:
        """The test sets of a file, every so many judged segments of each."""
        pairs = self.data / f"{name}.pairs.tsv.gz"
        preferences = read_preferences(str(pairs)) if pairs.exists() else {}
        systems = read_system_scores(str(self.data / "system_scores.tsv.gz"))
        for judged in wmt_sets([str(self.data / f"{name}.seg.tsv.gz")], preferences, systems, lps):
            yield thinned(judged, self.every)

    def joined(self, name: str, lps: Sequence[str], metrics: Sequence[str]) -> list[Joined]:
        """The test sets with the scores of the metrics."""
        found = []
        for judged in self.sets(name, lps):
            language = target_language(judged.outputs.lp)
            made = [self.metric(key, language) for key in metrics]
            names = [NAMES[key] for key in metrics]
            found.append(score_and_join(judged, made, self.cache, names=names))
        return sorted(found, key=lambda one: lps.index(one.outputs.lp))

    def metric(self, name: str, language: str) -> Metric:
        if name == "f":
            return self.tesla_f()
        options = {"jar": self.meteor_jar} if name == "meteor" and self.meteor_jar else {}
        return create_metric(name, language, **options)

    @cache  # noqa: B019  # one study per run
    def tesla_f(self) -> Metric:
        """TESLA-F as the paper has it: a ranking SVM on rankings of other years."""
        recipe = Recipe(TeslaF, "en", learner="svm", penalty=PENALTY, logistic_scale=False)
        features = features_for(recipe)
        judged = [
            one
            for name, lps in (("wmt13-rr", INTO), ("wmt14-rr", ("cs-en", "de-en", "fr-en")))
            for one in self.sets(name, lps)
        ]
        model = train(recipe, collect(judged, features, self.cache), features("de-en")).model
        return TeslaF("en", weights=model)


def thinned(judged: JudgedSet, every: int) -> JudgedSet:
    """The test set with one judged segment in `every`, evenly; segments that nobody judged are left out."""
    outputs = judged.outputs
    kept = np.flatnonzero(judged.scored_segments(False))[::every].tolist()
    names = {outputs.segments[place] for place in kept}
    thin = replace(
        outputs,
        segments=tuple(outputs.segments[place] for place in kept),
        hypotheses=tuple(tuple(row[place] for place in kept) for row in outputs.hypotheses),
        references=tuple(tuple(row[place] for place in kept) for row in outputs.references),
        human=outputs.human[:, kept],
        documents=None,
    )
    old = judged.preferences
    if old is None:
        return JudgedSet(thin, None, judged.systems)
    chosen = [place for place, segment in enumerate(old.segments) if segment in names]
    columns = (old.segments, old.better, old.worse, old.lines)
    preferences = Preferences(old.source, *([column[place] for place in chosen] for column in columns))
    return JudgedSet(thin, preferences, judged.systems)


def _by_statistic(sets: Sequence[Joined]) -> dict[str, Figures]:
    """Consistency, Spearman and Pearson of every metric: by language pair, on average, and overall."""
    tables: dict[str, Figures] = {"Consistency": {}, "Spearman": {}, "Pearson": {}}
    correlations: dict[str, Callable[[FloatArray, FloatArray], object]] = {
        "Spearman": spearman, "Pearson": pearson,
    }  # fmt: skip
    for name in sets[0].metrics:
        right = [_right(one, name) for one in sets]
        row = {one.outputs.lp: float(hits.mean()) for one, hits in zip(sets, right, strict=True)}
        tables["Consistency"][name] = _summed_up(row, float(np.concatenate(right).mean()))
        systems = [_systems(one, name) for one in sets]
        for statistic, correlate in correlations.items():
            row = {
                one.outputs.lp: correlate(human, metric).value  # type: ignore[attr-defined]
                for one, (human, metric) in zip(sets, systems, strict=True)
            }
            human, metric = (
                np.concatenate([pair[side] - pair[side].mean() for pair in systems]) for side in (0, 1)
            )
            tables[statistic][name] = _summed_up(row, correlate(human, metric).value)  # type: ignore[attr-defined]
    return tables


def _summed_up(row: dict[str, float], overall: float) -> dict[str, float]:
    return {**row, "average": float(np.mean(list(row.values()))), "overall": overall}


def _right(joined: Joined, name: str) -> FloatArray:
    """For every human pair without a tie whether the metric agrees."""
    pairs = joined.pairs
    untied = pairs.difference != 0
    difference = pairs.metric_difference(joined.metrics[name].oriented)[untied]
    return (np.sign(difference) == np.sign(pairs.difference[untied])).astype(np.float64)


def _systems(joined: Joined, name: str) -> tuple[FloatArray, FloatArray]:
    """Human and metric scores of the systems that people judged."""
    known = ~np.isnan(joined.human_systems)
    return joined.human_systems[known], joined.metrics[name].system_scores(joined.used)[known]


def _amount(sets: Sequence[Joined]) -> str:
    segments = sum(len(one.outputs.segments) for one in sets)
    pairs = sum(int((one.pairs.difference != 0).sum()) for one in sets)
    systems = ", ".join(f"{one.outputs.lp} {len(one.outputs.systems)}" for one in sets)
    return f"{segments:,} segments, {pairs:,} pairs of outputs without human ties; systems: {systems}."


def _table(title: str, figures: Figures) -> Iterator[str]:
    columns = list(next(iter(figures.values())))
    if columns[1:] == ["average", "overall"]:
        columns = columns[:1]
    yield ""
    yield f"| {title} | {' | '.join(columns)} |"
    yield f"|---|{'--:|' * len(columns)}"
    best = {column: max(row[column] for row in figures.values()) for column in columns}
    for name, row in figures.items():
        cells = [f"{row[column]:.3f}" for column in columns]
        marked = [
            f"**{cell}**" if row[column] == best[column] else cell
            for column, cell in zip(columns, cells, strict=True)
        ]
        yield f"| {name} | {' | '.join(marked)} |"


def _paper_table(paper: PaperTable) -> Iterator[str]:
    yield ""
    yield f"| {paper.paper}, {paper.number}: {paper.data} | {' | '.join(paper.columns)} |"
    yield f"|---|{'--:|' * len(paper.columns)}"
    for name, row in paper.rows.items():
        yield f"| {name} | {' | '.join(map(_as_printed, row))} |"


def _as_printed(value: float | None) -> str:
    """A figure with two digits or, where the paper has them, four."""
    return "–" if value is None else f"{value:.2f}" if round(value, 2) == value else f"{value:.4f}"


def _verdict(paper: PaperTable, column: int, ours: Mapping[str, float]) -> Iterator[str]:
    """One sentence: which orders of two metrics in a column of the paper's table hold here, and which do not."""
    common = [name for name in paper.rows if name in ours]
    kept, turned = [], []
    for place, first in enumerate(common):
        for second in common[place + 1 :]:
            theirs = (paper.rows[first][column] or 0) - (paper.rows[second][column] or 0)
            if theirs == 0:
                continue
            above, below = (first, second) if theirs > 0 else (second, first)
            (kept if ours[above] > ours[below] else turned).append(f"{above} above {below}")
    where = paper.columns[column]
    yield ""
    yield (
        f"By {where}, {len(kept)} of {len(kept) + len(turned)} orders of two metrics agree"
        + (f" ({'; '.join(kept)})" if kept else "")
        + (f"; these do not: {'; '.join(turned)}." if turned else ".")
    )


if __name__ == "__main__":
    main()
