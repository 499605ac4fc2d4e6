"""Build the list of compound parts from wordfreq (pip install wordfreq) and ../shared/data.

    build_compounds.py [LANGUAGE ...] [--output FOLDER]

Parts are nouns only: with all 626,000 words of wordfreq as parts, 84 % of tests/data/compounds-de.tsv come out
right (Haus-auf-gaben, Was-erst-off), with nouns 98 %. wordfreq does not tell `Arm` from `arm`, so a German
frequency is multiplied by how often the word is written with a capital inside a sentence. Other languages take
their nouns from the treebank: spelling dictionaries list too much (ens, pen, ren), so that Swedish came out as
stat-ens and Danish as fade-ren. Which languages are worth it tools/measure_compounds.py tells; Danish is not.
"""

from __future__ import annotations

import argparse
import gzip
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from tesla_eval.base.resources import Provenance, write_resource
from tesla_eval.language.analysis.compounds import FILLERS, SHORTEST_PART
from tesla_eval.language.analysis.conllu import read_conllu
from word_lists import compound_resource

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared" / "data"
DATA = ROOT / "packages" / "data" / "src" / "tesla_eval_data"

SHIPPED = ["de", "nl", "sv", "no", "fi"]
LEAST_FREQUENCY = 100  # per thousand million words; rarer nouns hardly ever are parts
NOUN_TAGS = frozenset({"NOUN", "NN", "sub"})  # as treebanks and the German lexicon say
_WORD = re.compile(r"[^\W\d_]+|[.!?:;,„“\"(]")


@dataclass(frozen=True)
class Recipe:
    """What is peculiar to a language."""

    fillers: Sequence[str] = FILLERS
    capital_nouns: bool = False
    sources: Sequence[str] = ()
    licence: str = "CC BY-SA 4.0"


RECIPES = {
    "de": Recipe(
        capital_nouns=True,
        sources=["wordfreq 3.1", "german-pos-dict (Morphy)", "Tatoeba", "LibreOffice help", "UD_German-GSD"],
    ),
    "nl": Recipe(
        fillers=["", "e", "s", "en", "er"], sources=["wordfreq 3.1", "UD_Dutch-Alpino", "UD_Dutch-LassySmall"]
    ),
    "sv": Recipe(
        fillers=["", "a", "e", "o", "s", "u"],
        sources=["wordfreq 3.1", "UD_Swedish-Talbanken", "UD_Swedish-PUD"],
    ),
    "no": Recipe(fillers=["", "e", "s"], sources=["wordfreq 3.1", "UD_Norwegian-Bokmaal"]),
    "fi": Recipe(fillers=[""], sources=["wordfreq 3.1", "UD_Finnish-TDT", "UD_Finnish-PUD"]),
    "da": Recipe(fillers=["", "e", "s"], sources=["wordfreq 3.1", "UD_Danish-DDT"]),
}


def lexicon(language: str) -> dict[str, set[str]]:
    """The tags of the word forms of a lexicon file."""
    tags: defaultdict[str, set[str]] = defaultdict(set)
    with gzip.open(SHARED / "ud" / language / "lexicon.tsv.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            form, _, tag = line.rstrip("\n").split("\t")
            tags[form].add(tag)
    return tags


def treebank_nouns(language: str) -> set[str]:
    """The words that are nouns in most places of the treebank, lower-cased."""
    counts: defaultdict[str, Counter[bool]] = defaultdict(Counter)
    for split in ("train", "train-check", "dev"):
        path = SHARED / "ud" / language / f"{split}.conllu.gz"
        for sentence in read_conllu(path) if path.exists() else ():
            for word in sentence.words:
                counts[word.form.lower()][word.upos in NOUN_TAGS] += 1
    return {form for form, count in counts.items() if count[True] > count[False]}


def german_text() -> Iterator[str]:
    for name in ("tatoeba", "libreoffice-help"):
        with gzip.open(SHARED / "bitext" / "de-en" / f"{name}.de.gz", "rt", encoding="utf-8") as lines:
            yield from lines
    for split in ("train", "train-check"):
        for sentence in read_conllu(SHARED / "ud" / "de" / f"{split}.conllu.gz"):
            yield " ".join(word.form for word in sentence.words)


def noun_shares(tags: Mapping[str, set[str]]) -> dict[str, float]:
    """How often each word is written with a capital where no sentence begins, smoothed."""
    capital: Counter[str] = Counter()
    small: Counter[str] = Counter()
    for line in german_text():
        words = _WORD.findall(line)
        for before, word in pairwise(words):
            if before[0].isalpha() or before in ",;":
                (capital if word[0].isupper() else small)[word.lower()] += 1
    shares = {}
    for form in tags:
        word = form.lower()
        prior = 0.5 if word in tags else 0.9  # also known as a word with a small letter
        shares[word] = (capital[word] + 2 * prior) / (capital[word] + small[word] + 2)
    return shares


def part_frequencies(language: str, recipe: Recipe) -> dict[str, float]:
    from wordfreq import get_frequency_dict  # a build-time dependency only

    frequency = get_frequency_dict("nb" if language == "no" else language, "best")
    shares: dict[str, float] = {}
    if recipe.capital_nouns:
        tags = lexicon(language)
        nouns = {form.lower() for form, found in tags.items() if found & NOUN_TAGS}
        shares = noun_shares(tags)
    else:
        nouns = treebank_nouns(language)
    per_thousand_million = {
        # wordfreq folds ß
        noun: 1e9 * frequency.get(noun.replace("ß", "ss"), 0.0) * shares.get(noun, 1.0)
        for noun in nouns
        if len(noun) >= SHORTEST_PART and noun.isalpha()
    }
    return {noun: count for noun, count in per_thousand_million.items() if count >= LEAST_FREQUENCY}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("languages", nargs="*", default=SHIPPED)
    parser.add_argument("--output", type=Path, default=DATA)
    arguments = parser.parse_args()
    for language in arguments.languages:
        recipe = RECIPES[language]
        frequencies = part_frequencies(language, recipe)
        resource = compound_resource(
            frequencies,
            language,
            fillers=recipe.fillers,
            provenance=Provenance(tuple(recipe.sources), recipe.licence),
        )
        path = arguments.output / f"compounds-{language}.tesla"
        write_resource(path, resource)
        print(f"{language}: {len(frequencies)} parts, {path.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
