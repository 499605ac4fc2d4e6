"""PEM's model as a resource: the regression, and the pivots and the language model it was trained with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from tesla_eval.errors import ResourceError
from tesla_eval.models.svr import SupportVectorModel
from tesla_eval.resources import (
    UNSTATED,
    Provenance,
    Resource,
    find_resource,
    missing_resource,
    read_resource,
)

__all__ = ["KIND", "PemModel", "load_pem_model", "read_pem_model"]

KIND = "pem"


@dataclass(frozen=True)
class PemModel:
    """From adequacy, fluency and dissimilarity to an overall score."""

    language: str
    regression: SupportVectorModel
    pivots: tuple[str, ...]
    language_model: str
    least_count: int
    """Phrases of several words seen less often were not used."""
    analysis: str = ""
    info: Mapping[str, Any] = field(default_factory=dict)
    """What cross-validation found, how many pairs of which data: for the reader."""
    fingerprint: str = ""

    def to_resource(self, provenance: Provenance = UNSTATED) -> Resource:
        """The model as it is stored."""
        told = {
            **self.regression.to_info(),
            "pivots": list(self.pivots),
            "lm": self.language_model,
            "least_count": self.least_count,
            "training": dict(self.info),
        }
        return Resource(
            KIND, self.language, self.regression.to_arrays(), analysis=self.analysis,
            provenance=provenance, info=told,
        )  # fmt: skip


def read_pem_model(path: Path) -> PemModel:
    """The model in a file; `ResourceError`, naming the file, if it holds none."""
    resource = read_resource(path, KIND)
    try:
        return PemModel(
            language=resource.language,
            regression=SupportVectorModel.from_resource(resource.arrays, resource.info),
            pivots=tuple(str(pivot) for pivot in resource.info["pivots"]),
            language_model=str(resource.info["lm"]),
            least_count=int(resource.info["least_count"]),
            analysis=resource.analysis,
            info=resource.info.get("training", {}),
            fingerprint=resource.fingerprint,
        )
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        raise ResourceError(
            f"{path}: is damaged or no model of PEM ({error}); make it anew with `tesla train pem`"
        ) from error


@cache
def load_pem_model(language: str) -> PemModel:
    """The installed model of a language, read once per process: the user's own before the shipped one."""
    path = find_resource(KIND, language)
    if path is None:
        raise missing_resource("PEM model", language, f"tesla train pem -l {language}")
    return read_pem_model(path)
