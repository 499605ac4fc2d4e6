"""NOM-TYPE of nouns from frame files, for those who have no NOMLEX dictionary."""

from __future__ import annotations

import re

from tesla_eval.base.errors import InputError
from tesla_eval.texts.lines import LineReader

UNKNOWN_TYPE = "none"
_COLUMNS = 5
_SUBJECT = re.compile(r"(?:er|or|ist|ant)$")
_OBJECT = re.compile(r"ee$")


def read_nomtypes(path: str) -> dict[str, str]:
    """From nouns to types, of a table of rolesets: roleset, name, lemma, aliases (`n:decision|v:decide`), roles.

    A noun that shares a roleset with a verb is a nominalisation: `subject` or `object` by its ending (`buyer`,
    `employee`), else `verb`. One that shares it with an adjective is `adjective`, any other `noun`.
    """
    reader = LineReader(path)
    types: dict[str, set[str]] = {}
    for line in reader:
        columns = line.split("\t")
        if len(columns) != _COLUMNS:
            raise InputError(
                f"{reader.name}, line {reader.count}: does not hold roleset, name, lemma, aliases and roles"
            )
        aliases = [alias.partition(":") for alias in columns[3].split("|")]
        kinds = {kind for kind, _, _ in aliases}
        for kind, _, form in aliases:
            if kind == "n" and form and "_" not in form:
                types.setdefault(form.lower(), set()).add(_type_of(form.lower(), kinds))
    order = ("subject", "object", "verb", "adjective", "noun")
    return {noun: next(name for name in order if name in named) for noun, named in sorted(types.items())}


def _type_of(noun: str, kinds: set[str]) -> str:
    if "v" in kinds:
        if _SUBJECT.search(noun) and len(noun) > 4:
            return "subject"
        return "object" if _OBJECT.search(noun) and len(noun) > 4 else "verb"
    return "adjective" if "j" in kinds else "noun"
