"""Interpolated modified Kneser–Ney as the textbook writes it: dictionaries, recursion, no sorting, no disk."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import cache

START, END, UNKNOWN = "<s>", "</s>", "<unk>"


class KneserNey:
    """Chen & Goodman (1998), section 4.1, over sentences of words; the lowest order is mixed with the uniform one."""

    def __init__(
        self, sentences: Sequence[Sequence[str]], order: int, discounts: Sequence[Sequence[float]]
    ) -> None:
        self.order = order
        self.discounts = discounts
        self.vocabulary = {UNKNOWN, END} | {word for sentence in sentences for word in sentence}
        seen: Counter[tuple[str, ...]] = Counter()
        before: defaultdict[tuple[str, ...], set[str]] = defaultdict(set)
        for sentence in sentences:
            words = [START, *sentence, END]
            for n in range(1, order + 1):
                for end in range(max(n, 2), len(words) + 1):
                    gram = tuple(words[end - n : end])
                    seen[gram] += 1
                    if end > n:
                        before[gram].add(words[end - n - 1])
        self.counts = {
            gram: count if len(gram) == order or gram[0] == START else len(before[gram])
            for gram, count in seen.items()
        }
        self.followers: defaultdict[tuple[str, ...], list[tuple[str, ...]]] = defaultdict(list)
        for gram in self.counts:
            self.followers[gram[:-1]].append(gram)

    def count_of_counts(self, n: int) -> list[int]:
        found = Counter(count for gram, count in self.counts.items() if len(gram) == n)
        return [found[k] for k in (1, 2, 3, 4)]

    def _discount(self, gram: tuple[str, ...]) -> float:
        return self.discounts[len(gram) - 1][min(self.counts[gram], 3) - 1]

    @cache  # noqa: B019
    def probability(self, word: str, context: tuple[str, ...]) -> float:
        context = context[max(0, len(context) - self.order + 1) :]
        lower = self.probability(word, context[1:]) if context else 1 / len(self.vocabulary)
        followers = self.followers[context]
        if not followers:
            return lower
        total = sum(self.counts[gram] for gram in followers)
        left = sum(map(self._discount, followers)) / total
        gram = (*context, word)
        share = (self.counts[gram] - self._discount(gram)) / total if gram in self.counts else 0.0
        return share + left * lower
