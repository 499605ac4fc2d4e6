"""Building what cuts and weighs words: segmenters, lists of compound parts, frequency lists."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tesla_eval._core import SegmenterTrainer
from tesla_eval.base.errors import BuildError
from tesla_eval.base.parallel import NO_PROGRESS, Progress
from tesla_eval.base.resources import UNSTATED, Provenance, Resource, byte_planes, text_array
from tesla_eval.language.analysis.compounds import FILLERS
from tesla_eval.language.analysis.compounds import KIND as COMPOUNDS
from tesla_eval.language.analysis.frequencies import HIGHEST_ZIPF, STEPS
from tesla_eval.language.analysis.frequencies import KIND as FREQUENCIES
from tesla_eval.language.analysis.tokenisers import KIND as SEGMENTER
from tesla_eval.language.analysis.tokenisers import WIDE_ARRAYS

__all__ = ["SegmentedText", "SegmenterSettings", "compound_resource", "frequency_resource", "train_segmenter"]

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
    progress: Progress = NO_PROGRESS,
) -> Resource:
    """A segmenter's resource, learned from texts whose words are known and from a lexicon.

    `variants` maps characters to those of the training texts (traditional Chinese to simplified).

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
        raise BuildError("the training data of the segmenter contains no text")
    trainer.prepare(settings.min_feature_count)
    progress.stage("training", settings.epochs)
    for epoch in range(settings.epochs):
        trainer.run_epoch(settings.seed + epoch, settings.margin)
        progress.advance(1)
    arrays = trainer.quantised(settings.scale, settings.min_weight)
    pairs = [ord(character) for pair in sorted((variants or {}).items()) for character in pair]
    arrays["variants"] = np.array(pairs, np.uint32)
    return Resource(SEGMENTER, language, _packed(arrays), info={"settings": asdict(settings)})


def _packed(arrays: Mapping[str, npt.NDArray[Any]]) -> dict[str, npt.NDArray[Any]]:
    """The arrays as they are stored."""
    return {name: byte_planes(array) if name in WIDE_ARRAYS else array for name, array in arrays.items()}


def compound_resource(
    frequencies: Mapping[str, float],
    language: str,
    *,
    fillers: Sequence[str] = FILLERS,
    provenance: Provenance = UNSTATED,
) -> Resource:
    """The list to store: words with their frequencies, counted per thousand million words."""
    words = sorted(frequencies)
    levels = [round(100 * math.log10(frequencies[word])) if frequencies[word] >= 1 else -1 for word in words]
    if not words or min(levels) < 0 or max(levels) > _HIGHEST_LEVEL:
        raise BuildError(
            "a list of compound parts needs words with frequencies of 1 or more per thousand million words"
        )
    return Resource(
        kind=COMPOUNDS, language=language, provenance=provenance,
        arrays={"words": text_array("\n".join(words)), "levels": np.array(levels, np.uint16)},
        info={"words": len(words), "fillers": list(fillers)},
    )  # fmt: skip


_HIGHEST_LEVEL = 65535


def frequency_resource(zipf: Mapping[str, float], language: str, *, provenance: Provenance) -> Resource:
    """The list to store: words and log10 of their occurrences in a thousand million words."""
    words = sorted(zipf)
    if not words or not all(0 <= zipf[word] <= HIGHEST_ZIPF for word in words):
        raise BuildError("a frequency list needs words with a level between 0 and 8")
    levels = np.array([round(STEPS * zipf[word]) for word in words], np.uint8)
    return Resource(
        kind=FREQUENCIES, language=language, provenance=provenance,
        arrays={"words": text_array("\n".join(words)), "levels": levels}, info={"words": len(words)},
    )  # fmt: skip
