"""sacreBLEU's chrF and chrF++, counted by the core: the same statistics, scores and signatures, several times as fast.

Words are numbered, and each number is a code point of its own. So word n-grams are counted as character n-grams are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from tesla_eval._core import CharacterBags, count_characters
from tesla_eval.base.arrays import FloatArray, Index
from tesla_eval.matching.bags.ngram_bags import LONGEST_CHARACTER_NGRAM
from tesla_eval.metrics.baselines.bleu import SacreBleuMetric, check_order
from tesla_eval.metrics.results import SegmentScores
from tesla_eval.metrics.segments import References, blocks_of_pairs, new_matrix, texts_of

_EPSILON = 1e-16  # sacreBLEU's smoothing
_FIRST_NUMBER = 0x10000  # beyond surrogates, white space and what text is written with


class _WordNumbers(dict[str, str]):
    """Words to code points, as they are met."""

    def __missing__(self, word: str) -> str:
        self[word] = number = chr(_FIRST_NUMBER + len(self))
        return number


class _Prepared(NamedTuple):
    """Texts with their n-grams."""

    characters: CharacterBags
    words: CharacterBags | None
    whole: npt.NDArray[np.bool_]
    """Whether the core counts all characters of a text: it leaves out NUL and rare kinds of white space."""


class Chrf(SacreBleuMetric):
    """chrF: character n-grams."""

    id: ClassVar[str] = "chrf"
    signed: ClassVar[frozenset[str]] = frozenset({"char_order", "word_order", "lc", "whitespace", "eps"})
    option_aliases: ClassVar[dict[str, str]] = {"lowercase": "lc", "eps_smoothing": "eps"}

    def __init__(
        self,
        lang: str = "en",
        *,
        char_order: int = 6,
        word_order: int = 0,
        beta: int = 2,
        lc: bool = False,
        whitespace: bool = False,
        eps: bool = False,
        workers: int = 1,
    ) -> None:
        self.beta = beta
        super().__init__(
            lang, workers=workers, char_order=char_order, word_order=word_order, beta=beta, lowercase=lc,
            whitespace=whitespace, eps_smoothing=eps,
        )  # fmt: skip
        self._counted_by_core = not whitespace and max(char_order, word_order) <= LONGEST_CHARACTER_NGRAM

    def _make(self, lang: str, **options: Any) -> tuple[Any, Any]:
        from sacrebleu.metrics.chrf import CHRF

        for name, least in (("char_order", 1), ("word_order", 0), ("beta", 1)):
            check_order(self.id, name, options[name], least)
        metric = CHRF(**options)
        return metric, metric

    def score_segments(self, hypotheses: Sequence[str], references: References) -> SegmentScores:
        """The scores and statistics of some segments; of several references each takes the best, as in sacreBLEU."""
        if not self._counted_by_core:
            return super().score_segments(hypotheses, references)
        try:
            numbers = _WordNumbers()
            hypothesis = self._prepare(hypotheses, numbers)
            streams = [self._prepare([text or "" for text in stream], numbers) for stream in references]
        except ValueError:  # half a surrogate pair, or a million different words
            return super().score_segments(hypotheses, references)
        every = np.arange(len(hypotheses))
        counts = np.stack([self._count(stream, hypothesis, every, every) for stream in streams])
        scores = self.score_of_sums(counts)
        given = np.array([[text is not None for text in stream] for stream in references])
        best = np.where(given, scores, -1.0).argmax(axis=0)
        scores, statistics = scores[best, every], counts[best, every]
        whole = hypothesis.whole & np.all([stream.whole for stream in streams], axis=0)
        for k in np.flatnonzero(~whole).tolist():
            asked = super().score_segments([hypotheses[k]], [[stream[k]] for stream in references])
            assert asked.statistics is not None
            scores[k], statistics[k] = asked.scores[0], asked.statistics[0]
        return SegmentScores(scores, np.empty((len(hypotheses), 0)), statistics)

    def pairwise(self, hypotheses: Sequence[str], references: Sequence[str]) -> FloatArray:
        """The score of every hypothesis (row) against every reference (column); n-grams of a text are found once."""
        hypotheses, references = texts_of(hypotheses), texts_of(references)
        matrix = new_matrix(hypotheses, references)
        if not matrix.size:
            return matrix
        try:
            numbers = _WordNumbers()
            sides = self._prepare(references, numbers), self._prepare(hypotheses, numbers)
        except ValueError:
            return super().pairwise(hypotheses, references)
        if not (self._counted_by_core and all(side.whole.all() for side in sides)):
            return super().pairwise(hypotheses, references)
        for rows, i, j in blocks_of_pairs(*matrix.shape):
            matrix[rows] = self.score_of_sums(self._count(*sides, j, i)).reshape(len(rows), -1)
        return matrix

    def _prepare(self, texts: Sequence[str], numbers: _WordNumbers) -> _Prepared:
        texts = [self._corpus._preprocess_segment(text) for text in texts]
        joined = ["".join(text.split()) for text in texts]
        characters, words = CharacterBags(joined), None
        if self._corpus.word_order:
            words = CharacterBags(
                ["".join(map(numbers.__getitem__, self._corpus._remove_punctuation(text))) for text in texts]
            )
        every = np.arange(len(texts))
        kept = count_characters(characters, characters, every, every, 1)[:, 0]
        return _Prepared(characters, words, kept == [len(text) for text in joined])

    def _count(self, reference: _Prepared, hypothesis: _Prepared, i: Index, j: Index) -> FloatArray:
        """sacreBLEU's statistics of pairs: for each order n-grams of the system, of the reference, matches."""
        counts = count_characters(reference.characters, hypothesis.characters, i, j, self._corpus.char_order)
        if reference.words is not None and hypothesis.words is not None:
            of_words = count_characters(reference.words, hypothesis.words, i, j, self._corpus.word_order)
            counts = np.concatenate([counts, of_words], axis=1)
        counts[:, ::3] *= counts[:, 1::3] > 0  # sacreBLEU counts no n-grams where the reference has none
        return counts.astype(np.float64)

    def score_of_sums(self, sums: FloatArray) -> FloatArray:
        """chrF of (..., for each order: n-grams of the system, of the reference, matches)."""
        triples = sums.reshape(*sums.shape[:-1], sums.shape[-1] // 3, 3)
        system, reference, matches = np.moveaxis(triples, -1, 0)
        if self._corpus.eps_smoothing:
            empty = np.full_like(matches, _EPSILON)
            precision, recall = (
                np.divide(matches, side, out=empty.copy(), where=side > 0) for side in (system, reference)
            )
            by_order = self._f_measure(precision, recall, _EPSILON)
            return np.asarray(100 * _sum_in_order(by_order) / by_order.shape[-1])
        counted = (system > 0) & (reference > 0)
        orders = np.maximum(counted.sum(axis=-1), 1)
        precision, recall = (
            _sum_in_order(np.divide(matches, side, out=np.zeros_like(matches), where=counted)) / orders
            for side in (system, reference)
        )
        return np.asarray(100 * self._f_measure(precision, recall, 0.0))

    def _f_measure(self, precision: FloatArray, recall: FloatArray, without: float) -> FloatArray:
        factor = self.beta**2
        weighted = factor * precision + recall
        product = (1 + factor) * precision * recall
        return np.divide(product, weighted, out=np.full_like(product, without), where=weighted > 0)


class ChrfPlusPlus(Chrf):
    """chrF++: character n-grams and word bigrams."""

    id: ClassVar[str] = "chrf++"

    def __init__(self, lang: str = "en", *, word_order: int = 2, **options: Any) -> None:
        super().__init__(lang, word_order=word_order, **options)

    @classmethod
    def option_defaults(cls) -> dict[str, Any]:
        """chrF's options, with word bigrams."""
        return {**Chrf.option_defaults(), "word_order": 2}


def _sum_in_order(values: FloatArray) -> FloatArray:
    """The sum over the last axis, term after term, as sacreBLEU adds up."""
    return np.asarray(np.add.accumulate(values, axis=-1)[..., -1])
