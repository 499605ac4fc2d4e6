"""Write contradictions.md: how often PEM-X's detectors are right. Nothing is learned from these sets.

    python -m research.contradictions [-o FILE]

Data: ../shared/data/faithfulness (SICK, MED), ../shared/data/paraphrase, tests/data/minimal-pairs.tsv.
"""

from __future__ import annotations

import argparse
import csv
import gzip
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from paraphrase_sets import read_paraphrase_set
from tesla_eval import create_metric
from tesla_eval.base.arrays import FloatArray
from tesla_eval.language.analysis import load_pipeline
from tesla_eval.metrics.contradictions.finder import CONTRADICTIONS, ContradictionFinder

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT.parent / "shared" / "data"
PAIRS = ROOT / "tests" / "data" / "minimal-pairs.tsv"
CLEAR = [kind for kind in CONTRADICTIONS if kind != "lone number"]
"""A lone number takes little and is no contradiction."""
CLOSE_IN_MEANING = 4.8
Pairs = Sequence[tuple[str, str]]

HEAD = """# How often the detectors of contradictions are right

Written by `python -m research.contradictions`. Nothing was learned from SICK or MED. The pairs of equal meaning and our
own minimal pairs were looked at while the detectors were written, [those by strangers](minimal-pairs.md) were not.

"""


def rows_of(name: str) -> list[dict[str, str]]:
    with gzip.open(DATA / "faithfulness" / f"{name}.tsv.gz", "rt", encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


def marked(pairs: Pairs) -> dict[str, FloatArray]:
    """For each kind, and for any of them, which pairs have it."""
    finder = ContradictionFinder("en")
    x, y = (
        finder.prepare(side) for side in load_pipeline("en").analyse(*map(list, zip(*pairs, strict=True)))
    )
    every = np.arange(len(pairs))
    table = finder.compare(x, y, every, every) > 0
    columns = {kind: table[:, CONTRADICTIONS.index(kind)] for kind in CLEAR}
    return {**columns, "any": np.any(list(columns.values()), axis=0)}


def entailment_table(title: str, pairs: Pairs, labels: Sequence[str]) -> Iterator[str]:
    names = sorted(set(labels))
    label = np.array(labels)
    yield (
        f"| {title} | {' | '.join(f'{name} ({(label == name).sum()})' for name in names)} | precision: not entailed |"
    )
    yield f"|---|{'--:|' * (len(names) + 1)}"
    entailed = np.char.lower(label) == "entailment"
    for kind, mask in marked(pairs).items():
        counts = " | ".join(str(int((mask & (label == name)).sum())) for name in names)
        yield f"| {kind} | {counts} | {f'{100 * (~entailed[mask]).mean():.0f} %' if mask.any() else '–'} |"
    yield f"| all pairs | {' | '.join([''] * len(names))} | {100 * (~entailed).mean():.0f} % |"
    yield ""


def intact_pairs() -> dict[str, Pairs]:
    """Pairs that people found equal in meaning."""
    sick = [
        (row["sentence_a"], row["sentence_b"])
        for row in rows_of("sick")
        if row["judgement"] == "ENTAILMENT" and float(row["relatedness"]) >= CLOSE_IN_MEANING
    ]
    sets: dict[str, Pairs] = {f"SICK, entailed and related at {CLOSE_IN_MEANING} or more": sick}
    for name in ("stsb_en", "parabank_eval"):
        read = read_paraphrase_set(str(DATA / "paraphrase" / f"{name}.tsv.gz"))
        best = np.asarray(read.meaning) == np.max(read.meaning)
        rows = zip(read.originals, read.paraphrases, best.tolist(), strict=True)
        sets[f"{name}, highest score"] = [(one, other) for one, other, equal in rows if equal]
    sets["intact minimal pairs"] = [(row[2], row[3]) for row in minimal_pairs()]
    return sets


def minimal_pairs() -> list[list[str]]:
    lines = PAIRS.read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines if not line.startswith(("#", "part\t"))]


def report() -> Iterator[str]:
    sick, med = rows_of("sick"), rows_of("med")
    yield "## Pairs with a contradiction, by what people said\n"
    yield from entailment_table(
        "SICK", [(row["sentence_a"], row["sentence_b"]) for row in sick], [row["judgement"] for row in sick]
    )
    yield from entailment_table(
        "MED", [(row["premise"], row["hypothesis"]) for row in med], [row["label"] for row in med]
    )
    yield "## False alarms on pairs of equal meaning\n"
    yield f"| | pairs | any | {' | '.join(CLEAR)} |"
    yield f"|---|--:|--:|{'--:|' * len(CLEAR)}"
    total = alarms = 0
    for name, pairs in intact_pairs().items():
        masks = marked(pairs)
        total, alarms = total + len(pairs), alarms + int(masks["any"].sum())
        counts = " | ".join(str(int(masks[kind].sum())) for kind in CLEAR)
        yield f"| {name} | {len(pairs)} | {100 * masks['any'].mean():.1f} % | {counts} |"
    yield f"| all | {total} | {100 * alarms / total:.1f} % | {' | '.join([''] * len(CLEAR))} |\n"
    yield "## Minimal pairs: the damaged paraphrase scores below the intact one\n"
    yield "| | pem-x | chrf |"
    yield "|---|--:|--:|"
    rows = [row for row in minimal_pairs() if row[0] == "held-out"]
    for kind in dict.fromkeys(row[1] for row in rows):
        originals, intact, damaged = zip(*(row[2:] for row in rows if row[1] == kind), strict=True)
        shares = []
        for name in ("pem-x", "chrf"):
            metric = create_metric(name, "en")
            good, bad = (metric.score_segments(texts, [originals]).scores for texts in (intact, damaged))
            shares.append(f"{100 * (bad < good).mean():.0f} %")
        yield f"| {kind}, {len(originals)} held-out pairs | {' | '.join(shares)} |"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "research" / "contradictions.md")
    wishes = parser.parse_args()
    text = HEAD + "\n".join(report()) + "\n"
    wishes.output.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
