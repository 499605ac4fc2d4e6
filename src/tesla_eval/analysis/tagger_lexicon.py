"""Word-form lexica for the tagger, reduced to what helps: the classes of suffixes.

A lexicon says which tags a form can have; those tags are its class. Forms that end alike are mostly of one
class, so the classes of half a million forms fit into some ten thousand suffix rules, of which the longest that
fits a form holds. Words that the lexicon does not know get the class of words that end like them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from tesla_eval.errors import InputError
from tesla_eval.textio import LineReader

__all__ = [
    "WORD_START",
    "LexiconEntry",
    "lexicon_classes",
    "read_lexicon",
    "read_lexicon_entries",
    "suffix_rules",
]

WORD_START = "\0"
"""Begins a suffix that is a whole form."""
_LONGEST_FORM = 64
_MOST_CLASSES = 255

_Node = str | tuple[frozenset[str], dict[str, "_Node"]]


class LexiconEntry(NamedTuple):
    """A word form, its lemma and a tag that it can have."""

    form: str
    lemma: str
    tag: str


def read_lexicon(path: Path | str) -> dict[str, str]:
    """The classes of a lexicon's forms."""
    return lexicon_classes((entry.form, entry.tag) for entry in read_lexicon_entries(path))


def read_lexicon_entries(path: Path | str) -> Iterator[LexiconEntry]:
    """The lines of a lexicon: form, lemma and tag, separated by tabs."""
    lines = LineReader(str(path))
    for line in lines:
        columns = line.split("\t")
        if len(columns) != 3 or not columns[0]:
            raise InputError(f"{lines.name}, line {lines.count}: is not form, tab, lemma, tab, tag")
        yield LexiconEntry(*columns)


def lexicon_classes(entries: Iterable[tuple[str, str]]) -> dict[str, str]:
    """From forms and tags to lower-cased forms and their classes; not for rare classes and overlong forms.

    >>> lexicon_classes([("Essen", "NOUN"), ("essen", "VERB"), ("isst", "VERB")])
    {'essen': 'NOUN^ VERB', 'isst': 'VERB'}
    """
    tags: defaultdict[str, set[str]] = defaultdict(set)
    for form, tag in entries:
        if len(form) <= _LONGEST_FORM:
            tags[form.lower()].add(f"{tag}^" if form[0].isupper() else tag)
    classes = {form: " ".join(sorted(names)) for form, names in tags.items()}
    frequent = {name for name, _ in Counter(classes.values()).most_common(_MOST_CLASSES)}
    return {form: name for form, name in classes.items() if name in frequent}


def suffix_rules(classes: Mapping[str, str]) -> dict[str, str]:
    """The fewest suffixes with classes that give every form its own class, the longest suffix deciding.

    >>> suffix_rules({"walked": "V", "talked": "V", "red": "A", "bed": "N"})
    {'': 'V', 'bed': 'N', 'red': 'A'}
    """
    forms = sorted((form[::-1] + WORD_START, name) for form, name in classes.items())
    if not forms:
        return {}
    frequency = Counter(classes.values())

    def grow(first: int, last: int, depth: int) -> _Node:
        """The forms `[first, last)`, alike in their last `depth` characters: one class, or a tree of them."""
        names = {name for _, name in forms[first:last]}
        if len(names) == 1:
            return names.pop()
        children: dict[str, _Node] = {}
        while first < last:
            character, end = forms[first][0][depth], first + 1
            while end < last and forms[end][0][depth] == character:
                end += 1
            children[character] = grow(first, end, depth + 1)
            first = end
        # A class that most children could have makes rules for the others only (Hartigan's parsimony).
        votes = Counter(name for child in children.values() for name in _options(child))
        most = max(votes.values())
        return frozenset(name for name, count in votes.items() if count == most), children

    rules: dict[str, str] = {}

    def assign(node: _Node, inherited: str, suffix: str) -> None:
        options = _options(node)
        if inherited not in options:
            inherited = rules[suffix] = min(options, key=lambda name: (-frequency[name], name))
        if not isinstance(node, str):
            for character, child in node[1].items():
                assign(child, inherited, character + suffix)

    assign(grow(0, len(forms), 0), "", "")
    return rules


def _options(node: _Node) -> frozenset[str]:
    return frozenset({node}) if isinstance(node, str) else node[0]
