"""Build the shipped sense tables from ../shared/data/synonyms: `build_senses.py [LANGUAGE ...]`."""

from __future__ import annotations

import gzip
import sys
from collections.abc import Iterator
from pathlib import Path

from tesla_eval.analysis.senses import SenseTable
from tesla_eval.resources import write_resource

ROOT = Path(__file__).resolve().parents[1]
SYNONYMS = ROOT.parent / "shared" / "data" / "synonyms"
DATA = ROOT / "src" / "tesla_eval" / "data"


def wordnet_sets(path: Path) -> Iterator[list[str]]:
    """The synsets of a table: id, words joined by `|`, and whatever else follows."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield line.rstrip("\n").split("\t")[1].split("|")


def build(language: str) -> SenseTable:
    return SenseTable.from_sets(
        wordnet_sets(SYNONYMS / "wordnet30_en_synsets.tsv.gz"),
        language,
        sources=["WordNet 3.0 (Princeton University)"],
        licence="WordNet 3.0 licence",
        date="2006",
    )


def main(languages: list[str]) -> None:
    for language in languages or ["en"]:
        table = build(language)
        path = DATA / f"senses-{language}.tesla"
        write_resource(path, table.resource, compress=False)
        print(f"{language}: {table.resource.info} {path.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main(sys.argv[1:])
