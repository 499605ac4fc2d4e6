"""What signatures call values: numbers in full, data by their content, and anything else by a name of its own.

Two values of one option that may give different scores never share a name.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass
from functools import cached_property
from pathlib import PurePath
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import numpy as np

OWN = "own-"
"""How the name of an object begins that exists in this process only."""
_PLAIN = (str, int, float, complex, bytes, PurePath, type(None))
_Self = TypeVar("_Self", bound="Fingerprinted")
_own_names: WeakKeyDictionary[Any, str] = WeakKeyDictionary()


def name_of(value: object) -> str:
    """What a signature calls the value of an option.

    >>> [name_of(value) for value in (0.12345671, 1.0, True, None, "intl", ("fr", "de"))]
    ['0.12345671', '1', 'yes', 'none', 'intl', 'fr+de']
    >>> name_of({"a": np.array([0.1])}) == name_of({"a": np.array([0.1])}) != name_of({"a": np.array([0.2])})
    True
    >>> name_of(lambda: 1) == name_of(lambda: 1)
    False
    """
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool):
        return {None: "none", True: "yes", False: "no"}[value]
    if isinstance(value, _PLAIN):
        return (float.__repr__(value) if isinstance(value, float) else str(value)).removesuffix(".0")
    if isinstance(value, list | tuple) and value and all(isinstance(one, _PLAIN) for one in value):
        names = list(map(name_of, value))
        if not any("+" in name for name in names):
            return "+".join(names)
    return own_name(value) if callable(value) else _name_of_data(value)


def _name_of_data(value: object) -> str:
    digest = hashlib.sha256()
    try:
        for piece in _pieces(value):
            digest.update(b"%d:%b" % (len(piece), piece))
    except _NotDataError as error:
        return own_name(error.args[0])
    return f"data-{digest.hexdigest()[:16]}"


def own_name(value: object) -> str:
    """A name that no other object has, here or in another process: for functions, classes and what is no data."""
    try:
        return _own_names.setdefault(value, f"{OWN}{os.urandom(6).hex()}")
    except TypeError:  # it cannot be remembered without keeping it
        return f"{OWN}{os.urandom(6).hex()}"


def is_importable(kind: type) -> bool:
    """Whether other processes have the same class: not one of a notebook, of a script, or made in a function."""
    found: object = sys.modules.get(kind.__module__)
    for name in kind.__qualname__.split("."):
        found = getattr(found, name, None)
    return found is kind and kind.__module__ != "__main__"


class Fingerprinted:
    """Data that signatures call by a fingerprint: that of its file, else one made of all its content.

    A changed copy (`dataclasses.replace`) has a fingerprint of its own.
    """

    @cached_property
    def fingerprint(self) -> str:
        """What signatures call it."""
        return name_of(self)

    def known_as(self: _Self, fingerprint: str) -> _Self:
        """The same object, with the fingerprint of what it was read from."""
        vars(self)["fingerprint"] = fingerprint
        return self


class _NotDataError(Exception):
    """The value is or holds something whose content cannot be read."""


def _pieces(value: Any) -> Iterator[bytes]:
    """All that a value consists of; equal pieces come from equal values only."""
    yield type(value).__qualname__.encode()
    if isinstance(value, _PLAIN):
        yield repr(value).encode("utf-8", "surrogatepass")
    elif isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "biufcSU":
        yield f"{value.dtype.str}{value.shape}".encode()
        yield value.tobytes()
    elif isinstance(value, Mapping):
        yield from _pieces(sorted(value.items(), key=repr))
    elif isinstance(value, Sequence | AbstractSet):
        members = sorted(value, key=repr) if isinstance(value, AbstractSet) else value
        yield b"%d" % len(members)
        for member in members:
            yield from _pieces(member)
    elif is_dataclass(value) and is_importable(type(value)):
        for one in fields(value):
            yield one.name.encode()
            yield from _pieces(getattr(value, one.name))
    else:
        raise _NotDataError(value)
