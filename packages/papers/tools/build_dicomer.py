"""Build the shipped models of DICOMER and CREMER, and measure DICOMER: `build_dicomer.py [--measure]`.

DICOMER and its variants LIN, LIN+C and LIN+E learn from two kinds of lists: summaries of a topic by their coherence,
as in the paper of 2012, and documents of GDTB (parts train and dev, without the CC BY-NC-SA genres) above 20
permutations of their sentences, as LIN did in 2011. CREMER's three kernels regress the mean human score on TESLA-S and
DICOMER. Only weights are stored, no text.

`--measure` builds nothing. It prints the tables of docs/dicomer.md: sentence order by genre, and coherence ratings of
data sets that the model was not trained on, beside three trivial baselines. About 4 minutes of CPU time.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, cached_property
from itertools import pairwise
from pathlib import Path

import numpy as np

from tesla_eval import TeslaS
from tesla_eval.base.arrays import FloatArray
from tesla_eval.base.resources import Provenance, read_resource, write_resource
from tesla_eval.judgements.summaries import OVERALL, SummarySet, read_summaries
from tesla_eval.statistics.correlation import kendall, spearman
from tesla_eval_papers.discourse.document import Document
from tesla_eval_papers.discourse.relation_parser import TextParser, load_discourse_parser
from tesla_eval_papers.discourse.roles import SCALES, VARIANTS, CoherenceModel, Variant, variant_kind
from tesla_eval_papers.models.svr import KERNELS, CremerModel, kernel_kind
from tesla_eval_papers.training.dicomer import (
    RankedText,
    permutations_of,
    permuted_lists,
    scored_lists,
    train_coherence,
)
from tesla_eval_papers.training.gdtb import GoldDocument, read_gdtb
from tesla_eval_papers.training.regressions import train_cremer

ROOT = Path(__file__).resolve().parents[3]
SHARED = ROOT.parent / "shared" / "data"
GDTB = SHARED / "discourse" / "gdtb"
DATA = ROOT / "packages" / "papers" / "src" / "tesla_eval_papers" / "data"
SOURCES = (
    "GDTB (GUM, github amir-zeldes/gum 72ce5ac), order of sentences, without its CC BY-NC-SA genres",
    "SummEval (Yale-LILY, MIT), human scores",
    "Newsroom (Grusky et al. 2018, by BARTScore), human scores",
    "SummEval-OP (Siledar et al. 2024, MIT), human scores",
)
LICENCE = (
    "weights only: CC BY 4.0 and CC BY-SA texts of GUM, scores of SummEval (MIT), Newsroom and SummEval-OP (MIT); "
    "see licences/gum.txt"
)
RATED = ("summeval", "newsroom", "summeval_op")
"""The sets whose coherence people rated."""
LONG_ENOUGH = 6
"""Sentences that a document of the ordering task has at least; model summaries are shorter."""
LONG_ENOUGH_SUMMARY = 3
LONGEST_ARTICLE = 80
ARTICLES = 40
"""Of each set."""
DICOMER: Variant = "dicomer"

RankedLists = Sequence[Sequence[RankedText]]
Learned = tuple[tuple[str, tuple[int, ...]], ...]
"""Sets and numbers of topics that a model learns from."""


def main() -> None:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--measure", action="store_true", help="build nothing, print the tables")
    options.add_argument("--date", default="2026-11-18", help="stored in the models")
    given = options.parse_args()
    lab = Laboratory(order=True)
    if given.measure:
        lab.measure_order()
        lab.measure_coherence()
    else:
        lab.build(given.date)


class Laboratory:
    """The judged summaries, and models of any of the sets; with `order` they learn from permuted documents, too."""

    def __init__(self, *, order: bool = False) -> None:
        self.parser: TextParser = load_discourse_parser("en")
        self.summaries = {
            name: read_summaries(str(SHARED / "summaries" / name)) for name in (*RATED, "realsumm")
        }
        self.texts = {name: self._ranked(one) for name, one in self.summaries.items()}
        self._models: dict[tuple[Variant, Learned], CoherenceModel] = {}
        self.order: dict[Variant, list[list[RankedText]]] = {}
        if order:
            learned = {one.name: one.document for one in self.corpus if one.split != "test" and one.free}
            self.order = permuted_lists(self.parser.parser, learned, VARIANTS)

    @cached_property
    def corpus(self) -> list[GoldDocument]:
        """The documents of GDTB that are long enough."""
        files = (str(GDTB / name) for name in ("docs.jsonl.gz", "relations.tsv.gz"))
        return [one for one in read_gdtb(*files, self.parser.pipeline) if len(one.document) >= LONG_ENOUGH]

    def _ranked(self, summaries: SummarySet) -> dict[Variant, list[list[RankedText]]]:
        """By variant the summaries with their coherence, if people rated it, one list per topic."""
        table = coherence(summaries)
        lists = []
        for topic in range(len(summaries.topics)):
            documents = self.parser.documents([row[topic] or "" for row in summaries.hypotheses])
            lists.append([(text, float(table[system, topic])) for system, text in enumerate(documents)])
        return scored_lists(self.parser.parser, lists, VARIANTS)

    def whole(self, names: Iterable[str]) -> Learned:
        """All topics of these sets."""
        return tuple((name, tuple(range(len(self.summaries[name].topics)))) for name in names)

    def model(self, variant: Variant, learned: Learned) -> CoherenceModel:
        """A model that learned from the coherence of these topics."""
        key = variant, learned
        if key not in self._models:
            lists = [self.texts[name][variant][topic] for name, topics in learned for topic in topics]
            self._models[key] = train_coherence(
                [*lists, *self.order.get(variant, ())], variant, parser=self.parser.fingerprint
            )
        return self._models[key]

    def scores(
        self, model: CoherenceModel, name: str, topics: Sequence[int], scale: str = SCALES[0]
    ) -> FloatArray:
        """Systems × topics."""
        place = SCALES.index(scale)
        lists = self.texts[name][model.variant]
        rows = [
            [model.scores(text.features, text.sentences)[place] for text in lists[topic]] for topic in topics
        ]
        return np.array(rows).T

    @cache  # noqa: B019  # lives as long as the program
    def content(self, name: str) -> FloatArray:
        """Systems × topics: TESLA-S."""
        metric, read = TeslaS("en"), self.summaries[name]
        rows = ([text or "" for text in row] for row in read.hypotheses)
        return np.array([metric.score_segments(row, read.reference_streams).scores for row in rows])

    def features(self, model: CoherenceModel, name: str, topics: Sequence[int]) -> FloatArray:
        """Of every summary TESLA-S and DICOMER."""
        content = self.content(name)[:, list(topics)]
        return np.stack([content.ravel(), self.scores(model, name, topics).ravel()], axis=1)

    def cremer(
        self, learned: Learned, kernel: str, dicomer: str = ""
    ) -> tuple[CremerModel, dict[str, object]]:
        """The regression to the mean score of these topics; as in the paper, DICOMER learned from them, too."""
        model = self.model(DICOMER, learned)
        overall = {name: self.summaries[name].human[OVERALL][:, list(topics)] for name, topics in learned}
        return train_cremer(
            np.concatenate([self.features(model, name, topics) for name, topics in learned]),
            np.concatenate([table.ravel() for table in overall.values()]),
            [f"{name} {topic}" for name, topics in learned for _ in overall[name] for topic in topics],
            kernel=kernel, dicomer=dicomer,
        )  # fmt: skip

    def build(self, date: str) -> None:
        provenance = Provenance(SOURCES, LICENCE, date)
        for variant in VARIANTS:
            model = self.model(variant, self.whole(RATED))
            path = DATA / f"{variant_kind(variant)}-en.tesla"
            write_resource(path, model.to_resource("en", provenance))
            print(
                f"{path.name}: {path.stat().st_size / 1000:.0f} kB, {len(model.weights)} weights", flush=True
            )
        fingerprint = read_resource(DATA / f"{variant_kind(DICOMER)}-en.tesla").fingerprint
        for kernel in KERNELS:
            cremer, info = self.cremer(self.whole(RATED), kernel, fingerprint)
            path = DATA / f"{kernel_kind(kernel)}-en.tesla"
            write_resource(path, cremer.to_resource("en", provenance, info=info))
            print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB, {info}", flush=True)

    def permuted(self, documents: Mapping[str, Document]) -> list[list[RankedText]]:
        return permuted_lists(self.parser.parser, documents, [DICOMER])[DICOMER]

    def measure_order(self) -> None:
        """Share of pairs (original, permutation) in which the original scores higher; a tie is not right."""
        rated = [one for name in RATED for one in self.texts[name][DICOMER]]
        models = (self.model(DICOMER, self.whole(RATED)), train_coherence(rated, DICOMER))
        tests: dict[str, dict[str, Document]] = {}
        for one in self.corpus:
            if one.split == "test":
                tests.setdefault(one.genre, {})[one.name] = one.document
        rows = {f"GDTB test, {genre}": documents for genre, documents in sorted(tests.items())}
        rows["GDTB test, all genres"] = {
            name: one for documents in tests.values() for name, one in documents.items()
        }
        for name in ("summeval", "newsroom"):
            rows[f"{name}, articles"] = self.articles(name)
            rows[f"{name}, model summaries"] = self.model_summaries(name)
        print(
            "| texts | number | DICOMER | without permutations | overlap of neighbours |\n|---|--:|--:|--:|--:|"
        )
        for name, documents in rows.items():
            lists = self.permuted(documents)
            shares = *(won_share(model, lists) for model in models), overlap_won_share(documents)
            print(
                f"| {name} | {len(documents)} | {' | '.join(f'{100 * s:.1f} %' for s in shares)} |",
                flush=True,
            )
        print()

    def articles(self, name: str) -> dict[str, Document]:
        read = self.summaries[name]
        assert read.sources is not None
        documents = self.parser.documents(read.sources[:ARTICLES])
        return {
            f"{name}.{topic}": document
            for topic, document in zip(read.topics[:ARTICLES], documents, strict=True)
            if LONG_ENOUGH <= len(document) <= LONGEST_ARTICLE
        }

    def model_summaries(self, name: str) -> dict[str, Document]:
        read = self.summaries[name]
        return {
            f"{topic}.{number}": document
            for topic, models in zip(read.topics, read.references, strict=True)
            for number, document in enumerate(self.parser.documents(models))
            if len(document) >= LONG_ENOUGH_SUMMARY
        }

    def measure_coherence(self) -> None:
        print(
            "| | set | τ within topics | ρ, all summaries | ρ with the number of sentences |\n|---|---|--:|--:|--:|"
        )
        for name in RATED:
            read = self.summaries[name]
            human = coherence(read)
            model = self.model(DICOMER, self.whole(others(name)))
            topics = range(len(read.topics))
            tables = {
                **{
                    f"DICOMER, {scale}": self.scores(model, name, topics, scale)
                    for scale in ("log", "length")
                },
                **trivial_scores(read, self.texts[name][DICOMER]),
            }
            sentences = tables["number of sentences"]
            for label, table in tables.items():
                cells = (
                    within_topics(table, human),
                    spearman(human.ravel(), table.ravel()).value,
                    spearman(sentences.ravel(), table.ravel()).value,
                )
                print(f"| {label} | {name} | {' | '.join(f'{cell:.3f}' for cell in cells)} |", flush=True)


def others(name: str) -> tuple[str, ...]:
    """The rated sets but this one."""
    return tuple(one for one in RATED if one != name)


def coherence(summaries: SummarySet) -> FloatArray:
    """Systems × topics; zeros where nobody rated it."""
    for name, table in summaries.human.items():
        if name.casefold() == "coherence":
            return table
    return np.zeros((len(summaries.systems), len(summaries.topics)))


def trivial_scores(read: SummarySet, lists: RankedLists) -> dict[str, FloatArray]:
    """What a metric must beat, systems × topics."""
    words = [[(text or "").lower().split() for text in row] for row in read.hypotheses]
    return {
        "number of sentences": np.array([[float(text.sentences) for text in one] for one in lists]).T,
        "number of words": np.array([[float(len(text)) for text in row] for row in words]),
        "share of distinct words": np.array(
            [[len(set(text)) / max(1, len(text)) for text in row] for row in words]
        ),
    }


def within_topics(scores: FloatArray, human: FloatArray) -> float:
    found = [kendall(human[:, topic], scores[:, topic]).value for topic in range(human.shape[1])]
    return float(np.nanmean(found))


def won_share(model: CoherenceModel, lists: RankedLists) -> float:
    won = total = 0
    for original, *others in lists:
        score = model.ranking(original.features)
        won += sum(score > model.ranking(text.features) for text in others)
        total += len(others)
    return won / total


def overlap_won_share(documents: Mapping[str, Document]) -> float:
    """The same by how many words neighbouring sentences share: the least that a model of order must beat."""
    won = total = 0
    for name, document in documents.items():
        words = [{word for word in one.lower if word.isalnum()} for one in document.sentences]

        def overlap(order: Sequence[int], words: Sequence[set[str]] = words) -> float:
            pairs = [(words[a], words[b]) for a, b in pairwise(order)]
            return math.fsum(len(a & b) / max(1, len(a | b)) for a, b in pairs)

        original = overlap(range(len(words)))
        orders = permutations_of(len(words), name)
        won += sum(original > overlap(order) for order in orders)
        total += len(orders)
    return won / total


if __name__ == "__main__":
    main()
