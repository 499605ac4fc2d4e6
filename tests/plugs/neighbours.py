"""What the tests of plugs share: the real library or a skip, and two systems of real text."""

from __future__ import annotations

import os
from importlib import import_module
from types import ModuleType

import pytest

from tests.fixtures import shipped_pairs


def neighbour(name: str) -> ModuleType:
    """The real library; without it the tests are skipped, but not under `make test-plugs`."""
    if "TESLA_PLUG" in os.environ:
        return import_module(name)
    found: ModuleType = pytest.importorskip(name)
    return found


def two_systems() -> tuple[list[str], list[str], list[str]]:
    """A real system, the same with some words lost and some texts perfect, and the references."""
    hypotheses, references = (list(side) for side in zip(*shipped_pairs("en"), strict=True))
    other = list(hypotheses)
    for i, (hypothesis, reference) in enumerate(zip(hypotheses, references, strict=True)):
        if i % 3 == 0:
            other[i] = hypothesis.rsplit(" ", 2)[0]
        elif i % 7 == 1:
            other[i] = reference
    return hypotheses, other, references
