"""A Hugging Face folder to an encoder's file: safetensors and tokenizer files are read as data, nothing is executed."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any, NamedTuple
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt

from tesla_eval.base.errors import InputError, ResourceError
from tesla_eval.base.resources import UNSTATED, Provenance, Resource, text_array
from tesla_eval.training.vectors import read_safetensors
from tesla_eval_neural.encoder import KIND, Encoder
from tesla_eval_neural.kinds import piece_kinds
from tesla_eval_neural.quantising import Architecture, encoder_arrays

__all__ = ["LAYERS", "Folder", "build_encoder", "is_tuned", "opener_of", "read_folder", "with_tuned_layers"]

LAYERS = 3
_LARGEST_TEXT = 64 << 20  # bytes; the tokenizer.json of a multilingual model has 17 million
_MOST_PIECES = 1 << 20
_TYPES = ("bert", "roberta", "xlm-roberta", "camembert", "xlm-roberta-xl")
_ACTIVATIONS = ("gelu", "gelu_python")
_OFFSET_POSITIONS = ("roberta", "xlm-roberta", "camembert")
"""The positions of these begin behind that of padding."""

Opener = Callable[[str], IO[bytes] | None]
"""Opens a file of a folder (or of an archive) by its name; `None` if it does not exist."""


class Folder(NamedTuple):
    """What a folder holds: the tensors of the first layers, their architecture, and the tokeniser."""

    weights: Mapping[str, npt.NDArray[np.float32]]
    architecture: Architecture
    first_position: int
    tokeniser: Mapping[str, Any]
    vocabulary: list[str]
    arrays: Mapping[str, npt.NDArray[Any]]
    """What the tokeniser needs beside its vocabulary."""
    begin: int
    end: int
    name: str = "the folder"


def opener_of(folder: Path) -> Opener:
    """Opens the files of a folder on disk."""
    return lambda name: (folder / name).open("rb") if (folder / name).is_file() else None


def _read_text(open_file: Opener, name: str) -> bytes | None:
    handle = open_file(name)
    if handle is None:
        return None
    with handle:
        content = handle.read(_LARGEST_TEXT + 1)
    if len(content) > _LARGEST_TEXT:
        raise InputError(f"{name}: has more than {_LARGEST_TEXT >> 20} MB")
    return content


def _read_json(open_file: Opener, name: str) -> Any:
    content = _read_text(open_file, name)
    if content is None:
        return None
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{name}: is not a JSON file") from error


def read_folder(open_file: Opener, layers: int = LAYERS, *, name: str = "the folder") -> Folder:
    """The first layers and the tokeniser of a model; `InputError` says what is missing or not supported."""
    config = _read_json(open_file, "config.json")
    if not isinstance(config, dict):
        raise InputError(f"{name}: has no config.json; give the folder of a Hugging Face model")
    kind = config.get("model_type")
    if kind not in _TYPES:
        raise InputError(f"{name}: is a model of type {kind!r}; supported are {', '.join(_TYPES)}")
    if config.get("hidden_act", "gelu") not in _ACTIVATIONS:
        raise InputError(f"{name}: has the activation {config['hidden_act']!r}; only gelu is supported")
    if config.get("position_embedding_type", "absolute") != "absolute":
        raise InputError(f"{name}: has positions that are not absolute, which are not supported")
    try:
        heads, available = int(config["num_attention_heads"]), int(config["num_hidden_layers"])
        epsilon = float(config.get("layer_norm_eps", 1e-12))
        padding = int(config.get("pad_token_id") or 0)
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{name}: config.json lacks required fields ({error})") from error
    if not 1 <= layers <= available:
        raise InputError(f"{name}: has {available} layers, not {layers}; give --layers from 1 to {available}")
    weights = _read_weights(open_file, layers, name)
    dimensions = weights["embeddings.word_embeddings.weight"].shape[1]
    if heads < 1 or dimensions % heads:
        raise InputError(f"{name}: {dimensions} dimensions do not fit {heads} heads")
    first = padding + 1 if kind in _OFFSET_POSITIONS else 0
    tokeniser, vocabulary, arrays, ends = _read_tokeniser(open_file, name)
    if len(vocabulary) > len(weights["embeddings.word_embeddings.weight"]):
        raise InputError(f"{name}: the vocabulary has more pieces than there are embeddings")
    return Folder(
        weights, Architecture(layers, heads, epsilon), first, tokeniser, vocabulary, arrays, *ends, name
    )  # fmt: skip


def _read_weights(open_file: Opener, layers: int, name: str) -> dict[str, npt.NDArray[np.float32]]:
    handle = open_file("model.safetensors")
    if handle is None:
        raise InputError(
            f"{name}: has no model.safetensors; convert other formats with the library they come from"
        )
    normalised = ["embeddings.LayerNorm"]
    dense = []
    for number in range(layers):
        layer = f"encoder.layer.{number}"
        dense += [f"{layer}.attention.self.{part}" for part in ("query", "key", "value")]
        dense += [f"{layer}.{part}.dense" for part in ("attention.output", "intermediate", "output")]
        normalised += [f"{layer}.attention.output.LayerNorm", f"{layer}.output.LayerNorm"]
    matrices = [f"embeddings.{part}_embeddings.weight" for part in ("word", "position", "token_type")]
    matrices += [f"{part}.weight" for part in dense]
    vectors = [f"{part}.bias" for part in dense] + [
        f"{part}.{w}" for part in normalised for w in ("weight", "bias")
    ]
    with handle:
        axes = {**dict.fromkeys(matrices, 2), **dict.fromkeys(vectors, 1)}
        weights = {
            tensor: read_safetensors(handle, "model.safetensors", tensor, axes=count) for tensor, count in axes.items()
        }  # fmt: skip
    for tensor, values in weights.items():
        if not np.isfinite(values).all():
            raise InputError(f"{name}: the tensor {tensor!r} holds numbers that are not finite")
    _check_shapes(weights, dense, name)
    return weights


def _check_shapes(weights: Mapping[str, npt.NDArray[np.float32]], dense: list[str], name: str) -> None:
    size = weights["embeddings.word_embeddings.weight"].shape[1]
    inner = len(weights["encoder.layer.0.intermediate.dense.weight"])  # all layers must have the same
    for part in dense:
        outputs = inner if part.endswith("intermediate.dense") else size
        inputs = inner if part.endswith(".output.dense") and "attention" not in part else size
        for tensor, shape in ((f"{part}.weight", (outputs, inputs)), (f"{part}.bias", (outputs,))):
            if weights[tensor].shape != shape:
                raise InputError(
                    f"{name}: the tensor {tensor} has the shape {weights[tensor].shape}, expected {shape}"
                )
    for tensor, values in weights.items():
        is_row = "LayerNorm" in tensor or tensor.startswith("embeddings.")
        if is_row and values.shape[-1] != size:
            raise InputError(f"{name}: the tensor {tensor} has the shape {values.shape}, which does not fit")


_Tokeniser = tuple[dict[str, Any], list[str], dict[str, npt.NDArray[Any]], tuple[int, int]]


def _read_tokeniser(open_file: Opener, name: str) -> _Tokeniser:
    """The tokeniser of tokenizer.json, or of vocab.txt where there is none."""
    document = _read_json(open_file, "tokenizer.json")
    try:
        if document is None:
            return _from_vocabulary(open_file, name)
        kind = document["model"].get("type") or ("BPE" if "merges" in document["model"] else "WordPiece")
        readers = {"WordPiece": _word_piece, "Unigram": _unigram, "BPE": _byte_pairs}
        if kind not in readers:
            raise InputError(f"{name}: has a tokeniser of type {kind!r}; supported are {', '.join(readers)}")
        return readers[kind](document)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise InputError(f"{name}: its tokenizer files are not sound ({error!r})") from error


def _ends(vocabulary: list[str], *choices: tuple[str, str]) -> tuple[int, int]:
    for begin, end in choices:
        if begin in vocabulary and end in vocabulary:
            return vocabulary.index(begin), vocabulary.index(end)
    raise ValueError("the vocabulary has no pieces for the beginning and the end of a text")


def _by_number(numbers: Mapping[str, int]) -> list[str]:
    if len(numbers) > _MOST_PIECES or sorted(numbers.values()) != list(range(len(numbers))):
        raise ValueError("the numbers of the pieces have gaps")
    return _checked(sorted(numbers, key=numbers.__getitem__))


def _checked(vocabulary: list[str]) -> list[str]:
    if not vocabulary or len(vocabulary) > _MOST_PIECES or any("\n" in piece for piece in vocabulary):
        raise ValueError("the vocabulary is empty or too large, or a piece holds a line break")
    return vocabulary


def _word_piece(document: Mapping[str, Any]) -> _Tokeniser:
    model, normaliser = document["model"], document.get("normalizer") or {}
    return _word_piece_of(
        _by_number(model["vocab"]), normaliser, model.get("unk_token", "[UNK]"),
        model.get("continuing_subword_prefix", "##"), int(model.get("max_input_chars_per_word", 100)),
    )  # fmt: skip


def _word_piece_of(
    vocabulary: list[str], normaliser: Mapping[str, Any], unknown: str, prefix: str, longest: int
) -> _Tokeniser:
    lowercase = bool(normaliser.get("lowercase", True))
    strips = normaliser.get("strip_accents")
    info = {
        "type": "wordpiece", "unknown": vocabulary.index(unknown), "lowercase": lowercase,
        "strip_accents": lowercase if strips is None else bool(strips),
        "ideographs": bool(normaliser.get("handle_chinese_chars", True)), "prefix": prefix, "longest_word": longest,
        "continues": prefix, "begins": "",
    }  # fmt: skip
    return info, vocabulary, {}, _ends(vocabulary, ("[CLS]", "[SEP]"))


def _from_vocabulary(open_file: Opener, name: str) -> _Tokeniser:
    content = _read_text(open_file, "vocab.txt")
    if content is None:
        raise InputError(f"{name}: has neither tokenizer.json nor vocab.txt")
    lines = content.decode("utf-8").split("\n")
    config = _read_json(open_file, "tokenizer_config.json") or {}
    normaliser = {
        "lowercase": config.get("do_lower_case", True), "strip_accents": config.get("strip_accents"),
        "handle_chinese_chars": config.get("tokenize_chinese_chars", True),
    }  # fmt: skip
    pieces = [line.rstrip("\r") for line in lines]
    return _word_piece_of(_checked(pieces[:-1] if not pieces[-1] else pieces), normaliser, "[UNK]", "##", 100)


def _unigram(document: Mapping[str, Any]) -> _Tokeniser:
    pieces = document["model"]["vocab"]
    vocabulary = _checked([str(piece) for piece, _ in pieces])
    scores = np.array([float(score) for _, score in pieces])
    if not np.isfinite(scores).all():
        raise ValueError("a score is not finite")
    info = {"type": "unigram", "unknown": int(document["model"]["unk_id"]), "begins": "▁", "continues": ""}
    return info, vocabulary, {"scores": scores}, _ends(vocabulary, ("<s>", "</s>"), ("[CLS]", "[SEP]"))


def _byte_pairs(document: Mapping[str, Any]) -> _Tokeniser:
    before = document.get("pre_tokenizer") or {}
    if before.get("type") != "ByteLevel":
        raise ValueError("only byte pairs over bytes, as RoBERTa has them, are supported")
    model = document["model"]
    vocabulary = _by_number(model["vocab"])
    merges = [pair if isinstance(pair, str) else " ".join(pair) for pair in model["merges"]]
    info = {
        "type": "bytepairs", "unknown": vocabulary.index(model.get("unk_token") or "<unk>"), "begins": "Ġ",
        "continues": "", "leading_space": bool(before.get("add_prefix_space", False)),
    }  # fmt: skip
    return info, vocabulary, {"merges": text_array("\n".join(merges))}, _ends(vocabulary, ("<s>", "</s>"))


def is_tuned(tensor: str) -> bool:
    """Whether tuning changes a tensor: the layers, and the normalisation of the embeddings."""
    return tensor.startswith(("encoder.layer.", "embeddings.LayerNorm."))


def with_tuned_layers(folder: Folder, path: Path) -> Folder:
    """The folder with the layers of an .npz file of `tune_encoder.py`; the embeddings stay those of the folder.

    A matrix `name` is stored whole, or as rows of 8-bit numbers `name.q` with one scale per row `name.s`.
    """
    weights = dict(folder.weights)
    try:
        with np.load(path, allow_pickle=False) as stored:
            for tensor, original in folder.weights.items():
                if not is_tuned(tensor):
                    continue
                rounded = f"{tensor}.q" in stored
                values = stored[f"{tensor}.q"] * stored[f"{tensor}.s"][:, None] if rounded else stored[tensor]
                if values.shape != original.shape or not np.isfinite(values).all():
                    raise ValueError(
                        f"the tensor {tensor} does not fit {folder.name} or holds numbers that are not finite"
                    )
                weights[tensor] = values.astype(np.float32)
    except (
        AttributeError,
        BadZipFile,
        EOFError,
        IndexError,
        KeyError,
        OSError,
        TypeError,
        ValueError,
    ) as error:
        raise InputError(f"{path}: holds no tuned layers for this model ({error})") from error
    return folder._replace(weights=weights)


def build_encoder(folder: Folder, language: str, provenance: Provenance = UNSTATED) -> Resource:
    """The encoder of a language as a resource to be written."""
    tokeniser = dict(folder.tokeniser)
    kinds = piece_kinds(
        folder.vocabulary, begins=tokeniser.pop("begins"), continues=tokeniser.pop("continues")
    )
    arrays = encoder_arrays(folder.weights, folder.architecture, folder.first_position)
    resource = Resource(
        kind=KIND, language=language, provenance=provenance,
        arrays={**arrays, "vocabulary": text_array("\n".join(folder.vocabulary)), "kinds": kinds, **folder.arrays},
        info={
            "layers": folder.architecture.layers, "dimensions": arrays["words"].shape[1],
            "heads": folder.architecture.heads, "inner": arrays["inner"].shape[2],
            "epsilon": folder.architecture.epsilon, "begin": folder.begin, "end": folder.end, "tokeniser": tokeniser,
        },
    )  # fmt: skip
    try:
        Encoder(resource).encode(["A text."])
    except ResourceError as error:
        raise InputError(f"{folder.name}: cannot become an encoder ({error.__cause__})") from error
    return resource
