"""The fuzzers in a small dose, so that they keep working; `make fuzz` and `make sanitize` give them more."""

from __future__ import annotations

import os
import sys
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tesla_eval.metrics import Metric, create_metric
from tests.fuzz import calls, pairs, threads
from tests.fuzz.texts import hostile_pairs

METRICS = ("m", "x", "b", "celab", "s")


@cache
def metric(name: str) -> Metric:
    return create_metric(name, pairs.LANGUAGES.get(name, "en"))


@pytest.mark.parametrize("name", METRICS)
def test_hostile_pairs_are_scored_or_refused(name: str) -> None:
    longest, refused = pairs.fuzz(name, pairs.LANGUAGES.get(name, "en"), 300, seed=42)
    assert longest < 10
    assert refused == 3 * len(pairs.SURROGATES)


@settings(max_examples=int(os.environ.get("FUZZ_EXAMPLES", "30")))
@given(st.lists(st.tuples(st.text(), st.text()), min_size=1, max_size=4), st.sampled_from(METRICS))
def test_any_texts_are_scored_or_refused(found: list[tuple[str, str]], name: str) -> None:
    pairs.score(metric(name), name, found, limit=10)


def test_the_same_seed_gives_the_same_pairs() -> None:
    assert hostile_pairs(3, 50) == hostile_pairs(3, 50) != hostile_pairs(4, 50)


@pytest.mark.filterwarnings("ignore::tesla_eval.base.errors.TeslaWarning")  # the texts are in many languages
@pytest.mark.parametrize("name", ["m", "celab"])
def test_threads_and_workers_change_nothing(name: str) -> None:
    threads.with_workers(name, 100)
    threads.with_threads(name, 100)


@pytest.mark.skipif(sys.platform == "win32", reason="needs fork")
def test_damaged_resources_are_refused() -> None:
    from tests.fuzz import resources

    assert resources.fuzz(15, seed=3, largest=700_000)["failed"] == 0


def test_calls_of_the_core_return_or_are_refused() -> None:
    for name, outcomes in calls.fuzz(240, seed=5).items():
        assert outcomes["returned"] > 0 < outcomes["refused"], name
