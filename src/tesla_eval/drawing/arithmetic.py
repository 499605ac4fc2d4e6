"""From the links to the score, step by step, in words; a step is only told where its numbers agree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isclose
from typing import Any

__all__ = ["feature_steps", "score_steps"]

ALPHA = 0.8
"""The weight of recall in F (specification §4)."""
PRECISION_SHARE = 0.25
"""What the hypothesis counts for in a covering (specification §9)."""
_MOST_TERMS = 8
_EXACT = 1e-9


def feature_steps(feature: Mapping[str, Any]) -> Iterator[str]:
    """How precision, recall and F of one feature come of its links.

    >>> list(feature_steps({"flow": [{"similarity": 1.0, "weight": 1.0}], "objective": 1.0, "hypothesis_weight": 2.0,
    ...     "reference_weight": 1.0, "precision": 0.5, "recall": 1.0, "f": 5 / 6}))[1]
    'precision = 1 / 2 (weight of the hypothesis) = 0.5000'
    """
    terms = [f"{link['similarity']:g} × {link['weight']:.4g}" for link in feature["flow"]]
    more = f" + {len(terms) - _MOST_TERMS} more" if len(terms) > _MOST_TERMS else ""
    total = f"{feature['objective']:.6g}"
    sums = " + ".join(terms[:_MOST_TERMS]) or "0"
    yield f"matched = sum of similarity × weight over {len(terms)} links = {sums}{more} = {total}"
    for name, side in (("precision", "hypothesis"), ("recall", "reference")):
        yield f"{name} = {total} / {feature[f'{side}_weight']:.6g} (weight of the {side}) = {feature[name]:.4f}"
    p, r, f = feature["precision"], feature["recall"], feature["f"]
    below = ALPHA * p + (1 - ALPHA) * r
    if below and isclose(p * r / below, f, rel_tol=_EXACT):
        yield f"F = P × R / ({ALPHA:g} P + {1 - ALPHA:.1f} R) = {f:.4f}"
    else:
        yield f"F = {f:.4f}"


def score_steps(reference: Mapping[str, Any]) -> Iterator[str]:
    """How the score against one reference comes of its features."""
    score = reference["score"]
    measures = [one["f"] for one in reference.get("features", ()) if "f" in one]
    if "links" in reference:
        yield from _covering_steps(reference)
    elif reference.get("shares"):
        total = sum(share["share"] for share in reference["shares"])
        yield f"linear score = sum of {len(reference['shares'])} feature shares = {total:.4f}"
        yield f"score = {score:.4f}"
    elif measures and isclose(sum(measures) / len(measures), score, rel_tol=_EXACT, abs_tol=_EXACT):
        shown = " + ".join(f"{f:.4f}" for f in measures[:12]) + (" + …" if len(measures) > 12 else "")
        yield f"score = mean of {len(measures)} F values = ({shown}) / {len(measures)} = {score:.4f}"
    else:
        yield f"score = {score:.4f}"


def _covering_steps(reference: Mapping[str, Any]) -> Iterator[str]:
    for name, side in (("recall", "reference"), ("precision", "hypothesis")):
        covered: Sequence[Mapping[str, Any]] = reference["coverage"][side]
        if covered:
            total = sum(one["c"] for one in covered)
            share = f"{total:.6g} of {len(covered)} n-grams of the {side} are covered"
            yield f"{name} = {share} = {total / len(covered):.4f}"
    sums = [sum(one["c"] for one in reference["coverage"][side]) for side in ("reference", "hypothesis")]
    sizes = [len(reference["coverage"][side]) for side in ("reference", "hypothesis")]
    below = sizes[0] + PRECISION_SHARE * sizes[1]
    if below and isclose((sums[0] + PRECISION_SHARE * sums[1]) / below, reference["score"], rel_tol=_EXACT):
        above = f"{sums[0]:.6g} + {PRECISION_SHARE:g} × {sums[1]:.6g}"
        shown = f"({above}) / ({sizes[0]} + {PRECISION_SHARE:g} × {sizes[1]})"
        yield f"score = recall and, by a quarter, precision = {shown} = {reference['score']:.4f}"
    else:
        yield f"score = {reference['score']:.4f}"
