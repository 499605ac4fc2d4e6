"""Write summary-orders.md: how often the best summary of a topic scores above texts that are worse for certain.

    python -m research.summary_orders [-o FILE]

Data: ../shared/data/summaries. A kind is a function from a `Case` to the worse text, or None where it cannot be made.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from tesla_eval import create_metric
from tesla_eval.base.arrays import FloatArray
from tesla_eval.judgements.summaries import OVERALL, SummarySet, read_summaries
from tesla_eval.language.analysis import load_pipeline, split_sentences

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT.parent / "shared" / "data" / "summaries"
SETS = ("newsroom", "realsumm", "summeval", "summeval_op")
METRICS = (
    "s",
    "s-recall",
    "s-x",
    "s-source",
    "rouge1",
    "rouge2",
    "rougel",
    "rouge1-recall",
    "rouge2-recall",
    "chrf",
)
WORDS = "number of words"


@dataclass(frozen=True)
class Case:
    """The best-rated summary of a topic, with what worse texts are made of."""

    text: str
    source: str
    models: tuple[str, ...]
    other_model: str
    """A model summary of the next topic."""

    @cached_property
    def sentences(self) -> list[str]:
        return _sentences(self.text)

    @cached_property
    def source_sentences(self) -> list[str]:
        return _sentences(self.source)


Maker = Callable[[Case], str | None]


def _sentences(text: str) -> list[str]:
    return [text[slice(*span)] for span in split_sentences(text, "en")]


def _shuffled(sentences: list[str]) -> str | None:
    order = sentences.copy()
    random.Random(" ".join(sentences)).shuffle(order)
    return " ".join(order) if order != sentences else None


def negated(sentence: str) -> str | None:
    """The sentence with its first finite verb negated; None if it has no verb, or a negation already."""
    (batch,) = load_pipeline("en").analyse([sentence])
    tokens = batch.tokens(0)
    if any(token.lemma in ("not", "no", "never", "nobody", "nothing", "none") for token in tokens):
        return None
    for token in tokens:
        if token.lemma == "be" or token.pos == "MD":
            return f"{sentence[: token.end]} not{sentence[token.end :]}"
    for token in tokens:
        helper = {"VBZ": "does", "VBD": "did", "VBP": "do"}.get(token.pos)
        if helper is not None:
            return f"{sentence[: token.start]}{helper} not {token.lemma}{sentence[token.end :]}"
    return None


def _negated_throughout(case: Case) -> str | None:
    denied = [negated(sentence) for sentence in case.sentences]
    return (
        " ".join(new or old for new, old in zip(denied, case.sentences, strict=True)) if any(denied) else None
    )


def _added_contradiction(case: Case) -> str | None:
    denied = next((text for text in map(negated, case.source_sentences) if text), None)
    return None if denied is None else f"{case.text} {denied}"


def _repeated_sentence(case: Case) -> str | None:
    return f"{case.text} {case.sentences[-1]}" if len(case.sentences) > 1 else None


KINDS: Mapping[str, Maker] = {
    "empty": lambda case: "",
    "one sentence": lambda case: case.sentences[0] if len(case.sentences) > 1 else None,
    "whole source": lambda case: case.source,
    "shuffled source": lambda case: _shuffled(case.source_sentences),
    "shuffled sentences": lambda case: _shuffled(case.sentences),
    "another topic's model": lambda case: case.other_model,
    "a sentence repeated": _repeated_sentence,
    "the summary twice": lambda case: f"{case.text} {case.text}",
    "an added contradiction": _added_contradiction,
    "negated throughout": _negated_throughout,
}


def cases_of(summaries: SummarySet) -> list[Case]:
    """The best-rated summary of every topic, the first of several."""
    assert summaries.sources is not None
    human = summaries.human.get(OVERALL, next(iter(summaries.human.values())))
    best = np.nanargmax(human, axis=0).tolist()
    topics = range(len(summaries.topics))
    return [
        Case(
            summaries.hypotheses[best[t]][t] or "", summaries.sources[t], summaries.references[t],
            summaries.references[(t + 1) % len(topics)][0],
        )
        for t in topics
    ]  # fmt: skip


def kept_order(metric: str, cases: Iterable[Case], make: Maker) -> FloatArray:
    """For every case that the kind can be made for whether the best summary scores above the worse text."""
    pairs = [(case, worse) for case in cases if (worse := make(case)) is not None]
    sides = [[case.text for case, _ in pairs], [worse for _, worse in pairs]]
    if metric == WORDS:
        good, bad = (np.array([len(text.split()) for text in side]) for side in sides)
    else:
        scorer = create_metric(metric, "en")
        most = max(len(case.models) for case, _ in pairs)
        streams = [[(*case.models, *[None] * most)[k] for case, _ in pairs] for k in range(most)]
        sources = [case.source for case, _ in pairs]
        given = {"sources": sources} if scorer.uses_source else {}
        good, bad = (scorer.score_segments(side, streams, **given).scores for side in sides)
    return np.asarray(good > bad)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "research" / "summary-orders.md")
    wishes = parser.parse_args()
    cases = [case for name in SETS for case in cases_of(read_summaries(str(DATA / name)))]
    lines = [
        "# Orders that must hold", "", "Written by `python -m research.summary_orders`.", "",
        f"Share of {len(cases)} topics ({', '.join(SETS)}) whose best-rated summary scores strictly above a",
        "text that is worse for certain. `n`: topics for which such a text can be made.", "",
        f"| metric | {' | '.join(KINDS)} |", f"|---|{'--:|' * len(KINDS)}",
    ]  # fmt: skip
    counts = [sum(make(case) is not None for case in cases) for make in KINDS.values()]
    lines.append(f"| n | {' | '.join(map(str, counts))} |")
    for metric in (*METRICS, WORDS):
        shares = [f"{100 * kept_order(metric, cases, make).mean():.0f} %" for make in KINDS.values()]
        lines.append(f"| {metric} | {' | '.join(shares)} |")
        print(lines[-1], flush=True)
    wishes.output.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
