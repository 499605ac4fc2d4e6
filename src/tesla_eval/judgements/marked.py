"""Test sets in NIST's SGML and XML: versions of a test set, aligned by document and segment instead of by line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tesla_eval.base.errors import InputError, UsageError
from tesla_eval.judgements.nouns import EvalSet, present_references
from tesla_eval.language.analysis.languages import resolve_language
from tesla_eval.texts.lines import any_marked_up, read_lines
from tesla_eval.texts.markup import MarkedSet, SegmentKey, Translation, read_marked_set


@dataclass(frozen=True)
class MarkedInputs:
    """A whole test set: systems and references in the order of the segments, and the document of each."""

    systems: dict[str, list[str]]
    references: list[list[str]]
    """An empty text is a missing reference where a segment has others."""
    source: list[str] | None
    keys: tuple[SegmentKey, ...]
    set_id: str
    languages: tuple[str, str]

    @property
    def documents(self) -> tuple[str, ...]:
        """The document of each segment."""
        return tuple(key.document for key in self.keys)


def read_marked_inputs(
    references: Sequence[str], systems: Sequence[str], source: str | None = None, *, own_names: bool = False
) -> MarkedInputs:
    """Systems, references and source of files of which some are SGML or XML; line i of a text file is segment i.

    The segments are those of the references, in the order in which these have them. Every system and the source must
    have all of them and no other; a reference may lack some. A system is called by its file, or with `own_names` (and
    where a file holds several) by its `sysid`.
    """
    read: dict[str, MarkedSet] = {}
    for path in (*references, *systems, *([] if source is None else [source])):
        if any_marked_up(path) and path not in read:
            read[path] = read_marked_set(path)
    if not references:
        references = [path for path in dict.fromkeys(systems) if path in read and read[path].references]
    keys = _segments(read, references, systems)
    by_system: dict[str, list[str]] = {}
    for path in systems:
        for name, texts in _systems(path, read, keys, several=len(systems) > 1, own_names=own_names):
            if name in by_system:
                raise UsageError(f"{path}: the system {name} is given twice")
            by_system[name] = texts
    return MarkedInputs(
        by_system,
        [texts for path in references for texts in _references(path, read, keys)],
        None if source is None else _source(source, read, keys),
        tuple(keys),
        next((one.set_id for one in read.values() if one.set_id), ""),
        (_first(read, "source_language"), _first(read, "target_language")),
    )


def _first(read: Mapping[str, MarkedSet], attribute: str) -> str:
    return next((value for one in read.values() if (value := getattr(one, attribute))), "")


def _segments(
    read: Mapping[str, MarkedSet], references: Sequence[str], systems: Sequence[str]
) -> dict[SegmentKey, str]:
    """The segments in order, each with the place where it is first met."""
    keys: dict[SegmentKey, str] = {}
    versions = [
        (path, version)
        for path in references
        if path in read
        for version in _of(read[path], "references").values()
    ]
    if not versions:
        versions = [
            (path, version)
            for path in systems
            if path in read
            for version in _of(read[path], "systems").values()
        ][:1]
    for path, version in versions:
        for key, line in version.lines.items():
            keys.setdefault(key, f"{path}, line {line}")
    return keys


def _of(marked: MarkedSet, role: str) -> dict[str, Translation]:
    versions: dict[str, Translation] = getattr(marked, role)
    if not versions:
        wanted = "a refset" if role == "references" else "a tstset"
        raise InputError(f"{marked.name}: has {marked.contents}, not {wanted}")
    return versions


def _systems(
    path: str,
    read: Mapping[str, MarkedSet],
    keys: Mapping[SegmentKey, str],
    *,
    several: bool,
    own_names: bool,
) -> Iterator[tuple[str, list[str]]]:
    if path not in read:
        yield path, _lines(path, len(keys))
        return
    versions = _of(read[path], "systems")
    for name, version in versions.items():
        by_file = path if len(versions) == 1 else f"{path}:{name}" if several else name
        yield (name or path) if own_names else by_file, _complete(path, version, keys)


def _references(
    path: str, read: Mapping[str, MarkedSet], keys: Mapping[SegmentKey, str]
) -> Iterator[list[str]]:
    if path not in read:
        yield _lines(path, len(keys))
        return
    for version in _of(read[path], "references").values():
        yield [version.texts.get(key, "") for key in keys]


def _source(path: str, read: Mapping[str, MarkedSet], keys: Mapping[SegmentKey, str]) -> list[str]:
    if path not in read:
        return _lines(path, len(keys))
    version = read[path].source
    if version is None:
        raise InputError(f"{path}: has {read[path].contents}, not a srcset")
    return _complete(path, version, keys)


def _complete(path: str, version: Translation, keys: Mapping[SegmentKey, str]) -> list[str]:
    """The texts of all segments; one too few or too many is an error that names the line."""
    for key, line in version.lines.items():
        if key not in keys:
            raise InputError(f"{path}, line {line}: {key} is not in the references")
    for key, place in keys.items():
        if key not in version.texts:
            raise InputError(f"{path}: has no {key}, which is in {place}")
    return [version.texts[key] for key in keys]


def _lines(path: str, expected: int) -> list[str]:
    lines = read_lines(path)
    if len(lines) != expected:
        raise InputError(f"{path}: has {len(lines)} lines, but the test set has {expected} segments")
    return lines


def marked_eval_set(references: Sequence[str], systems: Sequence[str], *, lp: str | None = None) -> EvalSet:
    """The outputs of a test set without human scores: those come from other files.

    Systems have the names that the files give them (`sysid`). Segments are called `document:segment`.
    """
    marked = read_marked_inputs(references, systems, own_names=True)
    if not marked.references:
        raise UsageError("give the references of the test set with --reference")
    if lp is None:
        lp = "-".join(map(_language, marked.languages))
    return EvalSet(
        lp=lp,
        testset=marked.set_id or "testset",
        systems=tuple(marked.systems),
        segments=tuple(f"{key.document}:{key.segment}" for key in marked.keys),
        hypotheses=tuple(map(tuple, marked.systems.values())),
        references=tuple(zip(*map(present_references, zip(*marked.references, strict=True)), strict=True)),
        human=np.full((len(marked.systems), len(marked.keys)), np.nan),
        documents=marked.documents,
    )


def _language(text: str) -> str:
    try:
        return resolve_language(text)
    except UsageError:
        raise UsageError(
            f"the files call a language {text!r}, which is unknown; name the pair with --lp, such as --lp de-en"
        ) from None
