"""The core's encoder (specification §8c), against a plain version in double precision; the same bits everywhere."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tesla_eval import _core

Dense = tuple[npt.NDArray[np.int8], npt.NDArray[np.float32], npt.NDArray[np.float32]]
PIECES, BEGIN, END = 30, 1, 2
EPSILON = 1e-12


@dataclass(frozen=True)
class Parameters:
    """A random encoder: shapes, then arrays for all layers as in its file."""

    layers: int
    dimensions: int
    heads: int
    inner: int
    words: npt.NDArray[np.int8]
    word_scales: npt.NDArray[np.float32]
    places: npt.NDArray[np.float32]
    norms: npt.NDArray[np.float32]
    attention: Dense
    output: Dense
    inner_dense: Dense
    outer: Dense
    epsilon: float = EPSILON
    begin: int = BEGIN
    end: int = END

    def encoder(self) -> _core.StateEncoder:
        def flat(dense: Dense) -> Dense:
            weights, scale, bias = dense
            return weights.reshape(-1), scale.reshape(-1), bias.reshape(-1)

        return _core.StateEncoder(
            self.layers, self.dimensions, self.heads, self.inner, self.epsilon, self.begin, self.end,
            self.words.reshape(-1), self.word_scales, self.places.reshape(-1), self.norms.reshape(-1),
            flat(self.attention), flat(self.output), flat(self.inner_dense), flat(self.outer),
        )  # fmt: skip


def random_parameters(
    layers: int, heads: int, head_size: int, inner: int, positions: int, seed: int
) -> Parameters:
    draw = np.random.default_rng(seed)
    size = heads * head_size

    def floats(*shape: int, around: float = 0.0) -> npt.NDArray[np.float32]:
        return (around + draw.normal(0, 0.2, shape)).astype(np.float32)

    def dense(inputs: int, outputs: int) -> Dense:
        weights = draw.integers(-63, 64, (layers, inputs, outputs)).astype(np.int8)
        scale = (draw.uniform(0.5, 2, (layers, outputs)) / 63 / math.sqrt(inputs)).astype(np.float32)
        return weights, scale, floats(layers, outputs)

    norms = np.stack([floats(1 + 2 * layers, size, around=1.0), floats(1 + 2 * layers, size)], axis=1)
    return Parameters(
        layers, size, heads, inner, draw.integers(-127, 128, (PIECES, size)).astype(np.int8),
        draw.uniform(0.001, 0.02, PIECES).astype(np.float32), floats(positions, size), norms,
        dense(size, 3 * size), dense(size, size), dense(size, inner), dense(inner, size),
    )  # fmt: skip


def rounded_rows(x: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Rows with the 8 bits that the encoder gives them."""
    scale = np.maximum(np.abs(x).max(axis=1, keepdims=True), 1e-30) / 127
    return np.rint(x / scale) * scale


def textbook_states(given: Parameters, pieces: list[int]) -> npt.NDArray[np.float64]:
    """The states of one window in double precision, with the same rounding to 8 bits."""
    erf = np.vectorize(math.erf, otypes=[float])

    def normalised(x: npt.NDArray[np.float64], number: int) -> npt.NDArray[np.float64]:
        centred = x - x.mean(axis=1, keepdims=True)
        deviation = np.sqrt((centred**2).mean(axis=1, keepdims=True) + EPSILON)
        return centred / deviation * given.norms[number, 0] + given.norms[number, 1]

    def dense(x: npt.NDArray[np.float64], layer: Dense, number: int) -> npt.NDArray[np.float64]:
        weights, scale, bias = (array[number].astype(float) for array in layer)
        return rounded_rows(x) @ (weights * scale) + bias

    ids = [BEGIN, *pieces, END]
    x = given.words[ids] * given.word_scales[ids, None].astype(float) + given.places[: len(ids)]
    x = normalised(x, 0)
    for number in range(given.layers):
        joined = dense(x, given.attention, number).reshape(len(ids), 3, given.heads, -1)
        query, key, value = joined.transpose(1, 2, 0, 3)
        logits = query @ key.swapaxes(1, 2)
        shares = np.exp(logits - logits.max(axis=2, keepdims=True))
        shares /= shares.sum(axis=2, keepdims=True)
        context = (shares @ value).swapaxes(0, 1).reshape(len(ids), -1)
        x = normalised(dense(context, given.output, number) + x, 1 + 2 * number)
        inner = dense(x, given.inner_dense, number)
        inner = 0.5 * inner * (1 + erf(inner / math.sqrt(2)))
        x = normalised(dense(inner, given.outer, number) + x, 2 + 2 * number)
    return x[1:-1]


def encode(
    encoder: _core.StateEncoder, texts: list[list[int]], kernel: str = ""
) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.int16]]:
    offsets = np.cumsum([0, *map(len, texts)], dtype=np.int64)
    return encoder.encode(offsets, np.array([piece for text in texts for piece in text], np.uint32), kernel)


encoders = st.builds(
    random_parameters,
    layers=st.integers(1, 3), heads=st.integers(1, 4), head_size=st.integers(1, 40), inner=st.integers(1, 150),
    positions=st.integers(3, 60), seed=st.integers(0, 2**32),
)  # fmt: skip
many_texts = st.lists(st.lists(st.integers(0, PIECES - 1), max_size=80), max_size=6)


@given(
    st.builds(
        random_parameters, layers=st.integers(1, 2), heads=st.integers(1, 4), head_size=st.integers(4, 40),
        inner=st.integers(20, 150), positions=st.just(30), seed=st.integers(0, 2**32),
    ),
    st.lists(st.integers(0, PIECES - 1), min_size=1, max_size=28),
)  # fmt: skip
@settings(max_examples=60, deadline=None)
def test_states_are_those_of_the_textbook(parameters: Parameters, pieces: list[int]) -> None:
    states, means = encode(parameters.encoder(), [pieces])
    exact = textbook_states(parameters, pieces)
    # Where a number lies between two whole ones, single precision may round it to the other: hence not quite equal.
    cosines = (
        (states * exact).sum(axis=1)
        / np.linalg.norm(states.astype(float), axis=1)
        / np.linalg.norm(exact, axis=1)
    )
    assert cosines.min() > 0.999
    assert np.abs(states.astype(int)).max(axis=1).tolist() == [127] * len(pieces)
    mean = exact.mean(axis=0)
    assert (means[0] @ mean) / np.linalg.norm(means[0].astype(float)) / np.linalg.norm(mean) > 0.999
    assert np.abs(means).max() == _core.LARGEST_MEAN


@given(encoders, many_texts)
@settings(max_examples=60, deadline=None)
def test_every_kernel_and_every_batch_give_the_same_bits(
    parameters: Parameters, texts: list[list[int]]
) -> None:
    encoder = parameters.encoder()
    states, means = encode(encoder, texts)
    for kernel in _core.ENCODER_KERNELS:
        for ours, theirs in zip((states, means), encode(encoder, texts, kernel), strict=True):
            np.testing.assert_array_equal(ours, theirs)
    offsets = np.cumsum([0, *map(len, texts)]).tolist()
    for text, (start, end), mean in zip(texts, pairwise(offsets), means, strict=True):
        alone_states, (alone_mean,) = encode(encoder, [text])
        np.testing.assert_array_equal(alone_states, states[start:end])
        np.testing.assert_array_equal(alone_mean, mean)


def test_threads_share_an_encoder() -> None:
    encoder = random_parameters(2, 3, 20, 100, 40, seed=5).encoder()
    texts = [[(7 * k + i) % PIECES for i in range(k)] for k in range(40)]
    expected = [encode(encoder, [text]) for text in texts]
    with ThreadPoolExecutor(4) as pool:
        for (states, means), (other_states, other_means) in zip(
            expected, pool.map(lambda text: encode(encoder, [text]), texts), strict=True
        ):
            np.testing.assert_array_equal(states, other_states)
            np.testing.assert_array_equal(means, other_means)


def test_a_long_text_is_read_in_windows_of_about_equal_size() -> None:
    encoder = random_parameters(1, 2, 8, 20, positions=10, seed=1).encoder()
    text = [k % PIECES for k in range(21)]  # 8 fit: windows of 7
    states, (mean,) = encode(encoder, [text])
    parts, _ = encode(encoder, [text[:7], text[7:14], text[14:]])
    np.testing.assert_array_equal(states, parts)
    assert np.abs(mean).max() == _core.LARGEST_MEAN


def test_a_text_without_pieces_has_no_states() -> None:
    states, means = encode(random_parameters(1, 2, 8, 20, 10, seed=1).encoder(), [[], [3], []])
    assert states.shape == (1, 16)
    assert not means[[0, 2]].any() and means[1].any()


def test_the_kernels_have_names() -> None:
    assert _core.ENCODER_KERNELS[-1] == "portable"
    encoder = random_parameters(1, 2, 8, 20, 10, seed=1).encoder()
    with pytest.raises(ValueError, match="no kernel named"):
        encode(encoder, [[1]], "abacus")


GOOD = random_parameters(2, 2, 8, 20, 10, seed=1)


def changed(dense: Dense, part: int, value: float) -> Dense:
    arrays = [array.copy() for array in dense]
    arrays[part].reshape(-1)[-1] = value
    return arrays[0], arrays[1], arrays[2]


BAD: dict[str, dict[str, Any]] = {
    "layers": {"layers": 3}, "no layers": {"layers": 0}, "many layers": {"layers": 2**40}, "heads": {"heads": 3},
    "no heads": {"heads": 0}, "dimensions": {"dimensions": 17}, "no dimensions": {"dimensions": 0},
    "huge dimensions": {"dimensions": 2**62}, "inner": {"inner": 21}, "no inner": {"inner": 0},
    "huge inner": {"inner": 2**63}, "begin": {"begin": PIECES}, "end": {"end": 2**32 - 1},
    "epsilon 0": {"epsilon": 0.0}, "epsilon NaN": {"epsilon": math.nan}, "epsilon": {"epsilon": 1e300},
    "words": {"words": GOOD.words[:-1]}, "scales": {"word_scales": GOOD.word_scales[:-1]},
    "no words": {"words": GOOD.words[:0], "word_scales": GOOD.word_scales[:0]},
    "places": {"places": GOOD.places.reshape(-1)[:-1]}, "few places": {"places": GOOD.places[:2]},
    "norms": {"norms": GOOD.norms[:-1]}, "infinite norm": {"norms": np.full_like(GOOD.norms, np.inf)},
    "NaN in places": {"places": np.full_like(GOOD.places, np.nan)},
    "large scales": {"word_scales": np.full_like(GOOD.word_scales, 2e4)},
    "weight": {"output": changed(GOOD.output, 0, 64)}, "lowest weight": {"outer": changed(GOOD.outer, 0, -128)},
    "scale": {"attention": changed(GOOD.attention, 1, math.nan)},
    "bias": {"inner_dense": changed(GOOD.inner_dense, 2, -1e5)},
    "dense": {"outer": GOOD.inner_dense, "inner_dense": GOOD.output},
}  # fmt: skip


@pytest.mark.parametrize("change", BAD.values(), ids=BAD.keys())
def test_unsound_parameters_are_refused(change: dict[str, Any]) -> None:
    with pytest.raises((ValueError, TypeError)):
        replace(GOOD, **change).encoder()


def test_the_largest_parameters_give_no_overflow() -> None:
    """Products of the largest numbers stay finite, so no state is garbage: every row has a largest number."""
    large = np.float32(1e4)

    def grown(dense: Dense) -> Dense:
        return (
            np.where(dense[0] < 0, -63, 63).astype(np.int8),
            np.full_like(dense[1], large),
            dense[2] * 0 + large,
        )

    for kernel in _core.ENCODER_KERNELS:
        parameters = replace(
            GOOD, norms=GOOD.norms * 0 + large, places=GOOD.places * 0 + large,
            word_scales=GOOD.word_scales * 0 + large, attention=grown(GOOD.attention), output=grown(GOOD.output),
            inner_dense=grown(GOOD.inner_dense), outer=grown(GOOD.outer),
        )  # fmt: skip
        states, _ = encode(parameters.encoder(), [list(range(8))], kernel)
        assert np.abs(states.astype(int)).max(axis=1).tolist() == [127] * 8


@pytest.mark.parametrize(
    ("offsets", "pieces", "error"),
    [([0, 2], [1, PIECES], IndexError), ([0, 3], [1, 2], ValueError), ([], [], ValueError),
     ([0, 2, 1, 2], [1, 2], ValueError)],
)  # fmt: skip
def test_pieces_that_do_not_exist_are_refused(
    offsets: list[int], pieces: list[int], error: type[Exception]
) -> None:
    with pytest.raises(error):
        GOOD.encoder().encode(np.array(offsets, np.int64), np.array(pieces, np.uint32))
