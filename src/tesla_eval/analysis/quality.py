"""How good the analysis of a language is, as measured on test sets: what `tesla resources` shows.

Taggers tell their own accuracy in their headers. How well the tokeniser cuts and how many lemmas are right depends
on several parts, so those figures lie in `data/languages.json` (made by tools/make_languages.py), with the
fingerprints of the tables they were measured with. They say nothing of tables that users put in their place.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from tesla_eval.resources import Resource, shipped_folder

__all__ = ["MEASURED_PARTS", "Quality", "measured_figures", "quality_of"]

MEASURED_PARTS = ("segmenter", "lemmas")
"""The kinds of resources whose fingerprints guard the figures of `languages.json`."""


@dataclass(frozen=True)
class Quality:
    """Percent right on the test set, and the number of words with synonyms; `None` where nothing was measured."""

    tokens: float | None = None
    """F1 of the tokens as written."""
    universal_tags: float | None = None
    fine_tags: float | None = None
    lemmas: float | None = None
    simplemma: float | None = None
    """Lemmas of simplemma alone, where it has the language."""
    words_with_senses: int | None = None


def quality_of(resources: Iterable[Resource], figures: Mapping[str, Any]) -> Quality:
    """What is known of a language with these resources; `figures` are those of `measured_figures`.

    >>> quality_of([], {"tokens": 99.1, "lemmas": 97.0, "fingerprints": {"lemmas": "12345678"}})
    Quality(tokens=99.1, universal_tags=None, fine_tags=None, lemmas=None, simplemma=None, words_with_senses=None)
    """
    by_kind = {resource.kind: resource for resource in resources}
    measured_with = figures.get("fingerprints", {})

    def figure(name: str, part: str) -> float | None:
        found = by_kind[part].fingerprint if part in by_kind else None
        return figures.get(name) if measured_with.get(part) == found else None

    tags = by_kind["tagger"].info.get("accuracy", {}).get("test", {}) if "tagger" in by_kind else {}
    senses = by_kind.get("senses")
    lemmas = figure("lemmas", "lemmas")
    if lemmas is None and "lemmas" in by_kind:  # the user's own table may tell
        lemmas = by_kind["lemmas"].info.get("test accuracy")
    return Quality(
        tokens=figure("tokens", "segmenter"),
        universal_tags=tags.get("upos"),
        fine_tags=tags.get("xpos"),
        lemmas=lemmas,
        simplemma=figures.get("simplemma"),
        words_with_senses=None if senses is None else senses.info.get("lemmas"),
    )


@cache
def measured_figures() -> Mapping[str, Mapping[str, Any]]:
    """By language what `data/languages.json` holds."""
    path = shipped_folder() / "languages.json"
    figures = json.loads(path.read_text(encoding="utf-8"))["languages"]
    assert isinstance(figures, dict)  # ours: a test reads it
    return figures
