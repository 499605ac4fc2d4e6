"""Compare the scores of two versions of the package to the last bit, on real segments and under all metrics.

python tools/compare_trees.py dump before.npz      # with the interpreter of one checkout
python tools/compare_trees.py dump after.npz       # with that of the other
python tools/compare_trees.py diff before.npz after.npz
"""

from __future__ import annotations

import gzip
import sys
import zipfile
from pathlib import Path

import numpy as np

from tesla_eval import create_metric

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "wmt"
SEGMENTS = 2_000
FEW = 60  # for slow metrics, explanations and all pairs
SETS = {
    "en": ("wmt14-rr.seg.tsv.gz", "cs-en"),
    "de": ("wmt14-outofen.seg.tsv.gz", "en-de"),
    "ru": ("wmt14-outofen.seg.tsv.gz", "en-ru"),
    "zh": ("wmt24-esa-outofen-odd.seg.tsv.gz", "en-zh"),
}
METRICS = {
    "en": [
        "m", "b", "f", "x", "pem", "s", "s-recall", "celab-", "bleu", "bleu-char", "chrf", "chrf++", "rouge1", "rouge2",
        "rougel", "rougesu4", "rouge1-recall", "rouge2-recall", "rougel-recall", "rougesu4-recall",
    ],
    "de": ["m", "b", "x", "s", "celab", "chrf++"],
    "ru": ["m", "x", "s"],
    "zh": ["m", "x", "s", "celab", "celab-", "bleu"],
}  # fmt: skip
SLOW = ["ter", "dicomer", "cremer"]
EDGES = [("", "A text."), ("A text.", ""), ("One", "One"), ("a b", "a"), ("...", "A text.")]


def pairs_of(lang: str) -> tuple[list[str], list[str]]:
    name, lp = SETS[lang]
    pairs = []
    with gzip.open(DATA / name, "rt", encoding="utf-8", newline="\n") as lines:
        head = next(lines).rstrip("\n").split("\t")
        columns = [head.index(key) for key in ("lp", "hypothesis", "reference")]
        for number, line in enumerate(lines):
            row = line.rstrip("\n").split("\t")
            found, hypothesis, reference = (row[column] for column in columns)
            if found == lp and number % 7 == 0:
                pairs.append((hypothesis, reference))
            if len(pairs) == SEGMENTS:
                break
    return [*(h for h, _ in pairs), *(h for h, _ in EDGES)], [*(r for _, r in pairs), *(r for _, r in EDGES)]


def dump(path: str) -> None:
    arrays = {}
    for lang, names in METRICS.items():
        hypotheses, references = pairs_of(lang)
        ragged = [text if k % 3 else None for k, text in enumerate(hypotheses[1:] + hypotheses[:1])]
        slow = SLOW if lang == "en" else []
        for name in [*names, *slow]:
            metric = create_metric(name, lang)
            count = FEW if name in slow else len(hypotheses)
            one = metric.corpus_score(hypotheses[:count], [references[:count]])
            two = metric.corpus_score(hypotheses[:count], [references[:count], ragged[:count]])
            key = f"{lang} {name}"
            arrays |= {
                f"{key} score": np.array([one.score, two.score]),
                f"{key} segments": np.stack([one.segments, two.segments]),
                f"{key} features": one.features[:, :50],
                f"{key} pairwise": metric.pairwise(hypotheses[:FEW], references[:FEW]),
            }
            if name in ("m", "b", "f", "x", "s", "celab", "pem", "cremer"):
                scores = [
                    metric.explain(h, [r]).score
                    for h, r in zip(hypotheses[:FEW], references[:FEW], strict=True)
                ]
                arrays[f"{key} explained"] = np.array(scores)
            print(key, *arrays[f"{key} score"])
    np.savez_compressed(path, **arrays)


def diff(before: str, after: str) -> int:
    a, b = np.load(before), np.load(after)
    different = sorted(set(a.files) ^ set(b.files))
    for name in sorted(set(a.files) & set(b.files)):
        x, y = a[name], b[name]
        if name.endswith("features"):
            y = y[:, : x.shape[1]]
        # A missing value is NaN, whatever the sign that NaN has.
        unequal = (x.view(np.int64) != y.view(np.int64)) & ~(np.isnan(x) & np.isnan(y))
        if unequal.any():
            different.append(f"{name}: {int(unequal.sum())} of {x.size} numbers differ")
    for line in different:
        print(line)
    print(
        f"{len(a.files)} arrays, {sum(a[name].size for name in a.files):,} numbers, {len(different)} arrays differ"
    )
    return 1 if different else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["dump"]:
        dump(sys.argv[2])
    else:
        assert zipfile.is_zipfile(sys.argv[2])
        sys.exit(diff(sys.argv[2], sys.argv[3]))
