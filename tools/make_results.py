"""Write docs/results.md: every metric against humans on every test set of ../shared/data/wmt that can be analysed.

python tools/make_results.py [-m m,x,f,bleu,chrf,chrf++,ter] [-o docs/results.md] [-j 2]

Scores are kept in the cache of `tesla meta`, so the tool may be interrupted and started again, and a second run takes
minutes. Language pairs are included as soon as their target language has a tagger.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tesla_eval.analysis.languages import resolve_language
from tesla_eval.errors import UsageError
from tesla_eval.meta import MetricComparison, Result, averages, read_preferences, read_system_scores
from tesla_eval.meta.run import JudgedSet, score_and_join, target_language, wmt_sets
from tesla_eval.meta.study import Study, Wish
from tesla_eval.metrics import Metric, create_metric
from tesla_eval.metrics.cache import ScoreCache
from tesla_eval.resources import find_resource

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT.parent / "shared" / "data" / "wmt"
METRICS = "m,x,f,bleu,chrf,chrf++,ter"

RESAMPLES = 200
"""Of the permutation test; what is said is only whether p < 0.05."""

Statistic = tuple[str, str]
BY_PREFERENCE: tuple[Statistic, ...] = (
    ("segment", "consistency"),
    ("segment", "kendall_wmt"),
    ("system", "pearson"),
    ("system", "accuracy"),
)
BY_SCORE: tuple[Statistic, ...] = (
    ("segment", "kendall"),
    ("segment", "accuracy_calibrated"),
    ("system", "pearson"),
    ("system", "accuracy"),
    ("system", "soft_accuracy"),
)
BY_SYSTEM: tuple[Statistic, ...] = (("system", "pearson"), ("system", "accuracy"))


@dataclass(frozen=True)
class Section:
    """A file of outputs with its judgements, and what to show of it."""

    title: str
    file: str
    statistics: tuple[Statistic, ...]
    text: str
    pairs: bool = False
    into_english: bool = False
    too_slow: frozenset[str] = field(default_factory=frozenset)

    def wants(self, lp: str) -> bool:
        return lp.endswith("-en") == self.into_english


# sacreBLEU's TER needs 2 to 10 ms a segment: it is measured on the first two sets and left out elsewhere.
_SLOW = frozenset({"ter"})

SECTIONS = (
    Section("WMT14 into English", "wmt14-rr", BY_PREFERENCE, "Rankings; the test set that the papers' metrics are "
            "measured on here. METEOR 1.5 has 0.354 (τ) and 0.940 (system Pearson) on the same rows.",
            pairs=True, into_english=True),
    Section("WMT12 into English", "wmt12-rr", BY_PREFERENCE, "Rankings; used for training where a metric is trained.",
            pairs=True, into_english=True),
    Section("WMT13 into English", "wmt13-rr", BY_PREFERENCE, "Rankings; used for training where a metric is trained.",
            pairs=True, into_english=True, too_slow=_SLOW),
    Section("WMT17 into English", "wmt17-da-toen", BY_SCORE, "Direct assessment, few systems a segment.",
            into_english=True, too_slow=_SLOW),
    Section("WMT19 into English", "wmt19-darr", BY_PREFERENCE, "Preferences made of direct assessment.",
            pairs=True, into_english=True, too_slow=_SLOW),
    Section("WMT20 into English", "wmt20-mqm", BY_SCORE, "MQM. TESLA-X learned from the segments with an odd number, "
            "the others alone are in the last section.", into_english=True, too_slow=_SLOW),
    Section("WMT21 into English, direct assessment", "wmt21-da-toen", BY_SCORE, "Direct assessment; segments of cs, "
            "de and ha have no scores.", into_english=True, too_slow=_SLOW),
    Section("WMT21 into English, MQM of news", "wmt21-mqm-news", BY_SCORE, "MQM.", into_english=True, too_slow=_SLOW),
    Section("WMT21 into English, MQM of talks", "wmt21-mqm-ted", BY_SCORE, "MQM.", into_english=True, too_slow=_SLOW),
    Section("WMT12 out of English", "wmt12-rr", BY_PREFERENCE, "Rankings.", pairs=True, too_slow=_SLOW),
    Section("WMT14 out of English", "wmt14-outofen", BY_SYSTEM, "Official scores of systems only, so all segments "
            "count.", too_slow=_SLOW),
    Section("WMT20 out of English", "wmt20-mqm", BY_SCORE, "MQM.", too_slow=_SLOW),
    Section("WMT21 out of English, MQM of news", "wmt21-mqm-news", BY_SCORE, "MQM.", too_slow=_SLOW),
    Section("WMT21 out of English, MQM of talks", "wmt21-mqm-ted", BY_SCORE, "MQM.", too_slow=_SLOW),
    Section("WMT21 out of English, MQM of Russian", "wmt21-mqm-enru", BY_SCORE, "MQM by Unbabel, news and talks.",
            too_slow=_SLOW),
    Section("WMT21 out of English, systems", "wmt21-sysonly-outofen", BY_SYSTEM, "Scores of systems only, so all "
            "segments count.", too_slow=_SLOW),
    Section("WMT24 out of English", "wmt24-esa-outofen-odd", BY_SCORE, "ESA, segments with an odd number.",
            too_slow=_SLOW),
)  # fmt: skip

HEAD = """# Results

How well the metrics agree with people, on the public data of the WMT shared tasks. This page is written by

```
python tools/make_results.py -m {metrics}
```

Each table names the command that prints its figures. Segments are scored by their first reference; system scores count
the judged segments where people judged segments, else all. BLEU, chrF and TER of systems are corpus scores, those of
segments are sentence scores. The best figure of a row is bold. What the statistics are is told in [Meta](meta.md).
Summaries have [a page of their own](summary-results.md).
Language pairs whose target language cannot be analysed yet are not here: {left_out}.

Signatures:

{signatures}
"""

ABLATIONS = """```
python tools/ablate_weights.py
```

TESLA-X learned without a family of features (or with one that the shipped weights do without), measured on what was
held out of the training data (mean τ; what is in and what is out was decided here, see [Training](training.md)) and on
every test set that is not wholly training data: τ of segments as in the tables above, r of systems, means over the
language pairs. WMT20 into English counts the segments with an even number, the others were learned from. Of WMT24 out
of English, Czech, Spanish and Russian were learned from.
"""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("-m", "--metrics", default=METRICS)
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "docs" / "results.md")
    parser.add_argument("-j", "--jobs", type=int, default=1)
    parser.add_argument("--only", action="append", default=[], help="only sections of this file; repeatable")
    wishes = parser.parse_args()
    if not DATA.is_dir():
        raise SystemExit(f"{DATA} is needed")
    names = wishes.metrics.split(",")
    parts, signatures, left_out = [], dict[str, None](), dict[str, None]()
    with ScoreCache() as cache:
        for section in SECTIONS:
            if not wishes.only or section.file in wishes.only:
                study = run(
                    section, [n for n in names if n not in section.too_slow], cache, wishes.jobs, left_out
                )
                signatures.update(dict.fromkeys(study.signatures))
                if study.test_sets:
                    parts.append("\n".join(render(section, study, names)))
        if not wishes.only:
            parts.append("\n".join(ablations(cache)))
    listed = "\n".join(f"- `{signature}`" for signature in signatures)
    only = "".join(f" --only {name}" for name in wishes.only)
    head = HEAD.format(
        metrics=wishes.metrics + only,
        signatures=listed,
        left_out=", ".join(sorted(left_out)) or "there is none",
    )
    wishes.output.write_text("\n".join([head, *parts]), encoding="utf-8")


def ablations(cache: ScoreCache) -> Iterator[str]:
    """What every family of TESLA-X's features is worth, by test set."""
    from ablate_weights import TRAINED_ON, tables

    yield "## What each family of features is worth to TESLA-X\n"
    yield ABLATIONS
    for language in TRAINED_ON:
        yield from tables(language, cache)
        yield ""


def run(
    section: Section, names: Sequence[str], cache: ScoreCache, jobs: int, left_out: dict[str, None]
) -> Study:
    """Score and evaluate the language pairs of a section, telling the progress on standard error."""
    first = next((Wish("segment", name) for level, name in section.statistics if level == "segment"), None)
    study = Study([first] if first else [], RESAMPLES)
    for judged in read(section):
        lp = judged.outputs.lp
        language = analysable(target_language(lp))
        if language is None:
            left_out.setdefault(lp)
            continue
        print(f"{section.title}: {lp} {judged.outputs.testset}", file=sys.stderr, flush=True)
        metrics: list[Metric] = [create_metric(name, language, workers=jobs) for name in names]
        study.add(score_and_join(judged, metrics, cache), metrics)
    return study


def read(section: Section) -> Iterator[JudgedSet]:
    pairs = read_preferences(str(DATA / f"{section.file}.pairs.tsv.gz")) if section.pairs else {}
    systems = read_system_scores(str(DATA / "system_scores.tsv.gz"))
    for judged in wmt_sets([str(DATA / f"{section.file}.seg.tsv.gz")], pairs, systems):
        if section.wants(judged.outputs.lp):
            yield judged


def analysable(language: str) -> str | None:
    """The code of a language whose words can be tagged, else None."""
    try:
        code = resolve_language(language)
    except UsageError:
        return None
    return code if find_resource("tagger", code) is not None else None


def render(section: Section, study: Study, names: Sequence[str]) -> Iterator[str]:
    yield f"## {section.title}\n"
    yield f"{section.text}\n"
    yield f"```\n{command(section, study, names)}\n```\n"
    kinds = ", ".join(dict.fromkeys(test_set.human_score for test_set in study.test_sets))
    for level, statistic in section.statistics:
        rows = [r for r in study.results if (r.level, r.statistic) == (level, statistic)]
        against = f", human scores: {kinds}" if level == "system" else ""
        table = list(table_of(rows))
        if table:
            yield f"**{level.capitalize()} `{statistic}`**{against}\n"
            yield from table
            yield ""
            if (level, statistic) == section.statistics[0] and level == "segment":
                yield from significance(study)


def significance(study: Study) -> Iterator[str]:
    """In how many test sets each metric of ours is better than each peer, by the paired permutation test (p < 0.05)."""
    if not study.comparisons:
        return
    comparisons = [found.comparison for found in study.comparisons]
    ours = [name for name in comparisons[0].metrics if name.startswith("tesla-")]
    peers = [name for name in comparisons[0].metrics if not name.startswith("tesla-")]
    for a in ours:
        parts = []
        for b in peers:
            better = sum(_p_value(one, a, b) < 0.05 for one in comparisons)
            worse = sum(_p_value(one, b, a) < 0.05 for one in comparisons)
            parts.append(f"{b} {better} : {worse}")
        if parts:
            yield f"- {a} significantly better : worse than {', '.join(parts)} (of {len(comparisons)})"
    yield ""


def _p_value(comparison: MetricComparison, a: str, b: str) -> float:
    place = comparison.metrics.index
    return float(comparison.p_values[place(a), place(b)])


def command(section: Section, study: Study, names: Sequence[str]) -> str:
    pairs = f" --pairs {section.file}.pairs.tsv.gz" if section.pairs else ""
    lps = "".join(f" --lp {lp}" for lp in dict.fromkeys(test_set.lp for test_set in study.test_sets))
    metrics = ",".join(name for name in names if name not in section.too_slow)
    return f"tesla meta --segments {section.file}.seg.tsv.gz{pairs} --systems system_scores.tsv.gz{lps} -m {metrics}"


def table_of(rows: Sequence[Result]) -> Iterator[str]:
    """A table of language pairs by metrics, with the average where there are several."""
    metrics = list(dict.fromkeys(row.metric for row in rows))
    several = len({row.testset for row in rows}) > 1
    lines: dict[str, dict[str, Result]] = {}
    for row in rows:
        if not math.isnan(row.value):
            lines.setdefault(f"{row.lp} {row.testset}" if several else row.lp, {})[row.metric] = row
    if not lines:
        return
    yield f"| | n | {' | '.join(metrics)} |"
    yield f"|---|--:|{'--:|' * len(metrics)}"
    if len(lines) > 1:
        lines["average"] = {row.metric: row for row in averages(rows)}
    for name, by_metric in lines.items():
        n = max(row.n for row in by_metric.values())
        yield f"| {name} | {n} | {' | '.join(cells(by_metric, metrics))} |"


def cells(by_metric: dict[str, Result], metrics: Sequence[str]) -> Iterator[str]:
    shown = {name: f"{by_metric[name].value:.3f}" if name in by_metric else "" for name in metrics}
    best = max(shown.values(), key=lambda text: float(text or "-inf"))
    for name in metrics:
        yield f"**{shown[name]}**" if shown[name] == best else shown[name]


if __name__ == "__main__":
    main()
