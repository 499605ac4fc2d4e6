"""ARPA, the text format that all language-model toolkits read."""

from __future__ import annotations

import gzip
import io
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

import numpy as np

from tesla_eval.resources import replacing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tesla_eval.lm.training import NgramBlock, TrainedModel

__all__ = ["write_arpa"]

_LOG_ZERO = -99.0
"""What ARPA writes for the logarithm of 0, the probability of a sentence's start."""


def write_arpa(path: Path, model: TrainedModel) -> None:
    """Write the model as ARPA, gzipped if the name says so; an interrupted build leaves nothing half-made."""
    order = model.settings.order
    with _written(path) as out:
        out.write("\\data\\\n")
        out.writelines(f"ngram {n}={model.ngrams(n)}\n" for n in range(1, order + 1))
        for n in range(1, order + 1):
            out.write(f"\n\\{n}-grams:\n")
            for block in model.blocks(n):
                out.writelines(_lines(block, model.words, with_backoff=n < order))
        out.write("\n\\end\\\n")


def _lines(block: NgramBlock, words: tuple[str, ...], *, with_backoff: bool) -> Iterator[str]:
    with np.errstate(divide="ignore"):
        logs = np.maximum(np.log10(block.probability), _LOG_ZERO).tolist()
    backoffs = np.log10(block.backoff).tolist()
    for key, log, backoff in zip(block.keys[:, ::-1].tolist(), logs, backoffs, strict=True):
        text = " ".join([words[number] for number in key])
        yield f"{log:.7g}\t{text}\t{backoff:.7g}\n" if with_backoff else f"{log:.7g}\t{text}\n"


@contextmanager
def _written(path: Path) -> Iterator[IO[str]]:
    """Text for `path`, gzipped if its name says so."""
    with replacing(path) as temporary, temporary.open("wb") as raw:
        if path.suffix == ".gz":
            # No name and no time inside: the same model gives the same bytes.
            packed = gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0)
            with packed, _text(packed) as out:
                yield out
        else:
            with _text(raw) as out:
                yield out


def _text(raw: IO[bytes] | gzip.GzipFile) -> IO[str]:
    return io.TextIOWrapper(cast("IO[bytes]", raw), encoding="utf-8", newline="\n")
