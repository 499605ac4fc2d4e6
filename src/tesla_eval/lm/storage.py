"""A language model as arrays of a resource file, and back.

Stored are the n-grams, as a trie with the last word on top, and their probabilities, rounded on request. Backoff
weights are not: the core computes them, so that every context sums to 1 whatever was pruned or rounded.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from tesla_eval._core import NgramModel
from tesla_eval.analysis import load_pipeline
from tesla_eval.lm.training import TrainedModel
from tesla_eval.lm.words import analysis_fingerprint
from tesla_eval.resources import Resource, byte_planes, from_byte_planes, text_array

__all__ = ["KIND", "model_resource", "read_model", "read_vocabulary"]

KIND = "lm"
_CODES = 256
_LEAST_LEFT = {False: 1e-7, True: 1e-3}
"""The least mass a context keeps for words it was not seen with, for probabilities as they are and rounded ones."""

Numbers = npt.NDArray[np.uint32]


def model_resource(
    model: TrainedModel,
    *,
    rounded: bool = False,
    sources: tuple[str, ...] = (),
    licence: str = "",
    date: str = "",
    info: Mapping[str, Any] | None = None,
) -> Resource:
    """The trained model as a resource; `rounded` keeps eight bits of each logarithm."""
    order = model.settings.order
    arrays: dict[str, npt.NDArray[Any]] = {"words": text_array("\n".join(model.words))}
    steps = []
    for n in range(1, order + 1):
        blocks = list(model.blocks(n))
        with np.errstate(divide="ignore"):
            logs = np.log(np.concatenate([block.probability for block in blocks] or [np.zeros(0)]))
        arrays[f"probability{n}"], step = _rounded(logs) if rounded else (logs.astype(np.float32), 0.0)
        steps.append(step)
        if n > 1:
            parents = np.concatenate([block.parents for block in blocks] or [np.zeros(0, np.uint32)])
            first_words = np.concatenate([block.keys[:, -1] for block in blocks] or [np.zeros(0, np.uint32)])
            children = np.bincount(parents, minlength=model.ngrams(n - 1)).astype(np.uint32)
            arrays[f"children{n - 1}"] = byte_planes(children)
            arrays[f"words{n}"] = byte_planes(_differences(first_words.astype(np.uint32), children))
    counts = [model.ngrams(n) for n in range(1, order + 1)]
    described = {
        "order": order, "ngrams": counts, "words": len(model.words), "tokens": model.tokens, "steps": steps,
        "least count": model.settings.least_count, "prune": model.settings.thresholds,
        "discounts": [[round(value, 6) for value in found] for found in model.discounts], **(info or {}),
    }  # fmt: skip
    analysis = analysis_fingerprint(load_pipeline(model.language))
    return Resource(
        KIND, model.language, arrays, analysis=analysis, sources=sources, licence=licence, date=date, info=described
    )  # fmt: skip


def read_vocabulary(resource: Resource) -> list[str]:
    """The words by number."""
    return resource.text("words").split("\n")


def read_model(resource: Resource) -> NgramModel:
    """The model to ask; `ValueError` or `KeyError` if the arrays are not those of a model."""
    order, steps = int(resource.info["order"]), [float(step) for step in resource.info["steps"]]
    size = len(read_vocabulary(resource))
    words: list[Numbers] = [np.arange(size, dtype=np.uint32)]
    children = [from_byte_planes(resource.arrays[f"children{n}"]) for n in range(1, order)]
    words.extend(
        _sums(from_byte_planes(resource.arrays[f"words{n}"]), children[n - 2]) for n in range(2, order + 1)
    )
    stored = [resource.arrays[f"probability{n}"] for n in range(1, order + 1)]
    logs = [
        np.ascontiguousarray(values, np.float32) if not step else (-step * values).astype(np.float32)
        for values, step in zip(stored, steps, strict=True)
    ]
    return NgramModel(words, logs, children, _LEAST_LEFT[any(steps)])


def _rounded(logs: npt.NDArray[np.float64]) -> tuple[npt.NDArray[np.uint8], float]:
    """Logarithms as multiples of a step; that of probability 0, which only a sentence's start has, as the least."""
    lowest = np.where(np.isfinite(logs), logs, 0.0)
    step = float(-lowest.min(initial=-1.0)) / (_CODES - 1)
    return np.rint(-np.maximum(logs, -step * (_CODES - 1)) / step).astype(np.uint8), step


def _differences(words: Numbers, children: Numbers) -> Numbers:
    """Ascending words of each parent as differences, which deflate better."""
    differences: Numbers = np.empty_like(words)
    differences[:1], differences[1:] = words[:1], words[1:] - words[:-1]
    starts = (np.cumsum(children, dtype=np.int64) - children)[children > 0]
    differences[starts] = words[starts]
    return differences


def _sums(differences: Numbers, children: Numbers) -> Numbers:
    if int(children.sum(dtype=np.int64)) != len(differences):
        raise ValueError("children and n-grams differ in number")
    totals = np.cumsum(differences, dtype=np.int64)
    starts = np.cumsum(children, dtype=np.int64) - children
    before = np.concatenate([[0], totals])[starts]
    words: npt.NDArray[np.int64] = totals - np.repeat(before, children)
    if len(words) and int(words.max()) > np.iinfo(np.uint32).max:
        raise ValueError("a word number is beyond the vocabulary")
    return words.astype(np.uint32)
