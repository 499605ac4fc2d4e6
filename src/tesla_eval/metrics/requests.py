"""What `-m` and Python ask for: names of metrics, and one metric with its options (`bleu:tok=intl,lc=yes`)."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from inspect import signature
from typing import Any, Literal

from tesla_eval.base.errors import UsageError
from tesla_eval.metrics.base import Metric
from tesla_eval.metrics.registry import Entry, find_entry
from tesla_eval.metrics.scoring import NamedMetric
from tesla_eval.texts.lines import to_number

OptionKind = Literal["yes or no", "whole number", "number", "list", "text", "file", "Python only"]
"""What the value of an option is on the command line."""

MODEL_FILES = ("weights", "model")
"""Options that name the file of a trained model."""

_YES, _NO = ("yes", "true", "on", "1"), ("no", "false", "off", "0")


@dataclass(frozen=True)
class MetricRequest:
    """One metric that the user asked for."""

    entry: Entry
    options: Mapping[str, Any] = field(default_factory=dict)
    spelling: str = ""
    """The options as they were given."""

    @property
    def name(self) -> str:
        """The name in results: the metric's id, with the options that were given."""
        identity = self.entry.load().id
        return f"{identity}:{self.spelling}" if self.spelling else identity

    def make(self, lang: str, **options: Any) -> NamedMetric:
        """The metric for a language, with more options than were asked for."""
        more = self.entry.load().checked_options(options)
        if twice := sorted(self.options.keys() & more):
            raise UsageError(f"{self.name}: sets {twice[0]} already; give it once")
        return NamedMetric(self.name, self.entry.create(lang, **self.options, **more))


def parse_requests(texts: Sequence[str]) -> list[MetricRequest]:
    """The metrics that several `-m` name together, each once.

    >>> [request.name for request in parse_requests(["m,bleu", "m:alpha=0.5", "bleu"])]
    ['tesla-m', 'bleu', 'tesla-m:alpha=0.5']
    """
    requests: list[MetricRequest] = []
    for text in texts:
        name, colon, spelling = text.partition(":")
        if not colon:
            named = [MetricRequest(find_entry(one)) for one in text.split(",") if one.strip()]
        elif "," in name:
            last = name.rpartition(",")[2]
            raise UsageError(
                f"-m {text}: a -m with options names one metric; write -m {last}:{spelling} apart"
            )
        else:
            entry = find_entry(name)
            named = [MetricRequest(entry, parse_options(entry, spelling), _squeezed(spelling))]
        for request in named:
            if all((request.entry, request.options) != (one.entry, one.options) for one in requests):
                requests.append(request)
    if texts and not requests:
        raise UsageError("-m names no metric")
    return requests


def need_references(requests: Sequence[MetricRequest]) -> bool:
    """Whether any of the metrics needs references; no `requests` stand for the default metrics, which do."""
    return not requests or any(request.entry.load().needs_references for request in requests)


def create_metric(metric: str, lang: str = "en", **options: Any) -> Metric:
    """The metric that `-m` names, with the options of the text and these.

    >>> create_metric("m", "en").id
    'tesla-m'
    >>> create_metric("m:alpha=0.5", lang="en", max_n=2)
    TeslaM(lang='en', alpha=0.5, max_n=2)
    """
    return named_metric(metric, lang, **options).metric


def named_metric(metric: str | Metric, lang: str = "en", **options: Any) -> NamedMetric:
    """One metric of `named_metrics`.

    >>> named_metric("bleu:tok=intl").name
    'bleu:tok=intl'
    """
    return only(named_metrics([metric], lang, **options))


def named_metrics(
    metrics: str | Metric | Sequence[str | Metric], lang: str, **options: Any
) -> list[NamedMetric]:
    """Metrics by name, as `-m` takes them, or as objects; the options go to those that are named.

    >>> [one.name for one in named_metrics(["m,chrf", create_metric("bleu:lc=yes")], "en")]
    ['tesla-m', 'chrf', 'bleu']
    """
    named: list[NamedMetric] = []
    given = listed(metrics)
    for one in given:
        if isinstance(one, Metric):
            named.append(NamedMetric(one.id, one))
        elif isinstance(one, str):
            named += [request.make(lang, **options) for request in parse_requests([one])]
        else:
            raise TypeError(f"a metric is a name, such as 'm' or 'bleu:tok=intl', or a Metric, not {one!r}")
    if options and not any(isinstance(one, str) for one in given):
        raise UsageError("options belong to the metric: give them where it is made")
    if not named:
        raise UsageError("name at least one metric")
    return named


def only(named: Sequence[NamedMetric]) -> NamedMetric:
    """The one metric where one is wanted."""
    if len(named) != 1:
        raise UsageError(f"name one metric, not {' and '.join(one.name for one in named)}")
    return named[0]


def listed(metrics: str | Metric | Sequence[str | Metric]) -> list[str | Metric]:
    """One or several metrics as a list."""
    return [metrics] if isinstance(metrics, str | Metric) else list(metrics)


def _squeezed(spelling: str) -> str:
    """The options without white space around names and values.

    >>> _squeezed(" alpha = 0.5, synonyms=/x/a = b.tsv,")
    'alpha=0.5,synonyms=/x/a = b.tsv'
    """
    return ",".join(re.sub(r"\s*=\s*", "=", part, count=1) for part in _parts(spelling))


def _parts(spelling: str) -> list[str]:
    r"""The options of `key=value,key=value`; `\,` is a comma in a value."""
    return [part for text in re.split(r"(?<!\\),", spelling) if (part := text.strip())]


def parse_options(entry: Entry, spelling: str) -> dict[str, Any]:
    r"""`key=value,key=value` as options of a metric, each value of the type that the option has; `\,` is a comma."""
    metric = entry.load()
    kinds = option_kinds(metric)
    options: dict[str, Any] = {}
    for part in _parts(spelling):
        given, equals, text = part.replace("\\,", ",").partition("=")
        key = given.strip().lower().replace("-", "_")
        name = metric.option_aliases.get(key, key)
        if not equals:
            raise UsageError(f"-m {entry.name}:{spelling}: write options as key=value, not {part!r}")
        if name not in kinds:
            offered = [name for name, kind in kinds.items() if kind != "Python only"]
            raise metric.unknown_option(given.strip(), offered, entry.name)
        if name in options:
            raise UsageError(f"-m {entry.name}:{spelling}: the option {given} is given twice")
        try:
            options[name] = _value(kinds[name], text.strip())
        except ValueError as error:
            raise UsageError(f"-m {entry.name}:{part}: {error}") from None
    return options


def option_kinds(metric: type[Metric]) -> dict[str, OptionKind]:
    """The options of a metric, and what each takes on the command line."""
    kinds = {}
    for name, default in metric.option_defaults().items():
        kind = _kind_of(default, _annotation(metric, name))
        kinds[name] = "file" if kind == "text" and name in MODEL_FILES else kind
    return kinds


_KINDS: Sequence[tuple[tuple[type, ...], str, OptionKind]] = (
    ((tuple, list), r"Sequence\[str|tuple\[str|list\[str", "list"),
    ((bool,), r"\bbool\b", "yes or no"),
    ((float,), r"\bfloat\b", "number"),
    ((int,), r"\bint\b", "whole number"),
    ((str,), r"\bstr\b", "text"),
)
"""The types of an option's default, else the pattern of its annotation, and what kind they mean; the first counts."""


def _kind_of(default: object, annotation: str) -> OptionKind:
    for types, _, kind in _KINDS:
        if isinstance(default, types):
            return kind
    return next((kind for _, pattern, kind in _KINDS if re.search(pattern, annotation)), "Python only")


def _annotation(metric: type[Metric], option: str) -> str:
    """The type that the source declares: of a group's or combination's field, else of the constructor's parameter."""
    declared = (*getattr(metric, "groups", ()), getattr(metric, "combination", None))
    for declaration in filter(is_dataclass, declared):
        for one in fields(declaration):
            if one.name == option:
                return str(one.type)
    for cls in metric.__mro__:
        constructor = vars(cls).get("__init__")
        parameter = signature(constructor).parameters.get(option) if callable(constructor) else None
        if parameter is not None:
            return str(parameter.annotation)
    return ""


def _value(kind: OptionKind, text: str) -> Any:
    if kind == "yes or no":
        if text.lower() not in _YES + _NO:
            raise ValueError(f"give yes or no, not {text!r}")
        return text.lower() in _YES
    if kind in ("whole number", "number"):
        try:
            number = to_number(text)
            value = int(text) if kind == "whole number" else number
        except ValueError:
            raise ValueError(f"give a {kind}, not {text!r}") from None
        if not math.isfinite(value):
            raise ValueError(f"give a {kind}, not {text!r}")
        return value
    if kind == "list":
        return [item for item in text.split("+") if item]
    if kind == "Python only":
        raise ValueError("this option takes a Python object; it cannot be set on the command line")
    return text
