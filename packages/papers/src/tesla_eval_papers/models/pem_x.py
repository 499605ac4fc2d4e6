"""PEM-X's model (specification §13): a few numbers in a JSON file that people can read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tesla_eval.base.identity import Fingerprinted
from tesla_eval.models.documents import finite, load_trained, read_document

PEM_X = "pem-x"
_FORMAT = 1


@dataclass(frozen=True)
class PemXModel(Fingerprinted):
    """PEM-X's learned numbers: they turn evidence into adequacy, and the three parts into a score."""

    language: str
    evidence: Mapping[str, float]
    """The weight of every piece of evidence, 0 or more; they add up to 1."""
    unrelated: float
    """The evidence that unrelated texts have: adequacy 0."""
    contradictions: Mapping[str, float]
    """How much of a full agreement each kind of contradiction takes away, 0..1."""
    copy_share: float
    """The part of the scale that a copy can reach."""
    fully_novel: float
    """Up to this overlap nothing is taken off."""
    pivots: tuple[str, ...]
    language_model: str
    analysis: str = ""
    """The analysis that the phrase tables were made with."""
    date: str = ""
    data: tuple[str, ...] = ()
    training: Mapping[str, Any] = field(default_factory=dict)
    """How it was chosen and what leave-one-set-out found: for people to read."""

    def __post_init__(self) -> None:
        shares = (self.unrelated, self.copy_share, self.fully_novel, *self.contradictions.values())
        if not all(0 <= share <= 1 for share in shares) or self.unrelated == 1 or self.fully_novel == 1:
            raise ValueError("a share is not between 0 and 1")
        if not self.evidence or min(self.evidence.values()) < 0 or sum(self.evidence.values()) <= 0:
            raise ValueError("it has no evidence, or a weight is negative")

    def to_json(self) -> str:
        """The model as the text of its file."""
        document = {
            "format": _FORMAT, "metric": PEM_X, "language": self.language, "date": self.date,
            "data": list(self.data), "analysis": self.analysis, "pivots": list(self.pivots),
            "language_model": self.language_model, "evidence": dict(self.evidence), "unrelated": self.unrelated,
            "contradictions": dict(self.contradictions),
            "copy_share": self.copy_share, "fully_novel": self.fully_novel, "training": dict(self.training),
        }  # fmt: skip
        return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def read_pem_x_model(path: Path) -> PemXModel:
    """The model in a file; raises `ResourceError`, which says what is wrong, if it is not valid."""
    return read_document(path, _parse, "a model of PEM-X", "python packages/papers/tools/build_pem_x.py")


def _parse(document: Any, fingerprint: str) -> PemXModel:
    if document["format"] != _FORMAT or document["metric"] != PEM_X:
        raise ValueError("it has another format, or is for another metric")
    return PemXModel(
        language=str(document["language"]), evidence=_numbers(document["evidence"]),
        unrelated=finite(document["unrelated"]), contradictions=_numbers(document["contradictions"]),
        copy_share=finite(document["copy_share"]), fully_novel=finite(document["fully_novel"]),
        pivots=tuple(map(str, document["pivots"])), language_model=str(document["language_model"]),
        analysis=str(document["analysis"]), date=str(document["date"]), data=tuple(map(str, document["data"])),
        training=dict(document["training"]),
    ).known_as(fingerprint)  # fmt: skip


def _numbers(named: Any) -> dict[str, float]:
    return {str(name): finite(value) for name, value in named.items()}


def load_pem_x_model(
    language: str, analysis: str = "", model: PemXModel | str | Path | None = None
) -> PemXModel:
    """The given model, the one in a file, or the installed one; see `load_trained`."""
    return load_trained(PEM_X, model, language, analysis, read=read_pem_x_model, file=f"weights-{PEM_X}.json")
