"""Print how much a sense table finds, and how much is noise.

    python -m research.senses LANGUAGE [FILE ...] [--neighbours]

Of the words of a WMT12 output that its reference does not hold (the 60 most frequent lemmas left out), how many have
a synonym among the words that only the reference holds? And how many among those of the references of other
segments? The first figure should be high, the second, which is chance, low. Coverage is the share of the words of
the references that the table knows. FILES are tables or files of synonyms; without any, the installed table is
measured. No human judgement is looked at.

`--neighbours` needs no outputs: it takes the next sentence of the same treebank (../shared/data/ud) in the place of the
reference, and sentences far away for chance. Neighbours speak of one subject, so a good table finds more synonyms
there. Treebanks whose sentences are shuffled are left out.
"""

from __future__ import annotations

import argparse
import gzip
import math
import random
import re
from collections import Counter
from itertools import pairwise
from pathlib import Path

from tesla_eval.base.resources import read_resource
from tesla_eval.language.analysis.conllu import read_conllu
from tesla_eval.language.analysis.lemmas import Lemmatiser
from tesla_eval.language.analysis.senses import SenseTable, load_senses
from tesla_eval.language.analysis.synonym_formats import read_synonyms

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
OUTPUTS = SHARED / "wmt" / "wmt12-rr.seg.tsv.gz"
TREEBANKS = SHARED / "ud"
SEGMENTS = 3000
NEIGHBOURS = 6000
IN_ORDER = 2.0  # neighbours share so many times as many words as other sentences, or the treebank is shuffled
FUNCTION_WORDS = 60
OTHER_REFERENCES = (500, 1000, 1500)  # so many segments further on
_WORD = re.compile(r"[^\W_]+(?:-[^\W_]+)*")

Pair = tuple[set[str], set[str]]


def outputs_and_references(language: str) -> list[Pair]:
    """The lemmas of outputs and references, without the most frequent ones."""
    direction = "de-en" if language == "en" else f"en-{language}"
    with gzip.open(OUTPUTS, "rt", encoding="utf-8", newline="\n") as lines:
        rows = [fields[5:7] for line in lines if (fields := line.rstrip("\n").split("\t"))[0] == direction]
    return as_lemmas(random.Random(1).sample(rows, SEGMENTS), language)


def neighbours(language: str) -> list[Pair]:
    """The lemmas of sentences and of their successors, in treebanks that keep the order of their texts."""
    sentences: dict[str, list[str]] = {}
    for path in sorted((TREEBANKS / language).glob("*.conllu.gz")):
        for sentence in read_conllu(path):
            sentences.setdefault(f"{path.name} {sentence.comment('source')}", []).append(sentence.text)
    pairs = []
    for texts in sentences.values():
        here = as_lemmas([list(pair) for pair in pairwise(texts)], language)
        if shared_words(here, 0) > IN_ORDER * shared_words(here, len(here) // 2):
            pairs += here
    return pairs[:: max(1, len(pairs) // NEIGHBOURS)]


def shared_words(pairs: list[Pair], shift: int) -> float:
    """The mean number of words that a text shares with the one beside it, or `shift` pairs further on."""
    shared = (len(text & pairs[(k + shift) % len(pairs)][1]) for k, (text, _) in enumerate(pairs))
    return sum(shared) / max(1, len(pairs))


def as_lemmas(rows: list[list[str]], language: str) -> list[Pair]:
    """Two texts a row as sets of lemmas, without the most frequent ones."""
    texts = [[_WORD.findall(text) for text in row] for row in rows]
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
    near = found(0)
    ratio = near / chance if chance else math.nan
    return f"coverage {coverage:.1f} %, beside it {near:.2f} %, elsewhere {chance:.2f} %, ratio {ratio:.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("language")
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--neighbours", action="store_true")
    arguments = parser.parse_args()
    pairs = (neighbours if arguments.neighbours else outputs_and_references)(arguments.language)
    for path in arguments.files or [None]:
        if path is None:
            table = load_senses(arguments.language)
        elif path.suffix == ".tesla":
            table = SenseTable(read_resource(path, "senses"))
        else:
            table = read_synonyms(path, arguments.language)
        if table is not None:
            sets = table.resource.info["sets"]
            print(f"{path or 'installed'}: {len(pairs)} pairs, {sets} sets, {measure(table, pairs)}")


if __name__ == "__main__":
    main()
