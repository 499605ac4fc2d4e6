"""Build the shipped models of DICOMER and CREMER, and measure DICOMER: `build_dicomer.py [--measure]`.

DICOMER learns from the order of sentences (documents of GDTB, parts train and dev, without the CC BY-NC-SA genres; each
against 20 permutations) and from the coherence scores of SummEval and Newsroom. Their lists, one per topic, are cut
into texts with the same number of sentences, so that length cannot be learned. CREMER learns from SummEval's mean
score; its DICOMER scores come from a model that did not see SummEval. Only weights are stored, no text.

`--measure` builds nothing. It prints the tables of docs/dicomer.md: sentence order by genre, and coherence ratings of
data sets that the model was not trained on, beside three trivial baselines. About 4 minutes of CPU time.

`--variants` builds only what stands beside the two models: DICOMER's variants (LIN, LIN+C, LIN+E) and CREMER's other
kernels, by the same recipe. CREMER's must be built again whenever the DICOMER model changes.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from gdtb import GoldDocument, read_gdtb
from tesla_eval import TeslaS
from tesla_eval.base.arrays import FloatArray
from tesla_eval.base.resources import Provenance, read_resource, write_resource
from tesla_eval.judgements.summaries import OVERALL, SummarySet, read_summaries
from tesla_eval.language.discourse.document import Document
from tesla_eval.language.discourse.parser import TextParser, load_parser
from tesla_eval.language.discourse.roles import VARIANTS, CoherenceModel, Variant, variant_kind
from tesla_eval.models.svr import CremerModel, kernel_kind
from tesla_eval.statistics.correlation import kendall, spearman
from tesla_eval.training.dicomer import (
    RankedText,
    matched_in_length,
    permutations_of,
    permuted_lists,
    scored_lists,
    train_coherence,
)
from tesla_eval.training.regressions import train_cremer

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared" / "data"
GDTB = SHARED / "discourse" / "gdtb"
DATA = ROOT / "src" / "tesla_eval" / "data"
SOURCES = (
    "GDTB (GUM, github amir-zeldes/gum 72ce5ac), order of sentences, without its CC BY-NC-SA genres",
    "SummEval (Yale-LILY, MIT), human scores",
    "Newsroom (Grusky et al. 2018, by BARTScore), human scores",
)
LICENCE = (
    "weights only: CC BY 4.0 and CC BY-SA texts of GUM, scores of SummEval (MIT) and Newsroom; "
    "see licences/gum.txt"
)
COHERENT = ("summeval", "newsroom")
"""The sets whose coherence people rated."""
LONG_ENOUGH = 6
"""Sentences that a document of the ordering task has at least; model summaries are shorter."""
LONG_ENOUGH_SUMMARY = 3
LONGEST_ARTICLE = 80
ARTICLES = 40
"""Of each set."""
VARIANT: Variant = "dicomer"

RankedLists = Sequence[Sequence[RankedText]]


def main() -> None:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--measure", action="store_true", help="build nothing, print the tables")
    options.add_argument("--variants", action="store_true", help="build only the variants and other kernels")
    options.add_argument("--date", default="2026-11-16", help="stored in the models")
    given = options.parse_args()
    if given.variants:
        for variant in VARIANTS:
            if variant != VARIANT:
                Laboratory(variant).build_dicomer(given.date)
        Laboratory().build_cremer(given.date, "linear", "poly")
        return
    lab = Laboratory()
    if given.measure:
        lab.measure_order()
        lab.measure_coherence()
    else:
        lab.build_dicomer(given.date)
        lab.build_cremer(given.date, "rbf")


class Laboratory:
    """The judged summaries, the permuted documents, and models that leave out a data set."""

    def __init__(self, variant: Variant = VARIANT) -> None:
        self.variant = variant
        self.parser: TextParser = load_parser("en")
        self.summaries = {
            name: read_summaries(str(SHARED / "summaries" / name)) for name in (*COHERENT, "realsumm")
        }
        self.corpus: list[GoldDocument] = list(
            read_gdtb(str(GDTB / "docs.jsonl.gz"), str(GDTB / "relations.tsv.gz"), self.parser.pipeline)
        )
        self.texts = {name: self.ranked(one) for name, one in self.summaries.items()}
        learned = {d.name: d.document for d in self.corpus if d.split != "test" and d.free and _is_long(d)}
        self.order = self.permuted(learned)
        self._models: dict[tuple[str, ...], CoherenceModel] = {}

    def permuted(self, documents: Mapping[str, Document]) -> list[list[RankedText]]:
        return permuted_lists(self.parser.parser, documents, [self.variant])[self.variant]

    def ranked(self, summaries: SummarySet) -> list[list[RankedText]]:
        """The summaries with their coherence, if people rated it, one list per topic."""
        table = summaries.human.get("coherence", np.zeros((len(summaries.systems), len(summaries.topics))))
        lists = []
        for topic in range(len(summaries.topics)):
            documents = self.parser.documents([row[topic] or "" for row in summaries.hypotheses])
            lists.append([(text, float(table[system, topic])) for system, text in enumerate(documents)])
        return scored_lists(self.parser.parser, lists, [self.variant])[self.variant]

    def model(self, *rated: str) -> CoherenceModel:
        """DICOMER as it is shipped, learned from order and from the coherence of these sets."""
        if rated not in self._models:
            coherence = [one for name in rated for one in matched_in_length(self.texts[name])]
            self._models[rated] = train_coherence(
                [*coherence, *self.order], self.variant, parser=self.parser.fingerprint
            )
        return self._models[rated]

    def scores(self, model: CoherenceModel, name: str) -> FloatArray:
        """Systems × topics."""
        rows = [[model.ranking(text.features, text.sentences) for text in one] for one in self.texts[name]]
        return np.array(rows).T

    def left_out(self, name: str) -> FloatArray:
        """DICOMER's scores of a set by a model that learned from the others."""
        return self.scores(self.model(*(one for one in COHERENT if one != name)), name)

    def cremer(
        self, learned: str, dicomer: str = "", kernel: str = "rbf"
    ) -> tuple[CremerModel, dict[str, object]]:
        """The paper's regression from TESLA-S and DICOMER, which did not see this set, to the set's overall score."""
        return self._regression(learned, self.left_out(learned), dicomer, kernel)

    def _regression(
        self, learned: str, coherence: FloatArray, dicomer: str = "", kernel: str = "rbf"
    ) -> tuple[CremerModel, dict[str, object]]:
        summaries = self.summaries[learned]
        rows = np.stack([content_scores(summaries).ravel(), coherence.ravel()], axis=1)
        topics = np.tile(np.arange(len(summaries.topics)), len(summaries.systems)).tolist()
        return train_cremer(rows, summaries.human[OVERALL].ravel(), topics, kernel=kernel, dicomer=dicomer)

    def cremer_left_out(self, name: str) -> FloatArray:
        """CREMER's scores of a set by a regression and a DICOMER model that did not see it."""
        learned = "newsroom" if name == "summeval" else "summeval"
        rated = tuple(one for one in COHERENT if one not in (name, learned)) or ()
        inner = self.scores(self.model(*rated), learned)
        model, _ = self._regression(learned, inner)
        outer = self.scores(self.model(*rated), name)
        content = content_scores(self.summaries[name])
        predicted = model.predict(np.stack([content.ravel(), outer.ravel()], axis=1))
        return np.asarray(predicted.reshape(content.shape))

    def build_dicomer(self, date: str) -> None:
        model = self.model(*COHERENT)
        path = DATA / f"{variant_kind(self.variant)}-en.tesla"
        write_resource(path, model.to_resource("en", Provenance(SOURCES, LICENCE, date)))
        print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB, {len(model.weights)} weights", flush=True)

    def build_cremer(self, date: str, *kernels: str) -> None:
        fingerprint = read_resource(DATA / "dicomer-en.tesla").fingerprint
        for kernel in kernels:
            cremer, info = self.cremer("summeval", fingerprint, kernel)
            path = DATA / f"{kernel_kind(kernel)}-en.tesla"
            write_resource(path, cremer.to_resource("en", Provenance(SOURCES, LICENCE, date), info=info))
            print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB, {info}", flush=True)

    def measure_order(self) -> None:
        """Share of pairs (original, permutation) in which the original scores higher; a tie is not right."""
        model = self.model(*COHERENT)
        tests: dict[str, dict[str, Document]] = {}
        for one in self.corpus:
            if one.split == "test" and _is_long(one):
                tests.setdefault(one.genre, {})[one.name] = one.document
        rows = {f"GDTB test, {genre}": documents for genre, documents in sorted(tests.items())}
        rows["GDTB test, all genres"] = {
            name: one for documents in tests.values() for name, one in documents.items()
        }
        for name in COHERENT:
            rows[f"{name}, articles"] = self.articles(name)
            rows[f"{name}, model summaries"] = self.model_summaries(name)
        print("| texts | number | DICOMER | overlap of neighbours |\n|---|--:|--:|--:|")
        for name, documents in rows.items():
            shares = won_share(model, self.permuted(documents)), overlap_won_share(documents)
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
        for name in COHERENT:
            read = self.summaries[name]
            human = read.human["coherence"]
            tables = {
                "DICOMER, not trained on the set": self.left_out(name),
                **trivial_scores(read, self.texts[name]),
            }
            sentences = tables["number of sentences"]
            for label, table in tables.items():
                cells = (
                    within_topics(table, human),
                    spearman(human.ravel(), table.ravel()).value,
                    spearman(sentences.ravel(), table.ravel()).value,
                )
                print(f"| {label} | {name} | {' | '.join(f'{cell:.3f}' for cell in cells)} |", flush=True)


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
        score = model.score(original.features)
        won += sum(score > model.score(text.features) for text in others)
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


def content_scores(summaries: SummarySet) -> FloatArray:
    """Systems × topics: TESLA-S."""
    metric = TeslaS("en")
    streams = summaries.reference_streams
    return np.array(
        [metric.score_segments([text or "" for text in row], streams).scores for row in summaries.hypotheses]
    )


def _is_long(document: GoldDocument) -> bool:
    return len(document.document) >= LONG_ENOUGH


if __name__ == "__main__":
    main()
