"""TESLA-F (specification §8) with all its groups: target features, pivots, language model."""

from __future__ import annotations

import numpy as np
import pytest

from tesla_eval import TeslaB, TeslaF

HYPOTHESES = ["They put forth a proposal.", "He is sleeping.", "", "Hello", "the the the the"]
REFERENCES = ["They put forward a suggestion.", "He sleeps.", "Something", "Hello", "A proposal was made."]


@pytest.fixture(scope="module")
def metric() -> TeslaF:
    return TeslaF("en")


def test_shipped_weights_use_every_group(metric):
    assert metric.feature_names[:6] == ("ms.1", "ms.2", "ms.3", "pos.1", "pos.2", "pos.3")
    assert {name.split(".")[0] for name in metric.feature_names[6:]} == {"cs", "de", "es", "fr", "zh", "lm"}
    for language in ("cs", "de", "es", "fr"):
        assert {"en.lem.1", "lm.3gram"} <= set(TeslaF(language).feature_names)


def test_features_are_those_of_tesla_b(metric):
    found = metric.corpus_score(HYPOTHESES, [REFERENCES])
    bilingual = TeslaB("en").corpus_score(HYPOTHESES, [REFERENCES])
    columns = [bilingual.feature_names.index(name) for name in metric.feature_names[:-1]]
    assert np.array_equal(found.features[:, :-1], bilingual.features[:, columns], equal_nan=True)


def test_scores_lie_between_0_and_1_and_an_empty_side_scores_0(metric):
    found = metric.corpus_score(HYPOTHESES, [REFERENCES]).segments
    assert found[2] == 0.0
    assert ((found >= 0) & (found <= 1)).all()
    assert found[3] > found[4]


def test_the_raw_score_orders_segments_alike(metric):
    raw = TeslaF("en", scaled=False)
    some = [0, 1, 3, 4]
    scaled = metric.corpus_score([HYPOTHESES[k] for k in some], [[REFERENCES[k] for k in some]]).segments
    linear = raw.corpus_score([HYPOTHESES[k] for k in some], [[REFERENCES[k] for k in some]]).segments
    assert np.argsort(scaled).tolist() == np.argsort(linear).tolist()
    assert raw.get_signature()["scaled"] == "no"


def test_explanation_has_weights_and_phrases(metric, tesla):
    detail = metric.explain(HYPOTHESES[0], [REFERENCES[0]]).to_dict()["references"][0]
    by_name = {entry["name"]: entry for entry in detail["features"]}
    assert by_name["fr.lem.1"]["segments"]["hypothesis"]
    assert isinstance(by_name["fr.lem.1"]["weight"], float)
    assert "value" in by_name["lm.3gram"]
    done = tesla("explain", "-m", "f", HYPOTHESES[0], REFERENCES[0])
    assert done.status == 0, done.err
    assert "carried" in done.out
