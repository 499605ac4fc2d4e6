"""The console blocks of docs/celab.md: each command is run, and prints what the page shows."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "celab.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```console\n\$ tesla ([^\n]*)\n(.*?)```", PAGE, re.DOTALL)


def test_there_are_blocks() -> None:
    assert len(BLOCKS) >= 5


@pytest.mark.parametrize(("command", "shown"), BLOCKS, ids=[command[:40] for command, _ in BLOCKS])
def test_the_page_shows_what_the_command_prints(
    tesla, monkeypatch: pytest.MonkeyPatch, command: str, shown: str
) -> None:
    monkeypatch.chdir(ROOT)
    found = tesla(*shlex.split(command))
    assert found.status == 0, found.err
    # sacreBLEU's version is that of the machine.
    assert (
        re.sub(r"(metric:bleu[^|]*\|version:)[^|]*", r"\1", found.out).strip()
        == re.sub(r"(metric:bleu[^|]*\|version:)[^|]*", r"\1", shown).strip()
    )
