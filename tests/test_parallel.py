"""Work by several threads: results in order, items only as needed, errors and interruptions where they belong."""

import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tesla_eval.parallel import map_in_order


@given(st.lists(st.integers(), max_size=30), st.integers(0, 6))
def test_is_map(items: list[int], workers: int) -> None:
    assert list(map_in_order(str, items, workers)) == list(map(str, items))


@pytest.mark.parametrize("workers", [2, 3])
def test_results_keep_their_order_when_later_ones_are_ready_first(workers: int) -> None:
    def last_first(k: int) -> int:
        time.sleep(0.002 * (8 - k))
        return k

    assert list(map_in_order(last_first, range(8), workers)) == list(range(8))


@pytest.mark.parametrize("workers", [2, 4])
def test_all_workers_work_at_once_and_the_caller_is_one_of_them(workers: int) -> None:
    together = threading.Barrier(workers, timeout=30)

    def meet(_: int) -> int:
        together.wait()  # goes on when so many are here
        return threading.get_ident()

    met = set(map_in_order(meet, range(workers), workers))
    assert len(met) == workers
    assert threading.get_ident() in met


def test_only_few_items_are_taken_ahead() -> None:
    taken = []

    def source() -> Iterator[int]:
        for k in range(1000):
            taken.append(k)
            yield k

    results = map_in_order(str, source(), 3)
    assert not taken
    for k in range(20):
        assert next(results) == str(k)
        assert len(taken) <= k + 9
    results.close()  # type: ignore[attr-defined]  # a generator
    assert len(taken) <= 28


def test_items_are_taken_by_the_caller_alone() -> None:
    def source() -> Iterator[int]:
        for _ in range(50):
            yield threading.get_ident()

    assert set(map_in_order(lambda ident: ident, source(), 4)) == {threading.get_ident()}


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_an_error_comes_in_the_place_of_its_result(workers: int) -> None:
    def fail_at_five(k: int) -> int:
        if k == 5:
            raise ValueError("five")
        return k

    results = map_in_order(fail_at_five, range(100), workers)
    assert [next(results) for _ in range(5)] == [0, 1, 2, 3, 4]
    with pytest.raises(ValueError, match="five"):
        next(results)
    assert list(results) == []


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_an_interruption_of_the_caller_ends_the_work_at_once(workers: int) -> None:
    caller, done = threading.current_thread(), []

    def work(k: int) -> int:
        if threading.current_thread() is caller:
            raise KeyboardInterrupt
        time.sleep(0.01)
        done.append(k)
        return k

    with pytest.raises(KeyboardInterrupt):
        list(map_in_order(work, range(1000), workers))
    assert len(done) < workers  # those that the others had begun


def test_closing_begins_nothing_and_waits_for_what_was_begun() -> None:
    begun, ended = [], []

    def work(k: int) -> int:
        begun.append(k)
        time.sleep(0.01)
        ended.append(k)
        return k

    results = map_in_order(work, range(1000), 4)
    next(results)
    results.close()  # type: ignore[attr-defined]  # a generator
    so_far = len(begun)
    assert sorted(begun) == sorted(ended)
    time.sleep(0.05)
    assert len(begun) == so_far < 20


def test_work_may_be_shared_again_inside() -> None:
    def total(k: int) -> int:
        return sum(map_in_order(lambda i: i * k, range(10), 3))

    assert list(map_in_order(total, range(20), 3)) == [45 * k for k in range(20)]


def test_a_program_that_forgets_the_rest_can_end() -> None:
    forgetful = (
        "from tesla_eval.parallel import map_in_order\n"
        "kept = map_in_order(str, iter(int, 1), 3)\n"  # endless
        "print(next(kept))\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", forgetful], check=False, capture_output=True, text=True, timeout=60
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "0\n", "")
