"""Commands, metrics and self-tests of other packages: how they are found, and what is said where they are missing."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import click
import pytest

from tesla_eval.base.errors import UsageError
from tesla_eval.base.resources import shipped_folder
from tesla_eval.cli import resources, selftest
from tesla_eval.cli.shared import plugged
from tesla_eval.metrics import registry
from tesla_eval.metrics.base import Metric
from tesla_eval.metrics.requests import create_metric


@click.command()
def greet() -> None:
    """Greet."""
    click.echo("hello")


NO_COMMAND = 7


CASE = {"metric": "m", "lang": "en", "hypothesis": "A cat.", "references": ["A cat."], "score": 0.9995}


def loose() -> tuple[list[dict[str, Any]], float]:
    return [CASE], 0.001


def strict() -> tuple[list[dict[str, Any]], float]:
    return [CASE], 0.0001


def not_a_number() -> tuple[list[dict[str, Any]], float]:
    return [{**CASE, "score": float("nan")}, CASE], 0.001


@pytest.fixture
def points(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Another package is installed, and none of this project's."""
    (tmp_path / "broken_plug.py").write_text(
        'raise RuntimeError("this module does not work")\n', encoding="utf-8"
    )
    monkeypatch.syspath_prepend(tmp_path)
    found = [
        ("another package", EntryPoint(name, value, plugged.ENTRY_POINTS))
        for name, value in {
            "train greeting": "tests.cli.test_plugged:greet",
            "train wrong": "tests.cli.test_plugged:NO_COMMAND",
            "train gone": "tests.cli.test_plugged:nothing_of_that_name",
            "train raising": "broken_plug:greet",
            "train": "tests.cli.test_plugged:greet",
            "train vectors": "tests.cli.test_plugged:greet",
        }.items()
    ]
    monkeypatch.setattr(plugged, "plugged", lambda group: found)


def test_a_command_of_another_package_runs(tesla, points: None) -> None:
    assert tesla("train", "greeting").out == "hello\n"
    assert "greeting" in tesla("train", "--help").out


def test_a_command_of_ours_cannot_be_replaced(tesla, points: None) -> None:
    assert "table of word vectors" in tesla("train", "vectors", "--help").out


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("wrong", "is not a command"),
        ("gone", "cannot be loaded"),
        ("raising", "cannot be loaded: this module does not work"),
        ("unheard-of", "No such command"),
    ],
)
def test_a_command_that_cannot_be_had_says_why(tesla, points: None, name: str, message: str) -> None:
    failed = tesla("train", name)
    assert failed.status == 2 and message in failed.err


def test_tesla_n_without_its_package_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "registered", lambda: dict(registry.BUILT_IN))
    for name in ("n", "tesla-n", "TESLA-N"):
        with pytest.raises(UsageError, match=r"pip install 'tesla-eval\[neural\]'"):
            create_metric(name)


def failing() -> tuple[list[dict[str, Any]], float]:
    raise RuntimeError("its data is gone")


def test_a_self_test_that_raises_does_not_hide_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    points = [
        ("package", EntryPoint(name, f"tests.cli.test_plugged:{name}", selftest.SELFTESTS))
        for name in ("failing", "loose")
    ]
    monkeypatch.setattr(selftest, "plugged", lambda group: points)
    (failed, said), (agrees, _) = selftest._plugged_selftests()
    assert not failed and "its data is gone" in said
    assert agrees


def folder_of_models() -> Path:
    return shipped_folder()


def test_folders_of_other_packages_are_listed_and_a_broken_one_does_not_hide_them(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    points = [
        ("package", EntryPoint(name, f"tests.cli.test_plugged:{name}", resources.RESOURCES))
        for name in ("failing", "folder_of_models")
    ]
    monkeypatch.setattr(resources, "plugged", lambda group: points)
    assert shipped_folder() / "tagger-en.tesla" in list(resources._plugged_resources())
    assert "its data is gone" in capsys.readouterr().err


def test_the_languages_of_an_unknown_metric_are_not_claimed() -> None:
    point = EntryPoint("lemma-f", "lemma_f:LemmaF", registry.ENTRY_POINTS)
    entry = registry._from_entry_point(point)
    assert entry.languages == entry.scale == registry.UNKNOWN


class Errors(Metric):
    summary = "errors that people marked"
    languages = "de, en"
    higher_is_better = False


def test_a_metric_of_another_package_says_what_the_list_shows(tesla, points: None, monkeypatch) -> None:
    targets = {"errors": f"{__name__}:Errors", "raising": "broken_plug:Metric"}
    for name, target in targets.items():
        entry = registry._from_entry_point(EntryPoint(name, target, registry.ENTRY_POINTS))
        monkeypatch.setitem(registry.registered(), name, entry)
    listed = tesla("metrics", "--all").out.splitlines()
    shown = next(line.split() for line in listed if line.startswith("errors"))
    assert shown == [*f"errors {Errors.summary} lower {Errors.languages}".split()]
    assert any(line.startswith("raising") and "cannot be loaded" in line for line in listed)


@pytest.mark.parametrize(("cases", "agrees"), [("loose", True), ("strict", False), ("not_a_number", False)])
def test_stored_scores_of_other_packages_have_a_tolerance(
    monkeypatch: pytest.MonkeyPatch, cases: str, agrees: bool
) -> None:
    point = EntryPoint("cases", f"tests.cli.test_plugged:{cases}", selftest.SELFTESTS)
    monkeypatch.setattr(selftest, "plugged", lambda group: [("package", point)])
    ((found, line),) = selftest._plugged_selftests()
    assert found is agrees
    assert "stored scores" in line and ("do not" in line) is not agrees
