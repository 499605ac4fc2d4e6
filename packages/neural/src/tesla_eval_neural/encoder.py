"""The encoder: pieces of words to states in their context, each distinct text once (specification §8c).

The arithmetic is that of core/encoder: a text has the same states on every machine and in every batch. A text that is
longer than the encoder can read is encoded window by window.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tesla_eval.base.errors import InputError, ResourceError
from tesla_eval.base.forking import new_lock
from tesla_eval.base.resources import SUFFIX, Resource, find_resource, missing_resource, read_resource
from tesla_eval.matching.kernels import MOST_PIECES, StateEncoder, StateTexts
from tesla_eval_neural.kinds import PIECE_KINDS
from tesla_eval_neural.pieces import Pieces, tokeniser_of
from tesla_eval_neural.quantising import DENSE

__all__ = ["KIND", "Encoded", "Encoder", "find_encoder", "load_encoder", "shipped_file"]

KIND = "encoder"
_CACHE_BYTES = 256 << 20


class Encoded(NamedTuple):
    """One text: the kind of each piece, its state in 8-bit numbers, and the mean of the states."""

    kinds: npt.NDArray[np.uint8]
    states: npt.NDArray[np.int8]
    mean: npt.NDArray[np.int16]


class Encoder:
    """An encoder with its tokeniser and a cache of the texts that it has seen; safe to use from several threads.

    >>> encoder = load_encoder("en")
    >>> encoder.dimensions, encoder.layers
    (384, 3)
    >>> [encoder.vocabulary[number] for number in encoder.pieces("Two detainees.").ids]
    ['two', 'detainees', '.']
    """

    def __init__(self, resource: Resource) -> None:
        self._name = str(resource.path or f"{KIND}-{resource.language}")
        info, arrays = resource.info, resource.arrays
        try:
            self.dimensions, self.layers = int(info["dimensions"]), int(info["layers"])
            self.vocabulary = resource.text("vocabulary").split("\n")
            self.kinds = np.ascontiguousarray(arrays["kinds"])
            more: dict[str, Any] = {"scores": arrays.get("scores")}
            if "merges" in arrays:
                more["merges"] = resource.text("merges")
            self._tokeniser = tokeniser_of(info["tokeniser"], self.vocabulary, more)
            if self.kinds.shape != (len(self.vocabulary),) or self.kinds.dtype != np.uint8:
                raise ValueError("the kinds do not fit the vocabulary")
            if self.kinds.max(initial=0) >= len(PIECE_KINDS):
                raise ValueError("a piece is of an unknown kind")
            if len(arrays["word_scales"]) < len(self.vocabulary):
                raise ValueError("there are fewer embeddings than pieces")
            self._states = self._state_encoder(info, arrays)
        except (KeyError, OverflowError, TypeError, ValueError) as error:
            raise self._unsound(error) from error
        self.language, self.fingerprint = resource.language, resource.fingerprint
        self._nothing = Encoded(
            np.zeros(0, np.uint8), np.zeros((0, self.dimensions), np.int8), np.zeros(0, np.int16)
        )
        self._cache: OrderedDict[str, Encoded] = OrderedDict()
        self._cached_bytes = 0
        self._lock = new_lock()

    def _state_encoder(self, info: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> StateEncoder:
        def flat(name: str, kind: type[np.generic]) -> npt.NDArray[Any]:
            if arrays[name].dtype != kind:
                raise ValueError(f"array {name!r} holds numbers of another type")
            return arrays[name].reshape(-1)

        dense = [
            (flat(part, np.int8), flat(f"{part}.scale", np.float32), flat(f"{part}.bias", np.float32)) for part in DENSE
        ]  # fmt: skip
        return StateEncoder(
            self.layers, self.dimensions, int(info["heads"]), int(info["inner"]), float(info["epsilon"]),
            int(info["begin"]), int(info["end"]), flat("words", np.int8), flat("word_scales", np.float32),
            flat("places", np.float32), flat("norms", np.float32), *dense,
        )  # fmt: skip

    def _unsound(self, why: object) -> ResourceError:
        return ResourceError(
            f"{self._name}: is not a sound encoder ({why}); rebuild it with `tesla train encoder`"
        )

    def pieces(self, text: str) -> Pieces:
        """The pieces of a text, with the place of the word that each belongs to."""
        return self._tokeniser.pieces(text)

    def encode(self, texts: Sequence[str]) -> list[Encoded]:
        """The states of some texts; those that are new are encoded, each once."""
        with self._lock:
            known = {text: self._cache[text] for text in texts if text in self._cache}
            for text in known:
                self._cache.move_to_end(text)
        new = [text for text in dict.fromkeys(texts) if text not in known]
        if new:
            encoded = self._encode_new(new)
            known.update(encoded)
            self._keep(encoded.items())
        return [known[text] for text in texts]

    def encode_pieces(
        self, offsets: npt.NDArray[np.int64], pieces: npt.NDArray[np.uint32], kernel: str = ""
    ) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.int16]]:
        """The states of texts given as pieces, without the cache, and their means; every kernel gives the same bits."""
        return self._states.encode(offsets, pieces, kernel)

    def prepare(self, texts: Sequence[str]) -> StateTexts:
        """Some texts ready to be matched as often as one likes."""
        encoded = self.encode(texts)
        offsets = np.array([0, *accumulate(len(one.kinds) for one in encoded)], np.int64)
        if len(encoded) == 1:
            [(kinds, states, means)] = encoded
        else:
            kinds, states, means = map(np.concatenate, zip(self._nothing, *encoded, strict=True))
        return StateTexts(offsets, kinds, states.reshape(-1), means, self.dimensions)

    def _keep(self, encoded: Iterable[tuple[str, Encoded]]) -> None:
        with self._lock:
            for text, one in encoded:
                if text not in self._cache:
                    self._cache[text] = one
                    self._cached_bytes += one.states.nbytes
            while self._cached_bytes > _CACHE_BYTES and self._cache:
                _, oldest = self._cache.popitem(last=False)
                self._cached_bytes -= oldest.states.nbytes

    def _encode_new(self, texts: Sequence[str]) -> dict[str, Encoded]:
        offsets, pieces, _ = self._tokeniser.cut(texts)
        if int(np.diff(offsets).max()) > MOST_PIECES:
            raise InputError(f"a text has more than {MOST_PIECES:,} pieces of words: split it into segments")
        states, means = self.encode_pieces(offsets, pieces)
        kinds = self.kinds[pieces]
        return {
            text: Encoded(kinds[start:end].copy(), states[start:end].copy(), mean.copy())
            for text, (start, end), mean in zip(texts, pairwise(offsets.tolist()), means, strict=True)
        }


def shipped_file(name: str) -> Path:
    """A file that this package ships."""
    return Path(str(files("tesla_eval_neural").joinpath("data", name)))


def find_encoder(language: str) -> Path | None:
    """The encoder of a language: the user's own before the shipped one."""
    own = find_resource(KIND, language)
    shipped = shipped_file(f"{KIND}-{language}{SUFFIX}")
    return own or (shipped if shipped.is_file() else None)


@cache
def _read(path: Path, changed: int) -> Encoder:
    return Encoder(read_resource(path, KIND))


def load_encoder(language: str, path: str | Path | None = None) -> Encoder:
    """The encoder in a file, or the installed one of a language; read once per process."""
    file = find_encoder(language) if path is None else Path(path)
    if file is None:
        raise missing_resource(
            "encoder", language, f"tesla train encoder -l {language} --from FOLDER", " (English has one)"
        )
    try:
        return _read(file, file.stat().st_mtime_ns)
    except OSError as error:
        raise ResourceError(f"{file}: cannot be read ({error.strerror})") from error
