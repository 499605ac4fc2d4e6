"""Samples in COMET's form, and results as JSON."""

from __future__ import annotations

import io
import json

import pytest

from tesla_eval import InputError, TeslaM, UsageError, evaluate, score, score_samples
from tests.fixtures import shipped_pairs

HYPOTHESES, REFERENCES = (list(side) for side in zip(*shipped_pairs("en")[:20], strict=True))
SAMPLES = [{"src": "x", "mt": mt, "ref": ref} for mt, ref in zip(HYPOTHESES, REFERENCES, strict=True)]


def test_samples_have_the_bits_of_score() -> None:
    expected = score(HYPOTHESES, [REFERENCES], "m", "en").to_dict()
    assert score_samples(SAMPLES, "m", "en").to_dict() == expected
    assert score_samples(SAMPLES, TeslaM("en")).to_dict() == expected
    assert json.loads(json.dumps(expected, allow_nan=False)) == expected


def test_references_may_be_several_and_the_source_is_read_where_it_is_needed() -> None:
    both = [{"mt": mt, "ref": [ref, mt]} for mt, ref in zip(HYPOTHESES, REFERENCES, strict=True)]
    expected = score(HYPOTHESES, [REFERENCES, HYPOTHESES], "m", "en")
    assert score_samples(both, "m", "en").segments.tolist() == expected.segments.tolist()
    summary = [{"src": "A storm hit Portugal on Monday.", "mt": "A storm hit Portugal."}]
    assert score_samples(summary, "s-source", "en").score == 1.0


@pytest.mark.parametrize("samples", [[{"ref": "a"}], ["a"], [{"mt": "a", "hyp": "b", "ref": "c"}]])
def test_other_samples_are_refused(samples) -> None:
    with pytest.raises(InputError, match="sample 1: must be a mapping with mt"):
        score_samples(samples, "m")


def test_an_empty_reference_is_a_text_and_a_source_is_given_for_all_or_none() -> None:
    samples = [{"mt": "a b", "ref": "a b"}, {"mt": "a b", "ref": ""}]
    assert score_samples(samples, "m", "en").segments.tolist() == [1, 0]
    with pytest.raises(InputError, match="sample 2: has no src"):
        score_samples([{"mt": "a", "src": "b"}, {"mt": "a"}], "s-source", "en")
    with pytest.raises(UsageError, match="options belong to the metric"):
        score_samples(samples, TeslaM("en"), alpha=0.5)


def test_samples_without_what_the_metric_reads_are_refused() -> None:
    with pytest.raises((InputError, UsageError)):
        score_samples([{"mt": "a"}], "m", "en")
    with pytest.raises((InputError, UsageError)):
        score_samples([{"mt": "a"}], "s-source", "en")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_bar_is_drawn_on_a_terminal_only(monkeypatch) -> None:
    for stream, wanted, drawn in (
        (Terminal(), True, True),
        (Terminal(), False, False),
        (io.StringIO(), True, False),
    ):
        monkeypatch.setattr("sys.stderr", stream)
        score_samples(SAMPLES, "m", "en", progress=wanted)
        assert ("20/20" in stream.getvalue()) == drawn


def test_an_evaluation_is_json_even_where_a_score_does_not_exist() -> None:
    result = evaluate(
        {"a": ["", "The cat sat."]}, [["A dog.", "The cat sat."]], ["ter", "m", "nist"], lang="en"
    )
    document = result.to_dict()
    assert json.loads(json.dumps(document, allow_nan=False)) == document
    for comparison in (
        evaluate({"a": HYPOTHESES, "b": REFERENCES}, [REFERENCES], "m", lang="en").compare().values()
    ):
        json.dumps(comparison.to_dict(), allow_nan=False)
