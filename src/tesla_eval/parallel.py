"""Long work: many items at once with results in their order, and telling someone how far it is."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from typing import Any, Generic, Protocol, TypeVar

__all__ = ["NO_PROGRESS", "Progress", "map_in_order"]

Item = TypeVar("Item")
Result = TypeVar("Result")


class Progress(Protocol):
    """Is told how far long work is; the command line draws it as a bar."""

    def stage(self, name: str, total: int | None = None) -> None:
        """The next stage of the work begins; it has `total` items, if that is known."""

    def advance(self, done: int) -> None:
        """So many more items of this stage are done."""


class _NoProgress:
    """For work that nobody watches."""

    def stage(self, name: str, total: int | None = None) -> None:
        pass

    def advance(self, done: int) -> None:
        pass


NO_PROGRESS: Progress = _NoProgress()
"""The default where progress can be told."""


def map_in_order(function: Callable[[Item], Result], items: Iterable[Item], workers: int) -> Iterator[Result]:
    """`function` of each item, by `workers` threads, of which the caller is one; items are taken as they are needed.

    >>> list(map_in_order(str.upper, "abc", workers=2))
    ['A', 'B', 'C']
    """
    if workers <= 1:
        yield from map(function, items)
        return
    source = iter(items)
    others = _Crew(workers - 1)
    wanted: deque[_Task[Result]] = deque()
    try:
        while True:
            tasks = [_Task(partial(function, item)) for item in islice(source, 3 * workers - len(wanted))]
            wanted.extend(tasks)
            others.begin(tasks)
            if not wanted:
                return
            while not wanted[0].is_done and others.do_next():
                pass
            yield wanted.popleft().result()
    finally:
        others.stop()


class _Task(Generic[Result]):
    """A call whose result is wanted later."""

    def __init__(self, call: Callable[[], Result]) -> None:
        self._call = call
        self._error: BaseException | None = None
        self._not_done = threading.Lock()
        self._not_done.acquire()

    @property
    def is_done(self) -> bool:
        return not self._not_done.locked()

    def do(self) -> None:
        try:
            self._result = self._call()
        except BaseException as error:
            self._error = error
            if not isinstance(error, Exception):  # whoever is interrupted stops at once
                raise
        finally:
            self._not_done.release()

    def result(self) -> Result:
        """What the call returned or raised, when it is done."""
        with self._not_done:
            if self._error is not None:
                raise self._error
            return self._result


class _Crew:
    """Threads that do tasks. Each ends when there is none left to begin: nobody has to wait for a crew forgotten."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._to_begin: deque[_Task[Any]] = deque()
        self._threads: list[threading.Thread] = []

    def begin(self, tasks: Iterable[_Task[Any]]) -> None:
        """Let the threads do these tasks too; as many of them are started as have ended."""
        self._to_begin.extend(tasks)
        self._threads = [thread for thread in self._threads if thread.is_alive()]
        for _ in range(min(self._size - len(self._threads), len(self._to_begin))):
            self._threads.append(threading.Thread(target=self._do_all))
            self._threads[-1].start()

    def do_next(self) -> bool:
        """Do the next task that nobody has begun; tells whether there was one."""
        try:
            task = self._to_begin.popleft()
        except IndexError:
            return False
        task.do()
        return True

    def _do_all(self) -> None:
        while self.do_next():
            pass

    def stop(self) -> None:
        """Begin no other task, and wait for those that were begun."""
        self._to_begin.clear()
        for thread in self._threads:
            thread.join()
