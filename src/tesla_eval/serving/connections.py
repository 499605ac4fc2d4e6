"""What a connection may cost before anybody knows whether its client may ask for anything; uvicorn does not limit that.

The head of a request is limited in size and time, and so is the number of connections: where there are too many, the
one whose client has been silent for longest is closed.
"""

from __future__ import annotations

from asyncio import TimerHandle, Transport
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

_LARGEST_HEAD = 1 << 16  # bytes of a request's line and headers
_MOST_HEADERS = 128
_SECONDS_FOR_HEAD = 5.0
_MOST_CHUNKS, _SHORTEST_CHUNK = 1000, 64
"""Beyond so many pieces of a body their mean length must be so many bytes: each piece costs time."""
_MOST_PIPELINED = 16  # requests that are sent before the answer to an earlier one
_PIECE = 1 << 12  # bytes in which a head is read
_TOO_LARGE = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n"
    b'{"error":"the headers are larger than %d bytes"}' % _LARGEST_HEAD
)


@dataclass
class Crowd:
    """The connections of a server."""

    most: int
    """How many there may be."""
    seconds: float
    """The time in which a client must read an answer."""
    silent: tuple[OrderedDict[Connection, None], OrderedDict[Connection, None]] = field(
        default_factory=lambda: (OrderedDict(), OrderedDict())
    )
    """Those whose client has the next word, the oldest first: of new clients, and of clients that were answered."""

    def make_room(self) -> None:
        """Close the connection whose client has been silent for longest, new or answered before, whichever are more."""
        new, answered = self.silent
        next(iter(new if len(new) > len(answered) else answered)).abort()


class Connection(HttpToolsProtocol):  # type: ignore[misc]  # uvicorn may be missing where types are checked
    """Uvicorn's connection with limits."""

    def __init__(self, crowd: Crowd, **options: Any) -> None:
        super().__init__(**options)
        self._crowd = crowd
        self._head_bytes = self._body_bytes = self._chunks = 0
        self._in_head, self._is_ending, self._was_answered = True, False, False
        self._deadlines: dict[str, TimerHandle] = {}
        """Of the head, and of the answer that the client reads."""

    def connection_made(self, transport: Transport) -> None:
        """A client has come."""
        super().connection_made(transport)
        self._let_client_speak(_SECONDS_FOR_HEAD)
        if len(self.connections) > self._crowd.most:
            self._crowd.make_room()

    def connection_lost(self, error: Exception | None) -> None:
        """The client has gone, or was left."""
        self._stop_waiting()
        self._clear_deadline("head")
        self._clear_deadline("answer")
        super().connection_lost(error)

    def abort(self) -> None:
        """Leave the client at once."""
        self._stop_waiting()
        self.transport.abort()

    def data_received(self, data: bytes) -> None:
        """Parse what has come; a head is read in pieces, and no further than its limit."""
        while data and not self._is_ending and not self.transport.is_closing():
            size = min(_PIECE, len(data)) if self._in_head else len(data)
            self._head_bytes += size if self._in_head else 0
            if self._head_bytes > _LARGEST_HEAD:
                self._refuse()
                return
            piece, data = data[:size], data[size:]
            super().data_received(piece)
        if self._in_head and self._head_bytes:
            self._set_deadline("head", _SECONDS_FOR_HEAD)

    def on_message_begin(self) -> None:
        """A request begins."""
        if len(self.pipeline) >= _MOST_PIPELINED:
            raise ValueError("too many requests at once")  # the parser makes it a refusal
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header has come."""
        if len(self.headers) >= _MOST_HEADERS:
            raise ValueError("too many headers")
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """The head has come: from now on the application limits the time for the body."""
        self._in_head, self._head_bytes, self._body_bytes, self._chunks = False, 0, 0, 0
        self._clear_deadline("head")
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """A piece of a body has come."""
        self._chunks += 1
        self._body_bytes += len(body)
        if self._chunks > _MOST_CHUNKS and self._body_bytes < self._chunks * _SHORTEST_CHUNK:
            raise ValueError("too many chunks")
        super().on_body(body)

    def on_message_complete(self) -> None:
        """A request has come as a whole: the server has the next word, unless it has answered already."""
        super().on_message_complete()
        self._in_head = True
        if not self.cycle.response_complete:
            self._stop_waiting()

    def on_response_complete(self) -> None:
        """An answer was sent: what is left to come or to be read must come and be read soon."""
        has_next = bool(self.pipeline)
        super().on_response_complete()
        self._was_answered = True
        self._clear_deadline("answer")
        if self.transport.is_closing():  # when the client has read everything
            self._let_client_speak(_SECONDS_FOR_HEAD)
        elif not has_next:
            self._let_client_speak()
            if not self._in_head:  # nobody wants the rest of the request
                self._end()

    def pause_writing(self) -> None:
        """The client is slow to read."""
        super().pause_writing()
        self._let_client_speak()
        self._set_deadline("answer", self._crowd.seconds)

    def resume_writing(self) -> None:
        """The client has read nearly all so far."""
        super().resume_writing()
        if not self.cycle.response_complete:
            self._stop_waiting()

    def timeout_keep_alive_handler(self) -> None:
        """The client has asked for nothing else. Whether it has read its answer does not matter now."""
        self.abort()

    def _refuse(self) -> None:
        if self.cycle is None or self.cycle.response_complete:
            self.transport.write(_TOO_LARGE)
            self._end()
        else:
            self.abort()

    def _end(self) -> None:
        """Read nothing more. A connection closed at once would lose the answer together with what was not read."""
        self._is_ending = True
        self.transport.pause_reading()
        self.transport.write_eof()
        self._set_deadline("head", _SECONDS_FOR_HEAD)

    def _let_client_speak(self, seconds: float | None = None) -> None:
        """The client has the next word, and so many seconds for it."""
        self._stop_waiting()
        self._crowd.silent[self._was_answered][self] = None
        if seconds is not None:
            self._set_deadline("head", seconds)

    def _stop_waiting(self) -> None:
        for silent in self._crowd.silent:
            silent.pop(self, None)

    def _set_deadline(self, what: str, seconds: float) -> None:
        """Leave the client after so many seconds, or earlier if that was said before."""
        if what not in self._deadlines:
            self._deadlines[what] = self.loop.call_later(seconds, self.abort)

    def _clear_deadline(self, what: str) -> None:
        if what in self._deadlines:
            self._deadlines.pop(what).cancel()
