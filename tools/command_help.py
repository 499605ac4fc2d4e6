"""Print the help of every command as Markdown, for the site: `make docs` writes it to build/commands.md."""

from __future__ import annotations

import click

from tesla_eval.cli import tesla


def helps(command: click.Command, name: str, context: click.Context | None = None) -> str:
    """The help of a command, or of all commands below it, each under a heading of its own."""
    settings = {**command.context_settings, "terminal_width": 100}
    context = click.Context(command, info_name=name, parent=context, **settings)
    if not isinstance(command, click.Group):
        return f"## {context.command_path}\n\n```text\n{command.get_help(context)}\n```\n"
    below = ((part, command.get_command(context, part)) for part in command.list_commands(context))
    return "\n".join(helps(part, name, context) for name, part in below if part is not None)


if __name__ == "__main__":
    print(helps(tesla, "tesla"))
