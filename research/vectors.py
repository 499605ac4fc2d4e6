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

from tesla_eval._core import NO_VECTOR
from tesla_eval.language.analysis import AnalysedBatch, load_pipeline
from tesla_eval.language.analysis.vectors import VectorTokens, WordsWithVectors, load_vectors

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
    words.of(x)
    hypothesis, reference = words.of(y), words.of(x)  # all words are known: one matrix serves both
    unit = hypothesis.matrix.reshape(-1, vectors.dimensions).astype(np.float32)
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    lost = [_lost(k, x, y, reference, hypothesis) for k in range(len(pairs))]
    asked = sum(map(len, lost))
    others = np.random.default_rng(1).permutation(len(pairs)).tolist()
    own, other = (
        np.concatenate([
            _best(unit, hypothesis.row[places], reference.row[_content(x, partner)])
            for places, partner in zip(lost, partners, strict=True)
        ])
        for partners in (range(len(pairs)), others)
    )  # fmt: skip
    content = hypothesis.row[y.function == 0] != NO_VECTOR
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
    text: int, x: AnalysedBatch, y: AnalysedBatch, reference: VectorTokens, hypothesis: VectorTokens
) -> npt.NDArray[np.int64]:
    """The content words of a hypothesis that its reference does not have."""
    span = slice(x.offsets[text], x.offsets[text + 1])
    places = _content(y, text)
    there = np.isin(hypothesis.word[places], reference.word[span]) | np.isin(y.lemma[places], x.lemma[span])
    return places[~there]


def _best(
    unit: npt.NDArray[np.float32], asked: npt.NDArray[np.uint32], offered: npt.NDArray[np.uint32]
) -> npt.NDArray[np.float32]:
    """The highest cosine of each word asked for; 0 where there is none."""
    found = np.zeros(len(asked), np.float32)
    has_vector, offered = asked != NO_VECTOR, offered[offered != NO_VECTOR]
    if has_vector.any() and len(offered):
        found[has_vector] = (unit[asked[has_vector]] @ unit[offered].T).max(axis=1)
    return found


if __name__ == "__main__":
    for code in sys.argv[1:] or sorted(FILES):
        measure(code)
