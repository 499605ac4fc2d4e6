"""The shipped weights of TESLA-X are what the tool learns from the judgements.

The features of some 900,000 outputs are computed if they are not in the cache ($TESLA_EVAL_CACHE). The last digits
depend on the number of threads of NumPy's linear algebra and on the processor.
"""

from __future__ import annotations

import importlib
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tesla_eval.models.linear import read_weights
from tests.fixtures import SHARED_DATA

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
@pytest.mark.skipif(not (SHARED_DATA / "wmt").is_dir(), reason="needs the judgements of WMT")
@pytest.mark.parametrize("direction", ["en", "und"])
def test_the_tool_makes_the_shipped_weights_again(monkeypatch: pytest.MonkeyPatch, direction: str) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    monkeypatch.delitem(sys.modules, "loyo", raising=False)
    loyo = importlib.import_module("loyo")
    shipped = read_weights(
        ROOT / "packages" / "data" / "src" / "tesla_eval_data" / f"weights-x-{direction}.json"
    )
    model = loyo.learned(direction, 1)
    np.testing.assert_allclose(model.weights, shipped.weights, rtol=1e-8)
    assert replace(model, weights=shipped.weights).to_json() == shipped.to_json()
