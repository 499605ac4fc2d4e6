"""`s-source` and `s-x`: the source as evidence, sentence by sentence; the orders that must hold."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from research.summary_orders import KINDS, SETS, Topic, cases_of, kept_order
from tesla_eval import TeslaSRecall, TeslaSSource, TeslaSX, create_metric
from tesla_eval.base.errors import InputError, UsageError
from tesla_eval.judgements.summaries import read_summaries
from tesla_eval.metrics.cache import ScoreCache
from tests.fixtures import SHARED_DATA

SOURCE = "On Monday a storm hit the coast of Portugal. Twelve roads were closed until the evening."
MODELS = ["A storm hit Portugal.", "Roads were closed."]
_SENTENCES = st.lists(
    st.sampled_from(
        ["A storm hit Portugal.", "Roads were closed.", "Twenty roads were closed.", "A kangaroo sang.",
         "Roads were not closed.", "He met Anna in Spain.", "!", "Monday"]
    ),
    max_size=6,
)  # fmt: skip


@cache
def support() -> TeslaSSource:
    return TeslaSSource()


@cache
def overall() -> TeslaSX:
    return TeslaSX()


def supported(text: str, source: str = SOURCE) -> float:
    return support().sentence_score(text, sources=source).score


class TestSupport:
    def test_a_sentence_of_the_source_is_fully_supported(self) -> None:
        assert supported("Twelve roads were closed until the evening.") == 1.0
        assert supported("12 roads were closed until the evening.") > 1.5 * supported(
            "13 roads were closed until the evening."
        )
        assert supported("") == supported("!") == supported("A storm.", "") == 0.0

    def test_other_words_cost_less_than_other_facts(self) -> None:
        said = supported("A storm hit the shore of Portugal.")
        assert said > supported("A storm hit the president of Portugal.")
        for false in (
            "A storm hit the coast of Spain.",
            "Twenty roads were closed.",
            "No storm hit the coast.",
        ):
            assert supported(false) < 0.6 < said

    def test_length_does_not_matter(self) -> None:
        text = "A storm hit the coast. Twelve roads were closed."
        assert supported(f"{text} {text}") == pytest.approx(supported(text))

    @given(st.lists(_SENTENCES, min_size=2, max_size=4))
    @settings(max_examples=20, deadline=None)
    def test_sentences_are_compared_in_blocks_of_any_size(self, texts: list[list[str]]) -> None:
        summaries = [" ".join(sentences) for sentences in texts]
        found = []
        for size in (1, 3, 1 << 16):
            with patch("tesla_eval.metrics.tesla_s_source._PAIRS_AT_ONCE", size):
                found.append(support().evidence(summaries, summaries[::-1]))
        for one in found[:2]:
            np.testing.assert_array_equal(one.closest, found[2].closest)
            np.testing.assert_array_equal(one.contradicted, found[2].contradicted)

    def test_numbers_and_compounds_are_found_in_tokenised_text(self) -> None:
        source = "The 20 - year - old won 1, 600 points and 98. 7 per cent ."
        assert supported("The 20-year-old won 1,600 points and 98.7 per cent.", source) == 1.0
        assert supported("The 20-year-old won 1,700 points.", source) < 0.6

    @given(_SENTENCES)
    @settings(max_examples=40, deadline=None)
    def test_sentences_average_to_the_score(self, sentences: list[str]) -> None:
        text = " ".join(sentences)
        explained = support().explain(text, sources=SOURCE)
        parts = [one.score for one in explained.references[0].support]
        assert explained.score == supported(text)
        assert explained.score == pytest.approx(np.mean(parts) if parts else 0.0, abs=1e-12)
        assert 0.0 <= explained.score <= 1.0

    def test_a_batch_has_the_scores_of_single_summaries(self) -> None:
        texts = [
            "A storm hit Spain.",
            "",
            "Roads were not closed. A storm hit the coast.",
            "A storm hit Spain.",
        ]
        sources = [SOURCE, SOURCE, SOURCE, "A storm hit Spain. Nothing else happened."]
        together = support().score_segments(texts, sources=sources).scores
        assert together.tolist() == [
            supported(text, source) for text, source in zip(texts, sources, strict=True)
        ]

    def test_the_explanation_links_sentences_of_both_texts(self) -> None:
        text = "A storm hit Spain. Roads were not closed."
        first, second = support().explain(text, sources=SOURCE).to_dict()["references"][0]["support"]
        assert (
            first["source"]["text"]
            == SOURCE[first["source"]["start"] : first["source"]["end"]]
            == SOURCE[:44]
        )
        assert second["source"]["text"].startswith("Twelve roads")
        assert [word["surface"] for word in first["unknown"]] == ["Spain"]
        assert text[first["unknown"][0]["start"] : first["unknown"][0]["end"]] == "Spain"
        assert second["contradictions"] == [{"kind": "negation", "reference": "", "hypothesis": "not"}]
        assert first["score"] + second["score"] == pytest.approx(2 * supported(text))

    def test_a_language_without_vectors_compares_words(self) -> None:
        metric = TeslaSSource("nl")
        source = "Maandag trof een storm de kust. Twaalf wegen waren dicht."
        assert metric.sentence_score("Een storm trof de kust.", sources=source).score > 0.8
        assert "vectors" not in metric.get_signature()

    def test_options_are_in_the_signature_and_checked(self) -> None:
        assert TeslaSSource(pair_share=1.0).get_signature()["pair_share"] == "1"
        assert "pair_share" not in support().get_signature()
        with pytest.raises(UsageError, match="between 0 and 1"):
            TeslaSSource(doubted=2.0)


class TestOverall:
    def test_the_score_follows_from_its_parts(self) -> None:
        summary = "A storm hit Portugal. A storm hit Portugal."
        scored = overall().sentence_score(summary, MODELS, SOURCE)
        part = scored.features
        assert part["content"] == TeslaSRecall().sentence_score(summary, MODELS).score
        # storm, hit and Portugal are 3 of the 8 content words of the source, and 9 would be enough
        assert part["amount"] == pytest.approx(3 / 8)
        assert part["distinct"] == pytest.approx(4 / 6)
        factors = part["distinct"] * part["length"] * part["consistent"]
        assert scored.score == pytest.approx((0.4 * part["content"] + 0.6 * part["amount"]) * factors)
        assert overall().explain(summary, MODELS, SOURCE).score == scored.score

    def test_words_that_the_source_repeats_count_more(self) -> None:
        source = "Storm. A storm came. The storm and rain left."
        amounts = [
            overall().sentence_score(text, ["A storm came."], source).features["amount"]
            for text in ("storm", "rain")
        ]
        assert amounts[0] == pytest.approx(3 * amounts[1])

    def test_more_than_half_of_the_source_costs_and_all_of_it_everything(self) -> None:
        words = [f"word{k}" for k in range(100)]
        texts = [" ".join(words[:k]) for k in (10, 50, 75, 100, 100)]
        lengths = overall().score_segments(texts, [["word1 word2"] * 5], [" ".join(words)] * 5).features[:, 3]
        assert lengths.tolist() == pytest.approx([1.0, 1.0, 0.5, 0.0, 0.0])

    def test_a_batch_has_the_scores_of_single_summaries(self) -> None:
        texts = ["A storm hit Spain.", "", "!", "Roads were closed. Roads were closed."]
        sources = [SOURCE, SOURCE, "", "A storm hit Spain."]
        streams = [[MODELS[0]] * 4, [None, MODELS[1], None, MODELS[1]]]
        together = overall().score_segments(texts, streams, sources).scores
        for k, score in enumerate(together.tolist()):
            models = [stream[k] for stream in streams if stream[k] is not None]
            assert score == overall().sentence_score(texts[k], models, sources[k]).score

    def test_the_share_is_an_option(self) -> None:
        content = overall().sentence_score("A storm hit Portugal.", MODELS, SOURCE).features["content"]
        assert TeslaSX(share=0.0).sentence_score("A storm hit Portugal.", MODELS, SOURCE).score == content
        with pytest.raises(UsageError, match="between 0 and 1"):
            TeslaSX(share=-1)


def test_sources_are_needed_and_counted() -> None:
    with pytest.raises(UsageError, match="-s"):
        overall().sentence_score("A storm.", MODELS)
    with pytest.raises(UsageError, match="source"):
        support().sentence_score("A storm.")
    with pytest.raises(InputError, match="2 hypotheses, but 1 sources"):
        support().corpus_score(["a", "b"], sources=["a"])
    for metric in (overall(), support()):
        with pytest.raises(UsageError):
            metric.pairwise(["a"], ["b"])


def test_a_removed_metric_says_why() -> None:
    with pytest.raises(UsageError, match="rewarded copying"):
        create_metric("cremer-x")


def _record(topic: str, system: str, **more: object) -> str:
    row = {"id": topic, "system": system, "hypothesis": "A storm hit Portugal.", "references": MODELS}
    return json.dumps({**row, **more})


def test_summary_records_take_a_source(tesla, tmp_path: Path) -> None:
    file = tmp_path / "summaries.jsonl"
    file.write_text("\n".join([_record("1", "a", source=SOURCE), _record("1", "b")]), encoding="utf-8")
    assert read_summaries(str(file)).sources == (SOURCE,)
    shown = tesla("score", "-m", "s-source,s-x", str(file), "-l", "en", "--json")
    assert shown.status == 0
    for metric in (support(), overall()):
        expected = metric.sentence_score("A storm hit Portugal.", MODELS, SOURCE)
        assert repr(expected.score) in shown.out


def test_sources_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "summaries.jsonl"
    for lines, message in (
        ([_record("1", "a", source=SOURCE), _record("1", "b", source="Other.")], "line 2.*another source"),
        ([_record("1", "a", source=SOURCE), _record("2", "a")], "2 has no source"),
        ([_record("1", "a", source=7)], "line 1.*neither a text"),
    ):
        file.write_text("\n".join(lines), encoding="utf-8")
        with pytest.raises(InputError, match=message):
            read_summaries(str(file))


def test_the_command_line_passes_sources_on(tesla, tmp_path: Path) -> None:
    files = {"sys.txt": "A storm hit Spain.", "ref.txt": MODELS[0], "src.txt": SOURCE}
    for name, text in files.items():
        (tmp_path / name).write_text(text + "\n", encoding="utf-8")
    system, reference, source = (str(tmp_path / name) for name in files)
    scored = tesla("score", "-l", "en", "-m", "s-x", "-r", reference, "-s", source, system, "--json")
    assert scored.status == 0
    expected = overall().sentence_score(files["sys.txt"], [MODELS[0]], SOURCE).score
    assert repr(expected) in scored.out
    explained = tesla("explain", "-l", "en", "-m", "s-x", "-r", reference, "-s", source, system)
    assert "amount" in explained.out
    alone = tesla("explain", "-l", "en", "-m", "s-source", files["sys.txt"], "--source-text", SOURCE)
    assert "unknown name or number: Spain" in alone.out and "closest: On Monday" in alone.out
    page = tesla("explain", "--html", "-l", "en", "-m", "s-source", files["sys.txt"], "--source-text", SOURCE)
    assert '"unsupported": [{"surface": "Spain", "start": 12, "end": 17}]' in page.out
    refused = tesla("score", "-l", "en", "-m", "s-x", "-r", reference, system)
    assert refused.status == 2
    assert "-s" in refused.err


def test_the_cache_tells_sources_apart(tmp_path: Path) -> None:
    with ScoreCache(tmp_path) as cache:
        first = cache.score(support(), ["A storm."], [], sources=[SOURCE]).scores
        second = cache.score(support(), ["A storm."], [], sources=[""]).scores
        assert first[0] > second[0] == 0.0
        cache.score(support(), ["A storm."], [], sources=[SOURCE])
        assert len(cache) == 2


UNSEEN = {
    "s": {"shuffled sentences", "whole source", "shuffled source", "an added contradiction", "negated throughout"},
    "s-recall": {"whole source", "shuffled source", "shuffled sentences", "a sentence repeated", "the summary twice",
                 "an added contradiction", "negated throughout"},
    "s-x": {"shuffled sentences"},
    "s-source": {"one sentence", "whole source", "shuffled source", "shuffled sentences", "a sentence repeated",
                 "the summary twice"},
}  # fmt: skip
"""What a metric cannot see by its definition (docs/tesla-s.md)."""


@cache
def best_summaries() -> list[Topic]:
    """Every third topic of all sets."""
    sets = (read_summaries(str(SHARED_DATA / "summaries" / name)) for name in SETS)
    return [case for one in sets for case in cases_of(one)][::3]


@pytest.mark.skipif(not (SHARED_DATA / "summaries").is_dir(), reason="needs the judged summaries")
@pytest.mark.parametrize("metric", list(UNSEEN))
@pytest.mark.parametrize("kind", list(KINDS))
def test_the_best_summary_scores_above_texts_that_are_worse(metric: str, kind: str) -> None:
    if kind not in UNSEEN[metric]:
        worse = [KINDS[kind](topic) for topic in best_summaries()]
        assert kept_order(metric, best_summaries(), worse).mean() >= 0.8
