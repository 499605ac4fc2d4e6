"""The command `tesla`: one thin file per subcommand, each loaded only when it is called."""

from __future__ import annotations

import gc
import os
import sys
from difflib import get_close_matches

import click

from tesla_eval.base.errors import GET_PAPERS, TeslaError, UsageError, import_module
from tesla_eval.base.version import __version__
from tesla_eval.cli.shared.plugged import added_command, added_commands
from tesla_eval.cli.shared.terminal import complain, show_warnings

__all__ = ["main", "tesla"]

_TASKS = {
    "Score": {
        "score": "scores of systems, for files and tables",
        "explain": "why a text has its score: which words match, with how much weight",
        "report": "one HTML page: which system is better, how surely, and why",
    },
    "Trust": {
        "compare": "whether one system is better than another: ranks, intervals, tests",
        "meta": "how well metrics agree with people's judgements",
        "stress": "how easily metrics are fooled",
    },
    "Use": {
        "mbr": "choose among candidates without a reference",
        "rerank": "choose the candidate that a metric scores best",
        "serve": "scores for other programs, over HTTP or standard input",
        "judge": "sheets for people who judge systems",
    },
    "Make": {"train": "models, tables and weights from your own data"},
    "About": {
        "metrics": "the metrics: what for, scale, languages, options",
        "resources": "the languages and what is installed for them",
        "selftest": "whether this machine computes the stored scores",
    },
}
"""The subcommands by what they are for, with what the help says of each; each is in the module of its name."""
_COMMANDS = tuple(name for commands in _TASKS.values() for name in commands)
_PAPERS = ("discourse", "parse", "srl", "tune")
"""The subcommands of the package `tesla-eval-papers`."""


class _LazyGroup(click.Group):
    """Imports a subcommand when it is asked for; other packages add theirs (`cli.shared.plugged`)."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*_COMMANDS, *self.added()]

    def added(self) -> list[str]:
        """The commands of other packages; they cannot replace one of these."""
        return [name for name in added_commands() if name not in _COMMANDS]

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that is meant; a typing error gets a suggestion."""
        name = args[0]
        if not name.startswith("-") and self.get_command(ctx, name) is None:
            if name in _PAPERS:
                raise UsageError(f"`tesla {name}` is in the package tesla-eval-papers", hint=GET_PAPERS)
            known = self.list_commands(ctx)
            near = get_close_matches(name.lower(), known, n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            ctx.fail(f"there is no command {name!r}{hint} (commands: {', '.join(known)})")
        return super().resolve_command(ctx, args)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return added_command(cmd_name)
        command = getattr(import_module(f"tesla_eval.cli.{cmd_name}"), cmd_name)
        assert isinstance(command, click.Command)
        return command

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """One screen: the commands by what they are for."""
        formatter.write(
            "Usage: tesla COMMAND [OPTIONS] ...    tesla COMMAND --help shows examples and options\n\n"
        )
        formatter.write(f"{self.help}\n\n")
        others = {
            name: command.get_short_help_str(65)
            for name in self.added()
            if (command := self.get_command(ctx, name))
        }
        for task, commands in (*_TASKS.items(), ("Added", others)):
            for number, (name, summary) in enumerate(commands.items()):
                formatter.write(f"  {'' if number else task:<7}{name:<11}{summary}\n")
        formatter.write("\n  -V, --version  the version    -h, --help  this page\n")


_SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 110, "show_default": True}
"""Of the help; all commands inherit them."""


@click.group(cls=_LazyGroup, context_settings=_SETTINGS)
@click.version_option(__version__, "-V", "--version", message="%(prog)s %(version)s")
def tesla() -> None:
    """Judge machine-made text against references, and see why a score is what it is."""
    show_warnings()


def _message(error: click.ClickException) -> str:
    """What click says of wrong usage, and where the help is."""
    if isinstance(error, click.NoSuchOption):  # click suggests options that share a few letters
        near = get_close_matches(error.option_name, error.possibilities or (), n=1, cutoff=0.8)
        error = click.NoSuchOption(error.option_name, error.message, near, error.ctx)
    message = error.format_message()
    context = getattr(error, "ctx", None)
    return message if context is None else f"{message}\nhint: {context.command_path} --help shows all options"


def main() -> None:
    """Run the command; every foreseen error is one message and exit status 2."""
    # Training with one thread of NumPy's linear algebra gives the same bits everywhere; our own threads do the work.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Output is UTF-8 everywhere, as input is; bytes of a name that are not are shown; closed streams get a stand-in.
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115
        else:
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        status = tesla(
            prog_name="tesla", standalone_mode=False
        )  # an exit status, where a command asked for one
        sys.stdout.flush()
        gc.freeze()  # what is still alive ends with the process: the interpreter need not look for cycles in it (30 ms)
        sys.exit(status or 0)
    except click.ClickException as error:
        if type(error).__name__ == "NoArgsIsHelpError":  # click 8.2 or newer: `tesla` alone shows the help
            error.show()
        else:
            complain(_message(error))
        sys.exit(2)
    except TeslaError as error:
        complain(str(error))
        sys.exit(2)
    except (click.Abort, KeyboardInterrupt):
        complain("interrupted")
        sys.exit(130)
    except OSError as error:
        # Nothing more can be said on standard output, not even at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):  # its reader went away: no error of ours
            sys.exit(1)
        where = f"{error.filename}: " if error.filename is not None else "the output cannot be written: "
        complain(f"{where}{error.strerror or error}")
        sys.exit(2)
