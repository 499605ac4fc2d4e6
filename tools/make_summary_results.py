"""Write docs/summary-results.md: how well content metrics agree with people on REALSumm and SummEval.

    python tools/make_summary_results.py [-o FILE] [-j 2]

Data: ../shared/data/summaries. Scores are cached on disk, so a second run is quick. Significance is by topics drawn
1,000 times with replacement and by the paired permutation test, as in `tesla meta --significance`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from tesla_eval import TeslaS, create_metric
from tesla_eval.meta import read_summaries
from tesla_eval.meta.run import Study, Wish, score_and_join, summary_sets
from tesla_eval.meta.significance import MetricComparison
from tesla_eval.metrics.cache import ScoreCache
from tesla_eval.stats import pearson

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT.parent / "shared" / "data" / "summaries"
METRICS = ("s", "s-recall", *(f"{name}{kind}" for name in ("rouge1", "rouge2", "rougel", "rougesu4")
                              for kind in ("", "-recall")))  # fmt: skip
STATISTICS = (
    ("system", "pearson"),
    ("system", "spearman"),
    ("system", "kendall"),
    ("segment", "pearson"),
    ("segment", "pearson_within"),
    ("segment", "kendall_within"),
)
OVERRATED = ("ext/refresh_out", "abs/fast_abs_rl_out_rerank")
COMPARED = (Wish("system", "pearson"), Wish("segment", "pearson"))

HEAD = """# Results on summaries

Written by

```
python tools/make_summary_results.py
```

A system's score is the mean over its summaries; of several model summaries the best counts, for ROUGE as well.
`segment` statistics take each summary alone: `pearson` over all of them, `_within` as a mean over the topics. Bold is
the best of a row. Under each table the share of 1,000 draws of topics in which ours agrees better (Koehn 2004), with
the one-sided p of the paired permutation test for whichever is better, not corrected. ROUGE-1, -2 and -L are
rouge-score's with its stemmer, ROUGE-SU4 is ours over the same tokens. In this copy of REALSumm abs/bart_out and
ext/bart_out are the same texts with the same scores, so 24 of the 25 systems are different ones.

"""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "docs" / "summary-results.md")
    parser.add_argument("-j", "--jobs", type=int, default=1)
    wishes = parser.parse_args()
    if not DATA.is_dir():
        raise SystemExit(f"{DATA} is needed")
    parts = [HEAD]
    for name in ("realsumm", "summeval"):
        study = run(name, wishes.jobs)
        parts.append("\n".join(section(name, study)))
    parts.append("\n".join(what_recall_misses()))
    wishes.output.write_text("\n".join(parts), encoding="utf-8")


def run(name: str, jobs: int) -> Study:
    study = Study(COMPARED)
    metrics = [create_metric(key, "en", workers=jobs) for key in METRICS]
    with ScoreCache() as cache:
        for judged in summary_sets(str(DATA / name)):
            print(judged.outputs.testset, file=sys.stderr, flush=True)
            study.add(score_and_join(judged, metrics, cache, all_references=True), metrics)
    return study


def section(name: str, study: Study) -> Iterator[str]:
    yield f"## {name}\n"
    compared = " ".join(f"--significance {wish}" for wish in COMPARED)
    yield f"```\ntesla meta --summaries {name} -m {','.join(METRICS)} {compared}\n```\n"
    for test_set in study.test_sets:
        comparisons = [found.comparison for found in study.comparisons if found.testset == test_set.testset]
        yield f"**{test_set.testset}**: {test_set.systems} systems, {test_set.segments} topics\n"
        yield from table(study, test_set.testset)
        yield ""
        for comparison in comparisons:
            yield from interval_lines(comparison)
        yield ""
    yield "Signatures:\n"
    yield from (f"- `{signature}`" for signature in study.signatures)
    yield ""


def table(study: Study, testset: str) -> Iterator[str]:
    rows = [result for result in study.results if result.testset == testset]
    metrics = list(dict.fromkeys(row.metric for row in rows))
    yield f"| | {' | '.join(metrics)} |"
    yield f"|---|{'--:|' * len(metrics)}"
    for level, statistic in STATISTICS:
        values = [row.value for row in rows if (row.level, row.statistic) == (level, statistic)]
        shown = [f"{value:.3f}" for value in values]
        best = max(shown, key=float)
        cells = [f"**{text}**" if text == best else text for text in shown]
        yield f"| {level} `{statistic}` | {' | '.join(cells)} |"


def interval_lines(comparison: MetricComparison) -> Iterator[str]:
    """Our two against ROUGE-2 and ROUGE-SU4, as the paper compares them: share of resamples won, one-sided p."""
    place = {name: number for number, name in enumerate(comparison.metrics)}
    head = f"- {comparison.level} `{comparison.statistic}`:"
    claims = []
    for ours, theirs in (
        ("tesla-s", ("rouge2", "rougesu4")),
        ("tesla-s-recall", ("rouge2-recall", "rougesu4-recall")),
    ):
        for other in theirs:
            i, j = place[ours], place[other]
            wins, p = comparison.wins[i, j], min(comparison.p_values[i, j], comparison.p_values[j, i])
            claims.append(f"{ours} above {other} in {100 * wins:.0f} % of the resamples (p {p:.3f})")
    yield f"{head} {'; '.join(claims)}."


def what_recall_misses() -> Iterator[str]:
    """REALSumm's recall by feature and by discount: where the system level is lost and the summary level won."""
    outputs = read_summaries(str(DATA / "realsumm"))
    human = outputs.human["litepyramid_recall"]
    texts = [text or "" for row in outputs.hypotheses for text in row]
    references = [models[0] for models in outputs.references] * len(outputs.systems)
    odd = np.array([system in OVERRATED for system in outputs.systems])
    abstractive = np.array([system.startswith("abs/") for system in outputs.systems])

    def row(name: str, scores: Sequence[float]) -> str:
        mine = np.asarray(scores).reshape(human.shape)
        groups = [np.ones(len(human), bool), abstractive, ~abstractive, ~odd]
        cells = [pearson(human[group].mean(axis=1), mine[group].mean(axis=1)).value for group in groups]
        cells.append(pearson(human.ravel(), mine.ravel()).value)
        return f"| {name} | {' | '.join(f'{cell:.3f}' for cell in cells)} |"

    yield "## What the recall of unigrams and skip bigrams sees\n"
    yield "REALSumm, Pearson; systems: all, abstractive only, extractive only, all but two that recall"
    yield "overrates most; then single summaries. Words in a mean summary of theirs and of the other systems:"
    lengths = np.array([len(text.split()) for text in texts]).reshape(human.shape).mean(axis=1)
    theirs = ", ".join(f"{name} {lengths[outputs.systems.index(name)]:.0f}" for name in OVERRATED)
    yield f"{theirs}; others {lengths[~odd].min():.0f} to {lengths[~odd].max():.0f}.\n"
    yield "| recall of | systems | abstractive | extractive | without the two | summaries |"
    yield "|---|--:|--:|--:|--:|--:|"
    for discount in (0.1, 0.3, 1.0):
        features = TeslaS(discount=discount, alpha=1.0).corpus_score(texts, [references]).features
        for name, scores in (
            ("`s.1`", features[:, 0]),
            ("`s.skip`", features[:, 1]),
            ("both", features.mean(axis=1)),
        ):
            yield row(f"{name}, function words weigh {discount:g}", scores)
    for name in ("rouge1-recall", "rouge2-recall", "rougesu4-recall"):
        yield row(name, create_metric(name, "en").corpus_score(texts, [references]).segments)
    yield row("words in the summary", [float(len(text.split())) for text in texts])
    yield ""


if __name__ == "__main__":
    main()
