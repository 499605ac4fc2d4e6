"""The page: a Jinja template, style and script inlined and allowed by their hashes, data in compressed blocks."""

from __future__ import annotations

from datetime import date
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from tesla_eval.base.errors import UsageError
from tesla_eval.base.version import __version__
from tesla_eval.drawing.script import asset, bundled, content_policy, drawing_script
from tesla_eval.report.collect import FORMAT, FORMAT_VERSION, Blocks
from tesla_eval.report.embedding import BLOCK_TYPE, CORE, encoded
from tesla_eval.report.human import human_drawings
from tesla_eval.report.overview import Overview, overview
from tesla_eval.report.tables import human_statistics, stress_tables

MODULES = ("data", "plots", "differences", "segment", "table", "findings", "why", "main")
"""The JavaScript modules, each after those that it imports; those that draw explanations come before."""
_SUFFIXES = ("", ".html", ".htm")


def check_page_path(path: Path) -> None:
    """Refuse the name of a file that would promise another format."""
    if path.suffix.lower() not in _SUFFIXES:
        raise UsageError(
            f"{path}: a report is an HTML page",
            hint=f"-o {path.with_suffix('.html')}; a browser can print it as PDF",
        )


def render(
    blocks: Blocks | None,
    human: dict[str, Any] | None,
    *,
    title: str,
    command: str,
    stress: dict[str, Any] | None = None,
) -> str:
    """The page of a report: systems compared, metrics against human judgements or under stress, or all of these."""
    core: dict[str, Any] = {} if blocks is None else blocks.core
    if human is not None:
        core = {**core, "human": human}
    if stress is not None:
        core = {**core, "stress": stress}
    style = asset("tesla_eval.drawing", "match.css") + asset("tesla_eval.report", "page.css")
    code = f"{drawing_script()}\n{bundled('tesla_eval.report', MODULES)}" if blocks is not None else ""
    summary: Overview | None = None if blocks is None else overview(core)
    day = date.today()
    head = {
        "format": FORMAT, "version": FORMAT_VERSION, "tesla": __version__, "title": title, "command": command,
        "date": day.isoformat(),
    }  # fmt: skip
    encoded_blocks = {CORE: encoded({**head, **core}), **({} if blocks is None else blocks.others)}
    data = [
        f'<script type="{BLOCK_TYPE}" id="{name}">{text}</script>' for name, text in encoded_blocks.items()
    ]
    template = files("tesla_eval.report").joinpath("templates", "report.html").read_text("utf-8")
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True,
    )  # fmt: skip
    return environment.from_string(template).render(
        title=title, command=command, version=__version__, day=f"{day.day} {day:%B %Y}", core=core,
        overview=summary, human=human, stress=stress,
        stress_tables=[] if stress is None else list(stress_tables(stress)),
        statistics=[] if human is None else human_statistics(human),
        drawings=[] if human is None else [Markup(drawing) for drawing in human_drawings(human)],
        style=Markup(style), script=Markup(code), policy=content_policy(style, code), data=Markup("\n".join(data)),
    )  # fmt: skip
