"""Synonym files in common formats, read strictly: MyThes, wordnet tab files, LMF, Cilin, TSV; compressed too."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from tesla_eval.base.errors import InputError, UsageError
from tesla_eval.base.resources import Provenance
from tesla_eval.language.analysis.senses import SenseTable, sense_key
from tesla_eval.texts.compression import open_bytes, reading_error

_BLOCK_BYTES = 1 << 20
_LARGEST_TESTED_LIST = 100  # testing a list takes the square of its length


def clique_cover(senses: Iterable[tuple[str, set[str]]]) -> list[list[str]]:
    """Sets such that two words share one exactly if one of them lists the other.

    A list whose words all list each other (a synset that is repeated at each of its members) becomes one set,
    longer lists first; what these leave over is covered greedily, in alphabetical order.

    >>> clique_cover([("big", {"large", "grown"}), ("large", {"big"}), ("grown", {"big"})])
    [['big', 'grown'], ['big', 'large']]
    """
    senses = sorted(senses, key=lambda sense: (-len(sense[1]), sense[0]))
    neighbours: defaultdict[str, set[str]] = defaultdict(set)
    for headword, listed in senses:
        neighbours[headword] |= listed
        for word in listed:
            neighbours[word].add(headword)
    uncovered = {word: set(others) for word, others in neighbours.items()}
    cliques = []
    for headword, listed in senses:
        members = sorted(listed | {headword})
        if 1 < len(members) <= _LARGEST_TESTED_LIST and _is_clique(members, neighbours):
            if not any(uncovered[word].intersection(members) for word in members):
                continue
            _cover(members, uncovered)
            cliques.append(members)
    for word in sorted(neighbours):
        while uncovered[word]:
            members = _grow([word, min(uncovered[word])], neighbours, uncovered)
            _cover(members, uncovered)
            cliques.append(sorted(members))
    return cliques


def _is_clique(members: Sequence[str], neighbours: dict[str, set[str]]) -> bool:
    everyone = set(members)
    return all(len(everyone - neighbours[word]) == 1 for word in members)  # all but the word itself


def _grow(members: list[str], neighbours: dict[str, set[str]], uncovered: dict[str, set[str]]) -> list[str]:
    """Add words as long as each adds uncovered pairs, those with the most first."""
    candidates = neighbours[members[0]] & neighbours[members[1]]
    while candidates:
        best = min(candidates, key=lambda word: (-len(uncovered[word].intersection(members)), word))
        if not uncovered[best].intersection(members):
            break
        members.append(best)
        candidates &= neighbours[best]
    return members


def _cover(members: Sequence[str], uncovered: dict[str, set[str]]) -> None:
    for word in members:
        uncovered[word].difference_update(members)


_MOST_BYTES = 1 << 28  # unpacked; the largest thesaurus in use has 29 MB
_MYTHES_ENCODING = re.compile(
    r"(utf-?8|iso-?8859-?\d{1,2}|(windows-|microsoft-cp|cp)125\d|koi8-[ru])", re.IGNORECASE
)
_MYTHES_HEADWORD = re.compile(r"(.*)\|(\d{1,6})")
_NOTE = re.compile(r"\(([^()]*)\)")
_NOT_SYNONYMS = frozenset(
    {"antonym", "generic term", "related term", "similar term", "oberbegriff", "unterbegriff", "assoziation"}
)
"""Notes behind words that a thesaurus lists without calling them synonyms (English, German)."""

_CILIN_CODE = re.compile(r"[A-Z][a-z]\d\d[A-Z]\d\d([=#@])")
_SYNSET_ID = re.compile(r"(?:[a-z]{2,3}-\d\d-)?\d{8}-([nvarsx])")
_WORDNET_FIELD = re.compile(r"(?:[a-z]{2,3}:)?(?:lemma|def|exe)(?::\w+)?")
_CHINESE_PARTICLES = {"a": "的", "s": "的", "r": "地"}


class _Lines(NamedTuple):
    """The lines of a file and the name to use in messages."""

    name: str
    lines: Sequence[str]

    def numbered(self) -> Iterator[tuple[int, str]]:
        """Lines that say something, with their numbers from 1."""
        return ((number, line) for number, line in enumerate(self.lines, 1) if line.strip())

    def error(self, number: int, why: str) -> InputError:
        return InputError(f"{self.name}, line {number}: {why}")


def read_synonyms(path: str | Path, language: str = "und") -> SenseTable:
    """The sense table of a file of synonyms in any of the known formats.

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "own.tsv"
    >>> _ = path.write_text("car\\tauto\\tautomobile\\ncar\\trailcar\\n")
    >>> read_synonyms(path).senses("car")
    (0, 1)
    """
    table = SenseTable.from_sets(read_synonym_sets(path), language, provenance=Provenance((Path(path).name,)))
    if not len(table):
        raise InputError(f"{path}: has no set with two or more single words")
    return table


def read_synonym_sets(path: str | Path, *, every_category: bool = False) -> list[list[str]]:
    """The sets of a file of synonyms, in the order and spelling of the file.

    `every_category` keeps the codes of Cilin that hold related words, too.
    """
    path = Path(path)
    data = _read_bytes(path)
    start = data[:1024].lstrip(b"\xef\xbb\xbf \r\n\t")
    if start.startswith(b"<"):
        return _lmf_sets(path, data)
    first = start.split(b"\n", 1)[0].strip().decode("ascii", "replace")
    if _MYTHES_ENCODING.fullmatch(first):
        return _mythes_sets(_decoded(path, data, first.lower().removeprefix("microsoft-")))
    source = _decoded(path, data, "utf-8")
    reader = _reader_for(source)
    if reader is _cilin_sets:
        return list(_cilin_sets(source, every_category=every_category))
    return list(reader(source))


def _read_bytes(path: Path) -> bytes:
    data = bytearray()
    try:
        with open_bytes(str(path)) as handle:
            while len(data) <= _MOST_BYTES and (block := handle.read(_BLOCK_BYTES)):
                data += block
    except Exception as error:
        raise reading_error(error, str(path), str(path)) from error
    if len(data) > _MOST_BYTES:
        raise InputError(f"{path}: is larger than {_MOST_BYTES >> 20} MB")
    return bytes(data)


def _decoded(path: Path, data: bytes, encoding: str) -> _Lines:
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(f"{path}, line {line}: is not valid {encoding.upper()}; convert the file") from None
    except LookupError:
        raise InputError(
            f"{path}, line 1: there is no encoding {encoding.upper()}; convert the file to UTF-8 and write UTF-8 there"
        ) from None
    return _Lines(str(path), [line.removesuffix("\r") for line in text.removeprefix("\ufeff").split("\n")])


def _reader_for(source: _Lines) -> Callable[[_Lines], Iterator[list[str]]]:
    """The reader for the format of the first line that is not a comment."""
    for _, line in source.numbered():
        if line.startswith("#"):
            continue
        if _CILIN_CODE.match(line):
            return _cilin_sets
        if _SYNSET_ID.match(line) or _WORDNET_FIELD.fullmatch(line.partition("\t")[2].partition("\t")[0]):
            return _wordnet_sets
        break
    return _plain_sets


def _plain_sets(source: _Lines) -> Iterator[list[str]]:
    for number, line in source.numbered():
        if not line.startswith("#"):
            words = [word for word in re.split(r"[\t|]", line) if word.strip()]
            if len(words) < 2:
                raise source.error(number, "must have two or more words, separated by tabs or |")
            yield words


def _cilin_sets(source: _Lines, *, every_category: bool = False) -> Iterator[list[str]]:
    for number, line in source.numbered():
        code, *words = line.split()
        match = _CILIN_CODE.fullmatch(code)
        if match is None:
            raise source.error(number, f"{code[:20]!r} is not a Cilin code such as Aa01A01=")
        if every_category or match[1] == "=":
            yield words


def _wordnet_sets(source: _Lines) -> Iterator[list[str]]:
    sets: defaultdict[str, list[str]] = defaultdict(list)
    for number, line in source.numbered():
        if line.startswith("#"):
            continue
        synset, *fields = line.split("\t")
        match = _SYNSET_ID.fullmatch(synset)
        if match is None or not fields:
            raise source.error(number, "must be a synset id such as 00001740-v, a tab, and words")
        if _WORDNET_FIELD.fullmatch(fields[0]):
            words = fields[1:2] if "lemma" in fields[0] else []
        else:
            words = fields[0].split("|")
        sets[synset] += [_without_particle(word, match[1]) for word in words]
    yield from sets.values()


def _without_particle(word: str, part_of_speech: str) -> str:
    """A Chinese adjective or adverb without 的 or 地, which are tokens of their own (`重要+的`, `非法的`)."""
    stem, _, particle = word.partition("+")
    if particle in {"的", "地"}:
        return stem
    own = _CHINESE_PARTICLES.get(part_of_speech, "")
    return word[:-1] if own and len(word) > 2 and word.endswith(own) else word


def _mythes_sets(source: _Lines) -> list[list[str]]:
    senses = []
    line_number, remaining, headword = 1, 0, ""
    for line_number, line in source.numbered():
        if line_number == 1:  # the encoding
            continue
        if remaining:
            remaining -= 1
            listed = filter(None, map(thesaurus_word, line.split("|")[1:]))
            if headword:
                senses.append((headword, {word for word in listed if word != headword}))
            continue
        match = _MYTHES_HEADWORD.fullmatch(line)
        if match is None:
            raise source.error(line_number, "must be a headword with its number of senses, such as `car|2`")
        headword, remaining = thesaurus_word(match[1]) or "", int(match[2])
    if remaining:
        raise source.error(line_number, f"the file ends, but {remaining} more senses were announced")
    return clique_cover(senses)


def thesaurus_word(entry: str) -> str | None:
    """A word of a thesaurus without its notes; `None` if it is several words or no synonym.

    >>> [thesaurus_word(entry) for entry in ("(sich) setzen (ugs.)", "Geld (Oberbegriff)", "zu Fuß")]
    ['setzen', None, None]
    """
    if "(" in entry:
        notes = {part.strip().lower() for note in _NOTE.findall(entry) for part in note.split(",")}
        if notes & _NOT_SYNONYMS:
            return None
        entry = _NOTE.sub("", entry)
    return sense_key(entry)


def _lmf_sets(path: Path, data: bytes) -> list[list[str]]:
    try:
        lmf = import_module("wn.lmf")
    except ImportError:
        raise UsageError(f"{path}: is XML; wordnets in LMF need the package wn (pip install wn)") from None
    import tempfile

    with tempfile.NamedTemporaryFile(suffix=".xml") as unpacked:
        unpacked.write(data)
        unpacked.flush()
        try:
            resource = lmf.load(unpacked.name)
        except Exception as error:  # whatever an XML parser or wn may find wrong with it
            raise InputError(f"{path}: is not a sound LMF file ({error})") from error
    sets: defaultdict[str, list[str]] = defaultdict(list)
    for lexicon in resource["lexicons"]:
        for entry in lexicon.get("entries", []):
            for sense in entry.get("senses", []):
                sets[sense["synset"]].append(entry["lemma"]["writtenForm"])
    return list(sets.values())
