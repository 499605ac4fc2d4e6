"""From "this word lists that one" to sets: cliques that cover the relation and add nothing to it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

__all__ = ["clique_cover"]

_LARGEST_TESTED_LIST = 100  # testing a list takes the square of its length


def clique_cover(senses: Iterable[tuple[str, set[str]]]) -> list[list[str]]:
    """Sets such that two words share one exactly if one of them lists the other.

    A list whose words all list each other (a synset that is repeated at each of its members) becomes one set,
    longer lists first; what these leave over is covered greedily, in alphabetical order.

    >>> clique_cover([("big", {"large", "grown"}), ("large", {"big"}), ("grown", {"big"})])
    [['big', 'grown'], ['big', 'large']]
    """
    senses = sorted(senses, key=lambda sense: (-len(sense[1]), sense[0]))
    neighbours: defaultdict[str, set[str]] = defaultdict(set)
    for headword, listed in senses:
        neighbours[headword] |= listed
        for word in listed:
            neighbours[word].add(headword)
    uncovered = {word: set(others) for word, others in neighbours.items()}
    cliques = []
    for headword, listed in senses:
        members = sorted(listed | {headword})
        if 1 < len(members) <= _LARGEST_TESTED_LIST and _is_clique(members, neighbours):
            if not any(uncovered[word].intersection(members) for word in members):
                continue
            _cover(members, uncovered)
            cliques.append(members)
    for word in sorted(neighbours):
        while uncovered[word]:
            members = _grow([word, min(uncovered[word])], neighbours, uncovered)
            _cover(members, uncovered)
            cliques.append(sorted(members))
    return cliques


def _is_clique(members: Sequence[str], neighbours: dict[str, set[str]]) -> bool:
    everyone = set(members)
    return all(len(everyone - neighbours[word]) == 1 for word in members)  # all but the word itself


def _grow(members: list[str], neighbours: dict[str, set[str]], uncovered: dict[str, set[str]]) -> list[str]:
    """Add words as long as each adds uncovered pairs, those with the most first."""
    candidates = neighbours[members[0]] & neighbours[members[1]]
    while candidates:
        best = min(candidates, key=lambda word: (-len(uncovered[word].intersection(members)), word))
        if not uncovered[best].intersection(members):
            break
        members.append(best)
        candidates &= neighbours[best]
    return members


def _cover(members: Sequence[str], uncovered: dict[str, set[str]]) -> None:
    for word in members:
        uncovered[word].difference_update(members)
