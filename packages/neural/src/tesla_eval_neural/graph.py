"""The ONNX graph of an encoder of BERT's kind: its first layers, in 8-bit numbers.

Weights have 7 bits and a sign per output channel, so that no CPU's sums of 8-bit products overflow. Activations get 8
bits with a scale of their own per piece: so a text has the same states in every batch, and is three times nearer to
the exact states than with one scale per batch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tesla_eval.errors import BuildError

__all__ = ["Architecture", "encoder_graph", "reference_states"]

Weights = Mapping[str, npt.NDArray[np.float32]]
_OPSET, _IR_VERSION = 20, 9
_WEIGHT_LEVELS, _EMBEDDING_LEVELS, _ACTIVATION_LEVELS = 63, 127, 127
_ZERO_POINT = 128


@dataclass(frozen=True)
class Architecture:
    """What the tensors do not say of themselves."""

    layers: int
    heads: int
    epsilon: float


def _rounded(
    matrix: npt.NDArray[np.float32], levels: int
) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.float32]]:
    """Whole numbers with one scale per column."""
    scale = np.abs(matrix).max(axis=0) / levels
    scale[scale == 0] = 1.0
    return np.rint(matrix / scale).astype(np.int8), scale.astype(np.float32)


class _Writer:
    """Collects the nodes and constants of a graph."""

    def __init__(self) -> None:
        try:
            import onnx
        except ImportError as error:
            raise BuildError(
                "building an encoder needs onnx: pip install 'tesla-eval-neural[build]'"
            ) from error
        self.onnx: Any = onnx
        self.nodes: list[Any] = []
        self.constants: dict[str, Any] = {}

    def constant(self, name: str, value: npt.NDArray[Any] | np.generic) -> str:
        if name not in self.constants:
            array = np.asarray(value)
            contiguous = np.ascontiguousarray(array) if array.ndim else array
            self.constants[name] = self.onnx.numpy_helper.from_array(contiguous, name)
        return name

    def add(self, operator: str, *inputs: str, outputs: int = 1, **attributes: Any) -> list[str]:
        names = [f"{operator}{len(self.nodes)}.{k}" for k in range(outputs)]
        self.nodes.append(self.onnx.helper.make_node(operator, list(inputs), names, **attributes))
        return names

    def one(self, operator: str, *inputs: str, **attributes: Any) -> str:
        return self.add(operator, *inputs, **attributes)[0]


class _Graph(_Writer):
    """An encoder's layers."""

    def __init__(self, weights: Weights, architecture: Architecture) -> None:
        super().__init__()
        self._weights, self._architecture = weights, architecture
        self.dimensions = weights["embeddings.word_embeddings.weight"].shape[1]

    def embeddings(self) -> str:
        """The sum of the embeddings of pieces and positions; the only type of token is the first."""
        weights = self._weights
        rounded, scale = _rounded(weights["embeddings.word_embeddings.weight"].T, _EMBEDDING_LEVELS)
        rows = self.one("Gather", self.constant("words", rounded.T), "ids")
        scales = self.one("Gather", self.constant("word scales", scale[:, None]), "ids")
        words = self.one("Mul", self.one("Cast", rows, to=self.onnx.TensorProto.FLOAT), scales)
        places = self.constant("places", weights["embeddings.position_embeddings.weight"])
        kind = self.constant("type", weights["embeddings.token_type_embeddings.weight"][0])
        placed = self.one("Add", words, self.one("Gather", places, "positions"))
        return self.normalised(self.one("Add", placed, kind), "embeddings.LayerNorm")

    def normalised(self, x: str, name: str) -> str:
        gamma = self.constant(f"{name}.weight", self._weights[f"{name}.weight"])
        beta = self.constant(f"{name}.bias", self._weights[f"{name}.bias"])
        return self.one("LayerNormalization", x, gamma, beta, axis=-1, epsilon=self._architecture.epsilon)

    def rounded(self, x: str) -> tuple[str, str]:
        """Activations in 8 bits, with the scale of each row."""
        axis = self.constant("last axis", np.array([-1], np.int64))
        largest = self.one("ReduceMax", self.one("Abs", x), axis, keepdims=1)
        positive = self.one("Max", largest, self.constant("least", np.float32(1e-30)))
        scale = self.one("Mul", positive, self.constant("level", np.float32(1 / _ACTIVATION_LEVELS)))
        whole = self.one("Round", self.one("Div", x, scale))
        shifted = self.one("Add", whole, self.constant("zero", np.float32(_ZERO_POINT)))
        return self.one("Cast", shifted, to=self.onnx.TensorProto.UINT8), scale

    def dense(self, rounded: tuple[str, str], names: tuple[str, ...], first_divisor: float = 1.0) -> str:
        """One or several dense layers over the same input, side by side; the first may be divided by a number."""
        parts = [(self._weights[f"{name}.weight"].T, self._weights[f"{name}.bias"]) for name in names]
        if first_divisor != 1.0:
            parts[0] = tuple((part / np.float64(first_divisor)) for part in parts[0])  # type: ignore[assignment]
        matrix, scale = _rounded(np.concatenate([part[0] for part in parts], axis=1), _WEIGHT_LEVELS)
        bias = np.concatenate([part[1] for part in parts]).astype(np.float32)
        activations, row_scale = rounded
        product = self.one(
            "MatMulInteger", activations, self.constant(f"{names[0]}.matrix", matrix),
            self.constant("zero point", np.uint8(_ZERO_POINT)), self.constant("no zero point", np.int8(0)),
        )  # fmt: skip
        exact = self.one("Cast", product, to=self.onnx.TensorProto.FLOAT)
        by_row = self.one("Mul", exact, row_scale)
        scaled_back = self.one("Mul", by_row, self.constant(f"{names[0]}.scale", scale))
        return self.one("Add", scaled_back, self.constant(f"{names[0]}.bias", bias))

    def layer(self, number: int, x: str) -> str:
        name, heads = f"encoder.layer.{number}", self._architecture.heads
        size = self.dimensions // heads
        attention = tuple(f"{name}.attention.self.{part}" for part in ("query", "key", "value"))
        joined = self.dense(self.rounded(x), attention, float(np.sqrt(size)))
        by_head = self.constant("by head", np.array([0, 0, heads, size], np.int64))
        query, key, value = (
            self.one("Transpose", self.one("Reshape", part, by_head), perm=order)
            for part, order in zip(
                self.add("Split", joined, outputs=3, axis=-1, num_outputs=3),
                ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]),
                strict=True,
            )
        )
        shares = self.one("Softmax", self.one("MatMul", query, key), axis=-1)
        context = self.one("Transpose", self.one("MatMul", shares, value), perm=[0, 2, 1, 3])
        whole = self.one(
            "Reshape", context, self.constant("whole", np.array([0, 0, self.dimensions], np.int64))
        )
        attended = self.dense(self.rounded(whole), (f"{name}.attention.output.dense",))
        x = self.normalised(self.one("Add", attended, x), f"{name}.attention.output.LayerNorm")
        inner = self.one("Gelu", self.dense(self.rounded(x), (f"{name}.intermediate.dense",)))
        outer = self.dense(self.rounded(inner), (f"{name}.output.dense",))
        return self.normalised(self.one("Add", outer, x), f"{name}.output.LayerNorm")


def encoder_graph(weights: Weights, architecture: Architecture) -> bytes:
    """The graph from `ids` (texts × pieces) and `positions` (pieces) to `states`, as the bytes of an ONNX file."""
    graph = _Graph(weights, architecture)
    x = graph.embeddings()
    for number in range(architecture.layers):
        x = graph.layer(number, x)
    graph.nodes.append(graph.onnx.helper.make_node("Identity", [x], ["states"]))
    helper, types = graph.onnx.helper, graph.onnx.TensorProto
    made = helper.make_graph(
        graph.nodes, "encoder",
        [helper.make_tensor_value_info("ids", types.INT64, ["texts", "pieces"]),
         helper.make_tensor_value_info("positions", types.INT64, ["pieces"])],
        [helper.make_tensor_value_info("states", types.FLOAT, ["texts", "pieces", graph.dimensions])],
        list(graph.constants.values()),
    )  # fmt: skip
    model = helper.make_model(
        made, opset_imports=[helper.make_opsetid("", _OPSET)], producer_name="tesla-eval"
    )
    model.ir_version = _IR_VERSION
    graph.onnx.checker.check_model(model)
    content: bytes = model.SerializeToString(deterministic=True)
    return content


def reference_states(
    weights: Weights, architecture: Architecture, ids: npt.NDArray[np.int64], first_position: int = 0
) -> npt.NDArray[np.float64]:
    """The states of one text by the textbook, in double precision: what the graph is checked against."""
    from math import erf, sqrt

    error_function = np.frompyfunc(erf, 1, 1)

    def normalised(x: npt.NDArray[np.float64], name: str) -> npt.NDArray[np.float64]:
        centred = x - x.mean(axis=-1, keepdims=True)
        deviation = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + architecture.epsilon)
        found: npt.NDArray[np.float64] = (
            centred / deviation * weights[f"{name}.weight"] + weights[f"{name}.bias"]
        )
        return found

    def dense(x: npt.NDArray[np.float64], name: str) -> npt.NDArray[np.float64]:
        found: npt.NDArray[np.float64] = (
            x @ weights[f"{name}.weight"].T.astype(float) + weights[f"{name}.bias"]
        )
        return found

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
