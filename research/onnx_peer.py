"""The encoder as a graph for onnxruntime, the peer that core/encoder is measured against: the same layers and numbers.

Rows are rounded to 8 bits with one scale each, as the core rounds them. `n_speed.py` runs it where `onnx` and
`onnxruntime` are installed; nothing of the package needs it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tesla_eval.base.resources import Resource

_OPSET, _IR_VERSION = 20, 9
_LEVELS, _ZERO_POINT = 127, 128

States = list[npt.NDArray[np.float32]]


class _Graph:
    """Collects the nodes and constants of a graph."""

    def __init__(self, arrays: Mapping[str, npt.NDArray[Any]], heads: int, epsilon: float) -> None:
        import onnx

        self.onnx: Any = onnx
        self._arrays, self._heads, self._epsilon = arrays, heads, epsilon
        self.nodes: list[Any] = []
        self.constants: dict[str, Any] = {}
        self.dimensions = arrays["words"].shape[1]

    def constant(self, name: str, value: npt.NDArray[Any] | np.generic) -> str:
        if name not in self.constants:
            self.constants[name] = self.onnx.numpy_helper.from_array(np.array(value), name)
        return name

    def add(self, operator: str, *inputs: str, outputs: int = 1, **attributes: Any) -> list[str]:
        names = [f"{operator}{len(self.nodes)}.{k}" for k in range(outputs)]
        self.nodes.append(self.onnx.helper.make_node(operator, list(inputs), names, **attributes))
        return names

    def one(self, operator: str, *inputs: str, **attributes: Any) -> str:
        return self.add(operator, *inputs, **attributes)[0]

    def embeddings(self) -> str:
        arrays = self._arrays
        rows = self.one("Gather", self.constant("words", arrays["words"]), "ids")
        scales = self.one("Gather", self.constant("word scales", arrays["word_scales"][:, None]), "ids")
        words = self.one("Mul", self.one("Cast", rows, to=self.onnx.TensorProto.FLOAT), scales)
        placed = self.one("Gather", self.constant("places", arrays["places"]), "positions")
        return self.normalised(self.one("Add", words, placed), 0)

    def normalised(self, x: str, number: int) -> str:
        gamma, beta = (
            self.constant(f"norm {number} {k}", self._arrays["norms"][number, k]) for k in range(2)
        )
        return self.one("LayerNormalization", x, gamma, beta, axis=-1, epsilon=self._epsilon)

    def dense(self, x: str, part: str, layer: int) -> str:
        axis = self.constant("last axis", np.array([-1], np.int64))
        largest = self.one("ReduceMax", self.one("Abs", x), axis, keepdims=1)
        positive = self.one("Max", largest, self.constant("least", np.float32(1e-30)))
        row_scale = self.one("Mul", positive, self.constant("level", np.float32(1 / _LEVELS)))
        whole = self.one("Round", self.one("Div", x, row_scale))
        shifted = self.one("Add", whole, self.constant("zero", np.float32(_ZERO_POINT)))
        product = self.one(
            "MatMulInteger", self.one("Cast", shifted, to=self.onnx.TensorProto.UINT8),
            self.constant(f"{part} {layer}", self._arrays[part][layer]),
            self.constant("zero point", np.uint8(_ZERO_POINT)), self.constant("no zero point", np.int8(0)),
        )  # fmt: skip
        by_row = self.one("Mul", self.one("Cast", product, to=self.onnx.TensorProto.FLOAT), row_scale)
        scale, bias = (
            self.constant(f"{part}.{name} {layer}", self._arrays[f"{part}.{name}"][layer])
            for name in ("scale", "bias")
        )
        return self.one("Add", self.one("Mul", by_row, scale), bias)

    def layer(self, number: int, x: str) -> str:
        by_head = self.constant(
            "by head", np.array([0, 0, self._heads, self.dimensions // self._heads], np.int64)
        )
        query, key, value = (
            self.one("Transpose", self.one("Reshape", part, by_head), perm=order)
            for part, order in zip(
                self.add("Split", self.dense(x, "attention", number), outputs=3, axis=-1, num_outputs=3),
                ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]),
                strict=True,
            )
        )
        shares = self.one("Softmax", self.one("MatMul", query, key), axis=-1)
        context = self.one("Transpose", self.one("MatMul", shares, value), perm=[0, 2, 1, 3])
        whole = self.constant("whole", np.array([0, 0, self.dimensions], np.int64))
        attended = self.dense(self.one("Reshape", context, whole), "output", number)
        x = self.normalised(self.one("Add", attended, x), 1 + 2 * number)
        outer = self.dense(self.one("Gelu", self.dense(x, "inner", number)), "outer", number)
        return self.normalised(self.one("Add", outer, x), 2 + 2 * number)


def _content(resource: Resource) -> bytes:
    """The graph from `ids` (texts × pieces) and `positions` (pieces) to `states`."""
    info = resource.info
    graph = _Graph(resource.arrays, info["heads"], info["epsilon"])
    x = graph.embeddings()
    for number in range(info["layers"]):
        x = graph.layer(number, x)
    helper, types = graph.onnx.helper, graph.onnx.TensorProto
    graph.nodes.append(helper.make_node("Identity", [x], ["states"]))
    whole = helper.make_graph(
        graph.nodes, "encoder",
        [helper.make_tensor_value_info("ids", types.INT64, ["texts", "pieces"]),
         helper.make_tensor_value_info("positions", types.INT64, ["pieces"])],
        [helper.make_tensor_value_info("states", types.FLOAT, ["texts", "pieces", graph.dimensions])],
        list(graph.constants.values()),
    )  # fmt: skip
    model = helper.make_model(whole, opset_imports=[helper.make_opsetid("", _OPSET)])
    model.ir_version = _IR_VERSION
    content: bytes = model.SerializeToString()
    return content


def peer_of(resource: Resource) -> Callable[[Sequence[Sequence[int]]], States]:
    """Encodes texts, given as pieces, by onnxruntime on one thread; texts of equal length go together."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(_content(resource), options, providers=["CPUExecutionProvider"])
    begin, end = resource.info["begin"], resource.info["end"]

    def encode(texts: Sequence[Sequence[int]]) -> States:
        by_length: dict[int, list[int]] = {}
        for number, pieces in enumerate(texts):
            by_length.setdefault(len(pieces), []).append(number)
        states: States = [np.zeros((0, 0), np.float32)] * len(texts)
        for length, numbers in sorted(by_length.items()):
            ids = np.array([[begin, *texts[number], end] for number in numbers], np.int64)
            (batch_states,) = session.run(None, {"ids": ids, "positions": np.arange(length + 2)})
            for number, rows in zip(numbers, batch_states, strict=True):
                states[number] = rows[1:-1]
        return states

    return encode
