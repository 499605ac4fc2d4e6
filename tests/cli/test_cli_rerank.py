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


class TestSources:
    """A metric that reads sources chooses by them, with or without references."""

    ARTICLES = ("A storm hit Spain on Monday. Nobody was hurt.",)
    FILES = ("A storm hit Portugal.", "A storm hit Spain.")

    def test_candidates_are_judged_by_the_source(self, tesla, write) -> None:
        files = [write(f"c{k}", [text]) for k, text in enumerate(self.FILES)]
        asked = ("rerank", "-m", "s-source", "-s", write("s", list(self.ARTICLES)))
        assert tesla(*asked, *files).out == "A storm hit Spain.\n"
        lists = write("n.best", [f"0 ||| {text}" for text in self.FILES])
        assert tesla(*asked, "--nbest", lists).out == "A storm hit Spain.\n"
        table = tesla(*asked, "-r", write("r", ["A storm hit Portugal."]), *files, "--format", "table").out
        assert table.startswith("reference  A storm hit Portugal.")
        (line,) = tesla(*asked, *files, "--format", "json").out.splitlines()
        assert '"reference": null' in line

    def test_a_missing_source_is_advised_where_it_can_be_given(self, tesla, write) -> None:
        found = tesla("rerank", "-m", "s-source", "-r", write("r", ["a"]), write("c", ["a"]))
        assert (found.status, found.out) == (2, "")
        assert "error: tesla-s-source needs the source texts\nhint: give a file with -s to" in found.err

    def test_references_are_needed_where_the_metric_reads_them(self, tesla, write) -> None:
        source, candidates = write("s", ["a"]), write("c", ["a"])
        assert "give references with -r" in tesla("rerank", "-m", "m", "-s", source, candidates).err
        told = tesla("rerank", "-m", "m", "-s", source, "-r", source, candidates).err
        assert "warning: the source has no effect: tesla-m does not read it" in told
