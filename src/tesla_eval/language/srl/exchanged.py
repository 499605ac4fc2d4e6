"""Exchanged roles: the same verb or noun, with doer and undergoer in each other's place."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from tesla_eval.language.srl.propositions import DOER, UNDERGOER, Proposition

SYMMETRIC = frozenset(
    """be become remain equal mean match resemble meet marry divorce date border accompany join fight differ
    correspond coincide intersect overlap""".split()  # noqa: SIM905
)
"""Predicates whose doer and undergoer may change places while the meaning stays."""

CONVERSE = frozenset(
    frozenset(pair.split("/"))
    for pair in """buy/sell give/take give/receive give/get lend/borrow win/lose beat/lose defeat/lose teach/learn
    precede/follow send/receive send/get export/import lead/follow own/belong husband/wife parent/child teacher/student
    teacher/pupil employer/employee ancestor/descendant doctor/patient host/guest aunt/nephew uncle/niece above/below
    over/under before/after behind/front predecessor/successor landlord/tenant lender/borrower buyer/seller
    earlier/later""".split()  # noqa: SIM905
)
"""Words that say the same when the participants change places."""


class Exchange(NamedTuple):
    """A predicate, and who is doer and undergoer in the reference; in the hypothesis it is the other way round."""

    predicate: str
    doer: str
    undergoer: str


def participants(
    propositions: Iterable[Proposition], role: str = UNDERGOER
) -> dict[tuple[str, str, str], None]:
    """All predicates with a doer and an undergoer of theirs, or who has that other role, in their order.

    Predicates of `SYMMETRIC` do not count.
    """
    return {
        (one.predicate, doer, other): None
        for one in propositions
        if one.predicate not in SYMMETRIC
        for doer in sorted(one.fillers(DOER))
        for other in sorted(one.fillers(role))
        if doer != other
    }
