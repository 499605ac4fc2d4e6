"""Long work: many items at once with results in their order, and telling someone how far it is."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future

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
    """`function` of each item, by `workers` threads; items are taken only as they are needed.

    >>> list(map_in_order(str.upper, "abc", workers=2))
    ['A', 'B', 'C']
    """
    if workers <= 1:
        yield from map(function, items)
        return
    from concurrent.futures import ThreadPoolExecutor  # takes 5 ms: only when asked for

    source = iter(items)
    with ThreadPoolExecutor(workers) as pool:
        pending: deque[Future[Result]] = deque(
            pool.submit(function, item) for item in islice(source, 2 * workers)
        )
        try:
            while pending:
                yield pending.popleft().result()
                pending.extend(pool.submit(function, item) for item in islice(source, 1))
        finally:
            for future in pending:
                future.cancel()
