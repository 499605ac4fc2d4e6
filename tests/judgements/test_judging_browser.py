"""The judging page in a real browser, from disk and offline. Needs Chromium and Playwright, else it is skipped."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

HOSTILE = (
    "</script><script>window.hit = 1</script><img src=x onerror='window.hit = 1'> {{7*7}} \u202egnihtyreve"
)
QUALITY = {"good": 3, "fair": 2, "poor": 1}
ITEMS = 8

pytestmark = pytest.mark.browser


@pytest.fixture
def folder(tesla, write, tmp_path) -> Path:
    files = [write(name, [f"{name} {k} {HOSTILE}" for k in range(ITEMS)]) for name in QUALITY]
    made = tmp_path / "round"
    done = tesla("judge", "make", "-r", write("ref", [HOSTILE] * ITEMS), *files, "--judges", "ann", "--repeat", "0.25",
                 "-o", str(made))  # fmt: skip
    assert done.status == 0, done.err
    return made


def open_page(browser, path: Path):
    """The page offline; what it complains about or asks for is collected."""
    context = browser.new_context(offline=True, accept_downloads=True)
    page = context.new_page()
    troubles: list[str] = []
    page.on("console", lambda message: troubles.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on(
        "request",
        lambda request: None if request.url.startswith(("file:", "blob:")) else troubles.append(request.url),
    )
    page.goto(path.as_uri())
    return page, troubles


def test_a_judge_fills_in_the_page_and_the_answers_come_back(browser, folder, tesla, tmp_path):
    page, troubles = open_page(browser, folder / "sheet-ann.html")
    groups = page.locator("[data-group]").count()
    assert groups == 3 * (ITEMS + 2)
    assert page.locator("#status").inner_text() == f"0 of {groups} answered"
    for task in range(ITEMS + 2):
        for output in page.locator("section:not([hidden]) fieldset").all():
            name = output.locator("p.text").inner_text().split()[0]
            output.locator(f"input[value='{4 - QUALITY[name]}']").check()
        if task < ITEMS + 1:
            page.locator("#next").click()
    assert page.locator("#status").inner_text() == f"{groups} of {groups} answered"
    assert page.locator("nav button", has_text="✓").count() == ITEMS + 2
    page.reload()
    assert page.locator("#status").inner_text() == f"{groups} of {groups} answered"  # kept by the browser
    with page.expect_download() as download:
        page.locator("#save").click()
    filled = tmp_path / "filled.tsv"
    download.value.save_as(filled)
    assert page.evaluate("window.hit") is None
    assert troubles == []
    out = tmp_path / "judged"
    done = tesla("judge", "read", str(folder / "key.json"), str(filled), "-o", str(out))
    assert done.status == 0, done.err
    told = tesla("meta", "--rankings", str(out / "rankings.tsv"), "--format", "json")
    (report,) = json.loads(told.out)["preferences"]
    assert [row["system"] for row in report["systems"]] == list(QUALITY)
    assert report["judges"]["within"]["p_agree"] == 1
    assert {test["losses"] for test in report["tests"]} == {0}


def test_an_unfinished_page_is_saved_and_refused_as_incomplete(browser, folder, tesla, tmp_path):
    page, troubles = open_page(browser, folder / "sheet-ann.html")
    page.locator("input").first.check()
    with page.expect_download() as download:
        page.locator("#save").click()
    download.value.save_as(tmp_path / "filled.tsv")
    done = tesla(
        "judge", "read", str(folder / "key.json"), str(tmp_path / "filled.tsv"), "-o", str(tmp_path / "j")
    )
    assert done.status == 2
    assert "the sheets are not complete: judge ann, task 1, output 2 has no rank" in done.err
    assert troubles == []
