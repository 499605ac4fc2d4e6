"""The shallow discourse parser: places of connectives, arguments, relations between neighbours, the command line."""

from __future__ import annotations

import gzip
import json
import time
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest
from tests.fixtures import SHARED_DATA

from tesla_eval.base.errors import InputError, ResourceError
from tesla_eval.base.resources import find_resource, read_resource, write_resource
from tesla_eval.language.analysis import load_pipeline
from tesla_eval_papers.discourse.arguments import clauses_around, cut_clauses
from tesla_eval_papers.discourse.classifier import Classifier
from tesla_eval_papers.discourse.connectives import ConnectiveCandidate, Inventory, without_overlap
from tesla_eval_papers.discourse.document import Relation
from tesla_eval_papers.discourse.relation_parser import Parser, load_discourse_parser
from tesla_eval_papers.training.discourse import (
    classifier_arrays,
    connective_name,
    fit_classifier,
    train_parser_resource,
)
from tesla_eval_papers.training.discourse_evaluation import Overlap, evaluate_parser
from tesla_eval_papers.training.gdtb import NON_COMMERCIAL_GENRES, read_gdtb

GDTB = SHARED_DATA / "discourse" / "gdtb"


def explicit(text: str) -> list[tuple[str, str, str, str]]:
    """(connective, sense, Arg1, Arg2) of the explicit relations of a text."""
    found = load_discourse_parser("en").to_dict(text)["relations"]
    return [
        (r["connective"]["text"], r["sense"], r["arg1"]["text"], r["arg2"]["text"])
        for r in found
        if r["type"] == "Explicit"
    ]


def test_a_connective_within_a_sentence() -> None:
    assert explicit("We stayed at home because the roads were flooded.") == [
        ("because", "Contingency", "We stayed at home", "the roads were flooded.")
    ]


def test_a_connective_that_looks_back() -> None:
    assert explicit("It rained all night. However, the match was played.") == [
        ("However", "Comparison", "It rained all night.", "the match was played.")
    ]


def test_a_subordinate_clause_that_comes_first() -> None:
    (found,) = explicit("When the bell rang, the children left the room.")
    assert found == ("When", "Temporal", "the children left the room.", "the bell rang")


def test_commas_around_an_argument_are_no_part_of_its_text() -> None:
    text = "If you come, he said, then bring bread, for instance."
    spans = [
        (0, 2),
        (3, 6),
        (7, 11),
        (11, 12),
        (13, 15),
        (16, 20),
        (20, 21),
        (22, 26),
        (27, 32),
        (33, 38),
        (38, 39),
    ]
    found = Relation(
        "Explicit", "Contingency", ((0, 0), (0, 7)), tuple((0, k) for k in (8, 9, 10)),
        tuple((0, k) for k in (1, 2, 3, 6)),
    ).to_dict(text, [spans])  # fmt: skip
    assert found["connective"]["text"] == "If … then"
    assert found["arg1"] == {"text": "bring bread", "spans": [[27, 38]], "sentences": [0]}
    assert found["arg2"] == {"text": "you come", "spans": [[3, 11]], "sentences": [0]}


def test_words_that_only_look_like_connectives() -> None:
    assert explicit("She bought bread and milk for her old mother.") == []


@pytest.mark.parametrize(
    "text", ["", "   \n ", "Hello.", "No connective here", "...", "And", "Because.", "if then"]
)
def test_nothing_or_one_sentence_is_no_error(text: str) -> None:
    parse = load_discourse_parser("en").to_dict(text)
    assert len(parse["sentences"]) <= 1
    assert all(r["type"] in ("Explicit", "Implicit") for r in parse["relations"])  # nothing between sentences


def test_sentences_without_connectives_have_relations_with_their_neighbours() -> None:
    document, relations = load_discourse_parser("en").parse("The sun rose. Birds sang. People woke up.")
    assert len(document) == 3
    assert [(min(r.arg1)[0], min(r.arg2)[0]) for r in relations] == [(0, 1), (1, 2)]
    assert {r.type for r in relations} <= {"Implicit", "AltLex", "EntRel", "NoRel"}


def test_neighbours_joined_by_a_connective_have_no_other_relation() -> None:
    _, relations = load_discourse_parser("en").parse("It rained. But we went out.")
    assert [r.type for r in relations] == ["Explicit"]


def test_places_are_those_of_the_text() -> None:
    text = "Ünï rained –  hard. But “we” went out because we could."
    for relation in load_discourse_parser("en").to_dict(text)["relations"]:
        for part in ("connective", "arg1", "arg2"):
            if relation[part]:
                pieces = [" ".join(text[a:b].split()) for a, b in relation[part]["spans"]]
                assert relation[part]["text"] == " … ".join(pieces)


def test_orders_parse_as_the_reordered_text_does() -> None:
    parser = load_discourse_parser("en")
    text = "He slept. Then the phone rang. But he did not wake, because he was tired. It was late."
    (document,) = parser.documents([text])
    order = [2, 0, 3, 1]
    assert parser.parser.parse_orders(document, [range(4), order]) == [
        parser.parser.parse(document),
        parser.parser.parse(document.reordered(order)),
    ]


def test_inventory_finds_pairs_and_overlapping_phrases() -> None:
    inventory = Inventory(["so", "so that", "if .. then", "then"])
    words = ("if", "it", "is", "so", "that", "then")
    assert [c.tokens for c in inventory.candidates(words)] == [(0, 5), (3,), (3, 4), (5,)]
    assert connective_name(words, (0, 5)) == "if .. then"
    assert connective_name(words, (0, 2, 5)) is None


def test_of_overlapping_candidates_the_best_stays() -> None:
    candidates = [
        ConnectiveCandidate("so", (3,)),
        ConnectiveCandidate("so that", (3, 4)),
        ConnectiveCandidate("but", (0,)),
        ConnectiveCandidate("x", (7,)),
    ]
    assert without_overlap(candidates, [5, 9, 1, -2]) == [2, 1]


def test_clauses_never_hold_the_connective() -> None:
    assert cut_clauses(5, [-9000] * 4, [0]) == [(1, 2, 3, 4)]
    assert cut_clauses(3, [9000, 9000], [0, 1, 2]) == []


def test_arguments_are_looked_for_near_their_connective() -> None:
    length, place = 1001, 500
    near = clauses_around(length, [9000] * (length - 1), ConnectiveCandidate("because", (place,)))
    assert near == [(token,) for token in range(450, 551) if token != place]
    assert clauses_around(5, [-9000] * 4, ConnectiveCandidate("because", (2,))) == [(0, 1), (3, 4)]


def test_classifier_learns_and_survives_storage() -> None:
    examples = [["a", "c"], ["b", "c"], ["a"], ["b"]] * 5
    classifier = fit_classifier(examples, ["x", "y", "x", "y"] * 5)
    again = Classifier.from_arrays(classifier_arrays(classifier, "t"), "t")
    assert again.predict([["a"], ["b"], []]) == classifier.predict([["a"], ["b"], []])
    assert again.predict([["a"], ["b", "unknown"]]) == ["x", "y"]
    assert again.predict([]) == []
    assert again.margins([["a"]], "x")[0] > 0 > again.margins([["a"]], "y")[0]


@pytest.mark.parametrize("lost", ["connectives", "use.labels", "sense.features", "clause.weights"])
def test_a_parser_that_lost_a_part_is_named(
    lost: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = find_resource("discourse", "en")
    assert path is not None
    sound = read_resource(path)
    arrays = {**sound.arrays, lost: sound.arrays[lost][:1]} if "." in lost else dict(sound.arrays)
    if "." not in lost:
        del arrays[lost]
    write_resource(tmp_path / path.name, replace(sound, arrays=arrays))
    monkeypatch.setenv("TESLA_EVAL_DATA", str(tmp_path))
    load_discourse_parser.cache_clear()
    try:
        with pytest.raises(ResourceError, match=r"discourse-en\.tesla: is not a valid discourse parser"):
            load_discourse_parser("en")
    finally:
        load_discourse_parser.cache_clear()


def test_overlap_counts() -> None:
    overlap = Overlap()
    overlap.add({1, 2, 3}, {2, 3, 4, 5})
    assert (overlap.precision, overlap.recall, overlap.f1) == (2 / 3, 2 / 4, 4 / 7)
    assert Overlap().f1 == 0


def test_relation_pieces() -> None:
    relation = Relation("Explicit", "Expansion", ((0, 1),), ((0, 0),), ((0, 2),))
    found = relation.to_dict("a and b", [[(0, 1), (2, 5), (6, 7)]])
    assert found["connective"] == {"text": "and", "spans": [[2, 5]], "sentences": [0]}


def test_command_prints_json_and_text(tesla, write) -> None:
    path = write("t.txt", ["It rained. But we went out.", "The end."])
    outcome = tesla("discourse", path, "--json")
    (parse,) = [json.loads(line) for line in outcome.out.splitlines()]
    assert parse["relations"][0]["connective"]["text"] == "But"
    assert len(tesla("discourse", path, "--json", "--lines").out.splitlines()) == 2
    drawn = tesla("discourse", path).out
    assert "Explicit Comparison" in drawn
    assert "\x1b" not in drawn  # no colour when not a terminal


def test_command_refuses_other_languages(tesla, write) -> None:
    outcome = tesla("discourse", "-l", "de", write("t.txt", ["Es regnet."]))
    assert outcome.status == 2
    assert "no discourse parser is installed for language 'de'" in outcome.err


def test_damaged_corpus_names_file_and_line(tmp_path: Path) -> None:
    documents, relations = tmp_path / "d.jsonl", tmp_path / "r.tsv"
    documents.write_text(
        '{"doc": "a", "split": "train", "genre": "news", "text": "A b", "sents": [["A", "c"]]}\n'
    )
    relations.write_text("doc\n")
    with pytest.raises(InputError, match=r"d\.jsonl, line 1"):
        read_gdtb(str(documents), str(relations), load_pipeline("en"))
    documents.write_text(
        '{"doc": "a", "split": "train", "genre": "news", "text": "A b", "sents": [["A", "b"]]}\n'
    )
    with pytest.raises(InputError, match=r"r\.tsv, line 1: has no column 'type'"):
        read_gdtb(str(documents), str(relations), load_pipeline("en"))
    header = "doc\ttype\tsense1\tsense2\tconn_spans\targ1_spans\targ2_spans\n"
    relations.write_text(header + "a\tNew\tx\t\t\t0..1\t2..3\n")
    with pytest.raises(InputError, match=r"r\.tsv, line 2"):
        read_gdtb(str(documents), str(relations), load_pipeline("en"))


def test_shipped_model_is_small_and_free() -> None:
    path = find_resource("discourse", "en")
    assert path is not None
    resource = read_resource(path)
    assert path.stat().st_size < 2_000_000
    assert NON_COMMERCIAL_GENRES.isdisjoint(resource.info["genres"])


def test_a_small_corpus_builds_the_same_parser_twice(tmp_path: Path) -> None:
    if not GDTB.exists():
        pytest.skip("GDTB is not here")
    with gzip.open(GDTB / "docs.jsonl.gz", "rt", encoding="utf-8") as lines:
        some = [line for line in lines if '"split": "train"' in line][::25]
    documents = tmp_path / "docs.jsonl"
    documents.write_text("".join(some), encoding="utf-8")
    pipeline = load_pipeline("en")
    corpus = read_gdtb(str(documents), str(GDTB / "relations.tsv.gz"), pipeline)
    built = []
    for name in ("a.tesla", "b.tesla"):
        write_resource(tmp_path / name, train_parser_resource(corpus, pipeline))
        built.append((tmp_path / name).read_bytes())
    assert built[0] == built[1]


@pytest.mark.slow
def test_shipped_parser_reaches_its_goals() -> None:
    if not GDTB.exists():
        pytest.skip("GDTB is not here")
    corpus = read_gdtb(str(GDTB / "docs.jsonl.gz"), str(GDTB / "relations.tsv.gz"), load_pipeline("en"))
    parser: Parser = load_discourse_parser("en").parser
    for test in (
        [d for d in corpus if d.split == "test"],
        [d for d in corpus if d.split == "test" and d.free],
    ):
        measures = evaluate_parser(parser, test)
        assert measures.connectives.f1 >= 0.85
        assert measures.explicit_sense.share >= 0.88
        assert measures.implicit_sense.share >= measures.implicit_sense.majority + 0.05


def test_ten_thousand_words_parse_in_two_seconds() -> None:
    if not GDTB.exists():
        pytest.skip("GDTB is not here")
    with gzip.open(GDTB / "docs.jsonl.gz", "rt", encoding="utf-8") as lines:
        words = " ".join(json.loads(line)["text"] for line in islice(lines, 20)).split()[:10_000]
    assert len(words) == 10_000
    parser = load_discourse_parser("en")
    start = time.process_time()
    parser.parse(" ".join(words))
    assert time.process_time() - start < 2
