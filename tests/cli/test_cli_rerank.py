"""`tesla rerank`: the default metric, and n-best lists that are none."""

from __future__ import annotations

import pytest


def test_words_that_are_not_written_apart_are_compared_by_characters(tesla, write) -> None:
    chosen = tesla(
        "rerank", "-l", "zh", "-r", write("r", ["买雨伞"]), write("a", ["买伞"]), "--format", "json"
    )
    assert '"metric": "tesla-celab"' in chosen.out


def test_error_rates_choose_the_lowest(tesla, write) -> None:
    files = [write("r", ["It rained."]), write("a", ["Snow fell here."]), write("b", ["It rained."])]
    assert tesla("rerank", "-m", "ter", "-r", *files).out == "It rained.\n"


@pytest.mark.parametrize(
    ("reference", "lines", "message"),
    [
        (["a"], ["9" * 5000 + " ||| a"], "n.best, line 1: must be SEGMENT ||| TEXT"),
        (["a"], ["0 ||| a", ""], "n.best, line 2: must be SEGMENT ||| TEXT"),
        (["a"], ["-1 ||| a"], "n.best, line 1: must be SEGMENT ||| TEXT"),
        (["a"], [], "no candidates for segment 0"),
        ([], [], "r.txt: is empty"),
    ],
)
def test_what_is_no_nbest_list_is_refused(tesla, write, reference, lines, message: str) -> None:
    found = tesla("rerank", "-r", write("r.txt", reference), "--nbest", write("n.best", lines))
    assert (found.status, found.out) == (2, "")
    assert message in found.err


def test_standard_input_is_read_once(tesla) -> None:
    assert "only once" in tesla("rerank", "-r", "-", "--nbest", "-").err
