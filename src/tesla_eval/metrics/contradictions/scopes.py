"""Negations, quantifiers and modal words with what they govern, the next content word (specification §13)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tesla_eval.base.arrays import Index
from tesla_eval.language.analysis import AnalysedBatch
from tesla_eval.language.analysis.batch import LemmaMap, WordMap
from tesla_eval.language.analysis.conllu import UNIVERSAL_IDS

Mask = npt.NDArray[np.bool_]

_REACH = 4
"""A word governs the next content word if that is at most so many words away."""
_ADVERB, _VERBS = UNIVERSAL_IDS["ADV"], [UNIVERSAL_IDS["VERB"], UNIVERSAL_IDS["AUX"]]
_NOUNS = [UNIVERSAL_IDS[tag] for tag in ("NOUN", "PROPN")]
_BEFORE_NOUNS = [UNIVERSAL_IDS["ADJ"], *_NOUNS]
"""`no big surprise` denies a surprise: these words are passed over before a noun."""
_QUANTIFIERS = (
    "",
    "all every each both everyone everybody everything always entire whole",
    "most majority mostly usually",
    "many numerous much often",
    "some several sometimes someone somebody certain",
    "few little rarely seldom",
)
_CLASHING_QUANTIFIERS = ((1, 2), (1, 3), (1, 4), (1, 5), (2, 4), (2, 5), (3, 5))
_ALL, _SOME, _FEW = 1, 4, 5
_MODALS = {
    "possible": ("may might maybe perhaps possibly", """can could possible potential potentially probably probable
        likely unlikely chance seem appear suggest reportedly allegedly alleged expect think believe should would if
        whether unclear doubt risk consider possibility plan hope"""),
    "necessary": ("must should", """shall need require have oblige necessary force essential order duty
        demand ought compulsory mandatory supposed tell urge call good better best advise advisable recommend"""),
}  # fmt: skip
"""For each kind of modality, the words that express it, and words by which the other text may paraphrase it."""
_PAST, _OTHER = _TENSES = 1, 2
_TAGS = {"VBD": _PAST, "VBZ": _OTHER, "VBP": _OTHER, "MD": sum(_TENSES)}
_UNCHANGED = "bet burst cast cost cut got hit hurt let put quit read set shed shut split spread".split()  # noqa: SIM905
_FORMS = {
    **dict.fromkeys(_UNCHANGED, sum(_TENSES)),
    **dict.fromkeys(("was", "were", "had", "did"), _PAST),
    **dict.fromkeys(("will", "'ll", "wo"), _OTHER),
}
"""Present and future are one tense: `when does it begin` and `when will it begin`. `quit` and `got` may be any."""
_PERFECT = {**dict.fromkeys(("has", "have", "'ve"), _PAST), **dict.fromkeys(("'s", "'d"), sum(_TENSES))}
"""Before a participle these words mark the past; `'s` may also be `is`."""
_NO = frozenset(["no", "none", "nothing", "nobody", "neither", "nowhere"])


class Scopes(NamedTuple):
    """For every token of a batch the place of the word that governs it, by kind of word; −1 where there is none."""

    negation: Index
    denial: Index
    """As `negation`, but words such as `fail` and `refuse` govern too, and `no` and `nothing` the word before."""
    quantifier: Index
    quantity: npt.NDArray[np.uint32]
    """The meaning of each token that is a quantifier."""
    modals: tuple[Index, ...]
    hedged: tuple[Mask, ...]
    """For each kind of modality, the tokens that express or paraphrase it."""
    tense: Index
    """The tense of each finite verb: one of `_TENSES`, or all for a modal verb; 0 for other tokens."""


class ScopeMarker:
    """Marks the scopes in English texts; in other languages there are none."""

    def __init__(self, language: str) -> None:
        english = language == "en"
        quantity = {word: code for code, words in enumerate(_QUANTIFIERS) for word in words.split()}
        self._quantity = LemmaMap(lambda lemma: quantity.get(lemma, 0) if english else 0)
        self._modals = [
            (_members(words, english), _members(f"{words} {others}", english))
            for words, others in _MODALS.values()
        ]
        self._tense = WordMap(lambda form: _FORMS.get(form.lower(), 0) if english else 0)
        self._has = WordMap(lambda form: _PERFECT.get(form.lower(), 0) if english else 0)
        self._got = WordMap(lambda form: int(form.lower() == "got"))
        self._no = LemmaMap(lambda lemma: int(english and lemma in _NO))
        self._at = LemmaMap(lambda lemma: int(english and lemma == "at"))
        self._articles = LemmaMap(lambda lemma: int(english and lemma == "a"))

    def of(self, batch: AnalysedBatch, negation: Mask, negative: Mask) -> Scopes:
        """The scopes of all texts of a batch; the masks are negations, and words that can stand for one."""
        quantity = self._quantity.of(batch).astype(np.uint32)
        articles = self._articles.of(batch).astype(np.bool_)
        quantity[(quantity == _ALL) & batch.next_to(self._at.of(batch).astype(np.bool_), -1)] = 0  # at all
        quantity[(quantity == _FEW) & batch.next_to(articles, -1)] = _SOME  # a few
        modals, hedged = zip(
            *((words.of(batch) > 0, others.of(batch) > 0) for words, others in self._modals), strict=True
        )
        content = (batch.function == 0) & (quantity == 0) & ~negation & ~np.any(modals, axis=0)
        content &= batch.universal != _ADVERB
        before_noun = batch.next_to(np.isin(batch.universal, _NOUNS), 1)
        content &= ~(np.isin(batch.universal, _BEFORE_NOUNS) & before_noun)
        negated = _governors(batch, negation, content)
        denial = np.maximum(negated, _governors(batch, negative, content))
        before = np.maximum.accumulate(np.where(content, np.arange(len(content)), -1))
        for place in np.flatnonzero(self._no.of(batch)).tolist():  # `has no children` denies the verb too
            first = batch.offsets[np.searchsorted(batch.offsets, place, side="right") - 1]
            if place > first and before[place - 1] >= max(first, place - _REACH):
                denial[before[place - 1]] = place
        return Scopes(
            negated, denial,
            _governors(batch, quantity > 0, content), quantity,
            tuple(_governors(batch, modal, content) for modal in modals), hedged,
            self._tenses(batch),
        )  # fmt: skip

    def _tenses(self, batch: AnalysedBatch) -> Index:
        tags = batch.vocabulary.tags
        tense = np.where(
            self._tense.of(batch) > 0,
            self._tense.of(batch),
            np.array([_TAGS.get(tag, 0) for tag in tags])[batch.tag],
        )
        done = np.array([tag == "VBN" for tag in tags])[batch.tag] & (self._got.of(batch) == 0)
        noun = np.isin(batch.universal, _NOUNS)
        perfect = np.zeros(len(done), np.bool_)
        for _ in range(3):  # `has not yet been`, but not `has his hair cut`
            perfect = batch.next_to(done | (perfect & ~noun), 1)
        has = self._has.of(batch)
        return np.where(perfect & (has > 0), has, tense)


def _members(words: str, english: bool) -> LemmaMap:
    members = frozenset(words.split())
    return LemmaMap(lambda lemma: int(english and lemma in members))


def _governors(batch: AnalysedBatch, words: Mask, content: Mask) -> Index:
    """For every token the last of `words` that governs it, −1 if none does."""
    count = len(words)
    governor = np.full(count, -1)
    places = np.where(content, np.arange(count), count)
    following = np.append(np.minimum.accumulate(places[::-1])[::-1], count)
    place = np.flatnonzero(words)
    target = following[place + 1]
    ends = np.repeat(batch.offsets[1:], batch.lengths)[place]
    clause = (
        np.cumsum(np.append(1, batch.start[1:] > batch.end[:-1].astype(np.int64) + 1)) if count else places
    )
    inside = (target < ends) & (target - place <= _REACH)
    inside[inside] &= clause[target[inside]] == clause[place[inside]]  # no punctuation between
    governor[target[inside]] = place[inside]
    return governor


class _Lemmas(NamedTuple):
    """The content words of one side by pair and lemma: sorted keys, and the token of each."""

    key: Index
    place: Index

    @classmethod
    def of(cls, batch: AnalysedBatch, pair: Index, place: Index) -> _Lemmas:
        content = batch.function[place] == 0
        key = pair[content] * (1 << 32) + batch.lemma[place[content]]
        order = np.argsort(key, kind="stable")
        return cls(key[order], place[content][order])

    def governed(self, governor: Index) -> tuple[Index, Index]:
        """The keys of which every token is governed, with the governor of the last one."""
        keys, first = np.unique(self.key, return_index=True)
        lowest = np.minimum.reduceat(governor[self.place], first) if len(keys) else keys
        return keys[lowest >= 0], np.maximum.reduceat(governor[self.place], first)[lowest >= 0] if len(
            keys
        ) else keys

    def free(self, governor: Index) -> tuple[Index, Index]:
        """The keys of which no token is governed, with their first token."""
        keys, first = np.unique(self.key, return_index=True)
        highest = np.maximum.reduceat(governor[self.place], first) if len(keys) else keys
        return keys[highest < 0], self.place[first][highest < 0]


Side = tuple[AnalysedBatch, Index, Index, Scopes]
"""A batch; for every token of its texts in the pairs, the pair and the place; and the batch's scopes."""


Links = tuple[Index, Index, Index]


def clashes(x: Side, y: Side, count: int) -> dict[str, Links]:
    """For each kind of clash, the pairs and, on both sides, the governing word or the word that nothing governs."""
    words = tuple(_Lemmas.of(*side[:3]) for side in (x, y))
    found: dict[str, list[Links]] = {"scope": [], "quantifier": [], "modality": [], "tense": []}
    for a, b in ((0, 1), (1, 0)):
        one, other = (x, y)[a], (x, y)[b]
        found["scope"].append(_met(words[a].governed(one[3].negation), words[b].free(other[3].denial), a))
        for kind, (mine, theirs) in enumerate(zip(one[3].modals, other[3].modals, strict=True)):
            pair, *places = _met(words[a].governed(mine), words[b].free(theirs), a)
            open_pair = np.bincount(other[1][other[3].hedged[kind][other[2]]], minlength=count) == 0
            kept = open_pair[pair]
            found["modality"].append((pair[kept], places[0][kept], places[1][kept]))
    found["scope"] = _mutual(found["scope"], x, y, count)
    pair, at_x, at_y = _met(words[0].governed(x[3].quantifier), words[1].governed(y[3].quantifier), 0)
    table = np.zeros((len(_QUANTIFIERS), len(_QUANTIFIERS)), np.bool_)
    for one_code, other_code in _CLASHING_QUANTIFIERS:
        table[one_code, other_code] = table[other_code, one_code] = True
    clash = table[x[3].quantity[at_x], y[3].quantity[at_y]]
    found["quantifier"].append((pair[clash], at_x[clash], at_y[clash]))
    (tense_x, at_x), (tense_y, at_y) = (_only_tense(side, count) for side in (x, y))
    verbs = [
        (pair * (1 << 32) + batch.lemma[place])[np.isin(batch.universal[place], _VERBS)]
        for batch, pair, place, _ in (x, y)
    ]
    same_verb = np.bincount(np.intersect1d(verbs[0], verbs[1]) >> 32, minlength=count) > 0
    pair = np.flatnonzero((tense_x != tense_y) & (tense_x > 0) & (tense_y > 0) & same_verb)
    found["tense"].append((pair, at_x[pair], at_y[pair]))
    return {
        kind: tuple(np.concatenate(columns) for columns in zip(*parts, strict=True))  # type: ignore[misc]
        for kind, parts in found.items()
    }


def _only_tense(side: Side, count: int) -> tuple[Index, Index]:
    """For each pair the tense of all finite verbs of a text, 0 if they differ, and the last such verb."""
    _, pair, place, scopes = side
    finite = scopes.tense[place] > 0
    tenses, verbs = np.zeros(count, np.int64), np.full(count, -1)
    np.bitwise_or.at(tenses, pair[finite], scopes.tense[place[finite]])
    verbs[pair[finite]] = place[finite]
    return np.where(np.isin(tenses, _TENSES), tenses, 0), verbs


def _mutual(links: list[Links], x: Side, y: Side, count: int) -> list[Links]:
    """The denials of one text; where both texts deny something, only those that answer each other."""
    denying = [np.bincount(side[1][side[3].negation[side[2]] >= 0], minlength=count) > 0 for side in (x, y)]
    answered = [np.bincount(pair, minlength=count) > 0 for pair, _, _ in links]
    kept = ~(denying[0] & denying[1]) | (answered[0] & answered[1])
    return [(pair[kept[pair]], at_x[kept[pair]], at_y[kept[pair]]) for pair, at_x, at_y in links]


def _met(one: tuple[Index, Index], other: tuple[Index, Index], first: int) -> Links:
    """The keys of both: their pair and their places, those of side `first` of a comparison in `one`."""
    keys, at_one, at_other = np.intersect1d(one[0], other[0], assume_unique=True, return_indices=True)
    places = (one[1][at_one], other[1][at_other])
    return keys >> 32, *(places if first == 0 else places[::-1])
