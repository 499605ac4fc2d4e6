"""Work on many items at once, results in the order of the items."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import TypeVar

__all__ = ["map_in_order"]

Item = TypeVar("Item")
Result = TypeVar("Result")


def map_in_order(function: Callable[[Item], Result], items: Iterable[Item], workers: int) -> Iterator[Result]:
    """`function` of each item, by `workers` threads; items are taken only as they are needed.

    >>> list(map_in_order(str.upper, "abc", workers=2))
    ['A', 'B', 'C']
    """
    if workers <= 1:
        yield from map(function, items)
        return
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
