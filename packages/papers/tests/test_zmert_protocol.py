"""The protocol of the Z-MERT integration, which this package adds to `tesla serve`."""

from __future__ import annotations

import pytest

from tesla_eval.base.errors import UsageError
from tesla_eval.metrics import create_metric
from tesla_eval_papers.tuning.zmert import ZMert


class TestZMert:
    def test_references_then_scores_in_two_parts(self) -> None:
        metric = create_metric("m", "en")
        protocol = ZMert(metric)
        assert protocol.answer(["REFS 2 1", "the cat sat"]) == ""
        assert protocol.answer(["a dog ran", "SCORE 2", "1 ||| a dog ran"]) == "OK 2 1\n"
        lines = protocol.answer(["0 ||| a cat ||| sat"]).splitlines()
        assert lines[0] == "32768 0"
        high, low = map(int, lines[1].split())
        score = metric.sentence_score("a cat ||| sat", ["the cat sat"]).score
        assert ((high << 15) + low) / 2**30 == pytest.approx(score, abs=2**-30)

    @pytest.mark.parametrize(
        "line", ["", "SCORE", "SCORE 0", "SCORE x", "REFS 1", "REFS 0 1", "REFS 70000 1", "REFS 1 -1"]
    )
    def test_bad_requests(self, line: str) -> None:
        assert ZMert(create_metric("m", "en")).answer([line]).startswith("ERROR line 1: ")

    def test_bad_candidates(self) -> None:
        protocol = ZMert(create_metric("m", "en"))
        protocol.answer(["REFS 1 1", "a"])
        assert (
            protocol.answer(["SCORE 1", "5 ||| a"])
            == "ERROR line 4: sentence 5, but there are references for 1\n"
        )
        assert protocol.answer(["SCORE 1", "a"]).startswith("ERROR line 6: must be SENTENCE")
        assert protocol.answer(["SCORE 1", "0 ||| a"]) == "32768 0\n"

    def test_a_metric_of_whole_corpora_knows_all_references(self) -> None:
        references, candidate = ["the cat sat", "the dog ran"], "the cat ran"
        protocol = ZMert(create_metric("nist", "en"))
        answer = protocol.answer(["REFS 2 1", *references, "SCORE 1", f"0 ||| {candidate}"])
        high, low = map(int, answer.splitlines()[1].split())
        score = create_metric("nist", "en").corpus_score([candidate] * 2, [references]).segments[0]
        assert ((high << 15) + low) / 2**30 == pytest.approx(score / 100, abs=2**-30)

    def test_error_rates_are_refused(self) -> None:
        with pytest.raises(UsageError, match="lower is better"):
            ZMert(create_metric("ter", "en"))

    def test_percentages_are_shares(self) -> None:
        protocol = ZMert(create_metric("chrf", "en"))
        assert protocol.answer(["REFS 1 1", "a cat", "SCORE 1", "0 ||| a cat"]) == "OK 1 1\n32768 0\n"
