"""What MkDocs cannot do by itself: links out of docs/, and the help of every command on one page.

The pages are read on the site and in the repository, so they link to code and tests by relative paths. On the site such
links lead to copies; a link that leads nowhere ends the build.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[1]
COPIES = "repository"  # the folder of the site for files from outside docs/
HELP = "<!-- the help of every command -->"  # what tools/command_help.py printed stands here on the site
LINK = re.compile(r"(\]\()(\.\./[^)#\s]*)([^)]*\))")


def outside(docs: Path, page: str, target: str) -> str | None:
    """The path from the root of the repository that a link means, if it leads out of docs/."""
    path = Path(os.path.normpath(docs / Path(page).parent / target))
    if path.is_relative_to(docs):
        return None
    if path.is_dir():  # its README, or else the file that says what it is
        path = next(
            (path / name for name in ("README.md", "pyproject.toml") if (path / name).is_file()), path
        )
    if not (path.is_file() and path.is_relative_to(ROOT)):
        raise PluginError(f"{page}: the link to {target} leads nowhere")
    return path.relative_to(ROOT).as_posix()


def on_files(files: Files, config: Any) -> Files:
    """Add a copy of every file outside docs/ that some page links to."""
    docs = Path(config["docs_dir"])
    linked = set()
    for file in files.documentation_pages():
        for _, target, _ in LINK.findall(file.content_string):
            if path := outside(docs, file.src_uri, target):
                linked.add(path)
    for path in sorted(linked):
        files.append(File.generated(config, f"{COPIES}/{path}.txt", content=(ROOT / path).read_bytes()))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, **_: Any) -> str:
    """Fill in the help of the commands, and lead links out of docs/ to the copies."""
    docs = Path(config["docs_dir"])
    up = "../" * page.file.src_uri.count("/")

    def lead(found: re.Match[str]) -> str:
        path = outside(docs, page.file.src_uri, found[2])
        return found[0] if path is None else f"{found[1]}{up}{COPIES}/{path}.txt)"

    if HELP in markdown:
        markdown = markdown.replace(HELP, (ROOT / "build" / "commands.md").read_text("utf-8"))
    return LINK.sub(lead, markdown)
