"""PEM's features as the paper writes them (specification §13): dictionaries, recursion, every path spelled out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import log

Words = tuple[str, ...]
LONGEST = 4  # words of a phrase, and of an n-gram
UNSEEN = 0.5  # N(w) of a word that the table does not have (§4.2)
LEAST_EDGE, LEAST_NGRAM = 0.1, 0.01  # probabilities must be higher (§6.1)


class TextbookPem:
    """`count` gives N(p), `translations` Pr(f | p), `chances` P(word | context) by word; `total` is Σ N(p)."""

    def __init__(
        self,
        count: Callable[[Words], float],
        translations: Callable[[Words], Mapping[Words, float]],
        total: float,
        chances: Callable[[Words], Mapping[str, float]],
    ) -> None:
        self.count, self.translations, self.total, self.chances = count, translations, total, chances

    def segments(self, words: Words) -> list[Words]:
        """The likeliest segmentation (§4.2): of equal ones the shorter, then the one with the longer first phrase."""
        best: dict[int, tuple[float, int, Words, list[Words]]] = {len(words): (0.0, 0, (), [])}
        for start in range(len(words) - 1, -1, -1):
            options = []
            for end in range(start + 1, min(start + LONGEST, len(words)) + 1):
                phrase = words[start:end]
                seen = self.count(phrase) or (UNSEEN if len(phrase) == 1 else 0)
                if seen:
                    rest = best[end]
                    options.append(
                        (rest[0] + log(seen / self.total), -rest[1] - 1, phrase, [phrase, *rest[3]])
                    )
            likeliest = max(option[0] for option in options)
            equal = [option for option in options if option[0] >= likeliest - 1e-9]
            chosen = max(equal, key=lambda option: (option[1], len(option[2])))
            best[start] = (chosen[0], -chosen[1], chosen[2], chosen[3])
        return best[0][3]

    def network(self, words: Words) -> list[dict[Words, float]]:
        """Translations of each segment in parallel (§4.3); a word without any stands for itself."""
        columns = []
        for phrase in self.segments(words):
            edges = dict(self.translations(phrase)) or {phrase: 1.0}
            first = max(edges.values())
            kept = {pivot: chance for pivot, chance in edges.items() if chance > LEAST_EDGE}
            columns.append(kept or {next(pivot for pivot, chance in edges.items() if chance == first): first})
        return columns

    def pivot_bag(self, words: Words) -> dict[Words, float]:
        """Every n-gram of the network with its summed probability: each path that spells it out, once."""
        columns = self.network(words)
        bag: defaultdict[Words, float] = defaultdict(float)
        for place, edges in enumerate(columns):
            for edge, chance in edges.items():
                for start in range(len(edge)):
                    for n in range(1, LONGEST + 1):
                        for ngram, weight in self._continued(columns, place, edge[start:], n):
                            bag[ngram] += chance * weight
        return {ngram: weight for ngram, weight in bag.items() if weight > LEAST_NGRAM}

    def _continued(
        self, columns: Sequence[Mapping[Words, float]], place: int, words: Words, n: int
    ) -> Iterator[tuple[Words, float]]:
        if len(words) >= n:
            yield words[:n], 1.0
        elif place + 1 < len(columns):
            for edge, chance in columns[place + 1].items():
                for rest, weight in self._continued(columns, place + 1, edge, n - len(words)):
                    yield (*words, *rest), chance * weight

    @staticmethod
    def target_bag(words: Words) -> dict[Words, float]:
        """All n-grams of the text itself (§4.4)."""
        bag: defaultdict[Words, float] = defaultdict(float)
        for n in range(1, LONGEST + 1):
            for start in range(len(words) - n + 1):
                bag[words[start : start + n]] += 1
        return dict(bag)

    @staticmethod
    def f1(r: Mapping[Words, float], p: Mapping[Words, float]) -> float:
        """2PR / (P + R) of two bags."""
        common = sum(min(weight, r.get(ngram, 0.0)) for ngram, weight in p.items())
        if not common:
            return 0.0
        precision, recall = common / sum(p.values()), common / sum(r.values())
        return 2 * precision * recall / (precision + recall)

    def fluency(self, words: Words) -> float:
        """log Pr(S) / length(S) (§4.4), the sentence's end included."""
        history: Words = ("<s>",)
        total = 0.0
        for word in (*words, "</s>"):
            chances = self.chances(history[-LONGEST + 1 :])
            total += log(chances.get(word, chances["<unk>"]))
            history = (*history, word if word in chances else "<unk>")
        return total / len(words)

    def features(self, original: Words, paraphrase: Words) -> tuple[float, float, float]:
        """Pivot language F1, normalised language model score, target language F1."""
        bags = [(self.pivot_bag(words), self.target_bag(words)) for words in (original, paraphrase)]
        (pivot_r, target_r), (pivot_p, target_p) = bags
        return self.f1(pivot_r, pivot_p), self.fluency(paraphrase), self.f1(target_r, target_p)
