"""The registry, metrics that travel, sealed parameters, signatures that miss nothing."""

from __future__ import annotations

import copy
import json
import os
import pickle
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

import tesla_eval
from tesla_eval import (
    FeatureMetric,
    Metric,
    ResourceError,
    SegmentScores,
    Signature,
    TeslaM,
    UsageError,
    create_metric,
)
from tesla_eval.metrics import metric_names
from tesla_eval.metrics.cache import ScoreCache
from tesla_eval.metrics.combinations import Mean
from tesla_eval.metrics.features.ngrams import NgramGroup
from tesla_eval.metrics.registry import registered
from tesla_eval.metrics.segments import References, reference_count

ROOT = Path(__file__).resolve().parents[2]
HYPOTHESES = ["The cats sat on a mat.", "He is ill.", ""]
REFERENCES = ["The cat sat on the mat.", "He is sick today.", "Yes."]
SOURCES = ["A cat sat on my mat for hours.", "He fell ill.", "Yes, he said."]


def segments(metric: Metric) -> list[float]:
    return metric.corpus_score(HYPOTHESES, [REFERENCES], SOURCES).segments.tolist()


def test_every_entry_loads_and_has_a_summary() -> None:
    for name, entry in registered().items():
        cls = entry.load()
        assert issubclass(cls, Metric) and entry.summary, name
        assert cls.id.removeprefix("tesla-") == name


def test_an_unknown_name_gets_a_suggestion() -> None:
    with pytest.raises(UsageError, match=r"unknown metric 'crhf'; did you mean chrf\?"):
        create_metric("crhf")


def made(name: str) -> Metric:
    """The metric; METEOR only where Java and its jar are there."""
    try:
        return create_metric(name, "en")
    except ResourceError:
        if name != "meteor":
            raise
        pytest.skip("METEOR needs Java and its jar")


NAMES = [name for name in metric_names() if name not in ("comet", "comet-qe", "bertscore")]
"""All but those that need a model of the user's."""


@pytest.mark.parametrize("name", NAMES)
def test_a_pickled_and_a_copied_metric_give_the_same_bits(name: str) -> None:
    metric = made(name)
    expected = segments(metric)
    for other in (pickle.loads(pickle.dumps(metric)), copy.deepcopy(metric), copy.copy(metric)):
        assert type(other) is type(metric)
        assert other.get_signature() == metric.get_signature()
        assert segments(other) == expected


def test_metrics_travel_to_spawned_processes() -> None:
    metrics = [made(name) for name in NAMES if name != "meteor"]
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        for metric, found in zip(metrics, pool.map(segments, metrics), strict=True):
            assert found == segments(metric), metric.id


def test_options_travel_too() -> None:
    metric = TeslaM("de", alpha=0.5, max_n=2, workers=2)
    again = pickle.loads(pickle.dumps(metric))
    assert repr(again) == repr(metric) == "TeslaM(lang='de', alpha=0.5, max_n=2, workers=2)"
    assert (again.workers, again.lang) == (2, "de")


class Other(TeslaM):
    groups = (NgramGroup(alpha=0.1),)


class Words(TeslaM):
    groups = (NgramGroup(similarities=("lem",)),)


def test_no_parameter_that_changes_a_score_is_missing_from_the_signature() -> None:
    metrics = [
        TeslaM(), TeslaM(alpha=0.5), TeslaM(discount=0.5), TeslaM(max_n=2), Other(), Words(), TeslaM(synonyms="none"),
        TeslaM("de"),
    ]  # fmt: skip
    signatures = [str(metric.get_signature()) for metric in metrics]
    assert len(set(signatures)) == len(metrics)
    assert str(TeslaM(alpha=0.8).get_signature()) == signatures[0]


def test_the_cache_does_not_mistake_a_subclass_for_its_parent(tmp_path: Path) -> None:
    """A subclass with another alpha had the parent's signature, and the cache gave it the parent's score."""
    with ScoreCache(tmp_path) as cache:
        for metric in (TeslaM(), Other()):
            cached = cache.score(metric, HYPOTHESES, [REFERENCES])
            direct = metric.score_segments(HYPOTHESES, [REFERENCES])
            assert cached.scores.tolist() == direct.scores.tolist()
            again = cache.score(metric, HYPOTHESES, [REFERENCES])
            assert np.array_equal(again.features, direct.features, equal_nan=True)
        assert len(cache) == 2 * len(HYPOTHESES)


def test_parameters_cannot_be_changed_after_construction() -> None:
    metric = TeslaM()
    with pytest.raises(AttributeError, match="fixed; make a new TeslaM"):
        metric.alpha = 0.5
    with pytest.raises(AttributeError):
        metric.lang = "de"
    with pytest.raises(AttributeError):
        metric.groups[0].alpha = 0.5  # type: ignore[misc]
    metric.workers = 2


def test_unknown_options_are_refused_with_those_there_are() -> None:
    with pytest.raises(
        UsageError, match=r"tesla-m has no option 'alhpa' \(options: lang, .*\nhint: did you mean alpha\?"
    ):
        TeslaM(alhpa=0.5)
    with pytest.raises(
        UsageError, match=r"metric tesla-m has no option 'language' .*\nhint: did you mean lang\?"
    ):
        TeslaM(language="en")
    with pytest.raises(
        UsageError, match=r"metric bleu has no option 'language' .*\nhint: did you mean lang\?"
    ):
        create_metric("bleu", language="en")
    with pytest.raises(UsageError, match="tesla-x has no option 'alpha'"):  # weights were learned with one
        create_metric("x", alpha=0.5)


def test_options_of_the_wrong_type_are_refused_with_what_to_pass() -> None:
    with pytest.raises(TypeError, match="metric rouge1: stem must be True or False, not 'no'"):
        create_metric("rouge1", stem="no")
    with pytest.raises(TypeError, match=r"metric tesla-m: alpha must be a number, not '0\.5'"):
        TeslaM(alpha="0.5")
    with pytest.raises(TypeError, match="metric bleu: smooth_method must be a text, not 1"):
        create_metric("bleu", smooth_method=1)
    assert TeslaM(alpha=np.float64(0.5), max_n=np.int64(2)).get_signature()["alpha"] == "0.5"


@pytest.mark.parametrize("workers", [-1, 0, 1.5, "2", None])
def test_a_number_of_threads_that_is_none_is_refused(workers: object) -> None:
    message = "workers must be a whole number from 1 on"
    with pytest.raises(UsageError, match=message):
        TeslaM(workers=workers)
    with pytest.raises(UsageError, match=message):
        TeslaM().workers = workers
    with pytest.raises(UsageError, match=message):
        tesla_eval.evaluate({"a": HYPOTHESES}, [REFERENCES], "m", lang="en", workers=workers)


def test_a_metric_shows_the_language_and_the_threads_that_it_has() -> None:
    assert repr(TeslaM("eng")) == repr(TeslaM(lang="eng")) == "TeslaM(lang='en')"
    metric = TeslaM(lang="en", alpha=0.5, workers=3)
    assert repr(metric) == "TeslaM(lang='en', alpha=0.5, workers=3)"
    metric.workers = 1
    assert repr(metric) == repr(pickle.loads(pickle.dumps(metric))) == "TeslaM(lang='en', alpha=0.5)"
    assert repr(create_metric("bleu", "zh-CN")) == "Bleu(lang='zh')"


def test_a_name_may_carry_options_in_python_too() -> None:
    expected = str(create_metric("bleu", tok="intl", lc=True).get_signature())
    for metric in (
        create_metric("bleu:tok=intl,lc=yes"),
        create_metric("bleu:tok=intl", lowercase=True),
        create_metric("bleu", tokenize="intl", lc=True),
    ):
        assert str(metric.get_signature()) == expected
    assert tesla_eval.score(HYPOTHESES, [REFERENCES], "m:alpha=0.5", lang="en").signature["alpha"] == "0.5"
    with pytest.raises(UsageError, match="bleu:tok=intl: sets tok already; give it once"):
        create_metric("bleu:tok=intl", tokenize="char")
    with pytest.raises(UsageError, match="the option tok is given twice"):
        create_metric("bleu", tok="intl", tokenize="char")
    with pytest.raises(UsageError, match="name one metric, not tesla-m and bleu"):
        create_metric("m,bleu")


@pytest.mark.parametrize("wrong", [str, TeslaM, 3, None, ["m"]])
def test_what_is_no_name_and_no_metric_is_refused(wrong: object) -> None:
    for call in (
        lambda: create_metric(wrong),
        lambda: tesla_eval.score(HYPOTHESES, [REFERENCES], wrong),
        lambda: tesla_eval.explain("a", ["b"], wrong),
    ):
        with pytest.raises(
            TypeError, match=r"a metric is a name, such as 'm' or 'bleu:tok=intl', or a Metric, not"
        ):
            call()


def test_the_short_calls_take_a_metric_object() -> None:
    half = TeslaM("en", alpha=0.5)
    scored = tesla_eval.score(HYPOTHESES, [REFERENCES], metric=half)
    assert scored.segments.tolist() == segments(half) and scored.signature["alpha"] == "0.5"
    assert (
        tesla_eval.explain("A cat.", ["The cat."], half).score
        == half.sentence_score("A cat.", ["The cat."]).score
    )
    with pytest.raises(UsageError, match="options belong to the metric"):
        tesla_eval.score(HYPOTHESES, [REFERENCES], half, alpha=1.0)


def test_several_metrics_lead_to_evaluate() -> None:
    with pytest.raises(UsageError, match=r"give one metric, as metric=.*\nhint: evaluate\("):
        tesla_eval.score(HYPOTHESES, [REFERENCES], metrics=["m", "bleu"])


@pytest.mark.parametrize("metric", ["m", "bleu"])
def test_a_language_that_is_no_text_is_refused(metric: str) -> None:
    for call in (create_metric, lambda name, lang: tesla_eval.score(HYPOTHESES, [REFERENCES], name, lang)):
        with pytest.raises(TypeError, match="a language is a code, such as 'en', not None"):
            call(metric, None)


def test_a_missing_reference_is_left_out_of_an_explanation() -> None:
    explained = tesla_eval.explain("A cat sat.", ["The cat sat.", None], lang="en")
    assert explained.to_dict() == tesla_eval.explain("A cat sat.", ["The cat sat."], lang="en").to_dict()
    scored = TeslaM("en").sentence_score("A cat sat.", ["The cat sat.", None])
    assert (explained.score, explained.signature) == (scored.score, scored.signature)
    alone, empty = (TeslaM("en").explain("A cat sat.", [text]) for text in (None, ""))
    assert alone.score == empty.score == 0


def test_results_say_how_many_references_there_were() -> None:
    metric = TeslaM()
    assert "nrefs" not in metric.get_signature()
    assert metric.sentence_score("a", ["b", "c"]).signature["nrefs"] == "2"
    two = [REFERENCES, [None, "He is ill.", "No."]]
    assert metric.corpus_score(HYPOTHESES, two).signature["nrefs"] == "var"
    assert metric.explain("a", ["b"]).signature["nrefs"] == "1"
    assert reference_count([["a", None], [None, "b"]]) == 1


def test_scores_and_explanations_agree_to_the_last_bit(real_pairs) -> None:
    for name in ("m", "b", "f", "x", "s", "pem", "celab-"):
        metric = create_metric(name, "en")
        for hypothesis, reference in real_pairs[:12]:
            score = metric.sentence_score(hypothesis, [reference, hypothesis[:30]])
            explanation = metric.explain(hypothesis, [reference, hypothesis[:30]])
            assert explanation.score == score.score, name
            assert explanation.signature == score.signature


def test_each_text_is_prepared_once_and_each_problem_solved_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from tesla_eval.metrics.features import ngrams

    calls = []
    original = ngrams.explain_feature
    monkeypatch.setattr(ngrams, "explain_feature", lambda *args: calls.append(args[2]) or original(*args))
    monkeypatch.setattr(TeslaM, "_scorers", None)  # an explanation must not score the pair a second time
    monkeypatch.setattr(ngrams._core.NgramGroup, "compare_segments", None)
    TeslaM().explain("The cats sat.", ["The cat sat."])
    assert len(calls) == len(set(calls)) == 6


def test_the_front_door() -> None:
    result = tesla_eval.score(HYPOTHESES, [REFERENCES], metric="m")
    assert result.segments.tolist() == segments(TeslaM())
    assert tesla_eval.explain("A cat sat.", ["The cat sat."]).to_dict()["metric"] == "tesla-m"
    assert tesla_eval.score(HYPOTHESES, [REFERENCES], metric="m", alpha=0.5).signature["alpha"] == "0.5"


class SourceLength(Metric):
    """A metric that reads the source."""

    id: ClassVar[str] = "source-length"
    uses_source: ClassVar[bool] = True

    def __init__(self, lang: str = "en") -> None:
        self.lang = lang

    def get_signature(self) -> Signature:
        return Signature({"metric": self.id})

    def score_segments(self, hypotheses, references, sources=None) -> SegmentScores:  # type: ignore[override]
        scores = np.array([float(len(text)) for text in sources])
        return SegmentScores(scores, np.empty((len(scores), 0)))


def test_sources_reach_only_the_metrics_that_use_them() -> None:
    assert SourceLength().corpus_score(["a"], [["b"]], sources=["abc"]).score == 3
    assert SourceLength().sentence_score("a", ["b"], sources="ab").score == 2
    assert TeslaM().corpus_score(["a"], [["a"]], sources=["x"]).score == 1
    with pytest.raises(tesla_eval.InputError, match="1 hypotheses, but 2 sources"):
        TeslaM().corpus_score(["a"], [["a"]], sources=["x", "y"])


@pytest.mark.parametrize(
    ("sources", "message"),
    [
        ([None], "source 1 is missing"),
        ([3], "source 1 is 3, not a text"),
        ("a", "sources are a list of texts"),
    ],
)
def test_sources_that_are_no_texts_are_refused(sources: object, message: str) -> None:
    for call in (
        lambda: SourceLength().corpus_score(["a"], [["b"]], sources=sources),
        lambda: tesla_eval.evaluate({"a": ["a"]}, [["b"]], SourceLength(), sources=sources),
    ):
        with pytest.raises(tesla_eval.TeslaError, match=message):
            call()


def test_a_new_metric_takes_ten_lines() -> None:
    class LemmaF(FeatureMetric):
        id: ClassVar[str] = "lemma-f"
        groups = (NgramGroup(similarities=("lem",)),)
        combination = Mean()

    assert LemmaF().sentence_score("The cats sat.", ["The cat sat."]).score == 1.0
    assert len((ROOT / "examples" / "lemma-f" / "lemma_f.py").read_text().splitlines()) <= 14


def test_the_example_package_installs_and_works_everywhere(tmp_path: Path) -> None:
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--target"]
    source = tmp_path / "source"
    source.mkdir()
    for file in (ROOT / "examples" / "lemma-f").iterdir():
        if file.is_file():
            (source / file.name).write_bytes(file.read_bytes())
    subprocess.run([*pip, str(tmp_path / "site"), str(source)], check=True, capture_output=True)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "site")}

    def tesla(*arguments: str) -> str:
        command = [sys.executable, "-m", "tesla_eval.cli", *arguments]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, cwd=ROOT)
        return done.stdout

    files = ["-r", "examples/reference.txt", "examples/system-a.txt", "examples/system-b.txt"]
    scored = json.loads(tesla("score", *files, "-m", "lemma-f,m", "-l", "en", "--format", "json"))
    assert list(scored["metrics"]) == ["lemma-f", "tesla-m"]
    assert "lemma-f" in tesla("compare", *files, "-m", "lemma-f", "-l", "en")
    assert "lemma-f" in tesla("explain", "-m", "lemma-f", "-l", "en", "The cats sat.", "The cat sat.")
    assert "lemma-f" in tesla("rerank", "-m", "lemma-f", "-l", "en", *files, "--format", "json")


def test_a_sentence_is_scored_as_segments_are() -> None:
    """A metric of one's own that scores segments in another way scores sentences in that way too."""

    class Halved(TeslaM):
        id = "halved"

        def score_segments(self, hypotheses: Sequence[str], references: References) -> SegmentScores:
            found = super().score_segments(hypotheses, references)
            return SegmentScores(found.scores / 2, found.features)

    assert Halved().sentence_score("A cat.", ["A cat."]).score == 0.5
