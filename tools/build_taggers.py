"""Build the shipped taggers from ../shared/data/ud: `build_taggers.py [LANGUAGE ...]`.

A model is built again only if its data, settings or features have changed. Prints a table of what was measured.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import time
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path

from tagger_sources import LEXICON_WORDNETS, RECIPES, Recipe
from tesla_eval.base.parallel import Progress
from tesla_eval.base.resources import Provenance, Resource, read_resource, write_resource
from tesla_eval.cli.shared.terminal import progress
from tesla_eval.language.analysis.conllu import UNKNOWN, Sentence
from tesla_eval.language.analysis.tags import ANALYSIS, KIND, TaggerModel, read_tagger
from tesla_eval.training.taggers import (
    TaggerData,
    build_tagger,
    lexicon_classes,
    read_lexicon,
    read_treebanks,
)
from wordnet_lexica import english_forms, wordnet_words

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared" / "data"
TREEBANKS = SHARED / "ud"
WORDNETS = SHARED / "synonyms"
DATA = ROOT / "packages" / "data" / "src" / "tesla_eval_data"
DATE = "2026-11-15"


def files(recipe: Recipe, names: tuple[str, ...]) -> list[Path]:
    paths = (TREEBANKS / recipe.language / f"{name}.conllu.gz" for name in names)
    return [path for path in paths if path.exists()]


def lexicon_files(recipe: Recipe) -> list[Path]:
    wordnets = [WORDNETS / f"{name}.tsv.gz" for name in LEXICON_WORDNETS.get(recipe.language, ())]
    return wordnets or [path for path in [TREEBANKS / recipe.language / "lexicon.tsv.gz"] if path.exists()]


def lexicon(recipe: Recipe) -> Mapping[str, str] | None:
    paths = lexicon_files(recipe)
    if recipe.language not in LEXICON_WORDNETS:
        return read_lexicon(paths[0]) if paths else None
    words = english_forms if recipe.language == "en" else wordnet_words
    return lexicon_classes(entry for path in paths for entry in words(path))


def inputs_fingerprint(recipe: Recipe) -> str:
    """Changes with every byte of the data, every setting and the tagger's set of features."""
    digest = hashlib.sha256(f"{ANALYSIS} {json.dumps(asdict(recipe), sort_keys=True)}".encode())
    treebank_files = files(recipe, (*recipe.train, *recipe.dev, "test"))
    for path in [*treebank_files, *lexicon_files(recipe)]:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def treebanks(recipe: Recipe, names: tuple[str, ...]) -> list[Sentence]:
    """The sentences; fine tags of sources that use another tag set are forgotten."""
    sentences = read_treebanks(files(recipe, names))
    return [
        sentence if recipe.has_fine_tags(sentence.comment("source") or "") else without_fine_tags(sentence)
        for sentence in sentences
    ]


def without_fine_tags(sentence: Sentence) -> Sentence:
    return sentence._replace(words=tuple(word._replace(xpos=UNKNOWN) for word in sentence.words))


def build(recipe: Recipe, fingerprint: str, bar: Progress) -> Resource:
    data = TaggerData(
        treebanks(recipe, recipe.train),
        treebanks(recipe, recipe.dev),
        treebanks(recipe, ("test",)),
        lexicon(recipe),
    )
    resource = build_tagger(
        data, recipe.language, view=recipe.view, settings=recipe.settings,
        provenance=Provenance(licence=recipe.licence, date=DATE), progress=bar,
    )  # fmt: skip
    sources = (*resource.provenance.sources, *recipe.lexicon_sources)
    provenance = replace(resource.provenance, sources=sources)
    return replace(resource, provenance=provenance, info={**resource.info, "inputs": fingerprint})


def up_to_date(path: Path, fingerprint: str) -> bool:
    return path.exists() and read_resource(path, KIND).info.get("inputs") == fingerprint


def row(model: TaggerModel, path: Path) -> str:
    """Language, accuracies on the test set, size, words a second (in millions), licence."""
    accuracy = model.resource.info["accuracy"]
    test, trial = accuracy["test"], accuracy.get("test, train only", accuracy["test"])
    texts = [[word.form for word in sentence.words] for sentence in read_treebanks(
        [TREEBANKS / model.language / "test.conllu.gz"])]  # fmt: skip
    started = time.perf_counter()
    read_tagger(path)
    milliseconds = 1000 * (time.perf_counter() - started)
    warm, cold = model.core.measure_speed(texts, 10)
    surface = test.get("surface", {}).get("upos", "")
    figures = (
        model.language, test["tokens"], trial["upos"], test["upos"], test.get("xpos", ""), surface,
        f"{path.stat().st_size / 1000:.0f}", f"{warm / 1e6:.1f}", f"{cold / 1e6:.1f}", f"{milliseconds:.1f}",
        model.resource.provenance.licence,
    )  # fmt: skip
    return "\t".join(map(str, figures))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("languages", nargs="*", metavar="LANGUAGE", help="default: all")
    parser.add_argument("-o", "--output", type=Path, default=DATA, help="folder of the models")
    arguments = parser.parse_args()
    recipes = {recipe.language: recipe for recipe in RECIPES}
    print("lang\ttest\ttrain\t+dev\txpos\tsurface\tkB\tM/s\tcold\tms\tlicence")
    with progress() as bar:
        for language in arguments.languages or recipes:
            recipe = recipes[language]
            path = arguments.output / f"{KIND}-{language}.tesla"
            fingerprint = inputs_fingerprint(recipe)
            if not up_to_date(path, fingerprint):
                write_resource(path, build(recipe, fingerprint, bar))
            print(row(read_tagger(path), path), flush=True)


if __name__ == "__main__":
    main()
