"""What makes two texts contradict each other: a negation, a number, an antonym, exchanged roles (specification §13).

Whole batches are compared with NumPy: tokens are marked once per text, by word type, and words that both texts of a
pair have are set aside. Only pairs in which roles may be exchanged are parsed.
"""

from __future__ import annotations

from dataclasses import dataclass
from operator import eq
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tesla_eval.base.arrays import FloatArray, Index
from tesla_eval.base.explanations import Contradiction
from tesla_eval.language.analysis import AnalysedBatch
from tesla_eval.language.analysis.antonyms import AntonymTable, load_antonyms
from tesla_eval.language.analysis.batch import LemmaMap, WordMap
from tesla_eval.language.analysis.conllu import UNIVERSAL_IDS
from tesla_eval.metrics.contradictions.exchanges import CONVERSE, Exchange, ExchangeFinder
from tesla_eval.metrics.contradictions.numerals import NOT_NUMBER, UNITS, Number, joined_numbers, number_value
from tesla_eval.metrics.contradictions.scopes import ScopeMarker, Scopes, clashes

CONTRADICTIONS = (
    "negation",
    "number",
    "lone number",
    "antonym",
    "roles",
    "scope",
    "quantifier",
    "modality",
    "tense",
    "name",
)
"""The kinds, in the order of the columns. A lone number has no counterpart in the other text; a scope is that of a
negation, of which each text may have one."""

_NEGATIONS = frozenset(
    "not no never none nobody nothing nowhere neither nor hardly scarcely barely rarely seldom".split()  # noqa: SIM905
)
_NO_NEGATION_BEFORE = frozenset({"only", "just", "least", "merely", "simply", "but"})
"""`not only` and `nothing but` deny nothing."""
_NEGATIVE = frozenset(
    """without unable impossible forbidden prohibited banned fail failure refuse refusal deny denial reject rejection
    decline lack ignore forbid prohibit ban prevent avoid cancel miss missing absent absence empty few little unlikely
    unaware unless stop quit cease away against down doubt oppose block exclude abandon omit resist disagree same
    remain stay other wrong nonexistent minus stranger off former free out too""".split()  # noqa: SIM905
)
"""Words that can express a negation of the other text: `did not accept` and `turned down`."""
_COMPARATIVES = ("JJR", "RBR")
"""Comparatives are like converses: `taller` and `shorter` say the same when the participants change places."""


@dataclass(frozen=True)
class Marks:
    """The tokens of a batch with everything that contradictions are found by."""

    batch: AnalysedBatch
    negation: npt.NDArray[np.bool_]
    negative: npt.NDArray[np.bool_]
    by_lemma: npt.NDArray[np.uint32]
    """Each token's number in the table of antonyms, by its lemma; 0 if it has no antonym."""
    by_form: npt.NDArray[np.uint32]
    number: npt.NDArray[np.uint32]
    """0 for no number, 1 for one that may be missing, 2 for one that may not."""
    value: FloatArray
    unit: npt.NDArray[np.bool_]
    noun: npt.NDArray[np.bool_]
    name: npt.NDArray[np.bool_]
    by_agent: npt.NDArray[np.bool_]
    """The word `by`: it tells the passive voice from the active."""
    scopes: Scopes


class _Side(NamedTuple):
    """The tokens of one text of each pair: the pair and the place of every token."""

    marks: Marks
    pair: Index
    place: Index

    @classmethod
    def of(cls, marks: Marks, texts: Index) -> _Side:
        lengths = marks.batch.lengths[texts]
        ends = np.cumsum(lengths)
        pair = np.repeat(np.arange(len(texts)), lengths)
        within = np.arange(len(pair)) - np.repeat(ends - lengths, lengths)
        return cls(marks, pair, np.repeat(marks.batch.offsets[:-1][texts], lengths) + within)

    @property
    def scoped(self) -> tuple[AnalysedBatch, Index, Index, Scopes]:
        return self.marks.batch, self.pair, self.place, self.marks.scopes

    def chosen(self, mask: npt.NDArray[np.bool_]) -> _Side:
        return _Side(self.marks, self.pair[mask], self.place[mask])


class _Links(NamedTuple):
    """What was found: the pair and the places of the words behind it, −1 where a text has no such word."""

    pair: Index
    reference: Index
    hypothesis: Index


class ContradictionFinder:
    """Finds contradictions between texts of one language.

    For languages other than English there are no lists of words: numbers in digits are compared, and antonyms where a
    table is installed. `exchanges` finds participants that changed places; by default without a parser.
    """

    def __init__(self, language: str, exchanges: ExchangeFinder | None = None) -> None:
        self.language = language
        english = language == "en"
        self.antonyms: AntonymTable | None = load_antonyms(language, CONVERSE if english else frozenset())
        self._exchanges = exchanges or ExchangeFinder()
        self._scopes = ScopeMarker(language)
        self._negations = LemmaMap(lambda lemma: int(english and lemma in _NEGATIONS))
        self._harmless = LemmaMap(lambda lemma: int(english and lemma in _NO_NEGATION_BEFORE))
        self._negatives = LemmaMap(lambda lemma: int(english and self._is_negative(lemma)))
        self._antonym_of_lemma = LemmaMap(self._antonym_number)
        self._antonym_of_form = WordMap(lambda form: self._antonym_number(form.lower()))
        self._units = LemmaMap(lambda lemma: int(english and lemma in UNITS))
        self._agents = LemmaMap(lambda lemma: int(english and lemma == "by"))
        self._capitals = WordMap(lambda form: int(english and form[:1].isupper()))
        self._numbers: list[Number] = [Number(NOT_NUMBER, 0.0)]
        self._number_of = WordMap(self._new_number)

    @property
    def signature(self) -> dict[str, str]:
        """The fingerprints of what it reads."""
        table = "none" if self.antonyms is None else self.antonyms.fingerprint
        return {"antonyms": table, **self._exchanges.signature}

    def _is_negative(self, lemma: str) -> bool:
        return lemma in _NEGATIVE or (self.antonyms is not None and self.antonyms.is_negative(lemma))

    def _antonym_number(self, word: str) -> int:
        return self.antonyms.number(word) if self.antonyms is not None and word not in _NEGATIONS else 0

    def _new_number(self, form: str) -> int:
        number = number_value(form)
        if number.role == NOT_NUMBER or (self.language != "en" and not form[0].isdigit()):
            return 0
        self._numbers.append(number)
        return len(self._numbers) - 1

    def prepare(self, batch: AnalysedBatch) -> Marks:
        """The marks of all tokens, each word type looked at once."""
        numbers = self._number_of.of(batch)
        table = np.array(self._numbers.copy())  # other threads may add numbers meanwhile
        first = np.zeros(len(batch.word), np.bool_)
        first[batch.offsets[:-1][batch.lengths > 0]] = True
        number, value = joined_numbers(table[numbers, 0].astype(np.int64), table[numbers, 1], first)
        negation = self._negations.of(batch).astype(np.bool_)
        harmless = self._harmless.of(batch).astype(np.bool_) & ~first
        negation[:-1] &= ~harmless[1:]
        negative = self._negatives.of(batch).astype(np.bool_)
        noun = np.isin(batch.universal, [UNIVERSAL_IDS[tag] for tag in ("NOUN", "PROPN", "PRON")])
        return Marks(
            batch, negation, negative, self._antonym_of_lemma.of(batch),
            self._antonym_of_form.of(batch), number, value, self._units.of(batch).astype(np.bool_), noun,
            self._names(batch), self._agents.of(batch).astype(np.bool_), self._scopes.of(batch, negation, negative),
        )  # fmt: skip

    def _names(self, batch: AnalysedBatch) -> npt.NDArray[np.bool_]:
        """Proper nouns with a capital, but none in headlines, which write every content word so."""
        capital = self._capitals.of(batch).astype(np.bool_)
        text = np.repeat(np.arange(len(batch)), batch.lengths)
        plain = _has(text[~capital & (batch.function == 0)], len(batch))
        return np.asarray(capital & (batch.universal == UNIVERSAL_IDS["PROPN"]) & plain[text])

    def compare(self, reference: Marks, hypothesis: Marks, i: Index, j: Index) -> FloatArray:
        """For every pair which kinds of contradiction it has: 0 or 1, in the order of `CONTRADICTIONS`."""
        columns = np.zeros((len(i), len(CONTRADICTIONS)))
        links, exchanges = self._find(reference, hypothesis, i, j)
        for kind, pairs in links.items():
            columns[pairs.pair, CONTRADICTIONS.index(kind)] = 1.0
        columns[list(exchanges), CONTRADICTIONS.index("roles")] = 1.0
        return columns

    def explain(self, reference: Marks, hypothesis: Marks) -> tuple[Contradiction, ...]:
        """The contradictions between the only texts of two batches, with the words behind them."""
        first = np.zeros(1, np.int64)
        links, exchanges = self._find(reference, hypothesis, first, first)
        if len(links["negation"].pair):
            del links["scope"]  # the same again
        words = [
            Contradiction(kind, _surface(reference, x), _surface(hypothesis, y))
            for kind, pairs in links.items()
            for x, y in zip(pairs.reference.tolist(), pairs.hypothesis.tolist(), strict=True)
        ]
        roles = [
            Contradiction("roles", " ".join((a, verb, b)), " ".join((b, verb, a)))
            for verb, a, b in exchanges.values()
        ]
        return tuple(dict.fromkeys([*words, *roles]))

    def _find(
        self, reference: Marks, hypothesis: Marks, i: Index, j: Index
    ) -> tuple[dict[str, _Links], dict[int, Exchange]]:
        """The words behind all contradictions by kind, and the exchanges of roles by pair."""
        x, y = _Side.of(reference, i), _Side.of(hypothesis, j)
        count = len(i)
        lemma_x, lemma_y = reference.batch.lemma[x.place], hypothesis.batch.lemma[y.place]
        own_x, own_y = unshared(x.pair, lemma_x, y.pair, lemma_y)
        inverted = _inverted(x, y, count)
        antonyms = self._antonym_links(x.chosen(own_x), y.chosen(own_y))
        negations = _negation_links(x, y, count)
        negative = np.bincount(x.pair[own_x & reference.negative[x.place]], minlength=count) + np.bincount(
            y.pair[own_y & hypothesis.negative[y.place]], minlength=count
        )
        has_antonym, has_negation = (_has(links.pair, count) for links in (antonyms, negations))
        scopes = {kind: _Links(*places) for kind, places in clashes(x.scoped, y.scoped, count).items()}
        alike, related = (
            _mostly_shared(x, own_x, count, share) & _mostly_shared(y, own_y, count, share)
            for share in (6, 2)
        )
        unbalanced = ~has_antonym & (negative == 0)
        converted = np.all(
            [_has(s.pair[own & s.marks.unit[s.place]], count) for s, own in ((x, own_x), (y, own_y))], axis=0
        )
        links = {
            "negation": _of_pairs(negations, unbalanced),
            **_number_links(x, y, count, converted),
            "name": _of_pairs(_name_links(x.chosen(own_x), y.chosen(own_y), count), related),
            "antonym": _of_pairs(antonyms, ~has_negation),
            "scope": _of_pairs(scopes["scope"], ~has_negation | unbalanced),
            "quantifier": _of_pairs(scopes["quantifier"], ~has_negation),
            "modality": _of_pairs(scopes["modality"], unbalanced),
            "tense": _of_pairs(scopes["tense"], alike),
        }
        return links, self._find_exchanges(x, y, i, j, inverted, alike)

    def _antonym_links(self, x: _Side, y: _Side) -> _Links:
        table = self.antonyms
        if table is None:
            return _NO_LINKS
        parts = []
        for name in ("by_lemma", "by_form"):
            numbers_x, numbers_y = getattr(x.marks, name)[x.place], getattr(y.marks, name)[y.place]
            counts = table.ends[numbers_x + 1] - table.ends[numbers_x]
            counts[numbers_x == 0] = 0
            owner = np.repeat(np.arange(len(counts)), counts)
            within = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
            opposite = table.opposites[table.ends[numbers_x[owner]] + within]
            size = len(table.words) + 1
            wanted, present = x.pair[owner] * size + opposite, y.pair * size + numbers_y
            order = np.argsort(present, kind="stable")
            spot = np.searchsorted(present[order], wanted)
            hit = np.flatnonzero(spot < len(present))
            hit = hit[present[order][spot[hit]] == wanted[hit]]
            partner = order[spot[hit]]
            parts.append(_Links(x.pair[owner[hit]], x.place[owner[hit]], y.place[partner]))
        links = _all_of(*parts)
        kept = [k for k in range(len(links.pair)) if _opposes(x, y, links, k)]
        links = _Links(*(column[kept] for column in links))
        _, first = np.unique(np.stack(links), axis=1, return_index=True)
        return _Links(*(column[np.sort(first)] for column in links))

    def _find_exchanges(
        self,
        x: _Side,
        y: _Side,
        i: Index,
        j: Index,
        inverted: npt.NDArray[np.bool_],
        alike: npt.NDArray[np.bool_],
    ) -> dict[int, Exchange]:
        """Exchanged roles, looked for between texts of nearly the same words.

        Parsing takes time. It is worth it where nouns changed places, or where one text only names an agent with `by`.
        """
        passive_x, passive_y = (_has(side.pair[side.marks.by_agent[side.place]], len(i)) for side in (x, y))
        moved = alike & (inverted | (passive_x != passive_y))
        suspects = np.flatnonzero(moved & (_shared_nouns(x, y, len(i)) >= 2))
        exchanges = self._exchanges.find(x.marks.batch, y.marks.batch, i[suspects], j[suspects])
        return {int(suspects[k]): exchange for k, exchange in exchanges.items()}


def _opposes(x: _Side, y: _Side, links: _Links, k: int) -> bool:
    """Whether two antonyms contradict each other: not if either has a synonym on the other side, or if `buy` and
    `sell` are said of different people."""
    batch, places = x.marks.batch, (int(links.reference[k]), int(links.hypothesis[k]))
    lexicon = batch.vocabulary.lexicon
    one, other = int(batch.lemma[places[0]]), int(y.marks.batch.lemma[places[1]])
    compared = batch.vocabulary.tags[batch.tag[places[0]]] in _COMPARATIVES
    if compared or frozenset((lexicon.lemma(one), lexicon.lemma(other))) in CONVERSE:
        return _subject(x.marks, places[0]) == _subject(y.marks, places[1]) is not None
    for lemma, opposite, side in ((one, other, y), (other, one, x)):
        senses = set(lexicon.senses(lemma))
        rivals = set(side.marks.batch.lemma[side.place[side.pair == links.pair[k]]].tolist()) - {opposite}
        if any(not senses.isdisjoint(lexicon.senses(rival)) for rival in rivals):
            return False
    return True


def _subject(marks: Marks, place: int) -> int | None:
    """The lemma of the noun before a word, or after it at the start of a text; `None` for a passive verb."""
    batch = marks.batch
    if batch.vocabulary.tags[batch.tag[place]] == "VBN":
        return None
    first, end = _bounds(batch, place)
    before, after = (np.flatnonzero(marks.noun[a:b]) + a for a, b in ((first, place), (place + 1, end)))
    nearest = before[-1:] if len(before) else after[:1]
    return int(batch.lemma[nearest[0]]) if len(nearest) else -1


_NOTHING = np.zeros(0, np.int64)
_NO_LINKS = _Links(_NOTHING, _NOTHING, _NOTHING)


def unshared(
    pair_x: Index, key_x: npt.NDArray[np.uint32], pair_y: Index, key_y: npt.NDArray[np.uint32]
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Which tokens of either side have no equal in the other text of their pair."""
    size = int(max(key_x.max(initial=0), key_y.max(initial=0))) + 1
    x, y = pair_x * size + key_x, pair_y * size + key_y
    return ~np.isin(x, y), ~np.isin(y, x)


def _has(pairs: Index, count: int) -> npt.NDArray[np.bool_]:
    return np.bincount(pairs, minlength=count) > 0


def _mostly_shared(side: _Side, own: npt.NDArray[np.bool_], count: int, share: int) -> npt.NDArray[np.bool_]:
    """Whether the other text lacks at most one content word of this text, or at most one in `share` words."""
    content = side.marks.batch.function[side.place] == 0
    lacking = np.bincount(side.pair[own & content], minlength=count)
    return np.asarray(share * lacking <= np.maximum(share, np.bincount(side.pair[content], minlength=count)))


def _of_pairs(links: _Links, wanted: npt.NDArray[np.bool_]) -> _Links:
    kept = wanted[links.pair]
    return _Links(*(column[kept] for column in links))


def _one_sided(side: _Side, is_reference: bool) -> _Links:
    missing = np.full(len(side.pair), -1)
    return _Links(side.pair, *((side.place, missing) if is_reference else (missing, side.place)))


def _all_of(*parts: _Links) -> _Links:
    return _Links(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def _negation_links(x: _Side, y: _Side, count: int) -> _Links:
    """The negations of pairs in which only one text has a negation."""
    x, y = (side.chosen(side.marks.negation[side.place]) for side in (x, y))
    alone = (one.chosen(~_has(other.pair, count)[one.pair]) for one, other in ((x, y), (y, x)))
    return _all_of(*map(_one_sided, alone, (True, False)))


def _changed(x: _Side, y: _Side, count: int) -> _Links:
    """The first token of each side, for pairs in which both sides have tokens."""
    (pairs_x, first_x), (pairs_y, first_y) = (np.unique(side.pair, return_index=True) for side in (x, y))
    pairs, at_x, at_y = np.intersect1d(pairs_x, pairs_y, assume_unique=True, return_indices=True)
    return _Links(pairs, x.place[first_x[at_x]], y.place[first_y[at_y]])


def _number_links(x: _Side, y: _Side, count: int, converted: npt.NDArray[np.bool_]) -> dict[str, _Links]:
    """Numbers without an equal on the other side: contradicted where both texts have one, else alone.

    Where both texts have a unit that the other lacks (`converted`), nothing is said.
    """
    x, y = (side.chosen((side.marks.number[side.place] > 0) & ~converted[side.pair]) for side in (x, y))
    values = np.concatenate([x.marks.value[x.place], y.marks.value[y.place]])
    ids = np.unique(values, return_inverse=True)[1].reshape(-1).astype(np.uint32)
    own_x, own_y = unshared(x.pair, ids[: len(x.place)], y.pair, ids[len(x.place) :])
    x, y = x.chosen(own_x), y.chosen(own_y)
    changed = _changed(x, y, count)
    both = _has(changed.pair, count)
    alone = (side.chosen((side.marks.number[side.place] > 1) & ~both[side.pair]) for side in (x, y))
    return {"number": changed, "lone number": _all_of(*map(_one_sided, alone, (True, False)))}


def _name_links(x: _Side, y: _Side, count: int) -> _Links:
    """Names that the other text lacks, in pairs with one such name on either side and an equal word next to it.

    Names that begin alike (`Russia` and `Russian`, `Jan` and `January`) or share a sense are the same.
    """
    x, y = (side.chosen(side.marks.name[side.place]) for side in (x, y))
    one_each = np.all([np.bincount(side.pair, minlength=count) == 1 for side in (x, y)], axis=0)
    links = _changed(x.chosen(one_each[x.pair]), y.chosen(one_each[y.pair]), count)
    lexicon = x.marks.batch.vocabulary.lexicon
    kept = np.zeros(len(links.pair), np.bool_)
    for k, places in enumerate(zip(links.reference.tolist(), links.hypothesis.tolist(), strict=True)):
        (one, *near), (other, *beside) = (
            _with_neighbours(*end) for end in zip((x.marks, y.marks), places, strict=True)
        )
        kept[k] = (
            any(map(eq, near, beside))
            and lexicon.lemma(one)[:3] != lexicon.lemma(other)[:3]
            and set(lexicon.senses(one)).isdisjoint(lexicon.senses(other))
        )
    return _Links(*(column[kept] for column in links))


def _with_neighbours(marks: Marks, place: int) -> list[int]:
    """The lemma of a token, of the token before it and of the one behind; −1 at either end of the text."""
    inside = range(*_bounds(marks.batch, place))
    return [int(marks.batch.lemma[k]) if k in inside else -1 for k in (place, place - 1, place + 1)]


def _bounds(batch: AnalysedBatch, place: int) -> tuple[int, int]:
    """Where the text of a token starts and ends."""
    text = int(np.searchsorted(batch.offsets, place, side="right")) - 1
    return int(batch.offsets[text]), int(batch.offsets[text + 1])


def _noun_places(side: _Side) -> tuple[Index, Index]:
    """Keys of nouns that their text has once, and where they are."""
    nouns = side.chosen(side.marks.noun[side.place])
    keys = nouns.pair * (1 << 32) + nouns.marks.batch.lemma[nouns.place]
    unique, where, counts = np.unique(keys, return_index=True, return_counts=True)
    return unique[counts == 1], nouns.place[where[counts == 1]]


def _inverted(x: _Side, y: _Side, count: int) -> npt.NDArray[np.bool_]:
    """Whether two nouns that both texts have, once each, come in another order."""
    (keys_x, places_x), (keys_y, places_y) = _noun_places(x), _noun_places(y)
    shared, in_x, in_y = np.intersect1d(keys_x, keys_y, assume_unique=True, return_indices=True)
    pair = shared >> 32
    order = np.lexsort((places_x[in_x], pair))
    pair, places = pair[order], places_y[in_y][order]
    falls = (pair[1:] == pair[:-1]) & (places[1:] < places[:-1])
    return _has(pair[1:][falls], count)


def _shared_nouns(x: _Side, y: _Side, count: int) -> Index:
    """How many nouns both texts of each pair have."""
    keys_x, keys_y = _noun_places(x)[0], _noun_places(y)[0]
    return np.bincount(np.intersect1d(keys_x, keys_y, assume_unique=True) >> 32, minlength=count)


def _surface(marks: Marks, place: int) -> str:
    if place < 0:
        return ""
    batch = marks.batch
    return batch.texts[0][int(batch.start[place]) : int(batch.end[place])]
