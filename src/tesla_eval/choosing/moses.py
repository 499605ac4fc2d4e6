"""Weights in a decoder's `moses.ini`: read from its section `[weight]`, and written back into the same file."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

_SECTION = re.compile(r"\s*\[([^\]]*)\]\s*$")
_WEIGHT = re.compile(r"(\s*([^\s=#]+)\s*=)([^#]*)(.*)", re.DOTALL)
_UNTUNEABLE = "UnknownWordPenalty"  # Moses does not tune it, whatever the file says


def moses_weights(lines: Sequence[str]) -> list[tuple[int, str, str]]:
    """The line, the name and the value of each weight; several values of one name get numbers, as in n-best lists.

    >>> moses_weights(["[weight]", "LM0= 0.5", "D0= 0.3 -1"])
    [(2, 'LM0', '0.5'), (3, 'D0_0', '0.3'), (3, 'D0_1', '-1')]
    """
    return [
        (number, name, value)
        for number, label, values in _weight_lines(lines)
        for name, value in zip(_names(label, len(values)), values, strict=True)
    ]


def with_moses_weights(lines: Sequence[str], weights: Mapping[str, float]) -> list[str]:
    """The file with other values; everything else in it stays.

    >>> with_moses_weights(["[weight]", "LM0= 0.5", "D0= 0.3 -1"], {"LM0": 0.25, "D0_0": 1.0, "D0_1": 2.0})
    ['[weight]', 'LM0= 0.25', 'D0= 1.0 2.0']
    """
    written = list(lines)
    for number, label, values in _weight_lines(lines):
        numbers = " ".join(repr(weights[name]) for name in _names(label, len(values)))
        written[number - 1] = _WEIGHT.sub(rf"\g<1> {numbers}", lines[number - 1], count=1)
    return written


def fixed_weights(lines: Sequence[str]) -> set[str]:
    """The labels of features that Moses does not tune.

    >>> sorted(fixed_weights(["[feature]", "UnknownWordPenalty", "KENLM name=LM0 tuneable=false order=3"]))
    ['LM0', 'UnknownWordPenalty0']
    """
    labels, kinds, section = set(), Counter[str](), ""
    for line in lines:
        if match := _SECTION.match(line):
            section = match[1]
        elif section == "feature" and (words := line.partition("#")[0].split()):
            options = dict(word.split("=", 1) for word in words[1:] if "=" in word)
            label = options.get("name", f"{words[0]}{kinds[words[0]]}")
            kinds[words[0]] += 1
            if options.get("tuneable") == "false" or words[0] == _UNTUNEABLE:
                labels.add(label)
    return labels


def _names(label: str, count: int) -> list[str]:
    return [label] if count == 1 else [f"{label}_{k}" for k in range(count)]


def _weight_lines(lines: Sequence[str]) -> Iterator[tuple[int, str, list[str]]]:
    """Every line of weights with its number, label and values; other lines have the label ''."""
    section = ""
    for number, line in enumerate(lines, 1):
        if match := _SECTION.match(line):
            section = match[1]
        elif section == "weight" and line.partition("#")[0].strip():
            weight = _WEIGHT.match(line)
            yield number, weight[2] if weight else "", weight[3].split() if weight else [line.strip()]
