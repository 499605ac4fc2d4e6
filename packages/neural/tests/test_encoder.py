"""The encoder: near to the textbook, the same in every batch, windows for long texts, hostile files refused."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import LAYERS, POSITIONS, VOCABULARY, Shape, random_tensors, write_config, write_safetensors
from reference_states import reference_states
from tesla_eval._core import MOST_PIECES
from tesla_eval.base.errors import InputError, ResourceError
from tesla_eval.base.resources import Resource, read_resource, write_resource
from tesla_eval_neural import encoder as encoder_module
from tesla_eval_neural.building import Folder, build_encoder, opener_of, read_folder
from tesla_eval_neural.encoder import Encoder, load_encoder, shipped_file
from tesla_eval_neural.kinds import piece_kinds
from tesla_eval_neural.quantising import DENSE, Architecture, encoder_arrays

TOKENISER = {
    "type": "wordpiece", "unknown": VOCABULARY.index("[UNK]"), "lowercase": True, "strip_accents": True,
    "ideographs": True, "prefix": "##", "longest_word": 100, "continues": "##", "begins": "",
}  # fmt: skip
TEXTS = ("Two men were arrested in Paris.", "The men were not detained!", "unhappy", "two two two", "?", "")


@pytest.fixture
def folder(tiny_folder: Path) -> Folder:
    return read_folder(opener_of(tiny_folder), LAYERS)


@pytest.fixture
def tiny(folder: Folder) -> Resource:
    return build_encoder(folder, "en")


def unit(rows: np.ndarray) -> np.ndarray:
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def test_states_are_near_to_those_of_the_textbook(folder: Folder, tiny: Resource) -> None:
    encoder = Encoder(tiny)
    for text in TEXTS[:5]:
        ids = np.array(encoder.pieces(text).ids)
        exact = reference_states(
            folder.weights, folder.architecture, np.concatenate([[folder.begin], ids, [folder.end]])
        )
        (encoded,) = encoder.encode([text])
        assert (unit(exact[1:-1]) * unit(encoded.states.astype(float))).sum(axis=1).min() > 0.98


def test_the_shipped_encoder_is_small_and_knows_its_source() -> None:
    path = shipped_file("encoder-en.tesla")
    assert path.stat().st_size < 20_000_000
    resource = read_resource(path, "encoder")
    assert "all-MiniLM-L6-v2" in resource.provenance.sources[0]
    assert resource.provenance.licence == "Apache-2.0"


def test_the_kinds_of_the_shipped_encoder_are_those_of_its_vocabulary() -> None:
    resource = read_resource(shipped_file("encoder-en.tesla"), "encoder")
    vocabulary = resource.text("vocabulary").split("\n")
    np.testing.assert_array_equal(resource.arrays["kinds"], piece_kinds(vocabulary, continues="##"))


def test_a_text_has_the_same_states_in_every_batch_and_thread() -> None:
    path = shipped_file("encoder-en.tesla")
    lines = [
        line
        for file in sorted((Path(__file__).resolve().parents[3] / "examples").glob("*.txt"))
        for line in file.read_text("utf-8").split("\n")
    ]
    alone = Encoder(read_resource(path))
    expected = [alone.encode([line])[0] for line in lines]
    together = Encoder(read_resource(path)).encode(lines)
    shared = Encoder(read_resource(path))
    with ThreadPoolExecutor(4) as pool:
        threaded = [
            one for part in pool.map(lambda line: shared.encode([line, lines[0]]), lines) for one in part[:1]
        ]
    for one, other, third in zip(expected, together, threaded, strict=True):
        for a, b, c in zip(one, other, third, strict=True):
            np.testing.assert_array_equal(a, b)
            np.testing.assert_array_equal(a, c)


def test_each_distinct_text_is_encoded_once(tiny: Resource, monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = Encoder(tiny)
    encoded: list[int] = []
    run = Encoder.encode_pieces
    monkeypatch.setattr(
        Encoder, "encode_pieces", lambda self, *given: encoded.append(len(given[0]) - 1) or run(self, *given)
    )
    encoder.encode([*TEXTS, *TEXTS])
    encoder.encode(TEXTS)
    assert sum(encoded) == len(TEXTS)


def test_the_cache_is_bounded(tiny: Resource, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoder_module, "_CACHE_BYTES", 200)
    encoder = Encoder(tiny)
    first = encoder.encode(TEXTS)
    assert encoder._cached_bytes <= 200
    for a, b in zip(first, encoder.encode(TEXTS), strict=True):
        np.testing.assert_array_equal(a.states, b.states)


def test_a_long_text_is_read_window_by_window(tiny: Resource) -> None:
    encoder = Encoder(tiny)
    (encoded,) = encoder.encode(["two men " * POSITIONS])
    assert len(encoded.kinds) == 2 * POSITIONS
    assert np.abs(encoded.states.astype(int)).max(axis=1).tolist() == [127] * (2 * POSITIONS)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("begin", 999),
        ("end", -1),
        ("tokeniser", {"type": "other", "unknown": 0}),
        ("dimensions", "many"),
        ("dimensions", 17),
        ("layers", 10**30),
        ("heads", 3),
        ("heads", None),
        ("inner", 0),
        ("epsilon", float("nan")),
    ],
)
def test_an_unsound_header_is_refused(tiny: Resource, field: str, value: object) -> None:
    with pytest.raises(ResourceError, match="not a sound encoder"):
        Encoder(replace(tiny, info={**tiny.info, field: value}))


PARAMETERS = ("words", "word_scales", "places", "norms", *(
    f"{part}{suffix}" for part in DENSE for suffix in ("", ".scale", ".bias")
))  # fmt: skip


@pytest.mark.parametrize("name", PARAMETERS)
def test_unsound_parameters_are_refused(tiny: Resource, name: str) -> None:
    array = tiny.arrays[name]
    flat = array.reshape(-1)
    other_type = array.astype(np.uint8 if array.dtype == np.int8 else np.float64)
    bad = [flat[:-1], flat[:0], np.concatenate([flat, flat[:1]]), other_type]
    if array.dtype == np.float32:
        bad += [np.full_like(array, value) for value in (np.nan, np.inf, -1e30)]
    elif name != "words":
        bad.append(np.full_like(array, -128))
    for values in bad:
        with pytest.raises(ResourceError, match="not a sound encoder"):
            Encoder(replace(tiny, arrays={**tiny.arrays, name: values}))
    with pytest.raises(ResourceError, match="not a sound encoder"):
        Encoder(replace(tiny, arrays={key: value for key, value in tiny.arrays.items() if key != name}))


def test_pieces_without_embeddings_are_refused(tiny: Resource) -> None:
    fewer = {name: tiny.arrays[name][:-1] for name in ("words", "word_scales")}
    with pytest.raises(ResourceError, match="fewer embeddings than pieces"):
        Encoder(replace(tiny, arrays={**tiny.arrays, **fewer}))


def nearness(heads: int, head_size: int, inner: int, layers: int, seed: int) -> float:
    """The median cosine of a random encoder's states with those of its weights before they were rounded."""
    shape = Shape(size=heads * head_size, inner=inner, layers=layers, positions=12)
    weights = random_tensors(len(VOCABULARY), seed, shape)
    architecture = Architecture(layers, heads, 1e-12)
    folder = Folder(
        weights, architecture, 0, TOKENISER, list(VOCABULARY), {}, VOCABULARY.index("[CLS]"), VOCABULARY.index("[SEP]")
    )  # fmt: skip
    encoder = Encoder(build_encoder(folder, "en"))
    ids = np.array(encoder.pieces(TEXTS[0]).ids)
    exact = reference_states(weights, architecture, np.concatenate([[folder.begin], ids, [folder.end]]))[1:-1]
    (encoded,) = encoder.encode([TEXTS[0]])
    assert encoded.states.shape == exact.shape
    return float(np.median((unit(exact) * unit(encoded.states.astype(float))).sum(axis=1)))


@given(st.integers(1, 4), st.integers(1, 24), st.integers(1, 70), st.integers(1, 3), st.integers(0, 99))
@settings(max_examples=25, deadline=None)
def test_encoders_of_other_sizes(heads: int, head_size: int, inner: int, layers: int, seed: int) -> None:
    """Rounding seldom turns the states of a random encoder far, but it may: nearness is tested over many of them."""
    assert -1 <= nearness(heads, head_size, inner, layers, seed) < 1 + 1e-9


def test_encoders_of_other_sizes_are_near_to_the_textbook() -> None:
    draw = np.random.default_rng(1)
    drawn = [
        nearness(
            *(int(draw.integers(low, high + 1)) for low, high in ((1, 4), (16, 24), (1, 70), (1, 3), (0, 99)))
        )
        for _ in range(100)
    ]
    assert np.median(drawn) > 0.998
    assert np.percentile(drawn, 5) > 0.99


def test_a_file_of_another_kind_is_refused(tmp_path: Path, tiny: Resource) -> None:
    path = tmp_path / "other.tesla"
    write_resource(path, replace(tiny, kind="vectors"))
    with pytest.raises(ResourceError, match="is a vectors, not a encoder"):
        load_encoder("en", path)


def test_a_language_without_an_encoder_says_how_to_make_one() -> None:
    with pytest.raises(ResourceError, match="tesla train encoder -l de"):
        load_encoder("de")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"model_type": "t5"}, "supported are"),
        ({"hidden_act": "relu"}, "only gelu"),
        ({"position_embedding_type": "relative_key"}, "absolute"),
        ({"num_attention_heads": 3}, "do not fit 3 heads"),
        ({"num_hidden_layers": None}, "lacks required fields"),
        ({"num_hidden_layers": 1}, "has 1 layers"),
    ],
)
def test_an_unsupported_model_is_refused(tiny_folder: Path, change: dict[str, object], message: str) -> None:
    write_config(tiny_folder, **{"kind": "bert", **change} if "model_type" not in change else {"kind": "t5"})
    with pytest.raises(InputError, match=message):
        read_folder(opener_of(tiny_folder), LAYERS)


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "vocab.txt"])
def test_a_missing_file_is_named(tiny_folder: Path, name: str) -> None:
    (tiny_folder / name).unlink()
    with pytest.raises(InputError, match=name):
        read_folder(opener_of(tiny_folder), LAYERS)


def test_tensors_that_do_not_fit_are_refused(tiny_folder: Path) -> None:
    tensors = random_tensors(len(VOCABULARY))
    for name, values, message in (
        (
            "encoder.layer.0.output.dense.weight",
            np.ones((16, 30)),
            r"output\.dense.*\(16, 30\), expected \(16, 32\)",
        ),
        (
            "encoder.layer.0.intermediate.dense.bias",
            np.ones(31),
            r"intermediate\.dense\.bias .*expected \(32,\)",
        ),
        ("encoder.layer.1.attention.self.key.weight", np.ones((16, 8)), r"key\.weight .*expected \(16, 16\)"),
        ("embeddings.LayerNorm.bias", np.ones(15), "does not fit"),
        ("encoder.layer.1.attention.self.key.bias", np.full(16, np.nan), "not finite"),
        ("embeddings.word_embeddings.weight", np.ones((3, 16)), "more pieces than"),
    ):
        write_safetensors(tiny_folder / "model.safetensors", {**tensors, name: values})
        with pytest.raises(InputError, match=message):
            read_folder(opener_of(tiny_folder), LAYERS)


def test_layers_of_different_inner_widths_are_refused(tiny_folder: Path) -> None:
    tensors = random_tensors(len(VOCABULARY))
    layer = "encoder.layer.1"
    wider = {
        f"{layer}.intermediate.dense.weight": np.ones((48, 16)), f"{layer}.intermediate.dense.bias": np.ones(48),
        f"{layer}.output.dense.weight": np.ones((16, 48)),
    }  # fmt: skip
    write_safetensors(tiny_folder / "model.safetensors", {**tensors, **wider})
    with pytest.raises(InputError, match=r"^tiny: .*layer\.1\.intermediate.*\(48, 16\), expected \(32, 16\)"):
        read_folder(opener_of(tiny_folder), LAYERS, name="tiny")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"heads": 128, "size": 128}, "it has 128 heads; supported are 1 to 64"),
        ({"size": 1040}, "it has 1040 dimensions; supported are 1 to 1024"),
        ({"epsilon": 2.0}, "epsilon is not between"),
    ],
)
def test_a_folder_that_the_core_refuses_is_named(change: dict[str, float], message: str) -> None:
    weights = random_tensors(len(VOCABULARY), 1, Shape(size=int(change.get("size", 16)), layers=1))
    architecture = Architecture(1, int(change.get("heads", 2)), change.get("epsilon", 1e-12))
    folder = Folder(weights, architecture, 0, TOKENISER, list(VOCABULARY), {}, 2, 3, "some/folder")
    with pytest.raises(InputError, match=f"^some/folder: .*{message}") as refused:
        build_encoder(folder, "en")
    assert "rebuild" not in str(refused.value)


def test_columns_that_are_almost_0_become_0(folder: Folder) -> None:
    """Their scale would have too few bits: a division by it could exceed 8 bits."""
    name = "encoder.layer.0.intermediate.dense.weight"
    weights = {**folder.weights, name: folder.weights[name].copy()}
    weights[name][0] = 1e-43
    weights[name][1] = 1e-20
    arrays = encoder_arrays(weights, folder.architecture)
    assert not arrays["inner"][0, :, 0].any() and arrays["inner.scale"][0, 0] == 1.0
    assert (arrays["inner"][0, :, 1] == 63).all()
    np.testing.assert_array_equal(
        arrays["inner"][0, :, 2:], encoder_arrays(folder.weights, folder.architecture)["inner"][0, :, 2:]
    )


def test_a_text_with_too_many_pieces_is_refused_before_it_is_encoded(
    tiny: Resource, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder = Encoder(tiny)
    (longest,) = encoder.encode(["two " * MOST_PIECES])
    assert len(longest.kinds) == MOST_PIECES
    encoder = Encoder(tiny)
    monkeypatch.setattr(Encoder, "encode_pieces", lambda *_: pytest.fail("is encoded"))
    for run in (encoder.encode, encoder.prepare):
        with pytest.raises(InputError, match="more than 16,384 pieces of words: split it"):
            run(["two men", "two " * (MOST_PIECES + 1)])
    assert not encoder._cache
