"""Examples in docstrings (`>>>`) as blocks of code in the API reference; Markdown would take them for quotations."""

from __future__ import annotations

from typing import Any

from griffe import Extension, Object


def with_blocks(text: str) -> str:
    """The text with every example between fences, from `>>>` to the next empty line.

    >>> with_blocks("Adds.\\n\\n>>> 1 + 1\\n2\\n").split("\\n")
    ['Adds.', '', '```pycon', '>>> 1 + 1', '2', '```', '']
    """
    lines: list[str] = []
    inside = False
    for line in text.split("\n"):
        if not inside and line.lstrip().startswith(">>>"):
            lines.append("```pycon")
            inside = True
        elif inside and not line.strip():
            lines.append("```")
            inside = False
        lines.append(line)
    return "\n".join([*lines, "```"] if inside else lines)


class ExampleBlocks(Extension):
    """Changes the docstring of every object that is read."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        """Put fences around the examples."""
        if obj.docstring is not None:
            obj.docstring.value = with_blocks(obj.docstring.value)
