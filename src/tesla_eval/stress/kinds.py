"""Kinds of damage: degenerate texts, harmful edits and harmless ones, each made as far as the language allows.

A kind is a function from a `Case` to the damaged text, or None where the text does not allow it:

    @stress_kind("vowels-dropped", HARMFUL)
    def vowels_dropped(case: Case) -> str | None:
        return re.sub("[aeiou]", "", case.text)

Packages offer kinds of their own under the entry-point group `tesla_eval.stress_kinds`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from typing import Literal

from tesla_eval.base.errors import UsageError
from tesla_eval.language.analysis import split_sentences
from tesla_eval.language.analysis.antonyms import load_antonyms
from tesla_eval.language.analysis.frequencies import load_frequencies
from tesla_eval.language.analysis.pipeline import load_pipeline
from tesla_eval.stress.negation import NEGATING_LANGUAGES, negated
from tesla_eval.stress.words import Case, Corpus, Word, analysed_words

Family = Literal["degenerate", "harmful", "harmless"]
DEGENERATE: Family = "degenerate"
"""Made from the reference; must not score above real outputs."""
HARMFUL: Family = "harmful"
"""Made from an output, or from the reference without outputs; must lower the score."""
HARMLESS: Family = "harmless"
"""As small as a harmful edit; should cost less."""
ENTRY_POINTS = "tesla_eval.stress_kinds"

Maker = Callable[[Case], str | None]


@dataclass(frozen=True)
class Kind:
    """One kind of damage."""

    name: str
    family: Family
    make: Maker
    lacks: Callable[[Corpus], str] = lambda corpus: ""
    """Why the kind cannot be made for a language or without sources; empty if it can."""


_OWN: dict[str, Kind] = {}


def stress_kind(
    name: str, family: Family, lacks: Callable[[Corpus], str] = lambda corpus: ""
) -> Callable[[Maker], Maker]:
    """Register a function as a kind."""

    def register(make: Maker) -> Maker:
        _OWN[name] = Kind(name, family, make, lacks)
        return make

    return register


def all_kinds() -> dict[str, Kind]:
    """All kinds by name: ours, those registered here, those of other packages."""
    return {**_plugged_kinds(), **_OWN}


@cache
def _plugged_kinds() -> dict[str, Kind]:
    kinds = {point.name: point.load() for point in entry_points(group=ENTRY_POINTS)}
    wrong = [name for name, kind in kinds.items() if not isinstance(kind, Kind)]
    if wrong:
        raise UsageError(f"the stress kind {wrong[0]!r} of another package is not a Kind")
    return kinds


def choose_kinds(names: Iterable[str] = ()) -> list[Kind]:
    """The kinds of these names, or all."""
    known = all_kinds()
    wanted = list(names) or list(known)
    unknown = [name for name in wanted if name not in known]
    if unknown:
        raise UsageError(f"unknown kind {unknown[0]!r} (kinds: {', '.join(known)})")
    return [known[name] for name in dict.fromkeys(wanted)]


def _unless(has: Callable[[Corpus], object], lack: str) -> Callable[[Corpus], str]:
    """Says what a corpus lacks, with the name of its language, unless it has it."""
    return lambda corpus: "" if has(corpus) else lack.format(corpus.language)


def _only(languages: Iterable[str], what: str) -> Callable[[Corpus], str]:
    return _unless(lambda corpus: corpus.language in languages, f"no {what} for {{}}")


_no_sources = _unless(lambda corpus: corpus.sources is not None, "there are no sources")
_no_tagger = _unless(lambda corpus: corpus.tagged, "{} has no tagger")
_no_antonyms = _unless(lambda corpus: load_antonyms(corpus.language) is not None, "{} has no antonyms")
_no_senses = _unless(lambda corpus: load_pipeline(corpus.language).senses, "{} has no synonyms")


# Degenerate texts.


@stress_kind("empty", DEGENERATE)
def _empty(case: Case) -> str | None:
    return ""


@stress_kind("source-copied", DEGENERATE, _no_sources)
def _source_copied(case: Case) -> str | None:
    return case.corpus.sources[case.segment] if case.corpus.sources is not None else None


_ENGLISH = "All human beings are born free and equal in dignity and rights. They are endowed with reason and conscience"
_GERMAN = "Alle Menschen sind frei und gleich an Würde und Rechten geboren. Sie sind mit Vernunft und Gewissen begabt"


@stress_kind("other-language", DEGENERATE)
def _other_language(case: Case) -> str | None:
    """As many words as the reference has, in English, or in German for English."""
    words = (_GERMAN if case.corpus.language == "en" else _ENGLISH).split()
    return " ".join(words[k % len(words)] for k in range(max(1, len(case.words)))) + "."


@stress_kind("half", DEGENERATE)
def _half(case: Case) -> str | None:
    words = case.words
    return words.text[: words.words[len(words) // 2].start].rstrip() if len(words) > 1 else None


@stress_kind("doubled", DEGENERATE)
def _doubled(case: Case) -> str | None:
    return f"{case.text}{case.words.blank}{case.text}"


@stress_kind("words-doubled", DEGENERATE)
def _words_doubled(case: Case) -> str | None:
    words = case.words
    return words.with_surfaces(f"{word.surface}{words.blank}{word.surface}" for word in words.words)


@stress_kind("words-shuffled", DEGENERATE)
def _words_shuffled(case: Case) -> str | None:
    surfaces = [word.surface for word in case.words.words]
    case.draw.shuffle(surfaces)
    return case.words.with_surfaces(surfaces)


def _sentences(text: str, case: Case) -> list[str]:
    return [text[start:end] for start, end in split_sentences(text, case.corpus.language)]


def _turned(sentences: list[str], case: Case) -> str | None:
    if len(sentences) < 2:
        return None
    turn = case.draw.randrange(1, len(sentences))
    return case.words.blank.join(sentences[turn:] + sentences[:turn])


@stress_kind("sentences-shuffled", DEGENERATE)
def _sentences_shuffled(case: Case) -> str | None:
    return _turned(_sentences(case.text, case), case)


@stress_kind("source-shuffled", DEGENERATE, _no_sources)
def _source_shuffled(case: Case) -> str | None:
    source = _source_copied(case)
    return None if source is None else _turned(_sentences(source, case), case)


@stress_kind("one-sentence", DEGENERATE)
def _one_sentence(case: Case) -> str | None:
    sentences = _sentences(case.text, case)
    return sentences[0] if len(sentences) > 1 else None


@stress_kind("another-text", DEGENERATE)
def _another_text(case: Case) -> str | None:
    other = case.another_reference()
    return None if other is None else other.text


@stress_kind("sentence-added", DEGENERATE)
def _sentence_added(case: Case) -> str | None:
    other = case.another_reference()
    if other is None:
        return None
    start, end = split_sentences(other.text, case.corpus.language)[0]
    return f"{case.text}{case.words.blank}{other.text[start:end]}"


# Harmful edits.

stress_kind("padded", HARMFUL)(_sentence_added)


@stress_kind("sentence-repeated", HARMFUL)
def _sentence_repeated(case: Case) -> str | None:
    sentences = _sentences(case.text, case)
    return f"{case.text}{case.words.blank}{sentences[-1]}" if len(sentences) > 1 else None


@stress_kind("all-negated", HARMFUL, _only(NEGATING_LANGUAGES, "negation"))
def _all_negated(case: Case) -> str | None:
    """Every one of several sentences negated, or without its negation."""
    language = case.corpus.language
    sentences = _sentences(case.text, case)
    denied = [negated(words, language) for words in analysed_words(sentences, language)]
    if len(sentences) < 2 or not any(denied):
        return None
    return case.words.blank.join(new or old for new, old in zip(denied, sentences, strict=True))


def _changed_number(case: Case, word: Word) -> str:
    places = [k for k, character in enumerate(word.surface) if character.isdecimal()]
    place = case.draw.choice(places)
    digit = int(word.surface[place])
    zero = chr(ord(word.surface[place]) - digit)
    lowest = 1 if place == places[0] and len(places) > 1 else 0
    other = case.draw.choice([new for new in range(lowest, 10) if new != digit])
    return word.surface[:place] + chr(ord(zero) + other) + word.surface[place + 1 :]


@stress_kind("number", HARMFUL)
def _number(case: Case) -> str | None:
    numbers = [word for word in case.words.words if any(map(str.isdecimal, word.surface))]
    if not numbers:
        return None
    word = case.draw.choice(numbers)
    return case.words.replaced(word, _changed_number(case, word))


def _exchanging(name: str, tag: str) -> None:
    def exchanged(case: Case) -> str | None:
        """A word of a tag replaced by one of the references with the same tag and another lemma."""
        words, others = case.words.tagged(tag), case.corpus.by_tag.get(tag, ())
        if not words or not others:
            return None
        word = case.draw.choice(words)
        unlike = [
            other
            for other in others
            if other.lemma.lower() != word.lemma.lower() and other.fine_tag == word.fine_tag
        ]
        return case.words.replaced(word, case.draw.choice(unlike).surface) if unlike else None

    stress_kind(name, HARMFUL, _no_tagger)(exchanged)


_exchanging("name", "PROPN")
_exchanging("pronoun", "PRON")


@stress_kind("negation", HARMFUL, _only(NEGATING_LANGUAGES, "negation"))
def _negation(case: Case) -> str | None:
    return negated(case.words, case.corpus.language)


@stress_kind("antonym", HARMFUL, _no_antonyms)
def _antonym(case: Case) -> str | None:
    table = load_antonyms(case.corpus.language)
    options = [
        (word, opposites)
        for word in case.words.words
        if table is not None and not word.is_function and (opposites := table.antonyms(word.surface.lower()))
    ]
    if not options:
        return None
    word, opposites = case.draw.choice(options)
    return case.words.replaced(word, case.draw.choice(opposites))


_OTHER_TENSE = {
    "is": "was", "are": "were", "was": "is", "were": "are", "has": "had", "have": "had", "had": "has", "will": "would",
    "would": "will", "can": "could", "could": "can", "does": "did", "do": "did", "did": "does",
}  # fmt: skip


@stress_kind("tense", HARMFUL, _only(["en"], "change of tense"))
def _tense(case: Case) -> str | None:
    for word in case.words.tagged("AUX", "VERB"):
        if word.surface.lower() in _OTHER_TENSE:
            return case.words.replaced(word, _OTHER_TENSE[word.surface.lower()])
        if word.fine_tag in ("VBZ", "VBD", "VBP"):
            return case.words.replaced(word, f"will {word.lemma}")
    return None


def _dropping(name: str, *tags: str) -> None:
    def dropped(case: Case) -> str | None:
        words = case.words.tagged(*tags)
        return case.words.without(case.draw.choice(words)) if words and len(case.words) > 1 else None

    stress_kind(f"{name}-dropped", HARMFUL, _no_tagger)(dropped)


_dropping("noun", "NOUN")
_dropping("verb", "VERB")
_dropping("adjective", "ADJ")
_dropping("name", "PROPN")
_dropping("function-word", "ADP", "AUX", "CCONJ", "DET", "PART", "PRON", "SCONJ")


def _long_word(case: Case) -> Word | None:
    least = 4 if case.words.blank else 2
    words = [word for word in case.words.words if len(word.surface) >= least and word.surface.isalpha()]
    return case.draw.choice(words) if words else None


@stress_kind("misspelling", HARMFUL)
def _misspelling(case: Case) -> str | None:
    """Two neighbouring letters change places."""
    word = _long_word(case)
    if word is None:
        return None
    form = word.surface
    places = [k for k in range(len(form) - 1) if form[k] != form[k + 1] and (k or len(form) < 4)]
    if not places:
        return None
    k = case.draw.choice(places)
    return case.words.replaced(word, form[:k] + form[k + 1] + form[k] + form[k + 2 :])


@stress_kind("character-dropped", HARMFUL)
def _character_dropped(case: Case) -> str | None:
    word = _long_word(case)
    if word is None:
        return None
    k = case.draw.randrange(1, len(word.surface))
    return case.words.replaced(word, word.surface[:k] + word.surface[k + 1 :])


@stress_kind("neighbours-swapped", HARMFUL)
def _neighbours_swapped(case: Case) -> str | None:
    surfaces = [word.surface for word in case.words.words]
    places = [k for k in range(len(surfaces) - 1) if surfaces[k].lower() != surfaces[k + 1].lower()]
    if not places:
        return None
    k = case.draw.choice(places)
    surfaces[k : k + 2] = surfaces[k + 1], surfaces[k]
    return case.words.with_surfaces(surfaces)


@stress_kind("word-repeated", HARMFUL)
def _word_repeated(case: Case) -> str | None:
    if not len(case.words):
        return None
    word = case.draw.choice(case.words.words)
    return case.words.replaced(word, f"{word.surface}{case.words.blank}{word.surface}")


# Harmless edits.


@cache
def _synonyms(language: str) -> dict[int, list[str]]:
    senses = load_pipeline(language).senses
    return dict(enumerate(senses.sets())) if senses is not None else {}


@stress_kind("synonym", HARMLESS, _no_senses)
def _synonym(case: Case) -> str | None:
    """A word in its base form replaced by the commonest of its synonyms."""
    language = case.corpus.language
    senses, frequencies = load_pipeline(language).senses, load_frequencies(language)
    if senses is None:
        return None
    options = [
        (word, numbers)
        for word in case.words.words
        if not word.is_function
        and word.tag != "PROPN"
        and word.surface.lower() == word.lemma
        and (numbers := senses.senses(word.lemma))
    ]
    if not options:
        return None
    word, numbers = case.draw.choice(options)
    synonyms = [other for other in _synonyms(language)[case.draw.choice(numbers)] if other != word.lemma]
    weights = frequencies.weights(synonyms).tolist() if frequencies else [0.0] * len(synonyms)
    return case.words.replaced(word, min(zip(weights, synonyms, strict=True))[1]) if synonyms else None


_FILLERS = {
    "cs": "tedy", "de": "also", "en": "indeed", "es": "pues", "fr": "donc", "it": "dunque", "nl": "dus", "pl": "więc",
    "pt": "pois", "ru": "же", "sv": "alltså", "uk": "ж",
}  # fmt: skip


@stress_kind("filler", HARMLESS, _only(_FILLERS, "filler"))
def _filler(case: Case) -> str | None:
    verbs, filler = case.words.tagged("AUX", "VERB"), _FILLERS[case.corpus.language]
    return case.words.replaced(verbs[0], f"{verbs[0].surface} {filler}") if verbs else None


@stress_kind("punctuation", HARMLESS)
def _punctuation(case: Case) -> str | None:
    """The last mark dropped, or a full stop added."""
    text = case.text.rstrip()
    if not text:
        return None
    return text[:-1] if not text[-1].isalnum() and len(case.words) else text + "."


@stress_kind("case", HARMLESS)
def _case(case: Case) -> str | None:
    if not len(case.words):
        return None
    word = case.words.words[0]
    form = word.surface[:1].swapcase() + word.surface[1:]
    return case.text[: word.start] + form + case.text[word.end :] if form != word.surface else None


@stress_kind("tokenised", HARMLESS)
def _tokenised(case: Case) -> str | None:
    """Spaces around every run of punctuation."""
    parts, end = [], 0
    for word in case.words.words:
        parts += [case.text[end : word.start].strip(), word.surface]
        end = word.end
    return " ".join(part for part in (*parts, case.text[end:].strip()) if part)
