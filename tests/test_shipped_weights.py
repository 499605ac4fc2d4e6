"""The shipped weights of TESLA-X are what the tool learns from the judgements, byte for byte.

The features of some 900,000 outputs are computed if they are not in the cache ($TESLA_EVAL_CACHE).
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

from tests.conftest import SHARED_DATA

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.slow
@pytest.mark.skipif(not (SHARED_DATA / "wmt").is_dir(), reason="needs the judgements of WMT")
@pytest.mark.parametrize("direction", ["en", "und"])
def test_the_tool_makes_the_shipped_weights_again(monkeypatch: pytest.MonkeyPatch, direction: str) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    monkeypatch.delitem(sys.modules, "loyo", raising=False)
    loyo = importlib.import_module("loyo")
    shipped = ROOT / "src" / "tesla_eval" / "data" / f"weights-x-{direction}.json"
    assert loyo.learned(direction, 1).to_json() == shipped.read_text(encoding="utf-8")
