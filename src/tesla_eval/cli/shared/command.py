"""What all commands with many options share: help in sections, and advice for options that moved into `-m`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from shlex import quote
from typing import Any

import click

from tesla_eval.base.errors import TeslaError
from tesla_eval.language.choice import AUTO
from tesla_eval.metrics import default_metrics
from tesla_eval.metrics.requests import MODEL_FILES, escaped, option_kinds, parse_requests

__all__ = ["Command", "command"]

_OTHER = "Other"
_SECTIONS = {
    "Input": "references reference inputs source source_text system columns missing score_file docs meta_file "
    "segment_files outputs pairs rankings ratings systems mtme summaries lps human_score all_references all_segments "
    "nbest nbest_format lists decoder params protocol",
    "Metrics": "metrics metric language scale top_k aggregate kinds",
    "Search": "optimiser restarts directions l2 average interpolate iterations",
    "Output": "output_format output as_json as_html as_svg segments segment feature reference_name title flows "
    "extracted shares judges score_folder damaged_texts junit",
    "Statistics": "ci resamples seed alpha baseline least drops significance",
    "Network": "over_http host port token max_body timeout queue",
    "Large data": "jobs keep engine address work no_cache",
}
"""The parameters of all commands by the section of the help that shows them."""
_SECTION_OF = {name: section for section, names in _SECTIONS.items() for name in names.split()}

_MOVED = {
    "--max-units": "max_units", "--unit-discount": "discount", "--pre-tokenized": "pre_tokenized",
    "--meteor-jar": "jar", "--lm": "lm", "--weights": "weights", "--segmenter": "segmenter", "--synonyms": "synonyms",
}  # fmt: skip
"""Options that commands had, and the options of metrics that took their place."""
_OWNERS = {
    "max_units": "celab", "discount": "celab", "pre_tokenized": "celab", "jar": "meteor", "lm": "f", "weights": "x",
}  # fmt: skip


class Command(click.Command):
    """A command whose help shows its options in sections."""

    def __init__(self, *args: Any, **attributes: Any) -> None:
        attributes.setdefault("context_settings", {"max_content_width": 110})
        super().__init__(*args, **attributes)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, section by section."""
        shown: dict[str, list[tuple[str, str]]] = {section: [] for section in (*_SECTIONS, _OTHER)}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None and isinstance(parameter, click.Option):
                shown[_SECTION_OF.get(parameter.name or "", _OTHER)].append(record)
        for section, records in shown.items():
            if records:
                with formatter.section(section):
                    formatter.write_dl(records)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the arguments; an option that moved into `-m` gets an error that says so."""
        given = tuple(args)
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            takes_metrics = any(parameter.name in ("metrics", "metric") for parameter in self.params)
            if error.option_name not in _MOVED or not takes_metrics:
                raise
            raise click.UsageError(_advice(error.option_name, given), ctx) from None


def command(name: str | None = None) -> Callable[[Callable[..., Any]], Command]:
    """`click.command` with help in sections."""
    return click.command(name, cls=Command)


def _advice(gone: str, args: Sequence[str]) -> str:
    r"""How to say, with the value that was given, what the option `gone` said.

    >>> _advice("--synonyms", ["-l", "zh", "--synonyms", "cilin"])
    '--synonyms is gone: write -m celab:synonyms=cilin'
    >>> print(_advice("--weights", ["--weights=my,own.json", "-m", "m,pem"]))
    --weights is gone: write -m m -m 'pem:model=my\,own.json'
    """
    option = _MOVED[gone]
    value = "yes" if option == "pre_tokenized" else "+".join(map(escaped, _values(args, gone))) or "VALUE"
    language = next(iter(_values(args, "-l", "--lang")), AUTO)
    try:
        default = _OWNERS.get(option) or default_metrics("en" if language == AUTO else language)
        named = _values(args, "-m", "--metrics", "--metric") or [default]
        wanted = [_with_option(text, option, value) for text in named for text in _apart(text)]
    except TeslaError:
        wanted = []
    if not any(changed for _, changed in wanted):
        return f"{gone} is gone: it is an option of single metrics, written -m NAME:{option}={value}"
    return f"{gone} is gone: write {' '.join(f'-m {quote(text)}' for text, _ in wanted)}"


def _apart(text: str) -> list[str]:
    return [text] if ":" in text else text.split(",")


def _with_option(text: str, option: str, value: str) -> tuple[str, bool]:
    """What `-m` says, with the option if the metric has it, and whether it has."""
    (request,) = parse_requests([text])
    known = option_kinds(request.entry.load())
    names = [name for name in (MODEL_FILES if option == "weights" else (option,)) if name in known]
    return (f"{text}{',' if ':' in text else ':'}{names[0]}={value}", True) if names else (text, False)


def _values(args: Sequence[str], *names: str) -> list[str]:
    """The values that an option has among the arguments."""
    values: list[str] = []
    for place, argument in enumerate(args):
        head, equals, tail = argument.partition("=")
        if argument in names:
            values += args[place + 1 : place + 2]
        elif equals and head.startswith("--") and head in names:
            values.append(tail)
        elif len(argument) > 2 and argument[:2] in names and not argument.startswith("--"):
            values.append(argument[2:])
    return values
