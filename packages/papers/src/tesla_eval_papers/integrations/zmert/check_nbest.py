"""Check an n-best list before Z-MERT reads it: on most faults Z-MERT loops for ever or dies without a word.

Usage: check_nbest.py LIST SENTENCES FEATURES MOST_PER_SENTENCE
"""

from __future__ import annotations

import math
import sys
from pathlib import Path


def problems(path: str, sentences: int, features: int, most: int) -> str | None:
    """What is wrong with the list, or None."""
    current, count = -1, 0
    with Path(path).open("rb") as lines:
        for number, raw in enumerate(lines, 1):
            place = f"{path}, line {number}"
            try:
                fields = raw.decode("utf-8").rstrip("\r\n").split("|||")
            except UnicodeDecodeError:
                return f"{place}: is not valid UTF-8"
            fault = _fault(fields, features)
            if fault:
                return f"{place}: {fault}"
            sentence = int(fields[0])
            if sentence not in (current, current + 1):
                return f"{place}: sentence {sentence} after {current}; sentences ascend from 0 without a gap"
            count = 1 if sentence != current else count + 1
            current = sentence
            if count > most:
                return f"{place}: more than {most} candidates of sentence {sentence} (-N); Z-MERT would crash"
    if current + 1 != sentences:
        return f"{path}: candidates for {current + 1} of {sentences} sentences; Z-MERT would crash"
    return None


def _fault(fields: list[str], features: int) -> str | None:
    """What is wrong with the fields of one line, or None."""
    if len(fields) < 3 or not (fields[0].strip().isascii() and fields[0].strip().isdigit()):
        return "must be SENTENCE ||| TEXT ||| FEATURES; Z-MERT would loop for ever here"
    values = fields[2].split()
    if len(values) != features or not all(map(_is_number, values)):
        return f"must have {features} features that are numbers, as many as there are parameters"
    return None


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def main() -> None:
    """Check the list that the arguments name."""
    path, sentences, features, most = sys.argv[1], *map(int, sys.argv[2:5])
    found = problems(path, sentences, features, most)
    if found:
        sys.exit(found)


if __name__ == "__main__":
    main()
