"""The constituency parser: the installed model, tagged sentences in, trees out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tesla_eval.base.resources import Kind, Resource, from_byte_planes, interpreting
from tesla_eval.language.analysis.languages import resolve_language
from tesla_eval.language.analysis.sentences import split_sentences
from tesla_eval.language.analysis.tags import TaggerModel, load_tagger
from tesla_eval.language.analysis.tokenisers import compose, load_tokeniser
from tesla_eval.matching.kernels import SPAN_FEATURES, SpanParser
from tesla_eval_papers.syntax.grammar import Grammar
from tesla_eval_papers.syntax.trees import Tree

KIND = "parser"
ANALYSIS = f"spans-{SPAN_FEATURES}"
BEAM = 8
"""Symbols kept per span."""
LONGEST = 100
"""Words of the longest sentence that is parsed as a whole; longer ones are cut after punctuation."""
_BATCH = 256
_PLANES = ("feature_deltas", "word_deltas")
_ARRAYS = ("row_lengths", "row_lanes", "row_weights", "tag_kinds", "tag_breaks", "binary", "unary", "root")


class Parse(NamedTuple):
    """A tree, and whether the sentence was too long (cut) or had no tree of its own (glued)."""

    tree: Tree
    cut: bool = False
    glued: bool = False


@dataclass(frozen=True, eq=False)
class ConstituencyParser:
    """A parser with the tagger that it was trained with; made once, shared by threads.

    >>> print(load_tree_parser("en").parse("The cat sat on the mat.")[0].tree)
    (TOP (S (NP (DT The) (NN cat)) (VP (VBD sat) (PP (IN on) (NP (DT the) (NN mat)))) (. .)))
    """

    resource: Resource
    grammar: Grammar
    core: SpanParser
    tagger: TaggerModel

    @classmethod
    def from_resource(cls, resource: Resource, tagger: TaggerModel | None = None) -> ConstituencyParser:
        """The parser that a resource holds; raises `ResourceError` if its arrays make none."""
        with interpreting(resource, KIND, "rebuild it with `python packages/papers/tools/build_parser.py`"):
            if resource.analysis != ANALYSIS:
                raise ValueError("it was made by another version of tesla-eval")
            tagger = tagger or load_tagger(resource.language)
            if tagger is None:
                raise ValueError(f"it needs a tagger of {resource.language!r}, and none is installed")
            grammar = Grammar.from_info(resource.info["grammar"])
            arrays: dict[str, npt.NDArray[Any]] = {name: resource.arrays[name] for name in _ARRAYS}
            arrays |= {name: from_byte_planes(resource.arrays[name]) for name in _PLANES}
            return cls(resource, grammar, SpanParser(grammar.to_core(), **arrays), tagger)

    @property
    def fingerprint(self) -> str:
        """Names model and tagger."""
        return f"{self.resource.fingerprint}+{self.tagger.fingerprint}"

    def tag(self, tokens: Sequence[str]) -> list[str]:
        """The tags of one sentence."""
        return [label.fine for label in self.tagger.tag(tokens)]

    def parse_tokens(self, sentences: Sequence[Sequence[str]], *, beam: int = BEAM) -> list[Parse]:
        """The trees of tokenised sentences, with our own tags."""
        return self.parse_tagged(sentences, [self.tag(tokens) for tokens in sentences], beam=beam)

    def parse_tagged(
        self, sentences: Sequence[Sequence[str]], tags: Sequence[Sequence[str]], *, beam: int = BEAM
    ) -> list[Parse]:
        """The trees of tagged sentences; a tag that the parser does not know counts as the commonest one."""
        parses: list[Parse] = []
        for start in range(0, len(sentences), _BATCH):
            part = slice(start, start + _BATCH)
            parses.extend(self._parse_batch(sentences[part], tags[part], beam))
        return parses

    def _parse_batch(
        self, sentences: Sequence[Sequence[str]], tags: Sequence[Sequence[str]], beam: int
    ) -> Iterator[Parse]:
        known = {tag: number for number, tag in enumerate(self.grammar.tags)}
        other = known.get("NN", 0)
        numbers = np.array([known.get(tag, other) for sentence in tags for tag in sentence], np.uint8)
        forms = [list(sentence) for sentence in sentences]
        offsets, starts, ends, labels, pieces, cut = self.core.parse(forms, numbers, beam, LONGEST)
        nodes = list(zip(starts.tolist(), ends.tolist(), labels.tolist(), strict=True))
        bounds = offsets.tolist()
        for index, (words, sentence_tags) in enumerate(zip(sentences, tags, strict=True)):
            tree = self.grammar.tree(nodes[bounds[index] : bounds[index + 1]], words, sentence_tags)
            was_cut = bool(cut[index])
            yield Parse(tree, was_cut, bool(pieces[index] > 1) and not was_cut)

    def sentences(self, text: str) -> list[list[str]]:
        """The sentences of a raw text as tokens."""
        language = self.tagger.language
        tokeniser = load_tokeniser(language)
        sentences = []
        for start, end in split_sentences(text, language):
            piece = compose(text[start:end])
            tokens = [piece[a:b] for a, b in tokeniser.spans(piece)]
            if tokens:
                sentences.append(tokens)
        return sentences

    def parse(self, text: str) -> list[Parse]:
        """The trees of the sentences of a raw text."""
        return self.parse_tokens(self.sentences(text))


_PARSERS = Kind(KIND, ConstituencyParser.from_resource, "constituency parser")
read_parser = _PARSERS.read
"""The parser in a file."""


@cache
def load_tree_parser(language: str) -> ConstituencyParser:
    """The installed parser of a language, by its code or alias; it is read once per process."""
    return _PARSERS.need(resolve_language(language))
