"""Write research/results.md: every metric against humans on every test set of ../shared/data/wmt that can be analysed.

python -m research.results [-m m,bleu,chrf,chrf++] [-o research/results.md] [-j 2]

Scores are kept in the cache of `tesla meta`, so the tool may be interrupted and started again, and a second run takes
minutes. Language pairs are included as soon as their target language has a tagger.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from research.wmt_sections import DATA, ROOT, SECTIONS, Section, analysable, read
from tesla_eval.judgements.meta.evaluate import Result, averages
from tesla_eval.judgements.meta.run import LevelStatistic, Study, score_and_join, target_language
from tesla_eval.judgements.meta.significance import MetricComparison
from tesla_eval.metrics import Metric, create_metric
from tesla_eval.metrics.cache import ScoreCache

METRICS = "m,bleu,chrf,chrf++"

RESAMPLES = 200
"""Of the permutation test; what is said is only whether p < 0.05."""

HEAD = """# Results

TESLA-X and TESLA-F learn from these years. Their figures, each with the reported year left out, are on pages of their
own: [TESLA-X](x-results.md), [TESLA-F](f-results.md).

How well the metrics agree with people, on the public data of the WMT shared tasks. This page is written by

```
python -m research.results -m {metrics}
```

Each table names the command that prints its figures. Segments are scored by their first reference; system scores count
the judged segments where people judged segments, else all. BLEU, chrF and TER of systems are corpus scores, those of
segments are sentence scores. The best figure of a row is bold. [Meta](../docs/meta.md) explains the statistics.
Summaries have [a page of their own](summary-results.md).
Language pairs whose target language cannot be analysed yet are not here: {left_out}.

Signatures:

{signatures}
"""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("-m", "--metrics", default=METRICS)
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "research" / "results.md")
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
    listed = "\n".join(f"- `{signature}`" for signature in signatures)
    only = "".join(f" --only {name}" for name in wishes.only)
    head = HEAD.format(
        metrics=wishes.metrics + only,
        signatures=listed,
        left_out=", ".join(sorted(left_out)) or "there is none",
    )
    wishes.output.write_text("\n".join([head, *parts]), encoding="utf-8")


def run(
    section: Section, names: Sequence[str], cache: ScoreCache, jobs: int, left_out: dict[str, None]
) -> Study:
    """Score and evaluate the language pairs of a section, telling the progress on standard error."""
    first = next(
        (LevelStatistic("segment", name) for level, name in section.statistics if level == "segment"), None
    )
    study = Study([first] if first else [], RESAMPLES)
    for judged in read(section):
        lp = judged.outputs.lp
        language = analysable(target_language(lp))
        if language is None:
            left_out.setdefault(lp)
            continue
        print(f"{section.title}: {lp} {judged.outputs.testset}", file=sys.stderr, flush=True)
        metrics: list[Metric] = [create_metric(name, language, workers=jobs) for name in names]
        study.add(score_and_join(judged, metrics, cache))
    return study


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
