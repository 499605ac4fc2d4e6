"""The verbs of a tree with their participants: who did what to whom, in any word order, active or passive."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tesla_eval_papers.syntax.heads import head_index
from tesla_eval_papers.syntax.trees import Tree

_CLAUSES = frozenset({"S", "SQ", "SINV"})
_SUBORDINATE = frozenset({"SBAR", "SBARQ"})
_NOUN_PHRASES = frozenset({"NP", "NML", "NX"})
_QUESTION_WORDS = frozenset({"WHNP"})
_VERB_TAGS = frozenset({"VB", "VBD", "VBG", "VBN", "VBP", "VBZ"})
_PARTICIPLES = frozenset({"VBN", "VBD"})  # taggers confuse the two
_AUXILIARY_TAGS = _VERB_TAGS | {"MD", "TO"}
_SEPARATORS = frozenset({"CC", "CONJP", ",", ":"})
_PASSIVE_AUXILIARIES = frozenset(
    "be am is are was were been being 's ’s 're ’re 'm ’m get gets got gotten getting".split()  # noqa: SIM905
)
_NEGATIONS = frozenset({"not", "n't", "n’t", "never", "cannot"})
_TIMES = frozenset(
    """today tomorrow yesterday tonight now then day night morning evening afternoon week weekend month year time
    monday tuesday wednesday thursday friday saturday sunday january february march april may june july august
    september october november december spring summer autumn winter""".split()  # noqa: SIM905
)


@dataclass(frozen=True)
class Clause:
    """A verb and the head words of those who take part, as numbers of words.

    The roles are those of the active voice: in `Bill was hit by Ann` Ann is the doer and Bill the undergoer.
    """

    verb: int
    doers: tuple[int, ...] = ()
    undergoers: tuple[int, ...] = ()
    recipients: tuple[int, ...] = ()
    """The indirect object, or what follows `to`."""
    negated: bool = False
    passive: bool = False


@dataclass(frozen=True)
class _Around:
    """What a node inherits from the nodes above it."""

    subjects: tuple[int, ...] = ()
    """The subject of a verb phrase, or the understood subject of a clause that has none."""
    missing: tuple[int, ...] = ()
    """What a relative clause leaves out: its subject, or else its object."""
    passive: bool = False
    negated: bool = False


_NOTHING = _Around()


def find_clauses(tree: Tree) -> list[Clause]:
    """The clauses of a tree in the order of their verbs.

    >>> from tesla_eval_papers.syntax.trees import read_tree
    >>> active = "(S (NP (NNP Ann)) (VP (VBD hit) (NP (NNP Bill))))"
    >>> find_clauses(read_tree(active))
    [Clause(verb=1, doers=(0,), undergoers=(2,), recipients=(), negated=False, passive=False)]
    >>> passive = "(S (NP (NNP Bill)) (VP (VBD was) (VP (VBN hit) (PP (IN by) (NP (NNP Ann))))))"
    >>> find_clauses(read_tree(passive))
    [Clause(verb=2, doers=(4,), undergoers=(0,), recipients=(), negated=False, passive=True)]
    """
    clauses: list[Clause] = []
    stack: list[tuple[Tree, _Around]] = [(tree, _NOTHING)]
    while stack:
        node, around = stack.pop()
        if node.is_leaf:
            continue
        if node.label == "VP":
            clauses.extend(_own_clauses(node, around))
            stack.extend(_inside_verb_phrase(node, around))
        elif node.label in _CLAUSES:
            stack.extend(_inside_clause(node, around))
        elif node.label in _SUBORDINATE:
            stack.extend(_inside_subordinate(node, around))
        elif node.label in _NOUN_PHRASES:
            stack.extend(_inside_noun_phrase(node))
        else:
            stack.extend((child, _NOTHING) for child in node.children)
    return sorted(clauses, key=lambda clause: clause.verb)


def noun_heads(node: Tree) -> tuple[int, ...]:
    """The head words of a phrase: one for each part of a coordination; those of the object for a prepositional phrase.

    >>> from tesla_eval_papers.syntax.trees import read_tree
    >>> noun_heads(read_tree("(NP (NP (NNP Ann)) (CC and) (NP (PRP$ her) (NN brother)))"))
    (0, 3)
    """
    starts: list[int] = []
    stack = [node]
    while stack:
        current = stack.pop()
        if current.is_leaf:
            starts.append(current.start)
            continue
        if current.label == "PP":
            objects = [child for child in current.children if child.label in _NOUN_PHRASES]
            stack.extend(objects or current.children[-1:])
            continue
        stack.extend(
            part[head_index(current.label, tuple(child.label for child in part))]
            for part in _parts(current.children)
        )
    return tuple(sorted(starts))


def _parts(children: Sequence[Tree]) -> Iterator[list[Tree]]:
    """The parts of a coordination, or all children; without the sign of the genitive."""
    kept = [child for child in children if child.label != "POS"] or list(children)
    if not any(child.label in ("CC", "CONJP") for child in kept):
        yield kept
        return
    part: list[Tree] = []
    for child in kept:
        if child.label not in _SEPARATORS:
            part.append(child)
        elif part:
            yield part
            part = []
    if part:
        yield part


def _inside_clause(node: Tree, around: _Around) -> Iterator[tuple[Tree, _Around]]:
    """The verb phrases with their subject; other children on their own, but a clause without subject shares it."""
    predicates = [child for child in node.children if child.label == "VP"]
    subject = next((child for child in node.children if child.label in _NOUN_PHRASES), None)
    if predicates and subject is not None and subject.start > predicates[0].start and node.label == "S":
        subject = None
    if subject is not None:
        inner = replace(around, subjects=noun_heads(subject))
    elif around.missing and not (predicates and _is_infinitive(predicates[0])):
        inner = replace(around, subjects=around.missing, missing=())
    else:
        inner = around
    passive = negated = False
    for child in node.children:
        if child.is_leaf:  # questions have their auxiliary here
            passive |= _is_passive_auxiliary(child)
            negated |= _is_negation(child)
        elif child.label == "VP":
            yield child, replace(inner, passive=passive, negated=negated)
        elif child.label == "S" and not predicates:  # S and S: the parts have their own subjects
            yield child, around
        elif child.label == "S":
            yield child, _Around(subjects=inner.subjects)
        else:
            yield child, _NOTHING


def _inside_subordinate(node: Tree, around: _Around) -> Iterator[tuple[Tree, _Around]]:
    """A clause with a question word leaves out what that word stands for."""
    word = next((child for child in node.children if child.label in _QUESTION_WORDS), None)
    joined = any(child.is_leaf and child.label in ("IN", "DT") for child in node.children)
    missing: tuple[int, ...] = ()
    if word is not None:
        missing = around.missing or noun_heads(word)
    elif not joined and not any(child.label.startswith("WH") for child in node.children):
        missing = around.missing
    for child in node.children:
        if child.label in _CLAUSES:
            yield child, _Around(missing=missing)
        elif child.label in _SUBORDINATE:
            yield child, around
        else:
            yield child, _NOTHING


def _inside_noun_phrase(node: Tree) -> Iterator[tuple[Tree, _Around]]:
    """Relative clauses and participles belong to the noun before them."""
    before: tuple[int, ...] = ()
    for child in node.children:
        if child.label == "VP" and before:
            subjects = () if _is_infinitive(child) else before
            yield child, _Around(subjects=subjects, passive=_first_verb(child) == "VBN")
        elif child.label == "SBAR":
            yield child, _Around(missing=before)
        else:
            yield child, _NOTHING
        if child.label in _NOUN_PHRASES:
            before = noun_heads(child)


def _first_verb(node: Tree) -> str:
    """The tag of the first verb, auxiliary or `to`."""
    return next((leaf.label for leaf in node.nodes() if leaf.is_leaf and leaf.label in _AUXILIARY_TAGS), "")


def _is_infinitive(node: Tree) -> bool:
    return _first_verb(node) == "TO"


def _inside_verb_phrase(node: Tree, around: _Around) -> Iterator[tuple[Tree, _Around]]:
    """Inner verb phrases with the same subject; clauses without a subject take the object, or else the subject."""
    inner = replace(around, negated=around.negated or _has_negation(node))
    auxiliary: Tree | None = None
    objects: tuple[int, ...] = ()
    for child in node.children:
        if child.is_leaf:
            auxiliary = child if child.label in _AUXILIARY_TAGS else auxiliary
        elif child.label == "VP":
            passive = around.passive if auxiliary is None else _is_passive_auxiliary(auxiliary)
            yield child, replace(inner, passive=passive)
        elif child.label in _CLAUSES:
            yield child, _Around(subjects=objects or around.subjects)
        else:
            yield child, _NOTHING
            if child.label in _NOUN_PHRASES and not _is_time(child):
                objects = noun_heads(child)


def _own_clauses(node: Tree, around: _Around) -> Iterator[Clause]:
    """One clause for each verb of a verb phrase that has no other verb phrase in it."""
    if any(child.label == "VP" for child in node.children):
        return
    verbs = _main_verbs(node)
    if not verbs:
        return
    nouns = [
        noun_heads(child)
        for child in node.children
        if child.label in _NOUN_PHRASES and child.start > verbs[-1].start and not _is_time(child)
    ]
    negated = around.negated or _has_negation(node)
    for verb in verbs:
        passive = around.passive and verb.label in _PARTICIPLES
        doers, recipients = around.subjects, _after(node, "to")
        undergoers: tuple[int, ...] = ()
        if passive:
            doers = _after(node, "by")
            undergoers, recipients = (nouns[-1], around.subjects) if nouns else (around.subjects, recipients)
        elif nouns:
            undergoers = nouns[-1]
            recipients = nouns[0] if len(nouns) > 1 else recipients
        elif around.missing:
            undergoers = around.missing
        yield Clause(verb.start, doers, undergoers, recipients, negated, passive)


def _main_verbs(node: Tree) -> list[Tree]:
    """The verbs of a lowest verb phrase: several if they are coordinated, else the last."""
    verbs = [child for child in node.children if child.is_leaf and child.label in _VERB_TAGS]
    coordinated = any(
        child.label == "CC" and verbs and verbs[0].start < child.start < verbs[-1].start
        for child in node.children
    )
    return verbs if coordinated else verbs[-1:]


def _after(node: Tree, preposition: str) -> tuple[int, ...]:
    """The head words of a verb phrase's prepositional phrase with that preposition."""
    for child in node.children:
        if child.label == "PP" and (child.children[0].word or "").lower() == preposition:
            return noun_heads(child)
    return ()


def _is_passive_auxiliary(leaf: Tree) -> bool:
    return leaf.label in _VERB_TAGS and (leaf.word or "").lower() in _PASSIVE_AUXILIARIES


def _is_negation(leaf: Tree) -> bool:
    return (leaf.word or "").lower() in _NEGATIONS


def _has_negation(node: Tree) -> bool:
    return any(
        _is_negation(leaf)
        for child in node.children
        for leaf in ([child] if child.is_leaf else child.children if child.label == "ADVP" else ())
        if leaf.is_leaf
    )


def _is_time(node: Tree) -> bool:
    """Whether a noun phrase is an expression of time, such as `last week`."""
    leaves = node.leaves()
    heads = {(leaf.word or "").lower() for leaf in leaves if leaf.start in noun_heads(node)}
    return all(head in _TIMES or head.removesuffix("s") in _TIMES for head in heads)
