"""Long tasks: process many items in parallel, return results in order, and report progress."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from numbers import Integral
from queue import Empty, SimpleQueue
from typing import Any, Generic, Protocol, TypeVar

from tesla_eval.base.errors import UsageError

_TAKEN_AHEAD = 3  # items for each worker
_PATIENCE = 0.1  # seconds that a thread waits for another task

Item = TypeVar("Item")
Result = TypeVar("Result")


class Progress(Protocol):
    """Is told how far long work is; the command line draws it as a bar."""

    def stage(self, name: str, total: int | None = None) -> None:
        """The next stage of the work begins; it has `total` items, if that is known."""

    def advance(self, done: int) -> None:
        """Report that this many more items of the stage are done."""


class _NoProgress:
    """For work that nobody watches."""

    def stage(self, name: str, total: int | None = None) -> None:
        pass

    def advance(self, done: int) -> None:
        pass


NO_PROGRESS: Progress = _NoProgress()
"""The default where progress can be told."""


class Stop(Protocol):
    """Ends work that is not Python's, in the threads that watch it: the core's `StopToken`."""

    def watch(self) -> None:
        """From now on, the calling thread can be stopped."""

    def stop(self) -> None:
        """End the work of the threads that watch."""


def check_workers(workers: object) -> None:
    """Refuse a number of threads that is none.

    >>> check_workers(-1)
    Traceback (most recent call last):
    tesla_eval.base.errors.UsageError: workers must be a whole number from 1 on, not -1
    """
    if not isinstance(workers, Integral) or workers < 1:
        raise UsageError(f"workers must be a whole number from 1 on, not {workers!r}")


def map_in_order(
    function: Callable[[Item], Result], items: Iterable[Item], workers: int, stop: Stop | None = None
) -> Iterator[Result]:
    """`function` of each item, by `workers` threads, of which the caller is one; items are taken as they are needed.

    Errors of the function and of the items come in their place, after the results before them. Ctrl-C ends the
    Python code of all threads, and with `stop` other work too.

    >>> list(map_in_order(str.upper, "abc", workers=2))
    ['A', 'B', 'C']
    """
    if workers <= 1:
        yield from map(function, items)
        return
    source = iter(items)
    crew = _Crew(workers - 1, stop)
    tasks: deque[_Task[Result]] = deque()  # whose results are still to come
    try:
        while True:
            while len(tasks) < _TAKEN_AHEAD * workers and (task := _next_task(function, source)):
                tasks.append(task)
                crew.add(task)
            if not tasks:
                return
            while not tasks[0].is_done and crew.do_next():
                pass
            yield tasks.popleft().result()
    except KeyboardInterrupt:
        crew.interrupt()
        raise
    finally:
        crew.stop()


class _Task(Generic[Result]):
    """A call whose result is wanted later."""

    def __init__(self, call: Callable[[], Result]) -> None:
        self._call: Callable[[], Result] | None = call
        self._error: BaseException | None = None
        self._not_done = threading.Lock()
        self._not_done.acquire()

    @property
    def is_done(self) -> bool:
        return not self._not_done.locked()

    def do(self) -> None:
        """Call it. Errors are kept for those who want the result; an interruption is raised at once as well."""
        assert self._call is not None
        try:
            self._result = self._call()
        except Exception as error:
            self._error = error
        except BaseException as error:
            self._error = error
            raise
        finally:
            self._call = None  # and with it the item
            self._not_done.release()

    def result(self) -> Result:
        """What the call returned or raised, when it is done."""
        with self._not_done:
            if self._error is None:
                return self._result
            error, self._error = self._error, None
            try:
                raise error
            finally:
                del error  # its traceback holds this frame


def _next_task(function: Callable[[Item], Result], source: Iterator[Item]) -> _Task[Result] | None:
    """The task of the next item, or one that raises the error of the source."""
    try:
        return _Task(partial(function, next(source)))
    except StopIteration:
        return None
    except Exception as error:
        return _Task(partial(_raise, error))


def _raise(error: Exception) -> Any:
    raise error


class _Crew:
    """Worker threads. A thread without tasks ends after a while, so that no program waits for it forever."""

    def __init__(self, size: int, stop: Stop | None) -> None:
        self._size = size
        self._stop = stop
        # An interruption leaves this queue in order; of a `Condition` it may leave the lock behind.
        self._to_begin: SimpleQueue[_Task[Any] | None] = SimpleQueue()
        self._threads: set[threading.Thread] = set()

    def add(self, task: _Task[Any]) -> None:
        """Let a thread do it, or whoever calls `do_next`."""
        self._to_begin.put(task)
        if len(self._threads) < self._size:
            thread = threading.Thread(target=self._work)
            self._threads.add(thread)
            try:
                thread.start()
            except BaseException:
                self._threads.discard(thread)
                raise

    def do_next(self, patience: float = 0.0) -> bool:
        """Run the next waiting task, if one comes in time; return whether there was one."""
        try:
            task = self._to_begin.get(timeout=patience)
        except Empty:
            return False
        if task is None:
            return False
        task.do()
        return True

    def _work(self) -> None:
        if self._stop is not None:
            self._stop.watch()
        more = True
        with suppress(KeyboardInterrupt):  # of `interrupt`, between two tasks
            while more:
                with suppress(BaseException):  # those who want the result get it
                    more = self.do_next(_PATIENCE)
        self._threads.discard(threading.current_thread())

    def interrupt(self) -> None:
        """Raise KeyboardInterrupt in all threads, wherever their Python code is."""
        import ctypes  # rarely needed

        for thread in self._threads.copy():
            if thread.ident is not None:
                ctypes.pythonapi.PyThreadState_SetAsyncExc(
                    ctypes.c_ulong(thread.ident), ctypes.py_object(KeyboardInterrupt)
                )

    def stop(self) -> None:
        """Begin no other task, end work whose results nobody wants, and wait for the threads."""
        if self._stop is not None:
            self._stop.stop()
        with suppress(Empty):
            while True:
                self._to_begin.get_nowait()
        at_work = self._threads.copy()  # those that end take themselves out
        threads = [thread for thread in at_work if thread.ident is not None]
        for _ in threads:
            self._to_begin.put(None)
        for thread in threads:
            thread.join()
