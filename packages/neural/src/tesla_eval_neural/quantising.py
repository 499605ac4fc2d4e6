"""The parameters of an encoder of BERT's kind in 8-bit numbers: its first layers, as core/encoder reads them.

Weights have 7 bits with the sign (−63 … 63) and one scale per output channel, so that no CPU's sums of 8-bit products
overflow. Activations get 8 bits and one scale per piece when a text is encoded, so a text has the same states in every
batch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["DENSE", "Architecture", "encoder_arrays"]

Weights = Mapping[str, npt.NDArray[np.float32]]
DENSE = ("attention", "output", "inner", "outer")
"""The dense layers of a layer: queries, keys and values side by side; what joins the heads; the two behind them."""
_WEIGHT_LEVELS, _EMBEDDING_LEVELS = 63, 127
_LEAST_SCALE = 1e-30  # far below, single precision has too few bits to divide by a scale


@dataclass(frozen=True)
class Architecture:
    """What the tensors do not say of themselves."""

    layers: int
    heads: int
    epsilon: float


def _rounded(
    matrix: npt.NDArray[np.float32], levels: int
) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.float32]]:
    """Whole numbers with one scale per column; columns that are almost 0 become 0."""
    scale = np.abs(matrix).max(axis=0) / levels
    scale[scale < _LEAST_SCALE] = 1.0
    return np.rint(matrix / scale).astype(np.int8), scale.astype(np.float32)


def _dense(
    weights: Weights, names: tuple[str, ...], first_divisor: float = 1.0
) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """Weights, scales and biases of some dense layers over the same input, side by side; the first may be divided."""
    parts = [(weights[f"{name}.weight"].T, weights[f"{name}.bias"]) for name in names]
    if first_divisor != 1.0:
        parts[0] = tuple((part / np.float64(first_divisor)) for part in parts[0])  # type: ignore[assignment]
    matrix, scale = _rounded(np.concatenate([part[0] for part in parts], axis=1), _WEIGHT_LEVELS)
    return matrix, scale, np.concatenate([part[1] for part in parts]).astype(np.float32)


def encoder_arrays(
    weights: Weights, architecture: Architecture, first_position: int = 0
) -> dict[str, npt.NDArray[Any]]:
    """The parameters of the first layers as they are stored: one array of each kind for all layers.

    Positions before the first that a text has are left out; the embedding of the only type of token is part of them.
    """
    words, word_scales = _rounded(weights["embeddings.word_embeddings.weight"].T, _EMBEDDING_LEVELS)
    kind = weights["embeddings.token_type_embeddings.weight"][0]
    places = weights["embeddings.position_embeddings.weight"][first_position:] + kind
    arrays: dict[str, npt.NDArray[Any]] = {
        "words": words.T, "word_scales": word_scales, "places": places.astype(np.float32),
    }  # fmt: skip
    norms = ["embeddings.LayerNorm"]
    dense: dict[str, list[Any]] = {part: [] for part in DENSE}
    for number in range(architecture.layers):
        layer = f"encoder.layer.{number}"
        heads = tuple(f"{layer}.attention.self.{part}" for part in ("query", "key", "value"))
        head_size = words.shape[0] // architecture.heads
        dense["attention"].append(_dense(weights, heads, float(np.sqrt(head_size))))
        dense["output"].append(_dense(weights, (f"{layer}.attention.output.dense",)))
        dense["inner"].append(_dense(weights, (f"{layer}.intermediate.dense",)))
        dense["outer"].append(_dense(weights, (f"{layer}.output.dense",)))
        norms += [f"{layer}.attention.output.LayerNorm", f"{layer}.output.LayerNorm"]
    for part, layers in dense.items():
        for suffix, stacked in zip(("", ".scale", ".bias"), zip(*layers, strict=True), strict=True):
            arrays[part + suffix] = np.stack(stacked)
    arrays["norms"] = np.array(
        [[weights[f"{name}.{w}"] for w in ("weight", "bias")] for name in norms], np.float32
    )
    return arrays
