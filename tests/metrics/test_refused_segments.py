"""A text that a metric refuses is named once, by its place in what the user gave, whatever road it came by."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from tesla_eval import evaluate
from tesla_eval.base.errors import InputError, SegmentError, TeslaError
from tesla_eval.base.records import Signature
from tesla_eval.choosing.nbest import read_nbest
from tesla_eval.judgements.meta.run import score_metric
from tesla_eval.judgements.nouns import EvalSet
from tesla_eval.metrics.base import Metric
from tesla_eval.metrics.baselines.packaged import PackagedMetric
from tesla_eval.metrics.cache import ScoreCache
from tesla_eval.metrics.results import SegmentScores
from tesla_eval.metrics.scoring import NamedMetric, cut_chunks, score_systems
from tesla_eval.stress import stress
from tesla_eval.stress.kinds import choose_kinds
from tesla_eval_papers.tuning.pool import Pool


class Picky(Metric):
    """Scores the length of a text, and refuses some texts; it does not say which."""

    id = "picky"

    def __init__(self, lang: str = "en", *, refused: str = "refused") -> None:
        self._refused = refused

    def get_signature(self) -> Signature:
        return Signature({"metric": self.id, "version": "1"})

    def score_segments(self, hypotheses, references) -> SegmentScores:
        if any(self._refused in text for text in hypotheses):
            raise InputError("no such text", hint="write another one")
        return SegmentScores(
            np.array([float(len(text)) for text in hypotheses]), np.empty((len(hypotheses), 0))
        )


class Package(PackagedMetric):
    """A metric of another package: it checks its texts, and keeps its scores in the cache."""

    id = "package"
    package = "numpy"
    module = "numpy"

    def _scores(self, hypotheses, references, sources) -> SegmentScores:
        return Picky().score_segments(hypotheses, references)


def texts(count: int, *refused: int) -> list[str]:
    """So many texts, some of which are refused; the index says which."""
    return ["refused" if index in refused else f"text {index}" for index in range(count)]


def references(count: int) -> list[list[str]]:
    return [[f"reference {index}" for index in range(count)]]


def message(error: pytest.ExceptionInfo[TeslaError]) -> str:
    return Exception.__str__(error.value)


def test_the_error_says_which_segment_it_is_counted_from_one_and_where_from_zero():
    error = SegmentError(InputError("too long", hint="split it"), 2)
    assert (str(error), error.segment, error.system) == ("segment 3: too long\nhint: split it", 2, "")
    moved = error.moved(6, "sysA")
    assert (str(moved), moved.segment) == ("sysA, segment 7: too long\nhint: split it", 6)
    for same in (copy.copy(moved), pickle.loads(pickle.dumps(moved))):  # it comes back from other processes
        assert (str(same), same.segment, same.system) == (str(moved), 6, "sysA")


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_corpus(jobs):
    metric = Picky()
    metric.workers = jobs
    with pytest.raises(InputError) as error:
        metric.corpus_score(texts(5000, 4321), references(5000))
    assert message(error) == "segment 4322: no such text"


def test_a_sentence_has_no_number():
    with pytest.raises(InputError) as error:
        Picky().sentence_score("refused", ["reference"])
    assert message(error) == "no such text"


def test_several_systems():
    chunks = cut_chunks([texts(3000), texts(3000, 2500)], references(3000), None)
    with pytest.raises(InputError) as error:
        score_systems(["a", "b"], [NamedMetric("picky", Picky())], chunks)
    assert message(error) == "b, segment 2501: no such text"
    with pytest.raises(InputError) as error:
        evaluate({"a": texts(9), "b": texts(9, 4)}, references(9), [Picky()], lang="en")
    assert message(error) == "b, segment 5: no such text"


class TestCache:
    def test_counts_equal_segments_too(self, tmp_path):
        with ScoreCache(tmp_path) as cache, pytest.raises(InputError) as error:
            cache.score(Picky(), ["a", "a", "refused"], [["x", "x", "x"]])
        assert message(error) == "segment 3: no such text"

    def test_counts_known_segments_too(self, tmp_path):
        with ScoreCache(tmp_path) as cache:
            cache.score(Picky(), texts(700), references(700))
            with pytest.raises(InputError) as error:
                cache.score(Picky(), texts(2000, 1999), references(2000))
        assert message(error) == "segment 2000: no such text"


@pytest.mark.parametrize(("last", "reason"), [
    ("refused", "no such text"), ("\ud800", "a text is not valid Unicode: it has a lone surrogate"),
])  # fmt: skip
def test_a_packaged_metric_says_it_once(tmp_path, monkeypatch, last, reason):
    monkeypatch.setenv("TESLA_EVAL_CACHE", str(tmp_path / "cache"))
    (tmp_path / "model").mkdir()
    metric = Package(model=str(tmp_path / "model"))
    with pytest.raises(InputError) as error:
        metric.corpus_score(["a", "a", *texts(600), last], references(603))
    assert message(error) == f"segment 603: {reason}"


def test_stress_names_the_output_or_the_kind_of_damage():
    outputs = {"a": ["It rains.", "The cat sat."], "b": ["refused", "A cat sat."]}
    named = [NamedMetric("picky", Picky())]
    with pytest.raises(InputError) as error:
        stress(
            named, [["It was raining.", "The cat sat down."]], "en", outputs, kinds=choose_kinds(["doubled"])
        )
    assert message(error) == "b, segment 1: no such text"
    named = [NamedMetric("picky", Picky(refused="down. The cat"))]
    with pytest.raises(InputError) as error:
        stress(named, [["It was raining.", "The cat sat down."]], "en", kinds=choose_kinds(["doubled"]))
    assert message(error) == "damaged text (doubled), segment 2: no such text"


def test_meta_names_the_system_and_its_own_name_of_the_segment(tmp_path):
    outputs = EvalSet(
        "de-en",
        "news",
        ("a", "b"),
        ("s7", "s8"),
        (("x", "y"), ("x", "refused")),
        (("r", "r"),),
        np.ones((2, 2)),
    )
    with ScoreCache(tmp_path) as cache, pytest.raises(InputError) as error:
        score_metric(Picky(), outputs, cache)
    assert message(error) == "de-en news, b, segment s8: no such text"


def test_candidates_are_named_by_their_segment(write):
    lists = write(
        "n.best", ["0 ||| a ||| f= 1", "0 ||| b ||| f= 2", "1 ||| c ||| f= 1", "1 ||| refused ||| f= 2"]
    )
    pool = Pool(2, ("f",))
    pool.add(read_nbest(lists, None, 2), lists)
    with pytest.raises(InputError) as error:
        pool.score(Picky(), references(2))
    assert message(error) == "candidates of segment 1: no such text"
