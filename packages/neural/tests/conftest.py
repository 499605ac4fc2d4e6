"""A tiny random encoder, made for the tests: two layers, sixteen dimensions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

WORDS = [
    "the", "a", "two", "men", "man", "were", "was", "arrested", "detained", "released", "not", "in", "paris", "london",
    "2019", "un", "##happy", "happy", ".", ",", "?", "!",
]  # fmt: skip
VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]
SIZE, INNER, HEADS, LAYERS, POSITIONS = 16, 32, 2, 2, 40


class Shape(NamedTuple):
    size: int = SIZE
    inner: int = INNER
    layers: int = LAYERS
    positions: int = POSITIONS


TINY = Shape()


def random_tensors(pieces: int, seed: int = 1, shape: Shape = TINY) -> dict[str, np.ndarray]:
    draw = np.random.default_rng(seed)
    size, inner = shape.size, shape.inner

    def matrix(*shape: int) -> np.ndarray:
        return draw.normal(0, 0.5, shape).astype(np.float32)

    tensors = {
        "embeddings.word_embeddings.weight": matrix(pieces, size),
        "embeddings.position_embeddings.weight": matrix(shape.positions, size) / 4,
        "embeddings.token_type_embeddings.weight": matrix(2, size) / 4,
        "embeddings.LayerNorm.weight": np.ones(size, np.float32),
        "embeddings.LayerNorm.bias": matrix(size) / 8,
    }
    for number in range(shape.layers):
        layer = f"encoder.layer.{number}"
        shapes = {f"attention.self.{part}": (size, size) for part in ("query", "key", "value")}
        shapes |= {
            "attention.output.dense": (size, size),
            "intermediate.dense": (inner, size),
            "output.dense": (size, inner),
        }
        for name, sizes in shapes.items():
            tensors[f"{layer}.{name}.weight"] = matrix(*sizes) * np.float32(min(1.0, 4 / sizes[1] ** 0.5))
            tensors[f"{layer}.{name}.bias"] = matrix(sizes[0])
        for name in ("attention.output.LayerNorm", "output.LayerNorm"):
            tensors[f"{layer}.{name}.weight"] = np.ones(size, np.float32) + matrix(size) / 8
            tensors[f"{layer}.{name}.bias"] = matrix(size) / 8
    return tensors


def write_safetensors(path: Path, tensors: dict[str, np.ndarray], prefix: str = "") -> None:
    header, blobs, offset = {}, [], 0
    for name, values in tensors.items():
        blob = values.astype("<f4").tobytes()
        header[prefix + name] = {
            "dtype": "F32", "shape": list(values.shape), "data_offsets": [offset, offset + len(blob)],
        }  # fmt: skip
        blobs.append(blob)
        offset += len(blob)
    encoded = json.dumps(header).encode()
    path.write_bytes(len(encoded).to_bytes(8, "little") + encoded + b"".join(blobs))


def write_config(folder: Path, kind: str = "bert", **more: object) -> None:
    config = {
        "model_type": kind, "hidden_act": "gelu", "num_attention_heads": HEADS, "num_hidden_layers": LAYERS,
        "layer_norm_eps": 1e-12, "pad_token_id": 0, **more,
    }  # fmt: skip
    (folder / "config.json").write_text(json.dumps(config), "utf-8")


@pytest.fixture
def tiny_folder(tmp_path: Path) -> Path:
    """A BERT with a WordPiece vocabulary."""
    folder = tmp_path / "tiny"
    folder.mkdir()
    write_config(folder)
    write_safetensors(folder / "model.safetensors", random_tensors(len(VOCABULARY)), prefix="bert.")
    (folder / "vocab.txt").write_text("\n".join(VOCABULARY) + "\n", "utf-8")
    return folder


@pytest.fixture
def own_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder of the user's own resources."""
    monkeypatch.setenv("TESLA_EVAL_DATA", str(tmp_path / "own"))
    return tmp_path / "own"
