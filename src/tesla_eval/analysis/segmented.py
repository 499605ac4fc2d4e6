"""Words cut by another program's segmenter, tagged and lemmatised by ours: an optional extra, used only when asked for.

Offered is what finds more of a treebank's words than the built-in segmenter (docs/languages.md): fugashi (MeCab with
UniDic) for Japanese. jieba for Chinese and PyThaiNLP for Thai follow other conventions than the treebanks that the
taggers learned from, and find less.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from importlib import import_module

from tesla_eval.analysis.function_words import is_function_tag
from tesla_eval.analysis.lemmas import Lemmatiser
from tesla_eval.analysis.normalise import compose, raw_offsets
from tesla_eval.analysis.pipeline import senses_of
from tesla_eval.analysis.tagger import load_tagger
from tesla_eval.errors import UsageError
from tesla_eval.records import Token

__all__ = ["SEGMENTERS", "SegmentedAnalyser"]

SEGMENTERS = {"fugashi": "ja"}
"""Segmenters that may be asked for, and their languages."""


class SegmentedAnalyser:
    """The analysis of a language with words of another segmenter.

    It works text by text in Python and is many times slower than the built-in analysis.
    """

    def __init__(self, segmenter: str, language: str, synonyms: str | None = None) -> None:
        if SEGMENTERS.get(segmenter) != language:
            offered = ", ".join(f"{name} for {code!r}" for name, code in SEGMENTERS.items())
            raise UsageError(f"there is no segmenter {segmenter!r} for {language!r}; there is {offered}")
        self._cut, cutter = _fugashi()
        tagger = load_tagger(language)
        assert tagger is not None  # every language of SEGMENTERS has one
        self._tagger = tagger
        self._lemmatiser = Lemmatiser(language)
        self._senses = senses_of(language, synonyms)
        senses = self._senses.resource.fingerprint if self._senses else "none"
        self.name = f"{cutter},tagger-{tagger.fingerprint},lemmas-{self._lemmatiser.name},senses-{senses}"

    def analyse(self, texts: Sequence[str]) -> list[list[Token]]:
        """The tokens of each text."""
        return [list(self._tokens(text)) for text in texts]

    def _tokens(self, raw: str) -> Iterator[Token]:
        text = compose(raw)
        spans = list(_spans(text, self._cut(text)))
        if not spans:
            return
        places = raw_offsets(raw).tolist() if raw is not text else range(len(text) + 1)
        forms = [text[start:end] for start, end in spans]
        lemmas = self._lemmatiser.lemmas(forms)
        for form, lemma, label, (start, end) in zip(
            forms, lemmas, self._tagger.tag(forms), spans, strict=True
        ):
            if any(map(str.isalnum, form)):  # punctuation is tagged, not matched (SPEC §1)
                yield Token(
                    surface=form, start=places[start], end=places[end], lemma=lemma, pos=label.fine,
                    function=is_function_tag(label.universal),
                    senses=() if self._senses is None else self._senses.senses(lemma),
                )  # fmt: skip


def _spans(text: str, words: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Where the words stand in the text; segmenters leave out white space."""
    position = 0
    for word in words:
        start = text.index(word, position)
        position = start + len(word)
        yield start, position


def _fugashi() -> tuple[Callable[[str], Sequence[str]], str]:
    """MeCab's words, and what makes them, with versions."""
    from importlib.metadata import version

    try:
        tagger = import_module("fugashi").Tagger()
        name = f"fugashi-{version('fugashi')},unidic-lite-{version('unidic-lite')}"
    except (ImportError, RuntimeError):
        raise UsageError(
            "the segmenter fugashi is not installed: pip install 'tesla-eval[ja]' (fugashi and unidic-lite)"
        ) from None
    return lambda text: [word.surface for word in tagger(text)], name
