"""A compact form of TESLA-CELAB's explanations: a page holds thousands, and each has hundreds of links."""

from __future__ import annotations

from typing import Any

from tesla_eval.base.explanations import CoveringDetail, CoveringLink, LinkPart, ReferenceExplanation
from tesla_eval.base.records import Span
from tesla_eval.drawing.picture import joined_partners, partners

_COLUMNS = 6
"""Of a link: start and end in the reference, in the hypothesis, weight, essential (1 or 0)."""


def compact(detail: ReferenceExplanation) -> dict[str, Any]:
    """As `to_dict`, but with `covering` and `partners` for the picture in the place of links and their coverage."""
    covering = detail.covering
    if covering is None:
        return detail.to_dict()
    rest = ReferenceExplanation(
        detail.text, detail.score, detail.features, detail.reference, detail.hypothesis
    ).to_dict()
    pairs = partners(
        (link.weight * (link.reference[1] - link.reference[0]), link.parts) for link in covering.links
    )
    flat: list[float] = []
    cuts: dict[str, tuple[LinkPart, ...]] = {}
    for place, link in enumerate(covering.links):
        (a, b), (c, d) = link.reference, link.hypothesis
        flat += (a, b, c, d, 1 if link.weight == 1.0 else link.weight, int(link.essential))
        # Single units, all equal, need not be written.
        if not (len(link.parts) == b - a == d - c and all(part.equal for part in link.parts)):
            cuts[str(place)] = link.parts
    return {
        **rest,
        "partners": joined_partners(pairs),
        "covering": {
            "links": flat,
            "cuts": cuts,
            "order": max(len(row) for rows in covering.coverage.values() for row in [(), *rows]),
            "covered": {
                side: [sum(map(sum, rows)), sum(map(len, rows))] for side, rows in covering.coverage.items()
            },
        },
    }


def expanded(detail: dict[str, Any]) -> dict[str, Any]:
    """The detail as `to_dict` gives it."""
    if "covering" not in detail:
        return detail
    covering = detail["covering"]
    flat, cuts, order = covering["links"], covering["cuts"], covering["order"]
    coverage = {
        side: [[0.0] * min(order, len(detail[side]) - start) for start in range(len(detail[side]))]
        for side in covering["covered"]
    }
    links = []
    for place, at in enumerate(range(0, len(flat), _COLUMNS)):
        a, b, c, d, weight, essential = flat[at : at + _COLUMNS]
        parts = tuple(LinkPart(*part) for part in cuts.get(str(place), _units((a, b), (c, d))))
        links.append(CoveringLink((a, b), (c, d), float(weight), bool(essential), parts))
        for rows, (start, end) in zip(coverage.values(), ((a, b), (c, d)), strict=True):
            for inner in range(start, end):
                for length in range(end - inner):
                    rows[inner][length] += weight
    for rows in coverage.values():
        rows[:] = [[min(1.0, c) for c in row] for row in rows]
    rest = {key: value for key, value in detail.items() if key not in ("partners", "covering")}
    return {**rest, **CoveringDetail(tuple(links), coverage).to_dict()}


def _units(reference: Span, hypothesis: Span) -> list[LinkPart]:
    pairs = zip(range(*reference), range(*hypothesis), strict=False)
    return [LinkPart((i, i + 1), (j, j + 1), True) for i, j in pairs]
