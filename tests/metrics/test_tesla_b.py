"""TESLA-B (specification §7) and pivot features as a group: what is averaged, what is explained, what is refused."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tesla_eval import TeslaB, TeslaM
from tesla_eval.base.errors import ResourceError
from tesla_eval.language.pivot import installed_pivots, load_phrase_table
from tesla_eval.metrics.features.measures import MEASURES
from tesla_eval.metrics.features.pivots import PivotGroup

HYPOTHESES = ["They put forth a proposal.", "He is sleeping.", "", "Hello", "a b c d e f"]
REFERENCES = ["They put forward a suggestion.", "He sleeps.", "Something", "Hello", "x"]


@pytest.fixture(scope="module")
def metric() -> TeslaB:
    return TeslaB("en")


def test_english_ships_with_five_pivots_and_four_languages_with_english():
    assert installed_pivots("en") == ["cs", "de", "es", "fr", "zh"]
    assert [installed_pivots(language) for language in ("cs", "de", "es", "fr")] == [["en"]] * 4


def test_score_is_half_target_half_pivots(metric):
    found = metric.corpus_score(HYPOTHESES, [REFERENCES])
    target = TeslaM("en").corpus_score(HYPOTHESES, [REFERENCES])
    assert np.array_equal(found.features[:, :6], target.features, equal_nan=True)
    for k in range(len(HYPOTHESES)):
        pivots = found.features[k, 6:]
        there = pivots[~np.isnan(pivots)]
        assert found.segments[k] == pytest.approx((target.segments[k] + there.mean()) / 2)
    assert found.segments[2] == 0.0  # one side is empty
    assert found.segments[3] == 1.0


def test_feature_names_are_those_of_the_specification(metric):
    assert metric.feature_names[:8] == (
        "ms.1",
        "ms.2",
        "ms.3",
        "pos.1",
        "pos.2",
        "pos.3",
        "cs.lem.1",
        "cs.lem.2",
    )
    assert "zh.pos.3" in metric.feature_names


def test_any_text_against_itself_scores_one(metric, real_pairs):
    texts = [text for pair in real_pairs[:150] for text in pair]
    assert set(metric.corpus_score(texts, [texts]).segments.tolist()) == {1.0}


def test_batches_threads_and_order_change_no_bit(real_pairs):
    hypotheses, references = (list(side) for side in zip(*real_pairs[:400], strict=True))
    one = TeslaB("en", pivots=["fr", "de"]).corpus_score(hypotheses, [references])
    two = TeslaB("en", pivots=["fr", "de"], workers=2).corpus_score(hypotheses[::-1], [references[::-1]])
    assert np.array_equal(one.features, two.features[::-1], equal_nan=True)
    assert one.score == two.score


def test_both_sides_without_words():
    metric = TeslaB("en", pivots=["fr"])
    assert metric.corpus_score(["...", "..."], [["...", "!"]]).segments.tolist() == [1.0, 0.0]


def test_pairwise_is_the_same_as_segment_by_segment(metric):
    matrix = metric.pairwise(HYPOTHESES, REFERENCES)
    for j, reference in enumerate(REFERENCES):
        column = metric.corpus_score(HYPOTHESES, [[reference] * len(HYPOTHESES)]).segments
        assert matrix[:, j].tolist() == column.tolist()


def test_signature_names_tables_and_parameters():
    table = load_phrase_table("en", "fr")
    signature = TeslaB("en", pivots=["fr"], least_ngram_probability=0.2).get_signature()
    assert signature["pivots"] == f"fr.{table.resource.fingerprint}.min5"  # phrases seen five times or more
    assert signature["least_ngram_probability"] == "0.2"


def test_a_language_without_tables_is_told_how_to_make_one():
    with pytest.raises(ResourceError, match="tesla train phrase-table -l sv --pivot PIVOT"):
        TeslaB("sv")
    with pytest.raises(
        ResourceError,
        match=r"no phrase table to 'sv' is installed for language 'en' \(installed pivot languages: cs, de",
    ):
        TeslaB("en", pivots=["sv"])


class TestExplanation:
    def explained(self, metric) -> list[dict]:
        explanation = metric.explain(HYPOTHESES[0], [REFERENCES[0]]).to_dict()
        json.dumps(explanation)
        return explanation["references"][0]["features"]

    def test_flows_reach_the_objective_and_give_the_measures(self, metric):
        score = metric.sentence_score(HYPOTHESES[0], [REFERENCES[0]])
        for entry in self.explained(metric):
            carried = sum(link["weight"] * link["similarity"] for link in entry["flow"])
            assert carried == pytest.approx(entry["objective"])
            for measure, side in (("precision", "hypothesis_weight"), ("recall", "reference_weight")):
                ratio = entry["objective"] / entry[side] if entry[side] else 0.0
                assert entry[measure] == pytest.approx(ratio)
            assert entry["f"] == pytest.approx(score.features[entry["name"]])

    def test_phrases_tell_what_each_translation_carried(self, metric):
        entries = [entry for entry in self.explained(metric) if "segments" in entry]
        assert [entry["name"] for entry in entries] == [
            f"{pivot}.lem.1" for pivot in ("cs", "de", "es", "fr", "zh")
        ]
        for entry in entries:
            for side, words in (("hypothesis", 5), ("reference", 5)):
                segments = entry["segments"][side]
                assert [segment["tokens"][0] for segment in segments[1:]] == [
                    s["tokens"][1] for s in segments[:-1]
                ]
                assert segments[-1]["tokens"][1] == words
                carried = sum(one["carried"] for segment in segments for one in segment["translations"])
                assert carried == pytest.approx(entry["objective"])

    def test_the_terminal_shows_phrases_and_translations(self, tesla):
        done = tesla("explain", "-m", "b", HYPOTHESES[0], REFERENCES[0])
        assert done.status == 0, done.err
        for text in ("hypothesis (fr.lem.1)", "in 'fr'", "probability", "carried", "put"):
            assert text in done.out
        only = tesla("explain", "-m", "b", "--feature", "de.pos.2", HYPOTHESES[0], REFERENCES[0])
        assert "hypothesis (de.pos.2)" in only.out
        assert "carried" not in only.out


def test_command_line_scores_m_and_b(tesla, write):
    done = tesla(
        "score", "-m", "m,b", "--format", "json", "-r", write("r", REFERENCES[:2]), write("h", HYPOTHESES[:2])
    )
    assert done.status == 0, done.err
    assert "tesla-b" in done.out
    assert "pivots:" in done.out


def test_group_gives_precision_and_recall_too(metric):
    table = load_phrase_table("en", "fr")
    plain, group = (
        PivotGroup(pivots=[table], measures=measures).bind(metric.analysis) for measures in ((), MEASURES)
    )
    assert [feature.name for feature in group.features[:2]] == ["fr.lem.1.p", "fr.lem.2.p"]
    x, y = metric.analysis.analyse(REFERENCES[:2], HYPOTHESES[:2])
    both = np.arange(2)
    measured = group.compare(group.prepare(x), group.prepare(y), both, both)
    f = plain.compare(plain.prepare(x), plain.prepare(y), both, both)
    assert np.array_equal(measured[:, -f.shape[1] :], f)
    precision, recall = measured[:, 0], measured[:, f.shape[1]]
    assert f[:, 0] == pytest.approx(precision * recall / (0.8 * precision + 0.2 * recall))
