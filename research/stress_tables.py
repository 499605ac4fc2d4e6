"""How easily the metrics are fooled, in four languages: the tables of docs/stress.md.

    python -m research.stress_tables [-m m,b,f,x] [--segments 300] [--only de]

The first segments of a set, and the first two systems by name whose outputs are complete.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from loyo import DATA
from tesla_eval import create_metric
from tesla_eval.judgements.meta.run import wmt_sets
from tesla_eval.metrics.scoring import NamedMetric
from tesla_eval.stress import stress
from tesla_eval.stress.kinds import choose_kinds

SETS = {
    "en": ("wmt20-mqm", "zh-en"), "de": ("wmt20-mqm", "en-de"), "cs": ("wmt24-esa-outofen-odd", "en-cs"),
    "es": ("wmt24-esa-outofen-odd", "en-es"),
}  # fmt: skip
KINDS = (
    "half", "doubled", "words-doubled", "sentence-added", "words-shuffled", "padded", "number", "negation",
)  # fmt: skip


def table(language: str, metrics: str, segments: int) -> Iterator[str]:
    file, lp = SETS[language]
    (judged,) = wmt_sets([str(DATA / f"{file}.seg.tsv.gz")], lps=[lp])
    outputs = judged.outputs
    references = [text or "" for text in outputs.first_reference[:segments]]
    complete = [
        (name, [text or "" for text in texts[:segments]])
        for name, texts in sorted(zip(outputs.systems, outputs.hypotheses, strict=True))
        if all(texts[:segments])
    ]
    named = [NamedMetric(name, create_metric(name, language)) for name in metrics.split(",")]
    result = stress(named, [references], language, dict(complete[:2]), kinds=choose_kinds(KINDS))
    shares = {(row.metric, row.kind): row.fooled for row in result.rows}
    yield f"**{language} ({file}, {lp}: {' and '.join(result.systems)})**\n"
    yield "| | " + " | ".join(KINDS) + " |"
    yield "|---|" + "--:|" * len(KINDS)
    for name, metric in named:
        cells = (shares.get((name, kind)) for kind in KINDS)
        shown = ("–" if cell is None else f"{cell:.3f}".lstrip("0") for cell in cells)
        yield f"| {metric.id} | " + " | ".join(shown) + " |"
    yield ""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("-m", "--metrics", default="m,b,f,x,bleu,chrf++,rougel")
    parser.add_argument("--segments", type=int, default=300)
    parser.add_argument("--only", choices=list(SETS), action="append")
    given = parser.parse_args()
    for language in given.only or SETS:
        print("\n".join(table(language, given.metrics, given.segments)), flush=True)


if __name__ == "__main__":
    main()
