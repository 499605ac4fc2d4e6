"""Numbers in digits and in English words, of one or several words (specification §13)."""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tesla_eval.base.arrays import FloatArray, Index

_SMALL = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
    seventeen eighteen nineteen"""
_UNITS = {word: float(value) for value, word in enumerate(_SMALL.split())}
_TENS = {word: 10.0 * value for value, word in enumerate(
    ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"), 2)}  # fmt: skip
_SCALES = {
    "hundred": 1e2,
    "thousand": 1e3,
    "million": 1e6,
    "billion": 1e9,
    "trillion": 1e12,
    "bn": 1e9,
    "dozen": 12.0,
}
_WEAK = {
    "one": 1.0, "first": 1.0, "second": 2.0, "third": 3.0, "thirds": 3.0, "fourth": 4.0, "fifth": 5.0, "sixth": 6.0,
    "seventh": 7.0, "eighth": 8.0, "ninth": 9.0, "tenth": 10.0, "half": 50.0, "quarter": 25.0,
    "twice": 2.0, "once": 1.0, "couple": 2.0, "pair": 2.0, "zero": 0.0,
    "double": 2.0, "doubled": 2.0, "twofold": 2.0, "twins": 2.0, "thrice": 3.0, "triple": 3.0, "tripled": 3.0,
    "triplets": 3.0, "fortnight": 14.0, "decade": 10.0, "century": 100.0, "millennium": 1000.0,
}  # fmt: skip
"""Words with other uses: they contradict another number, but may be missing on one side. A half is 50 per cent."""
UNITS = frozenset(
    """second minute hour day week fortnight month year decade century gram kilogram kilo pound ounce ton tonne
    millimetre millimeter centimetre centimeter metre meter kilometre kilometer mile yard foot inch litre liter gallon
    pint cent dollar euro percent""".split()  # noqa: SIM905
)
"""Numbers of texts with different units are not compared: `ninety minutes` and `one and a half hours`."""
_PLAIN_NUMBER = re.compile(r"(\d{1,3}(?:,\d{3})+|\d+)((?:\.\d+)?)(?:(bn?)|st|nd|rd|th|s)?", re.ASCII)
_LONGEST_NUMBER = 40

NOT_NUMBER, _WORD, _TEN, _SCALE, _WEAK_WORD = range(5)


class Number(NamedTuple):
    """What a word says as a number: its role in longer numbers, and its value."""

    role: int
    value: float


def number_value(form: str) -> Number:
    """The number that a word is.

    >>> number_value("1,500").value, number_value("Twelve").value, number_value("house").role
    (1500.0, 12.0, 0)
    """
    word = form.lower()
    for role, table in ((_WEAK_WORD, _WEAK), (_WORD, _UNITS), (_TEN, _TENS), (_SCALE, _SCALES)):
        if word in table:
            return Number(role, table[word])
    if len(word) <= _LONGEST_NUMBER and (match := _PLAIN_NUMBER.fullmatch(word)):
        scale = _SCALES["bn"] if match[3] else 1.0
        return Number(_WORD, float(match[1].replace(",", "") + match[2]) * scale)
    return Number(NOT_NUMBER, 0.0)


def joined_numbers(
    roles: Index, values: FloatArray, first: npt.NDArray[np.bool_]
) -> tuple[npt.NDArray[np.uint32], FloatArray]:
    """Numbers of several words as one: tens with units, then what a scale multiplies; other words have 0."""
    number = np.where(roles == NOT_NUMBER, 0, np.where(roles == _WEAK_WORD, 1, 2)).astype(np.uint32)
    value = values.copy()
    joined = np.zeros(len(roles), np.bool_)
    joined[1:] = (roles[:-1] == _TEN) & (roles[1:] == _WORD) & (values[1:] < 10) & ~first[1:]
    joined[1:] |= (roles[:-1] == _TEN) & (roles[1:] == _WEAK_WORD) & (values[1:] == 1) & ~first[1:]
    unit = np.flatnonzero(joined)
    value[unit - 1] += value[unit]
    number[unit] = 0
    scale = np.flatnonzero((roles == _SCALE) & ~first)
    before = scale - 1
    before = np.where(joined[before], before - 1, before)
    applies = (number[before] > 0) & (roles[before] != _SCALE)
    value[before[applies]] *= value[scale[applies]]
    number[before[applies]] = 2
    number[scale[applies]] = 0
    return number, value
