"""README, docs and research as a user reads them: commands print what is shown, Python runs, links lead somewhere."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from tesla_eval.base.resources import read_resource, shipped_folder
from tests.pages import ROOT, blocks, run_python

RESEARCH = ROOT / "research"  # not in the source distribution
PARTS = ("_head.md", "_tail.md")  # of pages that a script writes
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted(path for path in RESEARCH.glob("*.md") if not path.name.endswith(PARTS)),
]
PLUGS = ROOT / "docs" / "connect"  # their Python runs beside their neighbours: tests/plugs

# What the pages' examples take as given.
GIVEN: dict[str, Any] = {
    "hypotheses": ["The cats sat."], "references": ["The cat sat."], "references1": ["The cat sat."],
    "references2": [None], "candidates": ["a b", "a c"], "pseudo_references": ["a b"],
    "hyps_a": ["A cat."], "hyps_b": ["A dog."], "refs": ["A cat."],
}  # fmt: skip


def commands() -> list[Any]:
    """Every command behind a `$` that is shown with (a part of) what it prints."""
    found = []
    for page in PAGES:
        for block in blocks(page, "console", ""):
            for command, shown in re.findall(
                r"^\$ tesla ([^\n]*)\n((?:(?!\$ )[^\n]*\n)*)", block, re.MULTILINE
            ):
                if shown.strip():
                    found.append(pytest.param(command, shown.strip("\n"), id=f"{page.name} {command[:40]}"))
    return found


def without_peers_versions(text: str) -> str:
    """The version of sacreBLEU is that of the machine."""
    return re.sub(r"^((?:bleu|chrf|ter)[^\n]*\|version:)[^|\n]*", r"\1", text, flags=re.MULTILINE)


def test_there_are_commands() -> None:
    assert len(commands()) >= 10


@pytest.mark.parametrize(("command", "shown"), commands())
def test_a_page_shows_what_the_command_prints(tesla, monkeypatch, command: str, shown: str) -> None:
    monkeypatch.chdir(ROOT)
    found = tesla(*shlex.split(command))
    assert found.status == 0, found.err
    assert without_peers_versions(shown) in without_peers_versions(found.out)


@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if page.parent != PLUGS and blocks(page, "python")],
    ids=lambda page: page.name,
)
def test_python_on_a_page_runs_and_gives_what_its_comments_say(page: Path, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    run_python(page, dict(GIVEN))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)]+)\)", page.read_text("utf-8")):
        if not target.startswith("http"):
            name, _, anchor = target.partition("#")
            path = (page.parent / name).resolve() if name else page
            if RESEARCH in path.parents and not RESEARCH.is_dir():
                continue
            assert path.exists(), target
            heads = re.findall(r"^#+ (.*)", path.read_text("utf-8"), re.MULTILINE) if anchor else []
            assert not anchor or anchor in {
                re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in heads
            }


def test_every_page_is_in_the_navigation_once_and_every_entry_is_a_page() -> None:
    _, _, navigation = (ROOT / "mkdocs.yml").read_text("utf-8").partition("\nnav:\n")
    entries = re.findall(r"(?:- |: )([\w./-]+\.md)$", navigation, re.MULTILINE)
    pages = [path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")]
    assert sorted(entries) == sorted(pages)


def test_everything_shipped_stands_among_the_sources() -> None:
    page = (ROOT / "docs" / "languages.md").read_text("utf-8")
    for path in shipped_folder().glob("*.tesla"):
        resource = read_resource(path)
        assert f"\n| {resource.language} | {resource.kind}" in page, path.name


SPECIFICATION = ROOT / "docs" / "specification.md"


def test_every_section_that_the_code_cites_is_on_the_page_of_the_specification() -> None:
    sections = set(re.findall(r"^## (\d+b?)\. ", SPECIFICATION.read_text("utf-8"), re.MULTILINE))
    code = [*(ROOT / "src").rglob("*.py"), *(path for path in (ROOT / "core").rglob("*") if path.is_file())]
    # One section, or several: "specification §3 and §4", "specification §8, §8b".
    citation = re.compile(r"(?:SPEC|specification) §\d+b?(?:(?:, | and |–)§?\d+b?)*", re.IGNORECASE)
    cited = {
        (section, path.relative_to(ROOT))
        for path in code
        for found in citation.findall(path.read_text("utf-8"))
        for section in re.findall(r"\d+b?", found)
    }
    assert len(cited) > 50
    assert not {(section, path) for section, path in cited if section not in sections}


def test_the_specification_names_files_and_tests_that_exist() -> None:
    page = SPECIFICATION.read_text("utf-8")
    linked = re.findall(r"\]\((\.\./[^)#]+)\)", page)
    assert len(linked) > 50
    assert not [name for name in linked if not (SPECIFICATION.parent / name).is_file()]
    named = re.findall(r"\[`(test_\w+\.py)::(test_\w+)`\]\(\.\./([\w/]+/test_\w+\.py)\)", page)
    assert len(named) == page.count("::test_") > 0
    for name, test, file in named:
        assert name == Path(file).name
        assert f"def {test}(" in (ROOT / file).read_text("utf-8"), f"{name}::{test}"
