"""Test sets in NIST's SGML and XML: versions of a test set, aligned by document and segment instead of by line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tesla_eval.base.errors import InputError, UsageError
from tesla_eval.judgements.nouns import EvalSet
from tesla_eval.language.analysis.languages import resolve_language
from tesla_eval.texts.lines import any_marked_up, read_lines
from tesla_eval.texts.markup import MarkedSet, SegmentKey, Translation, read_marked_set


@dataclass(frozen=True)
class MarkedInputs:
    """A whole test set: systems and references in the order of the segments, and the document of each."""

    systems: dict[str, list[str]]
    references: list[list[str | None]]
    """`None` where a reference lacks a segment."""
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
        versions = list(_versions(path, "systems", read, keys))
        in_file = f"{path}:" if len(systems) > 1 else ""
        for name, texts in versions:
            by_file = path if len(versions) == 1 else f"{in_file}{name}"
            called = (name or path) if own_names else by_file
            if called in by_system:
                raise UsageError(f"{path}: the system {called} is given twice")
            by_system[called] = texts
    return MarkedInputs(
        by_system,
        [texts for path in references for _, texts in _versions(path, "references", read, keys)],
        None if source is None else next(_versions(source, "source", read, keys))[1],
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

    def marked(paths: Sequence[str], role: str) -> list[tuple[str, Translation]]:
        return [
            (path, version) for path in paths if path in read for version in _of(read[path], role).values()
        ]

    keys: dict[SegmentKey, str] = {}
    for path, version in marked(references, "references") or marked(systems, "systems")[:1]:
        for key, line in version.lines.items():
            keys.setdefault(key, f"{path}, line {line}")
    return keys


_SETS = {"source": "a srcset", "references": "a refset", "systems": "a tstset"}


def _of(marked: MarkedSet, role: str) -> dict[str, Translation]:
    versions = getattr(marked, role)
    if not versions:
        raise InputError(f"{marked.name}: has {marked.contents}, not {_SETS[role]}")
    return {"": versions} if isinstance(versions, Translation) else versions


def _versions(
    path: str, role: str, read: Mapping[str, MarkedSet], keys: Mapping[SegmentKey, str]
) -> Iterator[tuple[str, list[Any]]]:
    """The versions of a test set in a file by name; a text file is one without a name. A reference may lack texts."""
    if path not in read:
        yield "", _lines(path, len(keys))
        return
    for name, version in _of(read[path], role).items():
        partial = role == "references"
        texts = [version.texts.get(key) for key in keys] if partial else _complete(path, version, keys)
        yield name, texts


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
        references=tuple(map(tuple, marked.references)),
        human=np.full((len(marked.systems), len(marked.keys)), np.nan),
    )


def _language(text: str) -> str:
    try:
        return resolve_language(text)
    except UsageError:
        raise UsageError(
            f"the files call a language {text!r}, which is unknown; name the pair with --lp, such as --lp de-en"
        ) from None
