"""Every public name is exported, typed and documented, and nothing else is documented as public."""

import inspect
import pydoc
import re
from pathlib import Path

import pytest

import tesla_eval

ROOT = Path(__file__).parents[2]
NAMES = [name for name in dir(tesla_eval) if name != "__version__"]
PAGES = {page.stem: page.read_text("utf-8") for page in sorted((ROOT / "docs" / "reference").glob("*.md"))}
NOT_PUBLIC = "Not public: these modules may change in any [version](../versions.md)."
PLUGS = "connect"


def documented(pages: dict[str, str]) -> list[str]:
    return [name for text in pages.values() for name in re.findall(r"^::: (\S+)$", text, re.MULTILINE)]


@pytest.mark.parametrize("name", NAMES)
def test_a_public_name_is_exported_with_types_and_a_docstring(name: str) -> None:
    value = getattr(tesla_eval, name)
    assert value.__name__ == name and value.__doc__
    if inspect.isfunction(value):
        assert set(value.__annotations__) == {*inspect.signature(value).parameters, "return"}


def test_types_ship_with_the_package() -> None:
    assert (Path(tesla_eval.__file__).parent / "py.typed").exists()


def test_the_reference_has_the_public_names_and_says_what_is_not_public() -> None:
    public = {stem: text for stem, text in PAGES.items() if NOT_PUBLIC not in text and stem != PLUGS}
    assert sorted(documented(public)) == sorted(
        f"tesla_eval.{tesla_eval._HOMES[name]}.{name}" for name in NAMES
    )
    assert all(name.startswith("tesla_eval.connect.") for name in documented({PLUGS: PAGES[PLUGS]}))


def test_help_fits_two_screens() -> None:
    shown = pydoc.plain(pydoc.render_doc(tesla_eval))
    assert len(shown.splitlines()) <= 100
    assert "dir(tesla_eval)" in shown
