"""How easily TESLA-N and TESLA-X are fooled by every kind of damage, over many sets into English.

    python -m research.n_stress [-o research/n-stress.md] [-m n,x,chrf++]

200 evenly chosen segments of a set, and its first, middle and last system in the order of the file. The weights and the
encoder that ship have seen these years; research/x-stress.md leaves the year out, for TESLA-X.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import loyo
from tesla_eval import create_metric
from tesla_eval.judgements.stress import HARMLESS, stress
from tesla_eval.judgements.stress.run import StressResult
from tesla_eval.metrics.scoring import NamedMetric

SEGMENTS = 200
SETS = {
    ("wmt13", "rr", "fr-en"), ("wmt14", "rr", "de-en"), ("wmt17", "da-toen", "de-en"),
    ("wmt19", "darr", "gu-en"), ("wmt19", "darr", "kk-en"), ("wmt19", "darr", "lt-en"),
    ("wmt20", "mqm", "zh-en"), ("wmt21", "mqm-news", "zh-en"),
    ("wmt21", "da-toen", "is-en"), ("wmt21", "da-toen", "ja-en"), ("wmt21", "da-toen", "ru-en"),
}  # fmt: skip
HEAD = """# TESLA-N and every kind of damage

The share of damaged texts that fool a metric ([`tesla stress`](../docs/stress.md)): the mean over {sets} sets into
English, WMT13 to WMT21, {segments} segments and three systems each. Degenerate texts: the share above real outputs.
Harmful edits: the share that does not score lower. Written by `python -m research.n_stress -o research/n-stress.md`."""


def results(metrics: list[NamedMetric]) -> Iterator[StressResult]:
    for year, kind, one in loyo.judged(True):
        outputs = one.outputs
        if (year, kind, outputs.lp) not in SETS:
            continue
        complete = [
            k
            for k, reference in enumerate(outputs.first_reference)
            if reference and all(texts[k] is not None for texts in outputs.hypotheses)
        ]
        places = np.unique(np.linspace(0, len(complete) - 1, SEGMENTS).round().astype(int))
        chosen = [complete[k] for k in places.tolist()]
        last = len(outputs.systems) - 1
        systems = {
            outputs.systems[s]: [outputs.hypotheses[s][k] or "" for k in chosen]
            for s in (0, (last + 1) // 2, last)
        }
        yield stress(metrics, [[outputs.first_reference[k] for k in chosen]], "en", systems)


def report(names: list[str]) -> Iterator[str]:
    metrics = [NamedMetric(name, create_metric(name, "en")) for name in names]
    shares: dict[str, dict[str, list[float]]] = {}
    texts: dict[str, int] = {}
    count = 0
    for result in results(metrics):
        count += 1
        for row in result.rows:
            if row.family != HARMLESS and row.fooled is not None:
                by_metric = shares.setdefault(f"{row.kind} | {row.family}", {name: [] for name in names})
                by_metric[row.metric].append(row.fooled)
                texts[row.kind] = texts.get(row.kind, 0) + (row.metric == names[0]) * row.texts
    yield HEAD.format(sets=count, segments=SEGMENTS)
    yield "\n| kind | | texts | " + " | ".join(names) + " |\n|---|---|--:|" + "--:|" * len(names)
    for kind, by_metric in shares.items():
        cells = (f"{np.mean(values):.3f}".lstrip("0") for values in by_metric.values())
        yield f"| {kind} | {texts[kind.split(' | ')[0]]:,} | " + " | ".join(cells) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("-m", "--metrics", default="n,x,chrf++")
    parser.add_argument("-o", "--output", type=Path)
    given = parser.parse_args()
    page = "\n".join(report(given.metrics.split(","))) + "\n"
    if given.output is None:
        print(page, end="")
    else:
        given.output.write_text(page, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
