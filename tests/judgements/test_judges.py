"""Judges: tables of scores, kappa with and without ties, correlation of judges, and how `tesla meta` shows them."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tesla_eval import statistics
from tesla_eval.base.errors import InputError
from tesla_eval.judgements.judges import Ratings, annotator_agreement, judge_pairs, rankings_of, read_ratings
from tesla_eval.judgements.nouns import Rankings

ROWS = [
    # item, system, judge, score: two judges, two items, three systems; ann scored item 1 twice
    ("1", "a", "ann", 5), ("1", "b", "ann", 3), ("1", "c", "ann", 3),
    ("1", "a", "bob", 4), ("1", "b", "bob", 4), ("1", "c", "bob", 1),
    ("2", "a", "ann", 2), ("2", "b", "ann", 1), ("2", "c", "ann", 4),
    ("2", "a", "bob", 3), ("2", "b", "bob", 2), ("2", "c", "bob", 5),
    ("1", "a", "ann", 4), ("1", "b", "ann", 4), ("1", "c", "ann", 2),
]  # fmt: skip


def ratings(rows) -> Ratings:
    items, systems, judges, scores = zip(*rows, strict=True)
    return Ratings(
        "made", "", list(items), list(systems), list(judges), list(map(float, scores)), [2] * len(rows)
    )


def counted(rows, *, ties: bool):
    """The textbook: every two judgements of the same pair of outputs of one item, by hand."""
    seen: dict[tuple[str, str, str], int] = {}
    sheets: dict[tuple[str, str, int], dict[str, float]] = {}
    for item, system, judge, score in rows:
        time = seen[item, system, judge] = seen.get((item, system, judge), 0) + 1
        sheets.setdefault((item, judge, time), {})[system] = score
    verdicts = []
    for (item, judge, time), scores in sheets.items():
        for x, y in combinations(sorted(scores), 2):
            outcome = (scores[x] > scores[y]) - (scores[x] < scores[y])
            if ties or outcome:
                verdicts.append(((item, x, y), judge, time, outcome))
    between, within = {}, []
    for (pair, judge, _, outcome), (other_pair, other, _, other_outcome) in combinations(verdicts, 2):
        if pair == other_pair:
            if judge == other:
                within.append(outcome == other_outcome)
            else:
                between.setdefault(tuple(sorted((judge, other))), []).append(outcome == other_outcome)
    return between, within


class TestAgreement:
    @pytest.mark.parametrize("ties", [True, False])
    def test_scores_are_compared_pair_by_pair(self, ties):
        ranked = rankings_of(ratings(ROWS))
        between, within = counted(ROWS, ties=ties)
        found = annotator_agreement(ranked, ties=ties)
        same = between["ann", "bob"]
        assert (found.n, found.outcomes) == (len(same), 3 if ties else 2)
        assert found.p_agree == sum(same) / len(same)
        chance = 1 / found.outcomes
        assert found.kappa == pytest.approx((found.p_agree - chance) / (1 - chance))
        own = annotator_agreement(ranked, same_judge=True, ties=ties)
        assert (own.n, own.p_agree) == (len(within), sum(within) / len(within))

    @given(
        st.lists(
            st.tuples(
                st.sampled_from("12"),
                st.sampled_from("abc"),
                st.sampled_from(["u", "v", "w"]),
                st.integers(1, 3),
            ),
            min_size=1,
            max_size=30,
        )
    )
    def test_every_two_judges_as_the_textbook_counts(self, rows):
        between = counted(rows, ties=True)[0]
        untied = counted(rows, ties=False)[0]
        found = judge_pairs(rankings_of(ratings(rows)))
        assert [(pair.first, pair.second) for pair in found] == sorted(between)
        for pair in found:
            same = between[pair.first, pair.second]
            assert (pair.agreement.n, pair.agreement.p_agree) == (len(same), sum(same) / len(same))
            same = untied.get((pair.first, pair.second), [])
            assert pair.untied.n == len(same)
            if same:
                assert pair.untied.kappa == pytest.approx(2 * sum(same) / len(same) - 1)
        pooled = annotator_agreement(rankings_of(ratings(rows)))
        assert pooled.n == sum(map(len, between.values()))

    def test_rankings_and_the_scores_that_give_them_agree(self):
        ranked = Rankings(
            "file", ["9"] * 4, ["t", "t", "u", "u"], ["x", "x", "y", "y"], ["a", "b"] * 2, [1, 2, 2, 2]
        )
        scored = ratings([("9", "a", "x", 5), ("9", "b", "x", 1), ("9", "a", "y", 3), ("9", "b", "y", 3)])
        assert judge_pairs(ranked)[0].agreement == judge_pairs(rankings_of(scored))[0].agreement
        assert judge_pairs(ranked)[0].agreement.p_agree == 0
        assert judge_pairs(ranked)[0].untied.n == 0


class TestCorrelation:
    def test_judges_against_each_other_and_against_the_others(self):
        draw = np.random.default_rng(3)
        truth = draw.normal(size=(30, 4)) + np.arange(4)
        rows = [
            (str(i), "abcd"[s], judge, truth[i, s] + draw.normal())
            for judge in ("x", "y", "z") for i in range(30) for s in range(4)
        ]  # fmt: skip
        pairs, others = statistics.judge_correlations(*zip(*rows, strict=True))
        table = np.array([row[3] for row in rows]).reshape(3, 30, 4)
        expected = np.corrcoef(table.reshape(3, -1))
        assert [one.sentence.value for one in pairs] == pytest.approx(
            [expected[0, 1], expected[0, 2], expected[1, 2]]
        )
        systems = np.corrcoef(table.mean(axis=1))
        assert [one.system.value for one in pairs] == pytest.approx(
            [systems[0, 1], systems[0, 2], systems[1, 2]]
        )
        assert [one.sentence.n for one in pairs] == [120] * 3
        rest = (table[1] + table[2]) / 2
        assert others[0].sentence.value == pytest.approx(np.corrcoef(table[0].ravel(), rest.ravel())[0, 1])
        assert others[0].system.value == pytest.approx(np.corrcoef(table[0].mean(0), rest.mean(0))[0, 1])

    def test_only_what_both_scored_counts(self):
        rows = [("1", "a", "x", 1.0), ("2", "a", "x", 2.0), ("3", "a", "x", 9.0), ("1", "a", "y", 1.0),
                ("2", "a", "y", 3.0), ("4", "a", "y", 0.0)]  # fmt: skip
        (pair,), _ = statistics.judge_correlations(*zip(*rows, strict=True))
        assert (pair.sentence.n, round(pair.sentence.value, 6)) == (2, 1.0)
        assert np.isnan(pair.system.value)

    def test_one_judge_has_no_partner(self):
        assert statistics.judge_correlations(["1"], ["a"], ["x"], [1.0]) == ([], [])


@pytest.fixture
def table(tmp_path) -> Path:
    path = tmp_path / "ratings.tsv"
    lines = ["item\tsystem\tjudge\tscore", *("\t".join(map(str, row)) for row in ROWS)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


class TestReader:
    def test_columns_may_stand_in_any_order(self, write):
        header = "score\tjudge\tcriterion\titem\tsystem\ttestset\tlp"
        path = write("r.tsv", [header, "3.5\tann\tfluency\t7\ta\tnews\tde-en"])
        by_set = read_ratings(path)
        assert list(by_set) == [("de-en", "news")]
        (found,) = by_set["de-en", "news"].values()
        assert (found.criterion, found.items, found.systems, found.judges, found.scores) == (
            "fluency", ["7"], ["a"], ["ann"], [3.5],
        )  # fmt: skip

    @pytest.mark.parametrize(
        ("lines", "message"),
        [
            (["item\tsystem\tscore"], "line 1: the header must have the columns item system judge score"),
            (["item\tsystem\tjudge\tscore\tmood"], "line 1: the header"),
            (["item\tsystem\tjudge\tscore\tscore"], "line 1: the header"),
            (["item\tsystem\tjudge\tscore", "1\ta\tann"], "line 2: has 3 fields instead of 4"),
            (["item\tsystem\tjudge\tscore", "1\ta\tann\tnan"], "line 2: score 'nan' is not a number"),
            (["item\tsystem\tjudge\tscore", "1\ta\tann\tgood"], "line 2: score 'good' is not a number"),
        ],
    )
    def test_bad_tables_are_named_with_their_line(self, write, lines, message):
        with pytest.raises(InputError, match=message):
            read_ratings(write("r.tsv", lines))


class TestCommand:
    def test_the_text_has_all_tables(self, table, tesla):
        done = tesla("judge", "agree", "--ratings", str(table), "--judges", "--shares")
        assert done.status == 0, done.err
        for word in ("two judges, ties left out", "1/2", "1/3", "kappa untied", "sentence Pearson",
                     "mean of the others", "score1", "p (sign test)"):  # fmt: skip
            assert word in done.out
        assert "sentence Pearson" not in tesla("judge", "agree", "--ratings", str(table)).out

    def test_json_holds_the_numbers(self, table, tesla):
        done = tesla("judge", "agree", "--ratings", str(table), "--judges", "--format", "json")
        (report,) = json.loads(done.out)["preferences"]
        between, _ = counted(ROWS, ties=True)
        assert report["judges"]["between"]["n"] == len(between["ann", "bob"])
        assert report["judges"]["pairs"][0]["first"] == "ann"
        assert report["judges"]["correlations"][0]["sentence"]["n"] == 6
        assert "criterion" not in report

    def test_ratings_stand_for_human_scores(self, write, tesla):
        segments = write("x.seg.tsv", [
            "lp\ttestset\tsystem\tseg_id\thuman_score\thypothesis\treference",
            *(f"de-en\tnews\t{s}\t{i}\t\t{h}\tthe cat sat on the mat" for i in "123"
              for s, h in (("good", "the cat sat on the mat"), ("bad", "dogs"), ("mid", "a cat sat down"))),
        ])  # fmt: skip
        rated = write("r.tsv", [
            "lp\ttestset\titem\tsystem\tjudge\tscore\tcriterion",
            *(f"de-en\tnews\t{i}\t{s}\t{j}\t{v}\t{c}" for i in "123" for j in ("x", "y")
              for c in ("adequacy", "fluency") for s, v in (("good", 5), ("mid", 3), ("bad", 1))),
        ])  # fmt: skip
        done = tesla(
            "meta", "--segments", segments, "--ratings", rated, "-m", "m", "--format", "json", "--no-cache"
        )
        assert done.status == 0, done.err
        found = {
            (r["testset"], r["level"], r["statistic"]): r["value"] for r in json.loads(done.out)["results"]
        }
        assert (
            found["news_adequacy", "segment", "kendall_wmt"]
            == found["news_fluency", "system", "kendall"]
            == 1
        )
        one = tesla("meta", "--segments", segments, "--ratings", rated, "-m", "m", "--human-score", "fluency",
                    "--no-cache")  # fmt: skip
        assert "news_fluency" in one.out
        assert "news_adequacy" not in one.out
        bad = tesla("meta", "--segments", segments, "--ratings", rated, "-m", "m", "--human-score", "style")
        assert (bad.status, "there are: adequacy, fluency" in bad.err) == (2, True)

    def test_an_output_that_does_not_exist_is_named(self, write, tesla):
        segments = write("x.seg.tsv", [
            "lp\ttestset\tsystem\tseg_id\thuman_score\thypothesis\treference", "-\tratings\ta\t1\t\tx\ty",
        ])  # fmt: skip
        rated = write("r.tsv", ["item\tsystem\tjudge\tscore", "1\tz\tann\t3"])
        done = tesla("meta", "--segments", segments, "--ratings", rated, "-m", "chrf")
        assert done.status == 2
        assert "line 2: system z has no output" in done.err

    @pytest.mark.parametrize("option", ["--judges", "--shares"])
    def test_pairs_do_not_tell_judges(self, write, tesla, option):
        pairs = write("p.tsv", ["lp\ttestset\tseg_id\tsystem_better\tsystem_worse", "de-en\tn\t1\ta\tb"])
        done = tesla("judge", "agree", "--pairs", pairs, option)
        assert (done.status, f"{option} needs --rankings or --ratings" in done.err) == (2, True)
