"""A process that reads requests from standard input and writes answers to standard output until the input ends.

A separate thread reads the input and queues it, on disk if the queue is long. So a client may write everything
before it reads the first answer, and neither side blocks forever. Memory does not grow with the number of lines.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from tempfile import SpooledTemporaryFile
from typing import BinaryIO

from tesla_eval.serving.protocols import Protocol

_BLOCK = 1 << 16
_LINES_AT_ONCE = 512
_IN_MEMORY = 1 << 22
"""Bytes of unread input that are kept in memory; what is more goes to a temporary file."""
_LONGEST_LINE = 8 << 20
"""Bytes: some twenty texts as long as the metrics take them."""


def serve(protocol: Protocol, source: BinaryIO, target: BinaryIO) -> None:
    """Answer until the input ends; answers are flushed whenever no line is waiting."""
    backlog = Backlog()
    thread = threading.Thread(target=_read, args=(source, backlog), daemon=True)
    thread.start()
    for lines in _line_groups(backlog):
        target.write(protocol.answer(lines).encode("utf-8", "backslashreplace"))
        target.flush()


def _read(source: BinaryIO, backlog: Backlog) -> None:
    try:
        while block := source.read1(_BLOCK):  # type: ignore[attr-defined]
            backlog.put(block)
    except (OSError, ValueError):
        pass  # the input is gone: the same as its end
    finally:
        backlog.close()


class Backlog:
    """Bytes that were read and not yet used: first in, first out, in constant memory.

    >>> backlog = Backlog(in_memory=4)
    >>> for block in (b"one", b"two", b"three"):
    ...     backlog.put(block)
    >>> backlog.close()
    >>> b"".join(iter(backlog.get, b""))
    b'onetwothree'
    """

    def __init__(self, in_memory: int = _IN_MEMORY) -> None:
        self._file = SpooledTemporaryFile(in_memory)  # noqa: SIM115
        self._returned = self._size = 0
        self._closed = False
        self._changed = threading.Condition()

    def put(self, block: bytes) -> None:
        """Keep a block; never waits for the reader."""
        with self._changed:
            self._file.seek(self._size)
            self._size += self._file.write(block)
            self._changed.notify()

    def close(self) -> None:
        """Nothing more will come."""
        with self._changed:
            self._closed = True
            self._changed.notify()

    def get(self) -> bytes:
        """The next bytes, as soon as there are any; none at the end."""
        with self._changed:
            self._changed.wait_for(lambda: self._returned < self._size or self._closed)
            if self._returned == self._size:
                self._file.close()
                return b""
            self._file.seek(self._returned)
            block = self._file.read(_BLOCK)
            self._returned += len(block)
            if self._returned == self._size:
                self._file.seek(0)
                self._file.truncate()
                self._returned = self._size = 0
            return block


def _line_groups(backlog: Backlog) -> Iterator[list[str | None]]:
    """The lines that have arrived, some at a time; None for a line that is not UTF-8 or is too long."""
    rest: list[bytes] = []
    size = 0
    too_long = False
    while block := backlog.get():
        *whole, last = block.split(b"\n")
        if whole:
            first = None if too_long else b"".join([*rest, whole[0]])
            lines = [_decoded(first), *map(_decoded, whole[1:])]
            rest, size, too_long = [], 0, False
            for start in range(0, len(lines), _LINES_AT_ONCE):
                yield lines[start : start + _LINES_AT_ONCE]
        if last and not too_long:
            rest.append(last)
            size += len(last)
            if size > _LONGEST_LINE:
                rest, too_long = [], True
    if rest or too_long:
        yield [None if too_long else _decoded(b"".join(rest))]


def _decoded(line: bytes | None) -> str | None:
    if line is None or len(line) > _LONGEST_LINE:
        return None
    try:
        return line.decode("utf-8").removesuffix("\r")
    except UnicodeDecodeError:
        return None
