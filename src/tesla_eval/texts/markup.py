"""Test sets in NIST's SGML and XML (`srcset`, `refset`, `tstset`) and in WMT's `dataset`, read with line numbers.

Files of the NIST, IWSLT and WMT campaigns are SGML that no XML parser takes: tags in capitals, bare ampersands, values
without quotes, paragraphs that are never closed. A file that begins with `<?xml` must be sound XML instead. Neither
kind can define entities, name other files or nest deeply: such input is refused, nothing is expanded and no other file
is opened.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from tesla_eval.base.errors import InputError
from tesla_eval.texts.lines import LineReader

_DEEPEST = 32
_LONGEST_TAG = 1 << 12
_LONGEST_FILE = 1 << 30

_NAMED = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}
_ENTITY = re.compile(r"&(#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{0,31});")
_TAG = re.compile(r"<(/?)([A-Za-z][\w.:-]*)((?:[^<>\"']|\"[^\"]*\"|'[^']*')*)>")
_ATTRIBUTE = re.compile(r"\s+([A-Za-z][\w.:-]*)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'=<>]+))")
_DOCTYPE = re.compile(
    r"<!DOCTYPE\s+(?:mteval|srcset|refset|tstset)(?:\s+SYSTEM\s+\"[^\"<>\[\]]*?mteval[\w.-]*\.dtd\")?\s*>",
    re.IGNORECASE,
)
_ENCODING = re.compile(r"encoding\s*=\s*[\"']([\w.-]+)[\"']", re.IGNORECASE)

_SETS = {"srcset": "src", "refset": "ref", "tstset": "hyp"}
_STRUCTURE = frozenset({*_SETS, "mteval", "dataset", "collection", "doc", "seg", "p", "hl"})
_OPTIONAL_END = frozenset({"p", "hl"})
_DROPPED = "skipped"
"""NIST's mark of a passage that was left out; its own scorer drops it too."""


class SegmentKey(NamedTuple):
    """What a segment is called in every file of a test set."""

    document: str
    segment: str

    def __str__(self) -> str:
        return f"segment {self.segment} of document {self.document}"


@dataclass(frozen=True)
class Translation:
    """One version of a test set: its texts in the order of the file, and the line of each."""

    texts: dict[SegmentKey, str] = field(default_factory=dict)
    lines: dict[SegmentKey, int] = field(default_factory=dict)


@dataclass
class MarkedSet:
    """What one file holds: the source, references by name and systems by name."""

    name: str
    set_id: str = ""
    source_language: str = ""
    target_language: str = ""
    source: Translation | None = None
    references: dict[str, Translation] = field(default_factory=dict)
    systems: dict[str, Translation] = field(default_factory=dict)

    @property
    def contents(self) -> str:
        """What it holds, for messages."""
        parts = [
            ("the source", self.source is not None),
            ("references", bool(self.references)),
            ("systems", bool(self.systems)),
        ]
        return " and ".join(name for name, present in parts if present) or "nothing"

    def of_role(self, role: str, name: str) -> Translation:
        """The version that a document belongs to, made when it is first met."""
        if role == "src":
            self.source = self.source or Translation()
            return self.source
        versions = self.references if role == "ref" else self.systems
        return versions.setdefault(name, Translation())


def read_marked_set(path: str) -> MarkedSet:
    """The source, references and systems of an SGML or XML file; `InputError` names the line of what is wrong."""
    reader = LineReader(path)
    lines, size = [], 0
    for line in reader:
        size += len(line) + 1
        if size > _LONGEST_FILE:
            raise InputError(f"{reader.name}, line {reader.count}: the file is longer than 1 GB")
        lines.append(line)
    documents = _SetReader(reader.name).read("\n".join(lines))
    if not (documents.source or documents.references or documents.systems):
        raise InputError(f"{reader.name}: has no segment of a srcset, refset, tstset or dataset")
    return documents


class _Token(NamedTuple):
    """A piece of a file: text, or a tag with its attributes."""

    line: int
    text: str
    tag: str = ""
    end: bool = False
    alone: bool = False
    attributes: str = ""


class _Scanner:
    """Cuts a file into text and tags; `strict` where it says that it is XML."""

    def __init__(self, name: str, text: str) -> None:
        self.name, self._text = name, text
        self.strict = text.lstrip()[:5].lower() == "<?xml"
        self._line, self._counted = 1, 0

    def error(self, line: int, message: str) -> InputError:
        return InputError(f"{self.name}, line {line}: {message}")

    def tokens(self) -> Iterator[_Token]:
        text, place = self._text, 0
        while (start := text.find("<", place)) >= 0:
            if start > place:
                yield _Token(self._line_of(place), text[place:start])
            line = self._line_of(start)
            if text.startswith("<!--", start):
                place = self._after("-->", start + 4, line, "a comment")
            elif text.startswith("<?", start):
                place = self._after("?>", start, line, "a processing instruction")
                self._check_instruction(text[start:place], line)
            elif text.startswith("<![CDATA[", start):
                place = self._after("]]>", start, line, "a CDATA section")
                yield _Token(line, text[start + 9 : place - 3].replace("&", "&amp;"))
            elif text.startswith("<!", start):
                place = self._after_declaration(start, line)
            else:
                token, place = self._tag(start, line)
                yield token
        if place < len(text):
            yield _Token(self._line_of(place), text[place:])

    def _line_of(self, place: int) -> int:
        self._line += self._text.count("\n", self._counted, place)
        self._counted = place
        return self._line

    def _after(self, closing: str, start: int, line: int, what: str) -> int:
        end = self._text.find(closing, start)
        if end < 0:
            raise self.error(line, f"{what} begins here and never ends")
        return end + len(closing)

    def _check_instruction(self, instruction: str, line: int) -> None:
        encoding = _ENCODING.search(instruction)
        if encoding and encoding[1].lower() not in ("utf-8", "utf8", "us-ascii"):
            raise self.error(
                line,
                f"declares the encoding {encoding[1]}; convert the file to UTF-8 and say so in its first line",
            )

    def _after_declaration(self, start: int, line: int) -> int:
        """Only the document type that NIST's own files name may stand there; it is not looked at."""
        match = _DOCTYPE.match(self._text, start, start + _LONGEST_TAG)
        if match is None:
            raise self.error(
                line,
                "declares entities or a document type of its own, which is refused; remove the declaration",
            )
        return match.end()

    def _tag(self, start: int, line: int) -> tuple[_Token, int]:
        match = _TAG.match(self._text, start, start + _LONGEST_TAG)
        if match is None:
            if self.strict:
                raise self.error(line, "a '<' that begins no tag; write &lt;")
            return _Token(line, "<"), start + 1
        slash, tag, rest = match.groups()
        if self.strict and tag != tag.lower() and tag.lower() in _STRUCTURE - {"doc"}:
            raise self.error(line, f"<{tag}>: XML tells capitals apart; write <{tag.lower()}>")
        alone = rest.rstrip().endswith("/")
        attributes = rest.rstrip().removesuffix("/") if alone else rest
        return _Token(line, match[0], tag.lower(), bool(slash), alone, attributes), match.end()

    def attributes(self, token: _Token) -> dict[str, str]:
        """The attributes of a tag, names in small letters; the first of two of one name counts in SGML."""
        result: dict[str, str] = {}
        place = 0
        while match := _ATTRIBUTE.match(token.attributes, place):
            name, double, single, bare = match.groups()
            if self.strict and bare is not None:
                raise self.error(token.line, f"<{token.tag}>: write the value of {name} in quotes")
            if self.strict and name.lower() in result:
                raise self.error(token.line, f"<{token.tag}> has two attributes {name}")
            value = next(text for text in (double, single, bare, "") if text is not None)
            result.setdefault(name.lower(), self.unescaped(value, token.line).strip())
            place = match.end()
        if token.attributes[place:].strip():
            raise self.error(
                token.line, f"<{token.tag}>: cannot read {token.attributes[place:].strip()[:40]!r}"
            )
        return result

    def unescaped(self, text: str, line: int) -> str:
        """Text with the five predefined entities and numbers of characters resolved; others are refused in XML."""
        if "&" not in text:
            return text
        if self.strict and text.count("&") != len(_ENTITY.findall(text)):
            raise self.error(self._line_within(text, line), "a bare '&'; write &amp;")

        def resolved(match: re.Match[str]) -> str:
            body = match[1]
            if body[0] != "#":
                if body in _NAMED:
                    return _NAMED[body]
                if self.strict:
                    raise self.error(line + text.count("\n", 0, match.start()), f"&{body}; is not defined")
                return match[0]
            number = int(body[2:], 16) if body[1] in "xX" else int(body[1:])
            if number < 32 or number > 0x10FFFF or 0xD800 <= number <= 0xDFFF:
                if number in (9, 10, 13):
                    return " "
                raise self.error(line + text.count("\n", 0, match.start()), f"{match[0]} is no character")
            return chr(number)

        return _ENTITY.sub(resolved, text)

    @staticmethod
    def _line_within(text: str, line: int) -> int:
        """The line of the first ampersand that begins no entity."""
        place = -1
        while (place := text.find("&", place + 1)) >= 0:
            if _ENTITY.match(text, place) is None:
                break
        return line + text.count("\n", 0, max(place, 0))


class _Open(NamedTuple):
    """An open tag, and the version of the test set that its segments belong to: outside of a set, none."""

    tag: str
    line: int
    role: str = ""
    version: str = ""


class _SetReader:
    """Follows the tags of a file and collects its segments."""

    def __init__(self, name: str) -> None:
        self._set = MarkedSet(name)
        self._stack: list[_Open] = []
        self._document = ""
        self._key: SegmentKey | None = None
        self._translation = Translation()
        self._pieces: list[str] = []

    def read(self, text: str) -> MarkedSet:
        self._scanner = scanner = _Scanner(self._set.name, text)
        for token in scanner.tokens():
            if not token.tag or self._is_text(token):
                self._take_text(token)
            elif token.end:
                self._close(token)
            else:
                self._open(token)
        if self._stack:
            last = self._stack[-1]
            raise scanner.error(last.line, f"<{last.tag}> is never closed")
        return self._set

    def _is_text(self, token: _Token) -> bool:
        """Whether what looks like a tag is part of a segment: in SGML, unknown names such as <unk> are."""
        return self._key is not None and not self._scanner.strict and token.tag not in _STRUCTURE

    def _take_text(self, token: _Token) -> None:
        if self._key is not None:
            if token.tag != _DROPPED:
                self._pieces.append(self._scanner.unescaped(token.text, token.line))
        elif token.text.strip() and (not self._stack or self._stack[-1].tag in _STRUCTURE):
            line = token.line + token.text[: len(token.text) - len(token.text.lstrip())].count("\n")
            raise self._scanner.error(line, f"text outside of a segment: {token.text.strip()[:40]!r}")

    def _open(self, token: _Token) -> None:
        error = self._scanner.error
        if self._key is not None:
            raise error(
                token.line,
                f"<{token.tag}> inside of the <seg> of line {self._stack[-1].line}, which is not closed",
            )
        if len(self._stack) >= _DEEPEST:
            raise error(token.line, f"tags are nested more than {_DEEPEST} deep")
        if self._stack and token.tag in _OPTIONAL_END and not self._scanner.strict:
            self._close_paragraphs()
        attributes = self._scanner.attributes(token)
        outer = self._stack[-1] if self._stack else _Open("", token.line)
        opened = outer._replace(tag=token.tag, line=token.line)
        if token.tag in _SETS:
            opened = self._begin_set(token, attributes)
        elif token.tag == "dataset":
            self._set.set_id = attributes.get("id", "")
        elif token.tag == "doc":
            self._begin_document(token, attributes)
            opened = opened._replace(version=attributes.get("sysid", outer.version))
        elif token.tag in _SETS.values() and outer.tag == "doc":
            opened = self._begin_version(token, attributes)
        elif token.tag == "seg":
            self._begin_segment(token, attributes, outer)
        if not token.alone:
            self._stack.append(opened)
        elif token.tag == "seg":
            self._end_segment()

    def _begin_set(self, token: _Token, attributes: dict[str, str]) -> _Open:
        self._note_languages(attributes.get("srclang"), attributes.get("trglang"))
        set_id = attributes.get("setid", "")
        if self._set.set_id and set_id and set_id != self._set.set_id:
            raise self._scanner.error(
                token.line, f"belongs to the test set {set_id}, but an earlier part to {self._set.set_id}"
            )
        self._set.set_id = self._set.set_id or set_id
        version = attributes.get("refid" if token.tag == "refset" else "sysid", "")
        return _Open(token.tag, token.line, _SETS[token.tag], version)

    def _note_languages(self, source: str | None, target: str | None) -> None:
        self._set.source_language = self._set.source_language or source or ""
        self._set.target_language = self._set.target_language or target or ""

    def _begin_document(self, token: _Token, attributes: dict[str, str]) -> None:
        if any(one.tag == "doc" for one in self._stack):
            raise self._scanner.error(token.line, "<doc> inside of another <doc>, which is not closed")
        inside_set = any(one.tag in _SETS for one in self._stack)
        if not inside_set and not any(one.tag == "dataset" for one in self._stack):
            raise self._scanner.error(
                token.line, "<doc> stands outside of a srcset, refset, tstset or dataset"
            )
        name = attributes.get("docid" if inside_set else "id")
        if not name:
            raise self._scanner.error(
                token.line, f"<doc> has no {'docid' if inside_set else 'id'}, by which files are aligned"
            )
        self._document = name

    def _begin_version(self, token: _Token, attributes: dict[str, str]) -> _Open:
        """Of a `dataset`: the source, a reference or a system inside of a document."""
        language = attributes.get("lang") or attributes.get("language")
        self._note_languages(*((language, None) if token.tag == "src" else (None, language)))
        version = attributes.get({"ref": "translator", "hyp": "system"}.get(token.tag, ""), "")
        return _Open(token.tag, token.line, token.tag, version)

    def _begin_segment(self, token: _Token, attributes: dict[str, str], outer: _Open) -> None:
        if not any(one.tag == "doc" for one in self._stack):
            raise self._scanner.error(token.line, "<seg> stands outside of a document")
        if not outer.role:
            raise self._scanner.error(token.line, "<seg> stands outside of <src>, <ref> and <hyp>")
        if not attributes.get("id"):
            raise self._scanner.error(token.line, "<seg> has no id, by which files are aligned")
        self._key = SegmentKey(self._document, attributes["id"])
        version = self._translation = self._set.of_role(outer.role, outer.version)
        if self._key in version.texts:
            raise self._scanner.error(
                token.line, f"a second {self._key}; the first is in line {version.lines[self._key]}"
            )
        version.lines[self._key] = token.line
        version.texts[self._key] = ""
        self._pieces = []

    def _end_segment(self) -> None:
        assert self._key is not None
        self._translation.texts[self._key] = " ".join("".join(self._pieces).split())
        self._key = None

    def _close(self, token: _Token) -> None:
        if not self._scanner.strict and token.tag not in _OPTIONAL_END and self._key is None:
            self._close_paragraphs()
        if not self._stack or self._stack[-1].tag != token.tag:
            if self._stack:
                last = self._stack[-1]
                raise self._scanner.error(
                    token.line, f"</{token.tag}> where <{last.tag}> of line {last.line} is still open"
                )
            raise self._scanner.error(token.line, f"</{token.tag}> closes nothing")
        self._stack.pop()
        if token.tag == "seg":
            self._end_segment()

    def _close_paragraphs(self) -> None:
        while self._stack and self._stack[-1].tag in _OPTIONAL_END:
            self._stack.pop()
