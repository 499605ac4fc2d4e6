"""Print whether splitting compounds helps to match lemmas: `measure_compounds.py [LANGUAGE ...]`.

Lists are built as tools/build_compounds.py does (pip install wordfreq). Measured on the nouns of the test sets:

- split: the share of nouns that are split;
- right: where the treebank marks parts in its lemmas (Dutch `leven_stijl`, Finnish `sade#pisara`), of the nouns that
  it marks the share whose parts have the marked lemmas; kept: of those that it does not mark the share left whole;
- own and other: of the content words of a sentence the share that is also in the sentence before it, and in those
  200, 300 and 400 before: whole words by their lemmas, and those that only their parts find there. Neighbours
  speak of the same things, so own should be well above other, which is chance.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence

from build_compounds import RECIPES, part_frequencies
from build_lemmas import sentences
from tesla_eval.base.resources import Provenance
from tesla_eval.language.analysis.compounds import CompoundSplitter
from tesla_eval.language.analysis.conllu import Sentence
from tesla_eval.language.analysis.lemmas import Lemmatiser
from word_lists import compound_resource

MARKS = {"fi": "#", "nl": "_"}
CONTENT = frozenset({"NOUN", "PROPN", "VERB", "ADJ", "ADV"})
OTHER_SENTENCES = (200, 300, 400)  # so many before

Parts = Callable[[str], tuple[str, ...]]
Analysed = dict[str, tuple[str, ...]]


def splitter_of(language: str) -> CompoundSplitter:
    recipe = RECIPES[language]
    frequencies = part_frequencies(language, recipe)
    return CompoundSplitter.from_resource(
        compound_resource(
            frequencies, language, fillers=recipe.fillers, provenance=Provenance(licence=recipe.licence)
        )
    )


def noun_parts(language: str) -> Parts:
    """The lemmas of a noun's parts."""
    splitter, lemmatiser = splitter_of(language), Lemmatiser(language)
    known: dict[str, tuple[str, ...]] = {}

    def parts(noun: str) -> tuple[str, ...]:
        if noun not in known:
            cut = [noun[start:end] for start, end in splitter.split(noun)]
            known[noun] = tuple(lemmatiser.lemmas(cut))
        return known[noun]

    return parts


def against_marks(test: Sequence[Sentence], parts: Parts, mark: str) -> tuple[str, str]:
    """Percent right of the compounds that the treebank marks, percent kept whole of the other nouns."""
    marked = right = whole = kept = 0
    for sentence in test:
        for word in sentence.words:
            if word.upos == "NOUN" and word.form.isalpha() and word.lemma != "_":
                gold, found = tuple(word.lemma.lower().split(mark)), parts(word.form)
                marked += len(gold) > 1
                right += len(gold) > 1 and gold == found
                whole += len(gold) == 1
                kept += len(gold) == len(found) == 1
    return f"{100 * right / marked:.1f}", f"{100 * kept / whole:.1f}"


def analysed(test: Sequence[Sentence], language: str, parts: Parts) -> list[Analysed]:
    """The lemmas of the content words of each sentence, with those of their parts."""
    lemmatiser = Lemmatiser(language)
    found = []
    for sentence in test:
        words = [word for word in sentence.surface() if word.upos in CONTENT and word.form.isalpha()]
        lemmas = lemmatiser.lemmas([word.form for word in words])
        found.append(
            {
                lemma: parts(word.form) if word.upos == "NOUN" else (lemma,)
                for word, lemma in zip(words, lemmas, strict=True)
            }
        )
    return found


def common(texts: Sequence[Analysed], shift: int) -> tuple[float, float]:
    """The percent of words that the sentence `shift` before holds too, and those that only splitting finds there."""
    words = whole = by_parts = 0
    for index, text in enumerate(texts):
        other = texts[(index - shift) % len(texts)]
        other_parts = {part for parts in other.values() for part in parts}
        words += len(text)
        for lemma, parts in text.items():
            whole += lemma in other
            by_parts += lemma not in other and not other_parts.isdisjoint(parts)
    return 100 * whole / words, 100 * by_parts / words


def measure(language: str) -> str:
    test, parts = sentences(language, "test"), noun_parts(language)
    nouns = [w.form for s in test for w in s.words if w.upos == "NOUN" and w.form.isalpha()]
    split = 100 * sum(len(parts(noun)) > 1 for noun in nouns) / len(nouns)
    texts = analysed(test, language, parts)
    own, own_by_parts = common(texts, 1)
    others = [common(texts, shift) for shift in OTHER_SENTENCES]
    chance, chance_by_parts = (sum(column) / len(others) for column in zip(*others, strict=True))
    marks = against_marks(test, parts, MARKS[language]) if language in MARKS else ("–", "–")
    shares = (own, chance, own_by_parts, chance_by_parts)
    times = (own / chance, own_by_parts / chance_by_parts)
    cells = [
        language, f"{len(nouns):,}", f"{split:.1f}", *marks,
        *(f"{share:.2f}" for share in shares), *(f"{ratio:.1f}" for ratio in times),
    ]  # fmt: skip
    return f"| {' | '.join(cells)} |"


def compounds_table(languages: Sequence[str] = tuple(RECIPES)) -> Iterator[str]:
    yield "| | nouns | split | right | kept | own | other | parts own | parts other | ratio | parts' ratio |"
    yield f"|---|{'--:|' * 10}"
    yield from map(measure, languages)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("languages", nargs="*", default=list(RECIPES), metavar="LANGUAGE")
    for line in compounds_table(parser.parse_args().languages):
        print(line, flush=True)


if __name__ == "__main__":
    main()
