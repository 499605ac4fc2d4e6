"""Splits text into sentences: at full stops of the tokeniser, line ends, bullets and quotes.

The tokeniser of a language already knows its abbreviations (`Mr.`, `bzw.`) and ordinals (`3.`), so a full stop that is
a token of its own is no part of one. What is left to decide here: an abbreviation that ends a sentence as well, what
follows a stop inside a quotation, and where a break of the line is one of the text. Text that is already tokenised
(a blank before every stop) or without capitals is read as such. Thai, which has no stops, is one sentence per line.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby

from tesla_eval.language.analysis.languages import resolve_language
from tesla_eval.language.analysis.tokenisers import checked, compose, load_tokeniser, raw_offsets

Span = tuple[int, int]

_STOPS = frozenset(".!?…。！？．｡।॥؟۔։።‼⁇⁈⁉")
_FULL_STOPS = frozenset(".．")
_CLOSERS = frozenset(")]}»”’›」』）】〉》〕")
_OPENERS = frozenset("([{«“‘‹„‚「『（【〈《〔¿¡")
_QUOTES = frozenset({'"', "'", "''", "``", "`"})  # the same at both ends, or used as if they were
_BULLETS = frozenset("•‣▪▫◦●○■□➢➤►")
_LINE_BULLETS = _BULLETS | frozenset("-–—*·+>#")
_NEW_LINE = re.compile(r"\r\n|[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_NOTE_MARK = re.compile(r" ?\[ ?[0-9]{1,3}(?: ?[-–,] ?[0-9]{1,3})* ?\]")  # .[1-3]
_EMOTICON = re.compile(r"[:;=]['’]?-?[)(DPpO/\\|*]|<3|\^_?\^")
_WIDEST_PAGE = 120  # characters: longer lines are paragraphs, not wrapped text
_LIST_NUMBER = re.compile(r"(?:[0-9]{1,3}|[A-Za-z]|[ivxIVX]{1,5})")

_BEFORE_NAMES = frozenset(
    """
    mr mrs ms mx dr prof rev hon gen col lt sgt capt cpt cmdr maj adm gov sen rep pres st messrs mmes mt ft fr no
    nos vol vols fig figs pp sec ch para vs viz cf e.g i.e eg ie al approx ca mme mlle mgr sra srta sig dott hr frau
    dipl ing nr abb kap bd núm pág art op
    """.split()  # noqa: SIM905
)
"""Abbreviations that something must follow: they end no sentence."""

_BEGINNERS = frozenset(
    """
    the a an this that these those he she it they we i you his her its their our my your there here what when where
    why how who which if but and or so yet because although though while after before since as at by for from in on
    of to with without until unless during despite under over between among however moreover meanwhile instead then
    now also some many most all both each every no not one two other another such officials police people is are was
    were do does did have has had can could will would should may might let please
    """.split()  # noqa: SIM905
)
"""English words that, with a capital after an abbreviation, begin a sentence rather than go on with a name."""


def split_sentences(text: str, lang: str = "en") -> list[Span]:
    """The sentences of `text` as offsets [start, end), without the blanks around them.

    >>> text = 'Mr. Dent left the U.S. The house fell. "Why?" he asked. • One • Two'
    >>> [text[start:end] for start, end in split_sentences(text)]
    ['Mr. Dent left the U.S.', 'The house fell.', '"Why?" he asked.', '• One', '• Two']
    >>> split_sentences("  ")
    []
    """
    composed = compose(checked(text))
    spans = _Splitter(composed, resolve_language(lang)).sentences()
    if composed is text:
        return spans
    offsets = raw_offsets(text)
    return [(int(offsets[start]), int(offsets[end])) for start, end in spans]


@dataclass
class _Splitter:
    """The state of one pass over the tokens of a text in NFC."""

    text: str
    language: str
    tokens: Sequence[Span] = field(init=False)

    def __post_init__(self) -> None:
        self.tokens = load_tokeniser(self.language).spans(self.text)
        # In text without capitals a small letter says nothing; so it does in scripts that have none.
        self._cased = any(map(str.isupper, self.text))
        self._in_quotation = False
        self._wrapped = _wrapped_lines(self.text)

    def sentences(self) -> list[Span]:
        spans: list[Span] = []
        first = index = 0
        while index < len(self.tokens):
            last = self._end_of_stop(index)
            if last is None:
                self._note_quote(index)
                last = index
                ends = self._abbreviation_ends(index)
            else:
                ends = self._stop_ends(index, last, first)
            if last + 1 == len(self.tokens) or ends or self._break_after(last):
                spans.append((self.tokens[first][0], self.tokens[last][1]))
                first = last + 1
            index = last + 1
        return spans

    def _form(self, index: int) -> str:
        start, end = self.tokens[index]
        return self.text[start:end]

    def _touches(self, index: int) -> bool:
        """Whether no blank stands before the token."""
        return index > 0 and self.tokens[index - 1][1] == self.tokens[index][0]

    def _is_stop(self, index: int) -> bool:
        return all(character in _STOPS for character in self._form(index))

    def _note_quote(self, index: int) -> None:
        if self._form(index) in _QUOTES and self._form(index) != "'":
            self._in_quotation = not self._in_quotation

    def _end_of_stop(self, index: int) -> int | None:
        """If a stop stands here, its last token with all that closes after it, else None."""
        if not self._is_stop(index):
            return None
        last = index
        while last + 1 < len(self.tokens) and not self._break_after(last):
            if self._is_stop(last + 1) or self._closes(last + 1):
                last += 1
                self._note_quote(last)
            elif note := _NOTE_MARK.match(self.text, self.tokens[last][1]):
                while last + 1 < len(self.tokens) and self.tokens[last + 1][1] <= note.end():
                    last += 1
            else:
                break
        return last

    def _closes(self, index: int) -> bool:
        form = self._form(index)
        if form in _QUOTES:
            before, after = self._touches(index), self._touches_next(index)
            return form == "''" or (self._in_quotation if before == after else before)
        return all(character in _CLOSERS for character in form) or _EMOTICON.fullmatch(form) is not None

    def _touches_next(self, index: int) -> bool:
        return index + 1 < len(self.tokens) and self._touches(index + 1)

    def _begins_small(self, index: int) -> bool:
        """Whether a lower-case word begins here, after opening quotes and brackets, in a text that uses capitals."""
        while index < len(self.tokens) and (self._form(index)[0] in _OPENERS or self._form(index) in _QUOTES):
            index += 1
        return index < len(self.tokens) and self._cased and self._form(index)[0].islower()

    def _stop_ends(self, index: int, last: int, first: int) -> bool:
        """Whether the stop from `index` to `last` ends the sentence that began at `first`."""
        if last + 1 == len(self.tokens):
            return True
        form, spaced = self._form(index), not self._touches(index)
        if form[0] in _FULL_STOPS and index == first + 1 and _LIST_NUMBER.fullmatch(self._form(first)):
            return False  # 1. The number of what follows
        word, following = self._form(index - 1).lower() if index else "", self._form(last + 1)
        if form == "." and word in _BEFORE_NAMES and following[0].isdigit():
            return False  # Op. 46
        if self._touches(last + 1) and form[-1] in ".!?…" and not self._glued_sentences(index, last):
            return False
        if not self._begins_small(last + 1):
            return True
        # A small letter goes on with the sentence, but not after a stop that stands alone: that is tokenised text.
        asks_in_quotation = form[0] not in _FULL_STOPS and last > index
        plain = last == index and word.isalpha() and word == self._form(index - 1) and len(word) > 3
        return len(form) == 1 and form != "…" and not asks_in_quotation and (spaced or plain)

    def _glued_sentences(self, index: int, last: int) -> bool:
        """`end.Then`: the blank was forgotten."""
        word, following = self._form(index - 1) if index else "", self._form(last + 1)
        return word[-1:].islower() and len(word) > 1 and following[0].isupper() and following[1:2].islower()

    def _abbreviation_ends(self, index: int) -> bool:
        """Whether an abbreviation's full stop is the sentence's as well."""
        form = self._form(index)
        if form[-1] != "." or index + 1 == len(self.tokens) or self._touches(index + 1):
            return False
        bare, following = form[:-1].lower(), self._form(index + 1)
        if len(bare) == 1 or bare in _BEFORE_NAMES or bare.isdigit():
            return False
        return self.language == "en" and following[0].isupper() and following.lower() in _BEGINNERS

    def _break_after(self, index: int) -> bool:
        """Whether a line or a bullet begins anew after the token, with or without a stop."""
        end, start = self.tokens[index][1], self.tokens[index + 1][0]
        if self._form(index + 1)[0] in _BULLETS:
            return True
        breaks = _NEW_LINE.findall(self.text, end, start) if start > end else []
        if len(breaks) != 1:
            return bool(breaks)
        return self._is_list_item(index + 1) or start not in self._wrapped

    def _is_list_item(self, index: int) -> bool:
        form = self._form(index)
        if form[0] in _LINE_BULLETS and not self._touches_next(index):
            return True
        marker = self._form(index + 1) if index + 1 < len(self.tokens) else ""
        if _LIST_NUMBER.fullmatch(form):
            return marker in {".", ")"} and self._touches(index + 1)
        return form[-1] == "." and _LIST_NUMBER.fullmatch(form[:-1]) is not None


def _wrapped_lines(text: str) -> set[int]:
    """Where lines begin that go on with the line before: it broke only because it was full.

    In a block of lines that was wrapped, no line could have taken the first word of the next one. Two lines may look
    so by chance: then the second must begin with a small letter where there are capitals.

    >>> sorted(_wrapped_lines("The lines were full, so that\\nthe text goes on in the next\\nline"))
    [29, 58]
    >>> _wrapped_lines("A heading of its own\\nThe text")
    set()
    """
    places: list[tuple[int, str]] = []
    start = 0
    for line in text.splitlines(keepends=True):
        places.append((start + len(line) - len(line.lstrip()), line.strip()))
        start += len(line)
    cased = any(map(str.isupper, text))
    wrapped: set[int] = set()
    for filled, block in groupby(places, key=lambda place: bool(place[1])):
        lines = list(block)
        if not filled or len(lines) == 1:
            continue
        widest = max(len(line) for _, line in lines)
        heads = [line.split(maxsplit=1)[0] for _, line in lines[1:]]
        full = all(
            len(line) + 1 + len(head) > widest for (_, line), head in zip(lines[:-1], heads, strict=True)
        )
        if full and widest <= _WIDEST_PAGE and (len(lines) > 2 or (cased and heads[0][0].islower())):
            wrapped.update(place for place, _ in lines[1:])
    return wrapped
