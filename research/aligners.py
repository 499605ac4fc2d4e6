"""TESLA-B with phrase tables of several aligners: are tables of one as good as those of another?

    python -m research.aligners shipped FOLDER [--keep FOLDER]

Each FOLDER holds tables of English (`tools/build_phrase_tables.py en-cs en-de en-es en-fr en-zh --aligner hmm --output
FOLDER`); `shipped` are the built-in ones. Prints, set by set, Kendall's τ of TESLA-B for segments into English (mean
over language pairs and over TESLA-B with one pivot each, and with all pivots), the difference to the first folder, its
95 % interval, and how often it is above 0 in 1,000 paired resamples of segments.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from research.pivots import PIVOT_FEATURES, TARGET_FEATURES, Floats, score
from research.scored_outputs import score_outputs
from research.wmt_sections import SECTIONS, read
from tesla_eval.base.resources import shipped_folder
from tesla_eval.judgements.meta.join import MetricScores, join
from tesla_eval.judgements.meta.run import JudgedSet
from tesla_eval.language.pivot import KIND, PhraseTable, read_phrase_table
from tesla_eval.metrics.tesla_b import TeslaB
from tesla_eval.statistics.candidates import Additive
from tesla_eval.statistics.resampling import Bootstrap, paired_bootstrap

PIVOTS = ("cs", "de", "es", "fr", "zh")
SHIPPED = "shipped"
SETS = {
    "WMT12": "wmt12-rr", "WMT13": "wmt13-rr", "WMT14": "wmt14-rr", "WMT19": "wmt19-darr", "WMT20": "wmt20-mqm",
    "WMT21, direct assessment": "wmt21-da-toen", "WMT21, MQM": "wmt21-mqm-news",
}  # fmt: skip
FEWEST_PAIRS = 1000  # of outputs that people told apart; language pairs with fewer are left out
SINGLE, ALL = "one pivot", "all pivots"


def tables_of(folder: str) -> dict[str, PhraseTable]:
    home = shipped_folder() if folder == SHIPPED else Path(folder)
    return {pivot: read_phrase_table(home / f"{KIND}-en-{pivot}.tesla") for pivot in PIVOTS}


def agreements(judged: JudgedSet, metric: TeslaB) -> Floats:
    """By segment: pairs that people told apart; then concordant less discordant ones with each pivot, and with all."""
    segments = judged.scored_segments(False)
    features: list[Floats] = []

    def compute(hypotheses: Sequence[str], references: Sequence[Sequence[str | None]]) -> Floats:
        features.append(metric.corpus_score(hypotheses, references).features)
        return score(features[0], PIVOTS, PIVOTS)

    scores = {ALL: MetricScores(score_outputs(judged.outputs, compute, segments=segments))}
    assert features[0].shape[1] == TARGET_FEATURES + len(PIVOTS) * PIVOT_FEATURES
    for pivot in PIVOTS:
        table = score_outputs(
            judged.outputs, lambda h, r, p=pivot: score(features[0], PIVOTS, (p,)), segments=segments
        )
        scores[pivot] = MetricScores(table)
    pairs = join(judged.outputs, scores, preferences=judged.preferences, system_scores=judged.systems).pairs
    human = np.sign(pairs.difference)
    differences = {name: pairs.metric_difference(some.segments) for name, some in scores.items()}
    known = segments[pairs.segment] & (human != 0) & ~np.isnan(differences[ALL])

    def per_segment(values: Floats) -> Floats:
        return np.bincount(pairs.segment[known], values[known], minlength=len(segments))

    signs = [human * np.sign(differences[name]) for name in (*PIVOTS, ALL)]
    return np.stack([per_segment(values) for values in (np.ones(len(human)), *signs)])


def agreements_of(folder: str, file: str, kept: Path | None) -> dict[str, Floats]:
    """Those of all language pairs of a set, from an earlier run if it kept them."""
    path = None if kept is None else kept / f"{Path(folder).name}-{file}.npz"
    if path is not None and path.is_file():
        return dict(np.load(path))
    metric = TeslaB("en", pivots=list(tables_of(folder).values()))
    section = next(one for one in SECTIONS if one.file == file and one.into_english)
    found = {judged.outputs.lp: agreements(judged, metric) for judged in read(section)}
    if path is not None:
        np.savez(path, **found)  # type: ignore[arg-type]
    return found


def as_statistics(of_folders: Sequence[Floats]) -> dict[str, Floats] | None:
    """By variant an array (segments, folders, 2): agreement and pairs; `None` if there are too few pairs."""
    count = of_folders[0][0]
    if count.sum() < FEWEST_PAIRS:
        return None
    rows = {SINGLE: slice(1, 1 + len(PIVOTS)), ALL: slice(-1, None)}
    return {
        variant: np.stack(
            [np.stack([one[chosen].mean(axis=0), count], axis=1) for one in of_folders], axis=1
        )[count > 0]
        for variant, chosen in rows.items()
    }


def side_by_side(parts: Sequence[Floats]) -> Floats:
    """Statistics of several language pairs as one array: each has columns of its own."""
    rows, candidates = sum(map(len, parts)), parts[0].shape[1]
    joined = np.zeros((rows, candidates, 2 * len(parts)))
    start = 0
    for place, part in enumerate(parts):
        joined[start : start + len(part), :, 2 * place : 2 * place + 2] = part
        start += len(part)
    return joined


def mean_tau(sets: Sequence[int]) -> Callable[[Floats], Floats]:
    """From sums over segments to the mean over sets (given by their number of language pairs) of the means of τ."""
    weights = np.concatenate([np.full(size, 1 / (size * len(sets))) for size in sets])

    def of_sums(sums: Floats) -> Floats:
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray((sums[..., 0::2] / sums[..., 1::2]) @ weights)

    return of_sums


def compared(title: str, found: Bootstrap, folders: Sequence[str]) -> Iterator[str]:
    """One row of a table for every folder but the first."""
    for place in range(1, len(folders)):
        low, high = found.difference_low[place, 0], found.difference_high[place, 0]
        yield (
            f"| {title} | {found.scores[0]:.4f} | {found.scores[place]:.4f} | {found.differences[place, 0]:+.4f} | "
            f"[{low:+.4f}, {high:+.4f}] | {100 * found.wins[place, 0]:.0f} % |"
        )


def heading(title: str, folders: Sequence[str]) -> str:
    return (
        f"| {title} | {folders[0]} | {' '.join(folders[1:])} | difference | 95 % | above |\n|---|{'--:|' * 5}"
    )


def translations(folders: Sequence[str], kept: Path | None) -> None:
    """TESLA-B on the test sets of WMT."""
    parts: dict[str, list[list[Floats]]] = {SINGLE: [], ALL: []}
    for file in SETS.values():
        of_folders = [agreements_of(folder, file, kept) for folder in folders]
        found = [as_statistics([one[lp] for one in of_folders]) for lp in of_folders[0]]
        for variant, sets in parts.items():
            sets.append([some[variant] for some in found if some is not None])
    for variant, sets in parts.items():
        print(heading(f"TESLA-B, {variant}, τ", folders))
        for name, some in zip(SETS, sets, strict=True):
            subject = Additive.of_statistics(side_by_side(some), mean_tau([len(some)]))
            title = f"{name} ({len(some)} language pair{'s' * (len(some) > 1)})"
            print("\n".join(compared(title, paired_bootstrap(subject), folders)), flush=True)
        everything = side_by_side([part for some in sets for part in some])
        subject = Additive.of_statistics(everything, mean_tau([len(some) for some in sets]))
        print("\n".join(compared("mean", paired_bootstrap(subject), folders)), end="\n\n", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="+", metavar="FOLDER")
    parser.add_argument(
        "--keep", type=Path, metavar="FOLDER", help="where agreement by segment is kept for later runs"
    )
    options = parser.parse_args()
    translations(options.folders, options.keep)


if __name__ == "__main__":
    main()
