"""The head child of a constituent, by rules after Collins (1999) with the labels of the English Web Treebank."""

from __future__ import annotations

from functools import cache

from tesla_eval_papers.syntax.trees import Tree

_LEFT, _RIGHT = 1, -1
_RULES: dict[str, tuple[int, str]] = {
    "ADJP": (_LEFT, "NNS QP NN $ ADVP JJ VBN VBG ADJP JJR NP JJS DT FW RBR RBS SBAR RB"),
    "ADVP": (_RIGHT, "RB RBR RBS FW ADVP TO CD JJR JJ IN NP JJS NN"),
    "CONJP": (_RIGHT, "CC RB IN"),
    "FRAG": (_LEFT, "S SQ SBARQ SINV NP VP ADJP PP ADVP SBAR INTJ NN NNS NNP"),
    "INTJ": (_LEFT, "UH INTJ"),
    "LST": (_RIGHT, "LS CD :"),
    "NAC": (_LEFT, "NN NNS NNP NNPS NP NAC EX $ CD QP PRP VBG JJ JJS JJR ADJP FW"),
    "PP": (_RIGHT, "IN TO VBG VBN RP FW PP"),
    "PRN": (_LEFT, "S SBAR NP VP PP ADJP ADVP"),
    "PRT": (_RIGHT, "RP"),
    "QP": (_LEFT, "$ IN NNS NN JJ RB DT CD NCD QP JJR JJS"),
    "RRC": (_RIGHT, "VP NP ADVP ADJP PP"),
    "S": (_LEFT, "TO IN VP S SBAR ADJP UCP NP"),
    "SBAR": (_LEFT, "WHNP WHPP WHADVP WHADJP IN DT S SQ SINV SBAR FRAG"),
    "SBARQ": (_LEFT, "SQ S SINV SBARQ FRAG"),
    "SINV": (_LEFT, "VBZ VBD VBP VB MD VP S SINV ADJP NP"),
    "SQ": (_LEFT, "VBZ VBD VBP VB MD VP SQ"),
    "UCP": (_RIGHT, ""),
    "VP": (_LEFT, "TO VBD VBN MD VBZ VB VBG VBP VP AUX AUXG ADJP NN NNS NP"),
    "WHADJP": (_LEFT, "CC WRB JJ ADJP"),
    "WHADVP": (_RIGHT, "CC WRB"),
    "WHNP": (_LEFT, "WDT WP WP$ WHADJP WHPP WHNP"),
    "WHPP": (_RIGHT, "IN TO FW"),
    "X": (_RIGHT, ""),
}
_NOUNS = frozenset("NN NNP NNPS NNS NX NML POS JJR".split())  # noqa: SIM905
_NOUN_PHRASES = frozenset({"NP", "NML", "NX", "NP-TMP"})
_PUNCTUATION = frozenset({",", ".", ":", "``", "''", "-LRB-", "-RRB-", "(", ")", "HYPH", "NFP"})


@cache
def head_index(label: str, children: tuple[str, ...]) -> int:
    """The place of the head among the children, by their labels.

    >>> head_index("VP", ("MD", "RB", "VP")), head_index("NP", ("NP", "PP")), head_index("NP", ("DT", "NN", "NN"))
    (0, 0, 2)
    """
    if len(children) == 1:
        return 0
    if label in _NOUN_PHRASES:
        return _noun_head(children)
    direction, names = _RULES.get(label, (_LEFT, ""))
    order = range(len(children))[::direction]
    for name in names.split():
        for place in order:
            if children[place] == name:
                return place
    return _first_word(children, order)


def _noun_head(children: tuple[str, ...]) -> int:
    backwards = range(len(children))[::-1]
    if children[-1] == "POS":
        return len(children) - 1
    for names, order in (
        (_NOUNS, backwards),
        ({"NP"}, range(len(children))),
        ({"$", "ADJP", "PRN"}, backwards),
        ({"CD"}, backwards),
        ({"JJ", "JJS", "RB", "QP"}, backwards),
    ):
        for place in order:
            if children[place] in names:
                return place
    return _first_word(children, backwards)


def _first_word(children: tuple[str, ...], order: range) -> int:
    """The first child in that order that is not punctuation."""
    return next((place for place in order if children[place] not in _PUNCTUATION), order[0])


def head_leaf(tree: Tree) -> Tree:
    """The word that heads the constituent.

    >>> from tesla_eval_papers.syntax.trees import read_tree
    >>> head_leaf(read_tree("(NP (NP (DT the) (NN effect)) (PP (IN of) (NP (NNS prices))))")).word
    'effect'
    """
    while not tree.is_leaf:
        tree = tree.children[head_index(tree.label, tuple(child.label for child in tree.children))]
    return tree
