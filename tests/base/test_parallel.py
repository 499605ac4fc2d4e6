"""Work by several threads: results in order, items only as needed, errors and interruptions where they belong."""

import gc
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tesla_eval.base import parallel
from tesla_eval.base.parallel import map_in_order


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
def test_items_that_fail_do_so_after_the_results_before_them(workers: int) -> None:
    def five() -> Iterator[int]:
        yield from range(5)
        raise ValueError("no sixth")

    results = map_in_order(str, five(), workers)
    assert [next(results) for _ in range(5)] == list("01234")
    with pytest.raises(ValueError, match="no sixth"):
        next(results)


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_an_interruption_of_the_caller_ends_the_work_at_once(workers: int) -> None:
    caller, interrupted, done = threading.current_thread(), threading.Event(), []

    def work(k: int) -> int:
        if threading.current_thread() is caller:
            interrupted.set()
            raise KeyboardInterrupt
        assert interrupted.wait(30)
        done.append(k)
        return k

    with pytest.raises(KeyboardInterrupt):
        list(map_in_order(work, range(1000), workers))
    assert len(done) <= 3 * workers  # of those that were taken, and not of the rest


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, ValueError])
def test_what_ends_another_thread_is_told_to_the_caller_alone(
    error: type[BaseException], capfd: pytest.CaptureFixture[str]
) -> None:
    caller, failed = threading.current_thread(), threading.Event()

    def work(k: int) -> int:
        if threading.current_thread() is not caller:
            failed.set()
            raise error("in another thread")
        assert failed.wait(30)
        return k

    with pytest.raises(error, match="in another thread"):
        list(map_in_order(work, range(10), 2))
    assert capfd.readouterr() == ("", "")


def test_an_error_keeps_no_item_alive() -> None:
    class Item:
        pass

    def fail(item: Item) -> None:
        raise ValueError("no")

    items = [Item() for _ in range(4)]
    kept = [weakref.ref(item) for item in items]
    gc.disable()
    try:
        with pytest.raises(ValueError, match="no"):
            list(map_in_order(fail, map(items.pop, [0] * 4), 2))
        assert [item() for item in kept] == [None] * 4
    finally:
        gc.enable()


@pytest.mark.parametrize("refusals", [0, 1, 2])
def test_a_system_without_threads_says_so(refusals: int, monkeypatch: pytest.MonkeyPatch) -> None:
    start, started = threading.Thread.start, []

    def refuse(thread: threading.Thread) -> None:
        if len(started) == refusals:
            raise RuntimeError("can't start new thread")
        started.append(thread)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", refuse)
    with pytest.raises(RuntimeError, match="can't start new thread"):
        list(map_in_order(lambda k: time.sleep(0.2), range(100), 4))
    assert not any(thread.is_alive() for thread in started)


def test_a_result_need_not_wait_for_those_after_it() -> None:
    caller, first_done, first_seen, by_caller = (
        threading.current_thread(),
        threading.Event(),
        threading.Event(),
        [],
    )

    def work(k: int) -> int:
        if threading.current_thread() is caller:
            by_caller.append(k)
            assert k == 0 or first_done.wait(30)
        elif k == 0:
            first_done.set()
        else:
            assert first_seen.wait(30)
        return k

    results = map_in_order(work, range(100), 8)  # 24 items are taken
    assert next(results) == 0
    assert len(by_caller) < 10
    first_seen.set()
    assert list(results) == list(range(1, 100))


def test_threads_that_had_nothing_to_do_are_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "_PATIENCE", 0.001)
    caller, by_others = threading.current_thread(), []

    def work(k: int) -> None:
        if threading.current_thread() is not caller:
            by_others.append(k)

    for _ in map_in_order(work, range(40), 2):
        time.sleep(0.02)  # all that was taken is done, and the threads have ended
    assert max(by_others) > 10  # 6 were taken at the beginning


def test_small_items_need_no_thread_each() -> None:
    names = set()

    def work(k: int) -> None:
        names.add(threading.current_thread().name)

    for _ in map_in_order(work, range(5000), 4):
        pass
    assert len(names) <= 40  # 4, but for long pauses of the machine


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
        "from tesla_eval.base.parallel import map_in_order\n"
        "kept = map_in_order(str, iter(int, 1), 3)\n"  # endless
        "print(next(kept))\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", forgetful], check=False, capture_output=True, text=True, timeout=60
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "0\n", "")
