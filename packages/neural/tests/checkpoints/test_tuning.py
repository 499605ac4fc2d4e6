"""The tool that tunes the encoder: its states are those of the textbook, it learns, and it resumes exactly."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import LAYERS
from reference_states import reference_states
from tesla_eval_neural.building import Folder, build_encoder, opener_of, read_folder, with_tuned_layers
from tesla_eval_neural.encoder import Encoder

torch = pytest.importorskip("torch")
torch.set_num_threads(1)
ROOT = Path(__file__).resolve().parents[4]
TRIPLES = [
    ("two men were arrested", "two men were released", "two men were detained"),
    ("the man was not happy", "the man was happy", "the man was unhappy"),
    ("in paris , 2019", "in london , 2019", "in paris in 2019"),
]


@pytest.fixture
def tool(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(ROOT / "packages" / "neural" / "tools"))
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    for name in ("loyo", "yearly", "tune_encoder"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return importlib.import_module("tune_encoder")


@pytest.fixture
def folder(tiny_folder: Path) -> Folder:
    return read_folder(opener_of(tiny_folder), LAYERS)


def test_states_are_those_of_the_textbook(tool: Any, folder: Folder) -> None:
    texts = tool.Texts(Encoder(build_encoder(folder, "en")), folder, ["two men were arrested", "unhappy"])
    batch = texts.batch([0, 1], torch.device("cpu"))
    with torch.no_grad():
        states = tool.Layers(folder)(batch.ids, batch.present).numpy()
    for row, pieces in enumerate(texts.pieces):
        ids = np.concatenate([[folder.begin], pieces, [folder.end]])
        exact = reference_states(folder.weights, folder.architecture, ids)
        exact /= np.linalg.norm(exact, axis=1, keepdims=True)
        np.testing.assert_allclose(states[row, : len(ids)], exact, atol=2e-5)


def tuned(tool: Any, folder: Folder, steps: int, stop: int | None = None, state: Path | None = None) -> Any:
    pairs = tool.numbered(TRIPLES)
    texts = tool.Texts(Encoder(build_encoder(folder, "en")), folder, pairs.texts)
    tuning = tool.Tuning(folder, steps, torch.device("cpu"))
    if state is not None and state.exists():
        tuning.load(state)
    losses = tool.run_steps(tuning, pairs, texts, size=2, seed=0, steps=stop or steps)
    if state is not None:
        tuning.save(state)
    return tuning, losses


def test_it_learns_and_its_result_becomes_an_encoder(tool: Any, folder: Folder, tmp_path: Path) -> None:
    tuning, losses = tuned(tool, folder, 60)
    for name, values in tuning.original.tuned().items():
        np.testing.assert_array_equal(values.numpy(), folder.weights[name])
    assert np.mean(losses[-10:]) < np.mean(losses[:10])
    tool.write_arrays(tmp_path / "tuned.npz", tuning.result())
    Encoder(build_encoder(with_tuned_layers(folder, tmp_path / "tuned.npz"), "en")).encode(["two men"])
    assert tuning.result()["abcT"][:3].sum() == pytest.approx(1.0)


def test_a_run_that_was_interrupted_ends_with_the_same_numbers(
    tool: Any, folder: Folder, tmp_path: Path
) -> None:
    whole, _ = tuned(tool, folder, 6)
    state = tmp_path / "state.npz"
    tuned(tool, folder, 6, 3, state)
    resumed, losses = tuned(tool, folder, 6, None, state)
    assert len(losses) == 3
    for name, values in whole.result().items():
        np.testing.assert_array_equal(values, resumed.result()[name], err_msg=name)
