"""ROUGE-1, -2, -L, -Lsum and -SU4 (Lin 2004), each as F1 and as recall, counted by the core.

For English, the first four are equal to the package rouge-score to the bit. It has no SU4: unigrams and skip bigrams
with at most four words between the two, all in one bag.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate, chain
from types import new_class
from typing import ClassVar

import numpy as np

from tesla_eval._core import WordTexts, match_rouge
from tesla_eval.base.arrays import FloatArray, Index
from tesla_eval.base.records import Signature
from tesla_eval.base.version import __version__
from tesla_eval.language.analysis.languages import resolve_language
from tesla_eval.language.analysis.sentences import split_sentences
from tesla_eval.language.analysis.tokenisers import checked, compose, load_tokeniser, segmenter_signature
from tesla_eval.metrics.base import Metric
from tesla_eval.metrics.baselines.bleu import check_choice, index_of_texts
from tesla_eval.metrics.registry import ROUGE_KINDS
from tesla_eval.metrics.results import SegmentScores
from tesla_eval.metrics.segments import References, blocks_of_pairs, new_matrix, texts_of

_PARTS = {"precision": 0, "recall": 1, "f": 2}
"""What a score can be, by the column of the core's measures."""


class RougeMetric(Metric):
    """One kind of ROUGE, as F1 (`part="f"`), recall or precision; the best of several references.

    English is cut and stemmed as rouge-score does it (letters a to z, Porter). That leaves nothing of most other
    languages, so these are cut into words by our tokeniser, lower-cased, without punctuation and without stemming.
    """

    kind: ClassVar[str]
    """As in `ROUGE-1`; the core knows it by this name."""
    feature_names = ("precision", "recall", "f")
    choices: ClassVar[dict[str, tuple[str, ...]]] = {"part": tuple(_PARTS)}
    signed: ClassVar[frozenset[str]] = frozenset({"stem", "split", "part"})
    unexplained = "take -m s, which matches the same skip bigrams"

    def __init__(self, lang: str = "en", *, stem: bool = True, part: str = "f", workers: int = 1) -> None:
        check_choice(self.id, "part", part, _PARTS)
        self.part = part
        self.measure = _PARTS[part]
        self.lang = resolve_language(lang)
        self.workers = workers
        self._stem = stem and self.lang == "en"

    def get_signature(self) -> Signature:
        """Kind, version, tokeniser and stemming."""
        return Signature(
            {
                "metric": self.id, "version": __version__, "lang": self.lang,
                "tok": "rouge-score" if self.lang == "en" else f"tesla-{self.lang}",
                "stem": "porter" if self._stem else "no", "references": "max",
                **({} if self.part == "f" else {"part": self.part}),
                **({} if self.lang == "en" else segmenter_signature(self.lang)),
            }
        )  # fmt: skip

    def score_segments(self, hypotheses: Sequence[str], references: References) -> SegmentScores:
        """Scores, and precision, recall and F1 of the best reference as features."""
        texts, index = index_of_texts(hypotheses, references)
        features = match_rouge(*self._prepare(texts), *index, self.kind, self.measure)
        return SegmentScores(features[:, self.measure].copy(), features)

    def pairwise(self, hypotheses: Sequence[str], references: Sequence[str]) -> FloatArray:
        """The score of every hypothesis (row) against every reference (column); each text is tokenised once."""
        hypotheses, references = texts_of(hypotheses), texts_of(references)
        matrix = new_matrix(hypotheses, references)
        if not matrix.size:
            return matrix
        prepared = self._prepare([*hypotheses, *references])
        for rows, i, j in blocks_of_pairs(*matrix.shape):
            measures = match_rouge(*prepared, i, len(hypotheses) + j[None], self.kind, self.measure)
            matrix[rows] = measures[:, self.measure].reshape(len(rows), -1)
        return matrix

    def _prepare(self, texts: list[str]) -> tuple[WordTexts, Index]:
        """The words of all sentences, and the places where the sentences of each text begin."""
        return self._words(texts), np.arange(len(texts) + 1)

    def _words(self, texts: Iterable[str]) -> WordTexts:
        if self.lang == "en":
            return WordTexts.by_rouge_score([text.lower() for text in texts], self._stem)
        words = WordTexts.by_tokeniser([compose(checked(text)) for text in texts], load_tokeniser(self.lang))
        words.replace_words([word.lower() if any(map(str.isalnum, word)) else "" for word in words.words()])
        return words


class _RougeOfSentences(RougeMetric):
    """ROUGE-Lsum.

    Lines of a text are its sentences, as in rouge-score. With `split`, our sentence splitter cuts a text of one line.
    """

    def __init__(
        self, lang: str = "en", *, stem: bool = True, split: bool = False, part: str = "f", workers: int = 1
    ) -> None:
        super().__init__(lang, stem=stem, part=part, workers=workers)
        self.split = split

    def get_signature(self) -> Signature:
        """The same, and how texts become sentences."""
        sentences = "lines-or-splitter" if self.split else "lines"
        return Signature({**super().get_signature(), "sentences": sentences})

    def _prepare(self, texts: list[str]) -> tuple[WordTexts, Index]:
        sentences = list(map(self._sentences, texts))
        starts = np.fromiter(accumulate(map(len, sentences), initial=0), np.int64, len(texts) + 1)
        return self._words(chain.from_iterable(sentences)), starts

    def _sentences(self, text: str) -> list[str]:
        if self.split and "\n" not in text:
            return [text[start:end] for start, end in split_sentences(text, self.lang)]
        return [line for line in text.split("\n") if line]


def _metric(kind: str) -> type[RougeMetric]:
    """The class of one kind: `rouge1` is `Rouge1`."""
    base = _RougeOfSentences if kind == "Lsum" else RougeMetric
    declaration = {
        "id": f"rouge{kind.lower()}",
        "kind": kind,
        "__doc__": f"ROUGE-{kind}: {ROUGE_KINDS[kind]}.",
        "__module__": __name__,
    }
    return new_class(f"Rouge{kind}", (base,), exec_body=lambda namespace: namespace.update(declaration))


Rouge1, Rouge2, RougeL, RougeLsum, RougeSU4 = map(_metric, ROUGE_KINDS)
