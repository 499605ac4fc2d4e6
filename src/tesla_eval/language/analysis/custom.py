"""Analysis chosen by the user: an own analyser, CoNLL-U input, or another program's segmenter."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import ClassVar, Protocol, runtime_checkable

from tesla_eval._core import Lexicon
from tesla_eval.base.errors import InputError, TeslaError, UsageError
from tesla_eval.base.identity import is_importable, own_name
from tesla_eval.base.records import Token
from tesla_eval.language.analysis.batch import AnalysedBatch, Vocabulary
from tesla_eval.language.analysis.conllu import FUNCTION_TAGS, UNKNOWN, Word, parse_conllu
from tesla_eval.language.analysis.languages import resolve_language
from tesla_eval.language.analysis.lemmas import Lemmatiser
from tesla_eval.language.analysis.pipeline import Pipeline, load_pipeline, senses_of
from tesla_eval.language.analysis.tags import load_tagger
from tesla_eval.language.analysis.tokenisers import compose, raw_offsets, spans_of_words


@runtime_checkable
class Analyser(Protocol):
    """Turns texts into tokens.

    Every token it returns takes part in matching, so punctuation is left out; `senses` must be the same wherever a
    lemma is (specification §1). The `name` is part of the signature.
    """

    name: str

    def analyse(self, texts: Sequence[str]) -> Sequence[Sequence[Token]]:
        """The tokens of each text."""


class OwnAnalysis:
    """The user's analyser in the place of a language's pipeline."""

    def __init__(self, analyser: Analyser, language: str) -> None:
        self._analyser = analyser
        self._language = resolve_language(language)

    tagged = True  # as far as we know: tokens with an empty `pos` take no part where tags are compared
    shortcomings: ClassVar[list[str]] = []

    @property
    def signature(self) -> dict[str, str]:
        """The parts of a metric's signature that name this analysis."""
        own = {} if is_importable(kind := type(self._analyser)) else {"analyser": own_name(kind)}
        return {"lang": self._language, "analysis": self._analyser.name, **own}

    def analyse(self, *groups: Sequence[str]) -> list[AnalysedBatch]:
        """One batch for each group of texts, all over the same vocabulary."""
        vocabulary = Vocabulary(Lexicon(None))
        batches = []
        for group in groups:
            tokens = [list(one) for one in self._analyser.analyse(group)]
            if len(tokens) != len(group):
                raise InputError(
                    f"analyser {self._analyser.name!r}: got {len(group)} texts but returned {len(tokens)} analyses"
                )
            raw_texts = getattr(
                self._analyser, "raw_texts", None
            )  # where texts are more than what people wrote
            texts = group if raw_texts is None else raw_texts(group)
            batches.append(self._batch(texts, vocabulary, tokens))
        return batches

    def _batch(
        self, texts: Sequence[str], vocabulary: Vocabulary, tokens: Sequence[Sequence[Token]]
    ) -> AnalysedBatch:
        try:
            return AnalysedBatch.from_tokens(texts, vocabulary, tokens)
        except TeslaError:
            raise
        except (AttributeError, OverflowError, TypeError, ValueError) as error:
            raise InputError(
                f"analyser {self._analyser.name!r}: every token must be a `tesla_eval.Token` with offsets and sense "
                f"ids from 0 to 4,294,967,295 ({error})"
            ) from error


class ConlluAnalyser:
    """Reads each text as one sentence of CoNLL-U (`tesla score --analysed`): columns FORM, LEMMA, UPOS, XPOS.

    `pos` is XPOS where it is given, else UPOS, else nothing; senses come from the language's own table or from
    `synonyms`.
    """

    def __init__(self, language: str, synonyms: str | None = None) -> None:
        code = resolve_language(language)
        self._senses = senses_of(code, synonyms)
        # English splits its contractions; elsewhere a multi-word token is one (specification §1).
        self._split = code == "en"
        self.name = "conllu" if self._senses is None else f"conllu+senses-{self._senses.resource.fingerprint}"

    def analyse(self, texts: Sequence[str]) -> list[list[Token]]:
        """The tokens of each sentence."""
        return [self._tokens(text) for text in texts]

    def raw_texts(self, texts: Sequence[str]) -> list[str]:
        """The sentences as people wrote them."""
        return [
            _BETWEEN_SENTENCES.join(sentence.text for sentence in parse_conllu(text))
            if _has_words(text)
            else ""
            for text in texts
        ]

    def _tokens(self, block: str) -> list[Token]:
        if not _has_words(block):
            return []
        tokens = []
        position = 0
        for sentence in parse_conllu(block):
            for word, (start, end) in sentence.placed_words(split=self._split):
                if any(map(str.isalnum, word.form)):
                    lemma = (word.form if word.lemma == UNKNOWN else word.lemma).lower()
                    tokens.append(
                        Token(
                            surface=word.form, start=position + start, end=position + end, lemma=lemma,
                            pos=_tag_of(word), function=word.upos in FUNCTION_TAGS,
                            senses=() if self._senses is None else self._senses.senses(lemma),
                        )
                    )  # fmt: skip
            position += len(sentence.text) + len(_BETWEEN_SENTENCES)
        return tokens


_BETWEEN_SENTENCES = " "


def _tag_of(word: Word) -> str:
    """The tag, or nothing for an unknown tag: words without a tag do not match each other by tag."""
    return next((tag for tag in (word.xpos, word.upos) if tag != UNKNOWN), "")


def _has_words(block: str) -> bool:
    return not all(line.startswith("#") for line in block.split("\n"))


SEGMENTERS = {"fugashi": "ja"}
"""Segmenters that may be asked for, and their languages."""


class SegmentedAnalyser:
    """The analysis of a language with words of another segmenter.

    It works text by text in Python and is many times slower than the built-in analysis.
    """

    def __init__(self, segmenter: str, language: str, synonyms: str | None = None) -> None:
        if SEGMENTERS.get(segmenter) != language:
            offered = ", ".join(f"{name} for {code!r}" for name, code in SEGMENTERS.items())
            raise UsageError(
                f"segmenter {segmenter!r} is not available for language {language!r}; available: {offered}"
            )
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
        spans = list(spans_of_words(text, self._cut(text)))
        if not spans:
            return
        places = raw_offsets(raw).tolist() if raw is not text else range(len(text) + 1)
        forms = [text[start:end] for start, end in spans]
        lemmas = self._lemmatiser.lemmas(forms)
        for form, lemma, label, (start, end) in zip(
            forms, lemmas, self._tagger.tag(forms), spans, strict=True
        ):
            if any(map(str.isalnum, form)):  # punctuation is tagged, not matched (specification §1)
                yield Token(
                    surface=form, start=places[start], end=places[end], lemma=lemma, pos=label.fine,
                    function=label.universal in FUNCTION_TAGS,
                    senses=() if self._senses is None else self._senses.senses(lemma),
                )  # fmt: skip


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


class Analysis(Protocol):
    """The methods that metrics call on an analysis."""

    @property
    def tagged(self) -> bool:
        """Whether words have parts of speech."""

    @property
    def shortcomings(self) -> list[str]:
        """What it lacks, for a warning."""

    @property
    def signature(self) -> dict[str, str]:
        """The parts of a metric's signature that name it."""

    def analyse(self, *groups: Sequence[str]) -> list[AnalysedBatch]:
        """One batch for each group of texts, all over the same vocabulary."""


def choose_analysis(
    language: str, analyser: Analyser | Pipeline | None = None, synonyms: str | None = None
) -> Analysis:
    """The user's own analyser, a pipeline that was put together by hand, or the pipeline of the language."""
    if analyser is None:
        return load_pipeline(language, synonyms)
    if synonyms is not None:
        raise UsageError("your own analysis has its own senses: do not give a file of synonyms as well")
    return analyser if isinstance(analyser, Pipeline) else OwnAnalysis(analyser, language)
