"""The tenses of finite verbs, as a group of one feature (specification §8c): states in context hardly show them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np

from tesla_eval.base.arrays import FloatArray, Index
from tesla_eval.language.analysis import AnalysedBatch, Analysis
from tesla_eval.metrics.features import BoundGroup, Feature, FeatureGroup

__all__ = ["TENSE", "TenseGroup"]

TENSE = "tense"
_NONE, _PAST, _PRESENT, _FUTURE = range(4)
_KINDS = 4
_TAGS = {"VBD": _PAST, "VBZ": _PRESENT, "VBP": _PRESENT}
_MODAL = "MD"
_MODALS = {
    **dict.fromkeys(("will", "'ll", "’ll", "wo", "shall"), _FUTURE),
    **dict.fromkeys(("would", "'d", "’d", "could", "might", "should"), _PAST),
}
"""Modals by their form; all others, such as `can`, are in the present."""


@dataclass(frozen=True)
class TenseGroup(FeatureGroup):
    """By how much the shares of past, present and future verbs differ: 0 for a copy, 1 if they have none in common."""

    name: ClassVar[str] = TENSE

    def bind(self, analysis: Analysis) -> BoundGroup | None:
        """The group for English, whose tags tell the tense."""
        return _BoundTense() if analysis.signature["lang"] == "en" else None


class _BoundTense(BoundGroup):
    features = (Feature(TENSE, TENSE, TENSE, "tense", TENSE, more_is_better=False),)

    def prepare(self, batch: AnalysedBatch) -> Index:
        """For every text 1 if it has no finite verb, the verbs of each tense, and the sum of these four."""
        tenses = self._tenses(batch)
        rows = []
        for start, end in pairwise(batch.core.offsets.tolist()):
            text = tenses[start:end]
            past, present, future = (text.count(tense) for tense in (_PAST, _PRESENT, _FUTURE))
            verbs = past + present + future
            rows.append((not verbs, past, present, future, verbs or 1))
        return np.array(rows, np.int64).reshape(-1, _KINDS + 1)

    @staticmethod
    def _tenses(batch: AnalysedBatch) -> list[int]:
        """The tense of every word, which only finite verbs have; for a few words, lists are quicker than arrays."""
        tag_ids = batch.vocabulary.tag_ids
        tense_of = {tag_ids[tag]: tense for tag, tense in _TAGS.items() if tag in tag_ids}
        tags = batch.core.tag.tolist()
        tenses = [tense_of.get(tag, _NONE) for tag in tags]
        modal = tag_ids.get(_MODAL)
        if modal in tags:
            places = [place for place, tag in enumerate(tags) if tag == modal]
            for place, form in zip(
                places, batch.vocabulary.lexicon.forms(batch.core.word[places]), strict=True
            ):
                tenses[place] = _MODALS.get(form.lower(), _PRESENT)
        return tenses

    def compare(
        self, reference: Index, hypothesis: Index, reference_index: Index, hypothesis_index: Index
    ) -> FloatArray:
        """Half the sum of the differences of the shares; no finite verb at all is like a tense of its own."""
        x, y = reference[reference_index], hypothesis[hypothesis_index]
        all_of_x, all_of_y = x[:, _KINDS:], y[:, _KINDS:]
        differences = np.abs(x[:, :_KINDS] * all_of_y - y[:, :_KINDS] * all_of_x).sum(axis=1, keepdims=True)
        return np.asarray(differences / (2 * all_of_x * all_of_y))
