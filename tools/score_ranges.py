"""What scores mean: where the systems of recent WMT campaigns lie, by metric and target language.

    python tools/score_ranges.py

writes src/tesla_eval/report/ranges.json. A range goes from the tenth to the ninetieth percentile of system scores, each
over those of the first 300 segments of its test set that all systems have.
"""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path

import numpy as np

from tesla_eval import evaluate
from tesla_eval.base.version import SCORING

SETS = {
    "wmt21-da-toen.seg.tsv.gz": ("WMT21 news", ("cs-en", "de-en", "is-en", "ja-en", "ru-en")),
    "wmt20-mqm.seg.tsv.gz": ("WMT20 news", ("en-de",)),
    "wmt24-esa-outofen-odd.seg.tsv.gz": (
        "WMT24", ("en-cs", "en-es", "en-hi", "en-is", "en-ja", "en-ru", "en-uk", "en-zh"),
    ),
}  # fmt: skip
SEGMENTS = 300
ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT.parent / "shared" / "data" / "wmt"
OUTPUT = ROOT / "src" / "tesla_eval" / "report" / "ranges.json"


def system_scores(path: Path, pair: str) -> dict[str, list[float]]:
    """By metric the scores of all systems, over the segments that all of them have."""
    outputs: dict[str, dict[str, str]] = {}
    references: dict[str, str] = {}
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as lines:
        next(lines)
        for line in lines:
            lp, _, system, segment, _, hypothesis, reference, *_ = line.rstrip("\n").split("\t")
            if lp == pair and (segment in references or len(references) < SEGMENTS):
                references[segment] = reference
                outputs.setdefault(system, {})[segment] = hypothesis
    outputs = {name: own for name, own in outputs.items() if 2 * len(own) > len(references)}
    common = [segment for segment in references if all(segment in own for own in outputs.values())]
    texts = {name: [own[segment] for segment in common] for name, own in outputs.items()}
    target = pair.partition("-")[2]
    metrics = ["celab", "chrf"] if target in ("zh", "ja") else ["m", "x", "bleu", "chrf"]
    result = evaluate(texts, [[references[segment] for segment in common]], metrics, lang=target)
    return {name: [row[name] for row in result.scores.values()] for name in result.metrics}


def main() -> None:
    """Write the ranges of all sets."""
    found: dict[tuple[str, str], tuple[str, list[float]]] = {}
    for name, (title, pairs) in SETS.items():
        for pair in pairs:
            for metric, scores in system_scores(DATA / name, pair).items():
                found.setdefault((metric, pair.partition("-")[2]), (title, []))[1].extend(scores)
            print(pair, file=sys.stderr, flush=True)
    ranges: dict[str, dict[str, object]] = {}
    for (metric, target), (title, scores) in sorted(found.items()):
        low, high = np.percentile(scores, [10, 90]).round(4).tolist()
        ranges.setdefault(metric, {})[target] = {
            "set": title,
            "systems": len(scores),
            "low": low,
            "high": high,
        }
    OUTPUT.write_text(json.dumps({"scoring": SCORING, "ranges": ranges}, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
