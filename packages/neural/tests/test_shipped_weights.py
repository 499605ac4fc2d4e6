"""The shipped weights of TESLA-N are what the tool learns from the judgements.

Needs the judgements of WMT and the evidence that `tools/loyo_n.py evidence` keeps in build/loyo-n. The last digits
depend on the number of threads of NumPy's linear algebra, which the tool sets to one and a test cannot.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

from tesla_eval.models.linear import read_weights
from tesla_eval_neural.encoder import load_encoder, shipped_file

ROOT = Path(__file__).resolve().parents[3]
EVIDENCE = ROOT / "build" / "loyo-n"
JUDGEMENTS = ROOT.parent / "shared" / "data" / "wmt"


@pytest.mark.skipif(
    not (JUDGEMENTS.is_dir() and (EVIDENCE / load_encoder("en").fingerprint).is_dir()),
    reason="needs the judgements of WMT and the evidence of tools/loyo_n.py",
)
def test_the_tool_makes_the_shipped_weights_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "packages" / "neural" / "tools"))
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    for name in ("loyo", "loyo_n"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    loyo_n = importlib.import_module("loyo_n")
    model = loyo_n.learned_model(loyo_n.Data.read(EVIDENCE, 1))
    shipped = read_weights(shipped_file("weights-n-en.json"))
    assert (model.features, model.settings, model.data) == (shipped.features, shipped.settings, shipped.data)
    assert model.training == shipped.training
    np.testing.assert_allclose(model.weights, shipped.weights, rtol=1e-8)
