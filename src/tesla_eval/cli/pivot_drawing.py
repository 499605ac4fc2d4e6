"""Pivot features drawn for the terminal: phrases, their translations, and where the two texts meet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tesla_eval.cli.terminal import aligned, visible

__all__ = ["draw_pivot"]


def draw_pivot(feature: Mapping[str, Any]) -> Iterator[str]:
    """The n-grams that met; for single words also the phrases of both texts with what each translation carried."""
    rows = [("", f"hypothesis ({feature['name']})", "", "reference", "weight")]
    for entry in sorted(feature["flow"], key=lambda entry: -entry["weight"]):
        line = "═══" if entry["hypothesis"] == entry["reference"] else "───"
        rows.append(
            ("", visible(entry["hypothesis"]), line, visible(entry["reference"]), f"{entry['weight']:.3g}")
        )
    if len(rows) == 1:
        rows.append(("", "no n-gram of the translations is common to both", "", "", ""))
    yield from aligned(rows, numeric=(4,))
    for side in ("hypothesis", "reference"):
        if "segments" in feature:
            yield ""
            yield from _segments(side, feature["pivot"], feature["segments"][side])


def _segments(side: str, pivot: str, segments: list[Mapping[str, Any]]) -> Iterator[str]:
    rows = [("", side, f"in {pivot!r}", "probability", "carried")]
    for segment in segments:
        phrase = visible(segment["phrase"])
        for translation in segment["translations"]:
            carried = f"{translation['carried']:.3g}" if translation["carried"] else "·"
            rows.append(
                ("", phrase, visible(translation["text"]), f"{translation['probability']:.2f}", carried)
            )
            phrase = ""
    yield from aligned(rows, numeric=(3, 4))
