"""sacreBLEU's own paired tests with our metrics: the scores and p-values of `tesla compare`."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from sacrebleu.metrics import BLEU
from sacrebleu.significance import PairedTest

from tesla_eval import InputError, TeslaM, UsageError
from tesla_eval.connect.sacrebleu import TeslaMetric
from tests.pages import ROOT, run_python
from tests.plugs.neighbours import two_systems

FIRST, SECOND, REFERENCES = two_systems()
TRIALS = 2000


def paired(kind: str, jobs: int = 1, **metrics: object):
    systems = [("first", FIRST), ("second", SECOND), ("third", FIRST[::-1])]
    return PairedTest(systems, metrics, [REFERENCES], kind, n_samples=TRIALS, n_jobs=jobs)()


def compared(tesla, write, name: str) -> dict[str, float]:
    files = [write("ref.txt", REFERENCES), write("first.txt", FIRST), write("second.txt", SECOND)]
    asked = ("compare", "-l", "en", "-m", name, "--resamples", str(TRIALS), "--json", "-r", *files)
    (metric,) = json.loads(tesla(*asked).out)["metrics"]
    (pair,) = metric["pairs"]
    return {**pair, "scores": [system["score"] for system in metric["systems"]]}


@pytest.mark.parametrize("name", ["m", "bleu"])
@pytest.mark.parametrize(("kind", "column"), [("ar", "p_randomisation"), ("bs", "p_bootstrap")])
def test_p_values_are_those_of_compare_within_sampling_noise(tesla, write, name, kind, column) -> None:
    metric = TeslaMetric(name, lang="en")
    _, results = paired(kind, tested=metric)
    ours = compared(tesla, write, name)
    assert [result.score for result in results[metric.name][:2]] == pytest.approx(ours["scores"], rel=1e-12)
    p, own = results[metric.name][1].p_value, ours[column]
    noise = math.sqrt(max(own * (1 - own), 1 / TRIALS) * 2 / TRIALS)
    assert abs(p - own) <= 4 * noise, (p, own)
    print(f"{name} {kind}: sacreBLEU {p:.4f}, tesla compare {own:.4f}, standard error {noise:.4f}")


def test_two_processes_give_the_same() -> None:
    metrics = {"m": TeslaMetric("m"), "half": TeslaMetric("m", alpha=0.5), "bleu": BLEU()}
    signatures, one = paired("ar", 1, **metrics)
    _, two = paired("ar", 2, **metrics)
    assert list(one) == ["System", "tesla-m", "tesla-m:alpha=0.5", "BLEU"]
    for name in signatures:
        assert [(r.score, r.p_value) for r in one[name]] == [(r.score, r.p_value) for r in two[name]]
    assert one["tesla-m"][2].p_value < 0.01 < one["tesla-m"][1].p_value
    own = str(TeslaM("en").get_signature())
    assert str(signatures["tesla-m"]) == f"{own}|nrefs:1|ar:{TRIALS}|seed:12345"
    assert "|l:en|" in signatures["tesla-m"].format(short=True)


def test_scores_are_ours_to_the_bit() -> None:
    metric, own = TeslaMetric("m"), TeslaM("en")
    result = metric.corpus_score(FIRST, [REFERENCES], n_bootstrap=200)
    assert result.score == own.corpus_score(FIRST, [REFERENCES]).score
    assert abs(result._mean - result.score) < result._ci
    parsed = json.loads(result.format(signature=str(metric.get_signature()), is_json=True))
    assert parsed["name"] == "tesla-m" and parsed["lang"] == "en" and parsed["bs"] == "200"
    one = metric.sentence_score(FIRST[0], [REFERENCES[0]])
    assert one.score == own.sentence_score(FIRST[0], [REFERENCES[0]]).score


def test_bleu_by_our_name_is_sacrebleus_bleu() -> None:
    _, results = paired("ar", ours=TeslaMetric("bleu"), theirs=BLEU())
    for ours, theirs in zip(results["bleu"], results["BLEU"], strict=True):
        assert ours.score == pytest.approx(theirs.score, rel=1e-12)
        assert ours.p_value == theirs.p_value


def test_references_may_be_kept_ragged_or_an_array() -> None:
    some = [None if i % 2 else text for i, text in enumerate(REFERENCES)]
    metric = TeslaMetric("m", references=[np.array(REFERENCES, object), np.array(some, object)])
    kept = metric.corpus_score(FIRST, None)
    assert kept.score == TeslaM("en").corpus_score(FIRST, [REFERENCES, some]).score
    assert "|nrefs:var" in str(metric.get_signature())


def test_what_cannot_work_says_so() -> None:
    with pytest.raises(InputError, match="no references"):
        TeslaMetric("m").corpus_score(FIRST, None)
    with pytest.raises(InputError, match="reference stream 1 has 1 texts"):
        PairedTest([("a", FIRST)], {"m": TeslaMetric("m")}, [REFERENCES[:1]])
    with pytest.raises(UsageError, match="source"):
        TeslaMetric("s-source")


def test_the_page_runs_as_written(monkeypatch) -> None:
    monkeypatch.chdir(ROOT)
    run_python(ROOT / "docs" / "connect" / "sacrebleu.md", {})
