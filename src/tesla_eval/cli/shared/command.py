"""Base of commands with many options: help in sections, and what to type instead of other tools' options."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from importlib import import_module
from typing import NamedTuple

import click

from tesla_eval.base.errors import UsageError

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
    "Large data": "jobs keep work no_cache",
}
"""The parameters of all commands by the section of the help that shows them."""
_SECTION_OF = {name: section for section, names in _SECTIONS.items() for name in names.split()}


class _Habit(NamedTuple):
    """An option of sacreBLEU or COMET: whether a value follows it, and what to type here, with {} for the value."""

    has_value: bool
    here: str
    """Arguments; METRIC:KEY={} is an option of a metric; nothing where the option has no meaning here."""
    command: str = ""
    """The command that does it, if that is not the one with these options."""

    @property
    def options(self) -> set[str]:
        """The options to type here."""
        return {word for word in self.here.split() if word.startswith("-")}


_HABITS = {
    name: habit
    for names, habit in {
        "--tok --tokenize -tok": _Habit(True, "bleu:tok={}"),
        "--lc --lowercase -lc": _Habit(False, "bleu:lc=yes"),
        "--smooth-method": _Habit(True, "bleu:smooth_method={}"),
        "--smooth-value -sv": _Habit(True, "bleu:smooth_value={}"),
        "--chrf-char-order -cc": _Habit(True, "chrf:char_order={}"),
        "--chrf-word-order -cw": _Habit(True, "chrf:word_order={}"),
        "--model": _Habit(True, "comet:model={}"),
        "--refs --ref --references": _Habit(True, "-r {}"),
        "--hyp --hyps --hypothesis --hypotheses": _Habit(True, "{}"),
        "--sources": _Habit(True, "-s {}"),
        "--language-pair": _Habit(True, "-l {}"),
        "--sentence-level -sl": _Habit(False, "--segments"),
        "--to_json --to-json": _Habit(True, "--json --segments -o {}"),
        "--format -f": _Habit(True, "--format {}"),
        "--width -w": _Habit(True, "--json"),  # which has all digits
        "--score-only -b": _Habit(False, "--json"),
        "--confidence -ci": _Habit(False, "--ci"),
        "--confidence-n -cin": _Habit(True, "--resamples {}"),
        "--paired-bs -pbs --paired-ar -par": _Habit(False, "", "compare"),
        "--paired-bs-n -pbsn --paired-ar-n -parn": _Habit(True, "--resamples {}", "compare"),
        "--threads --workers --num_workers --num-workers --paired-jobs": _Habit(True, "-j {}"),
        "--gpus --batch_size --batch-size": _Habit(True, ""),
        "--only_system --short -sh --force": _Habit(False, ""),
    }.items()
    for name in names.split()
}
"""What users of sacreBLEU and COMET type."""
_READ_AS_LETTERS = {name for name in _HABITS if len(name) > 2 and name[1] != "-"}
"""Habits that click would read as options of one letter: -sl as -s with the value l."""
_NAMES_A_SYSTEM = {"--hyp", "--hyps", "--hypothesis", "--hypotheses", "-i", "--input", "-t", "--translations"}


def _habits_in(args: Iterable[str], own: Container[str]) -> dict[str, _Habit]:
    """The habits among the arguments of a command with options of its `own`."""
    names = (argument.partition("=")[0] for argument in args)
    return {
        name: _HABITS[name]
        for name in names
        if name in _HABITS and (name not in own or name in _READ_AS_LETTERS)
    }


def _typed_here(args: Sequence[str], habits: Mapping[str, _Habit], offered: Collection[str]) -> list[str]:
    """The arguments for a command that offers these options.

    >>> args = ["--refs", "ref", "sys", "--tok", "intl", "-w", "2"]
    >>> _typed_here(args, _habits_in(args, ()), {"-r", "-m", "--json"})
    ['-r', 'ref', 'sys', '--json', '-m', 'bleu:tok=intl']
    """
    typed: list[str] = []
    metric_options: list[str] = []
    systems_are_named = any(argument in _NAMES_A_SYSTEM for argument in args)
    rest = list(args)
    while rest:
        argument = rest.pop(0)
        name, equals, value = argument.partition("=")
        habit = habits.get(name)
        if habit is None:
            typed.append(argument)
            continue
        values = [value] if equals else [rest.pop(0)] if habit.has_value and rest else [""]
        while habit.here == "-r {}" and systems_are_named and rest and not rest[0].startswith("-"):
            values.append(rest.pop(0))
        if _METRIC_OPTION.match(habit.here):
            metric_options += map(habit.here.format, values)
        elif habit.options <= set(offered) and habit.here not in typed:
            typed += [word.format(one) for one in values for word in habit.here.split()]
    for option in metric_options:
        typed = _with_metric_option(typed, option)
    return typed


_METRIC_OPTION = re.compile(r"\w+:\w+=")


def _with_metric_option(args: Sequence[str], option: str) -> list[str]:
    """The arguments with an option of a metric, for which `-m` names that metric alone.

    >>> _with_metric_option(["-m", "m,bleu", "sys"], "bleu:lc=yes")
    ['-m', 'm', 'sys', '-m', 'bleu:lc=yes']
    >>> _with_metric_option(["sys", "-m", "bleu:lc=yes"], "bleu:tok=intl")
    ['sys', '-m', 'bleu:lc=yes,tok=intl']
    """
    metric, _, setting = option.partition(":")
    typed: list[str] = []
    joined = False
    rest = list(args)
    while rest:
        word = rest.pop(0)
        if word not in ("-m", "--metrics") or not rest:
            typed.append(word)
            continue
        names = rest.pop(0)
        if names.startswith(f"{metric}:"):
            names, joined = f"{names},{setting}", True
        elif ":" not in names:
            names = ",".join(name for name in names.split(",") if name != metric)
        typed += [word, names] if names else []
    return typed if joined else [*typed, "-m", option]


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
        """Read the arguments; an option of sacreBLEU or COMET gets an error with the command to type here."""
        given = list(args)
        if _READ_AS_LETTERS.isdisjoint(given):
            try:
                return super().parse_args(ctx, args)
            except click.NoSuchOption as error:
                if error.option_name not in _HABITS:
                    raise
        if not any(parameter.name in ("metrics", "metric") for parameter in self.params):
            return super().parse_args(ctx, given)
        own = _options_of(self)
        habits = _habits_in(given, own)
        elsewhere = next((habit.command for habit in habits.values() if habit.command), "")
        is_here = all(habit.options <= own for habit in habits.values())
        name = elsewhere or (self.name if is_here and self.name else "score")
        command = getattr(import_module(f"tesla_eval.cli.{name}"), name)
        typed = shlex.join(_typed_here(given, habits, _options_of(command)))
        raise UsageError(
            f"{ctx.command_path} has no option {' and no option '.join(habits)}",
            hint=f"type tesla {name} {typed}",
        )


def _options_of(command: click.Command) -> set[str]:
    return {name for parameter in command.params for name in parameter.opts}
