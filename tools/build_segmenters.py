"""Build packages/data/src/tesla_eval_data/segmenter-<language>.tesla from the treebanks, and measure them.

    python tools/build_segmenters.py [--output FOLDER] [--try] [LANGUAGE ...]

Shipped models learn from all but the test set, on which they are measured; `--try` holds the development set out
too, measures on it and writes nothing. The folding of traditional Chinese characters comes from OpenCC
(opencc-python-reimplemented, a build-time dependency only).
"""

from __future__ import annotations

import argparse
import gzip
import importlib.resources
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path

from measure_tokenisers import TREEBANKS, Spans, gold_tokens
from tesla_eval.base.resources import Provenance, Resource, write_resource
from tesla_eval.language.analysis.conllu import read_conllu
from tesla_eval.language.analysis.tokenisers import Tokeniser, make_segmenter
from word_lists import SegmentedText, SegmenterSettings, train_segmenter

SYNONYMS = TREEBANKS.parent / "synonyms"
DATA = Path(__file__).resolve().parents[1] / "packages" / "data" / "src" / "tesla_eval_data"


@dataclass(frozen=True)
class Recipe:
    """What a language's segmenter is made of."""

    training: tuple[str, ...]
    held_out: str
    licence: str
    wordnets: tuple[str, ...] = ()
    """Files of data/synonyms whose words are the lexicon, beside those seen twice in training."""
    sources: tuple[str, ...] = ()
    fold_traditional: bool = False
    settings: SegmenterSettings | None = None


SMALL = SegmenterSettings(min_feature_count=1)
RECIPES = {
    "ar": Recipe(("train", "dev"), "dev", "CC BY-SA 3.0", settings=SMALL),
    "ja": Recipe(
        ("train",), "", "CC BY-SA 4.0; lexicon CC BY-SA 3.0", ("omw_jpn_wikt",),
        ("Open Multilingual Wordnet, Japanese from Wiktionary",), settings=SMALL,
    ),
    "th": Recipe(("train", "dev"), "dev", "CC BY-SA 3.0", settings=SMALL),
    "zh": Recipe(
        ("train", "train-check", "dev"), "dev",
        "CC BY-SA 4.0 (GSD, HK, CFL), CC BY-SA 3.0 (PUD, Wiktionary), Wordnet licence (Chinese Open Wordnet), "
        "Apache-2.0 (OpenCC)",
        ("omw_cmn", "omw_cmn_wikt"),
        ("Chinese Open Wordnet", "Open Multilingual Wordnet, Chinese from Wiktionary", "OpenCC TSCharacters"),
        fold_traditional=True,
    ),
}  # fmt: skip


def treebank(language: str, split: str) -> Iterator[tuple[str, str, Spans]]:
    """Source, text and tokens of the sentences."""
    for sentence in read_conllu(TREEBANKS / language / f"{split}.conllu.gz"):
        yield (sentence.comment("source") or "", *gold_tokens(sentence))


def wordnet_words(name: str) -> Iterator[str]:
    """The words of a wordnet's tab file; `+` marks what may be left out."""
    with gzip.open(SYNONYMS / f"{name}.tsv.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            yield from line.rstrip("\n").partition("\t")[2].replace("+", "").split("|")


def traditional_to_simplified() -> dict[str, str]:
    """Characters that are only traditional, and the simplified ones they stand for."""
    table = importlib.resources.files("opencc") / "dictionary" / "TSCharacters.txt"
    rows = (line.split() for line in table.read_text(encoding="utf-8").splitlines())
    return {
        row[0]: row[1]
        for row in rows
        if len(row) > 1 and row[0] != row[1] and len(row[0]) == len(row[1]) == 1
    }


def build(language: str, recipe: Recipe, splits: list[str]) -> Resource:
    sentences = [sentence for split in splits for sentence in treebank(language, split)]
    texts: list[SegmentedText] = [(text, spans) for _, text, spans in sentences]
    counts = Counter(text[start:end] for text, spans in texts for start, end in spans)
    lexicon = {word for word, count in counts.items() if count > 1}
    for name in recipe.wordnets:
        lexicon.update(wordnet_words(name))
    resource = train_segmenter(
        texts, language, lexicon=sorted(lexicon), settings=recipe.settings,
        variants=traditional_to_simplified() if recipe.fold_traditional else None,
    )  # fmt: skip
    sources = (*sorted({source for source, _, _ in sentences}), *recipe.sources)
    today = datetime.now(timezone.utc).date().isoformat()
    return replace(resource, provenance=Provenance(sources, recipe.licence, today))


def token_f1(resource: Resource, split: str) -> float:
    """F1, in percent, of the tokens found with this segmenter."""
    tokeniser = Tokeniser(resource.language, make_segmenter(resource))
    both = total = 0
    for _, text, gold in treebank(resource.language, split):
        found = tokeniser.spans(text)
        both += len({*gold} & {*found})
        total += len(gold) + len(found)
    return 200 * both / total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("languages", nargs="*", metavar="LANGUAGE", help=" ".join(RECIPES))
    parser.add_argument("--output", type=Path, default=DATA, metavar="FOLDER")
    parser.add_argument(
        "--try", dest="attempt", action="store_true", help="measure on the development set only"
    )
    options = parser.parse_args()
    for language in options.languages or RECIPES:
        recipe = RECIPES[language]
        if options.attempt:
            training = [split for split in recipe.training if split != recipe.held_out]
            f1 = token_f1(build(language, recipe, training), recipe.held_out)
            print(f"{language}: F1 {f1:.2f} on {recipe.held_out}")
            continue
        resource = build(language, recipe, list(recipe.training))
        f1 = round(token_f1(resource, "test"), 2)
        path = options.output / f"segmenter-{language}.tesla"
        write_resource(path, replace(resource, info={**resource.info, "test F1": f1}))
        print(f"{path.name}: F1 {f1} on the test set, {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
