"""Tuned layers in place of those of a model: what is read, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from conftest import LAYERS, VOCABULARY, random_tensors
from tesla_eval.base.errors import InputError
from tesla_eval.cli import tesla
from tesla_eval_neural.building import Folder, is_tuned, opener_of, read_folder, with_tuned_layers


@pytest.fixture
def folder(tiny_folder: Path) -> Folder:
    return read_folder(opener_of(tiny_folder), LAYERS)


def other_layers() -> dict[str, np.ndarray]:
    tensors = random_tensors(len(VOCABULARY), seed=2)
    return {name: values for name, values in tensors.items() if is_tuned(name)}


def test_layers_are_replaced_and_embeddings_stay(tmp_path: Path, folder: Folder) -> None:
    layers = other_layers()
    np.savez(tmp_path / "tuned.npz", **layers, abcT=np.ones(4))
    tuned = with_tuned_layers(folder, tmp_path / "tuned.npz")
    for name, values in tuned.weights.items():
        np.testing.assert_array_equal(values, layers.get(name, folder.weights[name]))
    assert set(layers) < set(tuned.weights)


def test_rows_of_8_bit_numbers_are_scaled(tmp_path: Path, folder: Folder) -> None:
    layers, rounded = other_layers(), "encoder.layer.1.output.dense.weight"
    scales = np.abs(layers[rounded]).max(axis=1) / 127
    exact = layers.pop(rounded)
    numbers = np.rint(exact / scales[:, None]).astype(np.int8)
    np.savez(tmp_path / "tuned.npz", **layers, **{f"{rounded}.q": numbers, f"{rounded}.s": scales})
    values = with_tuned_layers(folder, tmp_path / "tuned.npz").weights[rounded]
    assert np.abs(values - exact).max() <= scales.max() / 2 + 1e-6


@pytest.mark.parametrize("change", ["missing", "shape", "infinite", "object", "text"])
def test_layers_that_do_not_fit_are_refused(tmp_path: Path, folder: Folder, change: str) -> None:
    layers, name, path = other_layers(), "encoder.layer.0.output.dense.bias", tmp_path / "tuned.npz"
    if change == "missing":
        del layers[name]
    elif change == "shape":
        layers[name] = layers[name][1:]
    elif change == "infinite":
        layers[name][0] = np.inf
    elif change == "object":
        layers[name] = np.array([None])
    np.savez(path, **layers)
    if change == "text":
        path.write_text("no archive", "utf-8")
    with pytest.raises(InputError, match=r"tuned.npz: holds no tuned layers for this model"):
        with_tuned_layers(folder, path)


def test_the_command_builds_with_tuned_layers(tmp_path: Path, tiny_folder: Path) -> None:
    np.savez(tmp_path / "tuned.npz", **other_layers())
    arguments = ["train", "encoder", "-l", "en", "--layers", "2", "--from", str(tiny_folder)]
    files = []
    for name, more in (("plain", []), ("tuned", ["--tuned", str(tmp_path / "tuned.npz")])):
        files.append(tmp_path / f"{name}.tesla")
        result = CliRunner().invoke(tesla, [*arguments, "-o", str(files[-1]), *more])
        assert result.exit_code == 0, (result.output, result.exception)
    assert files[0].read_bytes() != files[1].read_bytes()
