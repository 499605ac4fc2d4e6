"""Trees, binarisation, evalb's rules, CKY against a slow version, and the installed parser."""

from __future__ import annotations

import gzip
import json
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tesla_eval.base.errors import InputError, ResourceError
from tesla_eval.base.resources import read_resource, write_resource
from tesla_eval.language.analysis.tags import load_tagger
from tesla_eval.matching.kernels import MOST_SPAN_LABELS, best_span_tree
from tesla_eval_papers.syntax.grammar import Grammar
from tesla_eval_papers.syntax.tree_parser import LONGEST, ConstituencyParser, load_tree_parser, read_parser
from tesla_eval_papers.syntax.treebank import TreebankSentence, read_treebank
from tesla_eval_papers.syntax.trees import Tree, read_tree, read_trees, without_traces
from tesla_eval_papers.training.evalb import count_brackets
from tesla_eval_papers.training.grammar import BinaryNode, TreeGrammar, binarise, build_grammar
from tesla_eval_papers.training.trees import ParserSettings, evaluate_parser, train_parser

SENTENCES = (
    "(TOP (S (NP (DT The) (NN cat)) (VP (VBD sat) (PP (IN on) (NP (DT the) (NN mat)))) (. .)))",
    "(TOP (S (NP (PRP We)) (VP (VBP like) (S (VP (VBG eating) (NP (JJ green) (NNS apples))))) (. .)))",
    "(TOP (FRAG (NP (NN Thanks)) (PP (IN for) (NP (NP (DT the) (NN fish)) (CC and) (NP (NNS chips)))) (. !)))",
    "(TOP (S (NP (PRP We)) (VP (VBD ate) (NP (NP (NN rice)) (PP (IN with) (NP (NNS beans))))) (. .)))",
    "(TOP (S (NP (PRP We)) (VP (VBD ate) (NP (NN rice)) (PP (IN with) (NP (NNS spoons)))) (. .)))",
    "(TOP (S (NP (NNP Kim)) (VP (MD may) (RB not) (VP (VB come))) (. .)))",
)


def trees_strategy() -> st.SearchStrategy[Tree]:
    leaves = st.builds(
        lambda tag, word: Tree(tag, word=word),
        st.sampled_from(["NN", "VB", "DT", ","]),
        st.sampled_from(["a", "b", "("]),
    )
    nodes = st.recursive(
        leaves,
        lambda inner: st.builds(
            Tree, st.sampled_from(["NP", "VP", "S", "X"]), st.lists(inner, min_size=1, max_size=4)
        ),
        max_leaves=10,
    )
    return nodes.map(lambda tree: Tree("TOP", [Tree("S", [tree])]).renumber())


@given(trees_strategy())
def test_a_tree_is_read_as_it_was_written(tree: Tree) -> None:
    again = read_tree(str(tree))
    assert str(again) == str(tree)
    assert again.words() == tree.words()
    assert [(n.start, n.end) for n in again.nodes()] == [(n.start, n.end) for n in tree.nodes()]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(S (NP (NN a))", "not closed"),
        ("a (S b)", "outside of all brackets"),
        ("(S a (NP b))", "neither one word nor children"),
        ("(S)", "neither one word nor children"),
        ("(A a) (B b)", "2 trees"),
        ("(" * 2000, "deeper"),
    ],
)
def test_broken_trees_are_errors(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_tree(text, "file, line 1")


def test_traces_and_function_tags_are_removed() -> None:
    text = "( (S (NP-SBJ-1 (DT The) (NN plan)) (VP (VBD was) (VP (VBN made) (NP (-NONE- *-1))))) )"
    (tree,) = read_trees(text)
    bare, numbers = without_traces(tree)
    assert str(bare) == "(TOP (S (NP (DT The) (NN plan)) (VP (VBD was) (VP (VBN made)))))"
    assert numbers == {0: 0, 1: 1, 2: 2, 3: 3}


def nodes_of(root: BinaryNode | str) -> list[BinaryNode]:
    if isinstance(root, str):
        return []
    return [root, *(node for child in root.children for node in nodes_of(child))]


@given(trees_strategy())
def test_binary_trees_have_two_children_and_can_be_undone(tree: Tree) -> None:
    root = binarise(tree.children[0])
    nodes = nodes_of(root)
    assert all(len(node.children) == 2 or node.end == node.start + 1 for node in nodes)
    grammar = build_grammar([root], ["NN", "VB", "DT", ","], 1)
    assert isinstance(root, BinaryNode)
    rows = grammar.node_rows(root)
    assert rows is not None
    leaves = tree.leaves()
    again = grammar.tree(
        [(start, end, label) for start, end, _, label, _, _ in rows],
        tree.words(),
        [leaf.label for leaf in leaves],
    )
    assert str(again) == str(tree)
    assert TreeGrammar.from_info(json.loads(json.dumps(grammar.to_info()))) == grammar


def test_brackets_are_counted_as_evalb_does() -> None:
    gold = read_tree("(TOP (S (NP (PRP We)) (VP (VBP go) (PRT (RP out))) (. .)))")
    # ADVP is PRT, the full stop does not count, the NP is missing, and one FRAG is too much.
    given_tree = read_tree("(TOP (FRAG (S (PRP We) (VP (VBP go) (ADVP (RP out)) (. .)))))")
    counts = count_brackets([(gold, given_tree)])
    assert (counts.gold, counts.predicted, counts.matched, counts.exact) == (4, 4, 3, 0)
    assert count_brackets([(gold, gold)]).to_dict() == {
        "labelled": {"precision": 1.0, "recall": 1.0, "f1": 1.0},
        "exact": 1.0,
    }


def slow_best(grammar: Grammar, tags: list[int], scores: dict[str, np.ndarray]) -> float:
    """CKY as in a textbook: every label of every span by every split and rule, no beam."""
    n = len(tags)
    tops = [grammar.symbol_numbers["^" + label.partition("+")[0]] for label in grammar.labels]
    bottoms = [grammar.parents.index(label.rpartition("+")[2]) for label in grammar.labels]
    chart: dict[tuple[int, int], dict[int, float]] = {}
    for i, tag in enumerate(tags):
        cell = {tag: 0.0}
        for number, (parent, name) in enumerate(grammar.unary):
            if grammar.tags.index(name) == tag:
                for label, top in enumerate(tops):
                    if grammar.parents[bottoms[label]] == parent:
                        value = scores["span"][i, i + 1, label] + scores["unary"][number]
                        cell[top] = max(cell.get(top, -np.inf), value)
        chart[i, i + 1] = cell
    for length in range(2, n + 1):
        for i in range(n - length + 1):
            j = i + length
            cell = {}
            for number, (parent_name, left_name, right_name) in enumerate(grammar.rules):
                parent = grammar.parents.index(parent_name)
                left, right = grammar.symbol_numbers[left_name], grammar.symbol_numbers[right_name]
                for k in range(i + 1, j):
                    if left in chart[i, k] and right in chart[k, j]:
                        inner = chart[i, k][left] + chart[k, j][right] + scores["binary"][number]
                        inner += scores["left"][i, k, parent] + scores["right"][k, j, parent]
                        for label, top in enumerate(tops):
                            if bottoms[label] == parent:
                                cell[top] = max(cell.get(top, -np.inf), inner + scores["span"][i, j, label])
            chart[i, j] = cell
    whole = [
        value + scores["root"][symbol]
        for symbol, value in chart[0, n].items()
        if symbol >= len(grammar.tags) and not grammar.symbols[symbol].startswith("^@")
    ]
    return max(whole, default=-np.inf)


def tree_score(
    grammar: Grammar, tags: list[int], nodes: list[tuple[int, int, int, int]], scores: dict[str, np.ndarray]
) -> float:
    """The score of a tree, node by node."""
    label_of = {(start, end): label for start, end, _, label in nodes}

    def symbol(start: int, end: int) -> str:
        if (start, end) in label_of:
            return "^" + grammar.labels[label_of[start, end]].partition("+")[0]
        assert end == start + 1
        return grammar.tags[tags[start]]

    total = float(scores["root"][grammar.symbol_numbers[symbol(0, len(tags))]])
    for start, end, split, label in nodes:
        parent = grammar.labels[label].rpartition("+")[2]
        total += scores["span"][start, end, label]
        if end == start + 1:
            total += scores["unary"][grammar.unary.index((parent, grammar.tags[tags[start]]))]
            continue
        rule = (parent, symbol(start, split), symbol(split, end))
        number = grammar.parents.index(parent)
        total += scores["binary"][grammar.rules.index(rule)]
        total += scores["left"][start, split, number] + scores["right"][split, end, number]
    return total


@settings(max_examples=60)
@given(st.integers(0, 10**6), st.sampled_from(SENTENCES), st.integers(0, 2))
def test_cky_finds_the_optimum_of_a_slow_version(seed: int, text: str, changed: int) -> None:
    roots = [binarise(read_tree(text).children[0]) for text in SENTENCES]
    all_tags = sorted({leaf.label for text in SENTENCES for leaf in read_tree(text).leaves()})
    grammar = build_grammar(roots, all_tags, 1)
    random = np.random.default_rng(seed)
    tags = np.array([all_tags.index(leaf.label) for leaf in read_tree(text).leaves()])
    n = len(tags)
    tags[random.integers(0, n, changed)] = random.integers(0, len(all_tags), changed)
    shape = (n + 1, n + 1, MOST_SPAN_LABELS)
    # Small whole numbers: their sums are exact in any order.
    scores = {name: random.integers(-9, 9, shape).astype(np.float32) for name in ("span", "left", "right")}
    for name, size in (
        ("binary", len(grammar.rules)),
        ("unary", len(grammar.unary)),
        ("root", len(grammar.symbols)),
    ):
        scores[name] = random.integers(-9, 9, size).astype(np.float32)
    flat = {name: array.reshape(-1) for name, array in scores.items()}
    score, nodes, pieces = best_span_tree(grammar.to_core(), tags.astype(np.uint8), **flat, beam=100)
    expected = slow_best(grammar, tags.tolist(), scores)
    if np.isinf(expected):
        assert pieces > 1
        assert changed
    else:
        assert score == expected
        assert pieces == 1
        assert tree_score(grammar, tags.tolist(), nodes, scores) == expected


def small_treebank() -> list[TreebankSentence]:
    found = []
    for text in SENTENCES:
        tree = read_tree(text)
        leaves = tree.leaves()
        words = tuple(leaf.word or "" for leaf in leaves)
        found.append(TreebankSentence(words, tuple(leaf.label for leaf in leaves), tree))
    return found


def small_parser() -> ConstituencyParser:
    tagger = load_tagger("en")
    assert tagger is not None
    settings_ = ParserSettings(
        epochs=6, final_epochs=3, min_updates=1, rarest_label=1, rarest_word=1, features=5000
    )
    sentences = small_treebank()
    resource = train_parser(sentences, [s.tags for s in sentences], tagger, settings_)
    return ConstituencyParser.from_resource(resource, tagger)


def test_a_parser_learns_its_training_trees_and_is_the_same_every_time(tmp_path) -> None:
    parser = small_parser()
    sentences = small_treebank()
    parses = parser.parse_tagged([s.tokens for s in sentences], [s.tags for s in sentences])
    assert [str(found.tree) for found in parses] == list(SENTENCES)
    assert len(parser.resource.arrays["row_weights"]) > 0  # the rules alone do not know where "with" belongs
    for name in ("a", "b"):
        write_resource(tmp_path / f"{name}.tesla", small_parser().resource)
    assert (tmp_path / "a.tesla").read_bytes() == (tmp_path / "b.tesla").read_bytes()
    assert str(read_parser(tmp_path / "a.tesla").parse("The cat sat on the mat.")[0].tree) == SENTENCES[0]


def test_damaged_models_are_errors(tmp_path) -> None:
    resource = small_parser().resource
    for name, value in (
        ("row_lanes", np.full_like(resource.arrays["row_lanes"], 200)),
        ("row_lengths", resource.arrays["row_lengths"][:-1]),
        ("binary", resource.arrays["binary"][:-1]),
    ):
        arrays = {**resource.arrays, name: value}
        path = tmp_path / "bad.tesla"
        write_resource(path, type(resource)(**{**vars(resource), "arrays": arrays}))
        with pytest.raises(ResourceError, match="is not a valid parser"):
            read_parser(path)
    with pytest.raises(ResourceError):
        ConstituencyParser.from_resource(read_resource(path))


def test_every_sentence_has_a_tree_over_its_words() -> None:
    parser = load_tree_parser("en")
    for words in (["("], ["."], ["a", ")"], [",", ",", ","], ["\U0001f600"] * 7, ["the"] * 30):
        (found,) = parser.parse_tokens([words])
        assert found.tree.words() == words
        assert read_tree(str(found.tree)).words() == [{"(": "(", ")": ")"}.get(w, w) for w in words]
    assert parser.parse("") == []


def test_long_sentences_are_cut_and_cost_grows_with_length_only(tesla, write) -> None:
    parser = load_tree_parser("en")
    text = "the dog of the man saw that , and then it ran to the house with a ball ; " * 40
    words = text.split()[:500]
    times = []
    for n in (250, 500):
        start = time.process_time()
        (found,) = parser.parse_tokens([words[:n]])
        times.append(time.process_time() - start)
        assert found.cut
        assert found.tree.words() == words[:n]
    assert times[1] < 8 * times[0] + 0.5
    (short,) = parser.parse_tokens([words[:LONGEST]])
    assert not short.cut
    outcome = tesla("parse", "--tokenised", write("long.txt", [" ".join(words)]))
    assert outcome.status == 0
    assert "parsed in parts" in outcome.err


def test_the_same_tree_in_every_batch() -> None:
    parser = load_tree_parser("en")
    sentences = [["The", "cat", "sat", "."], ["Dogs", "bark", "at", "night", "."], ["Stop", "!"]]
    together = [str(found.tree) for found in parser.parse_tokens(sentences)]
    assert together == [str(parser.parse_tokens([words])[0].tree) for words in sentences]


def test_the_command_prints_trees_and_json(tesla, write) -> None:
    path = write("text.txt", ["The cat sat on the mat. It slept."])
    outcome = tesla("parse", path)
    assert outcome.out.splitlines()[0] == SENTENCES[0]
    records = [json.loads(line) for line in tesla("parse", path, "--json").out.splitlines()]
    assert [record["sentence"] for record in records] == [1, 2]
    assert records[0]["tree"] == SENTENCES[0]
    assert tesla("parse").status == 2
    assert "no constituency parser" in tesla("parse", "-l", "de", path).err


def test_a_parser_is_measured_on_a_split_of_a_treebank(tmp_path) -> None:
    path = tmp_path / "bank.jsonl.gz"
    with gzip.open(path, "wt") as out:
        for number, sentence in enumerate(small_treebank()):
            record = {
                "split": "dev" if number else "other", "tokens": sentence.tokens, "pos": sentence.tags,
                "tree": str(sentence.tree),
            }  # fmt: skip
            print(json.dumps(record), file=out)
    figures = evaluate_parser(load_tree_parser("en"), read_treebank(str(path), "other")).to_dict()
    assert figures == {"labelled": {"precision": 1.0, "recall": 1.0, "f1": 1.0}, "exact": 1.0}
    with pytest.raises(InputError, match="its splits: dev, other"):
        read_treebank(str(path), "test")
    assert len(read_treebank(str(path))) == len(SENTENCES)


def test_there_is_no_parser_for_other_languages() -> None:
    with pytest.raises(ResourceError, match="no constituency parser is installed for language 'de'"):
        load_tree_parser("de")


@pytest.mark.slow
def test_the_installed_parser_on_the_dev_split() -> None:
    from tests.fixtures import SHARED_DATA

    path = SHARED_DATA / "srl" / "ewt_srl.jsonl.gz"
    if not path.exists():
        pytest.skip("the treebank is not here")
    labelled = evaluate_parser(load_tree_parser("en"), read_treebank(str(path), "dev")).to_dict()["labelled"]
    assert isinstance(labelled, dict)
    assert labelled["f1"] >= 0.80
