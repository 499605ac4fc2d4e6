"""The page of `tesla serve --http` in a real browser: `make test-browser`."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tesla_eval.metrics import create_metric

AXE = Path(__file__).resolve().parents[2] / "tools" / "web" / "node_modules" / "axe-core" / "axe.min.js"
HOSTILE = "<script>window.hit = 1</script><img src=x onerror=\"window.hit = 1\"> cats & 'mats'"
MILLISECONDS = 100

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module", params=["", "sesame"], ids=["open", "token"])
def address(request):
    pytest.importorskip("starlette")
    pytest.importorskip("uvicorn")
    command = [
        sys.executable,
        "-m",
        "tesla_eval.cli",
        "serve",
        "--http",
        "--port",
        "0",
        "--token",
        request.param,
    ]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    yield re.search(r"http://\S+", process.stderr.readline())[0], request.param
    process.terminate()
    process.wait(30)
    process.stderr.close()


@pytest.fixture
def page(browser, address):
    """The page after its first answer; whatever it complains about or loads from elsewhere fails the test."""
    contexts, complaints, requests = [], [], []

    def open_page(**options):
        context = browser.new_context(**{"viewport": {"width": 1100, "height": 800}, **options})
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda message: complaints.append(message.text))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(address[0])
        if address[1]:
            page.fill("#token", address[1])
        page.wait_for_selector("#metric option >> nth=5", state="attached")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert [text for text in complaints if not re.search("status of (401|422)", text)] == []
    assert all(url.startswith(address[0]) for url in requests)


def fill(page, hypothesis: str, reference: str) -> None:
    page.fill("#references", reference)
    page.fill("#hypothesis", hypothesis)
    page.wait_for_selector("#result .tm-match")


def test_a_segment_is_explained_as_it_is_typed(page) -> None:
    shown = page()
    fill(shown, "The cats sat on a mat.", "The cat sat on the mat.\nA cat was on the mat.")
    score = create_metric("m", "en").sentence_score(
        "The cats sat on a mat.", ["The cat sat on the mat.", "A cat was on the mat."]
    )
    assert f"tesla-m {score.score:.4f}" in shown.inner_text("#result")
    assert shown.locator("#result .tm-link").count() > 5
    assert shown.locator("#result fieldset").first.bounding_box()["height"] < 100  # the picture is in sight
    shown.select_option("#metric", "bleu")
    shown.wait_for_selector("#result h2:has-text('bleu')")
    shown.select_option("#metric", "s-source")
    assert shown.is_visible("#source")
    shown.fill("#lang", "klingon")
    shown.wait_for_selector("#status.error:has-text('unknown language')")


def test_hostile_text_stays_text(page) -> None:
    shown = page()
    fill(shown, HOSTILE, HOSTILE)
    shown.wait_for_timeout(200)
    assert shown.evaluate("window.hit") is None
    assert shown.locator("#result script, #result img").count() == 0
    assert "<script>window.hit" in shown.inner_text("#result")


def test_two_files_become_a_table_whose_rows_open(page, tmp_path) -> None:
    shown = page()
    (tmp_path / "ref.txt").write_text(f"The cat sat.\n{HOSTILE}\n", "utf-8")
    (tmp_path / "system.txt").write_text("The cats sat.\nA dog.\n", "utf-8")
    shown.set_input_files("#files", [str(tmp_path / "ref.txt"), str(tmp_path / "system.txt")])
    shown.wait_for_selector("#result table")
    assert shown.locator("#result tbody tr").count() == 2
    assert "The cats sat." in shown.inner_text("#result tbody tr:nth-child(1) td:nth-child(2)")
    shown.click("#result tbody button >> nth=0")
    shown.wait_for_selector("#result .tm-match")
    assert shown.input_value("#references") == "The cat sat."


def test_the_first_result_comes_soon_after_a_key(page) -> None:
    shown = page()
    fill(shown, "The cats sat on a mat.", "The cat sat on the mat and looked at the dogs.")
    times = shown.evaluate(
        """async () => {
            const [text, result] = ["hypothesis", "result"].map((id) => document.getElementById(id));
            const times = [];
            for (let k = 0; k < 20; k++) {
                const start = performance.now();
                const drawn = new Promise((done) => {
                    const observer = new MutationObserver(() => (observer.disconnect(), done()));
                    observer.observe(result, { childList: true });
                });
                text.value += k % 5 ? "s" : " cat";
                text.dispatchEvent(new Event("input", { bubbles: true }));
                await drawn;
                times.push(performance.now() - start);
            }
            return times.sort((a, b) => a - b);
        }"""
    )
    print(f"\nmilliseconds from key to picture: median {times[10]:.0f}, slowest {times[-1]:.0f}")
    assert times[10] < MILLISECONDS


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1100])
def test_it_is_accessible_and_fits(page, scheme: str, width: int) -> None:
    if not AXE.is_file():
        pytest.skip("there is no axe-core: make test-browser installs it")
    shown = page(color_scheme=scheme, viewport={"width": width, "height": 800}, bypass_csp=True)
    fill(shown, "ذهب الولد إلى المدرسة في الصباح", "ذهب الولد الصغير إلى المدرسة صباحا")
    shown.add_script_tag(path=str(AXE))
    violations = shown.evaluate("async () => (await axe.run()).violations")
    assert [(one["id"], one["help"]) for one in violations if one["impact"] in ("serious", "critical")] == []
    assert shown.evaluate("document.documentElement.scrollWidth") <= width


def test_everything_is_reached_by_the_keyboard(page) -> None:
    shown = page()
    reached = []
    shown.focus("#hypothesis")
    for _ in range(4):
        reached.append(shown.evaluate("document.activeElement.id"))
        shown.keyboard.press("Tab")
    assert reached == ["hypothesis", "references", "metric", "lang"]
