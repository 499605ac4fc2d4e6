"""Which language texts are written in: script first, then letters, character n-grams and common words.

Work is bounded: a fixed number of short pieces, spread evenly over the texts, decides. Every piece is scored by a
linear model per script whose weights are whole numbers, so up to `MAX_PIECES` texts give the same answer in any order.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tesla_eval._core import SpelledTexts
from tesla_eval.base.arrays import exponentials
from tesla_eval.base.resources import Resource, interpreting, read_resource, shipped_folder
from tesla_eval.language.analysis.languages import LANGUAGES, UNDETERMINED, resolve_language

KIND = "detection"
MAX_PIECES = 128
PIECE_LENGTH = 160
LETTER_UNITS = 50_000
"""The whole numbers in which shares of letters are stored."""

OTHER_SCRIPT = "other"
USUAL_LANGUAGE = "en"
"""The language that more texts are written in than in any other."""

_LETTER_WEIGHT = {"Han": 3, "Kana": 2, "Hangul": 2}
"""One character of these scripts counts as several letters."""

RELATED = (
    frozenset({"da", "nn", "no", "sv"}), frozenset({"hr", "sl", "sr"}), frozenset({"cs", "sk"}),
    frozenset({"ca", "es", "gl", "pt"}), frozenset({"af", "nl"}), frozenset({"be", "ru", "uk"}),
)  # fmt: skip
"""Groups of languages that cannot be told apart in short texts."""

# The figures below decide what is certain, not which language is named. They were chosen by looking at chunks of the
# treebanks and of translated messages in supported and in other languages (research/detection.py).
_MIN_SCRIPT_SHARE = 0.7
_MIN_SHARE, _MIN_LEAD = 0.5, 0.25
_LONG = 100
"""Texts with fewer words together are short: all of their evidence is added up before a language is named."""
_MIN_SHARE_SHORT, _SHARE_OF_ANOTHER = 0.98, 0.9
"""The share from which on short texts are certain, and from which on one of them is clearly in another language."""
_COMMON_WORD, _FOREIGN_LETTER, _USUAL, _FEW_WORDS = 1.5, 1.0, 1.0, 8
"""In short texts: the log odds of a common word, of a letter that the language lacks, and of the usual language. The
first two count less in more than so many words, because words of one text depend on each other."""
_COMMON_WORDS_FACTOR, _LETTERS_FACTOR, _MIN_FIT = 0.7, 4.0, 1.2
"""How well a text fits a language: a sum of its share, common words and letters, and the least sum."""
_MIN_WORDS, _MIN_CHARACTERS, _MIN_HAN = 3, 10, 6
"""The least that can be certain: words, or characters where words are not separated."""
_KANA_SHARES = 0.02, 0.1
"""Chinese has at most the first share of kana among its characters, Japanese at least the second."""
_WORDS_TO_CONTRADICT, _WORDS_OF_ANOTHER_SCRIPT = 30, 10
_SHARE_TO_CONTRADICT_RELATED = 0.85


class Identification(NamedTuple):
    """The likeliest language of some texts, and whether to rely on it."""

    language: str
    """A supported code; `und` if there is not even a guess."""
    certain: bool
    share: float
    """The part of the texts that looks like this language, from 0 to 1."""
    runner_up: str | None
    words: int
    """Words looked at; characters for Chinese, Japanese and Thai."""
    script: str
    note: str = ""
    """Why the answer is not certain, as the end of a sentence; empty if it is."""
    probability: float = 0.0
    """How likely the language is, given all texts together."""


class ScriptModel:
    """What is known of the languages that share a script."""

    def __init__(self, resource: Resource, script: str) -> None:
        """Take the script's part of a resource; raises whatever `interpreting` catches if it is not sound."""
        entry, arrays = resource.info["scripts"][script], resource.arrays
        self.languages = tuple(entry["languages"])
        count = len(self.languages)
        self.weights: npt.NDArray[np.int8] = np.zeros((0, count), np.int8)
        """One row per bucket of n-grams, one column per language; no rows where one language has the script."""
        if count > 1:
            self.weights = arrays[f"weights {script}"].astype(np.int8, casting="safe", copy=False)
            rows = len(self.weights)
            if self.weights.ndim != 2 or self.weights.shape[1] != count or rows < 2 or rows & (rows - 1):
                raise ValueError("the weights have another shape")
        self.scale = float(entry.get("scale", 1.0))
        self.common_words: npt.NDArray[np.uint16] = arrays[f"words {script}"]
        """By language hashes of its commonest words."""
        if self.common_words.ndim != 2 or len(self.common_words) != count:
            raise ValueError("the common words have another shape")
        self.letters = np.array([*map(ord, entry["letters"])], np.uint32)
        """The letters of all these languages, sorted; none for Hangul, which has too many."""
        self.letter_units: npt.NDArray[np.uint16] = arrays[f"letters {script}"]
        """Shares of letters in `LETTER_UNITS`: one row per language, one column per letter."""
        ascending = (self.letters[1:] > self.letters[:-1]).all()
        if self.letter_units.shape != (count, len(self.letters)) or not ascending:
            raise ValueError("the letters have another shape")
        self.usual_shares = tuple(float(share) for share in entry["usual shares"])
        """By language the usual share of its commonest words in a text; 0 where words are not separated."""
        if len(self.usual_shares) != count or not set(self.languages) <= LANGUAGES.keys():
            raise ValueError("another number of languages")

    @cached_property
    def is_common(self) -> npt.NDArray[np.bool_]:
        """One row per language: whether the hash of a word is that of one of its commonest words."""
        table = np.zeros((len(self.languages), 1 << 16), bool)
        np.put_along_axis(table, self.common_words.astype(np.int64), True, axis=1)
        return table


def identify(texts: Sequence[str]) -> Identification:
    """The language of `texts`, which belong together: the references of a test set, or a single sentence.

    >>> identify(["Der Hund schläft unter dem Tisch, und die Katze sitzt auf dem Dach."]).language
    'de'
    >>> identify(["12:30", "!!!"]).note
    'no letters'
    """
    if isinstance(texts, str):
        texts = [texts]
    count = len(texts)
    chosen = texts if count <= MAX_PIECES else [texts[i * count // MAX_PIECES] for i in range(MAX_PIECES)]
    longest = PIECE_LENGTH * (MAX_PIECES // max(len(chosen), 1))
    # Pieces spread evenly over the texts, as many at most as are looked at.
    pieces = [
        text[start : start + PIECE_LENGTH]
        for text in chosen
        for start in range(0, min(len(text), longest), PIECE_LENGTH)
    ]
    spelled = spelled_texts(pieces)
    counts = spelled.letters_by_script()
    totals = {script: count * _LETTER_WEIGHT.get(script, 1) for script, count in counts.items()}
    if "Kana" in totals:
        totals["Han"] = totals.get("Han", 0) + totals.pop("Kana")
    if not totals:
        return Identification(UNDETERMINED.code, False, 0.0, None, 0, "", "no letters")
    script = max(totals, key=lambda name: (totals[name], name))
    script_share = totals[script] / sum(totals.values())
    if script == OTHER_SCRIPT:
        first_letter = chr(spelled.of_script(script).letters()[0][0])
        name = unicodedata.name(first_letter, "unknown").split()[0].title()
        note = f"no supported language is written in this script ({name})"
        return Identification(UNDETERMINED.code, False, 0.0, None, 0, name, note)
    if script == "Han":
        identified = _chinese_or_japanese(counts.get("Han", 0), counts.get("Kana", 0))
    else:
        identified = _score(load_detection()[script], script, spelled.of_script(script))
    if identified.certain and script_share < _MIN_SCRIPT_SHARE:
        return _unsure(identified, "the texts mix scripts")
    return identified


def contradicts(language: str, texts: Sequence[str]) -> Identification | None:
    """What `texts` are instead, if they are clearly not in `language`; `None` in case of doubt.

    >>> contradicts("en", ["Guten Morgen!"]) is None  # too short to say
    True
    """
    code = resolve_language(language)
    if code not in LANGUAGES:
        return None
    identified = identify(texts)
    if identified.language == code:
        return None
    if identified.script not in _scripts_of(code):  # another script needs no certainty about the language
        return (
            identified
            if identified.words >= _WORDS_OF_ANOTHER_SCRIPT
            or (identified.script and identified.language == "und")
            else None
        )
    if not identified.certain or identified.words < _WORDS_TO_CONTRADICT:
        return None
    related = any({code, identified.language} <= group for group in RELATED)
    return None if related and identified.share < _SHARE_TO_CONTRADICT_RELATED else identified


def _scripts_of(code: str) -> set[str]:
    if code in {"zh", "ja"}:
        return {"Han"}
    return {script for script, model in load_detection().items() if code in model.languages}


_ADDRESS = re.compile(r"[!-~]*(?:://|[@_<>=\\]|www\.|\.[a-z]{2,4}/)[!-~]*")
"""Addresses, markup and code are in no language."""


def spelled_texts(texts: Sequence[str]) -> SpelledTexts:
    """The words of texts in small letters."""
    cleaned = (_ADDRESS.sub(" ", text.lower()).replace("\n", " ") for text in texts)
    lines = "\n".join(unicodedata.normalize("NFC", text).replace("\u0307", "") for text in cleaned)
    return SpelledTexts(lines.encode("utf-8", "replace"))


def _score(model: ScriptModel, script: str, spelled: SpelledTexts) -> Identification:
    hashes = spelled.word_hashes()
    letters, letter_counts = spelled.letters()
    common_counts = model.is_common[:, hashes].sum(axis=1)
    sums, sizes = _weigh(model, spelled)
    by_piece = _softmax(sums * (model.scale / np.sqrt(sizes))[:, None])
    likely = shares = _mean_shares(by_piece, sizes)
    is_short = len(hashes) < _LONG
    if is_short:
        foreign = _foreign_letters(model, letters, letter_counts)
        evidence = _COMMON_WORD * common_counts - _FOREIGN_LETTER * foreign
        evidence *= math.sqrt(_FEW_WORDS / max(len(hashes), _FEW_WORDS))  # as n-grams are weighed
        likely = _joint_shares(model, sums, sizes, evidence)
    ranking = np.argsort(-likely, kind="stable").tolist()
    best = ranking[0]
    second = ranking[1] if len(ranking) > 1 else None
    is_spaced = model.usual_shares[best] > 0
    count = len(hashes) if is_spaced else int(letter_counts.sum())
    guess = Identification(
        model.languages[best], True, float(shares[best]), None if second is None else model.languages[second],
        count, script, probability=float(likely[best]),
    )  # fmt: skip
    if count < (_MIN_WORDS if is_spaced else _MIN_CHARACTERS):
        return _unsure(guess, "too little text")
    lead = guess.probability - (0.0 if second is None else likely[second])
    if guess.probability < (_MIN_SHARE_SHORT if is_short else _MIN_SHARE) or lead < _MIN_LEAD:
        return _unsure(guess, f"it could also be {LANGUAGES[guess.runner_up or guess.language].name}")
    if is_short and (np.delete(by_piece, best, axis=1) >= _SHARE_OF_ANOTHER).any():
        return _unsure(guess, "the texts seem to be in several languages")
    common = min(common_counts[best] / (len(hashes) * model.usual_shares[best]), 1.0) if is_spaced else 1.0
    distance = max(_letter_distance(model, best, letters, letter_counts), 0.0)
    if guess.probability + _COMMON_WORDS_FACTOR * common - _LETTERS_FACTOR * distance < _MIN_FIT:
        return _unsure(guess, "it may be a language that is not supported")
    return guess


def _weigh(model: ScriptModel, spelled: SpelledTexts) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """By piece the summed weights of each language and the number of n-grams; the weights say how much they count."""
    if len(model.languages) == 1:  # nothing to weigh
        return np.zeros((1, 1), np.int64), np.ones(1, np.int64)
    return spelled.weigh(model.weights)


def _softmax(logits: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    odds = exponentials(logits - logits.max(axis=-1, keepdims=True))
    shares: npt.NDArray[np.float64] = odds / odds.sum(axis=-1, keepdims=True)
    return shares


def _mean_shares(by_piece: npt.NDArray[np.float64], sizes: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """The mean probability of each language over the pieces, each piece weighted by its number of n-grams."""
    # Whole numbers again, so that the order of the texts does not show in the last bit.
    parts = np.rint(by_piece * (1 << 20)).astype(np.int64) * sizes[:, None]
    total: npt.NDArray[np.float64] = parts.sum(axis=0) / (int(sizes.sum()) << 20)
    return total


def _joint_shares(
    model: ScriptModel,
    sums: npt.NDArray[np.int64],
    sizes: npt.NDArray[np.int64],
    evidence: npt.NDArray[np.float64],
) -> npt.NDArray[np.float64]:
    """The probability of each language given all pieces together and the `evidence` (log odds) of words and letters."""
    prior = np.array([_USUAL * (language == USUAL_LANGUAGE) for language in model.languages])
    return _softmax(sums.sum(axis=0) * (model.scale / np.sqrt(sizes.sum())) + evidence + prior)


def _foreign_letters(
    model: ScriptModel, letters: npt.NDArray[np.uint32], counts: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """By language how many letters of the texts it does not use."""
    if not len(model.letters):
        return np.zeros(len(model.languages), np.int64)
    places, known = _find_letters(model, letters)
    is_foreign = (model.letter_units[:, places] == 0) | ~known
    foreign: npt.NDArray[np.int64] = (is_foreign * counts).sum(axis=1)
    return foreign


def _find_letters(
    model: ScriptModel, letters: npt.NDArray[np.uint32]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """The column of each letter in the model's tables, and whether the model knows it."""
    places = np.minimum(np.searchsorted(model.letters, letters), len(model.letters) - 1)
    return places, model.letters[places] == letters


def _letter_distance(
    model: ScriptModel, language: int, letters: npt.NDArray[np.uint32], counts: npt.NDArray[np.int64]
) -> float:
    """How far the shares of letters are from the usual ones, from 0 to 1, less what chance makes of few letters."""
    if not len(model.letters) or not len(letters):
        return 0.0
    total = int(counts.sum())
    usual = model.letter_units[language].astype(np.float64) / LETTER_UNITS
    places, known = _find_letters(model, letters)
    seen = np.zeros(len(usual))
    seen[places[known]] = counts[known] / total
    alien = counts[~known].sum() / total
    distance = (np.abs(seen - usual).sum() + alien) / 2
    expected = np.sqrt(usual * (1 - usual) * 2 / (np.pi * total)).sum() / 2
    return float(distance - 2 * expected)


def _unsure(guess: Identification, note: str) -> Identification:
    return guess._replace(certain=False, note=note)


def _chinese_or_japanese(han: int, kana: int) -> Identification:
    count = han + kana
    share = kana / count
    low, high = _KANA_SHARES
    language, other = ("ja", "zh") if share > (low + high) / 2 else ("zh", "ja")
    guess = Identification(language, True, 1.0, other, count, "Han", probability=1.0)
    if count < _MIN_HAN:
        return _unsure(guess, "too little text")
    if low < share < high:
        return _unsure(guess, f"it could also be {LANGUAGES[other].name}")
    return guess


@cache
def load_detection() -> Mapping[str, ScriptModel]:
    """By script the shipped model."""
    path = shipped_folder() / f"{KIND}.tesla"
    return models_of(read_resource(path, KIND))


def models_of(resource: Resource) -> dict[str, ScriptModel]:
    """The models in a resource; `ResourceError` if it does not hold any."""
    with interpreting(resource, "model of languages"):
        return {script: ScriptModel(resource, script) for script in resource.info["scripts"]}
