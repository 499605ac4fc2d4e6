"""Print how much a sense table finds, and how much of it is noise: `measure_senses.py LANGUAGE [FILE ...]`.

Of the words of a WMT12 output that its reference does not hold (the 60 most frequent lemmas left out), how many have
a synonym among the words that only the reference holds? And how many among those of the references of other
segments? The first figure should be high, the second, which is chance, low. Coverage is the share of the words of
the references that the table knows. FILES are tables or files of synonyms; without any, the installed table is
measured. No human judgement is looked at.
"""

from __future__ import annotations

import argparse
import gzip
import random
import re
from collections import Counter
from pathlib import Path

from tesla_eval.analysis.lemmas import Lemmatiser
from tesla_eval.analysis.senses import SenseTable, load_senses
from tesla_eval.analysis.synonym_formats import read_synonyms
from tesla_eval.resources import read_resource

OUTPUTS = Path(__file__).resolve().parents[2] / "shared" / "data" / "wmt" / "wmt12-rr.seg.tsv.gz"
SEGMENTS = 3000
FUNCTION_WORDS = 60
OTHER_REFERENCES = (500, 1000, 1500)  # so many segments further on
_WORD = re.compile(r"[^\W_]+(?:-[^\W_]+)*")

Pair = tuple[set[str], set[str]]


def outputs_and_references(language: str) -> list[Pair]:
    """The lemmas of outputs and references, without the most frequent ones."""
    direction = "de-en" if language == "en" else f"en-{language}"
    with gzip.open(OUTPUTS, "rt", encoding="utf-8", newline="\n") as lines:
        rows = [fields[5:7] for line in lines if (fields := line.rstrip("\n").split("\t"))[0] == direction]
    texts = [[_WORD.findall(text) for text in row] for row in random.Random(1).sample(rows, SEGMENTS)]
    forms = sorted({word for row in texts for words in row for word in words})
    lemma = dict(zip(forms, Lemmatiser(language).lemmas(forms), strict=True))
    frequency = Counter(lemma[word] for _, reference in texts for word in reference)
    frequent = {word for word, _ in frequency.most_common(FUNCTION_WORDS)}
    return [
        ({lemma[w] for w in output} - frequent, {lemma[w] for w in ref} - frequent) for output, ref in texts
    ]


def measure(table: SenseTable, pairs: list[Pair]) -> str:
    senses = {word: set(table.senses(word)) for pair in pairs for words in pair for word in words}

    def found(shift: int) -> float:
        """The share of an output's own words with a synonym in the reference `shift` segments further on."""
        hits = total = 0
        for index, (output, reference) in enumerate(pairs):
            other = pairs[(index + shift) % len(pairs)][1] - output
            reached = set().union(*(senses[word] for word in other))
            asked = output - reference
            hits += sum(not reached.isdisjoint(senses[word]) for word in asked)
            total += len(asked)
        return 100 * hits / total

    covered = sum(bool(senses[word]) for _, reference in pairs for word in reference)
    coverage = 100 * covered / sum(len(reference) for _, reference in pairs)
    chance = sum(map(found, OTHER_REFERENCES)) / len(OTHER_REFERENCES)
    return f"coverage {coverage:.1f} %, own reference {found(0):.1f} %, other references {chance:.1f} %"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("language", choices=["en", "de", "fr", "es", "cs"])
    parser.add_argument("files", nargs="*", type=Path)
    arguments = parser.parse_args()
    pairs = outputs_and_references(arguments.language)
    for path in arguments.files or [None]:
        if path is None:
            table = load_senses(arguments.language)
        elif path.suffix == ".tesla":
            table = SenseTable(read_resource(path, "senses"))
        else:
            table = read_synonyms(path, arguments.language)
        if table is not None:
            print(f"{path or 'installed'}: {table.resource.info['sets']} sets, {measure(table, pairs)}")


if __name__ == "__main__":
    main()
