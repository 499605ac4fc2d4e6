"""PEM's model as a resource: the regression, and the pivots and the language model it was trained with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tesla_eval.errors import ResourceError
from tesla_eval.models.svr import SupportVectorModel
from tesla_eval.resources import Resource, find_resource, read_resource

__all__ = ["KIND", "PemModel", "find_pem_model", "load_pem_model", "read_pem_model"]

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

    def to_resource(self, *, sources: tuple[str, ...] = (), licence: str = "", date: str = "") -> Resource:
        """The model as it is stored."""
        told = {
            **self.regression.to_info(),
            "pivots": list(self.pivots),
            "lm": self.language_model,
            "least_count": self.least_count,
            "training": dict(self.info),
        }
        return Resource(
            KIND, self.language, self.regression.to_arrays(), analysis=self.analysis, sources=sources,
            licence=licence, date=date, info=told,
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


def find_pem_model(language: str) -> PemModel:
    """The user's own or the built-in model of a language."""
    path = find_resource(KIND, language)
    if path is None:
        raise ResourceError(
            f"pem: there is no model for {language!r}; make one with `tesla train pem -l {language}` (docs/pem.md)"
        )
    return read_pem_model(path)


def load_pem_model(language: str, analysis: str, model: PemModel | str | Path | None = None) -> PemModel:
    """The given model, the one in a file, or the installed one; refuses one for another language or analysis."""
    if model is None:
        chosen = find_pem_model(language)
    else:
        chosen = model if isinstance(model, PemModel) else read_pem_model(Path(model))
    if chosen.language != language:
        raise ResourceError(f"pem: this is a model of language {chosen.language!r}, not of {language!r}")
    if chosen.analysis and chosen.analysis != analysis:
        raise ResourceError(
            f"pem: the model was trained with the analysis {chosen.analysis}, the one installed is {analysis}; "
            "make it anew with `tesla train pem`"
        )
    return chosen
