"""Writing a negation into a text, or taking one out: by word lists of many languages, without their grammar."""

from __future__ import annotations

from tesla_eval.stress.words import Word, Words

_BEFORE_VERB = {
    "ar": "لا", "be": "не", "ca": "no", "el": "δεν", "es": "no", "gl": "non", "he": "לא", "hi": "नहीं", "hr": "ne",
    "id": "tidak", "it": "non", "ka": "არ", "ko": "안", "pl": "nie", "pt": "não", "ro": "nu", "ru": "не", "sl": "ne",
    "sr": "ne", "th": "ไม่", "uk": "не", "vi": "không", "zh": "不",
}  # fmt: skip
_AFTER_VERB = {
    "af": "nie", "da": "ikke", "de": "nicht", "en": "not", "is": "ekki", "nl": "niet", "nn": "ikkje", "no": "ikke",
    "sv": "inte",
}  # fmt: skip
_PREFIX = {"cs": "ne", "lt": "ne", "lv": "ne", "sk": "ne"}
_CONTRACTIONS = {"can't": "can", "won't": "will", "shan't": "shall", "cannot": "can"}
_FRENCH_VOWELS = tuple("aeiouyhâàéèêëîïôûœ")
_VERBS = ("AUX", "VERB")

NEGATING_LANGUAGES = frozenset({*_BEFORE_VERB, *_AFTER_VERB, *_PREFIX, "fr"})
"""The languages that a negation can be written in."""


def negated(words: Words, language: str) -> str | None:
    """The text with its first finite verb negated, or without its first negation.

    >>> from tesla_eval.stress.words import analysed_words
    >>> negated(analysed_words(["She reads books."], "en")[0], "en")
    'She does not read books.'
    >>> negated(analysed_words(["Il aime les chats."], "fr")[0], "fr")
    "Il n'aime pas les chats."
    """
    taken_out = _without_negation(words, language)
    if taken_out is not None:
        return taken_out
    verbs = words.tagged(*_VERBS)
    if language == "en":
        verbs = words.tagged("AUX") or [verb for verb in verbs if verb.fine_tag in ("VBZ", "VBP", "VBD")]
    if language in _PREFIX:
        verbs = [verb for verb in verbs if not verb.surface.lower().startswith(_PREFIX[language])]
    return _with_negation(words, verbs[0], language) if verbs else None


def _without_negation(words: Words, language: str) -> str | None:
    particle = _AFTER_VERB.get(language) or _BEFORE_VERB.get(language)
    for word in words.words:
        form = word.surface.lower().replace("’", "'")
        if form == particle:
            return words.without(word)
        if language == "en" and form in _CONTRACTIONS:
            return words.replaced(word, _CONTRACTIONS[form])
        if language == "en" and form.endswith("n't"):
            return words.replaced(word, word.surface[:-3])
    return None


def _with_negation(words: Words, verb: Word, language: str) -> str:
    form, blank = verb.surface, words.blank
    small = form if verb.tag == "PROPN" else form[:1].lower() + form[1:]
    if language == "en" and verb.tag != "AUX":
        helper = {"VBZ": "does", "VBD": "did"}.get(verb.fine_tag, "do")
        return words.replaced(verb, f"{helper} not {verb.lemma}")
    if language == "fr":
        clitic = "n'" if small.startswith(_FRENCH_VOWELS) else "ne "
        return words.replaced(verb, f"{clitic}{small} pas")
    if language in _PREFIX:
        return words.replaced(verb, _PREFIX[language] + small)
    if language in _AFTER_VERB:
        return words.replaced(verb, f"{form}{blank}{_AFTER_VERB[language]}")
    particle = "не" if language == "sr" and not form.isascii() and form[0] >= "Ѐ" else _BEFORE_VERB[language]
    return words.replaced(verb, f"{particle}{blank}{small}")
