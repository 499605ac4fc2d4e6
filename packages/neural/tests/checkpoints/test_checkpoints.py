"""Miniature checkpoints made with `transformers`: the same pieces as its tokenisers, states as near as 8 bits allow.

`make test-checkpoints` runs these in an environment of their own.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tesla_eval_neural.building import build_encoder, opener_of, read_folder
from tesla_eval_neural.encoder import Encoder

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
tokenizers = pytest.importorskip("tokenizers")
torch.set_num_threads(1)

TREEBANKS = Path(__file__).resolve().parents[5] / "shared" / "data" / "ud"
LANGUAGES = (
    "ar", "be", "cs", "de", "el", "en", "es", "fa", "fi", "fr", "he", "hi", "hr", "ja", "ko", "lt", "ru", "th", "tr",
    "zh",
)  # fmt: skip
LINES_PER_LANGUAGE = 500
SENTENCES = (
    "Two men were arrested in Paris, and 3,000 weren't.",
    "Der Fluß führt Hochwasser – „naïve“ Übersetzer …",
    "El niño comió 12,5 € de jamón; ¿por qué?",
    "Это не так просто, как кажется!",
    "日本語と中文の混ざった text です。",
    "इसमें कोई संदेह नहीं है।",
    "لا يوجد شك في ذلك.",
    "İstanbul'da ﬁne ΣΑΣ a\u0301e\u0300",
)
LAYERS = 2
SHAPE = {
    "hidden_size": 48, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 96,
    "max_position_embeddings": 80,
}  # fmt: skip
SPECIAL = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]


def treebank_lines() -> Iterator[str]:
    """The first sentences of 20 languages; the built-in ones where there are no treebanks."""
    if not TREEBANKS.is_dir():
        yield from SENTENCES
        return
    for language in LANGUAGES:
        with gzip.open(TREEBANKS / language / "train.conllu.gz", "rt", encoding="utf-8") as lines:
            text, count = "", 0
            for line in lines:
                columns = line.rstrip("\n").split("\t")
                if len(columns) > 1:
                    text += columns[1] + ("" if "SpaceAfter=No" in columns[-1] else " ")
                elif not line.strip() and text:
                    yield text.strip()
                    text, count = "", count + 1
                    if count == LINES_PER_LANGUAGE:
                        break


@pytest.fixture(scope="module")
def lines() -> list[str]:
    return [*SENTENCES, *treebank_lines()]


def word_pieces(lines: list[str]) -> Any:
    theirs = tokenizers.Tokenizer(tokenizers.models.WordPiece(unk_token="[UNK]"))
    theirs.normalizer = tokenizers.normalizers.BertNormalizer(lowercase=True)
    theirs.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    trainer = tokenizers.trainers.WordPieceTrainer(
        vocab_size=3000, special_tokens=special, show_progress=False
    )
    theirs.train_from_iterator(lines, trainer)
    return theirs


def unigrams(lines: list[str]) -> Any:
    theirs = tokenizers.Tokenizer(tokenizers.models.Unigram())
    theirs.normalizer = tokenizers.normalizers.NFKC()
    theirs.pre_tokenizer = tokenizers.pre_tokenizers.Sequence(
        [tokenizers.pre_tokenizers.WhitespaceSplit(), tokenizers.pre_tokenizers.Metaspace()]
    )
    trainer = tokenizers.trainers.UnigramTrainer(
        vocab_size=3000, special_tokens=SPECIAL, unk_token="<unk>", show_progress=False
    )
    theirs.train_from_iterator(lines, trainer)
    return theirs


def byte_pairs(lines: list[str]) -> Any:
    theirs = tokenizers.Tokenizer(tokenizers.models.BPE(unk_token="<unk>"))
    theirs.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=3000, special_tokens=SPECIAL, show_progress=False,
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
    )  # fmt: skip
    theirs.train_from_iterator(lines, trainer)
    return theirs


CHECKPOINTS: dict[str, tuple[Callable[[list[str]], Any], str, str]] = {
    "bert": (word_pieces, "BertConfig", "BertModel"),
    "xlm-roberta": (unigrams, "XLMRobertaConfig", "XLMRobertaModel"),
    "roberta": (byte_pairs, "RobertaConfig", "RobertaModel"),
}


@pytest.mark.parametrize("kind", CHECKPOINTS)
def test_a_checkpoint_becomes_an_encoder(kind: str, lines: list[str], tmp_path: Path) -> None:
    tokeniser_of, config_name, model_name = CHECKPOINTS[kind]
    theirs = tokeniser_of(lines[::4])
    theirs.save(str(tmp_path / "tokenizer.json"))
    torch.manual_seed(0)
    padding = theirs.token_to_id("[PAD]" if kind == "bert" else "<pad>")
    config = getattr(transformers, config_name)(
        vocab_size=theirs.get_vocab_size(), pad_token_id=padding, initializer_range=0.2, **SHAPE
    )
    model = getattr(transformers, model_name)(config, add_pooling_layer=False).eval()
    model.save_pretrained(tmp_path)
    folder = read_folder(opener_of(tmp_path), LAYERS)
    encoder = Encoder(build_encoder(folder, "en"))

    different = [line for line in lines if encoder.pieces(line).ids != theirs.encode(line).ids]
    assert not different[:5], f"{len(different)} of {len(lines)} lines"

    cosines = []
    for line in lines[:: max(1, len(lines) // 100)]:
        ids = theirs.encode(line).ids[: SHAPE["max_position_embeddings"] - 8]
        whole = torch.tensor([[folder.begin, *ids, folder.end]])
        with torch.no_grad():
            exact = model(whole, output_hidden_states=True).hidden_states[LAYERS][0, 1:-1].numpy()
        states, _ = encoder.encode_pieces(np.array([0, len(ids)]), np.array(ids, np.uint32))
        ours = states.astype(float)
        lengths = np.linalg.norm(exact, axis=1) * np.linalg.norm(ours, axis=1)
        cosines += ((exact * ours).sum(axis=1) / lengths).tolist()
    assert np.mean(cosines) > 0.998 and np.min(cosines) > 0.98
