"""Texts to pieces: the same as the package `tokenizers` gives."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conftest import LAYERS, POSITIONS, SIZE, random_tensors, write_config, write_safetensors
from tesla_eval.base.errors import InputError
from tesla_eval_neural.building import build_encoder, opener_of, read_folder
from tesla_eval_neural.encoder import Encoder, load_encoder

tokenizers = pytest.importorskip("tokenizers")

LINES = (
    "Two men were arrested in Paris, and 3,000 weren't.",
    "Der Fluß führt Hochwasser – „naïve“ Übersetzer …",
    "El niño comió 12.5 € de jamón; ¿por qué?",
    "Это не так просто, как кажется!",
    "日本語と中文の混ざった text",
    "a\u0301e\u0300 ﬁne İstanbul ΣΑΣ",
    "tabs\tand\u00a0spaces \u200b zero-width",
    "don't   I'll we've  double  spaces ",
    "",
)


@pytest.fixture
def examples() -> list[str]:
    folder = Path(__file__).resolve().parents[3] / "examples"
    return [line for file in sorted(folder.glob("*.txt")) for line in file.read_text("utf-8").split("\n")]


def their_wordpiece(vocabulary: list[str]) -> object:
    theirs = tokenizers.Tokenizer(
        tokenizers.models.WordPiece({piece: k for k, piece in enumerate(vocabulary)}, unk_token="[UNK]")
    )
    theirs.normalizer = tokenizers.normalizers.BertNormalizer(lowercase=True)
    theirs.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    return theirs


def test_wordpieces_are_those_of_tokenizers(examples: list[str]) -> None:
    encoder = load_encoder("en")
    theirs = their_wordpiece(encoder.vocabulary)
    for line in (*LINES, *examples):
        assert encoder.pieces(line).ids == theirs.encode(line).ids, line  # type: ignore[attr-defined]


def test_spans_lead_back_to_the_words(examples: list[str]) -> None:
    encoder = load_encoder("en")
    for line in (*LINES, *examples):
        pieces = encoder.pieces(line)
        assert len(pieces.ids) == len(pieces.spans)
        for number, (start, end) in zip(pieces.ids, pieces.spans, strict=True):
            body = encoder.vocabulary[number].removeprefix("##")
            if line.isascii() and body != "[UNK]":
                assert body in line[start:end].lower()


def folder_with(tmp_path: Path, theirs: object, kind: str) -> Encoder:
    folder = tmp_path / kind
    folder.mkdir()
    theirs.save(str(folder / "tokenizer.json"))  # type: ignore[attr-defined]
    write_config(folder, kind, pad_token_id=1)
    pieces = theirs.get_vocab_size()  # type: ignore[attr-defined]
    write_safetensors(folder / "model.safetensors", random_tensors(pieces))
    read = read_folder(opener_of(folder), LAYERS)
    built = build_encoder(read, "de")
    assert read.first_position == 2 and len(built.arrays["places"]) == POSITIONS - 2
    return Encoder(built)


def test_unigrams_are_those_of_tokenizers(tmp_path: Path, examples: list[str]) -> None:
    theirs = tokenizers.Tokenizer(tokenizers.models.Unigram())
    theirs.normalizer = tokenizers.normalizers.NFKC()
    theirs.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace()
    trainer = tokenizers.trainers.UnigramTrainer(
        vocab_size=300,
        special_tokens=["<s>", "<pad>", "</s>", "<unk>"],
        unk_token="<unk>",
        show_progress=False,
    )
    theirs.train_from_iterator([*LINES, *examples], trainer)
    encoder = folder_with(tmp_path, theirs, "xlm-roberta")
    for line in (*examples, *LINES[:4], "unseen Ωmega words"):
        ours = encoder.pieces(" ".join(line.split()))
        assert ours.ids == theirs.encode(" ".join(line.split())).ids, line
        assert len(ours.ids) == len(ours.spans)


def test_byte_pairs_are_those_of_tokenizers(tmp_path: Path, examples: list[str]) -> None:
    theirs = tokenizers.Tokenizer(tokenizers.models.BPE(unk_token="<unk>"))
    theirs.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=400, special_tokens=["<s>", "<pad>", "</s>", "<unk>"], show_progress=False,
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
    )  # fmt: skip
    theirs.train_from_iterator([*LINES, *examples], trainer)
    encoder = folder_with(tmp_path, theirs, "roberta")
    for line in (*examples, *LINES):
        ours = encoder.pieces(line)
        assert ours.ids == theirs.encode(line).ids, line
        assert len(ours.ids) == len(ours.spans)
        assert all(0 <= start <= end <= len(line) for start, end in ours.spans)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"model": {"type": "WordLevel", "vocab": {}}}, "supported are"),
        ({"model": {"type": "WordPiece", "vocab": {"a": 0, "b": 2}}}, "gaps"),
        ({"model": {"type": "Unigram", "vocab": [["a", "x"]], "unk_id": 0}}, "not sound"),
        ({"model": {"type": "BPE", "vocab": {}, "merges": []}, "pre_tokenizer": None}, "byte pairs"),
        ([], "not sound"),
    ],
)
def test_an_unsound_tokenizer_file_is_refused(tiny_folder: Path, change: object, message: str) -> None:
    (tiny_folder / "tokenizer.json").write_text(json.dumps(change), "utf-8")
    with pytest.raises(InputError, match=message):
        read_folder(opener_of(tiny_folder), LAYERS)


def test_sizes_are_those_of_the_fixture() -> None:
    assert SIZE % 2 == 0
