"""Options that several subcommands share."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import click

from tesla_eval.base.errors import ResourceError, TeslaError, UsageError, need_package
from tesla_eval.base.resources import Provenance
from tesla_eval.cli.shared.terminal import be_quiet, warn
from tesla_eval.language.analysis import ConlluAnalyser
from tesla_eval.language.analysis.languages import resolve_language
from tesla_eval.language.analysis.pipeline import NO_SYNONYMS
from tesla_eval.language.analysis.senses import INSTALLED, NONE, find_installed_thesaurus
from tesla_eval.metrics import Metric, default_metrics
from tesla_eval.metrics.language_check import settle_language
from tesla_eval.metrics.registry import BUILT_IN
from tesla_eval.metrics.requests import MetricRequest, parse_requests
from tesla_eval.metrics.scoring import NamedMetric

Command = TypeVar("Command", bound=Callable[..., object])

language_option: Callable[[Command], Command] = click.option(
    "-l", "--lang", "language", default="en",
    help="Language of the texts: ISO 639-1 code or a usual alias.",
)  # fmt: skip
auto_language_option: Callable[[Command], Command] = click.option(
    "-l", "--lang", "language", default="auto",
    help="Language of the texts: an ISO 639-1 code, a usual alias, or a pair (de-en), which means its target. auto "
    "identifies the language from the references, or from the texts used in their place. Texts that are clearly in "
    "another language are an error; write de! to score them all the same.",
)  # fmt: skip
metrics_option: Callable[[Command], Command] = click.option(
    "-m", "--metrics", multiple=True, metavar="NAME[,NAME...] | NAME:KEY=VALUE[,KEY=VALUE...]",
    help=f"Metrics: {', '.join(BUILT_IN)}, and those of other packages. May be given several times. To set options, "
    "name one metric: bleu:tok=intl,lc=yes; `tesla metrics NAME` lists its options. In a value, write \\, for a "
    "comma (quoted for your shell), and + between the items of a list.  "
    "[default: m,x; celab for languages written without spaces; s-recall,s for summaries]",
)  # fmt: skip


def one_metric_option(purpose: str) -> Callable[[Command], Command]:
    """`-m` of a command that takes one metric: the command gets its name and options as text, or None."""
    return click.option(
        "-m", "--metric", multiple=True, callback=_only_metric, metavar="NAME[:KEY=VALUE,...]",
        help=f"{purpose}  [default: m; celab for languages written without spaces; s-recall for summaries]",
    )  # fmt: skip


def _only_metric(context: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> str | None:
    if len(values) > 1 or any("," in value.partition(":")[0] for value in values):
        raise click.UsageError(f"{context.info_name} takes one metric, not {' '.join(values)}")
    return values[0] if values else None


quiet_option: Callable[[Command], Command] = click.option(
    "-q", "--quiet", is_flag=True, expose_value=False, is_eager=True, callback=be_quiet,
    help="No warnings, no progress bar. Errors are still reported.",
)  # fmt: skip


def checked_reference_name(name: str) -> str:
    """The name of a reference; mt-metrics-eval cuts names of files at hyphens."""
    if not re.fullmatch(r"[\w.]+", name):
        raise click.UsageError(f"--reference-name {name}: write letters and digits only, such as refA")
    return name


source_option: Callable[[Command], Command] = click.option(
    "-s", "--source", default=None, metavar="FILE", help="The source texts, for metrics that read them."
)
resamples_option: Callable[[Command], Command] = click.option(
    "--resamples", type=click.IntRange(1), default=None,
    help="Number of resamples in each test.  [default: 20 × pairs compared / alpha, at least 1000]",
)  # fmt: skip

analysed_option: Callable[[Command], Command] = click.option(
    "--analysed", is_flag=True,
    help="The files are CoNLL-U, one sentence per segment; FORM, LEMMA, UPOS and XPOS are used unchanged.",
)  # fmt: skip


def format_option(formats: Iterable[str]) -> Callable[[Command], Command]:
    """`--format`, which the command gets as `output_format`; `--json` is short for one of them."""
    flag: Callable[[Command], Command] = click.option(
        "--json", is_flag=True, is_eager=True, expose_value=False, hidden=True, callback=_set_json
    )
    choice: Callable[[Command], Command] = click.option(
        "--format", "output_format", type=click.Choice(sorted(formats)), default=None, callback=_chosen_format,
        help="Format of the results. --json is short for --format json.  "
        "[default: text; with -o, by the extension .json, .csv, .tsv, .tex or .md]",
    )  # fmt: skip
    return lambda command: choice(flag(command))


_JSON = f"{__name__}.json"
_FORMAT_OF_ENDING = {".json": "json", ".csv": "csv", ".tsv": "tsv", ".tex": "latex", ".md": "markdown"}


def _chosen_format(context: click.Context, parameter: click.Parameter, value: str | None) -> str:
    """The format that was asked for, or that the ending of `-o` (an eager option) means."""
    output: Path | None = context.params.get("output")
    by_ending = "text" if output is None else _FORMAT_OF_ENDING.get(output.suffix.lower(), "text")
    asked: str = context.meta.get(_JSON, value or by_ending)
    return asked


def is_format_of_ending(output: Path | None, *endings: str) -> bool:
    """Whether `-o` has one of these endings, and nothing else says what the format is."""
    context = click.get_current_context()
    asked = context.get_parameter_source("output_format") is not click.core.ParameterSource.DEFAULT
    return output is not None and output.suffix.lower() in endings and not asked and _JSON not in context.meta


def _set_json(context: click.Context, parameter: click.Parameter, value: bool) -> None:
    if value:
        context.meta[_JSON] = "json"


date_option: Callable[[Command], Command] = click.option(
    "--date", "day", default=lambda: date.today().isoformat(), show_default="today", help="To be stored."
)


def judgement_options(command: Command) -> Command:
    """The judged outputs that weights of a translation metric are learned from, and how their features are computed."""
    for option in (
        click.option("--no-cache", is_flag=True, help="Do not use the cache on disk."),
        click.option("-j", "--jobs", type=click.IntRange(1), default=1, help="Threads."),
        date_option,
        click.option(
            "--threshold", type=click.FloatRange(0), default=0.5,
            help="Pairs of scores must differ by at least this many standard deviations.",
        ),
        click.option("--lp", "lps", multiple=True, metavar="LP", help="Only this language pair; repeatable."),
        click.option(
            "--pairs", multiple=True, metavar="FILE",
            help="Pairwise preferences: *.pairs.tsv[.gz]; repeatable. Without it, pairs are made from the scores.",
        ),
        click.option(
            "--segments", multiple=True, required=True, metavar="FILE",
            help="Outputs, references, human scores: *.seg.tsv[.gz]; repeatable.",
        ),
    ):  # fmt: skip
        command = option(command)
    return command


def provenance_options(
    sources: str = "Where the data comes from, to be stored.",
) -> Callable[[Callable[..., object]], Callable[..., object]]:
    """Licence, sources (with their help text) and date of what a user makes; the command gets a `Provenance`."""

    def decorate(command: Callable[..., object]) -> Callable[..., object]:
        @click.option("--licence", help="The licence of the data, to be stored.")
        @click.option("--source", "sources", multiple=True, help=sources)
        @date_option
        @wraps(command)
        def with_provenance(
            *, licence: str | None, sources: tuple[str, ...], day: str, **others: Any
        ) -> object:
            return command(provenance=Provenance(sources, licence or "", day), **others)

        return with_provenance

    return decorate


def refuse(problems: Mapping[str, object]) -> None:
    """Bad usage is an error: the first message whose condition holds."""
    for message, is_wrong in problems.items():
        if is_wrong:
            raise click.UsageError(message)


def need_scikit_learn(what: str) -> None:
    """Refuse, before any work is done, what could not be ended without scikit-learn."""
    need_package("sklearn", "'tesla-eval[train]'", what)


def choose_metric(name: str | None, language: str, *, workers: int = 1) -> Metric:
    """The one metric that `-m` names, for the language that `-l` names."""
    return choose_metrics(() if name is None else (name,), language, workers=workers, one=True)[0].metric


def warn_of_unused_source(metric: Metric) -> None:
    """Warn if the metric does not read the source that was given."""
    if not metric.uses_source:
        warn(f"the source has no effect: {metric.id} does not read it")


def choose_metrics(
    names: Sequence[str],
    language: str,
    *,
    analysed: bool = False,
    workers: int = 1,
    one: bool = False,
    summaries: bool = False,
    on_missing: Callable[[str, TeslaError], None] | None = None,
) -> list[NamedMetric]:
    """The metrics that `-m` names, each once, for the language that `-l` names.

    A metric that lacks what it needs is an error, unless `on_missing` takes note of it.
    """
    code = resolve_language(language)
    names = names or default_metrics(code, summaries=summaries).split(",")[: 1 if one else None]
    chosen: list[tuple[MetricRequest, Metric]] = []
    for request in parse_requests(names):
        options = _for_analysed_text(request, code) if analysed else request.options
        try:
            metric = settle_language(request.entry.create(code, **options))
        except (ResourceError, UsageError) as error:
            if on_missing is None:
                raise
            on_missing(request.name, error)
            continue
        metric.workers = workers
        chosen.append((request, metric))
    _warn_of_shortcomings(chosen, code)
    return [NamedMetric(request.name, metric) for request, metric in chosen]


def _for_analysed_text(request: MetricRequest, language: str) -> dict[str, Any]:
    """The options of a metric that gets words with their analysis."""
    name, options = request.entry.name, dict(request.options)
    if "analyser" not in request.entry.load().option_defaults():
        raise click.UsageError(f"--analysed goes with metrics that read words: {name} reads plain text")
    if "segmenter" in options:
        raise click.UsageError(f"--analysed text is already tokenised: leave out the segmenter of {name}")
    analyser = ConlluAnalyser(language, options.pop("synonyms", None))
    return {**options, "analyser": analyser}


def _warn_of_shortcomings(chosen: Sequence[tuple[MetricRequest, Metric]], language: str) -> None:
    lacking: dict[str, str] = {}
    for request, metric in chosen:
        for text in metric.shortcomings:
            if text != NO_SYNONYMS or request.options.get("synonyms") != NONE:  # the user's own choice
                lacking.setdefault(text, request.entry.name)
    if lacking:
        warn(f"language {language!r} has {' and '.join(sorted(lacking))}: scores are less reliable")
        thesaurus = find_installed_thesaurus(language) if NO_SYNONYMS in lacking else None
        if thesaurus is not None:
            warn(f"there is {thesaurus}: -m {lacking[NO_SYNONYMS]}:synonyms={INSTALLED} would use it")


nbest_format_option: Callable[[Command], Command] = click.option(
    "--nbest-format",
    metavar="FORMAT",
    help="moses, zmert, joshua, marian, fairseq, json or plain:K (K lines per segment).  [default: detected]",
)
