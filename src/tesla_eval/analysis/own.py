"""Analysis that the user brings along: an object with one method, or CoNLL-U on the command line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Protocol, runtime_checkable

from tesla_eval._core import Lexicon
from tesla_eval.analysis.batch import AnalysedBatch, Vocabulary
from tesla_eval.analysis.conllu import UNKNOWN, Word, parse_conllu
from tesla_eval.analysis.function_words import is_function_tag
from tesla_eval.analysis.languages import resolve_language
from tesla_eval.analysis.pipeline import senses_of
from tesla_eval.errors import InputError, TeslaError
from tesla_eval.records import Token

__all__ = ["Analyser", "ConlluAnalyser", "OwnAnalysis"]


@runtime_checkable
class Analyser(Protocol):
    """Turns texts into tokens.

    Every token it returns takes part in matching, so punctuation is left out; `senses` must be the same wherever a
    lemma is (SPEC §1). The `name` stands in the signature.
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
        return {"lang": self._language, "analysis": self._analyser.name}

    def analyse(self, *groups: Sequence[str]) -> list[AnalysedBatch]:
        """One batch for each group of texts, all over the same vocabulary."""
        vocabulary = Vocabulary(Lexicon(None))
        batches = []
        for group in groups:
            tokens = [list(one) for one in self._analyser.analyse(group)]
            if len(tokens) != len(group):
                raise InputError(
                    f"analyser {self._analyser.name!r}: {len(group)} texts, {len(tokens)} analyses"
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
                f"analyser {self._analyser.name!r}: gives what is no `tesla_eval.Token` with offsets and sense ids "
                f"from 0 to 4,294,967,295 ({error})"
            ) from error


class ConlluAnalyser:
    """Reads each text as one sentence of CoNLL-U (`tesla score --analysed`): columns FORM, LEMMA, UPOS, XPOS.

    `pos` is XPOS where it is given, else UPOS, else nothing; senses come from the language's own table or from
    `synonyms`.
    """

    def __init__(self, language: str, synonyms: str | None = None) -> None:
        code = resolve_language(language)
        self._senses = senses_of(code, synonyms)
        # English splits its contractions; elsewhere a multi-word token is one (SPEC §1).
        self._split = code == "en"
        self.name = "conllu" if self._senses is None else f"conllu+senses-{self._senses.resource.fingerprint}"

    def analyse(self, texts: Sequence[str]) -> list[list[Token]]:
        """The tokens of each sentence."""
        return [self._tokens(text) for text in texts]

    def raw_texts(self, texts: Sequence[str]) -> list[str]:
        """The sentences as people wrote them."""
        return [
            " ".join(sentence.text for sentence in parse_conllu(text)) if _has_words(text) else ""
            for text in texts
        ]

    def _tokens(self, block: str) -> list[Token]:
        if not _has_words(block):
            return []
        tokens = []
        position = 0
        for sentence in parse_conllu(block):
            for word in sentence.words if self._split else sentence.surface():
                if any(map(str.isalnum, word.form)):
                    lemma = (word.form if word.lemma == UNKNOWN else word.lemma).lower()
                    tokens.append(
                        Token(
                            surface=word.form, start=position, end=position + len(word.form), lemma=lemma,
                            pos=_tag_of(word), function=is_function_tag(word.upos),
                            senses=() if self._senses is None else self._senses.senses(lemma),
                        )
                    )  # fmt: skip
                position += len(word.form) + word.space_after
        return tokens


def _tag_of(word: Word) -> str:
    """Unknown is no tag: words without one have nothing in common."""
    return next((tag for tag in (word.xpos, word.upos) if tag != UNKNOWN), "")


def _has_words(block: str) -> bool:
    return not all(line.startswith("#") for line in block.split("\n"))
