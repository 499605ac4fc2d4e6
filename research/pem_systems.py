"""PEM against people, one dot per system (PEM paper, figure 5).

    python -m research.pem_systems [--plot research/pem-systems.svg]

Held-out pairs of ParaBank (every third original) and the paper's three controls, each of which is a system of its own.
Prints Pearson's r with and without the controls, and with the single features of PEM.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from build_pem import LANGUAGE_MODEL, PARABANK, PIVOTS, split
from tesla_eval import statistics
from tesla_eval.judgements.meta.plots import Dot, Drawing, Line, Shape, Words, write_drawing
from tesla_eval_papers import Pem
from tesla_eval_papers.judgements import RatedPair, read_parabank
from tesla_eval_papers.training.regressions import paraphrase_features, with_controls

CONTROLS = ("the original itself", "another sentence", "words of a unigram model")
Floats = npt.NDArray[np.float64]


def members(pairs: Sequence[RatedPair], rated: int) -> dict[str, list[int]]:
    """The places of the pairs of each system, then of each control; the controls of an original stand together."""
    found: dict[str, list[int]] = {}
    for place, pair in enumerate(pairs[:rated]):
        for name in pair.systems:
            found.setdefault(f"system {name}", []).append(place)
    for number, name in enumerate(CONTROLS):
        found[name] = list(range(rated + number, len(pairs), len(CONTROLS)))
    return found


def draw(names: Sequence[str], human: Floats, metric: Floats) -> Drawing:
    width, height, left, bottom = 460.0, 420.0, 60.0, 370.0
    shapes: list[Shape] = [
        Words(width / 2, 20, f"PEM and people: {len(names) - len(CONTROLS)} systems and three controls")
    ]

    def across(value: float) -> float:
        return round(left + (value - 1) * 94, 1)

    def up(value: float) -> float:
        return round(bottom - (value - 1) * 82, 1)

    for tick in range(1, 6):
        shapes += [
            Line(across(tick), up(5), across(tick), bottom, "#dddddd"), Words(across(tick), bottom + 16, str(tick)),
            Line(left, up(tick), across(5), up(tick), "#dddddd"), Words(left - 10, up(tick) + 4, str(tick)),
        ]  # fmt: skip
    for name, x, y in zip(names, human.tolist(), metric.tolist(), strict=True):
        colour = "#b5461f" if name in CONTROLS else "#1f5fa8"
        shapes.append(Dot(across(x), up(y), f"{name}: people {x:.2f}, PEM {y:.2f}", colour))
        if name in CONTROLS:
            shapes.append(Words(across(x) + 8, up(y) + 4, name, "start", 10))
    shapes += [
        Words(width / 2, height - 12, "overall score of the raters"),
        Words(16, height / 2, "PEM", turned=True),
    ]
    return Drawing(width, height, shapes)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--plot", type=Path, metavar="FILE")
    options = parser.parse_args()
    held = split(read_parabank(str(PARABANK)))[1]
    pairs = with_controls(held, paraphrase_features("en", PIVOTS, LANGUAGE_MODEL))
    metric = Pem(lang="en")
    found = metric.score_segments([p.paraphrase for p in pairs], [[p.original for p in pairs]])
    overall = np.array([pair.overall for pair in pairs])
    places = members(pairs, len(held))
    names = list(places)

    def by_system(values: Floats) -> Floats:
        return np.array([values[places[name]].mean() for name in names])

    human = by_system(overall)
    rows = {"PEM": found.scores, **dict(zip(metric.feature_names, found.features.T, strict=True))}
    systems = len(names) - len(CONTROLS)
    print(
        f"| Pearson's r | {systems} systems and {len(CONTROLS)} controls | {systems} systems |\n|---|--:|--:|"
    )
    for name, values in rows.items():
        means = by_system(values)
        every, own = (
            statistics.pearson(means, human).value,
            statistics.pearson(means[:systems], human[:systems]).value,
        )
        print(f"| {name} | {every:.4f} | {own:.4f} |")
    if options.plot is not None:
        write_drawing(draw(names, human, by_system(found.scores)), options.plot)


if __name__ == "__main__":
    main()
