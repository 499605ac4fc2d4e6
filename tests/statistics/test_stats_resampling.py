"""Paired bootstrap and approximate randomisation: against sacreBLEU and enumeration, and their promises."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import time
import tracemalloc
from fractions import Fraction
from functools import cached_property
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tesla_eval.base.errors import InputError, UsageError
from tesla_eval.statistics.candidates import Additive, Means, exact_parts, exact_sums
from tesla_eval.statistics.multiple import holm
from tesla_eval.statistics.resampling import (
    LOOK,
    approximate_randomisation,
    exchange_masks,
    paired_bootstrap,
    resample_counts,
)
from tests.pages import ROOT


def corpus_bleu(sums: np.ndarray) -> np.ndarray:
    """BLEU from sacreBLEU's ten statistics (lengths, 4 correct, 4 total) with no precision of 0."""
    precision = np.log(sums[..., 2:6] / sums[..., 6:10]).mean(axis=-1)
    return 100 * np.exp(precision + np.minimum(0, 1 - sums[..., 1] / sums[..., 0]))


def noisy_copies(rng: np.random.Generator, references: list[str], noise: float) -> list[str]:
    words = ["the", "of", "to", "and", "in", "that", "it", "is", "was", "on", "for", "with", "as", "at"]
    return [
        " ".join(str(rng.choice(words)) if rng.random() < noise else word for word in line.split())
        for line in references
    ]


@pytest.fixture(scope="module")
def systems():
    rng = np.random.default_rng(11)
    words = [
        "the",
        "cat",
        "dog",
        "house",
        "of",
        "on",
        "in",
        "sat",
        "ran",
        "blue",
        "green",
        "and",
        "with",
        "to",
    ]
    references = [" ".join(rng.choice(words, rng.integers(6, 16))) for _ in range(150)]
    return references, [noisy_copies(rng, references, noise) for noise in (0.20, 0.205, 0.215, 0.25)]


@pytest.fixture(scope="module")
def subject(systems):
    from sacrebleu.metrics import BLEU

    references, outputs = systems
    metric = BLEU()
    rows = [metric._extract_corpus_statistics(output, [references]) for output in outputs]
    subject = Additive.of_statistics(np.stack(rows, axis=1), corpus_bleu)
    expected = [metric.corpus_score(output, [references]).score for output in outputs]
    assert subject.weighted(np.ones((1, subject.units)))[0] == pytest.approx(expected, abs=1e-9)
    return subject


class TestAgainstSacrebleu:
    """p-values on corpus BLEU within sampling error of sacreBLEU's own resampling."""

    RESAMPLES = 2000

    def sacrebleu_p_values(self, systems, test_type):
        from sacrebleu.metrics import BLEU
        from sacrebleu.significance import PairedTest

        references, outputs = systems
        named = [(str(i), output) for i, output in enumerate(outputs)]
        _, scores = PairedTest(named, {"BLEU": BLEU()}, [references], test_type, self.RESAMPLES)()
        return np.array([result.p_value for result in scores["BLEU"][1:]])

    def assert_within_sampling_error(self, ours, theirs):
        p = (ours + theirs) / 2
        error = np.sqrt(2 * p * (1 - p) / self.RESAMPLES) + 1 / self.RESAMPLES
        assert (np.abs(ours - theirs) < 4 * error).all(), (ours, theirs)
        assert theirs.min() < 0.05 < theirs.max()  # the example holds both kinds

    def test_paired_bootstrap(self, systems, subject):
        ours = paired_bootstrap(subject, resamples=self.RESAMPLES).p_values[0, 1:]
        self.assert_within_sampling_error(ours, self.sacrebleu_p_values(systems, "bs"))

    def test_approximate_randomisation(self, systems, subject):
        ours = approximate_randomisation(subject, resamples=self.RESAMPLES).p_values[0, 1:]
        self.assert_within_sampling_error(ours, self.sacrebleu_p_values(systems, "ar"))


class TestDraws:
    def test_a_resample_draws_as_many_units_as_there_are(self):
        counts = np.concatenate(list(resample_counts(units=7, resamples=500, seed=3)))
        assert counts.shape == (500, 7)
        assert (counts.sum(axis=1) == 7).all()
        assert counts.mean(axis=0) == pytest.approx(np.ones(7), abs=0.2)

    def test_resamples_are_multinomial(self):
        # Variance of a multinomial count is 1 - 1/units, the covariance of two counts is -1/units.
        counts = np.concatenate(list(resample_counts(units=5, resamples=20_000, seed=1)))
        expected = np.where(np.eye(5, dtype=bool), 0.8, -0.2)
        assert np.cov(counts.T) == pytest.approx(expected, abs=0.04)

    def test_masks_are_fair_and_independent(self):
        masks = np.concatenate(list(exchange_masks(units=70, resamples=20_000, seed=1)))
        assert masks.mean(axis=0) == pytest.approx(np.full(70, 0.5), abs=0.02)
        assert np.abs(np.corrcoef(masks.T) - np.eye(70)).max() < 0.04

    def test_few_units_are_enumerated(self):
        masks = np.concatenate(list(exchange_masks(units=3, resamples=8, seed=1)))
        assert {tuple(row) for row in masks} == set(product([0.0, 1.0], repeat=3))

    @settings(deadline=None)
    @given(units=st.integers(1, 200), more=st.integers(1, 50), seed=st.integers(0, 2**40))
    def test_more_resamples_continue_the_same_stream(self, units, more, seed):
        short = np.concatenate(list(resample_counts(units, 10, seed)))
        long = np.concatenate(list(resample_counts(units, 10 + more, seed)))
        assert np.array_equal(long[:10], short)

    def test_chunks_do_not_show(self, monkeypatch):
        whole = [np.concatenate(list(draw(9, 300, 5))) for draw in (resample_counts, exchange_masks)]
        monkeypatch.setattr("tesla_eval.statistics.resampling._CHUNK_ROWS", 7)
        pieces = [np.concatenate(list(draw(9, 300, 5))) for draw in (resample_counts, exchange_masks)]
        for one, other in zip(whole, pieces, strict=True):
            assert np.array_equal(one, other)

    def test_the_stream_is_the_same_on_every_machine(self):
        """Recorded once: PCG64's raw stream is NumPy's promise, what is cut from it is ours."""
        counts = next(iter(resample_counts(units=5, resamples=3, seed=1)))
        assert counts.tolist() == [[1, 0, 2, 1, 1], [0, 2, 0, 0, 3], [0, 2, 1, 1, 1]]
        mask = next(iter(exchange_masks(units=9, resamples=1, seed=12345)))
        assert mask.tolist() == [[1, 0, 1, 1, 1, 0, 0, 1, 1]]

    @pytest.mark.parametrize(
        ("units", "resamples", "seed", "message"),
        [(0, 10, 1, "between 1 and"), (5, 0, 1, "at least 1"), (5, 10, -1, "at least 0")],
    )
    def test_bad_parameters_are_refused(self, units, resamples, seed, message):
        with pytest.raises(UsageError, match=message):
            next(iter(resample_counts(units, resamples, seed)))


class TestBootstrap:
    rng = np.random.default_rng(8)
    noise = rng.normal(0, 0.1, (400, 3))
    scores = rng.random((400, 1)) + noise - noise.mean(axis=0) + np.array([0.0, 0.002, 0.05])

    def test_interval_is_that_of_a_mean(self):
        test = paired_bootstrap(Additive.of_segment_scores(self.scores), resamples=4000)
        half = 1.96 * self.scores.std(axis=0) / math.sqrt(400)
        assert (test.high - test.low) / 2 == pytest.approx(half, rel=0.1)
        assert test.low[0] < test.scores[0] < test.high[0]
        assert test.level == 0.95

    def test_clear_differences_are_significant_and_small_ones_not(self):
        test = paired_bootstrap(Additive.of_segment_scores(self.scores))
        assert test.p_values[0, 2] < 0.01
        assert test.wins[2, 0] == 1
        assert test.p_values[0, 1] > 0.05
        assert test.difference_low[2, 0] > 0 > test.difference_low[1, 0]

    def test_pairs_mirror_each_other(self):
        test = paired_bootstrap(Additive.of_segment_scores(self.scores))
        assert test.wins + test.wins.T == pytest.approx(np.ones((3, 3)))
        assert test.differences == pytest.approx(-test.differences.T)
        assert np.array_equal(test.p_values, test.p_values.T)
        assert test.difference_low == pytest.approx(-test.difference_high.T)

    def test_equal_systems_do_not_differ(self):
        test = paired_bootstrap(Additive.of_segment_scores(np.repeat(self.scores[:, :1], 2, axis=1)))
        assert test.p_values[0, 1] == 1
        assert test.wins[0, 1] == 0.5

    def test_same_seed_same_bits(self):
        subject = Additive.of_segment_scores(self.scores)
        one, two, other = (paired_bootstrap(subject, seed=seed) for seed in (4, 4, 5))
        assert np.array_equal(one.low, two.low)
        assert not np.array_equal(one.low, other.low)

    def test_one_segment_has_an_interval_of_no_width(self):
        test = paired_bootstrap(Additive.of_segment_scores([[0.3, 0.4]]))
        assert test.low.tolist() == test.high.tolist() == [0.3, 0.4]
        assert test.usable.tolist() == [1000, 1000]
        assert test.p_values.tolist() == [[1.0, 1.0], [1.0, 1.0]]

    def test_a_candidate_without_a_score_leaves_the_others_alone(self):
        scored = Additive.of_segment_scores(self.scores[:, :2])
        broken = Additive.of_statistics(
            np.concatenate([scored.statistics, np.zeros((400, 1, 2))], axis=1), scored.score
        )
        with_it, without = paired_bootstrap(broken), paired_bootstrap(scored)
        assert with_it.p_values[0, 1] == without.p_values[0, 1]
        assert with_it.low[:2] == pytest.approx(without.low)
        assert np.isnan([with_it.p_values[0, 2], with_it.wins[2, 0], with_it.low[2]]).all()
        assert with_it.usable.tolist() == [1000, 1000, 0]

    def test_missing_scores_are_refused_by_name(self):
        with pytest.raises(InputError, match="segment 2 of candidate 3 has no score"):
            Additive.of_segment_scores([[1, 2, 3], [1, 2, math.nan]])

    def test_level_must_be_a_probability(self):
        with pytest.raises(UsageError, match="level"):
            paired_bootstrap(Additive.of_segment_scores(self.scores), level=95)


class TestRandomisation:
    @settings(deadline=None)
    @given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=7))
    def test_equals_enumeration(self, cells):
        scores = np.array(cells, dtype=float)
        difference = scores[:, 0] - scores[:, 1]
        sums = np.array([np.dot(signs, difference) for signs in product([1, -1], repeat=len(cells))])
        test = approximate_randomisation(Additive.of_segment_scores(scores))
        assert test.exact
        assert test.p_values[0, 1] == pytest.approx(np.mean(np.abs(sums) >= abs(difference.sum())))
        assert test.one_sided[0, 1] == pytest.approx(np.mean(sums >= difference.sum()))

    def test_one_segment_can_show_nothing(self):
        test = approximate_randomisation(Additive.of_segment_scores([[0.3, 0.9]]))
        assert test.p_values[0, 1] == 1

    def test_equal_systems_do_not_differ(self):
        scores = np.repeat(np.random.default_rng(1).random((50, 1)), 2, axis=1)
        assert approximate_randomisation(Additive.of_segment_scores(scores)).p_values[0, 1] == 1

    def test_p_values_are_uniform_where_nothing_differs(self):
        rng = np.random.default_rng(6)
        subject = Additive.of_segment_scores(rng.random((60, 40)))
        p = approximate_randomisation(subject, resamples=500).p_values[np.triu_indices(40, 1)]
        assert p.mean() == pytest.approx(0.5, abs=0.1)
        assert np.mean(p <= 0.1) == pytest.approx(0.1, abs=0.07)

    def test_never_zero(self):
        scores = np.stack([np.arange(100.0), np.arange(100.0) + 5], axis=1)
        assert approximate_randomisation(Additive.of_segment_scores(scores)).p_values[0, 1] == 1 / 1001


class TestManyPairs:
    """Draws are counted as they come, and stop for a pair that is decided (specification §14)."""

    LOOK = 1000
    rng = np.random.default_rng(5)
    quality = np.array([0.0, 0.0, 0.05, 0.5])
    scores = rng.random((200, 1)) + 0.3 * rng.normal(size=(200, 4)) + quality

    class Counting(Means):
        """Notes the pairs that are exchanged in each chunk."""

        @cached_property
        def asked(self):
            return []

        def exchanged(self, keep, pairs):
            self.asked.append((len(keep), [tuple(pair) for pair in pairs.tolist()]))
            return super().exchanged(keep, pairs)

    def counting(self):
        subject = Additive.of_segment_scores(self.scores)
        return self.Counting(subject.statistics, subject.score)

    def test_decided_pairs_stop_and_agree_with_all_draws(self):
        subject = self.counting()
        full = approximate_randomisation(subject, resamples=20_000)
        whole = sum(rows * len(pairs) for rows, pairs in subject.asked)
        subject.asked.clear()
        early = approximate_randomisation(subject, resamples=20_000, look=self.LOOK)
        assert whole == 6 * 20_000
        assert sum(rows * len(pairs) for rows, pairs in subject.asked) < whole / 4
        decisions = holm(full.p_values[np.triu_indices(4, 1)]) <= 0.05
        assert np.array_equal(holm(early.p_values[np.triu_indices(4, 1)]) <= 0.05, decisions)
        assert early.p_values == pytest.approx(full.p_values, rel=0.3, abs=1e-3)
        assert early.p_values[0, 3] > full.p_values[0, 3] == 1 / 20_001

    def test_fewer_draws_than_a_look_change_nothing(self):
        subject = Additive.of_segment_scores(self.scores)
        usual, looking = (
            approximate_randomisation(subject, resamples=999, look=look) for look in (LOOK, self.LOOK)
        )
        assert np.array_equal(usual.p_values, looking.p_values)

    def test_an_enumeration_is_never_stopped(self):
        test = approximate_randomisation(
            Additive.of_segment_scores(self.scores[:11]), resamples=2048, look=64
        )
        assert test.p_values[0, 3] == approximate_randomisation(
            Additive.of_segment_scores(self.scores[:11]), resamples=2048
        ).p_values[0, 3]  # fmt: skip

    def test_only_the_pairs_asked_for_are_compared(self):
        subject = Additive.of_segment_scores(self.scores)
        for test in (paired_bootstrap, approximate_randomisation):
            some, everything = test(subject, pairs=[(2, 0), (1, 0)]), test(subject)
            assert some.p_values[2, 0] == some.p_values[0, 2] == everything.p_values[0, 2]
            assert np.isnan(some.p_values[1, 2])

    def test_bootstrap_intervals_are_of_the_first_draws_and_open_p_values_of_more(self):
        subject = Additive.of_segment_scores(self.scores)
        short, long = (
            paired_bootstrap(subject, resamples=resamples, level=0.999, look=self.LOOK)
            for resamples in (self.LOOK, 20_000)
        )
        assert np.array_equal(short.low, long.low)
        assert np.array_equal(short.difference_high, long.difference_high)
        assert short.p_values[0, 3] == 1 / 1001
        assert long.p_values[0, 3] == 1 / 20_001
        assert long.p_values[0, 1] == short.p_values[0, 1] > 0.1

    @pytest.mark.parametrize("test", [paired_bootstrap, approximate_randomisation])
    def test_memory_does_not_grow_with_the_draws(self, test):
        subject = Additive.of_segment_scores(np.random.default_rng(1).random((50, 20)))
        peaks = []
        for resamples in (3 * self.LOOK, 20 * self.LOOK):
            tracemalloc.start()
            test(subject, resamples=resamples, look=self.LOOK)
            peaks.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
        assert peaks[1] < 1.1 * peaks[0]


def test_the_bootstrap_p_alarms_more_often_than_its_level_and_the_docs_say_so():
    """It is compared with Moses and sacreBLEU, not two-sided: stars and clusters use randomisation."""
    rng = np.random.default_rng(11)
    alarms = np.zeros(2)
    for _ in range(1000):
        subject = Additive.of_segment_scores(rng.normal(size=(200, 2)))
        tests = paired_bootstrap(subject), approximate_randomisation(subject)
        alarms += [test.p_values[0, 1] <= 0.05 for test in tests]
    assert alarms / 1000 == pytest.approx([0.10, 0.05], abs=0.02)
    page = (ROOT / "docs" / "compare.md").read_text(encoding="utf-8")
    (row,) = (line for line in page.splitlines() if line.startswith("| p boot"))
    assert "two-sided" not in row
    assert "alarms in about 10 %" in row


class TestSameBits:
    """A matrix product sums in an order of its own on every machine and with every number of threads."""

    @settings(deadline=None)
    @given(
        st.lists(st.floats(-1e9, 1e9, allow_subnormal=False), min_size=1, max_size=40),
        st.integers(0, 2**32),
    )
    def test_sums_are_those_of_exact_arithmetic_in_any_order(self, values, seed):
        table = np.array(values)[:, None]
        weights = next(resample_counts(len(values), 3, seed))
        order = np.random.default_rng(seed).permutation(len(values))
        sums = exact_sums(weights, exact_parts(table))
        assert np.array_equal(sums, exact_sums(weights[:, order], exact_parts(table[order])))
        exact = [
            float(sum(map(Fraction.__mul__, map(Fraction, row), map(Fraction, values)))) for row in weights
        ]
        assert sums.ravel() == pytest.approx(
            exact, rel=1e-15, abs=len(values) * max(map(abs, values)) * 2.0**-80
        )

    def test_the_number_of_threads_does_not_show(self):
        script = (
            "import numpy as np; from tesla_eval.statistics.candidates import *; "
            "from tesla_eval.statistics.resampling import *; "
            "subject = Additive.of_segment_scores(np.random.default_rng(1).random((500, 30))); "
            "test = paired_bootstrap(subject); print(test.low.tolist(), test.difference_high.tolist())"
        )
        one, several = (
            subprocess.run(
                [sys.executable, "-c", script], env={**os.environ, "OPENBLAS_NUM_THREADS": threads},
                capture_output=True, check=True,
            ).stdout
            for threads in ("1", "2")
        )  # fmt: skip
        assert one == several


class TestBlocks:
    """Resampling by document keeps what belongs together together."""

    def test_blocks_of_one_segment_change_nothing(self):
        scores = np.random.default_rng(1).random((30, 2))
        plain = paired_bootstrap(Additive.of_segment_scores(scores))
        blocked = paired_bootstrap(Additive.of_segment_scores(scores, blocks=np.arange(30)))
        assert np.array_equal(plain.low, blocked.low)

    def test_scores_stay_means_over_segments(self):
        subject = Additive.of_segment_scores([[1.0], [2.0], [6.0]], blocks=["doc1", "doc1", "doc2"])
        assert subject.units == 2
        assert subject.weighted(np.array([[1.0, 1.0], [2.0, 0.0]])).ravel().tolist() == [3.0, 1.5]

    def test_segments_that_repeat_each_other_widen_the_interval(self):
        scores = np.repeat(np.random.default_rng(1).random((40, 1)), 10, axis=0)
        documents = np.repeat(np.arange(40), 10)
        plain = paired_bootstrap(Additive.of_segment_scores(scores))
        blocked = paired_bootstrap(Additive.of_segment_scores(scores, blocks=documents))
        assert (blocked.high - blocked.low)[0] > 2 * (plain.high - plain.low)[0]

    def test_every_segment_needs_a_block(self):
        with pytest.raises(UsageError, match="one per segment"):
            Additive.of_segment_scores(np.ones((3, 1)), blocks=[1, 2])


@pytest.mark.slow
def test_ten_systems_and_five_metrics_take_seconds():
    rng = np.random.default_rng(0)
    subjects = [Additive.of_segment_scores(rng.random((3000, 10))) for _ in range(2)]
    statistics = rng.integers(5, 30, (3000, 10, 10)).astype(float)
    subjects += [Additive.of_statistics(statistics, corpus_bleu) for _ in range(3)]
    start = time.perf_counter()
    for subject in subjects:
        paired_bootstrap(subject, resamples=1000)
        approximate_randomisation(subject, resamples=1000)
    assert time.perf_counter() - start < 20
