"""Build the table of English antonyms from WordNet: `build_antonyms.py FOLDER [--output FILE]`.

FOLDER holds WordNet's data.noun, data.verb, data.adj and data.adv (Debian's package wordnet-base has them in
/usr/share/wordnet). WordNet relates words of two synonym sets; the other words of either set are antonyms of the word
on the other side too (approve – disapprove, reject). Adjectives that are only similar to one of the two are left out.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from tesla_eval.base.resources import Provenance, Resource, text_array, write_resource
from tesla_eval.language.analysis.antonyms import ANTONYMS

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "packages" / "data" / "src" / "tesla_eval_data"
FILES = {"n": "noun", "v": "verb", "a": "adj", "s": "adj", "r": "adv"}
ANTONYM = "!"
MOST_SENSES = 12
"""Words with more senses (get, come, set) share a set with nearly everything; only WordNet's own pairs have them."""
DATE = "2026-11-16"

Synset = tuple[list[str], list[tuple[str, int, int]]]
"""The words, and for each antonym the key of its set, the number of the word here and of the word there."""


def read_synsets(folder: Path) -> dict[str, Synset]:
    """All synonym sets by part of speech and offset."""
    synsets: dict[str, Synset] = {}
    for name in dict.fromkeys(FILES.values()):
        with (folder / f"data.{name}").open(encoding="utf-8") as lines:
            for line in lines:
                if not line.startswith(" "):  # the licence
                    key, synset = parse(line, name)
                    synsets[key] = synset
    return synsets


def parse(line: str, name: str) -> tuple[str, Synset]:
    """One line of a data file (WordNet's manual page wndb)."""
    fields = line.partition("|")[0].split()
    count = int(fields[3], 16)
    words = [fields[4 + 2 * place].partition("(")[0].lower() for place in range(count)]
    start = 5 + 2 * count
    antonyms = []
    for place in range(int(fields[start - 1])):
        symbol, offset, kind, ends = fields[start + 4 * place : start + 4 * place + 4]
        if symbol == ANTONYM:
            antonyms.append((f"{FILES[kind]}:{offset}", int(ends[:2], 16), int(ends[2:], 16)))
    return f"{name}:{fields[0]}", (words, antonyms)


def antonym_pairs(synsets: dict[str, Synset]) -> Iterator[tuple[str, str]]:
    """WordNet's pairs, and each of their words with the other words of the opposite set that have few senses."""
    senses = Counter((key.partition(":")[0], word) for key, (words, _) in synsets.items() for word in words)
    for key, (words, antonyms) in synsets.items():
        for opposite, here, there in antonyms:
            others = synsets[opposite][0]
            one, other = words[here - 1], others[there - 1]
            yield one, other
            for word in words:
                if senses[key.partition(":")[0], word] <= MOST_SENSES:
                    yield word, other


def antonym_resource(pairs: Iterable[tuple[str, str]], language: str, provenance: Provenance) -> Resource:
    """The pairs as a resource: each once, sorted."""
    unordered = sorted({(min(pair), max(pair)) for pair in pairs if pair[0] != pair[1]})
    words = sorted({word for pair in unordered for word in pair})
    number = {word: place for place, word in enumerate(words, 1)}
    halves: list[npt.NDArray[np.uint16]] = [
        np.array([number[pair[side]] for pair in unordered], np.uint16) for side in (0, 1)
    ]
    return Resource(
        ANTONYMS, language, {"words": text_array("\n".join(words)), "first": halves[0], "second": halves[1]},
        provenance=provenance, info={"words": len(words), "pairs": len(unordered)},
    )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--output", type=Path, default=DATA / f"{ANTONYMS}-en.tesla")
    arguments = parser.parse_args()
    pairs = [pair for pair in antonym_pairs(read_synsets(arguments.folder)) if all(map(str.isalpha, pair))]
    resource = antonym_resource(pairs, "en", Provenance(("WordNet 3.0",), "WordNet 3.0", DATE))
    write_resource(arguments.output, resource)
    size = arguments.output.stat().st_size
    print(f"{resource.info['words']} words, {resource.info['pairs']} pairs, {size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
