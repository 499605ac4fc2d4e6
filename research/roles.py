"""Who did what to whom as features: `python -m research.roles [wmt] [ratings] [pairs] [verbs]`, all without arguments.

- wmt: TESLA-X into English with and without the group `roles`, each year left out. The parser is too slow for all
  outputs, so both see the same sample: `SEGMENTS` judged segments of every set, evenly chosen, all systems.
- ratings: the features against people's ratings of paraphrases (ParaBank, STS-B), and PEM's regression with them.
- pairs: minimal pairs made from treebank trees: a transitive sentence, its passive (the same meaning), and the same
  sentence with subject and object exchanged. Which does the group tell apart, and which does PEM?
- verbs: doers and undergoers of verbs against PropBank's ARG0 and ARG1.

Features of TESLA-X come from the cache that tools/loyo.py fills (TESLA_EVAL_CACHE); those of roles are kept there too.
"""

from __future__ import annotations

import csv
import gzip
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from build_pem import LANGUAGE_MODEL, PARABANK, split
from loyo import NAME, RECIPES, collect, fit_options, judged, line
from research.pem import shuffled
from research.role_features import RoleGroup
from research.srl import TREEBANK
from tesla_eval import FeatureMetric, statistics
from tesla_eval.base.arrays import FloatArray
from tesla_eval.judgements.meta.run import JudgedSet
from tesla_eval.language.analysis.lemmas import Lemmatiser
from tesla_eval.metrics.cache import ScoreCache
from tesla_eval.metrics.combinations import Uncombined
from tesla_eval.metrics.contradictions.exchanges import SYMMETRIC
from tesla_eval.metrics.features import Feature
from tesla_eval_papers import Pem
from tesla_eval_papers.judgements import RatedPair, read_parabank
from tesla_eval_papers.metrics.features.paraphrases import PARAPHRASE_FEATURES
from tesla_eval_papers.syntax.clauses import find_clauses
from tesla_eval_papers.syntax.tree_parser import load_tree_parser
from tesla_eval_papers.syntax.treebank import read_treebank
from tesla_eval_papers.syntax.trees import Tree
from tesla_eval_papers.training.regressions import (
    GRID,
    compute_features,
    fit_support_vectors,
    paraphrase_features,
    with_controls,
)
from yearly import Figures, YearlySet, interval, leave_out

SEGMENTS = 20
STS_EVERY = 3
STS = PARABANK.with_name("stsb_en.tsv.gz")
GRID_FOUND = replace(GRID, cost=(3.0,), gamma=(0.1,), epsilon=(0.2,))
SCALES = (1.0, 0.3, 4.0)
"""How much PEM's features count in a distance: the widths that found most."""
PIVOTS = ("zh",)
SHUFFLED_EVERY = 4
"""One original in so many is also learned from with its words in another order, as nonsense."""
PLAIN = frozenset({"DT", "NN", "NNS", "NNP", "NNPS", "JJ", "PRP$", "CD", "IN", "POS", "VBG", "VBN", "HYPH"})
"""Tags of the words in the noun phrases of minimal pairs: no pronouns, whose case would have to change."""
TIMES = frozenset(
    {"today", "yesterday", "morning", "evening", "night", "week", "month", "year", "time", "way"}
)
NEVER = {"exchanged": 0.0}
"""What a missing feature counts as; other features count as their mean."""


class Roles(FeatureMetric):
    """The features of the group, uncombined."""

    id = "roles"
    groups = (RoleGroup(),)
    combination = Uncombined()


def role_features(originals: Sequence[str], paraphrases: Sequence[str]) -> FloatArray:
    return Roles("en").score_segments(paraphrases, [originals]).features


def sampled(data: YearlySet, count: int) -> tuple[YearlySet, list[tuple[int, int]]]:
    """The set with some of the segments that people compared, and the cells that are left."""
    judged_segments = np.unique(data.cells[data.better, 0])
    if len(judged_segments) == 0:
        judged_segments = np.unique(data.cells[:, 0])
    places = (
        np.linspace(0, len(judged_segments) - 1, min(count, len(judged_segments))).round().astype(np.int64)
    )
    kept = np.isin(data.cells[:, 0], judged_segments[places])
    row = np.cumsum(kept) - 1
    pairs = kept[data.better] & kept[data.worse]
    part = replace(
        data, cells=data.cells[kept], features=data.features[kept], better=row[data.better[pairs]],
        worse=row[data.worse[pairs]], counts=data.counts[pairs],
        baselines={name: scores[kept] for name, scores in data.baselines.items()},
    )  # fmt: skip
    return part, [tuple(cell) for cell in data.cells[kept].tolist()]


def with_roles(sets: Sequence[YearlySet], sources: Sequence[JudgedSet]) -> list[YearlySet]:
    """The samples with the features of roles behind their own."""
    metric, found = Roles("en"), []
    with ScoreCache() as cache:
        for data, source in zip(sets, sources, strict=True):
            part, cells = sampled(data, SEGMENTS)
            outputs = source.outputs
            hypotheses = [outputs.hypotheses[s][g] or "" for g, s in cells]
            references = [outputs.first_reference[g] or "" for g, _ in cells]
            roles = cache.score(metric, hypotheses, [references], lambda done: None).features
            found.append(replace(part, features=np.hstack([part.features, roles])))
            print(data.year, data.lp, len(cells), "outputs", file=sys.stderr, flush=True)
    return found


def wmt() -> None:
    sets, features = collect("en", 1, ())
    sets = with_roles(sets, [one for _, _, one in judged(True)])
    own = Roles("en").features
    features = (*features, *own)
    rows = np.concatenate([one.features[:, -len(own) :] for one in sets])
    print(f"{len(sets)} sets, {len(rows)} outputs of at most {SEGMENTS} segments per set")
    for column, feature in enumerate(own):
        values = rows[:, column]
        print(f"{feature.name}: exists in {np.mean(~np.isnan(values)):.1%}, mean {np.nanmean(values):.4f}, "
              f"not 0 in {np.mean(np.nan_to_num(values) > 0):.2%}")  # fmt: skip
    chosen = fit_options("en")
    recipe = RECIPES["en"]
    keeps: Callable[[Feature], bool] = replace(recipe, groups=(*(recipe.groups or ()), "roles")).keeps
    trials: dict[str, Callable[[Feature], bool]] = {
        "without roles": lambda feature: keeps(feature) and feature.group != "roles",
        "with roles": keeps,
        "with bags only": lambda feature: keeps(feature) and feature.kind != "exchanged",
        "with triples only": lambda feature: (
            keeps(feature) and (feature.group != "roles" or feature.name == "roles.triples")
        ),
        "with exchanged only": lambda feature: keeps(feature) and feature.kind != "roles",
    }
    figures: dict[str, list[Figures]] = {}
    for title, kept in trials.items():
        figures[title] = leave_out(sets, features, name=NAME, **{**chosen, "kept": kept})
        print(line(title, figures[title], NAME), flush=True)
    for column, feature in enumerate(own):
        alone = [
            one.tau(np.nan_to_num(one.features[:, column - len(own)]) * (1 if feature.more_is_better else -1))
            for one in sets if one.has_pairs
        ]  # fmt: skip
        print(f"{feature.name} alone: {np.mean(alone):.4f}")
    for title in list(trials)[1:]:
        both = [
            Figures(one.data, {"with": one.scores[NAME], "without": other.scores[NAME]})
            for one, other in zip(figures[title], figures["without roles"], strict=True)
        ]
        for statistic in ("tau", "pearson"):
            mean, low, high = interval(
                [one for one in both if one.data.has(statistic)], "with", "without", statistic
            )
            print(f"{title} − without, {statistic}: {mean:+.4f} [{low:+.4f}, {high:+.4f}]", flush=True)


def filled(rows: FloatArray, features: Sequence[Feature], means: FloatArray | None = None) -> FloatArray:
    """Missing features: no exchange, and the mean of bags."""
    means = np.nanmean(rows, axis=0) if means is None else means
    missing = np.array([NEVER.get(feature.kind, mean) for feature, mean in zip(features, means, strict=True)])
    return np.where(np.isnan(rows), missing, rows)


def correlation(values: FloatArray, human: FloatArray) -> str:
    return f"{statistics.pearson(values, human).value:.3f} / {statistics.spearman(values, human).value:.3f}"


def ratings() -> None:
    features = Roles("en").features
    train, held = split(read_parabank(str(PARABANK)))
    with gzip.open(STS, "rt", encoding="utf-8", newline="\n") as lines:
        sts = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))[::STS_EVERY]
    columns = list(sts[0])
    texts = {
        "ParaBank, adequacy": (
            [p.original for p in held], [p.paraphrase for p in held],
            np.array([np.mean([a for a, _ in p.ratings]) for p in held]),
        ),
        "STS-B, similarity": (
            [row[columns[-3]] for row in sts], [row[columns[-2]] for row in sts],
            np.array([float(row[columns[-1]]) for row in sts]),
        ),
    }  # fmt: skip
    for title, (originals, paraphrases, human) in texts.items():
        rows = role_features(originals, paraphrases)
        print(f"\n{title}, {len(human)} pairs: Pearson / Spearman where the feature exists")
        for column, feature in enumerate(features):
            here = ~np.isnan(rows[:, column])
            sign = 1 if feature.more_is_better else -1
            print(
                f"| {feature.name} | {here.mean():.1%} | {correlation(sign * rows[here, column], human[here])} |"
            )
        exchanged = np.nan_to_num(rows[:, -1]) > 0
        if exchanged.any():
            print(f"exchanged in {exchanged.sum()} pairs: mean rating {human[exchanged].mean():.2f}, "
                  f"of other pairs {human[~exchanged].mean():.2f}")  # fmt: skip
            for k in np.flatnonzero(exchanged)[:10].tolist():
                print(f"  {human[k]:.1f}  {originals[k]}  =>  {paraphrases[k]}")
    regression(train, held, features)


def regression(train: Sequence[RatedPair], held: Sequence[RatedPair], features: Sequence[Feature]) -> None:
    """PEM's support vector regression with and without the features of roles, on originals not learned from."""
    paraphrase = paraphrase_features("en", PIVOTS, LANGUAGE_MODEL)
    pairs = with_controls(train, paraphrase)
    group_of = {pair.original: pair.group for pair in train}
    for salad in shuffled(list(group_of)[::SHUFFLED_EVERY]):
        pairs.append(RatedPair(salad.original, salad.paraphrase, group_of[salad.original], salad.overall))
    learned, measured = compute_features(paraphrase, pairs), compute_features(paraphrase, held)
    own = role_features([p.original for p in pairs], [p.paraphrase for p in pairs])
    held_own = role_features([p.original for p in held], [p.paraphrase for p in held])
    means = np.nanmean(own, axis=0)
    overall = np.array([p.overall for p in pairs])
    human = np.array([p.overall for p in held])
    adequacy = np.array([np.mean([a for a, _ in p.ratings]) for p in held])
    print(
        "\nPEM's regression on held-out originals of ParaBank: Pearson / Spearman with overall, with adequacy"
    )
    for title, chosen in (
        ("without roles", []),
        ("with roles", list(range(len(features)))),
        ("with triples", [0]),
        ("with exchanged", [len(features) - 1]),
    ):
        rows = np.hstack([learned, filled(own, features, means)[:, chosen]])
        scales = (*SCALES, *[1.0] * len(chosen))
        names = (*PARAPHRASE_FEATURES, *(features[k].name for k in chosen))
        grid = replace(GRID_FOUND, scales=scales)
        fit = fit_support_vectors(names, rows, overall, [p.group for p in pairs], grid)
        scores = fit.model.predict(np.hstack([measured, filled(held_own, features, means)[:, chosen]]))
        print(f"| {title} | {correlation(scores, human)} | {correlation(scores, adequacy)} |", flush=True)


class Triple(NamedTuple):
    """A sentence, its passive, and the sentence with subject and object exchanged."""

    original: str
    passive: str
    exchanged: str


def triples() -> Iterator[Triple]:
    """From clauses of the treebank: noun phrase, verb in the past, noun phrase, and at most phrases after it.

    Participles are those that the treebank itself has for the verb.
    """
    sentences = [s for split_name in ("dev", "train") for s in read_treebank(str(TREEBANK), split_name)]
    lemmatiser = Lemmatiser("en")
    leaves = [
        leaf for sentence in sentences for leaf in sentence.tree.leaves() if leaf.label in ("VBD", "VBN")
    ]
    lemmas = dict(
        zip(
            words := sorted({(leaf.word or "").lower() for leaf in leaves}),
            lemmatiser.lemmas(words),
            strict=True,
        )
    )
    participles = {
        lemmas[(leaf.word or "").lower()]: (leaf.word or "").lower() for leaf in leaves if leaf.label == "VBN"
    }
    for sentence in sentences:
        for node in sentence.tree.nodes():
            if node.label == "S" and (found := _triple(node, lemmas, participles)) is not None:
                yield found


def _triple(node: Tree, lemmas: Mapping[str, str], participles: Mapping[str, str]) -> Triple | None:
    parts = [child for child in node.children if child.label not in (".", ",", "``", "''", "CC")]
    if [child.label for child in parts] != ["NP", "VP"]:
        return None
    subject, predicate = parts
    if [child.label for child in predicate.children[:2]] != ["VBD", "NP"]:
        return None
    verb, thing, *rest = predicate.children
    lemma = lemmas[(verb.word or "").lower()]
    nouns = [phrase.leaves() for phrase in (subject, thing)]
    if (
        any(leaf.label not in PLAIN for leaves in nouns for leaf in leaves)
        or any(
            leaves[-1].label not in ("NN", "NNS", "NNP") or (leaves[-1].word or "").lower() in TIMES
            for leaves in nouns
        )
        or any(child.label not in ("PP", "ADVP") for child in rest)
        or lemma not in participles
        or lemma in SYMMETRIC
        or lemma == "have"
    ):
        return None
    doer, undergoer = _words(subject), _words(thing)
    if doer[-1].lower() == undergoer[-1].lower():
        return None
    after = [leaf.word or "" for child in rest for leaf in child.leaves()]
    was = "were" if nouns[1][-1].label == "NNS" else "was"
    return Triple(
        _sentence([*doer, verb.word or "", *undergoer, *after]),
        _sentence([*undergoer, was, participles[lemma], "by", *doer, *after]),
        _sentence([*undergoer, verb.word or "", *doer, *after]),
    )


def _words(phrase: Tree) -> list[str]:
    """The words, the first without its capital unless it is a name."""
    leaves = phrase.leaves()
    first = leaves[0].word or ""
    return [first if leaves[0].label == "NNP" else first.lower(), *(leaf.word or "" for leaf in leaves[1:])]


def _sentence(words: Sequence[str]) -> str:
    text = " ".join(words)
    return text[0].upper() + text[1:] + "."


def pairs() -> None:
    made = list(dict.fromkeys(triples()))
    originals = [one.original for one in made]
    print(f"{len(made)} triples; for example {made[0]}")
    metric = Pem("en")
    scored = {
        name: metric.score_segments(texts, [originals])
        for name, texts in (
            ("passive", [o.passive for o in made]),
            ("exchanged", [o.exchanged for o in made]),
        )
    }
    roles = {
        "passive": role_features(originals, [o.passive for o in made]),
        "exchanged": role_features(originals, [o.exchanged for o in made]),
    }
    for name, rows in roles.items():
        print(f"{name}: roles.exchanged > 0 in {np.mean(np.nan_to_num(rows[:, -1]) > 0):.1%}, "
              f"roles.triples {np.nanmean(rows[:, 0]):.3f}, PEM {scored[name].scores.mean():.3f}, "
              f"PEM's adequacy {np.nanmean(scored[name].features[:, 0]):.3f}")  # fmt: skip
    told = {
        "PEM": [scored[name].scores for name in roles],
        "PEM's adequacy": [scored[name].features[:, 0] for name in roles],
        "roles.triples": [np.nan_to_num(rows[:, 0]) for rows in roles.values()],
        "roles.exchanged": [-np.nan_to_num(rows[:, -1]) for rows in roles.values()],
        "PEM − 4 · exchanged": [
            scored[name].scores - 4 * np.nan_to_num(roles[name][:, -1]) for name in roles
        ],
    }
    print("\n| passive above exchanged | yes | equal | no |\n|---|--:|--:|--:|")
    for name, (good, bad) in told.items():
        print(
            f"| {name} | {np.mean(good > bad):.1%} | {np.mean(good == bad):.1%} | {np.mean(good < bad):.1%} |"
        )


def verbs() -> None:
    """Doers and undergoers of verbs against PropBank's ARG0 and ARG1 on the dev split: the head word must lie in it."""
    sentences = read_treebank(str(TREEBANK), "dev")
    automatic = [found.tree for found in load_tree_parser("en").parse_tokens([s.tokens for s in sentences])]
    print("| trees | role | precision | recall | F1 | of |\n|---|---|--:|--:|--:|--:|")
    for title, trees in (("gold", [s.tree for s in sentences]), ("automatic", automatic)):
        for role, field in (("ARG0", "doers"), ("ARG1", "undergoers")):
            right = found = gold = recalled = 0
            for sentence, tree in zip(sentences, trees, strict=True):
                clauses = {clause.verb: getattr(clause, field) for clause in find_clauses(tree)}
                for predicate in sentence.predicates:
                    spans = [(start, end) for label, start, end in predicate.arguments if label == role]
                    if not predicate.tag.startswith("VB") or predicate.lemma == "be":
                        continue
                    heads = clauses.get(predicate.index, ())
                    inside = [any(start <= head < end for start, end in spans) for head in heads]
                    found, right = found + len(heads), right + sum(inside)
                    gold, recalled = gold + bool(spans), recalled + any(inside)
            precision, recall = right / found, recalled / gold
            f1 = 2 * precision * recall / (precision + recall)
            print(
                f"| {title} | {role} | {100 * precision:.1f} | {100 * recall:.1f} | {100 * f1:.1f} | {gold} |"
            )


def main() -> None:
    for name in sys.argv[1:] or ("wmt", "ratings", "pairs", "verbs"):
        print(f"\n## {name}\n")
        {"wmt": wmt, "ratings": ratings, "pairs": pairs, "verbs": verbs}[name]()


if __name__ == "__main__":
    main()
