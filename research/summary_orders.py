"""Write summary-orders.md: how often the best summary of a topic scores above texts that are worse for certain.

    python -m research.summary_orders [-o FILE]

Data: ../shared/data/summaries. Most kinds of worse texts are those of `tesla stress`.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from tesla_eval import create_metric
from tesla_eval.base.arrays import FloatArray
from tesla_eval.judgements.summaries import OVERALL, SummarySet, read_summaries
from tesla_eval.language.analysis import split_sentences
from tesla_eval.stress.kinds import all_kinds
from tesla_eval.stress.negation import negated
from tesla_eval.stress.words import Case, Corpus, analysed_words

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT.parent / "shared" / "data" / "summaries"
SETS = ("newsroom", "realsumm", "summeval", "summeval_op")
METRICS = (
    "s", "s-recall", "s-x", "s-source", "rouge1", "rouge2", "rougel", "rougelsum", "rougesu4",
    *(f"rouge{kind}:part=recall" for kind in ("1", "2", "l", "lsum", "su4")), "bleu", "chrf",
)  # fmt: skip
WORDS = "number of words"


@dataclass(frozen=True)
class Topic:
    """The best-rated summary of a topic as a text to be damaged, and its models."""

    case: Case
    models: tuple[str, ...]

    @property
    def text(self) -> str:
        return self.case.text

    @property
    def source(self) -> str:
        assert self.case.corpus.sources is not None
        return self.case.corpus.sources[self.case.segment]


Maker = Callable[[Topic], str | None]


def _damaged(kind: str) -> Maker:
    """A kind of `tesla stress`, made from the best summary."""
    return lambda topic: all_kinds()[kind].make(replace(topic.case, draw=random.Random(topic.case.segment)))


def _other_model(topic: Topic) -> str | None:
    references = topic.case.corpus.references
    return references[(topic.case.segment + 1) % len(references)].text


def _added_contradiction(topic: Topic) -> str | None:
    """The summary with the first sentence of the source that has no negation, negated."""
    sentences = [topic.source[slice(*span)] for span in split_sentences(topic.source, "en")]
    denied = (negated(words, "en") for words in analysed_words(sentences, "en"))
    changed = (
        new for new, old in zip(denied, sentences, strict=True) if new is not None and len(new) > len(old)
    )
    first = next(changed, None)
    return None if first is None else f"{topic.text} {first}"


KINDS: Mapping[str, Maker] = {
    "empty": _damaged("empty"),
    "one sentence": _damaged("one-sentence"),
    "whole source": _damaged("source-copied"),
    "shuffled source": _damaged("source-shuffled"),
    "shuffled sentences": _damaged("sentences-shuffled"),
    "another topic's model": _other_model,
    "a sentence repeated": _damaged("sentence-repeated"),
    "the summary twice": _damaged("doubled"),
    "an added contradiction": _added_contradiction,
    "negated throughout": _damaged("all-negated"),
}


def cases_of(summaries: SummarySet) -> list[Topic]:
    """The best-rated summary of every topic, the first of several."""
    human = summaries.human.get(OVERALL, next(iter(summaries.human.values())))
    best = np.nanargmax(human, axis=0).tolist()
    models = analysed_words([references[0] for references in summaries.references], "en")
    corpus = Corpus("en", models, summaries.sources)
    texts = analysed_words([summaries.hypotheses[best[t]][t] or "" for t in range(len(models))], "en")
    return [
        Topic(Case(words, t, corpus, random.Random(t)), summaries.references[t])
        for t, words in enumerate(texts)
    ]


def kept_order(metric: str, cases: Sequence[Topic], texts: Sequence[str | None]) -> FloatArray:
    """For every case with a worse text whether the best summary scores above it."""
    pairs = [(case, worse) for case, worse in zip(cases, texts, strict=True) if worse is not None]
    sides = [[case.text for case, _ in pairs], [worse for _, worse in pairs]]
    if metric == WORDS:
        good, bad = (np.array([len(text.split()) for text in side]) for side in sides)
    else:
        # Summaries of one line are cut into sentences.
        scorer = create_metric(metric, "en", **({"split": True} if metric.startswith("rougelsum") else {}))
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
        "text that is worse for certain. `n`: topics for which such a text can be made. Most texts are kinds of",
        "`tesla stress`.", "",
        f"| metric | {' | '.join(KINDS)} |", f"|---|{'--:|' * len(KINDS)}",
    ]  # fmt: skip
    worse = [[make(case) for case in cases] for make in KINDS.values()]
    lines.append(f"| n | {' | '.join(str(sum(text is not None for text in texts)) for texts in worse)} |")
    for metric in (*METRICS, WORDS):
        shares = [f"{100 * kept_order(metric, cases, texts).mean():.0f} %" for texts in worse]
        lines.append(f"| {metric} | {' | '.join(shares)} |")
        print(lines[-1], flush=True)
    wishes.output.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
