"""Which language texts are written in: script first, then letters, character n-grams and common words.

Work is bounded: a fixed number of short pieces, spread evenly over the texts, decides. Every piece is scored by a
linear model per script whose weights are whole numbers, so up to `MAX_PIECES` texts give the same answer in any order.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from tesla_eval.base.errors import ResourceError
from tesla_eval.base.resources import Resource, read_resource, shipped_folder
from tesla_eval.language.analysis.languages import LANGUAGES, UNDETERMINED, resolve_language

__all__ = [
    "MAX_PIECES",
    "PIECE_LENGTH",
    "Identification",
    "ScriptModel",
    "contradicts",
    "identify",
    "load_detection",
    "ngram_buckets",
    "script_of",
    "word_hashes",
    "words_by_text",
]

KIND = "detection"
MAX_PIECES = 128
PIECE_LENGTH = 160
LETTER_UNITS = 50_000
"""The whole numbers in which shares of letters are stored."""

Codes = npt.NDArray[np.uint64]
Positions = npt.NDArray[np.int64]

_SCRIPT_STARTS = (
    (0x0041, "Latin"), (0x0250, ""), (0x0370, "Greek"), (0x0400, "Cyrillic"), (0x0530, "Armenian"),
    (0x0590, "Hebrew"), (0x0600, "Arabic"), (0x0700, ""), (0x0750, "Arabic"), (0x0780, ""),
    (0x08A0, "Arabic"), (0x0900, "Devanagari"), (0x0980, ""), (0x0E00, "Thai"), (0x0E80, ""),
    (0x10A0, "Georgian"), (0x1100, "Hangul"), (0x1200, ""), (0x1C80, "Cyrillic"), (0x1C90, "Georgian"),
    (0x1CC0, ""), (0x1E00, "Latin"), (0x1F00, "Greek"), (0x2000, ""), (0x2D00, "Georgian"), (0x2D30, ""),
    (0x3005, "Han"), (0x3008, ""), (0x3041, "Kana"), (0x3100, ""), (0x3130, "Hangul"), (0x3190, ""),
    (0x31F0, "Kana"), (0x3200, ""), (0x3400, "Han"), (0xA000, ""), (0xA640, "Cyrillic"), (0xA6A0, ""),
    (0xAC00, "Hangul"), (0xD7B0, ""), (0xF900, "Han"), (0xFB00, "Latin"), (0xFB13, "Armenian"),
    (0xFB1D, "Hebrew"), (0xFB50, "Arabic"), (0xFE00, ""), (0xFE70, "Arabic"), (0xFF00, "Latin"),
    (0xFF66, "Kana"), (0xFFA0, ""), (0x20000, "Han"), (0x32000, ""),
)  # fmt: skip
_STARTS = [start for start, _ in _SCRIPT_STARTS]
OTHER_SCRIPT = "other"

_LETTER_WEIGHT = {"Han": 3, "Kana": 2, "Hangul": 2}
"""One such character says as much as several letters."""

RELATED = (
    frozenset({"da", "nn", "no", "sv"}), frozenset({"hr", "sl", "sr"}), frozenset({"cs", "sk"}),
    frozenset({"ca", "es", "gl", "pt"}), frozenset({"af", "nl"}), frozenset({"be", "ru", "uk"}),
)  # fmt: skip
"""Languages that short texts do not tell apart."""

# The figures below decide what is certain, not which language is named. They were chosen by looking at chunks of the
# treebanks and of translated messages in supported and in other languages (research/detection.py).
_MIN_SCRIPT_SHARE = 0.7
_MIN_SHARE, _MIN_LEAD = 0.5, 0.25
_LONG = 100
"""In fewer words only a share of `_MIN_SHARE_SHORT` is certain."""
_MIN_SHARE_SHORT = 0.95
_COMMON_WORDS_FACTOR, _LETTERS_FACTOR, _MIN_FIT = 0.7, 4.0, 1.2
"""How well a text fits: share, common words and spread of letters make up for each other."""
_MIN_WORDS = 10
_MIN_HAN = 6
_KANA_SHARES = 0.02, 0.1
"""Chinese has at most the first share of kana among its characters, Japanese at least the second."""
_WORDS_TO_CONTRADICT = 30
_SHARE_TO_CONTRADICT_RELATED = 0.85


@dataclass(frozen=True)
class Identification:
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
    note: str
    """Why the answer is not certain, as the end of a sentence; empty if it is."""


@dataclass(frozen=True)
class ScriptModel:
    """What is known of the languages that share a script."""

    languages: tuple[str, ...]
    weights: npt.NDArray[np.float32]
    """One row per bucket of n-grams, one column per language; no rows where one language has the script."""
    scale: float
    letters: Codes
    """The letters of all these languages, sorted; none for Hangul, which has too many."""
    letter_shares: npt.NDArray[np.float64]
    """One row per language, one column per letter."""
    common_words: tuple[npt.NDArray[np.uint16], ...]
    """By language hashes of its commonest words."""
    usual_shares: tuple[float, ...]
    """By language the usual share of those words in a text; 0 where words are not separated."""


def identify(texts: Sequence[str]) -> Identification:
    """The language of `texts`, which belong together: the references of a test set, or a single sentence.

    >>> identify(["Der Hund schläft unter dem Tisch, und die Katze sitzt auf dem Dach."]).language
    'de'
    >>> identify(["12:30", "!!!"])
    Identification(language='und', certain=False, share=0.0, runner_up=None, words=0, script='', note='no letters')
    """
    pieces = _sample(texts)
    codes, piece_of = words_by_text(pieces)
    letters, inverse = np.unique(codes, return_inverse=True)
    scripts = [script_of(int(letter)) for letter in letters]
    totals: dict[str, int] = {}
    for script, count in zip(scripts, np.bincount(inverse).tolist(), strict=True):
        if script:
            joined = "Han" if script == "Kana" else script
            totals[joined] = totals.get(joined, 0) + count * _LETTER_WEIGHT.get(script, 1)
    if not totals:
        return Identification(UNDETERMINED.code, False, 0.0, None, 0, "", "no letters")
    script = max(totals, key=lambda name: (totals[name], name))
    script_share = totals[script] / sum(totals.values())
    if script == OTHER_SCRIPT:
        examples = [int(letter) for letter, name in zip(letters, scripts, strict=True) if name == script]
        name = unicodedata.name(chr(examples[0]), "unknown").split()[0].title()
        note = f"no supported language is written in this script ({name})"
        return Identification(UNDETERMINED.code, False, 0.0, None, 0, name, note)
    wanted = np.array([name == script for name in scripts])
    if script == "Han":
        kana = np.array([name == "Kana" for name in scripts])
        identified = _chinese_or_japanese(
            int(np.count_nonzero(wanted[inverse])), int(np.count_nonzero(kana[inverse]))
        )
    else:
        own = np.where(wanted[inverse], codes, np.uint64(0))
        identified = _score(load_detection()[script], script, *_single_gaps(own, piece_of))
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
            if identified.words >= _MIN_WORDS or (identified.script and identified.language == "und")
            else None
        )
    if not identified.certain or identified.words < _WORDS_TO_CONTRADICT:
        return None
    related = any({code, identified.language} <= group for group in RELATED)
    return None if related and identified.share < _SHARE_TO_CONTRADICT_RELATED else identified


def script_of(letter: int) -> str:
    """The script of a letter given as a code point: empty for what is no letter, `other` for unsupported scripts.

    >>> script_of(ord("ж")), script_of(ord("7")), script_of(ord("ক"))
    ('Cyrillic', '', 'other')
    """
    character = chr(letter)
    if not (character.isalpha() or unicodedata.category(character) in {"Mn", "Mc"}):
        return ""
    name = _SCRIPT_STARTS[bisect_right(_STARTS, letter) - 1][1] if letter >= _STARTS[0] else ""
    return name or (OTHER_SCRIPT if character.isalpha() and letter >= 0x0700 else "")


def _scripts_of(code: str) -> set[str]:
    if code in {"zh", "ja"}:
        return {"Han"}
    return {script for script, model in load_detection().items() if code in model.languages}


def _sample(texts: Sequence[str]) -> list[str]:
    """Pieces spread evenly over the texts, as many at most as are looked at."""
    if isinstance(texts, str):
        texts = [texts]
    count = len(texts)
    chosen = texts if count <= MAX_PIECES else [texts[i * count // MAX_PIECES] for i in range(MAX_PIECES)]
    longest = PIECE_LENGTH * (MAX_PIECES // max(len(chosen), 1))
    return [
        text[start : start + PIECE_LENGTH]
        for text in chosen
        for start in range(0, min(len(text), longest), PIECE_LENGTH)
    ]


_ADDRESS = re.compile(r"[!-~]*(?:://|[@_<>=\\]|www\.|\.[a-z]{2,4}/)[!-~]*")
"""Addresses, markup and code are in no language."""


def words_by_text(texts: Sequence[str]) -> tuple[Codes, Positions]:
    """Small letters of all texts as code points, with one 0 between words; and the number of the text of each."""
    cleaned = [_ADDRESS.sub(" ", text.lower()).replace("\n", " ") for text in texts]
    texts = [unicodedata.normalize("NFC", text).replace("\u0307", "") for text in cleaned]
    joined = "\n".join(["", *texts, ""])
    codes = np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), dtype="<u4")
    distinct, inverse = np.unique(codes, return_inverse=True)
    is_letter = np.array([bool(script_of(int(code))) for code in distinct])
    text_of = np.maximum(np.cumsum(codes == ord("\n")) - 1, 0)
    return _single_gaps(np.where(is_letter[inverse], codes, 0).astype(np.uint64), text_of)


def _single_gaps(codes: Codes, text_of: Positions) -> tuple[Codes, Positions]:
    keep = np.ones(len(codes), dtype=bool)
    keep[1:] = (codes[1:] != 0) | (codes[:-1] != 0)
    return codes[keep], text_of[keep]


_BASE = 0x9E3779B97F4A7C15
_BASE_INVERSE = pow(_BASE, -1, 1 << 64)
_MIXER = np.uint64(0xD6E8FEB86659FD93)
_NGRAM_LENGTHS = (1, 2, 3, 4)


class _RollingHash:
    """Hashes of any stretch of letters, from sums of powers modulo 2**64."""

    def __init__(self, codes: Codes) -> None:
        self._powers = _powers(_BASE, len(codes) + 1)
        self._inverses = _powers(_BASE_INVERSE, len(codes) + 1)
        self._sums = np.zeros(len(codes) + 1, dtype=np.uint64)
        np.cumsum((codes + np.uint64(1)) * self._powers[:-1], out=self._sums[1:])

    def __call__(self, starts: Positions, lengths: Positions | int) -> Codes:
        mixed: Codes = (self._sums[starts + lengths] - self._sums[starts]) * self._inverses[starts]
        mixed ^= mixed >> np.uint64(32)
        mixed *= _MIXER
        mixed ^= mixed >> np.uint64(29)
        mixed *= _MIXER
        return mixed


def _powers(base: int, count: int) -> Codes:
    powers = np.full(count, base, dtype=np.uint64)
    powers[0] = 1
    return np.cumprod(powers, dtype=np.uint64)


def _words(codes: Codes) -> tuple[Positions, Positions]:
    """Where words begin, from the gap before to the gap behind, and how long they are with both gaps."""
    gaps = np.flatnonzero(codes == 0)
    return gaps[:-1], np.diff(gaps) + 1


def word_hashes(codes: Codes) -> npt.NDArray[np.uint16]:
    """A small hash of every word."""
    return (_RollingHash(codes)(*_words(codes)) >> np.uint64(48)).astype(np.uint16)


def ngram_buckets(codes: Codes, text_of: Positions, bits: int) -> tuple[Positions, Positions]:
    """The buckets of all n-grams inside words and of longer words, and the text of each; texts come in order."""
    size = len(codes)
    hashes = _RollingHash(codes)
    next_gap = np.append(np.where(codes == 0, np.arange(size), size), [size, size])
    next_gap = np.minimum.accumulate(next_gap[::-1])[::-1]
    starts, lengths = [], []
    for length in _NGRAM_LENGTHS:
        first = np.arange(max(size - length + 1, 0))
        inside = first[codes[first] != 0] if length == 1 else first[next_gap[first + 1] >= first + length - 1]
        starts.append(inside)
        lengths.append(np.full(len(inside), length))
    word_starts, word_lengths = _words(codes)
    is_longer = word_lengths > _NGRAM_LENGTHS[-1]
    start = np.concatenate([*starts, word_starts[is_longer]])
    length_of = np.concatenate([*lengths, word_lengths[is_longer]])
    owner = text_of[start + (codes[start] == 0)]  # the gap before a word may belong to the text before
    order = np.argsort(owner, kind="stable")
    start, length_of, owner = start[order], length_of[order], owner[order]
    return (hashes(start, length_of) >> np.uint64(64 - bits)).astype(np.int64), owner


def _score(model: ScriptModel, script: str, codes: Codes, piece_of: Positions) -> Identification:
    hashes = word_hashes(codes)
    words = len(hashes)
    shares = _shares(model, codes, piece_of)
    ranking = np.argsort(-shares, kind="stable").tolist()
    best = ranking[0]
    second = ranking[1] if len(ranking) > 1 else None
    spaced = model.usual_shares[best] > 0
    count = words if spaced else int(np.count_nonzero(codes))
    guess = Identification(
        model.languages[best], True, float(shares[best]), None if second is None else model.languages[second],
        count, script, "",
    )  # fmt: skip
    if count < _MIN_WORDS:
        return _unsure(guess, "too little text")
    lead = shares[best] - (0.0 if second is None else shares[second])
    if guess.share < (_MIN_SHARE if count >= _LONG else _MIN_SHARE_SHORT) or lead < _MIN_LEAD:
        return _unsure(guess, f"it could also be {LANGUAGES[guess.runner_up or guess.language].name}")
    common = 1.0
    if spaced:
        is_common = np.zeros(1 << 16, bool)  # one place for each hash of 16 bits
        is_common[model.common_words[best]] = True
        common_words = np.count_nonzero(is_common[hashes])
        common = min(common_words / (words * model.usual_shares[best]), 1.0)
    distance = max(_letter_distance(model, best, codes), 0.0)
    if guess.share + _COMMON_WORDS_FACTOR * common - _LETTERS_FACTOR * distance < _MIN_FIT:
        return _unsure(guess, "it may be a language that is not supported")
    return guess


def _letter_distance(model: ScriptModel, language: int, codes: Codes) -> float:
    """How far the shares of letters are from the usual ones, from 0 to 1, less what chance makes of few letters."""
    letters, counts = np.unique(codes[codes != 0], return_counts=True)
    if not len(model.letters) or not len(letters):
        return 0.0
    total = int(counts.sum())
    usual = model.letter_shares[language]
    places = np.minimum(np.searchsorted(model.letters, letters), len(model.letters) - 1)
    known = model.letters[places] == letters
    seen = np.zeros(len(usual))
    seen[places[known]] = counts[known] / total
    alien = counts[~known].sum() / total
    distance = (np.abs(seen - usual).sum() + alien) / 2
    expected = np.sqrt(usual * (1 - usual) * 2 / (np.pi * total)).sum() / 2
    return float(distance - 2 * expected)


def _unsure(guess: Identification, note: str) -> Identification:
    return Identification(
        guess.language, False, guess.share, guess.runner_up, guess.words, guess.script, note
    )


def _shares(model: ScriptModel, codes: Codes, piece_of: Positions) -> npt.NDArray[np.float64]:
    """By language the mean of its probability, every n-gram of a piece being as likely as the piece."""
    if len(model.languages) == 1:
        return np.ones(1)
    buckets, pieces = ngram_buckets(codes, piece_of, len(model.weights).bit_length() - 1)
    firsts = np.flatnonzero(np.diff(pieces, prepend=-1))
    # Sums of small whole numbers: exact in 32-bit floats, whatever the order.
    sums = np.add.reduceat(model.weights[buckets], firsts, axis=0).astype(np.float64)
    sizes = np.diff(np.append(firsts, len(pieces)))
    logits = sums * (model.scale / np.sqrt(sizes))[:, None]
    odds = np.exp(logits - logits.max(axis=1, keepdims=True))
    # Whole numbers again, so that the order of the texts does not show in the last bit.
    parts = np.rint(odds / odds.sum(axis=1, keepdims=True) * (1 << 20)).astype(np.int64) * sizes[:, None]
    total: npt.NDArray[np.float64] = parts.sum(axis=0) / (int(sizes.sum()) << 20)
    return total


def _chinese_or_japanese(han: int, kana: int) -> Identification:
    count = han + kana
    share = kana / count
    low, high = _KANA_SHARES
    language, other = ("ja", "zh") if share > (low + high) / 2 else ("zh", "ja")
    guess = Identification(language, True, 1.0, other, count, "Han", "")
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
    try:
        return {script: _model(resource, script, entry) for script, entry in resource.info["scripts"].items()}
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ResourceError(
            f"{resource.path}: is no sound model of languages; reinstall or rebuild it"
        ) from error


def _model(resource: Resource, script: str, entry: Mapping[str, Any]) -> ScriptModel:
    languages = tuple(entry["languages"])
    weights = np.zeros((0, len(languages)), np.float32)
    if len(languages) > 1:
        stored = resource.arrays[f"weights {script}"]
        if (
            stored.ndim != 2
            or stored.shape[1] != len(languages)
            or len(stored) & (len(stored) - 1)
            or not len(stored)
        ):
            raise ValueError("the weights have another shape")
        weights = stored.astype(np.float32)
    common = resource.arrays[f"words {script}"]
    if common.ndim != 2 or len(common) != len(languages):
        raise ValueError("the common words have another shape")
    letters = np.array([ord(letter) for letter in entry["letters"]], dtype=np.uint64)
    letter_shares = resource.arrays[f"letters {script}"].astype(np.float64) / LETTER_UNITS
    usual = tuple(float(share) for share in entry["usual shares"])
    if (
        letter_shares.shape != (len(languages), len(letters))
        or (np.diff(letters.astype(np.int64)) <= 0).any()
    ):
        raise ValueError("the letters have another shape")
    if len(usual) != len(languages) or not set(languages) <= LANGUAGES.keys():
        raise ValueError("another number of languages")
    scale = float(entry.get("scale", 1.0))
    return ScriptModel(languages, weights, scale, letters, letter_shares, tuple(common), usual)
