"""COMET and BERTScore, run by their own packages with a model of the user's: `-m comet:model=FOLDER`.

Each segment is scored once: scores are kept in the score cache under the signature, which names the package, its
version, the model and a hash of the model's files. Nothing is downloaded: a model is a folder, a file, or the name of
one that the Hugging Face cache already has.
"""

from __future__ import annotations

import hashlib
import logging
import re
import threading
import warnings
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from importlib import import_module, metadata
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from tesla_eval.base.errors import InputError, ResourceError, SegmentError, UsageError
from tesla_eval.base.records import Signature
from tesla_eval.base.version import __version__
from tesla_eval.metrics.base import Metric
from tesla_eval.metrics.results import SegmentScores
from tesla_eval.metrics.segments import References

_BLOCK = 1 << 20
_REFERENCE_FREE = re.compile(r"^class_identifier:\s*['\"]?referenceless", re.MULTILINE)


class PackagedMetric(Metric):
    """A metric of another package, with its model, a cache, and one call at a time."""

    package: ClassVar[str]
    """The distribution that is installed."""
    module: ClassVar[str]
    largest_chunk = 256
    signed: ClassVar[frozenset[str]] = frozenset({"model", "cache", "trust"})
    unexplained = "its model has no matching to show"

    def __init__(
        self, lang: str = "en", *, model: str = "", batch: int = 16, cache: bool = True, workers: int = 1
    ) -> None:
        if not model:
            raise UsageError(f"{self.id} needs a model: -m {self.id}:model=FOLDER (docs/connect/comet.md)")
        try:
            self.version = metadata.version(self.package)
        except metadata.PackageNotFoundError:
            extra = self.package.removeprefix("unbabel-").replace("-", "")
            raise UsageError(
                f"{self.id}: {self.package} is not installed: pip install 'tesla-eval[{extra}]'"
            ) from None
        if batch < 1:
            raise UsageError(f"{self.id}: batch is at least 1, not {batch}")
        self.model, self.batch, self.cache, self.workers = model, batch, cache, workers
        self._path = _local(self.id, model)
        self._lock = threading.Lock()

    def get_signature(self) -> Signature:
        """The key of a score in the cache: package, version, model, and the hash of the model."""
        return Signature({"metric": self.id, "version": __version__, **self._identity})

    @cached_property
    def _identity(self) -> dict[str, str]:
        return {
            "package": f"{self.package}-{self.version}",
            "model": Path(self.model).name,
            "hash": _hash(self._path),
        }

    def score_segments(
        self, hypotheses: Sequence[str], references: References = (), sources: Sequence[str] | None = None
    ) -> SegmentScores:
        """The package's scores, from the cache where they are known."""
        from tesla_eval.metrics.cache import ScoreCache

        if not hypotheses:
            return SegmentScores(np.empty(0), np.empty((0, len(self.feature_names))))
        with ScoreCache(on_disk=self.cache) as cache:
            return cache.score(_Uncached(self), hypotheses, references, sources=sources)

    def compute(
        self, hypotheses: Sequence[str], references: References, sources: Sequence[str] | None
    ) -> SegmentScores:
        """The package's scores, computed now."""
        if self.uses_source and sources is None:
            raise InputError(f"{self.id} needs the source of each segment")
        for number, texts in enumerate(zip(hypotheses, sources or hypotheses, *references, strict=True)):
            if any(
                not text.isascii() and re.search("[\ud800-\udfff]", text)
                for text in texts
                if text is not None
            ):
                raise SegmentError(InputError("a text is not valid Unicode: it has a lone surrogate"), number)
        with self._lock, _hushed():
            return self._scores(hypotheses, references, sources)

    @abstractmethod
    def _scores(
        self, hypotheses: Sequence[str], references: References, sources: Sequence[str] | None
    ) -> SegmentScores:
        """Ask the package."""


class _Uncached(Metric):
    """The same metric for the cache to call."""

    signed: ClassVar[frozenset[str]] = frozenset({"metric"})

    def __init__(self, metric: PackagedMetric) -> None:
        self.metric, self.id, self.feature_names = metric, metric.id, metric.feature_names  # type: ignore[misc]
        self.uses_source, self.needs_references = metric.uses_source, metric.needs_references  # type: ignore[misc]

    def get_signature(self) -> Signature:
        return self.metric.get_signature()

    def score_segments(
        self, hypotheses: Sequence[str], references: References, sources: Sequence[str] | None = None
    ) -> SegmentScores:
        return self.metric.compute(hypotheses, references, sources)


class Comet(PackagedMetric):
    """COMET (Rei et al. 2020 and later) by unbabel-comet; the mean over several references.

    `trust` loads a checkpoint that holds more than tensors and plain values; such a file can run code of its own.
    """

    id: ClassVar[str] = "comet"
    package = "unbabel-comet"
    module = "comet"
    uses_source: ClassVar[bool] = True

    def __init__(
        self, lang: str = "en", *, model: str = "", batch: int = 16, trust: bool = False, cache: bool = True,
        workers: int = 1,
    ) -> None:  # fmt: skip
        super().__init__(lang, model=model, batch=batch, cache=cache, workers=workers)
        folder = self._path.parents[1] if self._path.is_file() else self._path
        self._checkpoint = self._path if self._path.is_file() else folder / "checkpoints" / "model.ckpt"
        settings = folder / "hparams.yaml"
        for path in (self._checkpoint, settings):
            if not path.is_file():
                raise ResourceError(
                    f"{self.id}: there is no {path}; a model is FOLDER/checkpoints/model.ckpt with FOLDER/hparams.yaml"
                )
        self.trust, self._path = trust, folder
        if self.needs_references == bool(_REFERENCE_FREE.search(settings.read_text("utf-8"))):
            needs, name = ("no reference", "comet-qe") if self.needs_references else ("references", "comet")
            raise UsageError(f"{self.id}: the model {model} needs {needs}; write -m {name}:model={model}")

    @cached_property
    def _predictor(self) -> Any:
        import torch

        if not self.trust:
            try:
                torch.load(self._checkpoint, map_location="cpu", weights_only=True, mmap=True)
            except Exception as error:
                raise ResourceError(
                    f"{self._checkpoint}: holds more than tensors and plain values, or is damaged; if you trust the "
                    f"file, add trust=yes ({error})"
                ) from error
        return import_module(self.module).load_from_checkpoint(str(self._checkpoint), local_files_only=True)

    def _scores(
        self, hypotheses: Sequence[str], references: References, sources: Sequence[str] | None
    ) -> SegmentScores:
        import torch

        streams = references if self.needs_references else [[""] * len(hypotheses)]
        assert sources is not None
        rows = [
            (k, {"src": sources[k], "mt": hypotheses[k], "ref": text})
            for stream in streams for k, text in enumerate(stream) if text is not None
        ]  # fmt: skip
        predicted = self._predictor.predict(
            [sample for _, sample in rows], batch_size=self.batch, gpus=int(torch.cuda.is_available()),
            progress_bar=False, num_workers=0,
        )  # fmt: skip
        owners = np.array([k for k, _ in rows])
        sums, counts = (np.bincount(owners, weights, len(hypotheses)) for weights in (predicted.scores, None))
        return SegmentScores(sums / counts, np.empty((len(hypotheses), 0)))


class CometQE(Comet):
    """A COMET model that reads no reference, such as CometKiwi."""

    id: ClassVar[str] = "comet-qe"
    needs_references: ClassVar[bool] = False


class BertScore(PackagedMetric):
    """BERTScore (Zhang et al. 2020) by bert-score: F, with precision and recall; the best of several references.

    `layers` is the layer whose states are compared; for models that the package knows it is the package's choice.
    """

    id: ClassVar[str] = "bertscore"
    package = "bert-score"
    module = "bert_score"
    feature_names = ("precision", "recall", "f")

    def __init__(
        self, lang: str = "en", *, model: str = "", layers: int = 0, batch: int = 64, cache: bool = True,
        workers: int = 1,
    ) -> None:  # fmt: skip
        super().__init__(lang, model=model, batch=batch, cache=cache, workers=workers)
        if not layers:
            known = import_module("bert_score.utils").model2layers
            layers = known.get(model) or known.get(Path(model).name)
            if not layers:
                raise UsageError(f"{self.id}: the package does not know {model}; say which layer: layers=N")
        self.layers = layers

    def get_signature(self) -> Signature:
        """Package, its version, the model, its hash and the layer."""
        return Signature({**super().get_signature(), "layers": str(self.layers)})

    @cached_property
    def _scorer(self) -> Any:
        return import_module(self.module).BERTScorer(
            model_type=str(self._path), num_layers=self.layers, batch_size=self.batch
        )

    def _scores(
        self, hypotheses: Sequence[str], references: References, sources: Sequence[str] | None
    ) -> SegmentScores:
        given = [[text for text in texts if text is not None] for texts in zip(*references, strict=True)]
        measures = self._scorer.score(list(hypotheses), given, batch_size=self.batch)
        features = np.column_stack([measure.double().numpy() for measure in measures])
        return SegmentScores(features[:, 2].copy(), features)


def _local(metric: str, model: str) -> Path:
    """The folder or file of a model; a name is looked up in the Hugging Face cache."""
    if Path(model).exists():
        return Path(model).resolve()
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(model, local_files_only=True))
    except Exception as error:  # its errors have no common class
        raise ResourceError(
            f"{metric}: there is no file or folder {model}, and no such model in the Hugging Face cache "
            f"(hf download {model} fetches it)"
        ) from error


def _hash(folder: Path) -> str:
    """Of all files in the folder, names included, or of the only file."""
    digest = hashlib.sha256()
    for path in (
        [folder] if folder.is_file() else sorted(path for path in folder.rglob("*") if path.is_file())
    ):
        digest.update(f"{path.relative_to(folder).as_posix()}\n{path.stat().st_size}\n".encode())
        with path.open("rb") as file:
            while block := file.read(_BLOCK):
                digest.update(block)
    return digest.hexdigest()[:16]


@contextmanager
def _hushed() -> Iterator[None]:
    """Without the warnings and messages of the packages; their import changes the root logger, which is put back."""
    root = logging.getLogger()
    level, handlers = root.level, root.handlers[:]
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(logging.NOTSET)
        root.handlers[:] = handlers
        root.setLevel(level)
