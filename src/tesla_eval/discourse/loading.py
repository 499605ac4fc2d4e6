"""From a text to its relations: the installed parser with the analysis that it was trained with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from tesla_eval.analysis import Pipeline, load_pipeline
from tesla_eval.analysis.languages import resolve_language
from tesla_eval.analysis.sentences import split_sentences
from tesla_eval.discourse.document import Document, analyse_many
from tesla_eval.discourse.parser import Parser
from tesla_eval.discourse.relations import Relation
from tesla_eval.errors import ResourceError
from tesla_eval.resources import (
    UNSTATED,
    Provenance,
    Resource,
    find_resource,
    missing_resource,
    read_resource,
)

__all__ = ["KIND", "TextParser", "load_parser", "parser_resource"]

KIND = "discourse"
"""The kind of resource file that holds a parser."""


@dataclass(frozen=True, eq=False)
class TextParser:
    """A parser with the analysis of its language.

    >>> parser = load_parser("en")
    >>> document, relations = parser.parse("It rained. We stayed at home because the roads were flooded.")
    >>> [(r.type, r.sense) for r in relations if r.explicit]
    [('Explicit', 'Contingency')]
    """

    pipeline: Pipeline
    parser: Parser
    fingerprint: str

    def documents(self, texts: Sequence[str]) -> list[Document]:
        """The texts in sentences of tagged words."""
        language = self.pipeline.language
        return analyse_many(self.pipeline, [(text, split_sentences(text, language)) for text in texts])

    def parse(self, text: str) -> tuple[Document, list[Relation]]:
        """The text in sentences, and its relations."""
        (document,) = self.documents([text])
        return document, self.parser.parse(document)

    def to_dict(self, text: str) -> dict[str, Any]:
        """The parse as plain data: sentences and relations with their places in the text."""
        document, relations = self.parse(text)
        return {
            "sentences": [[s.spans[0][0], s.spans[-1][1]] for s in document.sentences],
            "relations": [relation.to_dict(text, document.spans) for relation in relations],
        }


@cache
def load_parser(language: str) -> TextParser:
    """The installed parser of a language, by its code or alias; it is read once a process."""
    code = resolve_language(language)
    if code != language:
        return load_parser(code)
    path = find_resource(KIND, code)
    if path is None:
        raise missing_resource("discourse parser", code, f"tesla build discourse -l {code}")
    resource = read_resource(path, KIND)
    pipeline = load_pipeline(code)
    if resource.analysis != _analysis_of(pipeline):
        raise ResourceError(
            f"{path}: was trained with another analysis ({resource.analysis}, installed is {_analysis_of(pipeline)}); "
            "rebuild it with `tesla build discourse`"
        )
    try:
        parser = Parser.from_arrays(resource.arrays)
    except (LookupError, ValueError) as error:
        raise ResourceError(
            f"{path}: makes no discourse parser ({error}); reinstall it, or rebuild it with `tesla build discourse`"
        ) from error
    return TextParser(pipeline, parser, resource.fingerprint)


def _analysis_of(pipeline: Pipeline) -> str:
    """What the features depend on: the tagger."""
    return f"tagger:{pipeline.signature['tagger']}"


def parser_resource(
    parser: Parser,
    pipeline: Pipeline,
    *,
    provenance: Provenance = UNSTATED,
    info: Mapping[str, Any] | None = None,
) -> Resource:
    """The parser as a resource file's content."""
    return Resource(
        KIND, pipeline.language, parser.to_arrays(), analysis=_analysis_of(pipeline),
        provenance=provenance, info=dict(info or {}),
    )  # fmt: skip
