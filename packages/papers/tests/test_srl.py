"""Role labelling of nouns (§16): features by the paper's names, NomBank's pointers, evaluation, commands."""

from __future__ import annotations

import copy
import gzip
import json
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from tesla_eval.base.errors import InputError, ResourceError, UsageError
from tesla_eval.base.resources import read_resource, write_resource
from tesla_eval_papers.cli.srl import conll_rows, drawing
from tesla_eval_papers.cli.train_srl import srl as train_srl_command
from tesla_eval_papers.srl.constituents import ParsedSentence
from tesla_eval_papers.srl.evaluation import (
    evaluate_labeller,
    gold_arguments,
    noun_predicates,
)
from tesla_eval_papers.srl.features import (
    CLASSIFICATION_FEATURES,
    FEATURE_POOL,
    IDENTIFICATION_FEATURES,
    ArgumentCandidate,
    Predicate,
    extract,
)
from tesla_eval_papers.srl.frames import read_nomtypes
from tesla_eval_papers.srl.labeller import (
    Argument,
    LabelledPredicate,
    LabelledSentence,
    RoleLabeller,
    load_labeller,
    read_labeller,
)
from tesla_eval_papers.srl.nombank import read_nombank, read_propositions
from tesla_eval_papers.srl.scorer import Scorer
from tesla_eval_papers.syntax.treebank import GoldPredicate, TreebankSentence
from tesla_eval_papers.syntax.trees import read_tree
from tesla_eval_papers.training.srl import (
    LEARNERS,
    collect_examples,
    train_labeller,
)
from tesla_eval_papers.training.srl_selection import select_backwards

EFFECT = read_tree(
    "(TOP (S (NP (NNP Auto) (NNS prices)) (VP (VBP have) (NP (NP (DT a) (JJ big) (NN effect)) "
    "(PP (IN on) (NP (DT the) (NNP PPI))))) (. .)))"
)


def sentence(
    text: str, *predicates: tuple[int, tuple[tuple[str, int, int], ...]], split: str = "train"
) -> TreebankSentence:
    tree = read_tree(text)
    leaves = tree.leaves()
    return TreebankSentence(
        tuple(leaf.word or "" for leaf in leaves),
        tuple(leaf.label for leaf in leaves),
        tree,
        split,
        tuple(
            GoldPredicate(index, leaves[index].word or "", leaves[index].label, arguments)
            for index, arguments in predicates
        ),
    )


def miniature(split: str = "train") -> list[TreebankSentence]:
    """Sentences of two patterns with several fillers: owner's decision about thing, big effect of thing."""
    nouns = (("decision", "about"), ("attack", "on"), ("effect", "of"), ("discussion", "about"))
    return [
        sentence(
            f"(TOP (S (NP (NP (NNP {owner}) (POS 's)) (JJ big) (NN {noun}) (PP (IN {preposition}) "
            f"(NP (NNS {thing})))) (VP (VBD came) (NP (NN yesterday))) (. .)))",
            (3, (("ARG0", 0, 2), ("ARGM-ADJ", 2, 3), ("V", 3, 4), ("ARG1", 4, 6))),
            split=split,
        )
        for noun, preposition in nouns
        for owner in ("Kim", "Lee", "France")
        for thing in ("taxes", "schools")
    ]


def features_of(start: int, end: int, names: tuple[str, ...]) -> dict[str, str]:
    words = ParsedSentence(EFFECT)
    constituent = words.constituent_at(start, end)
    assert constituent is not None
    found = extract(ArgumentCandidate(Predicate(words, 5, "noun"), constituent), names)
    return dict(text.split("=", 1) for text in found)


def test_the_18_features_of_table_1() -> None:
    assert len(IDENTIFICATION_FEATURES) == 18
    assert features_of(6, 9, IDENTIFICATION_FEATURES) == {
        "pred": "effect", "subcat": "NP>DT_JJ_NN", "ptype": "PP", "hw": "on", "path": "PP>NP<NP<NN",
        "position": "right", "firstword": "on", "lastword": "ppi", "lsis.ptype": "NP", "rsis.hw": "-",
        "rsis.hw.pos": "-", "parent.ptype": "NP", "parent.hw": "effect", "partialpath": "PP>NP",
        "ptype&pathlength": "PP&4", "pred&hw": "effect&on", "pred&path": "effect&PP>NP<NP<NN",
        "pred&position": "effect&right",
    }  # fmt: skip


def test_the_11_features_of_table_2() -> None:
    assert len(CLASSIFICATION_FEATURES) == 11
    assert features_of(0, 2, CLASSIFICATION_FEATURES) == {
        "position": "left", "ptype": "NP", "firstword": "auto", "lastword": "prices", "rsis.ptype": "VP",
        "nomtype": "noun", "pred&ptype": "effect&NP", "pred&lastword": "effect&prices", "morph&hw": "effect&prices",
        "morph&position": "effect&left", "nomtype&position": "noun&left",
    }  # fmt: skip


def test_the_pool_has_the_paper_s_52_candidates_and_other_features_are_right() -> None:
    assert len(set(FEATURE_POOL)) == len(FEATURE_POOL) == 52
    assert set(IDENTIFICATION_FEATURES) | set(CLASSIFICATION_FEATURES) <= set(FEATURE_POOL)
    found = features_of(7, 9, FEATURE_POOL)
    assert found["distance"] == "1"
    assert found["chunkseq"] == "PP"
    assert found["parent.lsis.hw"] == "effect"
    assert found["lca"] == "NP"
    assert features_of(0, 2, FEATURE_POOL)["chunkseq"] == "VP_NP"
    assert features_of(6, 9, FEATURE_POOL)["pp.object"] == "ppi"
    assert features_of(3, 6, FEATURE_POOL)["position"] == "overlap"


def test_no_constituent_is_pruned_and_chains_are_one() -> None:
    words = ParsedSentence(read_tree("(TOP (S (VP (VB Go))))"))
    assert [(c.node.label, c.start, c.end) for c in words.constituents] == [("S", 0, 1)]
    spans = [(c.start, c.end) for c in ParsedSentence(EFFECT).constituents]
    assert (5, 6) in spans  # the predicate itself
    assert (3, 9) in spans  # what holds it
    assert len(spans) == len(set(spans))


MRG = """
( (S (NP-SBJ-1 (DT The) (NN company))
     (VP (VBD made)
         (NP (NP (DT a) (NN promise))
             (SBAR (WHNP-2 (-NONE- 0))
                   (S (NP-SBJ (-NONE- *-1)) (VP (TO to) (VP (VB pay) (NP (-NONE- *T*-2)))))))
         (, ,) (NP-TMP (NN yesterday)))
     (. .)))
( (S (NP-SBJ (NNP U.S.) (NNS steelmakers)) (VP (VBP ship) (NP (NN steel))) (. .)))
"""
PROPOSITIONS = [
    "wsj/00/wsj_0001.mrg 0 4 promise 01 4:0-rel 2:0-SUPPORT 6:1*0:1-ARG0 5:2-ARG2 11:1,12:0-ARGM-TMP",
    "wsj/00/wsj_0001.mrg 1 1 steelmaker 01 1:0-rel 1:0-ARG0 1:0-ARG1 0:0-ARGM-LOC",
]


def nombank_files(tmp_path: Path, lines: list[str]) -> tuple[str, Path]:
    folder = tmp_path / "bank" / "wsj" / "00"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "wsj_0001.mrg").write_text(MRG)
    path = tmp_path / "nombank.1.0"
    path.write_text("".join(f"{line}\n" for line in lines))
    return str(path), tmp_path / "bank"


def test_nombank_s_pointers(tmp_path) -> None:
    first, second = read_nombank(*nombank_files(tmp_path, PROPOSITIONS))
    assert " ".join(first.tokens) == "The company made a promise to pay , yesterday ."
    assert str(first.tree).startswith("(TOP (S (NP (DT The) (NN company)) (VP (VBD made)")
    (promise,) = first.predicates
    assert promise.index == 4
    # The chain: its trace is gone, the company stays. The pieces around the comma stay two.
    assert promise.arguments == (
        ("V", 4, 5), ("ARG0", 0, 2), ("ARG2", 5, 7), ("ARGM-TMP", 8, 9), ("ARGM-TMP", 9, 10),
    )  # fmt: skip
    (maker,) = second.predicates
    assert maker.arguments == (("V", 1, 2), ("ARG0", 1, 2), ("ARG1", 1, 2), ("ARGM-LOC", 0, 1))
    assert noun_predicates(second) == [maker]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("wsj/00/wsj_0001.mrg 0 4 promise 01", "line 1: is not file"),
        ("wsj/00/wsj_0001.mrg 0 4 promise 01 4-rel", "not terminal:height"),
        ("wsj/00/wsj_0001.mrg 0 4 promise 01 4:0", "not a pointer and a label"),
        ("wsj/00/wsj_0001.mrg 0 4 promise 01 99:0-ARG1", "no terminal 99"),
        ("wsj/00/wsj_0001.mrg 0 4 promise 01 4:50-ARG1", "above the root"),
        ("wsj/00/wsj_0001.mrg 7 4 promise 01 4:0-rel", "no tree 7"),
        ("../../etc/passwd 0 4 promise 01 4:0-rel", "there is no file"),
    ],
)
def test_broken_propositions_name_their_line(tmp_path, line: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_nombank(*nombank_files(tmp_path, [line]))


def test_propositions_keep_chains_and_pieces(tmp_path) -> None:
    path, _ = nombank_files(tmp_path, PROPOSITIONS)
    _, first = next(iter(read_propositions(path)))
    assert dict(first.arguments)["ARG0"] == (((6, 1),), ((0, 1),))
    assert dict(first.arguments)["ARGM-TMP"] == (((11, 1), (12, 0)),)


def test_nom_types_of_frame_files(write) -> None:
    path = write(
        "frames.tsv",
        [
            "roleset\tname\tlemma\taliases\troles",
            "decide.01\tdecide\tdecide\tn:decision|v:decide|l:make_decision\t0:PAG:decider",
            "employ.01\temploy\temploy\tv:employ|n:employment|n:employer|n:employee\t",
            "able.01\table\table\tj:able|n:ability\t",
            "idea.01\tidea\tidea\tn:idea\t",
        ],
    )
    assert read_nomtypes(path) == {
        "ability": "adjective", "decision": "verb", "employee": "object", "employer": "subject",
        "employment": "verb", "idea": "noun",
    }  # fmt: skip
    with pytest.raises(InputError, match="line 1"):
        read_nomtypes(write("bad.tsv", ["only one column"]))


@pytest.mark.parametrize("learner", LEARNERS)
def test_every_learner_learns_the_miniature(learner: str) -> None:
    sentences = miniature()
    examples = collect_examples(sentences, [s.tree for s in sentences], {})
    labeller = train_labeller(examples, {}, learner, dimensions=2)
    figures = evaluate_labeller(labeller, sentences, [s.tree for s in sentences]).to_dict()
    assert figures["classification"]["f1"] == 1.0
    assert figures["combined"]["f1"] > 0.95
    with pytest.raises(UsageError, match="no learner"):
        train_labeller(examples, {}, "svm")


def test_first_of_several_labels_is_learned_and_all_count() -> None:
    two = sentence(
        "(TOP (NP (NNP U.S.) (NNS steelmakers)))", (1, (("ARG0", 1, 2), ("ARG1", 1, 2), ("ARG2", 0, 2)))
    )
    examples = collect_examples([two], [two.tree], {})
    assert sorted(examples.classification.labels) == ["ARG0", "ARG2"]
    assert gold_arguments(two.predicates[0]) == [("ARG0", 1, 2), ("ARG1", 1, 2), ("ARG2", 0, 2)]


def test_arguments_without_a_constituent_count_as_missed() -> None:
    sentences = miniature()
    labeller = train_labeller(collect_examples(sentences, [s.tree for s in sentences], {}), {}, "linear")
    flat = read_tree("(TOP (S (NNP Kim) (POS 's) (JJ big) (NN decision) (IN about) (NNS taxes) (. .)))")
    broken = TreebankSentence(
        tuple(flat.words()), tuple(leaf.label for leaf in flat.leaves()), flat, "", sentences[0].predicates
    )
    counts = evaluate_labeller(labeller, [broken], [flat])
    assert counts.classification.gold == counts.identification.gold == 3
    assert counts.classification.predicted == 1  # only the adjective is a constituent


def test_backward_selection_removes_what_is_useless() -> None:
    steps = select_backwards(
        miniature(), miniature("dev"), {}, ("ptype", "position", "hw", "lca"), most_steps=2
    )
    assert steps[0].removed == ""
    assert all(later.f1 >= earlier.f1 for earlier, later in pairwise(steps))
    assert len(steps[-1].left) < 4


def test_a_scorer_survives_its_file() -> None:
    weights = np.array([[0.5, 0.0], [-0.25, 1.0], [0.0, 0.0]])
    scorer = Scorer.from_weights(["a", "b"], ["f=1", "f=2", "f=3"], weights)
    again = Scorer.from_arrays(scorer.to_arrays("x"), "x")
    assert len(again.keys) == 2
    examples = [["f=1", "f=2"], ["f=3", "unknown"], []]
    assert again.scores(examples).tolist() == [[250, 1000], [0, 0], [0, 0]]


def treebank_file(tmp_path: Path) -> str:
    path = tmp_path / "bank.jsonl.gz"
    with gzip.open(path, "wt") as out:
        for part in ("train", "dev"):
            for item in miniature(part):
                predicates = [
                    {"i": p.index, "lemma": p.lemma, "pos": p.tag, "args": p.arguments}
                    for p in item.predicates
                ]
                record = {
                    "split": part, "tokens": item.tokens, "pos": item.tags, "tree": str(item.tree),
                    "preds": predicates,
                }  # fmt: skip
                print(json.dumps(record), file=out)
    return str(path)


def test_training_command_and_evaluation(tesla, tmp_path) -> None:
    from click.testing import CliRunner

    path, model = treebank_file(tmp_path), tmp_path / "srl-en.tesla"
    outcome = CliRunner().invoke(train_srl_command, [path, "-o", str(model), "--date", "2026-01-01"])
    assert outcome.exit_code == 0, outcome.output
    first = model.read_bytes()
    CliRunner().invoke(train_srl_command, [path, "-o", str(model), "--date", "2026-01-01"])
    assert model.read_bytes() == first
    arguments = ("srl", "--evaluate", path, "--split", "dev", "--model", str(model))
    figures = json.loads(tesla(*arguments, "--json").out)
    assert set(figures) == {"identification", "classification", "combined"}
    assert all(set(shares) == {"precision", "recall", "f1"} for shares in figures.values())
    assert figures["combined"]["f1"] > 0.9
    assert "ARGM-ADJ" in tesla(*arguments, "--trees", "auto").out
    selected = CliRunner().invoke(train_srl_command, [path, "--select-features", "dev", "--steps", "1"])
    assert selected.exit_code == 0, selected.output
    assert "all features" in selected.output


def test_sections_of_nombank_are_the_papers_splits(tmp_path, tesla) -> None:
    from click.testing import CliRunner

    sections = ("02", "21", "23", "24")
    lines = [line.replace("/00/", f"/{section}/") for section in sections for line in PROPOSITIONS]
    path, folder = nombank_files(tmp_path, lines)
    for section in sections:
        (folder / "wsj" / section).mkdir(parents=True)
        (folder / "wsj" / section / "wsj_0001.mrg").write_text(MRG)
    sizes = {split: len(read_nombank(path, folder, split)) for split in ("train", "dev", "test")}
    assert sizes == {"train": 4, "dev": 2, "test": 2}
    model, bank = tmp_path / "srl-en.tesla", ["--treebank", str(folder)]
    outcome = CliRunner().invoke(train_srl_command, [path, *bank, "-o", str(model)])
    assert outcome.exit_code == 0, outcome.output
    selected = CliRunner().invoke(
        train_srl_command, [path, *bank, "--select-features", "dev", "--steps", "1"]
    )
    assert selected.exit_code == 0, selected.output
    arguments = ("srl", "--evaluate", path, *bank, "--split", "test", "--model", str(model), "--json")
    given = json.loads(tesla(*arguments).out)
    found = json.loads(tesla(*arguments, "--predicates", "auto", "--trees", "auto").out)
    assert given["combined"]["f1"] >= found["combined"]["f1"]
    refused = tesla(*arguments[:-1], "--split", "12")
    assert refused.status == 2
    assert "sections 2 to 21 are train, 24 dev, 23 test" in refused.err


def test_own_predicates_count_what_is_missed_and_what_is_invented() -> None:
    sentences = miniature()
    trees = [sentence.tree for sentence in sentences]
    labeller = train_labeller(collect_examples(sentences, trees, {}), {}, "linear")
    given = evaluate_labeller(labeller, sentences, trees)
    found = evaluate_labeller(labeller, sentences, trees, find_predicates=True)
    assert found.combined.gold == given.combined.gold
    blind = replace_predicates(labeller, [])
    assert evaluate_labeller(blind, sentences, trees, find_predicates=True).combined.predicted == 0


def replace_predicates(labeller: RoleLabeller, places: list[int]) -> RoleLabeller:
    """The same labeller, which takes these places for predicates."""
    blind = copy.copy(labeller)
    object.__setattr__(blind, "find_predicates", lambda sentence: places)
    return blind


def test_training_from_nombank(tmp_path) -> None:
    from click.testing import CliRunner

    path, folder = nombank_files(tmp_path, PROPOSITIONS)
    model = tmp_path / "srl-en.tesla"
    outcome = CliRunner().invoke(
        train_srl_command, [path, "--treebank", str(folder), "--split", "", "-o", str(model)]
    )
    assert outcome.exit_code == 0, outcome.output
    assert "ARG0" in read_labeller(model).label_scorer.labels


def test_a_damaged_model_is_an_error(tmp_path) -> None:
    sentences = miniature()
    labeller = train_labeller(collect_examples(sentences, [s.tree for s in sentences], {}), {}, "linear")
    resource = labeller.to_resource("en", {})
    path = tmp_path / "srl.tesla"
    write_resource(path, resource)
    assert isinstance(read_labeller(path), RoleLabeller)
    arrays = {**resource.arrays, "label.columns": resource.arrays["label.columns"] + np.uint8(100)}
    write_resource(path, type(resource)(**{**vars(resource), "arrays": arrays}))
    with pytest.raises(ResourceError, match="is not a valid role labeller"):
        RoleLabeller.from_resource(read_resource(path))


LABELLED = LabelledSentence(
    ("His", "big", "decision", "came"),
    (LabelledPredicate(2, "decision", (Argument("ARG0", 0, 1), Argument("ARGM-ADJ", 1, 2))),),
)


def test_drawing_and_columns() -> None:
    lines = list(drawing(LABELLED))
    assert lines[0] == "His big decision came"
    assert lines[1].startswith("───")
    assert lines[2].startswith("ARG0")
    assert any("decision" in line for line in lines[1:])
    assert any("ARGM-ADJ" in line for line in lines)
    assert list(conll_rows(LABELLED)) == [
        "1\tHis\t_\t(ARG0*)", "2\tbig\t_\t(ARGM-ADJ*)", "3\tdecision\tdecision\t(V*)", "4\tcame\t_\t*", "",
    ]  # fmt: skip


def test_the_installed_labeller_on_raw_text(tesla, write) -> None:
    path = write("text.txt", ["The destruction of the city by the army was terrible."])
    (record,) = [json.loads(line) for line in tesla("srl", path, "--json").out.splitlines()]
    (predicate,) = record["predicates"]
    assert predicate["word"] == "destruction"
    assert {"of the city"} <= {argument["text"] for argument in predicate["arguments"]}
    assert "destruction" in tesla("srl", path).out
    assert "(V*)" in tesla("srl", path, "--format", "conll").out
    assert tesla("srl").status == 2
    with pytest.raises(ResourceError, match="no role labeller is installed for language 'de'"):
        load_labeller("de")


def test_the_labeller_needs_no_scikit_learn() -> None:
    code = (
        "import sys; sys.modules['sklearn'] = None; sys.modules['scipy'] = None\n"
        "from tesla_eval_papers.srl.labeller import label_text\n"
        "assert label_text('The attack on the town was a surprise.')[0].predicates"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
