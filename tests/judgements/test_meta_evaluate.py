"""Metric against human: named statistics at both levels, averages, significance, and every kind of gap."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from research.scored_outputs import score_outputs
from tesla_eval import statistics
from tesla_eval.base.errors import UsageError
from tesla_eval.judgements.meta.evaluate import (
    AVERAGE,
    CENTRED,
    SEGMENT_STATISTICS,
    SYSTEM_STATISTICS,
    averages,
    evaluate,
)
from tesla_eval.judgements.meta.join import MetricScores, join, judged_segments
from tesla_eval.judgements.meta.significance import compare_metrics
from tesla_eval.judgements.nouns import EvalSet, Preferences, SystemScores
from tesla_eval.judgements.wmt import read_preferences, read_segments, read_system_scores
from tesla_eval.statistics.association import SystemAssociation
from tests.statistics.test_stats_pairs import counted

WMT = Path(__file__).parents[3] / "shared" / "data" / "wmt"
nan = math.nan


def eval_set(human, hypotheses=None, references=None) -> EvalSet:
    human = np.array(human, dtype=float)
    systems, segments = human.shape
    hypotheses = hypotheses or [[f"output {s} {g}" for g in range(segments)] for s in range(systems)]
    references = references or [[f"reference {g}" for g in range(segments)]]
    return EvalSet(
        lp="de-en",
        testset="news",
        systems=tuple("abcdefghijklmnopqrstuvwxyz"[:systems]),
        segments=tuple(str(g + 1) for g in range(segments)),
        hypotheses=tuple(map(tuple, hypotheses)),
        references=tuple(map(tuple, references)),
        human=human,
    )


def scores(table, **options) -> MetricScores:
    return MetricScores(np.array(table, dtype=float), **options)


def preferences(*rows: str) -> Preferences:
    """Rows such as "1: a > b"."""
    result = Preferences("pairs")
    for line, row in enumerate(rows, start=2):
        segment, better, worse = row.replace(":", "").replace(">", "").split()
        result.segments.append(segment)
        result.better.append(better)
        result.worse.append(worse)
        result.lines.append(line)
    return result


def values(joined, metric="m"):
    return {(r.level, r.statistic): r for r in evaluate(joined) if r.metric == metric}


@pytest.fixture(scope="module")
def judged():
    rng = np.random.default_rng(2)
    human = rng.integers(-5, 1, (5, 40)) + np.arange(5)[:, None] * 0.5
    good = human + rng.normal(0, 0.7, human.shape)
    poor = human + rng.normal(0, 8, human.shape)
    return join(eval_set(human), {"good": scores(good), "poor": scores(poor)})


class TestStatistics:
    def test_are_named_as_promised(self, judged):
        found = values(judged, "good")
        assert [s for level, s in found if level == "segment"][:4] == list(SEGMENT_STATISTICS[:4])
        assert {s for level, s in found if level == "segment"} == {*SEGMENT_STATISTICS, CENTRED}
        assert {s for level, s in found if level == "system"} == set(SYSTEM_STATISTICS)
        promised = {
            "consistency",
            "kendall_wmt",
            "kendall",
            "pearson",
            "spearman",
            "accuracy",
            "accuracy_calibrated",
        }
        assert promised <= set(SEGMENT_STATISTICS)
        assert promised | {"soft_accuracy"} == set(SYSTEM_STATISTICS)

    def test_a_metric_that_only_knows_the_systems_sees_no_segment(self, judged):
        """Without system means, scores of systems say nothing, and scores of segments as much as before."""
        human = judged.outputs.human
        of_system = np.repeat(human.mean(axis=1, keepdims=True), human.shape[1], axis=1)
        of_segment = human - 100 * np.arange(len(human))[:, None]
        both = join(eval_set(human), {"system": scores(of_system), "segment": scores(of_segment)})
        assert values(both, "system")["segment", "kendall_wmt"].value > 0.15
        assert values(both, "system")["segment", CENTRED].value == 0
        assert values(both, "segment")["segment", "kendall_wmt"].value < 0
        assert values(both, "segment")["segment", CENTRED].value == 1

    def test_pooled_ones_are_those_of_all_outputs(self, judged):
        human, metric = judged.outputs.human.ravel(), judged.metrics["good"].segments.ravel()
        found = values(judged, "good")
        for name in ("pearson", "spearman", "kendall"):
            assert found["segment", name].value == getattr(statistics, name)(human, metric).value
            assert found["segment", name].n == 200

    def test_pairwise_ones_are_those_within_segments(self, judged):
        human, metric = judged.outputs.human.T.ravel(), judged.metrics["good"].segments.T.ravel()
        groups = np.repeat(np.arange(40), 5)
        found = values(judged, "good")
        for name in ("consistency", "kendall_wmt", "accuracy"):
            expected = getattr(counted(human, metric, groups), name)
            assert (found["segment", name].value, found["segment", name].n) == (expected.value, expected.n)
        first, second = statistics.pairs_within(groups)
        calibrated = statistics.calibrated_accuracy(
            human[first] - human[second], metric[first] - metric[second], groups[first]
        )
        assert found["segment", "accuracy_calibrated"].value == pytest.approx(calibrated.value, abs=1e-12)
        assert found["segment", "accuracy_calibrated"].n == 400

    def test_within_segments_is_the_mean_of_the_segments_correlations(self, judged):
        human, metric = judged.outputs.human, judged.metrics["good"].segments
        for name in ("pearson", "spearman", "kendall"):
            each = [getattr(statistics, name)(human[:, g], metric[:, g]).value for g in range(40)]
            found = values(judged, "good")["segment", f"{name}_within"]
            assert found.value == pytest.approx(np.nanmean(each), abs=1e-12)
            assert found.n == np.count_nonzero(~np.isnan(each))

    def test_system_ones_are_those_of_the_means(self, judged):
        human, metric = judged.outputs.human.mean(1), judged.metrics["poor"].segments.mean(1)
        found = values(judged, "poor")
        pairs = counted(human, metric)
        expected = {name: getattr(pairs, name) for name in ("accuracy", "consistency", "kendall_wmt")}
        expected |= {
            name: getattr(statistics, name)(human, metric) for name in ("pearson", "spearman", "kendall")
        }
        for name, estimate in expected.items():
            assert found["system", name].value == pytest.approx(estimate.value, abs=1e-12)
        assert found["system", "pearson"].n == 5
        assert found["system", "accuracy"].n == 10

    def test_soft_accuracy_compares_p_values_with_the_better_system_first(self, judged):
        human, metric = judged.outputs.human, judged.metrics["poor"].segments
        order = np.argsort(-human.mean(1))
        expected = statistics.soft_accuracy(
            statistics.better_p_values(human[order]), statistics.better_p_values(metric[order])
        )
        found = values(judged, "poor")["system", "soft_accuracy"]
        assert (found.value, found.n) == (expected.value, 10)

    def test_preferences_by_hand(self):
        # m: seg 1 right, wrong; seg 2 tie, right.
        outputs = eval_set(np.full((3, 2), nan))
        joined = join(
            outputs,
            {"m": scores([[3, 5], [1, 5], [4, 1]])},
            preferences=preferences("1: a > b", "1: a > c", "2: a > b", "2: b > c"),
        )
        found = values(joined)
        assert found["segment", "consistency"].value == 0.5
        assert found["segment", "kendall_wmt"].value == 0.25
        assert found["segment", "accuracy"].value == 0.625
        assert found["segment", "kendall_wmt"].n == 4
        # expected wins: a (2/2 + 1/1)/2 = 1, b (0/2 + 1/1)/2 = 1/2, c 0; metric means 4, 3, 2.5
        assert joined.score_type == "expected_wins"
        assert joined.human_systems.tolist() == [1, 0.5, 0]
        assert found["system", "kendall"].value == 1
        # one-sided sign tests of the wins: 1/4, 1/2, 1/2
        metric_p = statistics.better_p_values([[3, 5], [1, 5], [4, 1]])[np.triu_indices(3, 1)]
        expected = np.mean(1 - np.abs(np.array([1 / 4, 1 / 2, 1 / 2]) - metric_p))
        assert found["system", "soft_accuracy"].value == pytest.approx(expected)

    def test_lower_is_better_is_turned_round(self, judged):
        turned = join(judged.outputs, {"m": scores(-judged.metrics["good"].segments, higher_is_better=False)})
        assert {k: r.value for k, r in values(turned).items()} == {
            k: r.value for k, r in values(judged, "good").items()
        }

    def test_the_order_of_systems_and_segments_does_not_matter(self, judged):
        rng = np.random.default_rng(1)
        systems, segments = rng.permutation(5), rng.permutation(40)
        human = judged.outputs.human[systems][:, segments]
        table = judged.metrics["good"].segments[systems][:, segments]
        shuffled = values(join(eval_set(human), {"good": scores(table)}), "good")
        for key, result in values(judged, "good").items():
            tolerance = (
                0.05 if key[1] == "soft_accuracy" else 1e-12
            )  # its permutations fall on other segments
            assert shuffled[key].value == pytest.approx(result.value, abs=tolerance)


class TestJudgedSegments:
    def test_segments_that_nobody_judged_do_not_count_for_system_scores(self):
        # System b is good where it was judged and left the rest untranslated.
        outputs = eval_set([[1, nan, nan], [2, nan, nan], [0, nan, nan]])
        metric = {"m": scores([[0.5, 0.5, 0.5], [0.9, 0.0, 0.0], [0.4, 0.4, 0.4]])}
        assert values(join(outputs, metric))["system", "kendall"].value == 1
        assert values(join(outputs, metric, all_segments=True))["system", "kendall"].value < 1

    def test_a_pair_is_a_judgement_of_its_segment(self):
        outputs = eval_set([[1, nan, nan], [nan, nan, nan]])
        pairs = preferences("3: a > b").joined(outputs)
        assert judged_segments(outputs).tolist() == [True, False, False]
        assert judged_segments(outputs, pairs).tolist() == [True, False, True]

    def test_where_nobody_judged_any_all_count(self):
        joined = join(
            eval_set(np.full((3, 2), nan)),
            {"m": scores([[1, 2], [2, 3], [3, 5]])},
            system_scores=SystemScores("x", {"da_z": {"a": 0.1, "b": 0.2, "c": 0.3}}),
        )
        assert joined.used.all()
        assert joined.score_type == "da_z"
        assert values(joined)["system", "spearman"].value == pytest.approx(1)


class TestScoring:
    def test_one_call_scores_the_chosen_outputs_that_exist(self):
        calls = []

        def length(hypotheses, references):
            calls.append((list(hypotheses), [list(stream) for stream in references]))
            return [len(text) for text in hypotheses]

        outputs = eval_set(np.zeros((2, 3)), [["a", "bb", "ccc"], [None, "dddd", "e"]], [["r1", "r2", "r3"]])
        table = score_outputs(outputs, length, segments=np.array([True, True, False]))
        assert np.array_equal(table, [[1, 2, nan], [nan, 4, nan]], equal_nan=True)
        assert calls == [(["a", "bb", "dddd"], [["r1", "r2", "r2"]])]

    def test_all_references_only_on_request(self):
        outputs = eval_set(np.zeros((1, 2)), [["x", "y"]], [["a", None], ["b", "c"]])
        streams = []

        def remember(hypotheses, references):
            streams.append([list(stream) for stream in references])
            return np.zeros(len(hypotheses))

        score_outputs(outputs, remember)
        score_outputs(outputs, remember, all_references=True)
        assert streams == [[["a", "c"]], [["a", None], ["b", "c"]]]

    def test_a_metric_that_gives_too_few_scores_is_refused(self):
        with pytest.raises(UsageError, match=r"shape \(1,\) for 4 outputs"):
            score_outputs(eval_set(np.zeros((2, 2))), lambda hypotheses, references: [1.0])

    def test_nothing_to_score_asks_nobody(self):
        outputs = eval_set(np.zeros((1, 1)), [[None]])
        assert np.isnan(score_outputs(outputs, lambda hypotheses, references: 1 / 0)).all()


class TestGaps:
    """Missing systems and segments, unscored rows, constants, two systems, one segment: stated, never 0."""

    def test_outputs_without_a_metric_score_are_left_out_and_counted(self):
        human = [[1, 2, 3], [3, 1, 2], [2, 3, 1]]
        full = scores([[1, 2, 3], [4, 1, 2], [2, 3, 0]])
        holes = scores([[1, nan, 3], [4, 1, 2], [2, 3, 0]])
        found = values(join(eval_set(human), {"m": holes}))
        assert found["segment", "pearson"].n == 8
        assert found["segment", "pearson"].note == "1 of 9 judged outputs have no score and are left out"
        assert found["segment", "accuracy"].n == 7
        assert found["segment", "accuracy"].note == "2 of 9 pairs have no score and are left out"
        assert values(join(eval_set(human), {"m": full}))["segment", "pearson"].note == ""

    def test_systems_without_a_human_score_are_left_out_and_counted(self):
        joined = join(
            eval_set(np.full((3, 2), nan)),
            {"m": scores([[1, 2], [2, 3], [3, 5]])},
            system_scores=SystemScores("x", {"da_z": {"a": 0.1, "c": 0.3}}),
        )
        found = values(joined)["system", "pearson"]
        assert (found.value, found.n) == (pytest.approx(1), 2)
        assert found.note == "1 of 3 systems have no score and are left out"

    def test_a_constant_metric(self, judged):
        joined = join(judged.outputs, {"m": scores(np.full(judged.outputs.human.shape, 0.1))})
        found = values(joined)
        for level in ("segment", "system"):
            for name in ("pearson", "spearman", "kendall"):
                assert math.isnan(found[level, name].value)
                assert found[level, name].note == "the second side is constant"
            assert found[level, "accuracy"].value == 0.5
            assert found[level, "consistency"].value == 0
        assert math.isnan(found["segment", "kendall_within"].value)

    def test_no_human_segment_scores(self):
        found = values(join(eval_set(np.full((2, 2), nan)), {"m": scores([[1, 2], [2, 3]])}))
        for name in SEGMENT_STATISTICS:
            assert math.isnan(found["segment", name].value)
            assert found["segment", name].n == 0
            assert found["segment", name].note
        assert found["system", "pearson"].note.startswith("two observations are needed, there are 0")
        assert found["system", "soft_accuracy"].note

    def test_two_systems_and_one_segment(self):
        found = values(join(eval_set([[1.0], [2.0]]), {"m": scores([[0.3], [0.4]])}))
        assert found["segment", "kendall"].value == 1
        assert found["system", "pearson"].value == pytest.approx(1)
        assert found["system", "soft_accuracy"].value == 1

    def test_one_system(self):
        found = values(join(eval_set([[1.0, 2.0]]), {"m": scores([[0.3, 0.4]])}))
        assert found["segment", "pearson"].value == pytest.approx(1)
        assert found["segment", "accuracy"].note == "no pair that humans tell apart"
        assert found["system", "pearson"].note == "two observations are needed, there are 1"

    def test_scores_of_another_shape_are_refused(self):
        with pytest.raises(UsageError, match="metric m: scores of shape"):
            join(eval_set([[1.0, 2.0]]), {"m": scores([[0.3]])})

    def test_a_score_type_that_is_not_there_is_refused(self):
        with pytest.raises(UsageError, match="no human system scores of type 'mqm'"):
            join(eval_set([[1.0, 2.0]]), {}, score_type="mqm")


class TestResults:
    def test_as_plain_data(self, judged):
        row = next(iter(evaluate(judged))).to_dict()
        assert list(row) == ["lp", "testset", "metric", "level", "statistic", "value", "n"]
        empty = join(eval_set(np.full((2, 2), nan)), {"m": scores([[1, 2], [2, 3]])})
        row = next(iter(evaluate(empty))).to_dict()
        assert row["value"] is None
        assert row["note"] == "no pair that humans tell apart"
        assert json.loads(json.dumps(row, allow_nan=False)) == row

    def test_averages_are_over_the_test_sets_that_have_a_value(self, judged):
        empty = join(eval_set(np.full((5, 40), nan)), judged.metrics)
        rows = [*evaluate(judged), *evaluate(judged), *evaluate(empty)]
        found = {(r.metric, r.level, r.statistic): r for r in averages(rows)}
        one = found["good", "segment", "kendall"]
        assert one.lp == AVERAGE
        assert one.value == pytest.approx(values(judged, "good")["segment", "kendall"].value)
        assert (one.n, one.note) == (2, "1 of 3 test sets have no value: no human segment scores")


class TestComparison:
    @pytest.mark.parametrize(
        ("level", "statistic"),
        [
            *(("segment", name) for name in SEGMENT_STATISTICS),
            *(("system", name) for name in ("pearson", "spearman", "kendall", "accuracy")),
        ],
    )
    def test_values_are_those_of_evaluate_and_the_better_metric_comes_first(self, judged, level, statistic):
        result = compare_metrics(judged, level, statistic, resamples=200)
        expected = [values(judged, name)[level, statistic].value for name in ("good", "poor")]
        assert result.metrics == ("good", "poor")
        assert result.values == pytest.approx(expected, abs=1e-9)
        assert (result.low <= result.values + 1e-9).all()
        assert (result.values <= result.high + 1e-9).all()
        if level == "segment":
            assert result.clusters == (1, 2)
            assert result.wins[0, 1] > 0.95
            assert result.adjusted[0, 1] <= 0.05

    def test_a_metric_and_its_copy_share_a_cluster(self, judged):
        table = judged.metrics["good"].segments
        joined = join(
            judged.outputs, {"one": scores(table), "two": scores(10 * table), "none": scores(0 * table)}
        )
        result = compare_metrics(joined, "segment", "kendall", resamples=100)
        assert result.clusters == (1, 1, 0)

    def test_the_number_of_resamples_follows_the_number_of_metrics(self, judged):
        table, draw = judged.metrics["good"].segments, np.random.default_rng(7)
        noise = {f"m{k}": scores(table + 9 * draw.normal(size=table.shape)) for k in range(10)}
        result = compare_metrics(join(judged.outputs, {"good": scores(table), **noise}), "segment", "kendall")
        assert result.resamples == 20 * 55 / 0.05
        assert result.clusters[0] == 1 < min(result.clusters[1:])
        with pytest.raises(UsageError, match=r"with 1 comparisons .* at least 19"):
            compare_metrics(judged, "segment", "kendall", resamples=10)

    def test_decided_pairs_of_metrics_stop_early(self, judged, monkeypatch):
        """At system level an exchange of every pair of metrics is dear."""
        exchanged = []
        original = SystemAssociation.exchanged

        def noted(self, keep, pairs):
            exchanged.append(len(keep) * len(pairs))
            return original(self, keep, pairs)

        monkeypatch.setattr(SystemAssociation, "exchanged", noted)
        result = compare_metrics(judged, "system", "pearson", resamples=20_000)
        assert sum(exchanged) < 20_000 / 4
        assert result.clusters == (1, 2)

    def test_what_cannot_be_resampled_is_refused(self, judged):
        with pytest.raises(UsageError, match="statistic"):
            compare_metrics(judged, "system", "soft_accuracy")
        with pytest.raises(UsageError, match="segment or system"):
            compare_metrics(judged, "word", "kendall")
        empty = join(eval_set(np.full((5, 40), nan)), judged.metrics)
        for statistic in ("kendall", "accuracy"):
            with pytest.raises(UsageError, match=r"no (output|pair) has a human"):
                compare_metrics(empty, "segment", statistic)


@pytest.mark.slow
@pytest.mark.skipif(not WMT.is_dir(), reason="the WMT data are not here")
def test_anchors_on_wmt14_into_english():
    """Measured elsewhere on the same rows: average tau of three metrics, system Pearson of chrF."""
    from sacrebleu.metrics import BLEU, CHRF

    metrics = {"chrf": CHRF(), "chrf++": CHRF(word_order=2), "bleu": BLEU(effective_order=True)}
    pairs = read_preferences(str(WMT / "wmt14-rr.pairs.tsv.gz"))
    systems = read_system_scores(str(WMT / "system_scores.tsv.gz"))

    def scorer(metric):
        return lambda hypotheses, references: [
            metric.sentence_score(h, [r]).score for h, r in zip(hypotheses, references[0], strict=True)
        ]

    results = []
    for outputs in read_segments(str(WMT / "wmt14-rr.seg.tsv.gz")):
        judged = judged_segments(outputs, pairs[outputs.key].joined(outputs))
        tables = {
            name: MetricScores(score_outputs(outputs, scorer(m), segments=judged))
            for name, m in metrics.items()
        }
        joined = join(outputs, tables, preferences=pairs[outputs.key], system_scores=systems[outputs.key])
        assert joined.score_type == "trueskill_official"
        results += evaluate(joined)
    found = {(r.metric, r.level, r.statistic): round(r.value, 3) for r in averages(results)}
    assert found["chrf", "segment", "kendall_wmt"] == 0.344
    assert found["chrf++", "segment", "kendall_wmt"] == 0.343
    assert found["bleu", "segment", "kendall_wmt"] == 0.272
    assert found["chrf", "system", "pearson"] == 0.943
