"""Who did what to whom: clauses of trees, propositions of texts."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tesla_eval_papers.srl.propositions import read_propositions
from tesla_eval_papers.syntax.clauses import find_clauses, noun_heads
from tesla_eval_papers.syntax.trees import read_tree


def told(tree: str) -> list[tuple[str, str, str, str]]:
    """Verb, doers, undergoers and recipients of each clause as words."""
    read = read_tree(tree)
    words = read.words()
    return [
        (words[c.verb], *(" ".join(words[k] for k in part) for part in (c.doers, c.undergoers, c.recipients)))
        for c in find_clauses(read)
    ]


TREES = {
    "active": ("(S (NP (NNP Ann)) (VP (VBD hit) (NP (NNP Bill))))", [("hit", "Ann", "Bill", "")]),
    "passive": (
        "(S (NP (NNP Bill)) (VP (VBD was) (VP (VBN hit) (PP (IN by) (NP (NNP Ann))))))",
        [("hit", "Ann", "Bill", "")],
    ),
    "perfect is no passive": (
        "(S (NP (NNP Ann)) (VP (VBZ has) (VP (VBN hit) (NP (NNP Bill)))))",
        [("hit", "Ann", "Bill", "")],
    ),
    "two objects": (
        "(S (NP (PRP She)) (VP (VBD gave) (NP (PRP him)) (NP (DT a) (NN book))))",
        [("gave", "She", "book", "him")],
    ),
    "recipient after to": (
        "(S (NP (PRP She)) (VP (VBD gave) (NP (DT a) (NN book)) (PP (IN to) (NP (PRP him)))))",
        [("gave", "She", "book", "him")],
    ),
    "passive with an object": (
        "(S (NP (PRP He)) (VP (VBD was) (VP (VBN given) (NP (DT a) (NN book)))))",
        [("given", "", "book", "He")],
    ),
    "a time is no object": (
        "(S (NP (PRP He)) (VP (VBD slept) (NP (JJ last) (NN week))))",
        [("slept", "He", "", "")],
    ),
    "coordinated subjects and verbs": (
        "(S (NP (NP (NNP Ann)) (CC and) (NP (NNP Bill))) (VP (VBD saw) (CC and) (VBD bought) (NP (NNS cars))))",
        [("saw", "Ann Bill", "cars", ""), ("bought", "Ann Bill", "cars", "")],
    ),
    "relative clause without subject": (
        "(NP (NP (DT the) (NN dog)) (SBAR (WHNP (WDT that)) (S (VP (VBD saw) (NP (NNP Ann))))))",
        [("saw", "dog", "Ann", "")],
    ),
    "relative clause without object": (
        "(NP (NP (DT the) (NN dog)) (SBAR (WHNP (WDT that)) (S (NP (NNP Ann)) (VP (VBD saw)))))",
        [("saw", "Ann", "dog", "")],
    ),
    "relative clause without pronoun": (
        "(NP (NP (DT the) (NN dog)) (SBAR (S (NP (NNP Ann)) (VP (VBD saw)))))",
        [("saw", "Ann", "dog", "")],
    ),
    "infinitive after a noun": (
        "(NP (NP (DT a) (NN place)) (SBAR (S (VP (TO to) (VP (VB catch) (NP (NNS bands)))))))",
        [("catch", "", "bands", "")],
    ),
    "the clause of a noun leaves nothing out": (
        "(NP (NP (DT the) (NN fact)) (SBAR (IN that) (S (NP (NNP Ann)) (VP (VBD left)))))",
        [("left", "Ann", "", "")],
    ),
    "participles": (
        "(NP (NP (NN car)) (VP (VBN driven) (PP (IN by) (NP (NNP Ann)))))",
        [("driven", "Ann", "car", "")],
    ),
    "subject of an infinitive": (
        "(S (NP (NNP Ann)) (VP (VBZ wants) (S (VP (TO to) (VP (VB see) (NP (NNP Bill)))))))",
        [("wants", "Ann", "", ""), ("see", "Ann", "Bill", "")],
    ),
    "object as the subject of an infinitive": (
        "(S (NP (NNP Ann)) (VP (VBD told) (NP (NNP Bill)) (S (VP (TO to) (VP (VB go))))))",
        [("told", "Ann", "Bill", ""), ("go", "Bill", "", "")],
    ),
    "question": (
        "(SQ (VBD Was) (NP (NNP Bill)) (VP (VBN hit) (PP (IN by) (NP (NNP Ann)))))",
        [("hit", "Ann", "Bill", "")],
    ),
    "question word": (
        "(SBARQ (WHNP (WP Who)) (SQ (VP (VBD hit) (NP (NNP Bill)))))",
        [("hit", "Who", "Bill", "")],
    ),
}


@pytest.mark.parametrize(("tree", "expected"), TREES.values(), ids=TREES)
def test_participants_of_verbs(tree: str, expected: list[tuple[str, str, str, str]]) -> None:
    assert told(tree) == expected


def test_negation_belongs_to_its_own_verb() -> None:
    tree = read_tree(
        "(S (NP (PRP He)) (VP (VP (VBD did) (RB not) (VP (VB see) (NP (PRP her)))) (CC and) (VP (VBD left))))"
    )
    assert [clause.negated for clause in find_clauses(tree)] == [True, False]


def test_heads_of_genitives_and_prepositional_phrases() -> None:
    assert noun_heads(read_tree("(NP (DT The) (NN company) (POS 's))")) == (1,)
    assert noun_heads(read_tree("(PP (IN by) (NP (DT the) (NN flood)))")) == (2,)


def test_deep_trees_do_not_exhaust_the_stack() -> None:
    depth = 900
    assert find_clauses(read_tree("(S " * depth + "(VP (VB go))" + ")" * depth)) != []


@settings(max_examples=30, deadline=None)
@given(st.lists(st.text(max_size=30), max_size=4))
def test_any_text_has_propositions_and_batches_do_not_matter(texts: list[str]) -> None:
    together = read_propositions(texts)
    assert together == [read_propositions([text])[0] for text in texts]
