"""Models as JSON files: written only when complete, checked when read, and matched to a language and analysis."""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Protocol, TypeVar

from tesla_eval.base.errors import ResourceError
from tesla_eval.base.files import write_text
from tesla_eval.base.resources import find_resource, missing_resource

_LARGEST_FILE = 1 << 20
Model = TypeVar("Model")


class _Trained(Protocol):
    @property
    def language(self) -> str:
        """The language whose texts it judges."""

    @property
    def analysis(self) -> str:
        """The fingerprint of the analysis that it was trained with; empty if any will do."""


Trained = TypeVar("Trained", bound=_Trained)
_read_once = cache(lambda read, path: read(path))


def load_trained(
    metric: str,
    model: Trained | str | Path | None,
    language: str,
    analysis: str,
    *,
    read: Callable[[Path], Trained],
    file: str,
    command: str = "",
) -> Trained:
    """The given model of a metric, the one in a file, or the installed one, read once per process.

    Refuses a model for another language, or one that was trained with another `analysis`, if that is given. `file`
    is the kind and the suffix of the installed file, and `command` makes one.
    """
    if model is None:
        kind, dot, suffix = file.partition(".")
        path = find_resource(kind, language, dot + suffix)
        if path is None:
            raise missing_resource(f"{metric.upper()} model", language, command)
        model = _read_once(read, path)
    trained: Trained = read(Path(model)) if isinstance(model, str | Path) else model
    if trained.language != language:
        raise ResourceError(
            f"{metric}: this model is for language {trained.language!r}, not for {language!r}"
        )
    if analysis and trained.analysis and trained.analysis != analysis:
        raise ResourceError(
            f"{metric}: the model was trained with the analysis {trained.analysis}, but {analysis} is installed; "
            f"train it again with `tesla train {metric}`"
        )
    return trained


def finite(value: Any) -> float:
    """A number of a document; `ValueError` for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"{value!r} is not a number")
    return float(value)


class _Written(Protocol):
    def to_json(self) -> str:
        """The model as the text of its file."""


def write_document(path: Path, model: _Written) -> None:
    """Write `model` to `path`, creating its folder if necessary."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, model.to_json())


def read_document(path: Path, parse: Callable[[Any, str], Model], what: str, command: str) -> Model:
    """What `parse` makes of the document at `path` and of its fingerprint.

    An error names the file, says that it should be `what`, and which command makes one.
    """
    try:
        size = path.stat().st_size
        raw = path.read_bytes() if size <= _LARGEST_FILE else b""
    except OSError as error:
        raise ResourceError(f"{path}: cannot be read ({error.strerror})") from error
    if size > _LARGEST_FILE:
        raise ResourceError(f"{path}: has {size} bytes, too many for {what}")
    try:
        return parse(json.loads(raw), f"{zlib.crc32(raw):08x}")
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
        reason = f"no {error}" if isinstance(error, KeyError) else str(error)
        raise ResourceError(
            f"{path}: is damaged or not {what} ({reason}); reinstall it, or train it again with `{command}`"
        ) from error
