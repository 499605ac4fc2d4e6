"""The discourse role matrix, its features, and the coherence model over them (specification §11)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import combinations, product
from pathlib import Path
from typing import Any, Literal

import numpy as np

from tesla_eval.base.errors import UsageError
from tesla_eval.base.identity import Fingerprinted
from tesla_eval.base.resources import (
    UNSTATED,
    Provenance,
    Resource,
    find_resource,
    interpreting,
    missing_resource,
    read_resource,
    text_array,
)
from tesla_eval_papers.discourse.document import Document, Relation

Variant = Literal["lin", "lin+c", "lin+e", "dicomer"]
VARIANTS: tuple[Variant, ...] = ("lin", "lin+c", "lin+e", "dicomer")
"""LIN; with intra-cell bigrams (C); with Explicit / Non-Explicit roles (E); with both."""

NIL = "nil"
LENGTHS = (2, 3)
"""Transitions run over two and over three sentences."""
ARROW, BOTH = "→", "↔"
SHORT = {
    "Temporal": "Temp", "Contingency": "Cont", "Comparison": "Comp", "Expansion": "Exp", "EntRel": "EntRel",
    "NoRel": "NoRel",
}  # fmt: skip
"""The paper's short names of the senses."""

Roles = tuple[str, ...]


@dataclass(frozen=True)
class RoleMatrix:
    """Sentences by terms: `columns[term][sentence]` holds the roles of a cell; a cell that is not there is `nil`."""

    sentences: int
    columns: Mapping[str, Mapping[int, Roles]]

    def cell(self, sentence: int, term: str) -> Roles:
        """The sorted roles of a cell, `(nil,)` if it has none."""
        return self.columns[term].get(sentence, (NIL,))

    @cached_property
    def transitions(self) -> dict[int, Counter[str]]:
        """For each length the counts of the role transitions down the columns."""
        return {length: self._count_transitions(length) for length in LENGTHS}

    def _count_transitions(self, length: int) -> Counter[str]:
        windows = self.sentences - length + 1
        if windows <= 0:
            return Counter()
        nothing = (NIL,)
        patterns: Counter[tuple[Roles, ...]] = Counter()
        for column in self.columns.values():
            touched = {
                start
                for row in column
                for start in range(max(0, row - length + 1), min(row, windows - 1) + 1)
            }
            for start in touched:
                patterns[tuple(column.get(start + step, nothing) for step in range(length))] += 1
            patterns[(nothing,) * length] += windows - len(touched)
        counts: Counter[str] = Counter()
        for cells, times in patterns.items():
            for roles in product(*cells):
                counts[ARROW.join(roles)] += times
        return +counts

    @cached_property
    def intra_cell(self) -> Counter[str]:
        """The counts of the bigrams of the sorted roles within each cell."""
        counts: Counter[str] = Counter()
        for column in self.columns.values():
            for roles in column.values():
                counts.update(BOTH.join(pair) for pair in combinations(roles, 2))
        return counts

    def features(self, *, intra_cell: bool) -> dict[str, float]:
        """The probabilities of the transitions of each length and, if wanted, of the intra-cell bigrams."""
        groups = [self.transitions[length] for length in LENGTHS]
        if intra_cell:
            groups.append(self.intra_cell)
        probabilities: dict[str, float] = {}
        for counts in groups:
            total = sum(counts.values())
            probabilities.update((name, counts[name] / total) for name in sorted(counts))
        return probabilities


def role_matrix(document: Document, relations: Sequence[Relation], *, explicitness: bool) -> RoleMatrix:
    """The matrix of a parsed text; with `explicitness` every role is also there with the prefix E. or N."""
    terms = [sentence.terms for sentence in document.sentences]
    cells: dict[str, dict[int, set[str]]] = {term: {} for sentence in terms for term in sentence.values()}
    for relation in relations:
        for part, tokens in (("Arg1", relation.arg1), ("Arg2", relation.arg2)):
            role = f"{SHORT[relation.sense]}.{part}"
            roles = [role, f"{'E' if relation.explicit else 'N'}.{role}"] if explicitness else [role]
            for sentence, token in tokens:
                term = terms[sentence].get(token)
                if term is not None:
                    cells[term].setdefault(sentence, set()).update(roles)
    return RoleMatrix(
        len(document),
        {
            term: {sentence: tuple(sorted(roles)) for sentence, roles in column.items()}
            for term, column in cells.items()
        },
    )


def features_of(
    document: Document, relations: Sequence[Relation], variants: Sequence[Variant]
) -> dict[Variant, dict[str, float]]:
    """The features of a parsed text for some of the four models."""
    matrices = {
        explicitness: role_matrix(document, relations, explicitness=explicitness)
        for explicitness in {uses_explicitness(variant) for variant in variants}
    }
    return {
        variant: matrices[uses_explicitness(variant)].features(intra_cell=uses_intra_cell(variant))
        for variant in variants
    }


def uses_explicitness(variant: Variant) -> bool:
    """Whether the model has roles with E. and N. before them."""
    return variant in ("lin+e", "dicomer")


def uses_intra_cell(variant: Variant) -> bool:
    """Whether the model has intra-cell bigrams."""
    return variant in ("lin+c", "dicomer")


KIND = "dicomer"
LOWEST_SHARE = 0.001
"""Specification §11: the scaled score is clipped to [0.001, 1] before its logarithm is taken."""
SCALES = ("log", "raw", "length")
"""The paper's score, the ranking score behind it, and the latter less what texts of the same length have."""


@dataclass(frozen=True, eq=False)
class CoherenceModel(Fingerprinted):
    """Weights by feature, and the range of the ranking scores of the training texts.

    `typical` holds the mean ranking score of training texts with one, two, … sentences; the last entry is for all
    longer texts.

    >>> model = CoherenceModel("lin", {"nil→Exp.Arg1": 2.0}, lowest=0.0, highest=1.0, typical=(0.3, 0.4))
    >>> log, raw, length = model.scores({"nil→Exp.Arg1": 0.25, "nil→nil": 0.75}, sentences=2)
    >>> round(log, 4), raw, round(length, 4)
    (-0.6931, 0.5, 0.1)
    """

    variant: Variant
    weights: Mapping[str, float]
    lowest: float
    highest: float
    parser: str = ""
    """The fingerprint of the parser whose relations it was trained on."""
    info: Mapping[str, Any] = field(default_factory=dict)
    typical: tuple[float, ...] = (0.0,)

    def shares(self, features: Mapping[str, float]) -> dict[str, float]:
        """What each known feature adds to the ranking score: weight × probability."""
        weights = self.weights
        return {name: weights[name] * value for name, value in features.items() if name in weights}

    def ranking(self, features: Mapping[str, float]) -> float:
        """The sum of the shares, exact whatever their order; 0 for a text without transitions."""
        return math.fsum(self.shares(features).values())

    def scores(self, features: Mapping[str, float], sentences: int) -> tuple[float, float, float]:
        """The score on each of `SCALES`; a text without sentences has the lowest of each."""
        if sentences:
            raw = min(self.highest, max(self.lowest, self.ranking(features)))
            typical = self.typical[min(sentences, len(self.typical)) - 1]
        else:
            raw, typical = self.lowest, max(self.typical)
        share = (raw - self.lowest) / (self.highest - self.lowest)
        return math.log(max(LOWEST_SHARE, share)), raw, raw - typical

    def to_resource(self, language: str, provenance: Provenance = UNSTATED) -> Resource:
        """The model as a resource file's content."""
        names = sorted(self.weights)
        return Resource(
            KIND, language,
            {"features": text_array("\n".join(names)), "weights": np.array([self.weights[n] for n in names], "<f8")},
            analysis=self.parser, provenance=provenance,
            info={
                **self.info, "variant": self.variant, "lowest": self.lowest, "highest": self.highest,
                "typical": list(self.typical),
            },
        )  # fmt: skip


def read_coherence_model(path: Path) -> CoherenceModel:
    """The model in a file; `ResourceError`, naming the file, if it does not hold one."""
    resource = read_resource(path, KIND)
    info = resource.info
    with interpreting(resource, "DICOMER model", "train it with `tesla train dicomer`"):
        names = resource.text("features").split("\n")
        numbers = resource.arrays["weights"].astype(np.float64, casting="safe")
        if numbers.ndim != 1 or not np.isfinite(numbers).all():
            raise ValueError("the weights are not a list of finite numbers")
        weights = dict(zip(names, numbers.tolist(), strict=True))
        lowest, highest = float(info["lowest"]), float(info["highest"])
        typical = tuple(float(value) for value in info["typical"])
        if not typical or not all(map(math.isfinite, typical)):
            raise ValueError("the typical scores are not finite numbers")
        if info["variant"] not in VARIANTS or not lowest < highest:
            raise ValueError("unknown variant, or an empty range of scores")
    return CoherenceModel(
        info["variant"], weights, lowest, highest, resource.analysis, dict(info), typical,
    ).known_as(resource.fingerprint)  # fmt: skip


def variant_kind(variant: str) -> str:
    """The file name of a variant's model, without the language.

    >>> variant_kind("dicomer"), variant_kind("lin+c")
    ('dicomer', 'dicomer-lin-c')
    """
    return KIND if variant == KIND else f"{KIND}-{variant.replace('+', '-')}"


@cache
def load_coherence_model(language: str, variant: str = KIND) -> CoherenceModel:
    """The installed model of a language, read once per process: the user's own before the shipped one."""
    if variant not in VARIANTS:
        raise UsageError(f"dicomer: the variant is one of {', '.join(VARIANTS)}, not {variant!r}")
    path = find_resource(variant_kind(variant), language)
    if path is None:
        raise missing_resource(
            f"DICOMER model ({variant})", language, f"tesla train dicomer --variant {variant} -l {language}"
        )
    return read_coherence_model(path)
