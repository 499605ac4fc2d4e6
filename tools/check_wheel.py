"""Check the sizes of wheels: `check_wheel.py dist/*.whl`.

Each distribution has a budget, in megabytes as stored in the wheel, and the data have one for each kind of model. Exits
with 1 and names what is too large.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path, PurePosixPath
from zipfile import ZipFile

MEGABYTE = 1_000_000
WHOLE = {"tesla_eval": 6, "tesla_eval_data": 55, "tesla_eval_papers": 12, "tesla_eval_neural": 17}
"""The limit for each distribution."""
BUDGET = {
    "taggers": 16, "senses": 4, "phrase tables": 19, "language models": 6, "vectors": 8, "the rest": 4,
}  # fmt: skip
"""The limits within tesla_eval_data."""
_PARTS = {
    "tagger": "taggers",
    "senses": "senses",
    "antonyms": "senses",
    "pivot": "phrase tables",
    "phrases": "phrase tables",
    "lm": "language models",
    "vectors": "vectors",
    "detection": "taggers",
    "lemmas": "taggers",  # form to lemma: a lexicon
    "compounds": "taggers",  # parts of words: a lexicon
}
"""What the models and tables belong to, by the beginning of their names; all others are the rest."""


def part_of(name: str) -> str:
    """The part of the budget that a file of tesla_eval_data counts for.

    >>> part_of("tesla_eval_data/tagger-de.tesla"), part_of("tesla_eval_data/licences/mit.txt")
    ('taggers', 'the rest')
    """
    return _PARTS.get(PurePosixPath(name).name.partition("-")[0], "the rest")


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
        distribution, found = Path(wheel).name.partition("-")[0], sizes(wheel)
        limits = {"all": WHOLE[distribution], **(BUDGET if distribution == "tesla_eval_data" else {})}
        found["all"] = found.total()
        print(wheel)
        for part, limit in limits.items():
            print(f"  {part:<16}{found[part] / MEGABYTE:8.2f} MB of {limit}")
            if found[part] > limit * MEGABYTE:
                too_large.append(f"{part} of {distribution}")
    if too_large:
        raise SystemExit(f"too large: {', '.join(too_large)}")


if __name__ == "__main__":
    main()
