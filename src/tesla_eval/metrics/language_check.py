"""Warns, once per metric and set of texts, if the texts are clearly in another language than the metric's."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary, WeakSet

from tesla_eval.base.errors import warn
from tesla_eval.language.choice import is_short, other_language

if TYPE_CHECKING:
    from tesla_eval.metrics.base import Metric
    from tesla_eval.metrics.segments import References

_MOST, _FIRST = 64, 16  # references that are looked at, and how many of a first corpus
_EVERY = 1000  # of later corpora one in so many: that costs about 1 % of scoring them


class _Check(NamedTuple):
    """What was looked at last: the references of several systems are looked at once."""

    sample: list[str]
    is_other: bool
    """Whether they were in another language: then the next corpus is looked at like a first one."""


_last_checks: WeakKeyDictionary[Metric, _Check] = WeakKeyDictionary()
_settled: WeakSet[Metric] = WeakSet()


def settle_language(metric: Metric) -> Metric:
    """The metric, whose language was identified from the texts, or compared with them: it is not checked again."""
    _settled.add(metric)
    return metric


def reads_language(metric: Metric) -> bool:
    """Whether its scores depend on the language, and not on an analyser of the user's own."""
    signature = metric.get_signature()
    return "lang" in signature and "analysis" not in signature


def check_language(metric: Metric, references: References, *, anew: bool = False) -> None:
    """Warn if the references are clearly not in the metric's language; `anew` looks at as many as in a first corpus."""
    if not references or metric in _settled:
        return
    last = _last_checks.get(metric)
    count = len(references[0])
    wanted = min(count, _MOST, max(count // _EVERY, _FIRST if anew or last is None or last.is_other else 0))
    if wanted == 0:
        return
    sample = [text for i in range(wanted) if (text := references[0][i * count // wanted])]
    if is_short(sample) or (last is not None and sample == last.sample):
        return
    if not reads_language(metric):
        settle_language(metric)
        return
    other = other_language(metric.lang, sample)
    _last_checks[metric] = _Check(sample, other is not None)
    if other is not None:
        warn(f"{metric.id} was made for language {metric.lang!r}, but the references look like {other}")
