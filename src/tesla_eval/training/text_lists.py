"""Lists of texts with scores, to learn from: JSON Lines of their own, or summaries with human scores."""

from __future__ import annotations

import math
from pathlib import Path

from tesla_eval.errors import InputError, UsageError
from tesla_eval.meta.summaries import SummarySet, read_summaries
from tesla_eval.textio import read_json_lines

__all__ = ["choose_human", "read_text_lists"]

TextList = list[tuple[str, float]]


def read_text_lists(path: str, human: str | None = None) -> list[TextList]:
    """The lists of a file: `{"list": NAME, "text": TEXT, "score": NUMBER}` a line, or summaries, one list a topic.

    `human` names the human score of summaries that have several.
    """
    if not Path(path).is_dir():
        first = next(read_json_lines(path), None)
        if first is None:
            raise InputError(f"{path}: holds no texts")
        if "text" in first[1]:
            return _own_lists(path)
    summaries = read_summaries(path)
    table = summaries.human[choose_human(summaries, human)]
    return [
        [
            (text, float(table[system, topic]))
            for system, row in enumerate(summaries.hypotheses)
            if (text := row[topic]) is not None and not math.isnan(table[system, topic])
        ]
        for topic in range(len(summaries.topics))
    ]


def choose_human(summaries: SummarySet, human: str | None) -> str:
    """The human score of that name, or the only one there is."""
    names = tuple(summaries.human)
    if human is None and len(names) == 1:
        return names[0]
    if not names:
        raise UsageError(f"{summaries.name}: has no human scores")
    if human not in names:
        raise UsageError(f"{summaries.name}: has the human scores {', '.join(names)}; name one with --human")
    return human


def _own_lists(path: str) -> list[TextList]:
    lists: dict[str, TextList] = {}
    for place, row in read_json_lines(path):
        name, text, score = (row.get(key) for key in ("list", "text", "score"))
        if not isinstance(name, str | int) or not isinstance(text, str):
            raise InputError(f"{place}: needs a 'list' (a name) and a 'text'")
        if isinstance(score, bool) or not isinstance(score, int | float) or not math.isfinite(score):
            raise InputError(f"{place}: needs a 'score' that is a number")
        lists.setdefault(str(name), []).append((text, float(score)))
    return list(lists.values())
