"""Linear models: what they compute, and how they are kept."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tesla_eval.base.errors import ResourceError
from tesla_eval.models.documents import write_document
from tesla_eval.models.linear import LinearModel, Scale, read_weights


@pytest.fixture
def model() -> LinearModel:
    return LinearModel(
        metric="tesla-x", language="en", features=("ms.1.p", "ms.2.p", "lcs.r"), weights=np.array([1.0, 2.0, -1.0]),
        means=np.array([0.5, 0.4, 0.3]), deviations=np.array([0.1, 0.2, 0.3]), scale=Scale("logistic", 2.0, 0.5),
        groups=("target", "surface"), analysis="lang:en", data=("some judgements",), date="2026-11-15",
        training={"learner": "logistic"},
    )  # fmt: skip


def test_shares_add_up_to_the_linear_score(model: LinearModel) -> None:
    values = np.array([[0.6, 0.4, 0.0]])
    assert model.shares(values)[0].tolist() == pytest.approx([1.0, 0.0, 1.0])
    assert model.linear(values)[0] == pytest.approx(2.0)
    assert model.score(values)[0] == pytest.approx(1 / (1 + np.exp(-2.0 * (2.0 - 0.5))))


def test_a_missing_feature_is_the_mean_of_its_family_or_its_own(model: LinearModel) -> None:
    values = np.array([[0.7, np.nan, np.nan]])
    assert model.complete(values).tolist() == [[0.7, 0.4, 0.3]]  # families not told: each its own mean
    told = replace(model, families=("ms.p", "ms.p", "c"))
    assert told.complete(values).tolist() == [[0.7, 0.7, 0.3]]


def test_a_segment_has_the_same_score_in_every_batch(model: LinearModel) -> None:
    values = np.random.default_rng(1).random((50, 3))
    one_by_one = [float(model.score(row[None])[0]) for row in values]
    assert model.score(values).tolist() == one_by_one


def test_written_and_read_again(model: LinearModel, tmp_path: Path) -> None:
    path = tmp_path / "weights.json"
    write_document(path, model)
    again = read_weights(path)
    assert again.to_json() == model.to_json()
    assert again.fingerprint
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"format": 9}, "format 9"),
        ({"features": []}, "no features"),
        ({"scale": {"kind": "magic", "slope": 1, "centre": 0}}, "unknown scale"),
        ({"scale": {"kind": "logistic", "slope": "1", "centre": 0}}, "not a number"),
        ({"features": [{"name": "a", "weight": 1, "mean": 0, "deviation": 0}]}, "not positive"),
        ({"features": [{"name": "a", "weight": float("nan"), "mean": 0, "deviation": 1}]}, "not a number"),
    ],
)
def test_damaged_weights_are_refused(
    model: LinearModel, tmp_path: Path, change: dict[str, object], complaint: str
) -> None:
    path = tmp_path / "weights.json"
    path.write_text(json.dumps({**json.loads(model.to_json()), **change}))
    with pytest.raises(ResourceError, match=complaint) as caught:
        read_weights(path)
    assert str(path) in str(caught.value)


def test_what_is_no_json_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "weights.json"
    path.write_bytes(b"\x80\x04pickle")
    with pytest.raises(ResourceError, match="tesla train"):
        read_weights(path)


def test_linear_scale_is_clipped(model: LinearModel) -> None:
    scaled = replace(model, scale=Scale("linear", 0.1, 0.0))
    assert scaled.score(np.array([[9.0, 9.0, -9.0], [-9.0, -9.0, 9.0]])).tolist() == [1.0, 0.0]
