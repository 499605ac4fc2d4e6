"""How easily TESLA-N and TESLA-X are fooled by every kind of damage, over many sets into English.

    python -m research.n_stress [-o research/n-stress.md] [-m n,x,chrf++]

200 evenly chosen segments of a set, and its first, middle and last system in the order of the file. The weights and the
encoder that ship have seen these years; research/x-stress.md leaves the year out, for TESLA-X.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

import loyo
from tesla_eval import create_metric
from tesla_eval.metrics.scoring import NamedMetric
from tesla_eval.stress import HARMLESS, stress
from tesla_eval.stress.run import StressResult

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
TENSE_HEAD = """
## Changed tenses

The damage changes the first verb of an output, whatever the reference says. So some changes bring the output nearer to
the reference: more of its words are there. Then no metric should lower the score. Where neither form of the verb is in
the reference, the output is as near as before. The number of changed outputs that do not score lower:
"""
NEARER, FARTHER, AS_NEAR = "nearer to the reference", "farther from it", "as near as before"

Damaged = tuple[StressResult, list[str], list[list[str]]]
"""What fools the metrics on a set, the references of its segments, and the outputs of its systems."""


def results(metrics: list[NamedMetric]) -> Iterator[Damaged]:
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
        references = [outputs.first_reference[k] or "" for k in chosen]
        yield stress(metrics, [references], "en", systems), references, list(systems.values())


def common_words(text: str, reference: str) -> int:
    words, theirs = (Counter(re.findall(r"\w+", one.lower())) for one in (text, reference))
    return (words & theirs).total()


def changed_tenses(metrics: Sequence[NamedMetric], damaged: Damaged) -> Iterator[tuple[str, list[bool]]]:
    """For each output with another tense how near it came to the reference, and which metrics it does not lower."""
    result, references, outputs = damaged
    texts = [one for one in result.texts if one.kind.name == "tense"]
    after, before = [one.text for one in texts], [outputs[one.made_from][one.segment] for one in texts]
    against = [references[one.segment] for one in texts]
    not_lower = [
        np.greater_equal(*(metric.score_segments(side, [against]).scores for side in (after, before)))
        for _, metric in metrics
    ]
    for new, old, reference, fooled in zip(after, before, against, np.transpose(not_lower), strict=True):
        gain = common_words(new, reference) - common_words(old, reference)
        yield NEARER if gain > 0 else FARTHER if gain < 0 else AS_NEAR, fooled.tolist()


def report(names: list[str]) -> Iterator[str]:
    metrics = [NamedMetric(name, create_metric(name, "en")) for name in names]
    shares: dict[str, dict[str, list[float]]] = {}
    texts: dict[str, int] = {}
    tenses: dict[str, list[list[bool]]] = {NEARER: [], FARTHER: [], AS_NEAR: []}
    count = 0
    for damaged in results(metrics):
        count += 1
        for relation, fooled in changed_tenses(metrics, damaged):
            tenses[relation].append(fooled)
        for row in damaged[0].rows:
            if row.family != HARMLESS and row.fooled is not None:
                by_metric = shares.setdefault(f"{row.kind} | {row.family}", {name: [] for name in names})
                by_metric[row.metric].append(row.fooled)
                texts[row.kind] = texts.get(row.kind, 0) + (row.metric == names[0]) * row.texts
    yield HEAD.format(sets=count, segments=SEGMENTS)
    yield "\n| kind | | texts | " + " | ".join(names) + " |\n|---|---|--:|" + "--:|" * len(names)
    for kind, by_metric in shares.items():
        cells = (f"{np.mean(values):.3f}".lstrip("0") for values in by_metric.values())
        yield f"| {kind} | {texts[kind.split(' | ')[0]]:,} | " + " | ".join(cells) + " |"
    yield TENSE_HEAD
    yield (
        "| the change brings the output | texts | "
        + " | ".join(names)
        + " |\n|---|--:|"
        + "--:|" * len(names)
    )
    for relation, rows in tenses.items():
        yield f"| {relation} | {len(rows)} | " + " | ".join(map(str, np.sum(rows, axis=0))) + " |"


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
