"""Words in scripts without spaces: the model of a language, as a file and in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from tesla_eval._core import Segmenter, SegmenterTrainer
from tesla_eval.errors import BuildError, ResourceError
from tesla_eval.resources import Resource, byte_planes, find_resource, from_byte_planes, read_resource

__all__ = [
    "KIND",
    "SegmentedText",
    "SegmenterSettings",
    "load_segmenter",
    "make_segmenter",
    "train_segmenter",
]

KIND = "segmenter"
_WIDE = frozenset({"feature_deltas", "word_deltas", "variants"})

SegmentedText = tuple[str, Sequence[tuple[int, int]]]
"""A text and its words as (start, end) in code points."""


@dataclass(frozen=True)
class SegmenterSettings:
    """How a segmenter is trained; the defaults were chosen on development sets."""

    epochs: int = 15
    margin: int = 3
    """The right cut must win by this much for every character placed otherwise, else it is learned from."""
    min_feature_count: int = 2
    scale: float = 2.0
    """Units of the stored weights per unit of the averaged ones."""
    min_weight: int = 2
    """Smaller weights, in stored units, are dropped."""
    seed: int = 1


def train_segmenter(
    texts: Iterable[SegmentedText],
    language: str,
    *,
    lexicon: Iterable[str] = (),
    variants: Mapping[str, str] | None = None,
    settings: SegmenterSettings | None = None,
    after_epoch: Callable[[int], object] = lambda errors: None,
) -> Resource:
    """A segmenter's resource, learned from texts whose words are known and from a lexicon.

    `variants` maps characters to those of the training texts (traditional Chinese to simplified). `after_epoch` is
    told how many runs of characters were still cut wrongly.

    >>> texts = [("我爱你", [(0, 1), (1, 2), (2, 3)]), ("你好", [(0, 2)])] * 2
    >>> train_segmenter(texts, "zh").arrays["weights"].dtype.name
    'int8'
    """
    settings = settings or SegmenterSettings()
    trainer = SegmenterTrainer()
    for word in lexicon:
        trainer.add_word(word)
    empty = True
    for text, words in texts:
        trainer.add_text(text, list(words))
        empty = False
    if empty:
        raise BuildError("the training data of the segmenter holds no text")
    trainer.prepare(settings.min_feature_count)
    for epoch in range(settings.epochs):
        after_epoch(trainer.run_epoch(settings.seed + epoch, settings.margin))
    arrays = trainer.quantised(settings.scale, settings.min_weight)
    pairs = [ord(character) for pair in sorted((variants or {}).items()) for character in pair]
    arrays["variants"] = np.array(pairs, np.uint32)
    return Resource(KIND, language, _packed(arrays), info={"settings": asdict(settings)})


def make_segmenter(resource: Resource) -> Segmenter:
    """The segmenter that a resource holds; raises `ResourceError` if its arrays make none."""
    try:
        return Segmenter(**_unpacked(resource.arrays))
    except (TypeError, ValueError) as error:
        where = resource.path or KIND
        raise ResourceError(f"{where}: makes no segmenter ({error}); reinstall or rebuild it") from error


@cache
def load_segmenter(language: str) -> tuple[Segmenter, Resource] | None:
    """The installed segmenter of a language and where it comes from, `None` if there is none."""
    path = find_resource(KIND, language)
    if path is None:
        return None
    resource = read_resource(path, KIND)
    return make_segmenter(resource), resource


def _packed(arrays: Mapping[str, npt.NDArray[Any]]) -> dict[str, npt.NDArray[Any]]:
    """The arrays as they are stored."""
    return {name: byte_planes(array) if name in _WIDE else array for name, array in arrays.items()}


def _unpacked(stored: Mapping[str, npt.NDArray[Any]]) -> dict[str, npt.NDArray[Any]]:
    """The arrays as the core takes them."""
    return {name: from_byte_planes(array) if name in _WIDE else array for name, array in stored.items()}
