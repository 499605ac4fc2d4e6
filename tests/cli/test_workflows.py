"""The workflows of docs/howto/quality-gate.md: their commands run as written, and fail when quality drops."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.fixtures import shipped_pairs
from tests.pages import ROOT, blocks

PAGE = ROOT / "docs" / "howto" / "quality-gate.md"
PULL_REQUEST, NIGHTLY = (
    [line for line in re.findall(r"^ *- run: (.*)$", text, re.MULTILINE) if not line.startswith("pip ")]
    for text in blocks(PAGE, "yaml")
)
HYPOTHESES, REFERENCES = (list(side) for side in zip(*shipped_pairs("en")[:30], strict=True))
WORSE = [text.rsplit(" ", 3)[0] for text in HYPOTHESES]


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Runs the lines as GitHub does, until one fails; gives its status."""
    monkeypatch.chdir(tmp_path)
    tesla = tmp_path / "bin" / "tesla"
    tesla.parent.mkdir()
    tesla.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m tesla_eval.cli "$@"\n')
    tesla.chmod(0o755)
    summary = tmp_path / "summary.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    monkeypatch.setenv("PATH", f"{tesla.parent}{os.pathsep}{os.environ['PATH']}")

    def run_lines(lines: list[str]) -> int:
        summary.unlink(missing_ok=True)
        return next(
            (ended for line in lines if (ended := subprocess.run(line, shell=True, check=False).returncode)),
            0,
        )

    return run_lines


def failures() -> list[str]:
    return [
        case.get("name")
        for case in ElementTree.parse("quality.xml").iter("testcase")
        if case.find("failure") is not None
    ]


def test_the_workflow_of_pull_requests(run, write) -> None:
    write("ref.txt", REFERENCES)
    write("sys.txt", HYPOTHESES)
    assert run(["tesla score -r ref.txt sys.txt -m m -l en --json > main.json"]) == 0
    assert run(PULL_REQUEST) == 0 and failures() == []
    assert "tesla-m" in Path("summary.md").read_text()
    write("sys.txt", WORSE)
    assert run(PULL_REQUEST) == 1 and len(failures()) == 1


def test_the_nightly_job_over_parquet(run) -> None:
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")

    def outputs(texts: list[str]) -> None:
        table = arrow.table({"id": list(range(30)), "mt": texts, "ref": REFERENCES})
        parquet.write_table(table, "outputs.parquet")

    outputs(HYPOTHESES)
    assert run(NIGHTLY) == 0 and failures() == []
    scores = parquet.read_table("scores.parquet").to_pydict()
    assert scores["id"] == list(range(30)) and len(scores["tesla-m"]) == 30
    first = json.loads(Path("last.json").read_text())
    outputs([*REFERENCES[:5], *HYPOTHESES[5:]])  # a better night becomes the baseline
    assert run(NIGHTLY) == 0
    assert json.loads(Path("last.json").read_text()) != first
    outputs(WORSE)
    assert run(NIGHTLY) == 1 and len(failures()) == 1
