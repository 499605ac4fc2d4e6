"""The columns of a table that hold hypotheses, references and sources.

`--columns hyp=mt,ref=ref,src=src` names them; several are joined by `+`. The usual names need no option.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from tesla_eval.base.errors import InputError, UsageError

ROLES = ("hyp", "ref", "src")
USUAL_NAMES = {
    "hyp": ("hyp", "mt", "hypothesis", "translation", "prediction"),
    "ref": ("ref", "reference", "references", "refs"),
    "src": ("src", "source"),
}


Missing = Literal["error", "null", "skip"]
"""What becomes of a row without hypothesis, reference or source: an error, a null score, or no row."""
MISSING: tuple[Missing, ...] = get_args(Missing)


def usual_name(present: Container[str], role: str) -> str | None:
    """The usual name of a role that is there, if any.

    >>> usual_name(["id", "mt", "ref"], "hyp"), usual_name(["id"], "src")
    ('mt', None)
    """
    return next((name for name in USUAL_NAMES[role] if name in present), None)


@dataclass(frozen=True)
class Columns:
    """The columns that hold hypotheses, references and the source."""

    hyp: tuple[str, ...] = ()
    ref: tuple[str, ...] = ()
    src: tuple[str, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Columns:
        """From `hyp=mt,ref=refA+refB,src=src`.

        >>> Columns.parse("hyp=mt,ref=refA+refB")
        Columns(hyp=('mt',), ref=('refA', 'refB'), src=())
        """
        chosen: dict[str, tuple[str, ...]] = {}
        for part in filter(None, text.split(",")):
            role, equals, names = part.partition("=")
            if not equals or role.strip() not in ROLES or not names:
                raise UsageError(f"--columns {text}: write hyp=NAME,ref=NAME,src=NAME; {part!r} is not that")
            chosen[role.strip()] = tuple(filter(None, (name.strip() for name in names.split("+"))))
        if len(chosen.get("src", ())) > 1:
            raise UsageError(f"--columns {text}: a segment has one source")
        return cls(**chosen)

    def found_in(self, present: Sequence[str], place: str) -> Columns:
        """The same with the usual names where none was given; `InputError` if the table lacks a column."""
        columns_of = {}
        for role in ROLES:
            names: tuple[str, ...] = getattr(self, role)
            for name in names:
                if name not in present:
                    raise InputError(f"{place}: has no column {name!r}; its columns are {', '.join(present)}")
            columns_of[role] = names or tuple(filter(None, [usual_name(present, role)]))
        if not columns_of["hyp"]:
            raise InputError(
                f"{place}: which column holds the hypotheses? Write --columns hyp=NAME,ref=NAME; "
                f"its columns are {', '.join(present)}"
            )
        return Columns(**columns_of)
