"""Alignment by agreement as the textbooks have it: every alignment of a sentence is listed, nothing is clever."""

from __future__ import annotations

from collections import defaultdict
from itertools import product
from math import fsum

FARTHEST = 5
LEAST_CHANCE = 1e-10
LEAST_WEIGHT = 1e-6

Words = list[str]


def jump_kind(jump: int) -> int:
    return max(-FARTHEST, min(FARTHEST, jump)) + FARTHEST


class OneDirection:
    """Words of `source` sentences, or nothing (place -1), generate those of `target` sentences."""

    def __init__(self) -> None:
        self.chance: dict[tuple[str, str], float] = defaultdict(lambda: 1.0)
        self.null_chance: dict[str, float] = defaultdict(lambda: 1.0)
        self.weights = [1 / 11] * 11
        self.exposures = [0.0] * 11  # of the last iteration

    def step(self, before: int, after: int, states: int) -> float:
        """P(the next generating word is `after`), if the last one was `before` (-1 at the start)."""
        total = sum(self.weights[jump_kind(place - before)] for place in range(states))
        return self.weights[jump_kind(after - before)] / total

    def alignments(self, source: Words, target: Words, sequential: bool):
        """Every alignment with its probability, not normalised, and the jumps in it as (from, to)."""
        null_share = 1 / (len(source) + 1)
        for places in product(range(-1, len(source)), repeat=len(target)):
            probability, last, jumps = 1.0, -1, []
            for word, place in zip(target, places, strict=True):
                if place < 0:
                    probability *= null_share * self.null_chance[word]
                    continue
                step = self.step(last, place, len(source)) if sequential else 1 / len(source)
                probability *= (1 - null_share) * step * self.chance[source[place], word]
                jumps.append((last, place))
                last = place
            yield places, probability, jumps

    def expectations(self, source: Words, target: Words, sequential: bool):
        """Posteriors [target word][source word, nothing last], jumps by kind, and their exposures."""
        listed = list(self.alignments(source, target, sequential))
        total = fsum(probability for _, probability, _ in listed)
        posterior = [[0.0] * (len(source) + 1) for _ in target]
        jumps, exposures = [0.0] * 11, [0.0] * 11
        for places, probability, taken in listed:
            for j, place in enumerate(places):
                posterior[j][place] += probability / total
            for before, after in taken:
                jumps[jump_kind(after - before)] += probability / total
                norm = sum(self.weights[jump_kind(place - before)] for place in range(len(source)))
                for place in range(len(source)):
                    exposures[jump_kind(place - before)] += probability / total / norm
        return posterior, jumps, exposures


def train(pairs: list[tuple[Words, Words]], stages: list[bool]) -> tuple[OneDirection, OneDirection]:
    """Two directions that learn from the product of their posteriors, one iteration per stage."""
    models = OneDirection(), OneDirection()
    for sequential in stages:
        counts: dict[tuple[str, str], float] = defaultdict(float)
        nulls: list[dict[str, float]] = [defaultdict(float), defaultdict(float)]
        jumps, exposures = [[0.0] * 11, [0.0] * 11], [[0.0] * 11, [0.0] * 11]
        for x, y in pairs:
            forward, *jumps_forward = models[0].expectations(x, y, sequential)
            reverse, *jumps_reverse = models[1].expectations(y, x, sequential)
            for (i, a), (j, b) in product(enumerate(x), enumerate(y)):
                counts[a, b] += forward[j][i] * reverse[i][j]
            for d, (words, posterior) in enumerate(((y, forward), (x, reverse))):
                for word, row in zip(words, posterior, strict=True):
                    nulls[d][word] += row[-1]
            for d, (taken, exposed) in enumerate((jumps_forward, jumps_reverse)):
                jumps[d] = [a + b for a, b in zip(jumps[d], taken, strict=True)]
                exposures[d] = [a + b for a, b in zip(exposures[d], exposed, strict=True)]
        totals: list[dict[str, float]] = [defaultdict(float), defaultdict(float)]
        for (a, b), count in counts.items():
            totals[0][a] += count
            totals[1][b] += count
        for d, model in enumerate(models):
            for (a, b), count in counts.items():
                key, given = ((a, b), a) if d == 0 else ((b, a), b)
                model.chance[key] = max(LEAST_CHANCE, count / totals[d][given])
            whole = sum(nulls[d].values())
            for word, count in nulls[d].items():
                model.null_chance[word] = max(LEAST_CHANCE, count / whole)
            if sequential:
                model.exposures = exposures[d]
                rates = [a / b if b else 0.0 for a, b in zip(jumps[d], exposures[d], strict=True)]
                model.weights = [max(LEAST_WEIGHT, rate / sum(rates)) for rate in rates]
    return models
