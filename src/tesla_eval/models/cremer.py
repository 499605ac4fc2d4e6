"""CREMER's model: support vector regression over TESLA-S and DICOMER, with the DICOMER model it was trained on."""

from __future__ import annotations

from dataclasses import dataclass

from tesla_eval.errors import ResourceError
from tesla_eval.models.svr import SupportVectorModel
from tesla_eval.resources import Resource

__all__ = ["FEATURES", "KIND", "CremerModel"]

KIND = "cremer"
FEATURES = ("tesla-s", "dicomer")


@dataclass(frozen=True, eq=False)
class CremerModel:
    """The regression, with the fingerprint of the DICOMER model that it was trained on."""

    regression: SupportVectorModel
    dicomer: str = ""
    fingerprint: str = ""

    def to_resource(
        self, language: str, *, sources: tuple[str, ...] = (), licence: str = "", date: str = "",
        info: dict[str, object] | None = None,
    ) -> Resource:  # fmt: skip
        """The model as a resource file's content."""
        return Resource(
            KIND, language, self.regression.to_arrays(), analysis=self.dicomer, sources=sources, licence=licence,
            date=date, info={**(info or {}), **self.regression.to_info()},
        )  # fmt: skip

    @classmethod
    def from_resource(cls, resource: Resource) -> CremerModel:
        """The model that `to_resource` wrote; `ResourceError` if it is none."""
        try:
            regression = SupportVectorModel.from_resource(resource.arrays, resource.info)
            if regression.features != FEATURES:
                raise ValueError(f"its features are {', '.join(regression.features)}")
        except (LookupError, TypeError, ValueError) as error:
            raise ResourceError(
                f"{resource.path}: is damaged ({error}); reinstall it, or train it with `tesla train cremer`"
            ) from error
        return cls(regression, resource.analysis, resource.fingerprint)
