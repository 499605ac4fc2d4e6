"""LIN and DICOMER: the role matrix of the paper's example, the metric without references, training, CREMER."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.fixtures import SHARED_DATA

from tesla_eval.base.errors import BuildError, InputError, ResourceError, UsageError
from tesla_eval.base.resources import Resource, read_resource, write_resource
from tesla_eval.judgements.summaries import read_text_lists
from tesla_eval_papers import Cremer, Dicomer
from tesla_eval_papers.discourse.document import Document, Relation, Sense, SentenceWords
from tesla_eval_papers.discourse.relation_parser import load_discourse_parser
from tesla_eval_papers.discourse.roles import (
    SCALES,
    VARIANTS,
    CoherenceModel,
    RoleMatrix,
    features_of,
    read_coherence_model,
    role_matrix,
)
from tesla_eval_papers.models.svr import CREMER_FEATURES, CremerModel, SupportVectorModel
from tesla_eval_papers.resources import data_folder
from tesla_eval_papers.training.dicomer import RankedText, permutations_of, permuted_lists, train_coherence
from tesla_eval_papers.training.gdtb import read_gdtb

# Specification §11, the paper's table 2: rows S1..S4.
TABLE_2 = RoleMatrix(
    4,
    {
        "copper": {1: ("Comp.Arg1", "Comp.Arg2")},
        "cananea": {0: ("Comp.Arg1",), 2: ("Comp.Arg2", "Exp.Arg1", "Temp.Arg1"), 3: ("Exp.Arg2",)},
        "operat": {2: ("Comp.Arg2", "Exp.Arg1", "Temp.Arg1"), 3: ("Exp.Arg1", "Exp.Arg2")},
        "depend": {0: ("Comp.Arg1",)},
    },
)
GOOD = "Tom fell ill on Monday. He stayed at home because he had a fever. But his fever went down. So Tom went out."


def words(text: str, tags: str) -> SentenceWords:
    tokens = tuple(text.split())
    lower = tuple(token.lower() for token in tokens)
    return SentenceWords(tokens, lower, lower, tuple(tags.split()), tuple((0, 0) for _ in tokens))


def relation(kind: str, sense: Sense, arg1: tuple[int, range], arg2: tuple[int, range]) -> Relation:
    first, second = (tuple((sentence, token) for token in span) for sentence, span in (arg1, arg2))
    return Relation(kind, sense, (), first, second)  # type: ignore[arg-type]


# The paper's figures 2 and 3, reduced to the words that matter: S3.1, S3.2 and S4.1 to S4.3 are spans of S3 and S4.
PAPER_TEXT = Document(
    "",
    (
        words("Japan depends on Cananea", "NNP VBZ IN NNP"),
        words("Japan has been buying copper", "NNP VBZ VBN VBG NN"),
        words("But as Cananea begins operating they resume roles", "CC IN NNP VBZ VBG PRP VBP NNS"),
        words("By Demler Highland has started operating and Cananea will too", "IN NNP NNP VBZ VBN VBG CC NNP MD RB"),
    ),
)  # fmt: skip
PAPER_RELATIONS = [
    relation("Implicit", "Comparison", (0, range(4)), (1, range(5))),
    relation("Explicit", "Comparison", (1, range(5)), (2, range(1, 8))),
    relation("Explicit", "Temporal", (2, range(2, 5)), (2, range(5, 8))),
    relation("Implicit", "Expansion", (2, range(8)), (3, range(10))),
    relation("Explicit", "Expansion", (3, range(2, 6)), (3, range(7, 10))),
]


FIGURE_2 = (
    "Japan normally depends heavily on the Highland Valley and Cananea mines as well as the Bougainville mine in Papua "
    "New Guinea. Recently, Japan has been buying copper elsewhere. But as Highland Valley and Cananea begin operating, "
    "they are expected to resume their roles as Japan's suppliers. According to Fred Demler, metals economist for "
    'Drexel Burnham Lambert, New York, "Highland Valley has already started operating and Cananea is expected to do so '
    'soon."'
)
FIGURE_3 = {
    ("Implicit", "Comparison", "", (0,), (1,)),
    ("Explicit", "Comparison", "But", (1,), (2,)),
    ("Explicit", "Temporal", "as", (2,), (2,)),
    ("Implicit", "Expansion", "", (2,), (3,)),
    ("Explicit", "Expansion", "and", (3,), (3,)),
}
"""The relations that the paper shows for its figure 2: type, sense, connective, sentences of Arg1 and of Arg2."""


def test_relations_found_in_the_papers_figure_2_right_and_wrong() -> None:
    parser = load_discourse_parser("en")
    (document,) = parser.documents([FIGURE_2])
    told = [relation.to_dict(FIGURE_2, document.spans) for relation in parser.parser.parse(document)]
    found = {
        (one["type"], one["sense"], (one["connective"] or {"text": ""})["text"],
         tuple(one["arg1"]["sentences"]), tuple(one["arg2"]["sentences"]))
        for one in told
    }  # fmt: skip
    assert found & FIGURE_3 == {
        ("Explicit", "Comparison", "But", (1,), (2,)),
        ("Implicit", "Expansion", "", (2,), (3,)),
        ("Explicit", "Expansion", "and", (3,), (3,)),
    }
    assert found - FIGURE_3 == {("Implicit", "Expansion", "", (0,), (1,))}  # wrong sense
    assert FIGURE_3 - found == {
        ("Implicit", "Comparison", "", (0,), (1,)),
        ("Explicit", "Temporal", "as", (2,), (2,)),  # missed
    }


def test_worked_example_has_25_transitions() -> None:
    counts = TABLE_2.transitions[2]
    assert sum(counts.values()) == 25
    assert counts["Comp.Arg2→Exp.Arg2"] == 2
    assert TABLE_2.features(intra_cell=False)["Comp.Arg2→Exp.Arg2"] == 2 / 25


def test_transitions_are_those_of_a_slow_count() -> None:
    for length in (2, 3):
        slow: dict[str, int] = {}
        for term in TABLE_2.columns:
            for start in range(4 - length + 1):
                paths = [[]]
                for step in range(length):
                    paths = [[*path, role] for path in paths for role in TABLE_2.cell(start + step, term)]
                for path in paths:
                    slow["→".join(path)] = slow.get("→".join(path), 0) + 1
        assert dict(TABLE_2.transitions[length]) == slow


def test_matrix_of_the_papers_text() -> None:
    matrix = role_matrix(PAPER_TEXT, PAPER_RELATIONS, explicitness=False)
    assert matrix.columns["copper"] == TABLE_2.columns["copper"]
    assert matrix.columns["cananea"] == TABLE_2.columns["cananea"]
    assert matrix.columns["depend"] == TABLE_2.columns["depend"]
    assert (
        matrix.columns["oper"] == TABLE_2.columns["operat"]
    )  # Porter's stem of what the paper writes operat


def test_explicit_and_non_explicit_roles_of_the_papers_cell() -> None:
    matrix = role_matrix(PAPER_TEXT, PAPER_RELATIONS, explicitness=True)
    assert set(matrix.cell(2, "cananea")) == {
        "Comp.Arg2", "Temp.Arg1", "Exp.Arg1", "E.Comp.Arg2", "E.Temp.Arg1", "N.Exp.Arg1"
    }  # fmt: skip


def test_intra_cell_bigrams_of_the_papers_cell() -> None:
    plain = RoleMatrix(4, {"cananea": {2: TABLE_2.cell(2, "cananea")}})
    assert plain.intra_cell == {"Comp.Arg2↔Exp.Arg1": 1, "Comp.Arg2↔Temp.Arg1": 1, "Exp.Arg1↔Temp.Arg1": 1}
    both = role_matrix(PAPER_TEXT, PAPER_RELATIONS, explicitness=True)
    cell = RoleMatrix(4, {"cananea": {2: both.cell(2, "cananea")}})
    assert "E.Comp.Arg2↔Temp.Arg1" in cell.intra_cell
    assert sum(cell.intra_cell.values()) == 6 * 5 / 2
    assert math.isclose(sum(cell.features(intra_cell=True).values()), 3.0)  # two lengths and the bigrams


def test_variants_nest() -> None:
    features = features_of(PAPER_TEXT, PAPER_RELATIONS, VARIANTS)
    assert features["lin"].keys() < features["lin+c"].keys() < features["dicomer"].keys()
    assert features["lin"].keys() < features["lin+e"].keys() < features["dicomer"].keys()


def test_metric_needs_no_reference() -> None:
    metric = Dicomer()
    score = metric.sentence_score(GOOD)
    assert score.score == metric.sentence_score(GOOD, ["whatever"]).score
    assert metric.corpus_score([GOOD, GOOD]).score == pytest.approx(score.score, abs=1e-15)
    assert math.log(0.001) <= score.score <= 0


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("text", ["", " ", "...", "?! –"])
def test_an_empty_text_gets_the_lowest_score(text: str, scale: str) -> None:
    metric = Dicomer(scale=scale)
    score = metric.sentence_score(text)
    lowest = metric.model.lowest
    assert score.features == {
        "log": math.log(0.001),
        "raw": lowest,
        "length": lowest - max(metric.model.typical),
    }
    assert score.score == score.features[scale]
    others = ["Hello.", "No. No. No.", GOOD, "But but but. And and. So so so so.", "x. " * 60]
    assert all(metric.sentence_score(other).score >= score.score for other in others)


@pytest.mark.parametrize("text", ["", " ", "...", "?! –"])
def test_an_empty_text_gets_cremers_lowest_score(text: str) -> None:
    cremer = Cremer()
    assert cremer.sentence_score(text, [GOOD]).score == cremer.model.lowest
    assert cremer.explain(text, [GOOD]).score == cremer.model.lowest
    others = ("Hello.", "No. No. No.", GOOD, "But but but. And and. So so so so.", "x. " * 60)
    assert all(cremer.sentence_score(other, [GOOD]).score >= cremer.model.lowest for other in others)


def test_the_score_is_the_papers_and_other_scales_have_names_in_the_signature() -> None:
    model = CoherenceModel("lin", {"a": 2.0}, lowest=1.0, highest=3.0, typical=(0.5, 1.5))
    assert model.scores({"a": 1.0}, 2) == (math.log(0.5), 2.0, 0.5)
    assert model.scores({"a": 1.0}, 7) == model.scores({"a": 1.0}, 2)  # longer than all lengths known
    assert model.scores({"a": 0.1}, 1) == (math.log(0.001), 1.0, 0.5)  # below the range of training
    assert model.scores({"a": 9.0}, 1) == (0.0, 3.0, 2.5)
    scores = {scale: Dicomer(scale=scale).sentence_score(GOOD) for scale in SCALES}
    assert Dicomer().sentence_score(GOOD).score == scores["log"].score
    for scale, score in scores.items():
        assert score.score == score.features[scale]
        assert score.signature["scale"] == scale
    with pytest.raises(UsageError, match="one of log, raw, length, not 'words'"):
        Dicomer(scale="words")


def test_the_length_scale_is_relative_to_texts_of_the_same_length() -> None:
    lists = [
        [
            RankedText({"a": 0.5 / n, "b": 1 - 0.5 / n}, 1.0, n),
            RankedText({"a": 0.4 / n, "b": 1 - 0.4 / n}, 0.0, n),
        ]
        for n in (2, 3, 4, 5, 8)
        for _ in range(6)
    ]
    model = train_coherence(lists, "lin")
    scores = [model.scores(texts[0].features, texts[0].sentences) for texts in lists]
    assert np.ptp([length for _, _, length in scores]) < 0.5 * np.ptp([raw for _, raw, _ in scores])


def test_one_sentence_has_no_transitions() -> None:
    (detail,) = Dicomer().explain("We stayed at home because it rained.").references
    names = [feature.name for feature in detail.coherence.features if feature.share is not None]
    assert all("↔" in name for name in names)


def test_no_connective_is_no_error() -> None:
    assert math.isfinite(Dicomer().sentence_score("The sun rose. Birds sang. People woke.").score)


def test_scores_do_not_depend_on_batch_or_threads() -> None:
    texts = [GOOD, "The sun rose. Birds sang.", "It rained. But we went out. We got wet."] * 5
    alone = [Dicomer().sentence_score(text).score for text in texts]
    assert Dicomer(workers=3).corpus_score(texts).segments.tolist() == alone


def test_explanation_adds_up() -> None:
    explanation = Dicomer().explain(GOOD)
    (detail,) = explanation.to_dict()["references"]
    shares = [feature["share"] for feature in detail["features"] if "share" in feature]
    values = {feature["name"]: feature["value"] for feature in detail["features"] if "share" not in feature}
    assert list(values) == list(SCALES)
    assert math.isclose(math.fsum(shares), values["raw"], abs_tol=1e-12)
    assert explanation.score == values["log"]
    assert len(detail["sentences"]) == 4
    assert all(len(column) == 4 for column in detail["matrix"].values())
    json.dumps(explanation.to_dict())


def test_commands_score_and_explain(tesla, write) -> None:
    path = write("texts.txt", [GOOD, "The sun rose. Birds sang."])
    outcome = tesla("score", "-m", "dicomer", path, "--format", "json", "--segments")
    assert outcome.status == 0
    assert "dicomer" in outcome.out
    drawn = tesla("explain", "-m", "dicomer", GOOD).out
    assert "raised the score" in drawn
    assert "Arg1" in drawn
    refused = tesla("score", "-m", "m", path)
    assert refused.status == 2


def test_ranking_learns_what_is_better() -> None:
    lists = [
        [
            RankedText({"a": 0.9, "b": 0.1}, 2.0),
            RankedText({"a": 0.1, "b": 0.9}, 1.0),
            RankedText({"a": 0.5}, 1.0),
        ]
        for _ in range(10)
    ]
    model = train_coherence(lists, "lin")
    scores = [model.ranking(text.features) for text in lists[0]]
    assert scores[0] == max(scores) == model.highest
    assert min(scores) == model.lowest


def test_training_is_svm_lights_by_default() -> None:
    """Hinge loss over all pairs of a list alike, C = 1 / (mean length of a difference)²; all features are kept."""
    generator = np.random.default_rng(7)
    lists = [
        [
            RankedText(dict(zip("abc", row.tolist(), strict=True)), float(k % 3))
            for k, row in enumerate(generator.random((size, 3)))
        ]
        for size in (3, 6)
    ]
    differences = np.array([
        [x.features[name] - y.features[name] for name in "abc"]
        for texts in lists for x in texts for y in texts if x.score > y.score
    ])  # fmt: skip
    cost = 1 / np.linalg.norm(differences, axis=1).mean() ** 2

    def objective(weights: np.ndarray) -> float:
        return float(weights @ weights / 2 + cost * np.maximum(0, 1 - differences @ weights).sum())

    model = train_coherence(lists, "lin")
    found = np.array([model.weights[name] for name in "abc"])
    assert model.info["cost"] == pytest.approx(cost)
    assert model.info["pairs"] == len(differences)
    steps = (found + step for step in generator.normal(scale=0.01, size=(500, 3)))
    assert all(objective(found) <= objective(step) + 1e-4 for step in steps)


def test_nothing_to_learn_is_said() -> None:
    with pytest.raises(BuildError, match="different scores"):
        train_coherence([[RankedText({"a": 1.0}, 1.0)] * 12], "lin")
    with pytest.raises(BuildError, match="give texts of several sentences"):
        train_coherence([[RankedText({}, 1.0), RankedText({}, 0.0)]], "lin")
    with pytest.raises(BuildError, match="one pair of texts is too few to learn from"):
        train_coherence([[RankedText({"a": 1.0}, 1.0), RankedText({"b": 1.0}, 0.0)]], "lin")


def test_permutations_are_other_orders_and_repeatable() -> None:
    orders = permutations_of(5, "doc")
    assert len(orders) == 20
    assert all(sorted(order) == [0, 1, 2, 3, 4] != order for order in orders)
    assert orders == permutations_of(5, "doc") != permutations_of(5, "other")
    assert permutations_of(1, "doc") == permutations_of(0, "doc") == []


def test_train_command_makes_a_model_that_the_metric_takes(tesla, tmp_path: Path) -> None:
    lists = tmp_path / "lists.jsonl"
    bad = "So Tom went out. But his fever went down. Tom fell ill on Monday. He stayed at home because he had a fever."
    rows = [
        {"list": k, "text": text, "score": score} for k in range(12) for text, score in ((GOOD, 5), (bad, 1))
    ]
    lists.write_text("".join(json.dumps(row) + "\n" for row in rows))
    output = tmp_path / "dicomer-en.tesla"
    outcome = tesla(
        "train", "dicomer", str(lists), "--variant", "lin+e", "--date", "2026-11-15", "-o", str(output)
    )
    assert outcome.status == 0
    metric = Dicomer(model=output)
    assert metric.get_signature()["variant"] == "lin+e"
    assert metric.sentence_score(GOOD).score > metric.sentence_score(bad).score
    own = tmp_path / "own.tesla"
    assert tesla("train", "dicomer", str(lists), "--cost", "0.5", "-o", str(own)).status == 0
    assert read_coherence_model(own).info["cost"] == 0.5
    assert tesla("train", "dicomer", "-o", str(output)).status == 2


def test_bad_lists_name_file_and_line(tmp_path: Path) -> None:
    path = tmp_path / "lists.jsonl"
    for row, message in (
        ({"text": "x", "score": 1}, "'list'"),
        ({"list": 1, "text": "x", "score": "y"}, "'score'"),
    ):
        path.write_text(json.dumps(row))
        with pytest.raises(InputError, match=rf"lists\.jsonl, line 1.*{message}"):
            read_text_lists(str(path))


def test_a_model_of_another_parser_is_refused() -> None:
    with pytest.raises(ResourceError, match="tesla train dicomer"):
        Dicomer(model=CoherenceModel("lin", {}, 0, 1, parser="00000000"))


def test_damaged_model_is_said(tmp_path: Path) -> None:
    path = tmp_path / "m.tesla"
    write_resource(path, Resource("dicomer", "en", {"weights": np.zeros(2)}, info={"variant": "lin"}))
    with pytest.raises(ResourceError, match=r"m\.tesla"):
        read_coherence_model(path)
    with pytest.raises(ResourceError, match=r"m\.tesla"):
        CremerModel.from_resource(read_resource(path))


def linear(weights: list[float]) -> CremerModel:
    regression = SupportVectorModel(
        CREMER_FEATURES,
        np.zeros(2),
        np.ones(2),
        np.array([weights]),
        np.ones(1),
        0.5,
        gamma=1.0,
        kernel="linear",
    )
    return CremerModel(regression, lowest=-100.0, highest=100.0)


def test_cremer_combines_both_scores() -> None:
    metric = Cremer(model=linear([2.0, 3.0]))
    score = metric.sentence_score(GOOD, ["Tom had a fever."])
    assert score.features["dicomer"] == Dicomer().sentence_score(GOOD).score
    expected = 0.5 + 2 * score.features["tesla-s"] + 3 * score.features["dicomer"]
    assert score.score == pytest.approx(expected, abs=1e-12)
    explanation = metric.explain(GOOD, ["Tom had a fever.", "Tom went out."]).to_dict()
    assert [reference["features"][0]["name"] for reference in explanation["references"]] == ["tesla-s"] * 2
    assert "matrix" in explanation["references"][0]["coherence"]
    for reference, text in zip(explanation["references"], ["Tom had a fever.", "Tom went out."], strict=True):
        alone = metric.sentence_score(GOOD, [text])
        assert reference["score"] == alone.score
        assert [part["value"] for part in reference["features"][:2]] == list(alone.features.values())
    assert explanation["score"] == metric.sentence_score(GOOD, ["Tom had a fever.", "Tom went out."]).score
    with pytest.raises(InputError):
        metric.sentence_score(GOOD)


def test_cremer_is_built_in(tesla) -> None:
    outcome = tesla("explain", "-m", "cremer", GOOD, "Tom had a fever.")
    assert outcome.status == 0
    assert "tesla-s" in outcome.out
    assert "raised the score" in outcome.out


def test_train_cremer_command(tesla, tmp_path: Path) -> None:
    texts = [GOOD, "Birds sang. The sun rose.", "Tom had a fever. So he stayed at home.", "Nothing."]
    rows = [
        {"id": topic, "system": f"s{k}", "hypothesis": text, "references": ["Tom had a fever."], "human": 5 - k}
        for topic in range(6)
        for k, text in enumerate(texts)
    ]  # fmt: skip
    path, output = tmp_path / "judged.jsonl", tmp_path / "cremer-en.tesla"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    for kernel in ("linear", "poly", "rbf"):
        outcome = tesla(
            "train",
            "cremer",
            str(path),
            "--human",
            "human",
            "--kernel",
            kernel,
            "--folds",
            "3",
            "-o",
            str(output),
        )
        assert outcome.status == 0
        assert Cremer(model=output).get_signature()["kernel"] == kernel
    assert tesla("train", "cremer", str(path), "--human", "joy", "-o", str(output)).status == 2


def test_unknown_language_is_refused() -> None:
    with pytest.raises(ResourceError, match="no discourse parser"):
        Dicomer("fr")


@pytest.mark.slow
def test_the_original_order_is_preferred() -> None:
    folder = SHARED_DATA / "discourse" / "gdtb"
    if not folder.exists():
        pytest.skip("GDTB is not here")
    metric = Dicomer()
    files = (str(folder / name) for name in ("docs.jsonl.gz", "relations.tsv.gz"))
    corpus = read_gdtb(*files, metric.parser.pipeline)
    test = {d.name: d.document for d in corpus if d.split == "test" and len(d.document) >= 6}
    lists = permuted_lists(metric.parser.parser, test, ["dicomer"])["dicomer"]
    pairs = [
        metric.model.ranking(original.features) > metric.model.ranking(other.features)
        for original, *others in lists
        for other in others
    ]
    assert len(pairs) == 20 * len(test)
    assert sum(pairs) / len(pairs) >= 0.75


def test_weights_that_are_no_list_of_numbers_are_refused(tmp_path: Path) -> None:
    sound = read_resource(data_folder() / "dicomer-en.tesla", "dicomer")
    for weights in (sound.arrays["weights"].reshape(1, -1), np.full_like(sound.arrays["weights"], np.nan)):
        path = tmp_path / "dicomer-en.tesla"
        write_resource(path, replace(sound, arrays={**sound.arrays, "weights": weights}))
        with pytest.raises(ResourceError, match="not a list of finite numbers"):
            Dicomer(model=path)
