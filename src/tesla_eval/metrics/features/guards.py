"""The group `guards`: penalties that added and repeated words, other numbers and negations cannot avoid (§8b)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tesla_eval import _core
from tesla_eval.language.analysis import Analysis
from tesla_eval.language.analysis.critical_words import CriticalWords
from tesla_eval.metrics.features import BoundGroup, CoreGroup, Feature, FeatureGroup

_LABELS = {
    "padding": "added words", "insertion": "added words", "surplus": "added words", "digression": "added words",
    "stray": "added words",
    "disorder": "word order", "stutter": "repeated words", "numbers": "numbers and names", "negation": "negation",
}  # fmt: skip
_GROUP = "guards"
_FEATURES = tuple(
    Feature(name, _GROUP, name, _LABELS[name], name, more_is_better=False) for name in _core.GUARD_FEATURES
)


@dataclass(frozen=True)
class GuardGroup(FeatureGroup):
    """Words beyond the reference's, repetitions, broken order, numbers and negations that differ: 0 for a copy.

    `negation` is NaN where the language has no list of negations.
    """

    name: ClassVar[str] = _GROUP

    def bind(self, analysis: Analysis) -> BoundGroup:
        """The group with the language's lists of negations and number words, if it has any."""
        words = CriticalWords(analysis.signature["lang"]).core
        return CoreGroup(lambda vocabulary: _core.GuardGroup(words[vocabulary]), _FEATURES)
