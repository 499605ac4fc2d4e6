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
STORED_BITS = "48e4a9fd3ce3ebd2"
"""A hash of what `drawn_parameters` give, with every compiler and on every CPU; also in tests/core/stored_bits.h."""


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
    for kernel in _core.KERNELS:
        for ours, theirs in zip((states, means), encode(encoder, texts, kernel), strict=True):
            np.testing.assert_array_equal(ours, theirs)
    offsets = np.cumsum([0, *map(len, texts)]).tolist()
    for text, (start, end), mean in zip(texts, pairwise(offsets), means, strict=True):
        alone_states, (alone_mean,) = encode(encoder, [text])
        np.testing.assert_array_equal(alone_states, states[start:end])
        np.testing.assert_array_equal(alone_mean, mean)


def drawn_parameters() -> tuple[Parameters, list[list[int]]]:
    """The encoder and the texts of tests/core/encoder_test.cpp, drawn from whole numbers by the same generator."""
    state = 1

    def drawn(below: int) -> int:
        nonlocal state
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (state >> 33) % below

    def whole(largest: int, *shape: int) -> npt.NDArray[np.int8]:
        numbers = [drawn(2 * largest + 1) - largest for _ in range(math.prod(shape))]
        return np.array(numbers, np.int8).reshape(shape)

    def parts(unit: float, *shape: int) -> npt.NDArray[np.float32]:
        numbers = [drawn(255) - 127 for _ in range(math.prod(shape))]
        return np.float32(unit) * np.array(numbers, np.float32).reshape(shape)

    def dense(inputs: int, outputs: int) -> Dense:
        return (
            whole(63, layers, inputs, outputs),
            parts(0.0001, layers, outputs),
            parts(0.002, layers, outputs),
        )

    layers, size, inner, pieces = 2, 60, 100, 50
    parameters = Parameters(
        layers, size, 3, inner, whole(127, pieces, size), parts(0.001, pieces), parts(0.001, 40, size),
        parts(0.01, 1 + 2 * layers, 2, size), dense(size, 3 * size), dense(size, size), dense(size, inner),
        dense(inner, size),
    )  # fmt: skip
    return parameters, [[drawn(pieces) for _ in range(count)] for count in (0, 1, 7, 30, 38, 39, 100, 3)]


@pytest.mark.parametrize("kernel", ["", *_core.KERNELS])
def test_the_bits_of_the_installed_core_are_the_stored_ones(kernel: str) -> None:
    """Whatever compiler and options built it."""
    parameters, texts = drawn_parameters()
    states, means = encode(parameters.encoder(), texts, kernel)
    found = 14695981039346656037
    for value in (*states.view(np.uint8).reshape(-1).tolist(), *means.view(np.uint16).reshape(-1).tolist()):
        found = (found ^ value) * 1099511628211 % 2**64
    assert f"{found:016x}" == STORED_BITS


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
    assert _core.KERNELS[-1] == "portable"
    encoder = random_parameters(1, 2, 8, 20, 10, seed=1).encoder()
    with pytest.raises(ValueError, match="no kernel named"):
        encode(encoder, [[1]], "abacus")


GOOD = random_parameters(2, 2, 8, 20, 10, seed=1)


def changed(dense: Dense, part: int, value: float) -> Dense:
    arrays = [array.copy() for array in dense]
    arrays[part].reshape(-1)[-1] = value
    return arrays[0], arrays[1], arrays[2]


SHAPE, MODERATE = "a dense layer has another shape", "not finite, or larger than 10,000"
WEIGHT, POSITIONS = "not between -63 and 63", "the positions have another shape"
EMBEDDINGS, ENDS = "the embeddings have another shape", "the beginning or the end does not exist"
NORMS, FIT, EPSILONS = (
    "the normalisations have another shape",
    "do not fit the heads",
    "not between 1e-20 and 1",
)
BAD: dict[str, tuple[dict[str, Any], str]] = {
    "layers": ({"layers": 3}, NORMS), "no layers": ({"layers": 0}, "it has 0 layers; supported are 1 to 64"),
    "many layers": ({"layers": 2**40}, "it has 1099511627776 layers; supported are 1 to 64"),
    "heads": ({"heads": 3}, FIT), "no heads": ({"heads": 0}, "it has 0 heads; supported are 1 to 64"),
    "many heads": ({"heads": 128, "dimensions": 128}, "it has 128 heads; supported are 1 to 64"),
    "dimensions": ({"dimensions": 17}, FIT), "more dimensions": ({"dimensions": 18}, POSITIONS),
    "no dimensions": ({"dimensions": 0}, "it has 0 dimensions; supported are 1 to 1024"),
    "huge dimensions": ({"dimensions": 2**62}, "dimensions; supported are 1 to 1024"), "inner": ({"inner": 21}, SHAPE),
    "no inner": ({"inner": 0}, "it has 0 inner dimensions; supported are 1 to 16384"),
    "huge inner": ({"inner": 2**63}, "inner dimensions; supported are 1 to 16384"),
    "begin": ({"begin": PIECES}, ENDS), "end": ({"end": 2**32 - 1}, ENDS), "epsilon 0": ({"epsilon": 0.0}, EPSILONS),
    "epsilon NaN": ({"epsilon": math.nan}, EPSILONS), "epsilon": ({"epsilon": 1e300}, EPSILONS),
    "words": ({"words": GOOD.words[:-1]}, EMBEDDINGS), "scales": ({"word_scales": GOOD.word_scales[:-1]}, EMBEDDINGS),
    "no words": ({"words": GOOD.words[:0], "word_scales": GOOD.word_scales[:0]}, "it has 0 pieces; supported are 1 to"),
    "places": ({"places": GOOD.places.reshape(-1)[:-1]}, POSITIONS),
    "few places": ({"places": GOOD.places[:2]}, "it has 2 positions; supported are 3 to 8192"),
    "norms": ({"norms": GOOD.norms[:-1]}, NORMS),
    "infinite norm": ({"norms": np.full_like(GOOD.norms, np.inf)}, MODERATE),
    "NaN in places": ({"places": np.full_like(GOOD.places, np.nan)}, MODERATE),
    "large scales": ({"word_scales": np.full_like(GOOD.word_scales, 2e4)}, MODERATE),
    "weight": ({"output": changed(GOOD.output, 0, 64)}, WEIGHT),
    "lowest weight": ({"outer": changed(GOOD.outer, 0, -128)}, WEIGHT),
    "scale": ({"attention": changed(GOOD.attention, 1, math.nan)}, MODERATE),
    "bias": ({"inner_dense": changed(GOOD.inner_dense, 2, -1e5)}, MODERATE),
    "dense": ({"outer": GOOD.inner_dense, "inner_dense": GOOD.output}, SHAPE),
}  # fmt: skip


@pytest.mark.parametrize(("change", "message"), BAD.values(), ids=BAD.keys())
def test_unsound_parameters_are_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        replace(GOOD, **change).encoder()


LARGE = np.float32(1e4)


def grown(parameters: Parameters) -> Parameters:
    """All scales, biases and normalisations as large as they may be, and one sign of 63 per column."""

    def dense(layer: Dense) -> Dense:
        signs = np.broadcast_to(np.where(layer[0][:, :1] < 0, -63, 63), layer[0].shape)
        return (
            np.ascontiguousarray(signs, np.int8),
            np.full_like(layer[1], LARGE),
            np.full_like(layer[2], LARGE),
        )

    return replace(
        parameters, norms=np.full_like(parameters.norms, LARGE), places=np.full_like(parameters.places, LARGE),
        word_scales=np.full_like(parameters.word_scales, LARGE), attention=dense(parameters.attention),
        output=dense(parameters.output), inner_dense=dense(parameters.inner_dense), outer=dense(parameters.outer),
    )  # fmt: skip


def test_a_variance_that_overflows_leaves_beta() -> None:
    """Dense results stay finite for all parameters, but not their squares: such a row is beta, and never NaN."""
    parameters = grown(random_parameters(2, 4, 64, 300, 10, seed=3))
    beta = np.linspace(0.1 * LARGE, LARGE, 256, dtype=np.float32)
    parameters.norms[:, 1] = beta
    expected = np.rint(beta / LARGE * 127)
    exact = textbook_states(parameters, list(range(8)))
    assert np.abs(exact / LARGE - beta / LARGE).max() > 0.5  # in double precision nothing overflows
    for kernel in _core.KERNELS:
        states, means = encode(parameters.encoder(), [list(range(8))], kernel)
        np.testing.assert_array_equal(states, np.tile(expected, (8, 1)))
        np.testing.assert_allclose(means[0], beta / LARGE * _core.LARGEST_MEAN, atol=0.51)


def test_the_largest_parameters_give_finite_states() -> None:
    for shape in ((1, 1, 1, 1), (2, 2, 8, 20), (1, 1, 1024, 300), (1, 64, 16, 70)):
        parameters = grown(random_parameters(*shape, positions=10, seed=4))
        results = [encode(parameters.encoder(), [list(range(8))], kernel) for kernel in _core.KERNELS]
        for states, means in results:
            assert np.abs(states.astype(int)).max(axis=1).tolist() == [127] * 8
            np.testing.assert_array_equal(states, results[0][0])
            np.testing.assert_array_equal(means, results[0][1])


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
