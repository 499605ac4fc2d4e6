"""TESLA-B and PEM's adequacy with phrase tables of several aligners: are tables of one as good as those of another?

    python tools/study_aligners.py shipped FOLDER [FOLDER ...] [--every 1]

Each FOLDER holds tables of English (`tools/build_phrase_tables.py en-cs en-de en-es en-fr en-zh --aligner hmm --output
FOLDER`); `shipped` are the built-in ones, aligned with eflomal. Prints Kendall's τ of TESLA-B at segment level (means
over the language pairs into English of WMT14, WMT20 and WMT21) and Pearson's r of PEM's adequacy with the raters of
ParaBank: each pivot alone, their mean, and all together. Under the tables: how often the second and further folders
agree better with people in resamples of originals (and of segments with `--tests`), all pivots together.
`--every N` takes each N-th segment.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from build_pem import PARABANK
from study_pivots import PIVOT_FEATURES, SETS, TARGET_FEATURES, Floats, chosen_segments, score
from tesla_eval.analysis import load_pipeline
from tesla_eval.features.paraphrases import LEAST_COUNT, pivot_bags, pivot_f1
from tesla_eval.judgements.paraphrases import read_parabank
from tesla_eval.meta import compare_metrics
from tesla_eval.meta.join import Joined, MetricScores, join, score_outputs
from tesla_eval.metrics.tesla_b import TeslaB
from tesla_eval.pivot import KIND, PhraseTable, read_phrase_table
from tesla_eval.resources import shipped_folder
from tesla_eval.stats import Additive, kendall_wmt, paired_bootstrap
from tesla_eval.stats.pooled import correlation_of_moments
from wmt_sections import SECTIONS, read

PIVOTS = ("cs", "de", "es", "fr", "zh")
ALL = "all"
SHIPPED = "shipped"


def tables_of(folder: str) -> dict[str, PhraseTable]:
    home = shipped_folder() if folder == SHIPPED else Path(folder)
    return {pivot: read_phrase_table(home / f"{KIND}-en-{pivot}.tesla") for pivot in PIVOTS}


def tau(joined: Joined, name: str) -> float:
    pairs = joined.pairs
    return kendall_wmt(pairs.difference, pairs.metric_difference(joined.metrics[name].segments)).value


def translations(folders: Sequence[str], every: int, tests: bool) -> None:
    """TESLA-B on the test sets of WMT."""
    metrics = {folder: TeslaB("en", pivots=list(tables_of(folder).values())) for folder in folders}
    by_file = {section.file: section for section in reversed(SECTIONS) if section.into_english}
    values: dict[tuple[str, str], list[list[float]]] = {}
    better: dict[str, list[float]] = {}
    for number, file in enumerate(SETS.values()):
        for judged in read(by_file[file]):
            segments = chosen_segments(judged, every)
            scores: dict[str, MetricScores] = {}
            for folder, metric in metrics.items():
                features: list[Floats] = []

                def compute(hypotheses, references, metric=metric, features=features):  # type: ignore[no-untyped-def]
                    features.append(metric.corpus_score(hypotheses, references).features)
                    return score(features[0], PIVOTS, PIVOTS)

                scores[f"{ALL} {folder}"] = MetricScores(
                    score_outputs(judged.outputs, compute, segments=segments)
                )
                assert features[0].shape[1] == TARGET_FEATURES + len(PIVOTS) * PIVOT_FEATURES
                for pivot in PIVOTS:
                    scores[f"{pivot} {folder}"] = MetricScores(
                        score_outputs(
                            judged.outputs,
                            lambda h, r, p=pivot, f=features: score(f[0], PIVOTS, (p,)),
                            segments=segments,
                        )
                    )
            joined = join(
                judged.outputs, scores, preferences=judged.preferences, system_scores=judged.systems
            )
            for name in scores:
                pivot, folder = name.split(" ", 1)
                values.setdefault((folder, pivot), [[] for _ in SETS])[number].append(tau(joined, name))
            if not tests:
                continue
            everything = join(
                judged.outputs, {f: scores[f"{ALL} {f}"] for f in folders},
                preferences=judged.preferences, system_scores=judged.systems,
            )  # fmt: skip
            found = compare_metrics(everything, "segment", "kendall_wmt")
            for place, folder in enumerate(folders[1:], start=1):
                better.setdefault(folder, []).append(float(found.wins[place, 0]))
    print(f"| TESLA-B, τ | {' | '.join(SETS)} | mean |\n|---|{'--:|' * (len(SETS) + 1)}")
    for folder in folders:
        rows = {p: [float(np.mean(some)) for some in values[folder, p]] for p in (*PIVOTS, ALL)}
        show(folder, rows)
    for folder, wins in better.items():
        print(
            f"\n{folder} above {folders[0]} in {100 * np.mean(wins):.0f} % of the resamples (mean of {len(wins)} sets)"
        )


def show(folder: str, rows: Mapping[str, Sequence[float]]) -> None:
    mean = np.mean([rows[pivot] for pivot in PIVOTS], axis=0).tolist()
    for name, cells in [*((p, rows[p]) for p in PIVOTS), ("mean of the 5", mean), (ALL, rows[ALL])]:
        shown = cells if len(cells) == 1 else [*cells, float(np.mean(cells))]
        print(f"| {folder}, {name} | {' | '.join(f'{value:.4f}' for value in shown)} |")


def paraphrases(folders: Sequence[str]) -> None:
    """PEM's adequacy on ParaBank: nothing is learned here, so all pairs are used."""
    rated = read_parabank(str(PARABANK))
    human = np.array([np.mean([adequacy for adequacy, _ in pair.ratings]) for pair in rated])
    x, y = load_pipeline("en").analyse([p.original for p in rated], [p.paraphrase for p in rated])
    index = np.arange(len(rated))
    together = []
    print(f"\n| PEM's adequacy, r over {len(rated)} pairs | |\n|---|--:|")
    for folder in folders:
        f1 = {}
        for pivot, table in tables_of(folder).items():
            frequent = table.without_rare_phrases(LEAST_COUNT)
            f1[pivot] = np.nan_to_num(
                pivot_f1(pivot_bags(frequent, x), pivot_bags(frequent, y), index, index)
            )
        f1[ALL] = np.mean(list(f1.values()), axis=0)
        together.append(f1[ALL])
        show(folder, {name: [float(np.corrcoef(values, human)[0, 1])] for name, values in f1.items()})
    moments = np.stack([_moments(human, values) for values in together], axis=1)
    groups = np.unique([pair.group for pair in rated], return_inverse=True)[1]
    found = paired_bootstrap(Additive.of_statistics(moments, correlation_of_moments, groups))
    for place, folder in enumerate(folders[1:], start=1):
        print(
            f"\n{folder} above {folders[0]} in {100 * found.wins[place, 0]:.0f} % of the resamples of originals"
        )


def _moments(human: Floats, values: Floats) -> Floats:
    return np.stack(
        [np.ones_like(human), human, values, human * human, values * values, human * values], axis=1
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="+", metavar="FOLDER")
    parser.add_argument("--every", type=int, default=1, metavar="N")
    parser.add_argument("--tests", action="store_true", help="resample TESLA-B too (many minutes)")
    parser.add_argument("--only", choices=("translations", "paraphrases"))
    options = parser.parse_args()
    if options.only != "paraphrases":
        translations(options.folders, options.every, options.tests)
    if options.only != "translations":
        paraphrases(options.folders)


if __name__ == "__main__":
    main()
