"""The group `surface`: features that need no matching of n-grams (specification §8b)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tesla_eval import _core
from tesla_eval.language.analysis import Analysis
from tesla_eval.language.analysis.batch import word_facts
from tesla_eval.language.analysis.frequencies import load_frequencies
from tesla_eval.metrics.features import BoundGroup, CoreGroup, Feature, FeatureGroup

_LABELS = {
    "content": "content words", "function": "function words", "rareword": "rare words", "rarelemma": "rare words",
    "number": "numbers and names", "capital": "numbers and names", "foreign": "foreign or unknown words",
    "unknown": "foreign or unknown words", "repeated": "repeated words",
    "lcs": "word order", "fragments": "word order", "order": "word order",
    "short": "length", "long": "length", "punct": "punctuation",
}  # fmt: skip
_PENALTIES = frozenset({"fragments", "short", "long", "foreign", "unknown", "repeated"})


_GROUP = "surface"
_FEATURES = tuple(
    Feature(name, _GROUP, kind, _LABELS[kind], name, more_is_better=kind not in _PENALTIES)
    for name in _core.SURFACE_FEATURES
    for kind in [name.partition(".")[0]]
)


@dataclass(frozen=True)
class SurfaceGroup(FeatureGroup):
    """Content and function words apart, rare words, numbers, names, word order, lengths, punctuation.

    Features of rare words are NaN where the language has no list of frequencies.
    """

    name: ClassVar[str] = _GROUP

    def bind(self, analysis: Analysis) -> BoundGroup:
        """The group with the language's list of frequencies, if it has one."""
        frequencies = load_frequencies(analysis.signature["lang"])
        facts = word_facts(frequencies)
        return CoreGroup(
            lambda vocabulary: _core.SurfaceGroup(facts[vocabulary]),
            _FEATURES,
            {"frequencies": frequencies.fingerprint if frequencies else "none"},
        )
