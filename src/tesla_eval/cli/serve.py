"""`tesla serve`: scores for other programs, over standard input and output or over HTTP."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

from tesla_eval.base.errors import need_package
from tesla_eval.cli.shared.command import Command
from tesla_eval.cli.shared.options import auto_language_option, quiet_option
from tesla_eval.cli.shared.plugged import plugged
from tesla_eval.cli.shared.terminal import note, warn
from tesla_eval.language.choice import AUTO, resolve
from tesla_eval.metrics import Metric, create_metric, default_metrics
from tesla_eval.metrics.requests import parse_requests
from tesla_eval.serving.protocols import PROTOCOLS, Protocol
from tesla_eval.serving.stdio import serve as answer

_ADDED = "tesla_eval.protocols"
"""The group of entry points under which other packages add protocols."""
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


def _protocols() -> dict[str, type[Protocol]]:
    """The protocols by name, those of other packages too."""
    return {**{point.name: point.load() for _, point in plugged(_ADDED)}, **PROTOCOLS}


@click.command(cls=Command)
@click.option(
    "--protocol",
    type=click.Choice(sorted({*PROTOCOLS, *(point.name for _, point in plugged(_ADDED))})),
    default="jsonl",
    help="jsonl: JSON Lines. meteor: the protocol of METEOR -stdio. zmert: that of Z-MERT (tesla-eval-papers).",
)
@click.option(
    "--http", "over_http", is_flag=True, help="Serve many clients over HTTP instead (docs/serve.md)."
)
@click.option("--host", default="127.0.0.1", help="With --http: the address to listen on.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8000, help="With --http: the port; 0 chooses a free one."
)
@click.option(
    "--token",
    envvar="TESLA_EVAL_TOKEN",
    help="With --http: a secret that clients must send. [env: TESLA_EVAL_TOKEN]",
)
@click.option(
    "--max-body",
    type=click.FloatRange(0, min_open=True),
    default=8.0,
    metavar="MB",
    help="With --http: the maximum size of a request.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(0, min_open=True),
    default=60.0,
    metavar="SECONDS",
    help="With --http: the time limit for a request.",
)
@click.option("--queue", type=click.IntRange(1), default=256, help="With --http: how many requests may wait.")
@click.option("-j", "--jobs", type=click.IntRange(1), default=1, help="With --http: threads.")
@click.option(
    "-m",
    "--metric",
    "metrics",
    multiple=True,
    metavar="NAME[:KEY=VALUE,...]",
    help="The metric. With --http: the metrics that clients may use, repeatable.  [default: m; celab for languages "
    "written without spaces; with --http all except METEOR, COMET and BERTScore]",
)
@auto_language_option
@quiet_option
def serve(
    protocol: str,
    over_http: bool,
    host: str,
    port: int,
    token: str | None,
    max_body: float,
    timeout: float,
    queue: int,
    jobs: int,
    metrics: tuple[str, ...],
    language: str,
) -> None:  # fmt: skip
    """Score requests from standard input, with answers on standard output, until the input ends; or over HTTP.

    With -l auto, the language of all requests is identified from the references of the first ones, and printed to
    standard error. Over HTTP every request has its own language.

    \b
    echo '{"hyp": "A cat sat.", "refs": ["The cat sat."]}' | tesla serve -m m -l en
    tesla serve --http --port 8000
    """
    if over_http:
        for module in ("starlette", "uvicorn", "httptools"):
            need_package(module, "'tesla-eval[http]'", "--http")
        from tesla_eval.serving.http import Limits, Service, listen, run

        limits = Limits(int(max_body * (1 << 20)), timeout, queue)
        service = Service(metrics, language, limits=limits, token=token or "", jobs=jobs, host=host)
        with listen(host, port) as server_socket:
            if host not in _LOOPBACK and not token:
                warn(f"{host} is open to other machines: set --token so that only your clients can use it")
            address = f"[{host}]" if ":" in host else host
            note(f"serving on http://{address}:{server_socket.getsockname()[1]}")
            run(service, server_socket, timeout)
        return
    if len(metrics) > 1 or any("," in text.partition(":")[0] for text in metrics):
        raise click.UsageError(f"without --http, serve takes one metric, not {' '.join(metrics)}")

    # Clients read standard error as trouble, so nothing is said there of what a language lacks.
    def make(texts: Sequence[str]) -> Metric:
        code = resolve(language, texts, note)
        (request,) = parse_requests(metrics or default_metrics(code).split(",")[:1])
        return create_metric(request.entry.name, code, **request.options)

    parse_requests(metrics)  # a name that is wrong is refused at once
    answer(
        _protocols()[protocol](make if language == AUTO else make(())), sys.stdin.buffer, sys.stdout.buffer
    )
