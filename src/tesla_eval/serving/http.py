"""Scores over HTTP for many clients, on Starlette and uvicorn: requests are scored in batches.

What a client may cost is limited: its connection (`connections`), its request (`queries`), its turns (`batching`), and
here the requests that are held at once. Small requests do not wait for large ones. Only metrics that the server offers
are made, with the options that it was started with: a request cannot name a file.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import re
import signal
import socket
import sys
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from tesla_eval.base.errors import TeslaError, UsageError
from tesla_eval.base.version import __version__
from tesla_eval.drawing.explanation import stylesheet
from tesla_eval.drawing.script import asset, content_policy, drawing_script
from tesla_eval.language.choice import AUTO
from tesla_eval.metrics.base import Metric
from tesla_eval.metrics.registry import BUILT_IN, default_metrics, described, metric_key
from tesla_eval.metrics.requests import MetricRequest, create_metric, parse_requests
from tesla_eval.metrics.scoring import Chunk, NamedMetric, score_texts
from tesla_eval.metrics.segments import check_references
from tesla_eval.serving.batching import Batcher, Explaining, Scoring, TooLargeError, Work
from tesla_eval.serving.connections import Connection, Crowd
from tesla_eval.serving.hosts import Names
from tesla_eval.serving.queries import NotJsonError, Query, read_query

_NAMED_ONLY = ("meteor", "comet", "comet-qe", "bertscore")
"""Metrics that clients get only if the server was started with them: they need a model or Java."""
_MOST_METRICS = 256  # of all languages that are kept ready
_MAKERS = 2  # threads that make metrics
_SMALL = {Scoring: 1 << 16, Explaining: 1 << 11}
"""Bytes of a body: larger requests have limits of their own, so that they never keep small ones out."""
_MOST_LARGE = 16  # large requests at once: each may take 100 MB
_MOST_CONNECTIONS = 1000
_BACKLOG = 4096  # connections that wait to be accepted; more are tried again by their clients after a second
_SECONDS_OF_A_THREAD = 0.0005  # of Python code, before another one, such as the event loop, may go on
_LONGEST_ANSWER = 32 << 20  # characters
_LONGEST_ERROR = 200  # characters
_PIECE = 1 << 16  # bytes of an answer that are written before the client has read more
_WARM_UP = "A cat sat on 2 mats."


@dataclass(frozen=True)
class Limits:
    """What clients may ask of the server."""

    body: int = 8 << 20
    """Bytes of one request."""
    seconds: float = 60.0
    """From the first byte of a body to its end, then to the answer, and then until the client has read it."""
    queue: int = 256
    """Requests that wait for their results."""


class _Room:
    """Places for requests: one is taken when a request begins to cost something, and given back at its end."""

    def __init__(self, most: int) -> None:
        self._most, self.taken = most, 0

    def take(self) -> None:
        if self.taken >= self._most:
            raise HTTPException(
                503, "too many requests are waiting; try again later", {"Retry-After": "1", **_CLOSE}
            )
        self.taken += 1

    def give_back(self) -> None:
        self.taken -= 1


class Service:
    """The application: `metrics` are those that it offers, as `-m` names them; `lang` is the default of requests."""

    def __init__(
        self, metrics: Sequence[str] = (), lang: str = AUTO, *, limits: Limits | None = None, token: str = "",
        jobs: int = 1, host: str = "127.0.0.1",
    ) -> None:  # fmt: skip
        names = metrics or [name for name in BUILT_IN if name not in _NAMED_ONLY]
        requests = parse_requests(names)
        self._offered = {_spelling(request): request for request in requests}
        if len(self._offered) < len(requests):
            raise UsageError(
                "two metrics differ only in the folder of a file: clients could not tell them apart"
            )
        for request in requests:
            request.entry.load()  # imported now, and not while clients wait
        self._defaults = list(self._offered) if metrics else None
        self._lang, self._token, self._jobs = lang, token.encode(), jobs
        self._names = Names(host)
        self._limits = limits or Limits()
        self._small, self._large = _Room(self._limits.queue), _Room(min(self._limits.queue, _MOST_LARGE))
        self._made: OrderedDict[tuple[str, str], asyncio.Future[NamedMetric]] = OrderedDict()
        self._starlette = Starlette(
            routes=[
                Route("/", self._page),
                Route("/favicon.ico", Response(status_code=204)),
                Route("/health", self._health),
                Route("/openapi.json", self._openapi),
                Route("/metrics", self._guarded(self._metrics)),
                Route("/score", self._guarded(self._score), methods=["POST"]),
                Route("/explain", self._guarded(self._explain), methods=["POST"]),
            ],
            exception_handlers={
                HTTPException: _refusal, TeslaError: _unprocessable, ClientDisconnect: _left, 500: _internal_error,
            },
            lifespan=self._lifespan,
        )  # fmt: skip
        self._starlette.router.redirect_slashes = False

    async def app(self, scope: Any, receive: Any, send: Any) -> None:
        """The application, for clients that call it by its name; what a request has taken is given back at its end."""
        if scope["type"] == "http" and not self._is_called(scope["headers"]):
            refusal = _json(
                {"error": "the headers Host and Origin must name this server (--host)"}, 421, _CLOSE
            )
            await refusal(scope, receive, send)
            return
        scope["rooms"] = []
        try:
            await self._starlette(scope, receive, send)
        finally:
            for room in scope["rooms"]:
                room.give_back()

    def _is_called(self, headers: Sequence[tuple[bytes, bytes]]) -> bool:
        hosts = [value for name, value in headers if name == b"host"]
        origins = [value for name, value in headers if name == b"origin"]
        return len(hosts) == 1 and all(
            self._names.include(value.decode("latin-1")) for value in (*hosts, *origins)
        )

    @asynccontextmanager
    async def _lifespan(self, app: Starlette) -> AsyncIterator[None]:
        self._batcher = Batcher(self._jobs)
        with ThreadPoolExecutor(1) as self._reader, ThreadPoolExecutor(_MAKERS) as self._maker:
            yield
        await asyncio.to_thread(self._batcher.close, self._limits.seconds)

    def _guarded(self, endpoint: Callable[[Request], Awaitable[Response]]) -> Callable[..., Any]:
        """The endpoint, for clients that know the token."""

        async def checked(request: Request) -> Response:
            scheme, _, given = request.headers.get("authorization", "").partition(" ")
            known = hmac.compare_digest(given.strip().encode("latin-1"), self._token)
            if self._token and not (known and scheme.lower() == "bearer"):
                headers = {"WWW-Authenticate": "Bearer"}
                raise HTTPException(401, "send the header Authorization: Bearer TOKEN", headers)
            return await endpoint(request)

        return checked

    async def _health(self, request: Request) -> Response:
        return _json(
            {"status": "ok", "version": __version__, "waiting": self._small.taken + self._large.taken}
        )

    async def _openapi(self, request: Request) -> Response:
        return _Paced(_description(), headers=_HEADERS, media_type="application/json")

    async def _page(self, request: Request) -> Response:
        page, policy = _page_and_policy()
        headers = {"Content-Security-Policy": policy, "Referrer-Policy": "no-referrer"}
        return _Paced(page, media_type="text/html", headers={**_HEADERS, **headers})

    async def _metrics(self, request: Request) -> Response:
        offered = []
        for name, asked in self._offered.items():
            entry, metric = described(asked.entry), asked.entry.load()
            offered.append(
                {
                    "name": name, "id": _shown(asked), "summary": entry.summary, "scale": entry.scale,
                    "better": entry.better, "languages": entry.languages, "needs_references": metric.needs_references,
                    "uses_source": metric.uses_source, "explains": metric.explain is not Metric.explain,
                }
            )  # fmt: skip
        return _json({"metrics": offered, "default_lang": self._lang})

    async def _score(self, request: Request) -> Response:
        return await self._answered(request, Scoring)

    async def _explain(self, request: Request) -> Response:
        return await self._answered(request, Explaining)

    async def _answered(self, request: Request, kind: type[Work]) -> Response:
        """The answer. When the client goes or time is over, what is left of the work is not done."""
        if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            raise HTTPException(415, "send JSON, with the header Content-Type: application/json")
        body = await self._read(request, _SMALL[kind])
        work = asyncio.ensure_future(self._worked(body, kind, is_large=len(body) > _SMALL[kind]))
        gone = asyncio.ensure_future(request.receive())  # what can still come is the end of the client
        try:
            await asyncio.wait(
                (work, gone), timeout=self._limits.seconds, return_when=asyncio.FIRST_COMPLETED
            )
            if not work.done():
                if gone.done():
                    raise ClientDisconnect
                raise HTTPException(504, f"not done in {self._limits.seconds:g} seconds")
            return _Paced(await work, headers=_HEADERS, media_type="application/json")
        finally:
            gone.cancel()
            work.cancel()
            del work  # with an error it would be part of a cycle, and all texts of the request with it

    async def _read(self, request: Request, small: int) -> bytes:
        """The body; the places for the request are taken before it needs them."""
        body = bytearray()
        limit = self._limits.body
        declared = int(request.headers.get("content-length", "") or 0)

        async def read() -> None:
            async for block in request.stream():
                if max(len(body) + len(block), declared) > limit:
                    raise HTTPException(413, f"the body is larger than {limit} bytes", _CLOSE)
                body.extend(block)
                if len(body) > small:
                    self._enter(request, self._large)

        try:
            await asyncio.wait_for(read(), self._limits.seconds)
        except asyncio.TimeoutError:  # another class in Python 3.10
            seconds = self._limits.seconds
            raise HTTPException(408, f"the body did not come in {seconds:g} seconds", _CLOSE) from None
        self._enter(request, self._small)
        return bytes(body)

    def _enter(self, request: Request, room: _Room) -> None:
        """Take a place, once; one among the large requests is also enough."""
        if not request.scope["rooms"]:
            room.take()
            request.scope["rooms"].append(room)

    async def _worked(self, body: bytes, kind: type[Work], *, is_large: bool) -> bytes:
        """The answer to a body; the event loop does only what is soon done."""
        read = partial(self._understood, body, explained=kind is Explaining)
        loop = asyncio.get_running_loop()
        query, names = await loop.run_in_executor(self._reader, read) if is_large else read()
        works = [
            kind(await self._metric(name, query.lang.code), query.hypotheses, query.references, query.sources,
                 query.costs, drawing=query.drawing, longest=_LONGEST_ANSWER // len(names))
            for name in names
        ]  # fmt: skip
        try:
            futures = [asyncio.wrap_future(self._batcher.submit(work)) for work in works]
            results = ",".join(await asyncio.gather(*futures))
        finally:
            for work in works:
                work.future.cancel()  # if another one has failed, or nobody waits any more
        head = json.dumps({"lang": query.lang.code, "lang_assumed": query.lang.assumed})
        return f'{head[:-1]}, "results": [{results}]}}'.encode()

    def _understood(self, body: bytes, *, explained: bool) -> tuple[Query, list[str]]:
        """The query and the names of the metrics that it is about."""
        query = read_query(body, self._lang, len(self._offered), explained=explained)
        names = self._chosen(query)
        if any(self._offered[name].entry.load().needs_references for name in names):
            check_references(query.hypotheses, query.references)
        return query, names

    def _chosen(self, query: Query) -> list[str]:
        """The names of the metrics that are asked for, each once."""
        given = query.metrics or self._defaults or default_metrics(query.lang.code).split(",")
        chosen = dict.fromkeys(
            f"{metric_key(head)}{colon}{options}"
            for head, colon, options in (name.partition(":") for name in given)
        )
        for name in chosen:
            if name not in self._offered:
                raise UsageError(f"no metric {name!r} here; GET /metrics lists them")
        return list(chosen)

    async def _metric(self, name: str, lang: str) -> NamedMetric:
        """The metric for a language; the first who asks for it has it made, in another thread."""
        key = name, lang
        if key not in self._made:
            made = asyncio.get_running_loop().run_in_executor(self._maker, self._new_metric, name, lang)
            made.add_done_callback(lambda made: self._forget_if_failed(key, made))
            self._made[key] = made
            if len(self._made) > _MOST_METRICS:
                self._made.popitem(last=False)
        self._made.move_to_end(key)
        return await asyncio.shield(self._made[key])

    def _forget_if_failed(self, key: tuple[str, str], made: asyncio.Future[NamedMetric]) -> None:
        if made.cancelled() or made.exception():
            self._made.pop(key, None)

    def _new_metric(self, name: str, lang: str) -> NamedMetric:
        asked = self._offered[name]
        try:
            metric = create_metric(asked.entry.name, lang, **asked.options)
        except TeslaError as error:
            raise UsageError(_without_folders(str(error), asked)) from None
        with suppress(Exception):  # many metrics load their tables at the first text
            score_texts(metric, Chunk([[_WARM_UP]], [[_WARM_UP]], [_WARM_UP]))
        return NamedMetric(_shown(asked), metric)


def _spelling(request: MetricRequest) -> str:
    """What clients call a metric: its name, and its options without the folders of files.

    >>> [_spelling(request) for request in parse_requests(["bleu", "m:synonyms=/home/me/own.tsv"])]
    ['bleu', 'm:synonyms=own.tsv']
    """
    options = (re.sub(r"=.*[/\\](?!,)", "=", part) for part in re.split(r"(?<!\\),", request.spelling))
    return f"{request.entry.name}:{','.join(options)}" if request.spelling else request.entry.name


def _shown(request: MetricRequest) -> str:
    """What results call a metric: its id, and the options as clients see them."""
    return request.entry.load().id + _spelling(request).removeprefix(request.entry.name)


def _without_folders(text: str, request: MetricRequest) -> str:
    for value in request.options.values():
        text = text.replace(str(value), re.split(r"[/\\]", str(value))[-1])
    return text


_HEADERS = {"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store"}
_CLOSE = {"Connection": "close"}
_STATUS: dict[type[Exception], int] = {NotJsonError: 400, TooLargeError: 413}


class _Paced(Response):  # type: ignore[misc]  # Starlette may be missing where types are checked
    """An answer that is written as fast as the client reads it."""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        size = len(self.body)
        for start in range(0, max(size, 1), _PIECE):
            end = start + _PIECE
            await send({"type": "http.response.body", "body": self.body[start:end], "more_body": end < size})


def _json(document: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    text = json.dumps(document, separators=(",", ":"))
    return _Paced(text, status, {**_HEADERS, **(headers or {})}, "application/json")


async def _refusal(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return _json({"error": error.detail}, error.status_code, error.headers)


async def _unprocessable(request: Request, error: Exception) -> Response:
    return _json({"error": _shortened(str(error))}, _STATUS.get(type(error), 422))


def _shortened(text: str) -> str:
    """The two ends of a long message, in whose middle stands what the client sent."""
    return text if len(text) <= _LONGEST_ERROR else f"{text[:120]} … {text[-77:]}"


async def _left(request: Request, error: Exception) -> Response:
    return Response(status_code=499)  # nobody reads it


async def _internal_error(request: Request, error: Exception) -> Response:
    return _json({"error": "internal error; the server's standard error has more"}, 500)


def _asset(name: str) -> str:
    return asset("tesla_eval.serving", name)


@lru_cache(maxsize=1)
def _description() -> str:
    document = json.loads(_asset("openapi.json"))
    document["info"]["version"] = __version__
    return json.dumps(document)


@lru_cache(maxsize=1)
def _page_and_policy() -> tuple[str, str]:
    """The page, and the policy that lets it load nothing and speak to this server only."""
    style, script = stylesheet() + _asset("page.css"), f"{drawing_script()}\n{_asset('page.js')}"
    page = _asset("page.html").replace("/*style*/", style).replace("/*script*/", script)
    return page, f"{content_policy(style, script)}; connect-src 'self'; frame-ancestors 'none'"


def listen(host: str, port: int) -> socket.socket:
    """A socket at this address; port 0 takes a free one."""
    try:
        server = socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        raise UsageError(f"cannot listen on {host}, port {port}: {error.strerror or error}") from error
    # Connections inherit it. Without it and without uvloop, answers wait 40 ms for the client's acknowledgement.
    server.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return server


def run(service: Service, server_socket: socket.socket, seconds: float) -> None:
    """Serve until the process is told to end; requests that run are answered first."""
    crowd = Crowd(min(_MOST_CONNECTIONS, _file_limit() // 2), seconds)
    config = uvicorn.Config(
        service.app, interface="asgi3", http=partial(Connection, crowd), ws="none", lifespan="on", log_level="error",
        access_log=False, server_header=False, proxy_headers=False, backlog=_BACKLOG,
        timeout_graceful_shutdown=int(seconds) + 1, timeout_keep_alive=max(5, int(seconds)),
    )  # fmt: skip
    sys.setswitchinterval(_SECONDS_OF_A_THREAD)
    # Uvicorn raises the signal that ended it once more: a graceful end is a success.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    uvicorn.Server(config).run(sockets=[server_socket])


def _file_limit() -> int:
    """How many files and connections the process may have, after it has asked for enough."""
    wanted = 4 * _MOST_CONNECTIONS
    if sys.platform == "win32":
        return wanted
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft in range(wanted):
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (min(wanted, hard) if hard > 0 else wanted, hard))
        soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return soft if soft in range(wanted) else wanted
