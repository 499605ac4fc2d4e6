"""Weights of features on disk: Z-MERT's parameter files, `moses.ini`, and plain lines `NAME VALUE`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tesla_eval.base.arrays import FloatArray
from tesla_eval.base.errors import InputError
from tesla_eval.choosing.moses import fixed_weights, moses_weights, with_moses_weights
from tesla_eval.choosing.nbest import SEPARATOR
from tesla_eval.texts.lines import LineReader, is_number

_UNBOUNDED = {"-inf": -math.inf, "+inf": math.inf, "inf": math.inf, "none": math.inf}


@dataclass(frozen=True)
class Parameter:
    """A feature's weight: where it starts, whether it is tuned, its bounds, and where random starts are drawn."""

    name: str
    value: float = 0.0
    tuned: bool = True
    low: float = -math.inf
    high: float = math.inf
    draw_low: float = -1.0
    draw_high: float = 1.0


@dataclass(frozen=True)
class Parameters:
    """All weights, and how they are scaled in the end: a rule of Z-MERT's files, such as `LNorm 2 1`."""

    items: tuple[Parameter, ...]
    normalization: str = "none"
    moses: tuple[str, ...] = ()
    """The lines of the `moses.ini` that the weights stand in, if they do."""

    @classmethod
    def named(cls, names: Sequence[str]) -> Parameters:
        """All tuned, without bounds."""
        return cls(tuple(map(Parameter, names)))

    @property
    def names(self) -> tuple[str, ...]:
        """The names in the order of the weights."""
        return tuple(item.name for item in self.items)

    @property
    def by_name(self) -> dict[str, float]:
        """The weight of each name."""
        return {item.name: item.value for item in self.items}

    @property
    def weights(self) -> FloatArray:
        """The values as an array."""
        return np.array([item.value for item in self.items])

    def with_weights(self, weights: FloatArray) -> Parameters:
        """The same with other values."""
        values = zip(self.items, weights.tolist(), strict=True)
        return replace(self, items=tuple(replace(item, value=value) for item, value in values))

    def normalised(self, weights: FloatArray) -> FloatArray:
        """The weights scaled by the rule; the choice of candidates does not change.

        >>> Parameters.named(["a", "b"]).normalised(np.array([3.0, 4.0]))
        array([3., 4.])
        >>> Parameters((Parameter("a"), Parameter("b")), "LNorm 2 1").normalised(np.array([3.0, 4.0]))
        array([0.6, 0.8])
        """
        rule, *options = self.normalization.lower().split()
        if rule == "none":
            return weights
        present = self._size(np.abs(weights), rule, self.normalization.split()[1:])
        wanted = float(options[1 if rule == "lnorm" else 0])
        return np.asarray(weights * (wanted / present)) if 0 < present < math.inf else weights

    def _size(self, values: FloatArray, rule: str, options: Sequence[str]) -> float:
        if rule == "absval":
            return float(values[self.names.index(options[1])])
        if rule == "maxabsval":
            return float(values.max())
        if rule == "minabsval":
            return float(values[values > 0].min(initial=math.inf))
        power = float(options[0])
        return float((values**power).sum() ** (1 / power))

    def lines(self) -> list[str]:
        """As a decoder reads them: its `moses.ini`, or lines `NAME VALUE`."""
        if self.moses:
            return with_moses_weights(self.moses, self.by_name)
        return [f"{item.name} {item.value!r}" for item in self.items]

    def zmert_lines(self) -> list[str]:
        """As Z-MERT writes them."""
        rows = [
            f"{p.name}\t{SEPARATOR}\t{p.value!r}\t{'Opt' if p.tuned else 'Fix'}\t{_bound(p.low)}\t{_bound(p.high)}"
            f"\t{_bound(p.draw_low)}\t{_bound(p.draw_high)}"
            for p in self.items
        ]
        return [*rows, f"normalization = {self.normalization}"]


def _bound(value: float) -> str:
    return ("+Inf" if value > 0 else "-Inf") if math.isinf(value) else f"{value:+g}" if value else "0"


def read_parameters(path: str) -> Parameters:
    """Z-MERT's parameters (`name ||| value Opt|Fix min max randMin randMax`), a `moses.ini`, or lines `NAME VALUE`."""
    reader = LineReader(path)
    lines = list(reader)
    if "[weight]" in map(str.strip, lines):
        return _moses_parameters(lines, reader.name)
    items: list[Parameter] = []
    normalization = "none"
    for number, line in enumerate(lines, 1):
        place = f"{reader.name}, line {number}"
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        if text.split("=")[0].strip() == "normalization" and SEPARATOR not in text:
            normalization = _checked_rule(text.partition("=")[2].strip(), place)
            continue
        items.append(_zmert_parameter(text, place) if SEPARATOR in text else _plain_parameter(text, place))
        if items[-1].name in {item.name for item in items[:-1]}:
            raise InputError(f"{place}: a second value for {items[-1].name!r}")
    if not items:
        raise InputError(f"{reader.name}: has no parameters")
    parameters = Parameters(tuple(items), normalization)
    rule = normalization.split()
    if rule[0].lower() == "absval" and rule[2] not in parameters.names:
        raise InputError(f"{reader.name}: normalization names {rule[2]!r}, which is no parameter")
    return parameters


def _moses_parameters(lines: Sequence[str], file: str) -> Parameters:
    fixed = fixed_weights(lines)
    items: dict[str, Parameter] = {}
    for number, name, text in moses_weights(lines):
        place = f"{file}, line {number}"
        value = _number(text, place)
        if not name or name in items or not math.isfinite(value):
            raise InputError(f"{place}: must be NAME= VALUE ..., each name once, with finite values")
        items[name] = Parameter(name, value, name not in fixed and name.rpartition("_")[0] not in fixed)
    if not items:
        raise InputError(f"{file}: has no weights under [weight]")
    return Parameters(tuple(items.values()), moses=tuple(lines))


def _checked_rule(rule: str, place: str) -> str:
    name, *options = rule.split() or [""]
    known = {"none": "", "absval": "vn", "maxabsval": "v", "minabsval": "v", "lnorm": "vv"}
    if name.lower() not in known or len(options) != len(known[name.lower()]):
        raise InputError(
            f"{place}: normalization must be none, absval VALUE NAME, maxabsval VALUE, minabsval VALUE or LNorm P VALUE"
        )
    for kind, option in zip(known[name.lower()], options, strict=True):
        if kind == "v" and not 0 < _number(option, place) < math.inf:
            raise InputError(f"{place}: {option!r} must be above 0")
    return " ".join([name, *options])


def _zmert_parameter(text: str, place: str) -> Parameter:
    name, _, rest = text.partition(SEPARATOR)
    fields = rest.split()
    if not name.strip() or len(fields) != 6 or fields[1] not in ("Opt", "Fix"):
        raise InputError(f"{place}: must be NAME ||| VALUE Opt|Fix MIN MAX RANDMIN RANDMAX")
    value, low, high, draw_low, draw_high = (_number(fields[k], place) for k in (0, 2, 3, 4, 5))
    if not math.isfinite(value) or not low < high:
        raise InputError(f"{place}: needs a finite value, and a minimum below the maximum")
    if not (math.isfinite(draw_low) and math.isfinite(draw_high) and draw_low <= draw_high):
        raise InputError(f"{place}: random values need finite bounds, the lower one first")
    return Parameter(name.strip(), value, fields[1] == "Opt", low, high, draw_low, draw_high)


def _plain_parameter(text: str, place: str) -> Parameter:
    name, *values = text.replace("\t", " ").rsplit(" ", 1)
    name = name.strip().removesuffix("=").strip()
    if not values or not name:
        raise InputError(f"{place}: must be NAME VALUE, or a parameter line of Z-MERT")
    value = _number(values[0], place)
    if not math.isfinite(value):
        raise InputError(f"{place}: the weight of {name!r} must be finite")
    return Parameter(name, value)


def _number(text: str, place: str) -> float:
    if text.lower() in _UNBOUNDED:
        return _UNBOUNDED[text.lower()]
    if not is_number(text) or math.isnan(float(text)):
        raise InputError(f"{place}: {text[:40]!r} is not a number")
    return float(text)
