"""`tesla serve`: scores for other programs, over standard input and output or over HTTP."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

from tesla_eval.cli.shared.command import command
from tesla_eval.cli.shared.options import auto_language_option, quiet_option
from tesla_eval.cli.shared.terminal import note, warn
from tesla_eval.language.choice import AUTO, resolve
from tesla_eval.metrics import Metric, create_metric, default_metrics
from tesla_eval.metrics.requests import parse_requests
from tesla_eval.tuning.protocols import PROTOCOLS
from tesla_eval.tuning.serve import serve as answer

_LOOPBACK = ("127.0.0.1", "localhost", "::1")


@command()
@click.option(
    "--protocol",
    type=click.Choice(sorted(PROTOCOLS)),
    default="jsonl",
    show_default=True,
    help="jsonl: JSON Lines. meteor: that of METEOR -stdio. zmert: that of integrations/zmert.",
)
@click.option(
    "--http", "over_http", is_flag=True, help="Serve many clients over HTTP instead (docs/serve.md)."
)
@click.option("--host", default="127.0.0.1", show_default=True, help="With --http: the address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8000,
    show_default=True,
    help="With --http; 0: a free one.",
)
@click.option(
    "--token",
    envvar="TESLA_EVAL_TOKEN",
    default="",
    help="With --http: what clients must know. [env: TESLA_EVAL_TOKEN]",
)
@click.option(
    "--max-body",
    type=click.FloatRange(0, min_open=True),
    default=8.0,
    show_default=True,
    metavar="MB",
    help="With --http: the largest request.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(0, min_open=True),
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="With --http: the time for a request.",
)
@click.option(
    "--queue",
    type=click.IntRange(1),
    default=256,
    show_default=True,
    help="With --http: requests that may wait.",
)
@click.option(
    "-j", "--jobs", type=click.IntRange(1), default=1, show_default=True, help="With --http: threads."
)
@click.option(
    "-m",
    "--metric",
    "metrics",
    multiple=True,
    metavar="NAME[:KEY=VALUE,...]",
    help="The metric that scores. With --http: the metrics that are offered, repeatable.  [default: m; celab for "
    "languages written without spaces; with --http all but METEOR and TER]",
)
@auto_language_option
@quiet_option
def serve(
    protocol: str,
    over_http: bool,
    host: str,
    port: int,
    token: str,
    max_body: float,
    timeout: float,
    queue: int,
    jobs: int,
    metrics: tuple[str, ...],
    language: str,
) -> None:  # fmt: skip
    """Answer requests on standard input with scores on standard output, until the input ends; or over HTTP.

    With -l auto, the references of the first requests decide about the language of all; standard error says which one
    it is. Over HTTP every request has a language of its own.

    \b
    echo '{"hyp": "A cat sat.", "refs": ["The cat sat."]}' | tesla serve -m m -l en
    tesla serve --http --port 8000
    """
    if over_http:
        from tesla_eval.connect.batches import need_package

        for module in ("starlette", "uvicorn"):
            need_package(module, "http")
        from tesla_eval.tuning.http import Limits, Service, listen, run

        limits = Limits(int(max_body * (1 << 20)), timeout, queue)
        service = Service(metrics, language, limits=limits, token=token, jobs=jobs)
        with listen(host, port) as server_socket:
            if host not in _LOOPBACK and not token:
                warn(f"{host} is open to other machines: --token keeps strangers out")
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
    answer(PROTOCOLS[protocol](make if language == AUTO else make(())), sys.stdin.buffer, sys.stdout.buffer)
