"""What does leaving out rare phrases cost? TESLA-B and PEM with whole and pruned tables of one run of the aligner.

    python -m research.pruning b WHOLE PRUNED          τ of segments, r of systems, WMT12-14
    python -m research.pruning pem WHOLE PRUNED ...    r on ParaBank, originals that were not learned from

Each argument is a folder of tables, made by `tools/build_phrase_tables.py NAME ... --aligner hmm --min-count COUNT
--output FOLDER`: en-cs en-de en-es en-fr en-zh cs-en de-en es-en fr-en for `b`, stems-en-zh for `pem`. A second call
for the same names takes the alignments of the first. Differences are to the first folder, with 95 % of 1,000 resamples
of segments, or of originals.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from build_pem import LANGUAGE_MODEL, PARABANK, split, to_learn_from
from research.pem import BUILT_IN
from research.resampled import DRAWS, SEED, Estimate, estimates
from research.wmt_sections import SECTIONS, read
from tesla_eval import TeslaB
from tesla_eval.base.arrays import FloatArray
from tesla_eval.judgements.meta.join import Joined
from tesla_eval.judgements.meta.run import score_and_join, target_language
from tesla_eval.language.analysis import load_stems
from tesla_eval.language.lm import load_language_model
from tesla_eval.language.pivot import KIND, STEMS, PhraseTable, read_phrase_table
from tesla_eval.metrics.cache import ScoreCache
from tesla_eval_papers.judgements import read_parabank
from tesla_eval_papers.metrics.features.paraphrases import PARAPHRASE_FEATURES, ParaphraseFeatures
from tesla_eval_papers.training.regressions import compute_features, fit_support_vectors, with_controls

FILES = ("wmt12-rr", "wmt13-rr", "wmt14-rr")
TABLES = {"en": ("cs", "de", "es", "fr", "zh"), "cs": ("en",), "de": ("en",), "es": ("en",), "fr": ("en",)}


def tables(folder: str, language: str) -> list[PhraseTable]:
    return [
        read_phrase_table(Path(folder) / f"{KIND}-{language}-{pivot}.tesla") for pivot in TABLES[language]
    ]


def judged_sets(folders: Sequence[str], cache: ScoreCache) -> Iterator[tuple[str, list[Joined]]]:
    """The test sets of WMT12-14 by title, with TESLA-B under every folder's tables."""
    metrics: dict[str, list[TeslaB]] = {}
    for section in SECTIONS:
        if section.file not in FILES:
            continue
        joined = []
        for judged in read(section):
            language = target_language(judged.outputs.lp)
            if language not in TABLES:
                continue
            if language not in metrics:
                metrics[language] = [TeslaB(language, pivots=tables(folder, language)) for folder in folders]
            joined.append(score_and_join(judged, metrics[language], cache, names=list(folders)))
        yield section.title, joined


def translations(folders: Sequence[str]) -> None:
    """TESLA-B: one row per test set and statistic."""
    print(f"| TESLA-B | | {' | '.join(folders)} | difference |\n|---|---|{'--:|' * (len(folders) + 1)}")
    with ScoreCache() as cache:
        for number, (title, sets) in enumerate(judged_sets(folders, cache)):
            found = estimates(sets, first=100 * number)
            for statistic in ("τ", "Pearson"):
                figures = {name: row["average"] for name, row in found[statistic].items()}
                print(_row(f"{title} | {statistic}", [figures[name] for name in folders]), flush=True)


def _row(title: str, figures: Sequence[Estimate]) -> str:
    differences = " ".join(str(one - figures[0]) for one in figures[1:])
    return f"| {title} | {' | '.join(f'{one.value:.4f}' for one in figures)} | {differences} |"


def paraphrases(folders: Sequence[str]) -> None:
    """PEM: a regression of its own for every folder, with the parameters of the built-in one."""
    rated = read_parabank(str(PARABANK))
    analysis, model = load_stems("en"), load_language_model("en", LANGUAGE_MODEL)
    print(f"| PEM, r | {' | '.join(folders)} | differences |\n|---|{'--:|' * (len(folders) + 1)}")
    rows: dict[str, list[Estimate]] = {}
    for folder in folders:
        table = read_phrase_table(Path(folder) / f"{KIND}-{STEMS}-en-zh.tesla")
        features = ParaphraseFeatures(analysis, [table], model)
        train, held = (with_controls(some, features) for some in (to_learn_from(rated), split(rated)[1]))
        overall = np.array([pair.overall for pair in held])
        fit = fit_support_vectors(
            PARAPHRASE_FEATURES, compute_features(features, train), np.array([pair.overall for pair in train]),
            [pair.group for pair in train], BUILT_IN,
        )  # fmt: skip
        measured = compute_features(features, held)
        predicted = np.clip(fit.model.predict(measured), 1, 5)
        groups = np.unique([pair.group for pair in held], return_inverse=True)[1]
        real = np.array([bool(pair.ratings) for pair in held])
        adequacy = np.array([np.mean([a for a, _ in pair.ratings] or [0]) for pair in held])
        for name, values, human, chosen in (
            ("overall, with controls", predicted, overall, np.ones_like(real)),
            ("overall", predicted, overall, real),
            ("adequacy, raters' adequacy", measured[:, 0], adequacy, real),
        ):
            estimate = _correlation(values[chosen], human[chosen], groups[chosen])
            rows.setdefault(name, []).append(estimate)
    for name, figures in rows.items():
        print(_row(name, figures))


def _correlation(values: FloatArray, human: FloatArray, groups: FloatArray) -> Estimate:
    """Pearson's r, and r of resampled groups; the same groups for every folder."""
    members = [np.flatnonzero(groups == group) for group in np.unique(groups)]
    generator = np.random.default_rng(SEED)
    drawn = []
    for _ in range(DRAWS):
        chosen = np.concatenate([members[k] for k in generator.integers(len(members), size=len(members))])
        drawn.append(np.corrcoef(values[chosen], human[chosen])[0, 1])
    return Estimate(float(np.corrcoef(values, human)[0, 1]), np.array(drawn))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("metric", choices=("b", "pem"))
    parser.add_argument("folders", nargs="+", metavar="FOLDER")
    given = parser.parse_args()
    (translations if given.metric == "b" else paraphrases)(given.folders)


if __name__ == "__main__":
    main()
