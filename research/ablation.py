"""Write research/ablation.md: what synonyms and compound splitting each add to TESLA-M out of English.

python -m research.ablation [-o research/ablation.md] [-j 2] [--only wmt12-rr]

The test sets are those of research/results.md whose target language has synonyms or compounds; the same outputs
are scored with the whole pipeline and with pipelines that lack one part or both. Scores are kept in the cache of
`tesla meta`, so the tool may be interrupted and started again.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from research.wmt_sections import ROOT, SECTIONS, Section, analysable, read
from tesla_eval import TeslaM
from tesla_eval.judgements.meta.evaluate import Result
from tesla_eval.judgements.meta.join import join
from tesla_eval.judgements.meta.run import JudgedSet, Study, score_metric, target_language
from tesla_eval.language.analysis import Pipeline, load_pipeline
from tesla_eval.metrics.cache import ScoreCache

WHOLE, NO_SENSES, NO_COMPOUNDS, NEITHER = "TESLA-M", "no synonyms", "no compounds", "neither"
VARIANTS = (WHOLE, NO_SENSES, NO_COMPOUNDS, NEITHER)

HEAD = """# What synonyms and compound splitting add

TESLA-M out of English, on the test sets of [results](results.md) whose target language has built-in synonyms
(cs, de, es, fr, is, ja, ru, uk, zh) or splits compounds (de): with everything, without synonyms, without splitting
compounds, and with neither. Nothing else differs. Hindi, the other target language there, has neither part, so nothing
can be left out. This page is written by

```
python -m research.ablation
```

What the statistics are is told in [Meta](../docs/meta.md). "Synonyms add" is TESLA-M minus "no synonyms", "compounds
add" is TESLA-M minus "no compounds", both in points (hundredths). Both parts mostly move figures by less than a point:
German gains from both, Spanish systems gain from synonyms, and French loses by them at segment level (a table without
WOLF loses half as much, none at all is best there)."""


def variants(language: str) -> dict[str, Pipeline]:
    """The pipeline of a language, and those without the parts that it has."""
    whole = load_pipeline(language)

    def without(*, senses: bool, compounds: bool) -> Pipeline:
        return Pipeline(
            language, tagger=whole.tagger, lemmatiser=whole.lemmatiser,
            senses=None if senses else whole.senses, compounds=None if compounds else whole.compounds,
        )  # fmt: skip

    found = {WHOLE: whole}
    if whole.senses is not None:
        found[NO_SENSES] = without(senses=True, compounds=False)
    if whole.compounds is not None:
        found[NO_COMPOUNDS] = without(senses=False, compounds=True)
    if len(found) == 3:
        found[NEITHER] = without(senses=True, compounds=True)
    return found


def run(section: Section, cache: ScoreCache, jobs: int) -> Study:
    """Score and evaluate the language pairs of a section that something can be left out of."""
    study = Study()
    for judged in read(section):
        language = analysable(target_language(judged.outputs.lp))
        pipelines = variants(language) if language else {}
        if language is None or len(pipelines) < 2:
            continue
        print(f"{section.title}: {judged.outputs.lp} {judged.outputs.testset}", file=sys.stderr, flush=True)
        metrics = {name: TeslaM(language, analyser=p, workers=jobs) for name, p in pipelines.items()}
        add(study, judged, metrics, cache)
    return study


def add(study: Study, judged: JudgedSet, metrics: Mapping[str, TeslaM], cache: ScoreCache) -> None:
    segments = judged.scored_segments(False)
    scores = {
        name: score_metric(metric, judged.outputs, cache, segments=segments)
        for name, metric in metrics.items()
    }
    joined = join(judged.outputs, scores, preferences=judged.preferences, system_scores=judged.systems)
    study.add(joined)


def by_set(study: Study, level: str, statistic: str) -> dict[tuple[str, str], dict[str, Result]]:
    """The results by language pair and test set, then by variant."""
    found: defaultdict[tuple[str, str], dict[str, Result]] = defaultdict(dict)
    for row in study.results:
        if (row.level, row.statistic) == (level, statistic) and not math.isnan(row.value):
            found[row.lp, row.testset][row.metric] = row
    return dict(found)


def gain(row: Mapping[str, Result], lacking: str) -> float | None:
    """The points that the part adds, None where the language does not have it."""
    return 100 * (row[WHOLE].value - row[lacking].value) if lacking in row else None


def table(rows: Mapping[tuple[str, str], Mapping[str, Result]]) -> Iterator[str]:
    several = len({testset for _, testset in rows}) > 1
    yield f"| | n | {' | '.join(VARIANTS)} | synonyms add | compounds add |"
    yield f"|---|--:|{'--:|' * (len(VARIANTS) + 2)}"
    for (lp, testset), row in rows.items():
        cells = [f"{row[name].value:.3f}" if name in row else "" for name in VARIANTS]
        gains = [signed(gain(row, lacking)) for lacking in (NO_SENSES, NO_COMPOUNDS)]
        name = f"{lp} {testset}" if several else lp
        yield f"| {name} | {row[WHOLE].n} | {' | '.join([*cells, *gains])} |"


def signed(points: float | None) -> str:
    return "" if points is None else f"{points:+.1f}"


def summary(studies: Sequence[tuple[Section, Study]]) -> Iterator[str]:
    """By language and level: the mean gain over all test sets and statistics, and how often there is one."""
    gains: defaultdict[tuple[str, str, str], list[float]] = defaultdict(list)
    for section, study in studies:
        for level, statistic in section.statistics:
            for (lp, _), row in by_set(study, level, statistic).items():
                for lacking in (NO_SENSES, NO_COMPOUNDS):
                    points = gain(row, lacking)
                    if points is not None:
                        gains[lacking, target_language(lp), level].append(points)
    yield "| part | language | level | figures | mean gain, points | better | worse |"
    yield "|---|---|---|--:|--:|--:|--:|"
    for (lacking, language, level), points in sorted(gains.items(), reverse=True):
        part = "synonyms" if lacking == NO_SENSES else "compounds"
        better, worse = sum(p > 0.05 for p in points), sum(p < -0.05 for p in points)
        mean = sum(points) / len(points)
        yield f"| {part} | {language} | {level} | {len(points)} | {signed(mean)} | {better} | {worse} |"


def render(section: Section, study: Study) -> Iterator[str]:
    yield f"## {section.title}\n"
    kinds = ", ".join(dict.fromkeys(test_set.human_score for test_set in study.test_sets))
    for level, statistic in section.statistics:
        rows = by_set(study, level, statistic)
        if rows:
            against = f", human scores: {kinds}" if level == "system" else ""
            yield f"**{level.capitalize()} `{statistic}`**{against}\n"
            yield from table(rows)
            yield ""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "research" / "ablation.md")
    parser.add_argument("-j", "--jobs", type=int, default=1)
    parser.add_argument("--only", action="append", default=[], help="only sections of this file; repeatable")
    wishes = parser.parse_args()
    studies = []
    with ScoreCache() as cache:
        for section in SECTIONS:
            if not section.into_english and (not wishes.only or section.file in wishes.only):
                study = run(section, cache, wishes.jobs)
                if study.test_sets:
                    studies.append((section, study))
    over_all = "## Over all\n\nGains count as better or worse from 0.05 points on.\n"
    parts = [HEAD, over_all, *summary(studies), ""]
    for section, study in studies:
        parts.extend(render(section, study))
    wishes.output.write_text("\n".join(parts).rstrip("\n") + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
