"""Measure every language on the test sets of ../shared/data/ud: writes data/languages.json and docs/languages.md.

python tools/make_languages.py [-o docs/languages.md] [LANGUAGE ...]

With LANGUAGES only their figures are measured and printed, and nothing is written. The segmenters of others that are
installed (jieba, fugashi with unidic-lite, pythainlp) are measured beside ours; wordfreq is needed, because lists of
compounds are built anew. Speeds are the best of several passes, in the core, on one thread.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from build_lemmas import accuracy, pairs, predictions, sentences, without_table
from measure_compounds import compounds_table
from measure_tokenisers import (
    PEERS,
    Mistakes,
    gold_texts,
    peer_f1,
    token_f1,
    tokens_per_second,
    treebank_languages,
)
from tesla_eval.base.resources import Resource, read_resource, shipped_folder
from tesla_eval.language.analysis.languages import LANGUAGES, MEASURED_PARTS
from tesla_eval.language.analysis.lemmas import Lemmatiser, normalise_form
from tesla_eval.language.analysis.tags import read_tagger
from tesla_eval.training.taggers import evaluate

ROOT = Path(__file__).resolve().parents[1]
HEAD = Path(__file__).with_name("languages_head.md")
PASSES = 30


@dataclass(frozen=True)
class Measured:
    """One language: percent right on its test set, speeds in million words a second."""

    code: str
    resources: dict[str, Resource]
    words: int
    tokens: float
    universal_tags: float
    fine_tags: float | None
    surface_tags: float
    lemmas: float | None
    simplemma: float | None
    word_itself: float | None
    tokeniser_speed: float
    tagger_speed: float
    cold_tagger_speed: float
    tagger_milliseconds: float

    def figures(self) -> dict[str, Any]:
        """What `tesla resources` is to know: nothing that depends on the machine."""
        found = {
            "tokens": self.tokens, "lemmas": self.lemmas, "simplemma": self.simplemma, "words": self.words,
            "fingerprints": {k: r.fingerprint for k, r in self.resources.items() if k in MEASURED_PARTS},
        }  # fmt: skip
        return {name: value for name, value in found.items() if value is not None}


def shipped_resources(language: str) -> dict[str, Resource]:
    found = (read_resource(path) for path in sorted(shipped_folder().glob(f"*-{language}.tesla")))
    return {resource.kind: resource for resource in found}


def measure(language: str) -> Measured:
    resources = shipped_resources(language)
    test = sentences(language, "test")
    texts = gold_texts(language, "test")
    path = resources["tagger"].path
    assert path is not None
    tagger = read_tagger(path)
    tags = evaluate(tagger, (sentence.words for sentence in test))
    surface = evaluate(tagger, (sentence.surface() for sentence in test))
    warm, cold = tagger.core.measure_speed([[word.form for word in s.words] for s in test], PASSES)
    words = list(pairs(test, language))
    lemmatiser, plain = Lemmatiser(language), Lemmatiser(language, without_table(language))

    def share(lemmatise: Callable[[list[str]], list[str]]) -> float | None:
        return round(accuracy(words, predictions(words, lemmatise)), 2) if words else None

    return Measured(
        code=language,
        resources=resources,
        words=tags.words,
        tokens=round(token_f1(language, texts, Mistakes()), 2),
        universal_tags=round(tags.universal, 2),
        fine_tags=None if tags.fine is None else round(tags.fine, 2),
        surface_tags=round(surface.universal, 2),
        lemmas=share(lemmatiser.lemmas),
        simplemma=share(plain.lemmas) if plain.name != "none" else None,
        word_itself=share(lambda forms: [normalise_form(form, language).lower() for form in forms]),
        tokeniser_speed=tokens_per_second(language, texts) / 1e6,
        tagger_speed=warm / 1e6,
        cold_tagger_speed=cold / 1e6,
        tagger_milliseconds=min(loading_milliseconds(path) for _ in range(5)),
    )


def loading_milliseconds(path: Path) -> float:
    """Processor time, because the machine may be busy with other things."""
    start = time.process_time()
    read_tagger(path)
    return 1000 * (time.process_time() - start)


def number(value: float | None, digits: int = 1) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def quality_table(rows: Iterable[Measured]) -> Iterator[str]:
    tags = "UPOS | XPOS | UPOS, tokens as written"
    lemmas = "lemmas | simplemma alone | the word itself"
    yield f"| | | tokens F1 | {tags} | {lemmas} | words with synonyms |"
    yield f"|---|---|{'--:|' * 8}"
    for row in rows:
        senses = row.resources.get("senses")
        cells = [
            row.code, LANGUAGES[row.code].name, number(row.tokens), number(row.universal_tags),
            number(row.fine_tags), number(row.surface_tags), number(row.lemmas), number(row.simplemma),
            number(row.word_itself), f"{senses.info['lemmas']:,}" if senses else "–",
        ]  # fmt: skip
        yield f"| {' | '.join(cells)} |"


def speed_table(rows: Iterable[Measured]) -> Iterator[str]:
    yield "| | test words | tokeniser | tagger | tagger, every word new | tagger loads in ms | tagger, kB |"
    yield f"|---|{'--:|' * 6}"
    for row in rows:
        path = row.resources["tagger"].path
        assert path is not None
        yield (
            f"| {row.code} | {row.words:,} | {row.tokeniser_speed:.1f} | {row.tagger_speed:.1f} | "
            f"{row.cold_tagger_speed:.2f} | {row.tagger_milliseconds:.1f} | {path.stat().st_size / 1000:.0f} |"
        )


def source_table() -> Iterator[str]:
    """Every file that ships; those of a kind that have the same sources, such as a language's models, are one row."""
    shipped = (read_resource(path) for path in shipped_folder().glob("*.tesla"))
    rows = {
        (r.language, _label(r), "; ".join(r.provenance.sources).replace("|", "\\|"), r.provenance.licence)
        for r in shipped
    }
    yield "| | resource | learned or taken from | licence |"
    yield "|---|---|---|---|"
    for row in sorted(rows):
        yield f"| {' | '.join(row)} |"


def _label(resource: Resource) -> str:
    pivot = resource.info.get("pivot")
    return f"{resource.kind}, pivot {pivot}" if pivot else resource.kind


def page(rows: Sequence[Measured]) -> str:
    own = {f"own_{row.code}": number(row.tokens) for row in rows if not LANGUAGES[row.code].spaces}
    peers = {name: number(peer_f1(name)) for name in PEERS}
    slowest = min(rows, key=lambda row: row.tagger_speed)
    head = HEAD.read_text("utf-8").format(
        languages=len(rows), **own, **peers,
        slowest=slowest.code, slowest_speed=number(slowest.tagger_speed),
        cold_lowest=number(min(row.cold_tagger_speed for row in rows), 2),
        cold_highest=number(max(row.cold_tagger_speed for row in rows), 2),
        compounds="\n".join(compounds_table()),
    )  # fmt: skip
    parts = head.split("TABLE\n")
    tables = (quality_table(rows), speed_table(rows), source_table())
    filled = [part + "\n".join(table) + "\n" for part, table in zip(parts, tables, strict=False)]
    return "".join([*filled, *parts[len(tables) :]])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("languages", nargs="*", metavar="LANGUAGE")
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "docs" / "languages.md")
    wishes = parser.parse_args()
    rows = []
    for language in wishes.languages or sorted(treebank_languages()):
        print(language, file=sys.stderr, flush=True)
        rows.append(measure(language))
    if wishes.languages:
        print("\n".join([*quality_table(rows), "", *speed_table(rows)]))
        return
    figures = {row.code: row.figures() for row in rows}
    text = json.dumps({"made by": "tools/make_languages.py", "languages": figures}, indent=1, sort_keys=True)
    (shipped_folder() / "languages.json").write_text(text + "\n", encoding="utf-8")
    wishes.output.write_text(page(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
