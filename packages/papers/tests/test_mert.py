"""MERT against brute force, PRO against planted weights, and the command with a decoder in the loop."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tesla_eval.choosing.parameters import Parameter, Parameters
from tesla_eval.metrics.baselines.bleu import Bleu
from tesla_eval_papers.tuning.mert import MertOptions, line_search, mert
from tesla_eval_papers.tuning.objective import TuningObjective, whole_numbers
from tesla_eval_papers.tuning.outer import optimise
from tesla_eval_papers.tuning.pool import TuningProblem
from tesla_eval_papers.tuning.pro import ProOptions, pro

MEAN = TuningObjective(True)
GRID = np.linspace(-30, 30, 4001)


def random_problem(
    seed: int, *, segments: int = 6, most: int = 7, features: int = 3, columns: int = 1, higher=True
):
    generator = np.random.default_rng(seed)
    sizes = generator.integers(1, most + 1, segments)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    # Few different values: equal lines and lines of equal slope are common.
    values = generator.integers(-3, 4, (features, offsets[-1])).astype(float)
    values += generator.choice([0.0, 0.37], values.shape)
    if columns == 1:
        return TuningProblem.create(
            [f"f{k}" for k in range(features)],
            offsets,
            values,
            generator.random((offsets[-1], 1)),
            TuningObjective(higher),
        )
    lengths = generator.integers(4, 12, (offsets[-1], 1))
    matches = np.sort(generator.integers(0, 5, (offsets[-1], 4)), axis=1)[:, ::-1]
    rows = np.hstack(
        [lengths, np.full_like(lengths, 8), np.minimum(matches, lengths), lengths - np.arange(4)]
    )
    return TuningProblem.create(
        [f"f{k}" for k in range(features)], offsets, values, rows, TuningObjective(True, Bleu("en").score_of_sums),
        gains=matches.sum(axis=1),
    )  # fmt: skip


def brute_force(problem: TuningProblem, weights, direction) -> float:
    """The best quality on a fine grid, point by point."""
    scores = (weights + GRID[:, None] * direction) @ problem.features
    spans = zip(problem.offsets[:-1], problem.offsets[1:], strict=True)
    chosen = np.stack([begin + scores[:, begin:end].argmax(axis=1) for begin, end in spans], axis=1)
    return float(problem.quality(problem.numbers[chosen].sum(axis=1)).max())


class TestLineSearch:
    @given(st.integers(0, 10**6), st.sampled_from([1, 10]))
    def test_is_as_good_as_a_fine_grid_and_real(self, seed: int, columns: int) -> None:
        problem = random_problem(seed, columns=columns)
        generator = np.random.default_rng(seed + 1)
        weights, direction = generator.standard_normal((2, 3))
        point = line_search(problem, weights, direction)
        assert problem.evaluate(weights + point.distance * direction) == pytest.approx(
            point.quality, abs=1e-12
        )
        assert point.quality >= brute_force(problem, weights, direction) - 1e-12

    @given(st.integers(0, 10**6))
    def test_bounds_are_kept(self, seed: int) -> None:
        problem = random_problem(seed)
        weights, direction = np.random.default_rng(seed + 1).standard_normal((2, 3))
        point = line_search(problem, weights, direction, low=-0.5, high=0.25)
        assert -0.5 <= point.distance <= 0.25
        assert problem.evaluate(weights + point.distance * direction) == pytest.approx(
            point.quality, abs=1e-12
        )

    @given(st.integers(0, 10**6))
    def test_every_interval_has_the_sums_of_its_winners(self, seed: int) -> None:
        problem = random_problem(seed, columns=10)
        weights, direction = np.random.default_rng(seed + 1).standard_normal((2, 3))
        bounds, sums = problem.table.cut(problem.table.scores(weights), direction, -math.inf, math.inf)
        assert (np.diff(bounds) > 0).all()
        edges = (
            np.concatenate([[bounds[0] - 1], bounds, [bounds[-1] + 1]])
            if len(bounds)
            else np.array([-1.0, 1.0])
        )
        for left, right, expected in zip(edges[:-1], edges[1:], sums, strict=True):
            if right - left > 1e-7:
                chosen = problem.choice(weights + (left + right) / 2 * direction)
                assert (problem.numbers[chosen].sum(axis=0) == expected).all()

    def test_of_equal_candidates_the_first_wins(self) -> None:
        problem = TuningProblem.create(["a"], [0, 2], [[1.0, 1.0]], [[0.2], [0.9]], MEAN)
        assert problem.evaluate(np.ones(1)) == pytest.approx(0.2)
        assert line_search(problem, np.ones(1), np.ones(1)).quality == pytest.approx(0.2)


class TestMert:
    @given(st.integers(0, 10**6), st.booleans())
    def test_never_worse_than_the_start(self, seed: int, higher: bool) -> None:
        problem = random_problem(seed, higher=higher)
        start = Parameters.named(problem.names).with_weights(np.random.default_rng(seed).standard_normal(3))
        tuned = mert(problem, start, MertOptions(restarts=2), np.random.default_rng(0))
        worse = tuned.score < tuned.start_score if higher else tuned.score > tuned.start_score
        assert not worse
        assert tuned.score == problem.score(tuned.weights)

    def planted(self, segments: int = 200, size: int = 20, features: int = 4):
        """Candidates whose score is highest where a hidden model's score is."""
        generator = np.random.default_rng(5)
        hidden = np.array([1.0, -2.0, 0.5, 1.5][:features])
        values = generator.standard_normal((features, segments * size))
        gains = (hidden @ values).reshape(segments, size)
        gains = (gains - gains.min()) / np.ptp(gains)
        offsets = np.arange(0, segments * size + 1, size)
        problem = TuningProblem.create(
            [f"f{k}" for k in range(features)], offsets, values, gains.reshape(-1, 1), MEAN
        )
        return problem, hidden, float(gains.max(axis=1).mean())

    def test_every_restart_finds_a_planted_optimum(self) -> None:
        problem, hidden, optimum = self.planted()
        assert problem.evaluate(hidden) == pytest.approx(optimum, abs=1e-9)
        tuned = mert(problem, Parameters.named(problem.names), MertOptions(10), np.random.default_rng(1))
        assert len(tuned.descents) == 10
        for descent in tuned.descents:
            assert problem.score(descent.weights) >= optimum - 0.002

    def test_pro_recovers_planted_weights(self) -> None:
        problem, hidden, optimum = self.planted(segments=1000)
        tuned = pro(problem, Parameters.named(problem.names), ProOptions(), np.random.default_rng(1))
        assert tuned.score >= optimum - 0.002
        noise = 0.5 * problem.gains.std() * np.random.default_rng(2).standard_normal(len(problem.gains))
        noisy = TuningProblem.create(
            problem.names, problem.offsets, problem.features, (problem.gains + noise)[:, None], MEAN
        )
        tuned = pro(noisy, Parameters.named(problem.names), ProOptions(), np.random.default_rng(1))
        cosine = tuned.weights @ hidden / np.linalg.norm(tuned.weights) / np.linalg.norm(hidden)
        assert cosine > 0.98

    def test_pro_without_a_penalty_copes_with_features_that_say_the_same(self) -> None:
        problem = random_problem(4, segments=30)
        doubled = problem.with_features(np.vstack([problem.features[:2], problem.features[:1]]))
        tuned = pro(
            doubled, Parameters.named(problem.names), ProOptions(regularisation=0), np.random.default_rng(1)
        )
        assert np.isfinite(tuned.weights).all()

    @pytest.mark.parametrize("options", [MertOptions(4), MertOptions(4, average=True), ProOptions()])
    def test_the_same_seed_gives_the_same_weights(self, options) -> None:
        problem = random_problem(3, segments=30, columns=10)
        found = [optimise(problem, Parameters.named(problem.names), options, (7,)).weights for _ in range(2)]
        assert found[0].tolist() == found[1].tolist()

    def test_fixed_weights_and_bounds_are_kept(self) -> None:
        problem, _, _ = self.planted()
        parameters = Parameters(
            (
                Parameter("f0", 1.0, tuned=False),
                Parameter("f1", 0, low=-0.5),
                Parameter("f2", 0, high=0.1),
                Parameter("f3"),
            )
        )
        for options in (MertOptions(3), ProOptions()):
            weights = optimise(problem, parameters, options, (1,)).weights
            assert weights[0] == 1.0
            assert weights[1] >= -0.5
            assert weights[2] <= 0.1

    def test_regularisation_stays_near_the_given_weights(self) -> None:
        problem = random_problem(11, segments=40)
        start = Parameters.named(problem.names).with_weights(np.array([1.0, 0.1, 0.1]))
        free, held = (
            mert(problem, start, MertOptions(5, regularisation=cost), np.random.default_rng(2))
            for cost in (0.0, 0.05)
        )
        assert np.linalg.norm(held.weights - start.weights) < np.linalg.norm(free.weights - start.weights)
        assert held.score >= held.start_score

    def test_an_average_of_restarts_is_close_to_the_optimum(self) -> None:
        problem, _, optimum = self.planted()
        tuned = mert(
            problem, Parameters.named(problem.names), MertOptions(6, average=True), np.random.default_rng(1)
        )
        assert tuned.score >= optimum - 0.005


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=50), st.integers(1, 100_000))
def test_whole_numbers_never_overflow_and_are_close(values, segments: int) -> None:
    numbers, unit = whole_numbers(np.array(values)[:, None], segments)
    assert abs(int(np.abs(numbers).max())) * segments < 2**63
    assert numbers[:, 0] * unit == pytest.approx(values, abs=unit)


DECODER = """
import json, sys
weights = dict(line.split() for line in open(sys.argv[1]))
with open(sys.argv[2], "w") as out:
    for segment, candidates in enumerate(json.load(open(sys.argv[3]))):
        ranked = sorted(candidates, key=lambda c: -sum(float(weights[k]) * v for k, v in c[1].items()))
        for text, features in ranked[:2]:
            out.write(f"{segment} ||| {text} ||| " + " ".join(f"{k}= {v}" for k, v in features.items()) + "\\n")
"""


class TestCommand:
    @pytest.fixture
    def task(self, write, tmp_path):
        """References, parameters, and a decoder that re-ranks fixed candidates."""
        references = ["the cat sat on the mat", "a dog ran home", "it rained all day"]
        spoilt = [
            [r, f"{r} {r.split()[0]}", " ".join(r.split()[::-1]), r.split()[-1], "nothing like it"]
            for r in references
        ]
        candidates = [
            [(text, {"good": -k + 0.5 * ((k * 7) % 3), "bad": float(k)}) for k, text in enumerate(texts)]
            for texts in spoilt
        ]  # fmt: skip
        write("candidates.json", json.dumps(candidates).encode())
        write("decoder.py", DECODER.encode())
        return {
            "references": write("ref.txt", references),
            "params": write("params.txt", ["good 0.1", "bad 1"]),
            "command": f"{sys.executable} {tmp_path}/decoder.py {{weights}} {{nbest}} {tmp_path}/candidates.json",
            "output": str(tmp_path / "weights.txt"),
            "nbest": write(
                "n.best",
                [
                    f"{s} ||| {text} ||| " + " ".join(f"{k}= {v}" for k, v in features.items())
                    for s, texts in enumerate(candidates)
                    for text, features in texts
                ],
            ),
            "folder": tmp_path,
        }

    def run(self, tesla, task, *more: str):
        metric = () if "-m" in more else ("-m", "m")
        return tesla(
            "tune",
            *metric,
            "-r",
            task["references"],
            "-o",
            task["output"],
            "--params",
            task["params"],
            *more,
        )

    def test_a_list_is_tuned_and_the_weights_choose_the_references(self, tesla, task) -> None:
        found = self.run(tesla, task, "--nbest", task["nbest"])
        assert (found.status, found.err) == (0, "")
        assert found.out.splitlines()[1].endswith(" 1.0000")
        chosen = tesla("rerank", "--nbest", task["nbest"], "--params", task["output"])
        assert chosen.out.splitlines() == ["the cat sat on the mat", "a dog ran home", "it rained all day"]

    def test_a_decoder_is_run_until_the_weights_settle_and_the_run_resumes(self, tesla, task) -> None:
        found = self.run(tesla, task, "--decoder", task["command"])
        assert (found.status, found.err) == (0, "")
        rows = [line.split() for line in found.out.splitlines()[1:-1]]
        assert len(rows) >= 2
        assert rows[-1][-1] == "1.0000"
        written = Path(task["output"]).read_text()
        # Without its last steps the folder is that of an interrupted run.
        work = task["folder"] / "weights.txt.work"
        state = json.loads((work / "state.json").read_text())
        state["iterations"] = state["iterations"][:1]
        (work / "state.json").write_text(json.dumps(state))
        for later in range(2, len(rows) + 1):
            (work / f"nbest-{later}").unlink()
        again = self.run(tesla, task, "--decoder", task["command"])
        assert again.out == found.out
        assert Path(task["output"]).read_text() == written

    def test_other_settings_are_another_run(self, tesla, task) -> None:
        self.run(tesla, task, "--decoder", task["command"])
        found = self.run(tesla, task, "--decoder", task["command"], "--seed", "5")
        assert found.status == 2
        assert "other settings (seed)" in found.err

    @pytest.mark.parametrize(
        "options", [("--optimiser", "pro"), ("--average",), ("--l2", "0.01"), ("--restarts", "1")]
    )
    def test_options(self, tesla, task, options) -> None:
        found = self.run(tesla, task, "--nbest", task["nbest"], *options)
        assert (found.status, found.err) == (0, "")
        before, after = found.out.splitlines()[1].split()[-2:]
        assert float(after) >= float(before)

    @pytest.mark.parametrize("metric", ["bleu", "chrf", "ter", "x"])
    def test_other_metrics(self, tesla, task, metric: str) -> None:
        found = self.run(tesla, task, "--nbest", task["nbest"], "-m", metric)
        assert (found.status, found.err) == (0, "")
        chosen = tesla("rerank", "--nbest", task["nbest"], "--params", task["output"])
        assert chosen.out.splitlines()[0] == "the cat sat on the mat"

    @pytest.mark.parametrize(
        ("more", "message"),
        [
            ((), "give n-best lists with --nbest, or a --decoder"),
            (("--decoder", "false"), "the decoder ended with status 1"),
            (("--decoder", "/no/such/program"), "cannot be started"),
            (("--decoder", "true {nbest}"), "the decoder wrote no"),
            (("--decoder", "echo nonsense"), "no candidates"),
        ],
    )
    def test_errors(self, tesla, task, more, message: str) -> None:
        found = self.run(tesla, task, *more)
        assert found.status == 2
        assert message in found.err or "multiple" in found.err or "share" in found.err

    def test_a_decoder_may_write_to_standard_output(self, tesla, task) -> None:
        found = self.run(tesla, task, "--decoder", f"cat {task['nbest']}")
        assert (found.status, found.err) == (0, "")
