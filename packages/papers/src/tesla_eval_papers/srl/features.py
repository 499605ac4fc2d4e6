"""The features of a constituent for a predicate: the paper's tables 1 and 2, and the pool they were selected from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import takewhile

from tesla_eval.language.analysis.lemmas import load_lemmatiser
from tesla_eval.language.analysis.porter import porter_stem
from tesla_eval_papers.srl.constituents import Constituent, ParsedSentence
from tesla_eval_papers.syntax.trees import Tree

AND = "&"
_NONE = "-"
_NOBODY = Constituent(Tree(_NONE, word=_NONE))
"""In the place of a sister or parent that a constituent does not have."""

IDENTIFICATION_FEATURES = (
    "pred", "subcat", "ptype", "hw", "path", "position", "firstword", "lastword", "lsis.ptype", "rsis.hw",
    "rsis.hw.pos", "parent.ptype", "parent.hw", "partialpath", "ptype&pathlength", "pred&hw", "pred&path",
    "pred&position",
)  # fmt: skip
"""Table 1 of the paper."""

CLASSIFICATION_FEATURES = (
    "position", "ptype", "firstword", "lastword", "rsis.ptype", "nomtype", "pred&ptype", "pred&lastword", "morph&hw",
    "morph&position", "nomtype&position",
)  # fmt: skip
"""Table 2 of the paper."""

FEATURE_POOL = (
    *IDENTIFICATION_FEATURES,
    "morph", "nomtype", "pred.pos", "hw.pos", "firstword.pos", "lastword.pos", "pathlength", "distance", "length",
    "lca", "chunkseq", "lsis.hw", "lsis.hw.pos", "rsis.ptype", "parent.hw.pos", "parent.lsis.ptype", "parent.lsis.hw",
    "parent.rsis.ptype", "parent.rsis.hw", "pp.object", "pred&ptype", "pred&lastword", "pred&firstword", "morph&hw",
    "morph&position", "morph&ptype", "nomtype&position", "nomtype&ptype", "nomtype&hw", "nomtype&path",
    "position&ptype", "position&hw", "ptype&hw", "pred&distance",
)  # fmt: skip
"""The 52 candidates of backward selection (section 4.2)."""


@dataclass(frozen=True, eq=False)
class Predicate:
    """A predicate: its word in a sentence, stems, and the type of nominalisation."""

    sentence: ParsedSentence
    index: int
    nomtype: str

    @cached_property
    def leaf(self) -> Tree:
        """Its word's node."""
        return self.sentence.leaves[self.index]

    @cached_property
    def stem(self) -> str:
        """Porter's stem."""
        return porter_stem(self.sentence.words[self.index])

    @cached_property
    def lemma(self) -> str:
        """The lemma."""
        return noun_lemma(self.sentence.words[self.index])

    @cached_property
    def upwards(self) -> dict[int, Tree]:
        """The nodes from the predicate's word up to the root, by their identity."""
        nodes: dict[int, Tree] = {}
        node: Tree | None = self.leaf
        while node is not None:
            nodes[id(node)] = node
            node = node.parent
        return nodes

    @cached_property
    def subcat(self) -> str:
        """The rule that expands the predicate's parent."""
        parent = self.leaf.parent
        assert parent is not None
        return f"{parent.label}>{'_'.join(child.label for child in parent.children)}"


@lru_cache(maxsize=1 << 16)
def noun_lemma(word: str) -> str:
    """The lemma of a word in lower case."""
    return load_lemmatiser("en").lemmas([word])[0]


@dataclass(frozen=True, eq=False)
class ArgumentCandidate:
    """A constituent beside a predicate."""

    predicate: Predicate
    constituent: Constituent

    @cached_property
    def paths(self) -> tuple[str, str, int, str]:
        """The path to the predicate, its part up to the lowest common ancestor, its length, and that ancestor."""
        above = self.predicate.upwards
        node: Tree | None = self.constituent.node
        upwards = []
        while node is not None and id(node) not in above:
            upwards.append(node.label)
            node = node.parent
        assert node is not None
        downwards = [below.label for below in takewhile(lambda below: below is not node, above.values())]
        partial = ">".join([*upwards, node.label])
        path = f"{partial}<{'<'.join(downwards[::-1])}"
        return path, partial, len(upwards) + len(downwards) + 1, node.label

    @property
    def position(self) -> str:
        """Left of the predicate, right of it, or over it."""
        index = self.predicate.index
        if self.constituent.end <= index:
            return "left"
        return "right" if self.constituent.start > index else "overlap"

    @property
    def distance(self) -> int:
        """The words between."""
        index = self.predicate.index
        return max(index - self.constituent.end, self.constituent.start - index - 1, 0)

    @property
    def chunks_between(self) -> str:
        """The categories of the chunks between predicate and constituent."""
        index, c = self.predicate.index, self.constituent
        between = (c.end, index) if c.end <= index else (index + 1, c.start)
        names: list[str] = []
        last = 0
        for number, name in self.predicate.sentence.chunks[between[0] : between[1]]:
            if number != last:
                names.append(name)
            last = number
        return "_".join(names[:8]) or _NONE

    def sister(self, step: int, *, of_parent: bool = False) -> Constituent:
        """The constituent to the left (−1) or right (1), or that of the parent's; `_NOBODY` if neither exists."""
        node: Tree | None = self.constituent.node
        if of_parent and node is not None:
            node = node.parent
        # The parent may be the lower end of a chain: its sisters are those of the chain's highest node.
        constituent = self.predicate.sentence.by_node.get(id(node))
        if constituent is None or constituent.node.parent is None:
            return _NOBODY
        sisters = constituent.node.parent.children
        place = next(i for i, sister in enumerate(sisters) if sister is constituent.node) + step
        return self.predicate.sentence.by_node[id(sisters[place])] if 0 <= place < len(sisters) else _NOBODY

    @property
    def parent(self) -> Constituent:
        """The constituent above, or `_NOBODY`."""
        return self.predicate.sentence.by_node.get(id(self.constituent.node.parent), _NOBODY)

    @property
    def object_of_preposition(self) -> str:
        """The head of what follows a prepositional phrase's preposition."""
        node = self.constituent.node
        if node.label != "PP" or len(node.children) < 2:
            return _NONE
        return self.predicate.sentence.by_node[id(node.children[-1])].word


_ATOMS: Mapping[str, Callable[[ArgumentCandidate], str]] = {
    "pred": lambda c: c.predicate.stem,
    "morph": lambda c: c.predicate.lemma,
    "nomtype": lambda c: c.predicate.nomtype,
    "pred.pos": lambda c: c.predicate.leaf.label,
    "subcat": lambda c: c.predicate.subcat,
    "ptype": lambda c: c.constituent.node.label,
    "hw": lambda c: c.constituent.word,
    "hw.pos": lambda c: c.constituent.tag,
    "path": lambda c: c.paths[0],
    "partialpath": lambda c: c.paths[1],
    "pathlength": lambda c: str(c.paths[2]),
    "lca": lambda c: c.paths[3],
    "position": lambda c: c.position,
    "distance": lambda c: str(min(c.distance, 20)),
    "length": lambda c: str(min(c.constituent.end - c.constituent.start, 20)),
    "chunkseq": lambda c: c.chunks_between,
    "firstword": lambda c: c.predicate.sentence.words[c.constituent.start],
    "lastword": lambda c: c.predicate.sentence.words[c.constituent.end - 1],
    "firstword.pos": lambda c: c.predicate.sentence.leaves[c.constituent.start].label,
    "lastword.pos": lambda c: c.predicate.sentence.leaves[c.constituent.end - 1].label,
    "lsis.ptype": lambda c: c.sister(-1).node.label,
    "lsis.hw": lambda c: c.sister(-1).word,
    "lsis.hw.pos": lambda c: c.sister(-1).tag,
    "rsis.ptype": lambda c: c.sister(1).node.label,
    "rsis.hw": lambda c: c.sister(1).word,
    "rsis.hw.pos": lambda c: c.sister(1).tag,
    "parent.ptype": lambda c: c.parent.node.label,
    "parent.hw": lambda c: c.parent.word,
    "parent.hw.pos": lambda c: c.parent.tag,
    "parent.lsis.ptype": lambda c: c.sister(-1, of_parent=True).node.label,
    "parent.lsis.hw": lambda c: c.sister(-1, of_parent=True).word,
    "parent.rsis.ptype": lambda c: c.sister(1, of_parent=True).node.label,
    "parent.rsis.hw": lambda c: c.sister(1, of_parent=True).word,
    "pp.object": lambda c: c.object_of_preposition,
}  # fmt: skip


def atoms_of(names: Sequence[str]) -> list[str]:
    """The single features that the named ones are made of, in order, each once."""
    return list(dict.fromkeys(part for name in names for part in name.split(AND)))


def extract(candidate: ArgumentCandidate, names: Sequence[str]) -> list[str]:
    """The named features of a candidate as texts `name=value`.

    >>> from tesla_eval_papers.syntax.trees import read_tree
    >>> sentence = ParsedSentence(read_tree("(TOP (NP (NP (DT The) (NN effect)) (PP (IN of) (NP (NNS prices)))))"))
    >>> candidate = ArgumentCandidate(Predicate(sentence, 1, "verb"), sentence.constituent_at(2, 4))
    >>> extract(candidate, ["ptype", "path", "pred&position"])
    ['ptype=PP', 'path=PP>NP<NP<NN', 'pred&position=effect&right']
    """
    values = {atom: _ATOMS[atom](candidate) for atom in atoms_of(names)}
    return [f"{name}={AND.join([values[part] for part in name.split(AND)])}" for name in names]
