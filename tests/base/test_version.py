"""One version for both packages, and a number for scores in every signature."""

import re
from pathlib import Path

import pytest

from tesla_eval import Signature, __version__

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("folder", [".", "packages/neural"])
def test_both_packages_have_the_version_and_ask_for_each_other(folder: str) -> None:
    text = (ROOT / folder / "pyproject.toml").read_text("utf-8")
    assert f'\nversion = "{__version__}"\n' in text
    first, second, _ = __version__.split(".")
    (bound,) = re.findall(r'"tesla-eval(?:-neural)?(>=[^"]*)"', text)
    assert bound == f">={first}.{second},<{first}.{int(second) + 1}"


def test_the_newest_entry_of_the_changelog_is_dated_and_about_this_version() -> None:
    heading = re.search(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert heading is not None
    assert re.fullmatch(re.escape(__version__) + r" \(\d{4}-\d\d-\d\d\)", heading[1])


def test_the_scoring_number_stands_after_the_version() -> None:
    assert list(Signature({"metric": "a", "version": "1", "lang": "en"})) == [
        "metric",
        "version",
        "scoring",
        "lang",
    ]
    assert list(Signature({"lang": "en"})) == ["lang"]  # of an analysis
