"""Base of commands with many options: help in sections, and advice for options that moved into `-m`."""

from __future__ import annotations

import click

_OTHER = "Other"
_SECTIONS = {
    "Input": "references reference inputs source source_text system columns missing analysed score_file docs meta_file "
    "segment_files outputs pairs rankings ratings systems mtme summaries lps human_score all_references all_segments "
    "nbest nbest_format lists decoder params protocol stress_file labels",
    "Metrics": "metrics metric language scale top_k aggregate kinds",
    "Search": "optimiser restarts directions l2 average interpolate iterations",
    "Output": "output_format output as_json as_html segments segment feature reference_name title flows "
    "extracted shares judges plots plot_format score_folder damaged_texts junit",
    "Statistics": "ci resamples seed alpha baseline least drops significance",
    "Network": "over_http host port token max_body timeout queue",
    "Large data": "jobs keep engine address work no_cache",
}
"""The parameters of all commands by the section of the help that shows them."""
_SECTION_OF = {name: section for section, names in _SECTIONS.items() for name in names.split()}

_MOVED = {
    "--max-units": "celab:max_units", "--unit-discount": "celab:discount", "--pre-tokenized": "celab:pre_tokenized",
    "--meteor-jar": "meteor:jar", "--lm": "f:lm", "--weights": "x:weights", "--segmenter": "m:segmenter",
    "--synonyms": "m:synonyms",
}  # fmt: skip
"""Options that commands had, and the options of metrics that took their place."""


class Command(click.Command):
    """A command whose help shows its options in sections."""

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
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            takes_metrics = any(parameter.name in ("metrics", "metric") for parameter in self.params)
            if error.option_name not in _MOVED or not takes_metrics:
                raise
            raise click.UsageError(
                f"{error.option_name} was removed: set it as an option of a metric, such as "
                f"-m {_MOVED[error.option_name]}=VALUE"
            ) from None
