"""How well tables of word vectors tell words that mean the same: `python -m research.vectors [LANGUAGE ...]`.

No judgement is looked at. Some content words of WMT14 outputs are not in the reference, by form or lemma. How many of
them find a similar word in it, and how many in the reference of another segment? The second figure is noise. Own tables
($TESLA_EVAL_DATA) go before shipped ones, so that variants can be compared.
"""

from __future__ import annotations

import gzip
import sys
from pathlib import Path

import numpy as np
import numpy.typing as npt

from tesla_eval.language.analysis import AnalysedBatch, load_pipeline
from tesla_eval.language.analysis.vectors import WordsWithVectors, load_vectors

WMT = Path(__file__).resolve().parents[2] / "shared" / "data" / "wmt"
FILES = {
    "en": ("wmt14-rr.seg.tsv.gz", "de-en"),
    **{language: ("wmt14-outofen.seg.tsv.gz", f"en-{language}") for language in ("cs", "de", "fr", "ru")},
}
PAIRS = 3_000
THRESHOLDS = (0.4, 0.5, 0.6, 0.7)
NOISE = (0.02, 0.1)


def read_pairs(language: str) -> list[tuple[str, str]]:
    name, pair = FILES[language]
    with gzip.open(WMT / name, "rt", encoding="utf-8", newline="\n") as lines:
        rows = [fields for line in lines if (fields := line.rstrip("\n").split("\t"))[0] == pair]
    return [(row[5], row[6]) for row in rows[:: max(1, len(rows) // PAIRS)][:PAIRS]]


def measure(language: str) -> None:
    vectors = load_vectors(language)
    assert vectors is not None, language
    pairs = read_pairs(language)
    y, x = load_pipeline(language).analyse([h for h, _ in pairs], [r for _, r in pairs])
    words = WordsWithVectors(vectors, None)
    (hypothesis, _, hypothesis_vectors), (reference, _, reference_vectors) = words.of(y), words.of(x)
    unit_y, unit_x = _unit(hypothesis_vectors), _unit(reference_vectors)
    lost = [_lost(k, x, y, reference, hypothesis) for k in range(len(pairs))]
    asked = sum(map(len, lost))
    others = np.random.default_rng(1).permutation(len(pairs)).tolist()
    own, other = (
        np.concatenate([
            _best(unit_y[places], unit_x[_content(x, partner)])
            for places, partner in zip(lost, partners, strict=True)
        ])
        for partners in (range(len(pairs)), others)
    )  # fmt: skip
    content = hypothesis_vectors[y.function == 0].any(axis=1)
    print(
        f"{language}: {content.mean():.1%} of the content words have a vector; {asked} words are not in the reference"
    )
    for t in THRESHOLDS:
        print(f"  cosine {t}: own {(own >= t).sum() / asked:.1%}, other {(other >= t).sum() / asked:.1%}")
    for share in NOISE:
        t = np.sort(other)[::-1][int(share * asked)]
        print(f"  where {share:.0%} of others find one (cosine {t:.2f}): own {(own > t).sum() / asked:.1%}")


def _content(batch: AnalysedBatch, text: int) -> npt.NDArray[np.int64]:
    places = np.arange(batch.offsets[text], batch.offsets[text + 1])
    return places[batch.function[places] == 0]


def _lost(
    text: int,
    x: AnalysedBatch,
    y: AnalysedBatch,
    reference: npt.NDArray[np.uint32],
    hypothesis: npt.NDArray[np.uint32],
) -> npt.NDArray[np.int64]:
    """The content words of a hypothesis that its reference does not have."""
    span = slice(x.offsets[text], x.offsets[text + 1])
    places = _content(y, text)
    there = np.isin(hypothesis[places], reference[span]) | np.isin(y.lemma[places], x.lemma[span])
    return places[~there]


def _unit(vectors: npt.NDArray[np.int8]) -> npt.NDArray[np.float32]:
    """The vectors with length 1; those of zeros stay."""
    wide = vectors.astype(np.float32)
    return wide / np.maximum(np.linalg.norm(wide, axis=1, keepdims=True), 1)


def _best(asked: npt.NDArray[np.float32], offered: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """The highest cosine of each word asked for; 0 where one side has no vector."""
    offered = offered[offered.any(axis=1)]
    if not len(offered):
        return np.zeros(len(asked), np.float32)
    return np.where(asked.any(axis=1), (asked @ offered.T).max(axis=1), 0).astype(np.float32)


if __name__ == "__main__":
    for code in sys.argv[1:] or sorted(FILES):
        measure(code)
