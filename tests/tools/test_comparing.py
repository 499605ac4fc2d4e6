"""The tools that compare what two checkouts do, and count what a command calls."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import CodeType

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def beside_the_tools(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(ROOT / "tools"), *sys.path])


def a_dump(path: Path, **arrays: list[float]) -> str:
    np.savez_compressed(
        path, **{name.replace("_", " | "): np.array(values) for name, values in arrays.items()}
    )
    return str(path)


@pytest.mark.usefixtures("beside_the_tools")
class TestCompareTrees:
    """Two dumps are equal only if they hold the same arrays, to the last bit."""

    @pytest.fixture
    def diff(self):
        return importlib.import_module("compare_trees").diff

    def test_equal_dumps_have_no_differences(self, diff, tmp_path, capsys):
        dumps = [a_dump(tmp_path / f"{k}.npz", m_en_score=[0.1, float("nan")]) for k in range(2)]
        assert diff(*dumps, []) == 0
        assert (
            capsys.readouterr().out == "1 metrics, 0 commands, 1 arrays, 2 numbers compared; 0 differences\n"
        )

    def test_the_last_bit_counts(self, diff, tmp_path, capsys):
        dumps = [a_dump(tmp_path / f"{k}.npz", m_en_score=[0.5, x]) for k, x in enumerate((0.3, 0.1 + 0.2))]
        assert diff(*dumps, []) == 1
        assert "m | en | score: 1 of 2 numbers differ" in capsys.readouterr().out

    def test_a_zero_has_a_sign_and_a_missing_value_has_none(self, diff, tmp_path):
        nan = float("nan")
        dumps = [
            a_dump(tmp_path / f"{k}.npz", m_en_score=[x, y])
            for k, (x, y) in enumerate([(0.0, nan), (0.0, -nan)])
        ]
        assert diff(*dumps, []) == 0
        assert diff(dumps[0], a_dump(tmp_path / "negative.npz", m_en_score=[-0.0, nan]), []) == 1

    def test_a_metric_of_one_side_is_named_unless_it_is_ignored(self, diff, tmp_path, capsys):
        both = a_dump(tmp_path / "both.npz", m_en_score=[1.0], n_en_score=[1.0])
        one = a_dump(tmp_path / "one.npz", m_en_score=[1.0])
        assert diff(both, one, []) == 1
        assert f"n: only in {both}" in capsys.readouterr().out
        assert diff(one, both, ["n"]) == 0

    def test_an_array_of_another_shape_differs(self, diff, tmp_path):
        dumps = [a_dump(tmp_path / f"{k}.npz", m_en_features=[1.0] * (k + 1)) for k in range(2)]
        assert diff(*dumps, []) == 1

    def test_plain_data_is_compared_without_its_signature(self):
        plain_arrays = importlib.import_module("compare_trees").plain_arrays
        data = {"score": 0.5, "signature": "a", "tokens": [{"start": 1, "surface": "x", "function": True}]}
        arrays = plain_arrays([data])
        assert arrays["numbers"].tolist() == [0.5, 1.0]
        assert (plain_arrays([{**data, "signature": "b"}])["texts"] == arrays["texts"]).all()
        assert (plain_arrays([{**data, "tokens": []}])["texts"] != arrays["texts"]).all()


@pytest.mark.usefixtures("beside_the_tools")
def test_only_the_bodies_of_functions_are_counted():
    is_function = importlib.import_module("count_calls").is_function
    source = "class Group:\n def compare(self):\n  return (lambda: 1), [x for x in ()]\n"
    codes = [compile(source, "file", "exec")]
    for code in codes:
        codes.extend(part for part in code.co_consts if isinstance(part, CodeType))
    assert [code.co_name for code in codes if is_function(code)] == ["compare"]


@pytest.mark.usefixtures("beside_the_tools")
def test_calls_of_a_command_are_counted_in_a_process_of_its_own(tmp_path):
    count_calls = importlib.import_module("count_calls")
    traced = count_calls.measure(count_calls.commands(tmp_path)["explain"], tmp_path)
    assert len(traced["functions"]) == len({tuple(function) for function in traced["functions"]}) > 50
    assert list(traced["explained"].values()) == [1]
    assert set(traced["prepared"].values()) == {1}
