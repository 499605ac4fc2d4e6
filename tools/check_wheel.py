"""Check the sizes of what a wheel holds: `check_wheel.py dist/*.whl`.

The budget is in megabytes as stored in the wheel; analysis (taggers, tables, core and code) must stay
below 26 MB together. Exits with 1 and names what is too large.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import PurePosixPath
from zipfile import ZipFile

MEGABYTE = 1_000_000
BUDGET = {
    "taggers": 16, "senses": 4, "phrase tables": 19, "language models": 8, "vectors": 8, "parser": 6, "the rest": 6,
}  # fmt: skip
ANALYSIS = 26
"""Megabytes for all but phrase tables, language models, vectors and the parser."""
_PARTS = {
    "tagger": "taggers",
    "senses": "senses",
    "antonyms": "senses",
    "pivot": "phrase tables",
    "phrases": "phrase tables",
    "lm": "language models",
    "parser": "parser",
    "discourse": "parser",
    "srl": "parser",
    "vectors": "vectors",
    "detection": "taggers",
    "lemmas": "taggers",  # form to lemma: a lexicon
    "compounds": "taggers",  # parts of words: a lexicon
}
"""What the files in tesla_eval/data belong to, by the beginning of their names; all others are the rest."""


def part_of(name: str) -> str:
    """The part of the budget that a file of a wheel counts for.

    >>> part_of("tesla_eval/data/tagger-de.tesla"), part_of("tesla_eval/cli/score.py")
    ('taggers', 'the rest')
    """
    path = PurePosixPath(name)
    return _PARTS.get(path.name.partition("-")[0], "the rest") if path.parent.name == "data" else "the rest"


def sizes(wheel: str) -> Counter[str]:
    """Bytes by part of the budget."""
    found: Counter[str] = Counter()
    with ZipFile(wheel) as archive:
        for entry in archive.infolist():
            found[part_of(entry.filename)] += entry.compress_size
    return found


def main() -> None:
    too_large = []
    for wheel in sys.argv[1:]:
        found = sizes(wheel)
        print(wheel)
        for part, limit in BUDGET.items():
            print(f"  {part:<16}{found[part] / MEGABYTE:8.2f} MB of {limit}")
            if found[part] > limit * MEGABYTE:
                too_large.append(part)
        analysis = sum(found[part] for part in ("taggers", "senses", "the rest"))
        print(f"  {'all':<16}{sum(found.values()) / MEGABYTE:8.2f} MB")
        print(
            f"  {'analysis':<16}{analysis / MEGABYTE:8.2f} MB of {ANALYSIS} (all but tables, models and vectors)"
        )
        if analysis > ANALYSIS * MEGABYTE:
            too_large.append(f"all but phrase tables, language models and vectors (limit {ANALYSIS} MB)")
    if too_large:
        raise SystemExit(f"too large: {', '.join(too_large)}")


if __name__ == "__main__":
    main()
