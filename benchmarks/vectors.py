"""What matching by word vectors costs beside TESLA-M, on the same pairs in the same run.

python -m benchmarks vectors
"""

from __future__ import annotations

import numpy as np

from benchmarks.common import cpu_seconds, interleaved, wmt14_pairs
from tesla_eval import TeslaM
from tesla_eval._core import match_vectors
from tesla_eval.language.analysis import load_pipeline
from tesla_eval.language.analysis.frequencies import load_frequencies
from tesla_eval.language.analysis.vectors import WordsWithVectors, load_vectors
from tesla_eval.matching.matcher import RECALL_WEIGHT
from tesla_eval.metrics.features.ngrams import NgramGroup

PAIRS = 5_000


def main() -> None:
    pairs = wmt14_pairs(PAIRS)
    group = NgramGroup().bind(load_pipeline("en"))  # TESLA-M's only group
    assert group is not None
    hypotheses, references = [h for h, _ in pairs], [r for _, r in pairs]
    y, x = load_pipeline("en").analyse(hypotheses, references)
    vectors, frequencies = load_vectors("en"), load_frequencies("en")
    assert vectors is not None
    known = WordsWithVectors(vectors, frequencies)
    prepared = [known.prepare(batch) for batch in (x, y)]
    index = np.arange(len(pairs))

    def look_up() -> float:
        new = WordsWithVectors(vectors, frequencies)
        return cpu_seconds(lambda: [new.of(batch) for batch in (x, y)])

    def matching_of_m() -> None:
        group.compare_segments([x], y, [index])

    found = interleaved(
        {
            "look up new word types": look_up,
            "prepare texts": lambda: cpu_seconds(lambda: [known.prepare(batch) for batch in (x, y)]),
            "match": lambda: cpu_seconds(lambda: match_vectors(*prepared, index, index, RECALL_WEIGHT)),
            "TESLA-M, bags and matching": lambda: cpu_seconds(matching_of_m),
            "TESLA-M, all": lambda: _whole_metric(hypotheses, references),
        }
    )
    words = (x.lengths.mean() + y.lengths.mean()) / 2
    types = len(np.unique(np.concatenate([x.word, y.word])))
    print(f"{PAIRS} WMT14 pairs of {words:.1f} words and {types} word types, microseconds of CPU per pair")
    for name, seconds in found.items():
        print(f"{name:<30}{seconds / PAIRS * 1e6:>8.2f}")
    warm = found["prepare texts"] + found["match"]
    cold = warm + found["look up new word types"]
    print(f"{'vectors / TESLA-M, all':<30}{warm / found['TESLA-M, all']:>8.2f} with known word types")
    print(f"{'':<30}{cold / found['TESLA-M, all']:>8.2f} with new ones")
    print(f"{found['look up new word types'] / types * 1e6:.2f} microseconds per new word type")


def _whole_metric(hypotheses: list[str], references: list[str]) -> float:
    """TESLA-M from text to score, with a vocabulary that begins anew as for a first file."""
    metric = TeslaM(lang="en")
    metric.analysis._begin_vocabulary()  # type: ignore[attr-defined]
    return cpu_seconds(lambda: metric.corpus_score(hypotheses, [references]))


if __name__ == "__main__":
    main()
