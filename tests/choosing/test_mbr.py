"""Minimum Bayes risk against the naive double loop, and matching both ways at once against one way at a time."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tesla_eval.base.errors import InputError
from tesla_eval.choosing.mbr import MbrOptions, agreement_with_aggregate, expected_scores, mbr
from tesla_eval.choosing.nbest import Candidate, CandidateList
from tesla_eval.language.analysis import load_pipeline
from tesla_eval.metrics import create_metric
from tesla_eval.metrics.features import FeatureGroup
from tesla_eval.metrics.features.measures import MEASURES
from tesla_eval.metrics.features.ngrams import CharacterGroup, NgramGroup

WORDS = ["the", "a", "cat", "cats", "dog", "sat", "runs", "ran", "quickly", "house", ".", ","]
sentences = st.lists(st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join), min_size=1, max_size=6)


def naive(metric, texts, weights=None):
    """The definition, pair by pair."""
    weights = [1.0] * len(texts) if weights is None else weights
    return [
        sum(w * metric.sentence_score(h, [r]).score for r, w in zip(texts, weights, strict=True))
        / sum(weights)
        for h in texts
    ]


class TestExpectedScores:
    @pytest.mark.parametrize("name", ["m", "x", "chrf", "ter", "celab"])
    @given(texts=sentences)
    def test_equal_the_double_loop(self, name: str, texts) -> None:
        metric = create_metric(name, "zh" if name == "celab" else "en")
        assert expected_scores(metric, texts) == pytest.approx(naive(metric, texts), rel=1e-12, abs=1e-12)

    @given(texts=sentences, data=st.data())
    def test_weights(self, texts, data) -> None:
        metric = create_metric("m", "en")
        weights = data.draw(st.lists(st.floats(0.1, 3), min_size=len(texts), max_size=len(texts)))
        found = expected_scores(metric, texts, np.array(weights))
        assert found == pytest.approx(naive(metric, texts, weights), rel=1e-9, abs=1e-12)

    def test_equal_texts_are_compared_once(self) -> None:
        class Counting:
            higher_is_better = True
            seen = 0

            def pairwise(self, hypotheses, references):
                self.seen += len(hypotheses) * len(references)
                return np.equal.outer(hypotheses, references).astype(float)

        metric = Counting()
        assert expected_scores(metric, ["a", "b", "a", "a"]).tolist() == [0.75, 0.25, 0.75, 0.75]  # type: ignore[arg-type]
        assert metric.seen == 4

    def test_top_k_scores_the_chosen_exactly_and_leaves_out_the_others(self) -> None:
        metric = create_metric("m", "en")
        texts = ["the cat sat", "the cat sat down", "a cat sat", "dogs bark loudly", "no"]
        exact, some = expected_scores(metric, texts), expected_scores(metric, texts, top_k=3)
        assert np.isnan(some).sum() == 2
        assert some[:3].tolist() == exact[:3].tolist()

    def test_many_candidates_are_compared_in_blocks(self, monkeypatch) -> None:
        metric = create_metric("m", "en")
        texts = [f"the {word} sat {k}" for k, word in enumerate(WORDS)]
        whole = expected_scores(metric, texts)
        monkeypatch.setattr("tesla_eval.choosing.mbr._ROWS_AT_ONCE", 5)
        assert expected_scores(metric, texts).tolist() == whole.tolist()

    def test_no_candidates(self) -> None:
        with pytest.raises(InputError):
            expected_scores(create_metric("m", "en"), [])


@given(texts=sentences)
def test_the_aggregate_is_the_same_in_any_order(texts) -> None:
    mass = np.ones(len(texts)) / len(texts)
    found = agreement_with_aggregate(texts, mass)
    assert ((found >= 0) & (found <= 1 + 1e-12)).all()
    assert agreement_with_aggregate(texts[::-1], mass)[::-1] == pytest.approx(found)


@pytest.mark.parametrize("group", [NgramGroup(("ms", "pos", "lem"), MEASURES), CharacterGroup()])
@given(texts=sentences)
def test_pairs_match_both_ways_as_they_do_one_way_at_a_time(group: FeatureGroup, texts: list[str]) -> None:
    analysis = load_pipeline("en")
    bound = group.bind(analysis)
    assert bound is not None
    prepared = bound.prepare(analysis.analyse(texts)[0])
    first, second = np.triu_indices(len(texts))
    forth, back = bound.compare_both_ways(prepared, first, second)
    np.testing.assert_array_equal(forth, bound.compare(prepared, prepared, first, second))
    np.testing.assert_array_equal(back, bound.compare(prepared, prepared, second, first))


class TestChoice:
    LISTS = (
        CandidateList(
            0,
            "x",
            (Candidate("a b c", score=0.0), Candidate("a b d", score=0.0), Candidate("x y", score=9.0)),
        ),
        CandidateList(1, "y", (Candidate("only", score=1.0),)),
    )

    def test_weights_by_model_score_turn_the_choice(self) -> None:
        metric = create_metric("chrf", "en")
        assert [c.best for c in mbr(metric, self.LISTS, MbrOptions())] == [0, 0]
        assert [c.best for c in mbr(metric, self.LISTS, MbrOptions(scale=1.0))] == [2, 0]

    def test_error_rates_choose_the_lowest(self) -> None:
        assert [c.best for c in mbr(create_metric("ter", "en"), self.LISTS, MbrOptions())] == [0, 0]

    def test_threads_do_not_change_the_choice(self) -> None:
        metric = create_metric("m", "en")
        found = [[c.expected.tolist() for c in mbr(metric, self.LISTS * 5, MbrOptions(), w)] for w in (1, 3)]
        assert found[0] == found[1]


class TestCommand:
    def test_formats(self, tesla, write) -> None:
        path = write(
            "n",
            ["0 ||| a cat ||| F0= -1 ||| -1", "0 ||| a cat ||| F0= -2 ||| -2", "0 ||| dogs ||| F0= 0 ||| 0"],
        )
        assert tesla("mbr", path).out == "a cat\n"
        (line,) = tesla("mbr", path, "--format", "json").out.splitlines()
        found = json.loads(line)
        assert (found["segment"], found["best"], len(found["expected"])) == (0, 0, 3)
        assert found["signature"].endswith("|mbr:exact")
        table = tesla("mbr", path, "-m", "chrf", "--format", "table", "--scale", "2").out
        assert "best" in table
        assert table.splitlines()[-1].endswith("|mbr:exact|scale:2")

    def test_approximations_say_so(self, tesla, write) -> None:
        path = write("n", ["a cat", "a cat sat", "dogs", "birds fly"])
        plain = ("--nbest-format", "plain:4", "--format", "json")
        assert json.loads(tesla("mbr", path, *plain, "--top-k", "2").out)["signature"].endswith("|mbr:top-2")
        assert json.loads(tesla("mbr", path, *plain, "--aggregate").out)["signature"] == "mbr:aggregate"

    def test_feature_weights_are_part_of_the_signature(self, tesla, write) -> None:
        path = write("n", ["0 ||| a cat ||| F0= -1", "0 ||| dogs ||| F0= -2"])
        signatures = [
            json.loads(tesla("mbr", path, "--scale", "1", "--params", weights, "--format", "json").out)["signature"]
            for weights in (write("one", ["F0 1"]), write("two", ["F0 1.0000001"]), write("same", ["F0 1.0"]))
        ]  # fmt: skip
        assert signatures[0] == signatures[2] != signatures[1]

    @pytest.mark.parametrize("options", [(), ("--aggregate",)])
    def test_feature_weights_that_would_not_count_are_refused(self, tesla, write, options) -> None:
        path = write("n", ["0 ||| a cat ||| F0= -1", "0 ||| dogs ||| F0= -2"])
        found = tesla("mbr", path, "--params", write("w", ["F0 1"]), *options)
        assert (found.status, found.out) == (2, "")
        assert "hint: add --scale 1" in found.err

    def test_a_scale_is_named_in_full(self) -> None:
        assert MbrOptions(scale=0.12345678).signature["scale"] == "0.12345678"

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (("-m", "m,x"), "mbr takes one metric"),
            (("--aggregate", "-m", "m"), "uses no metric"),
            (("--scale", "1"), "candidates have no score"),
            (("--nbest-format", "plain:3"), "no multiple of 3"),
        ],
    )
    def test_errors(self, tesla, write, options, message: str) -> None:
        path = write("n", ["a", "b"])
        given_format = () if "--nbest-format" in options else ("--nbest-format", "plain:2")
        found = tesla("mbr", path, *given_format, *options)
        assert (found.status, found.out) == (2, "")
        assert message in found.err
