"""What ROUGE counts: n-grams, skip bigrams, longest common subsequences of texts and of summaries (Lin 2004).

Counts and figures are those of the package rouge-score; tests compare the two.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence

__all__ = [
    "SKIP",
    "Measures",
    "match_ngrams",
    "match_skip_bigrams",
    "match_subsequence",
    "match_summaries",
    "skip_unigrams",
]

Measures = tuple[float, float, float]
"""Precision, recall, F1."""

SKIP = 4
"""ROUGE-SU4: up to so many words between the two of a skip bigram."""


def match_ngrams(reference: Sequence[str], hypothesis: Sequence[str], n: int) -> Measures:
    """ROUGE-N: n-grams that both have.

    >>> match_ngrams(["a", "b", "c"], ["a", "b"], 2)
    (1.0, 0.5, 0.6666666666666666)
    """
    return _overlap(_ngrams(reference, n), _ngrams(hypothesis, n))


def match_skip_bigrams(reference: Sequence[str], hypothesis: Sequence[str]) -> Measures:
    """ROUGE-SU4: unigrams and skip bigrams that both have."""
    return _overlap(skip_unigrams(reference), skip_unigrams(hypothesis))


def match_subsequence(reference: Sequence[str], hypothesis: Sequence[str]) -> Measures:
    """ROUGE-L: the longest common subsequence.

    >>> match_subsequence(["a", "b", "c", "d"], ["a", "c"])
    (1.0, 0.5, 0.6666666666666666)
    """
    if not reference or not hypothesis:
        return 0.0, 0.0, 0.0
    rows = _subsequence_rows(reference, hypothesis)
    return _measures(_length(rows[-1], len(hypothesis)), len(reference), len(hypothesis))


def match_summaries(references: Sequence[Sequence[str]], hypotheses: Sequence[Sequence[str]]) -> Measures:
    """ROUGE-Lsum: for every reference sentence the union of its subsequences with all sentences of the hypothesis.

    A token counts at most as often as it occurs on either side.
    """
    left_in_reference = Counter(token for sentence in references for token in sentence)
    left_in_hypothesis = Counter(token for sentence in hypotheses for token in sentence)
    hits = 0
    for sentence in references:
        places: set[int] = set()
        for other in hypotheses:
            places.update(_common_places(sentence, other))
        for place in sorted(places):
            token = sentence[place]
            if left_in_hypothesis[token] > 0 and left_in_reference[token] > 0:
                hits += 1
                left_in_hypothesis[token] -= 1
                left_in_reference[token] -= 1
    return _measures(hits, sum(map(len, references)), sum(map(len, hypotheses)))


def skip_unigrams(tokens: Sequence[str], skip: int = SKIP) -> Counter[Hashable]:
    """The bag of ROUGE-SU: unigrams, and pairs with at most `skip` tokens between them.

    >>> skip_unigrams(["a", "b", "c"], 0) == Counter(["a", "b", "c", ("a", "b"), ("b", "c")])
    True
    """
    bag: Counter[Hashable] = Counter(tokens)
    for distance in range(1, skip + 2):
        bag.update(zip(tokens, tokens[distance:], strict=False))
    return bag


def _ngrams(tokens: Sequence[str], n: int) -> Counter[Hashable]:
    return Counter(zip(*(tokens[start:] for start in range(n)), strict=False))


def _overlap(reference: Counter[Hashable], hypothesis: Counter[Hashable]) -> Measures:
    return _measures((reference & hypothesis).total(), reference.total(), hypothesis.total())


def _measures(common: int, reference: int, hypothesis: int) -> Measures:
    precision, recall = common / max(hypothesis, 1), common / max(reference, 1)
    return precision, recall, 2 * precision * recall / (precision + recall) if common else 0.0


def _subsequence_rows(reference: Sequence[str], hypothesis: Sequence[str]) -> list[int]:
    """The table of the longest common subsequence, one row per prefix of the reference (Hyyrö 2004).

    Bit j of row i is 0 where the subsequence of i reference tokens grows with hypothesis token j + 1.
    """
    places: dict[str, int] = {}
    for place, token in enumerate(hypothesis):
        places[token] = places.get(token, 0) | 1 << place
    everything = (1 << len(hypothesis)) - 1
    row = everything
    rows = [row]
    for token in reference:
        matches = row & places.get(token, 0)
        row = ((row + matches) | (row - matches)) & everything
        rows.append(row)
    return rows


def _length(row: int, width: int) -> int:
    """The length of the subsequence of a row's prefix with the first `width` tokens of the hypothesis."""
    return width - (row & ((1 << width) - 1)).bit_count()


def _common_places(reference: Sequence[str], hypothesis: Sequence[str]) -> list[int]:
    """The places in the reference of one longest common subsequence: the one that rouge-score picks."""
    rows = _subsequence_rows(reference, hypothesis)
    found = []
    i, j = len(reference), len(hypothesis)
    while i > 0 and j > 0:
        if reference[i - 1] == hypothesis[j - 1]:
            found.append(i - 1)
            i, j = i - 1, j - 1
        elif _length(rows[i], j - 1) > _length(rows[i - 1], j):
            j -= 1
        else:
            i -= 1
    return found
