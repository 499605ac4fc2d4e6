"""PEM's fluency under SRILM's default estimate (Good–Turing, Katz back-off) and under ours (modified Kneser–Ney).

    python -m research.pem_lm

The same stems, the same English side of the English–Chinese bitext, order 4. SRILM's defaults, written out here from
its manual: counts up to 7 are discounted by Good–Turing (of single words only those of 1), trigrams and 4-grams seen
once are left out, all words are known, and a word that the text never had is skipped. Prints how the two fluencies
correlate on the held-out pairs of ParaBank, and PEM's r with each.
"""

from __future__ import annotations

import gzip
from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from math import log

import numpy as np

from build_language_models import files
from build_pem import LANGUAGE_MODEL, PARABANK, PIVOTS, split, to_learn_from
from research.pem import BUILT_IN, pearson
from tesla_eval.language.analysis import load_stems
from tesla_eval_papers.judgements import RatedPair, read_parabank
from tesla_eval_papers.metrics.features.paraphrases import PARAPHRASE_FEATURES
from tesla_eval_papers.training.regressions import (
    compute_features,
    fit_support_vectors,
    paraphrase_features,
    with_controls,
)

ORDER = 4
LEAST = {1: 1, 2: 1, 3: 2, 4: 2}
"""SRILM's -gtNmin: n-grams seen less often are left out."""
MOST = {1: 1, 2: 7, 3: 7, 4: 7}
"""SRILM's -gtNmax: n-grams seen more often keep their counts."""
START, END = "<s>", "</s>"
FLUENCY = PARAPHRASE_FEATURES.index("fluency")

Ngram = tuple[str, ...]


class Katz:
    """A back-off model; ln P of sentences."""

    def __init__(self, sentences: Sequence[Sequence[str]]) -> None:
        self.counts: Counter[Ngram] = Counter()
        for sentence in sentences:
            words = (START, *sentence, END)
            for n in range(1, ORDER + 1):
                self.counts.update(words[k : k + n] for k in range(len(words) - n + 1))
        self.total = sum(count for gram, count in self.counts.items() if len(gram) == 1 and gram != (START,))
        self.discounts = {n: self._good_turing(n) for n in range(1, ORDER + 1)}
        self.followers: defaultdict[Ngram, list[Ngram]] = defaultdict(list)
        for gram, count in self.counts.items():
            if count >= LEAST[len(gram)] and gram[-1] != START:
                self.followers[gram[:-1]].append(gram)

    def _good_turing(self, n: int) -> dict[int, float]:
        """By count what is left of it, as a share (Katz 1987)."""
        seen = Counter(count for gram, count in self.counts.items() if len(gram) == n)
        most = MOST[n]
        common = (most + 1) * seen[most + 1] / seen[1]
        shares = {}
        for r in range(1, most + 1):
            share = ((r + 1) * seen[r + 1] / seen[r] / r - common) / (1 - common)
            shares[r] = share if 0 < share <= 1 else 1.0
        return shares

    def _kept(self, gram: Ngram) -> float:
        """The discounted relative frequency of an n-gram that the model has."""
        count = self.counts[gram]
        context = self.counts[gram[:-1]] if len(gram) > 1 else self.total
        return self.discounts[len(gram)].get(count, 1.0) * count / context

    @cache  # noqa: B019  # one model per run
    def _back_off(self, context: Ngram) -> float:
        """What is left for words that did not follow the context, over what a shorter context gives to them."""
        grams = self.followers[context]
        left = 1 - sum(map(self._kept, grams))
        other = 1 - sum(self.probability(gram[1:]) for gram in grams)
        return max(left, 0.0) / other if other > 0 else 1.0

    @cache  # noqa: B019
    def probability(self, gram: Ngram) -> float:
        """P of the last word after the others."""
        if self.counts[gram] >= LEAST[len(gram)]:
            return self._kept(gram)
        if len(gram) == 1:
            return 0.0
        context = gram[:-1]
        scale = self._back_off(context) if self.followers.get(context) else 1.0
        return scale * self.probability(gram[1:])

    def normalised(self, words: Sequence[str]) -> float:
        """(1/L) ln P; words that the text never had are skipped, as SRILM's `ngram -ppl` does."""
        history, total = [START], 0.0
        for word in (*words, END):
            history.append(word)
            if (word,) in self.counts and (chance := self.probability(tuple(history[-ORDER:]))) > 0:
                total += log(chance)
        return total / len(words)


def stems(texts: Sequence[str]) -> list[list[str]]:
    (batch,) = load_stems("en").analyse(texts)
    lemmas = batch.vocabulary.lexicon.lemmas(batch.lemma)
    return [lemmas[start:end] for start, end in pairwise(batch.offsets.tolist())]


def corpus() -> list[str]:
    lines: dict[str, None] = {}
    for path in files("en", LANGUAGE_MODEL):
        with gzip.open(path, "rt", encoding="utf-8", newline="\n") as opened:
            lines.update(dict.fromkeys(line.rstrip("\n") for line in opened))
    return list(lines)


def main() -> None:
    model = Katz(stems(corpus()))
    rated = read_parabank(str(PARABANK))
    features = paraphrase_features("en", PIVOTS, LANGUAGE_MODEL)
    sets: list[list[RatedPair]] = [
        with_controls(some, features) for some in (to_learn_from(rated), split(rated)[1])
    ]
    rows = [compute_features(features, pairs) for pairs in sets]
    real = np.array([bool(pair.ratings) for pair in sets[1]])
    overall = [np.array([pair.overall for pair in pairs]) for pairs in sets]
    katz = [np.array([model.normalised(words) for words in stems([p.paraphrase for p in s])]) for s in sets]
    alike = pearson(rows[1][:, FLUENCY], katz[1])
    print(
        f"the two fluencies: r {alike:.4f} with controls, {pearson(rows[1][real, FLUENCY], katz[1][real]):.4f}"
    )
    for name in ("modified Kneser–Ney", "Good–Turing, Katz"):
        fit = fit_support_vectors(
            PARAPHRASE_FEATURES, rows[0], overall[0], [pair.group for pair in sets[0]], BUILT_IN
        )
        predicted = np.clip(fit.model.predict(rows[1]), 1, 5)
        print(f"{name}: PEM r {pearson(predicted, overall[1]):.4f} with controls, "
              f"{pearson(predicted[real], overall[1][real]):.4f} without")  # fmt: skip
        for some, fluency in zip(rows, katz, strict=True):
            some[:, FLUENCY] = fluency


if __name__ == "__main__":
    main()
