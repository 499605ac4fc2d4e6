"""The encoder: pieces of words to states in their context, each distinct text once (specification §8c).

Texts of equal length go through the encoder together, so that nothing is padded and a text gets the same states in
every batch. A text that is longer than the encoder can read is encoded window by window.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tesla_eval._core import LARGEST_MEAN, StateTexts, TextTooLongError
from tesla_eval.errors import InputError, ResourceError
from tesla_eval.resources import SUFFIX, Resource, find_resource, missing_resource, read_resource
from tesla_eval_neural.kinds import PIECE_KINDS
from tesla_eval_neural.pieces import Pieces, tokeniser_of

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

__all__ = ["KIND", "Encoded", "Encoder", "find_encoder", "load_encoder", "shipped_file"]

KIND = "encoder"
_PIECES_AT_ONCE = 1024  # in one batch of texts of equal length
_CACHE_BYTES = 256 << 20
_LARGEST = 127  # of the numbers of a state


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
            self._kinds = np.ascontiguousarray(arrays["kinds"])
            self._begin, self._end = int(info["begin"]), int(info["end"])
            self._first_position, self._positions = int(info["first_position"]), int(info["positions"])
            more: dict[str, Any] = {"scores": arrays.get("scores")}
            if "merges" in arrays:
                more["merges"] = resource.text("merges")
            self._tokeniser = tokeniser_of(info["tokeniser"], self.vocabulary, more)
            if self._kinds.shape != (len(self.vocabulary),) or self._kinds.dtype != np.uint8:
                raise ValueError("the kinds do not fit the vocabulary")
            if self._kinds.max(initial=0) >= len(PIECE_KINDS):
                raise ValueError("a piece is of an unknown kind")
            specials_known = all(0 <= number < len(self.vocabulary) for number in (self._begin, self._end))
            if self._positions < 3 or not specials_known:
                raise ValueError("the header names pieces or positions that do not exist")
            self._graph = arrays["graph"].tobytes()
        except (KeyError, TypeError, ValueError) as error:
            raise self._unsound(error) from error
        self.language, self.fingerprint = resource.language, resource.fingerprint
        self._session: InferenceSession | None = None
        self._cache: OrderedDict[str, Encoded] = OrderedDict()
        self._cached_bytes = 0
        self._lock = threading.Lock()

    def _unsound(self, why: object) -> ResourceError:
        return ResourceError(
            f"{self._name}: is not a sound encoder ({why}); rebuild it with `tesla build encoder`"
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

    def prepare(self, texts: Sequence[str]) -> StateTexts:
        """Some texts ready to be matched as often as one likes."""
        encoded = self.encode(texts)
        offsets = np.cumsum([0, *(len(one.kinds) for one in encoded)], dtype=np.int64)
        empty = [
            Encoded(np.zeros(0, np.uint8), np.zeros((0, self.dimensions), np.int8), np.zeros(0, np.int16))
        ]
        kinds, states, means = (np.concatenate(column) for column in zip(*(encoded or empty), strict=True))
        try:
            return StateTexts(offsets, kinds, states.reshape(-1), means, self.dimensions)
        except TextTooLongError as error:
            raise InputError(f"{error}: split it into segments") from error

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
        ids = [np.array(self._tokeniser.ids(text), np.int64) for text in texts]
        windows = [self._windows(all_ids) for all_ids in ids]
        by_length: dict[int, list[tuple[int, int]]] = {}
        for number, parts in enumerate(windows):
            for part, some in enumerate(parts):
                by_length.setdefault(len(some), []).append((number, part))
        states = [[np.zeros((0, self.dimensions), np.float32)] * len(parts) for parts in windows]
        for length in sorted(by_length):
            places = by_length[length]
            step = max(1, _PIECES_AT_ONCE // length)
            for start in range(0, len(places), step):
                some_places = places[start : start + step]
                batch = self._run(np.stack([windows[number][part] for number, part in some_places]))
                for (number, part), rows in zip(some_places, batch, strict=True):
                    states[number][part] = rows
        return {
            text: self._encoded(all_ids, parts)
            for text, all_ids, parts in zip(texts, ids, states, strict=True)
        }

    def _windows(self, ids: npt.NDArray[np.int64]) -> list[npt.NDArray[np.int64]]:
        """The pieces of a text in as many parts of about equal size as the encoder needs; none if it has no piece."""
        room = self._positions - 2
        return np.array_split(ids, -(-len(ids) // room)) if len(ids) else []

    def _run(self, ids: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
        """The states of texts of equal length (texts × pieces × dimensions)."""
        ends = [np.full((len(ids), 1), number, np.int64) for number in (self._begin, self._end)]
        whole = np.concatenate([ends[0], ids, ends[1]], axis=1)
        positions = np.arange(whole.shape[1], dtype=np.int64) + self._first_position
        (states,) = self._opened().run(None, {"ids": whole, "positions": positions})
        inner: npt.NDArray[np.float32] = states[:, 1:-1]
        return inner

    def _opened(self) -> InferenceSession:
        with self._lock:
            if self._session is None:
                self._session = self._open()
            return self._session

    def _open(self) -> InferenceSession:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = (
            1  # several texts at a time, not one faster
        )
        options.use_deterministic_compute = True
        options.log_severity_level = 3
        try:
            return onnxruntime.InferenceSession(self._graph, options, providers=["CPUExecutionProvider"])
        except Exception as error:  # onnxruntime's errors have no common class
            raise self._unsound(str(error).splitlines()[0][:200]) from error

    def _encoded(self, ids: npt.NDArray[np.int64], parts: list[npt.NDArray[np.float32]]) -> Encoded:
        if not parts:
            return Encoded(
                np.zeros(0, np.uint8), np.zeros((0, self.dimensions), np.int8), np.zeros(self.dimensions, np.int16)
            )  # fmt: skip
        states = np.concatenate(parts) if len(parts) > 1 else parts[0]
        largest = np.maximum(np.abs(states).max(axis=1, keepdims=True), np.float32(1e-30))
        mean = states.mean(axis=0, dtype=np.float64)
        return Encoded(
            self._kinds[ids],
            np.rint(states * (np.float32(_LARGEST) / largest)).astype(np.int8),
            np.rint(mean * (LARGEST_MEAN / max(float(np.abs(mean).max()), 1e-30))).astype(np.int16),
        )


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
    found = find_encoder(language) if path is None else Path(path)
    if found is None:
        raise missing_resource(
            "encoder", language, f"tesla build encoder -l {language} --from FOLDER", " (English has one)"
        )
    try:
        return _read(found, found.stat().st_mtime_ns)
    except OSError as error:
        raise ResourceError(f"{found}: cannot be read ({error.strerror})") from error
