"""Scores over HTTP for many clients, on Starlette and uvicorn: requests are scored in batches.

What a client may cost is limited: the size of a body and of a text, the time of a request, the requests that wait. Only
metrics that the server offers are made, with the options that it was started with: a request cannot name a file.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import signal
import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from tesla_eval.base.errors import InputError, TeslaError, UsageError
from tesla_eval.base.version import __version__
from tesla_eval.drawing.explanation import stylesheet
from tesla_eval.drawing.script import asset, content_policy, drawing_script
from tesla_eval.language.choice import AUTO, resolve
from tesla_eval.metrics.base import Metric
from tesla_eval.metrics.registry import BUILT_IN, default_metrics, described, metric_key
from tesla_eval.metrics.requests import MetricRequest, create_metric, parse_requests
from tesla_eval.metrics.scoring import NamedMetric
from tesla_eval.metrics.segments import References, check_references
from tesla_eval.tuning.batching import Batcher, Explaining, Scoring, Work

_NAMED_ONLY = ("meteor", "comet", "comet-qe", "bertscore")
"""Metrics that clients get only if the server was started with them: they need a model or Java."""
_LONGEST_TEXT = 20_000  # characters
_MOST_EXPLAINED = 100  # segments: an explanation is a hundred times as long as its text
_MOST_METRICS = 256  # of all languages that are kept ready
_BODIES_AT_ONCE = 16  # largest bodies that are held at the same time
_MOST_CONNECTIONS = 1000
_PIECE = 1 << 16  # bytes of an answer that are written before the client has read more
_FIELDS = {"hypotheses", "references", "sources", "metrics", "lang"}


@dataclass(frozen=True)
class Limits:
    """What clients may ask of the server."""

    body: int = 8 << 20
    """Bytes of one request."""
    seconds: float = 60.0
    """From the first byte of a body to its end, and then to the answer."""
    queue: int = 256
    """Requests that wait for their results."""


class _Query(NamedTuple):
    """What a client asks for, checked."""

    lang: str
    metrics: list[NamedMetric]
    hypotheses: list[str]
    references: References
    sources: list[str] | None
    drawing: bool


class Service:
    """The application: `metrics` are those that it offers, as `-m` names them; `lang` is the default of requests."""

    def __init__(
        self, metrics: Sequence[str] = (), lang: str = AUTO, *, limits: Limits | None = None, token: str = "",
        jobs: int = 1,
    ) -> None:  # fmt: skip
        names = metrics or [name for name in BUILT_IN if name not in _NAMED_ONLY]
        self._offered = {_spelling(request): request for request in parse_requests(names)}
        self._defaults = list(self._offered) if metrics else None
        self._lang, self._token, self._jobs = lang, token.encode(), jobs
        self._limits = limits or Limits()
        self._waiting = self._held = 0
        self._metric = lru_cache(_MOST_METRICS)(self._new_metric)
        self.app = Starlette(
            routes=[
                Route("/", self._page),
                Route("/favicon.ico", Response(status_code=204)),
                Route("/health", self._health),
                Route("/openapi.json", self._openapi),
                Route("/metrics", self._guarded(self._metrics)),
                Route("/score", self._guarded(self._score), methods=["POST"]),
                Route("/explain", self._guarded(self._explain), methods=["POST"]),
            ],
            exception_handlers={HTTPException: _refusal, TeslaError: _unprocessable, 500: _internal_error},
            lifespan=self._lifespan,
        )

    @asynccontextmanager
    async def _lifespan(self, app: Starlette) -> AsyncIterator[None]:
        self._batcher = Batcher(self._jobs)
        yield
        await asyncio.to_thread(self._batcher.close, self._limits.seconds)

    def _guarded(self, endpoint: Callable[[Request], Awaitable[Response]]) -> Callable[..., Any]:
        """The endpoint, for clients that know the token."""

        async def checked(request: Request) -> Response:
            given = request.headers.get("authorization", "").removeprefix("Bearer ").encode("latin-1")
            if self._token and not hmac.compare_digest(given, self._token):
                headers = {"WWW-Authenticate": "Bearer"}
                raise HTTPException(401, "send the header Authorization: Bearer TOKEN", headers)
            return await endpoint(request)

        return checked

    async def _health(self, request: Request) -> Response:
        return _json({"status": "ok", "version": __version__, "waiting": self._waiting})

    async def _openapi(self, request: Request) -> Response:
        document = json.loads(_asset("openapi.json"))
        document["info"]["version"] = __version__
        return _json(document)

    async def _page(self, request: Request) -> Response:
        page, policy = _page_and_policy()
        headers = {"Content-Security-Policy": policy, "Referrer-Policy": "no-referrer"}
        return Response(page, media_type="text/html", headers={**_HEADERS, **headers})

    async def _metrics(self, request: Request) -> Response:
        offered = []
        for name, asked in self._offered.items():
            entry, metric = described(asked.entry), asked.entry.load()
            offered.append(
                {
                    "name": name, "id": asked.name, "summary": entry.summary, "scale": entry.scale,
                    "better": entry.better, "languages": entry.languages, "needs_references": metric.needs_references,
                    "uses_source": metric.uses_source, "explains": metric.explain is not Metric.explain,
                }
            )  # fmt: skip
        return _json({"metrics": offered, "default_lang": self._lang})

    async def _score(self, request: Request) -> Response:
        query, scores = await self._answered(request, Scoring, _FIELDS)
        results = [score.to_dict() for score in scores]
        return _json({"lang": query.lang, "results": results}, seconds=self._limits.seconds)

    async def _explain(self, request: Request) -> Response:
        query, explained = await self._answered(request, Explaining, {*_FIELDS, "drawing"})
        results = []
        for metric, explanations in zip(query.metrics, explained, strict=True):
            documents = [one.to_dict() for one in explanations]
            if query.drawing:  # what the script of the page draws
                for document, one in zip(documents, explanations, strict=True):
                    document["drawing"] = one.drawn_data()
            results.append({"metric": metric.name, "explanations": documents})
        return _json({"lang": query.lang, "results": results}, seconds=self._limits.seconds)

    async def _answered(
        self, request: Request, kind: type[Work], fields: set[str]
    ) -> tuple[_Query, list[Any]]:
        """The query and its results; the room that it takes is given back whatever happens."""
        body = bytearray()
        waits = False
        try:
            await _in_time(self._read(request, body), self._limits.seconds)
            if self._waiting >= self._limits.queue:
                raise _busy("too many requests are waiting")
            waits = True
            self._waiting += 1
            query = self._query(_parsed(request, body, fields), explained=kind is Explaining)
            works = [
                kind(metric, query.hypotheses, query.references, query.sources) for metric in query.metrics
            ]
            return query, await self._results(request, works)
        finally:
            self._waiting -= waits
            self._held -= len(body)

    async def _read(self, request: Request, body: bytearray) -> None:
        declared = request.headers.get("content-length", "")
        async for block in request.stream():
            if max(len(body) + len(block), int(declared or 0)) > self._limits.body:
                raise HTTPException(413, f"the body is larger than {self._limits.body} bytes", _CLOSE)
            if self._held > _BODIES_AT_ONCE * self._limits.body:
                raise _busy("too much text is waiting")
            body += block
            self._held += len(block)

    def _query(self, document: Mapping[str, Any], *, explained: bool) -> _Query:
        hypotheses, references = document.get("hypotheses", []), document.get("references", [])
        sources, lang = document.get("sources"), document.get("lang", self._lang)
        names, drawing = document.get("metrics"), document.get("drawing", False)
        _check_lists(hypotheses, references, sources)
        if not isinstance(lang, str):
            raise UsageError('lang must be a text, such as "en"')
        if not isinstance(drawing, bool):
            raise UsageError("drawing must be true or false")
        if explained and len(hypotheses) > _MOST_EXPLAINED:
            raise HTTPException(413, f"more than {_MOST_EXPLAINED} segments to explain: split the request")
        texts = [text for stream in references for text in stream if text is not None]
        code = resolve(lang, texts or hypotheses)
        metrics = [self._metric(name, code) for name in self._chosen(names, code)]
        check_references(hypotheses, references, needed=any(one.metric.needs_references for one in metrics))
        return _Query(code, metrics, hypotheses, references, sources, drawing)

    def _chosen(self, names: object, lang: str) -> list[str]:
        """The names of the metrics that are asked for, each once."""
        if names is None:
            names = self._defaults or default_metrics(lang).split(",")
        if not (isinstance(names, list) and names and all(isinstance(name, str) for name in names)):
            raise UsageError("metrics must be a list of names")
        chosen = dict.fromkeys(
            f"{metric_key(head)}{colon}{options}"
            for head, colon, options in (name.partition(":") for name in names)
        )
        for name in chosen:
            if name not in self._offered:
                raise UsageError(f"no metric {name!r} here; there are {', '.join(self._offered)}")
        return list(chosen)

    def _new_metric(self, name: str, lang: str) -> NamedMetric:
        asked = self._offered[name]
        return NamedMetric(asked.name, create_metric(asked.entry.name, lang, **asked.options))

    async def _results(self, request: Request, works: Sequence[Work]) -> list[Any]:
        """The results of all works; when the client goes or time is over, what is left of them is not done."""
        results = asyncio.gather(*(asyncio.wrap_future(self._batcher.submit(work)) for work in works))
        gone = asyncio.ensure_future(
            request.receive()
        )  # the body is read: only the end of the client can come
        try:
            await asyncio.wait(
                (results, gone), timeout=self._limits.seconds, return_when=asyncio.FIRST_COMPLETED
            )
            if not results.done():
                results.cancel()
                raise HTTPException(
                    499 if gone.done() else 504, f"not done in {self._limits.seconds:g} seconds"
                )
            return list(await results)
        finally:
            gone.cancel()


def _spelling(request: MetricRequest) -> str:
    return f"{request.entry.name}:{request.spelling}" if request.spelling else request.entry.name


def _parsed(request: Request, body: bytearray, fields: set[str]) -> dict[str, Any]:
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise HTTPException(415, "send JSON, with the header Content-Type: application/json")
    try:
        document = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise HTTPException(400, f"the body is not JSON ({error})") from None
    if not isinstance(document, dict) or not document.keys() <= fields:
        raise UsageError(
            f"the body must be an object with the fields {', '.join(sorted(fields))}, and no others"
        )
    return document


def _check_lists(hypotheses: Any, references: Any, sources: Any) -> None:
    lists = [hypotheses, *(references if isinstance(references, list) else [None])]
    lists += [] if sources is None else [sources]
    if not all(isinstance(texts, list) for texts in lists):
        raise UsageError("hypotheses and sources must be lists of texts, references a list of such lists")
    if any(isinstance(text, str) and len(text) > _LONGEST_TEXT for texts in lists for text in texts):
        raise HTTPException(413, f"a text is longer than {_LONGEST_TEXT} characters")
    check_references(hypotheses, references, needed=False)
    if sources is not None and (
        len(sources) != len(hypotheses) or not all(isinstance(s, str) for s in sources)
    ):
        raise InputError(f"{len(hypotheses)} hypotheses, but {len(sources)} sources, or some are not texts")


async def _in_time(reading: Awaitable[None], seconds: float) -> None:
    try:
        await asyncio.wait_for(reading, seconds)
    except asyncio.TimeoutError:  # another class in Python 3.10
        raise HTTPException(408, f"the body did not come in {seconds:g} seconds", _CLOSE) from None


def _busy(reason: str) -> HTTPException:
    return HTTPException(503, f"{reason}; try again later", {"Retry-After": "1", **_CLOSE})


_HEADERS = {"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store"}
_CLOSE = {"Connection": "close"}


class _Paced(Response):  # type: ignore[misc]  # Starlette may be missing where types are checked
    """An answer that is written as fast as the client reads it; a client that stops reading for too long is left."""

    def __init__(self, *content: Any, seconds: float) -> None:
        super().__init__(*content)
        self._seconds = seconds

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if len(self.body) <= _PIECE:
            await super().__call__(scope, receive, send)
            return
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        try:
            for start in range(0, len(self.body), _PIECE):
                piece = {
                    "type": "http.response.body",
                    "body": self.body[start : start + _PIECE],
                    "more_body": True,
                }
                await asyncio.wait_for(send(piece), self._seconds)
            await asyncio.wait_for(send({"type": "http.response.body"}), self._seconds)
        except asyncio.TimeoutError:
            pass  # uvicorn closes a connection whose answer is not complete


def _json(
    document: object,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
    seconds: float = Limits.seconds,
) -> Response:
    text = json.dumps(document, separators=(",", ":"))
    return _Paced(text, status, {**_HEADERS, **(headers or {})}, "application/json", seconds=seconds)


async def _refusal(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return _json({"error": error.detail}, error.status_code, error.headers)


async def _unprocessable(request: Request, error: Exception) -> Response:
    return _json({"error": str(error)}, 422)


async def _internal_error(request: Request, error: Exception) -> Response:
    return _json({"error": "internal error; the server's standard error has more"}, 500)


def _asset(name: str) -> str:
    return asset("tesla_eval.tuning", name)


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
    config = uvicorn.Config(
        service.app, lifespan="on", log_level="warning", access_log=False, server_header=False, proxy_headers=False,
        limit_concurrency=_MOST_CONNECTIONS, timeout_graceful_shutdown=int(seconds) + 1,
        timeout_keep_alive=max(5, int(seconds)),
    )  # fmt: skip
    # Uvicorn raises the signal that ended it once more: a graceful end is a success.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    uvicorn.Server(config).run(sockets=[server_socket])
