"""Build the shipped models of DICOMER and CREMER, and measure both: `build_dicomer.py [--measure]`.

DICOMER learns from the coherence scores of SummEval, one list a topic, and from the order of sentences (documents of
GDTB, parts train and dev, without the CC BY-NC-SA genres; each against 20 permutations), where a list weighs a fifth:
as much as an equal one, order would drown coherence. CREMER learns from SummEval's mean score; its DICOMER scores come
from models that did not see the topic. Only weights are stored, no text.

Then come the tables of docs/dicomer.md and docs/cremer.md: the ordering task of Lin et al. (2011), and SummEval in
cross-validation by topic (five folds; CREMER's DICOMER scores are cross-validated once more inside the training part of
each fold). `--measure` builds nothing. About 15 minutes on one core.

`--variants` builds only what stands beside the two models: DICOMER's variants (LIN, LIN+C, LIN+E) and CREMER's other
kernels, by the same recipe. CREMER's must be built again whenever the DICOMER model changes.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from tesla_eval import TeslaS, create_metric
from tesla_eval.arrays import FloatArray
from tesla_eval.discourse import Document, TextParser, load_parser
from tesla_eval.discourse.roles import VARIANTS, CoherenceModel, Variant, variant_kind
from tesla_eval.judgements.summaries import OVERALL, SummarySet, read_summaries
from tesla_eval.metrics.cache import ScoreCache
from tesla_eval.models.svr import CREMER_FEATURES, kernel_kind
from tesla_eval.resources import Provenance, read_resource, write_resource
from tesla_eval.stats import kendall, pearson, spearman
from tesla_eval.training.dicomer import RankedText, permuted_lists, scored_lists, train_coherence
from tesla_eval.training.discourse import read_gdtb
from tesla_eval.training.regressions import GRIDS, fit_support_vectors, group_folds, train_cremer

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared" / "data"
GDTB = SHARED / "discourse" / "gdtb"
DATA = ROOT / "src" / "tesla_eval" / "data"
SOURCES = (
    "GDTB (GUM, github amir-zeldes/gum 72ce5ac), order of sentences, without its CC BY-NC-SA genres",
    "SummEval (Yale-LILY, MIT), human scores",
)
LICENCE = "weights only: CC BY 4.0 and CC BY-SA texts of GUM, scores of SummEval (MIT); see licences/gum.txt"
FOLDS = 5
LONG_ENOUGH = 6
"""Sentences that a document of the ordering task has at least; model summaries are shorter."""
LONG_ENOUGH_SUMMARY = 3

ORDER_EMPHASIS = 0.2
DRAWS, DRAWS_SEED = 1000, 12345

RankedLists = Sequence[Sequence[RankedText]]
Lists = dict[Variant, list[list[RankedText]]]


def main() -> None:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--measure", action="store_true", help="build nothing, print the tables")
    options.add_argument("--variants", action="store_true", help="build only the variants and other kernels")
    options.add_argument("--date", default="2026-11-15", help="stored in the models")
    given = options.parse_args()
    parser = load_parser("en")
    summaries = read_summaries(str(SHARED / "summaries" / "summeval"))
    scored = coherence_lists(parser, summaries)
    permuted = permuted_lists(parser.parser, documents(parser, ("train", "dev"), free=True), VARIANTS)
    if given.variants:
        build_variants(parser, scored, permuted, given.date)
        build_kernels(summaries, scored["dicomer"], permuted["dicomer"], given.date, ("linear", "poly"))
        return
    if not given.measure:
        build(parser, summaries, scored["dicomer"], permuted["dicomer"], given.date)
    measure_ordering(parser, summaries, permuted)
    measure_coherence(summaries, scored, permuted)
    measure_overall(summaries, scored["dicomer"])


def build(
    parser: TextParser, summaries: SummarySet, scored: RankedLists, permuted: RankedLists, date: str
) -> None:
    write_model(train_both(scored, permuted, parser.fingerprint), "dicomer", date)
    build_kernels(summaries, scored, permuted, date, ("rbf",))


def build_variants(parser: TextParser, scored: Lists, permuted: Lists, date: str) -> None:
    for variant in VARIANTS:
        if variant != "dicomer":
            model = train_both(scored[variant], permuted[variant], parser.fingerprint, variant)
            write_model(model, variant_kind(variant), date)


def write_model(model: CoherenceModel, name: str, date: str) -> None:
    path = DATA / f"{name}-en.tesla"
    write_resource(path, model.to_resource("en", Provenance(SOURCES, LICENCE, date)))
    print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB, {len(model.weights)} weights", flush=True)


def build_kernels(
    summaries: SummarySet, scored: RankedLists, permuted: RankedLists, date: str, kernels: Sequence[str]
) -> None:
    unseen = out_of_fold(scored, lambda lists: train_both(lists, permuted))
    rows, targets, topics = regression_rows(content_scores(summaries), unseen, summaries.human[OVERALL])
    fingerprint = read_resource(DATA / "dicomer-en.tesla").fingerprint
    for kernel in kernels:
        cremer, info = train_cremer(rows, targets, topics, kernel=kernel, dicomer=fingerprint)
        path = DATA / f"{kernel_kind(kernel)}-en.tesla"
        write_resource(path, cremer.to_resource("en", Provenance(SOURCES[1:], LICENCE, date), info=info))
        print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB, {info}", flush=True)


def train_both(
    scored: RankedLists, permuted: RankedLists, parser: str = "", variant: Variant = "dicomer"
) -> CoherenceModel:
    """DICOMER as it is shipped."""
    emphasis = [1.0] * len(scored) + [ORDER_EMPHASIS] * len(permuted)
    return train_coherence([*scored, *permuted], variant, emphasis=emphasis, parser=parser)


def documents(parser: TextParser, splits: Sequence[str], *, free: bool) -> dict[str, Document]:
    corpus = read_gdtb(str(GDTB / "docs.jsonl.gz"), str(GDTB / "relations.tsv.gz"), parser.pipeline)
    return {
        d.name: d.document
        for d in corpus
        if d.split in splits and (d.free or not free) and len(d.document) >= LONG_ENOUGH
    }


def model_summaries(parser: TextParser, summaries: SummarySet) -> dict[str, Document]:
    found = {}
    for topic, models in zip(summaries.topics, summaries.references, strict=True):
        for number, document in enumerate(parser.documents(models)):
            if len(document) >= LONG_ENOUGH_SUMMARY:
                found[f"{topic}.{number}"] = document
    return found


def coherence_lists(parser: TextParser, summaries: SummarySet) -> Lists:
    """SummEval's summaries with their coherence, one list a topic."""
    table = summaries.human["coherence"]
    lists = []
    for topic in range(len(summaries.topics)):
        texts = parser.documents([row[topic] or "" for row in summaries.hypotheses])
        lists.append([(text, float(table[system, topic])) for system, text in enumerate(texts)])
    return scored_lists(parser.parser, lists, VARIANTS)


def measure_ordering(parser: TextParser, summaries: SummarySet, learnt: Lists) -> None:
    """Share of pairs (original, permutation) in which the original scores higher; a tie is not right."""
    test = documents(parser, ("test",), free=False)
    free = set(documents(parser, ("test",), free=True))
    tests = permuted_lists(parser.parser, test, VARIANTS)
    references = model_summaries(parser, summaries)
    short = permuted_lists(parser.parser, references, VARIANTS)
    topics = [name.rpartition(".")[0] for name in references]
    print(f"Ordering task: {len(learnt['lin'])} documents to learn from, 20 permutations each\n")
    print(f"| | test documents ({len(test)}) | free genres ({len(free)}) | model summaries ({len(references)}) | "
          "model summaries, learned from those of other topics |")  # fmt: skip
    print("|---|--:|--:|--:|--:|")
    trained = {variant: train_coherence(learnt[variant], variant) for variant in VARIANTS}
    for name, model in {**trained, "built-in": load_shipped()}.items():
        variant, lists = model.variant, tests[model.variant]
        part = [one for key, one in zip(test, lists, strict=True) if key in free]
        cells = [won_pairs(model, some) for some in (lists, part, short[variant])]
        if name != "built-in":
            cells.append(won_by_topic(short[variant], topics, variant))
        print(f"| {name} | {' | '.join(f'{100 * won / total:.1f} %' for won, total in cells)} |", flush=True)
    print()


def won_by_topic(lists: RankedLists, topics: Sequence[str], variant: Variant) -> tuple[int, int]:
    """The pairs that are won by models which learned from the lists of other topics."""
    folds = group_folds(topics, FOLDS)
    won = total = 0
    for fold in range(FOLDS):
        model = train_coherence([one for one, f in zip(lists, folds, strict=True) if f != fold], variant)
        found = won_pairs(model, [one for one, f in zip(lists, folds, strict=True) if f == fold])
        won, total = won + found[0], total + found[1]
    return won, total


def load_shipped() -> CoherenceModel:
    from tesla_eval import Dicomer

    return Dicomer().model


def won_pairs(model: CoherenceModel, lists: RankedLists) -> tuple[int, int]:
    """Pairs in which the original is ahead of a permutation, and all pairs."""
    won = total = 0
    for original, *others in lists:
        score = model.score(original.features)
        won += sum(score > model.score(text.features) for text in others)
        total += len(others)
    return won, total


def out_of_fold(lists: RankedLists, train: Callable[[RankedLists], CoherenceModel]) -> FloatArray:
    """Topics × systems: DICOMER scores by models that did not see the topic."""
    scores = np.zeros((len(lists), len(lists[0])))
    for fold in range(FOLDS):
        model = train([one for number, one in enumerate(lists) if number % FOLDS != fold])
        for number in range(fold, len(lists), FOLDS):
            scores[number] = scores_of(model, lists[number])
    return scores


def scores_of(model: CoherenceModel, texts: Sequence[RankedText]) -> list[float]:
    return [model.score(text.features) for text in texts]


def content_scores(summaries: SummarySet) -> FloatArray:
    """Topics × systems: TESLA-S."""
    metric = TeslaS("en")
    streams = summaries.reference_streams
    rows = [metric.score_segments([t or "" for t in row], streams).scores for row in summaries.hypotheses]
    return np.array(rows).T


def regression_rows(
    content: FloatArray, coherence: FloatArray, human: FloatArray
) -> tuple[FloatArray, FloatArray, list[int]]:
    rows = np.stack([content.ravel(), coherence.ravel()], axis=1)
    topics = np.repeat(np.arange(content.shape[0]), content.shape[1]).tolist()
    return rows, human.T.ravel(), topics


def measure_coherence(summaries: SummarySet, scored: Lists, permuted: Lists) -> None:
    print("SummEval, cross-validated by topic: DICOMER with coherence\n")
    header()
    human = summaries.human["coherence"]
    for variant in VARIANTS:
        scores = out_of_fold(scored[variant], partial(train_coherence, variant=variant))
        show(variant, scores, human)
    recipe = partial(train_both, permuted=permuted["dicomer"])
    show("built-in recipe", out_of_fold(scored["dicomer"], recipe), human)
    print()
    against_rouge("DICOMER", scores, summaries, human)


def measure_overall(summaries: SummarySet, scored: RankedLists) -> None:
    print("SummEval, cross-validated by topic: CREMER with the mean of the four scores\n")
    header()
    content, overall = content_scores(summaries), summaries.human[OVERALL]
    train = partial(train_coherence, variant="dicomer")
    show("TESLA-S", content, overall)
    show("DICOMER", out_of_fold(scored, train), overall)
    predicted = {kernel: np.zeros(content.shape) for kernel in GRIDS}
    for fold in range(FOLDS):
        seen = [number for number in range(len(scored)) if number % FOLDS != fold]
        inner = out_of_fold([scored[number] for number in seen], train)
        rows, targets, topics = regression_rows(content[seen], inner, overall[:, seen])
        outer = train([scored[number] for number in seen])
        for kernel, table in predicted.items():
            model = fit_support_vectors(CREMER_FEATURES, rows, targets, topics, GRIDS[kernel]).model
            for number in range(fold, len(scored), FOLDS):
                features = np.stack([content[number], scores_of(outer, scored[number])], axis=1)
                table[number] = model.predict(features)
    for kernel, table in predicted.items():
        show(f"CREMER, {kernel}", table, overall)
    print()
    against_rouge("CREMER, rbf", predicted["rbf"], summaries, overall)


def against_rouge(name: str, scores: FloatArray, summaries: SummarySet, human: FloatArray) -> None:
    """Koehn (2004): the share of 1,000 draws of topics in which ours has the higher Pearson."""
    generator = np.random.default_rng(DRAWS_SEED)
    topics = len(scores)
    draws = [generator.integers(topics, size=topics) for _ in range(DRAWS)]
    texts = [[text or "" for text in row] for row in summaries.hypotheses]
    with ScoreCache() as cache:
        for key in ("rouge1", "rouge2", "rougel", "rougesu4"):
            metric = create_metric(key, "en")
            rouge = np.array(
                [cache.score(metric, row, summaries.reference_streams).scores for row in texts]
            ).T
            won = np.zeros(2)
            for draw in draws:
                ours, theirs = (agreement(table[draw], human.T[draw]) for table in (scores, rouge))
                won += ours > theirs
            systems, single = 100 * won / DRAWS
            print(
                f"{name} above {key}: systems {systems:.1f} %, summaries {single:.1f} % of {DRAWS} draws of topics"
            )
    print(flush=True)


def agreement(scores: FloatArray, truth: FloatArray) -> FloatArray:
    """Pearson over systems and over single summaries; both tables are topics × systems."""
    by_system = pearson(truth.mean(axis=0), scores.mean(axis=0)).value
    return np.array([by_system, pearson(truth.ravel(), scores.ravel()).value])


def header() -> None:
    print(
        "| | systems: Pearson | Spearman | Kendall | summaries: Pearson | within topics: Pearson | Kendall |"
    )
    print("|---|--:|--:|--:|--:|--:|--:|")


def show(name: str, scores: FloatArray, human: FloatArray) -> None:
    """`scores` are topics × systems, `human` systems × topics as in a summary set."""
    truth = human.T
    by_system, true_system = scores.mean(axis=0), truth.mean(axis=0)
    cells = [statistic(true_system, by_system).value for statistic in (pearson, spearman, kendall)]
    cells.append(pearson(truth.ravel(), scores.ravel()).value)
    for statistic in (pearson, kendall):
        within = [statistic(t, s).value for t, s in zip(truth, scores, strict=True)]
        cells.append(float(np.nanmean(within)))
    print(f"| {name} | {' | '.join(f'{cell:.3f}' for cell in cells)} |", flush=True)


if __name__ == "__main__":
    main()
