"""The states of an encoder by the textbook, in double precision: what the core's encoder is checked against."""

from __future__ import annotations

from math import erf, sqrt

import numpy as np
import numpy.typing as npt

from tesla_eval_neural.quantising import Architecture, Weights


def reference_states(
    weights: Weights, architecture: Architecture, ids: npt.NDArray[np.int64], first_position: int = 0
) -> npt.NDArray[np.float64]:
    """The states of one text with the weights as they were before they were rounded."""
    error_function = np.frompyfunc(erf, 1, 1)

    def normalised(x: npt.NDArray[np.float64], name: str) -> npt.NDArray[np.float64]:
        centred = x - x.mean(axis=-1, keepdims=True)
        deviation = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + architecture.epsilon)
        outputs: npt.NDArray[np.float64] = (
            centred / deviation * weights[f"{name}.weight"] + weights[f"{name}.bias"]
        )
        return outputs

    def dense(x: npt.NDArray[np.float64], name: str) -> npt.NDArray[np.float64]:
        outputs: npt.NDArray[np.float64] = (
            x @ weights[f"{name}.weight"].T.astype(float) + weights[f"{name}.bias"]
        )
        return outputs

    x = weights["embeddings.word_embeddings.weight"][ids].astype(float)
    x = x + weights["embeddings.position_embeddings.weight"][first_position : first_position + len(ids)]
    x = x + weights["embeddings.token_type_embeddings.weight"][0]
    x = normalised(x, "embeddings.LayerNorm")
    for number in range(architecture.layers):
        name = f"encoder.layer.{number}"
        query, key, value = (
            dense(x, f"{name}.attention.self.{part}").reshape(len(ids), architecture.heads, -1).swapaxes(0, 1)
            for part in ("query", "key", "value")
        )
        logits = query @ key.swapaxes(1, 2) / sqrt(query.shape[-1])
        shares = np.exp(logits - logits.max(axis=-1, keepdims=True))
        shares /= shares.sum(axis=-1, keepdims=True)
        context = (shares @ value).swapaxes(0, 1).reshape(len(ids), -1)
        x = normalised(
            dense(context, f"{name}.attention.output.dense") + x, f"{name}.attention.output.LayerNorm"
        )
        inner = dense(x, f"{name}.intermediate.dense")
        gelu = 0.5 * inner * (1.0 + np.asarray(error_function(inner / sqrt(2.0)), float))
        x = normalised(dense(gelu, f"{name}.output.dense") + x, f"{name}.output.LayerNorm")
    return x
