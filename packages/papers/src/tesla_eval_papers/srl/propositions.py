"""Who did what to whom: the verbs of a text with their participants, and its nouns with their labelled arguments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tesla_eval.language.analysis.lemmas import load_lemmatiser
from tesla_eval_papers.srl.constituents import ParsedSentence
from tesla_eval_papers.srl.labeller import RoleLabeller, load_labeller
from tesla_eval_papers.syntax.clauses import find_clauses, noun_heads
from tesla_eval_papers.syntax.tree_parser import ConstituencyParser, load_tree_parser
from tesla_eval_papers.syntax.trees import Tree

DOER, UNDERGOER, RECIPIENT, NEGATION = "ARG0", "ARG1", "ARG2", "ARGM-NEG"
"""The roles of verbs that the grammar can tell apart, by their names in PropBank."""
_SUBJECT_FORMS = {
    "me": "i", "my": "i", "mine": "i", "him": "he", "his": "he", "her": "she", "hers": "she", "us": "we", "our": "we",
    "ours": "we", "them": "they", "their": "they", "theirs": "they", "your": "you", "yours": "you", "its": "it",
    "whom": "who",
}  # fmt: skip


class Proposition(NamedTuple):
    """A predicate's lemma, and its arguments: role and lemma of the head word."""

    predicate: str
    arguments: tuple[tuple[str, str], ...]

    def fillers(self, role: str) -> frozenset[str]:
        """The lemmas that fill a role."""
        return frozenset(lemma for name, lemma in self.arguments if name == role)


def read_propositions(
    texts: Sequence[str], language: str = "en", *, nouns: bool = True
) -> list[tuple[Proposition, ...]]:
    """The propositions of each raw text; without `nouns` those of verbs only, which is faster.

    >>> read_propositions(["The dog was chased by a cat."])[0]
    (Proposition(predicate='chase', arguments=(('ARG0', 'cat'), ('ARG1', 'dog'))),)
    """
    parser = load_tree_parser(language)
    labeller = load_labeller(language) if nouns else None
    sentences = [parser.sentences(text) for text in texts]
    parses = iter(parser.parse_tokens([tokens for text in sentences for tokens in text]))
    return [
        tuple(one for _ in text for one in _of_tree(next(parses).tree, parser, labeller))
        for text in sentences
    ]


def _of_tree(tree: Tree, parser: ConstituencyParser, labeller: RoleLabeller | None) -> Iterator[Proposition]:
    lemmas = _lemmas(tree.words(), parser.tagger.language)
    for clause in find_clauses(tree):
        places = ((DOER, clause.doers), (UNDERGOER, clause.undergoers), (RECIPIENT, clause.recipients))
        arguments = [(role, lemmas[place]) for role, head_places in places for place in head_places]
        if clause.negated:
            arguments.append((NEGATION, "not"))
        yield Proposition(lemmas[clause.verb], tuple(arguments))
    if labeller is None:
        return
    sentence = ParsedSentence(tree)
    for index in labeller.find_predicates(sentence):
        noun = labeller.label(sentence, index)
        heads = [
            (argument.label, lemmas[place])
            for argument in noun.arguments
            if (constituent := sentence.constituent_at(argument.start, argument.end)) is not None
            for place in noun_heads(constituent.node)
        ]
        if heads:
            yield Proposition(noun.lemma, tuple(heads))


def _lemmas(words: Sequence[str], language: str) -> list[str]:
    """Lemmas in lower case; all case forms of a pronoun (`he`, `him`) are equal."""
    return [
        _SUBJECT_FORMS.get(word.lower(), lemma)
        for word, lemma in zip(words, load_lemmatiser(language).lemmas(words), strict=True)
    ]
