"""Build the shipped phrase tables from ../shared/data/bitext: `build_phrase_tables.py [LANGUAGE-PIVOT ...]`.

English with the pivots cs, de, es, fr and zh; German, French, Spanish and Czech with the pivot English. Text: Tatoeba,
LibreOffice help and Bibles; test sets of WMT, Multi30k and what states no licence are left out. The
shipped tables were aligned with eflomal (`pip install eflomal`); `--aligner hmm` takes our own aligner. `stems-en-zh`
is PEM's own table, aligned with ours: the same command gives the same bytes. Stages are kept under
build/phrase-tables, so that an interrupted run goes on where it stopped.
`docs/tesla-b.md` tells what pruning costs.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from shippable_bitext import BITEXT, DATE, FILES, LICENCE, NOTICE, ROOT, SOURCES
from tesla_eval.base.resources import Provenance, write_resource
from tesla_eval.cli.shared.terminal import progress
from tesla_eval.language.pivot import KIND, LEAST_PROBABILITY, STEMS
from tesla_eval.training.bitext import Bitext
from tesla_eval.training.phrase_tables import ALIGNERS, PhraseTableRecipe, build_phrase_table

DATA = ROOT / "packages" / "data" / "src" / "tesla_eval_data"
WORK = ROOT / "build" / "phrase-tables"

TABLES = ("en-cs", "en-de", "en-es", "en-fr", "en-zh", "stems-en-zh", "cs-en", "de-en", "es-en", "fr-en")
TRADITIONAL = ("bible_cuv_hant", "tatoeba_hant")  # Chinese in the other script: its words would not meet
MIN_COUNT, MIN_COUNT_OF_STEMS = 5, 8
"""Phrases seen less often are left out, to keep all tables within 19 MB."""

HEAD = """Phrase tables (phrases-*.tesla)

tesla-eval counted phrases of up to four words and their translations in the texts below; the tables hold phrases that
occur several times and their frequencies, and no sentence. vectors-cs.tesla, vectors-de.tesla, vectors-es.tesla and
vectors-fr.tesla hold the words of these tables with means of English word vectors (see apache-2.0.txt).
"""


def bitexts(language: str, pivot: str) -> list[Bitext]:
    """The files of a pair of languages whose licence allows shipping, in a fixed order."""
    other = pivot if language == "en" else language
    folder = BITEXT / f"{other}-en"
    found = []
    for path in sorted(folder.glob("*.en.gz")):
        if path.name.startswith(FILES) and not path.name.startswith(TRADITIONAL):
            sides = {"en": str(path), other: str(path.with_name(path.name.replace(".en.gz", f".{other}.gz")))}
            found.append(Bitext(sides[language], sides[pivot]))
    return found


def build(name: str, output: Path, min_count: int | None, aligner: str | None) -> None:
    """Build one table; one of stems is called `stems-en-zh`."""
    *kinds, language, pivot = name.split("-")
    stems = kinds == [STEMS]
    recipe = PhraseTableRecipe(
        language, pivot, tuple(bitexts(language, pivot)),
        min_count=min_count or (MIN_COUNT_OF_STEMS if stems else MIN_COUNT), min_probability=LEAST_PROBABILITY,
        compact=True, aligner=aligner or ("hmm" if stems else "eflomal"), stems=stems,
        provenance=Provenance(SOURCES, LICENCE, DATE),
    )  # fmt: skip
    with progress() as bar:
        resource = build_phrase_table(recipe, WORK / name, bar)
    path = output / f"{KIND}-{name}.tesla"
    write_resource(path, resource)
    print(f"{path.name}: {path.stat().st_size:,} bytes, {resource.info['phrases']:,} phrases")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tables", nargs="*", metavar="LANGUAGE-PIVOT", help="default: all that ship")
    parser.add_argument("--output", type=Path, default=DATA, metavar="FOLDER")
    parser.add_argument(
        "--min-count", type=int, help="phrases seen less often are left out; default: as the shipped tables"
    )
    parser.add_argument("--aligner", choices=ALIGNERS, help="default: as the shipped tables")
    options = parser.parse_args(arguments)
    for name in options.tables or TABLES:
        build(name, options.output, options.min_count, options.aligner)
    (options.output / "licences").mkdir(exist_ok=True)
    (options.output / "licences" / "phrase-tables.txt").write_text(HEAD + NOTICE, encoding="utf-8")


if __name__ == "__main__":
    main()
