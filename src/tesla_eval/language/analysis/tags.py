"""Part-of-speech tags: the model of a language, as a file and in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

from tesla_eval._core import TAGGER_FEATURES, Tagger
from tesla_eval.base.resources import Kind, Resource, from_byte_planes, interpreting
from tesla_eval.language.analysis.conllu import UNIVERSAL_IDS

KIND = "tagger"
ANALYSIS = f"features-{TAGGER_FEATURES}"
WIDE_ARRAYS = ("feature_deltas", "suffix_deltas")
"""Those of 32-bit numbers, which are stored as byte planes."""


class Label(NamedTuple):
    """The tags of a word: the language's fine tag (else the universal one), and the universal tag."""

    fine: str
    universal: str


@dataclass(frozen=True)
class TaggerModel:
    """A tagger and what its label numbers mean; made once, shared by threads.

    >>> english = load_tagger("en")
    >>> [label.fine for label in english.tag(["The", "cats", "sat", "."])]
    ['DT', 'NNS', 'VBD', '.']
    """

    resource: Resource
    labels: tuple[Label, ...]
    core: Tagger

    @classmethod
    def from_resource(cls, resource: Resource) -> TaggerModel:
        """The model that a resource holds; raises `ResourceError` if its arrays make no tagger."""
        with interpreting(resource, KIND, "rebuild it with `tesla train tagger`"):
            if resource.analysis != ANALYSIS:
                raise ValueError("it was made by another version of tesla-eval")
            labels = tuple(Label(*line.split("\t")) for line in resource.text("labels").splitlines())
            unknown = [label for label in labels if label.universal not in UNIVERSAL_IDS]
            if unknown:
                raise ValueError(f"{unknown[0].universal!r} is not a universal tag")
            arrays: dict[str, Any] = {
                name: from_byte_planes(array) if name in WIDE_ARRAYS else array
                for name, array in resource.arrays.items()
                if name != "labels"
            }
            return cls(resource, labels, Tagger(len(labels), **arrays))

    @property
    def language(self) -> str:
        """The code of the language."""
        return self.resource.language

    @property
    def fingerprint(self) -> str:
        """Names this model in signatures."""
        return self.resource.fingerprint

    @property
    def accuracy(self) -> float:
        """Percent of universal tags right on the test set, as measured when the model was built; else NaN."""
        return float(self.resource.info.get("accuracy", {}).get("test", {}).get("upos", "nan"))

    @property
    def has_fine_tags(self) -> bool:
        """Whether the fine tags are the language's own, not the universal ones."""
        return any(label.fine != label.universal for label in self.labels)

    def tag(self, forms: Sequence[str]) -> list[Label]:
        """The labels of the words of one text."""
        return [self.labels[number] for number in self.core.tag(list(forms))]


_TAGGERS = Kind(KIND, TaggerModel.from_resource)
read_tagger = _TAGGERS.read
"""The model in a file."""


@cache
def load_tagger(language: str) -> TaggerModel | None:
    """The installed model of a language, `None` if none is installed; read once per process."""
    return _TAGGERS.load(language)
