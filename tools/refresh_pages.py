"""Write what commands print today into pages: `refresh_pages.py README.md docs/tutorial.md`.

Every `$ tesla …` in a console block whose output is shown whole is run from the root of the checkout, and the output is
replaced. A block that shows only a part of the output (a line `…`) stays as it is: mend it by hand.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_BLOCK = re.compile(r"^```(?:console)?\n(?P<inside>\$ tesla .*?)^```", re.DOTALL | re.MULTILINE)
_COMMAND = re.compile(r"^\$ (?P<command>tesla [^\n]*)\n(?P<shown>(?:(?!\$ )[^\n]*\n)*)", re.MULTILINE)


def rerun(match: re.Match[str]) -> str:
    """A command with its output of today."""
    if not match["shown"].strip() or "…\n" in match["shown"]:
        return match[0]
    arguments = shlex.split(match["command"], comments=True)[1:]
    done = subprocess.run(
        [sys.executable, "-m", "tesla_eval.cli", *arguments],
        cwd=ROOT,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    blank = "\n" if match["shown"].endswith("\n\n") else ""
    return f"$ {match['command']}\n{done.stdout.rstrip()}\n{blank}"


def main() -> None:
    for name in sys.argv[1:]:
        page = Path(name)
        text = page.read_text("utf-8")
        page.write_text(_BLOCK.sub(lambda block: _COMMAND.sub(rerun, block[0]), text), "utf-8")


if __name__ == "__main__":
    main()
