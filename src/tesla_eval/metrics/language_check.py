"""Warns, once per metric, if the texts are clearly in another language than the metric's."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary, WeakSet

from tesla_eval.base.errors import warn
from tesla_eval.language.choice import is_short, other_language

if TYPE_CHECKING:
    from tesla_eval.metrics.base import Metric
    from tesla_eval.metrics.segments import References

_MOST, _FIRST = 64, 16  # references that are looked at, and how many of the first corpus
_EVERY = 1000  # of later corpora one in so many: that costs about 1 % of scoring them

_checked: WeakKeyDictionary[Metric, list[str]] = WeakKeyDictionary()
"""The references that were looked at last: those of several systems are looked at once."""
_settled: WeakSet[Metric] = WeakSet()


def settle_language(metric: Metric) -> Metric:
    """The metric, whose language was identified from the texts, or compared with them: it is not checked again."""
    _settled.add(metric)
    return metric


def check_language(metric: Metric, references: References) -> None:
    """Warn if the references are clearly not in the metric's language; some of them are looked at."""
    if not references or metric in _settled:
        return
    count = len(references[0])
    wanted = min(count, _MOST, max(count // _EVERY, 0 if metric in _checked else _FIRST))
    if wanted == 0:
        return
    sample = [text for i in range(wanted) if (text := references[0][i * count // wanted])]
    if is_short(sample) or sample == _checked.get(metric):
        return
    _checked[metric] = sample
    signature = metric.get_signature()
    if "lang" not in signature or "analysis" in signature:  # no language, or an analyser of the user's own
        settle_language(metric)
        return
    other = other_language(metric.lang, sample)
    if other is not None:
        settle_language(metric)
        warn(f"{metric.id} was made for language {metric.lang!r}, but the references look like {other}")
