"""Exchanged roles: the same verb or noun, with doer and undergoer in each other's place."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from tesla_eval.language.srl.propositions import DOER, UNDERGOER, Proposition, read_propositions

__all__ = ["SYMMETRIC", "Exchange", "exchanged_roles", "find_exchanges", "participants"]

SYMMETRIC = frozenset(
    """be become remain equal mean match resemble meet marry divorce date border accompany join fight differ
    correspond coincide intersect overlap""".split()  # noqa: SIM905
)
"""Predicates whose doer and undergoer may change places while the meaning stays."""


class Exchange(NamedTuple):
    """A predicate, and who is doer and undergoer in the reference; in the hypothesis it is the other way round."""

    predicate: str
    doer: str
    undergoer: str


def exchanged_roles(hypothesis: str, reference: str, language: str = "en") -> list[Exchange]:
    """Where subject and object around the same predicate are exchanged; the passive voice is no exchange.

    >>> exchanged_roles("The cat chased the dog.", "The dog chased the cat.")
    [Exchange(predicate='chase', doer='dog', undergoer='cat')]
    >>> exchanged_roles("The cat was chased by the dog.", "The dog chased the cat.")
    []
    """
    return find_exchanges(*read_propositions([hypothesis, reference], language))


def find_exchanges(hypothesis: Iterable[Proposition], reference: Iterable[Proposition]) -> list[Exchange]:
    """The exchanges between the propositions of two texts, as `read_propositions` gives them for many texts at once.

    Doer and undergoer must both have changed places, and no other mention of the predicate in the hypothesis may have
    them as the reference does.
    """
    said = participants(hypothesis)
    return [
        Exchange(predicate, doer, undergoer)
        for predicate, doer, undergoer in participants(reference)
        if (predicate, undergoer, doer) in said and (predicate, doer, undergoer) not in said
    ]


def participants(propositions: Iterable[Proposition]) -> dict[tuple[str, str, str], None]:
    """All predicates with a doer and an undergoer of theirs, in their order; those of `SYMMETRIC` do not count."""
    return {
        (one.predicate, doer, undergoer): None
        for one in propositions
        if one.predicate not in SYMMETRIC
        for doer in sorted(one.fillers(DOER))
        for undergoer in sorted(one.fillers(UNDERGOER))
        if doer != undergoer
    }
