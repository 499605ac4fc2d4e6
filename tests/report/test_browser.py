"""The report in a real browser: `make test-browser`. Needs Debian's Chromium and Playwright, else it is skipped."""

from __future__ import annotations

import csv
import io
import json
import random
import xml.etree.ElementTree as ET
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
AXE = ROOT / "tools" / "web" / "node_modules" / "axe-core" / "axe.min.js"
HOSTILE = [
    "<script>window.hit = 1</script>", "</script><img src=x onerror=\"window.hit = 1\">", "javascript:window.hit=1",
    "line\u2028separator\u2029end", "<svg onload=window.hit=1>", "{{ 7 * 7 }}",
    "👩\u200d🚀 e\u0301 " + "Donaudampfschifffahrtsgesellschaftskapitänsmützenabzeichen" * 3, "\u202egnihtyreve",
]  # fmt: skip

pytestmark = pytest.mark.browser


@pytest.fixture
def write_report(tesla, tmp_path: Path):
    """Writes a report on texts and gives back its path."""

    def write(references: list[str], systems: dict[str, list[str]], *options: str) -> Path:
        for name, lines in {"ref": references, **systems}.items():
            (tmp_path / f"{name}.txt").write_text(
                "".join(f"{line}\n" for line in lines), "utf-8", newline="\n"
            )
        path = tmp_path / "report.html"
        files = [str(tmp_path / f"{name}.txt") for name in systems]
        done = tesla("report", *options, "-r", str(tmp_path / "ref.txt"), *files, "-o", str(path))
        assert done.status == 0, done.err
        return path

    return write


@pytest.fixture
def opened(browser):
    """Opens a page; whatever it complains about or asks for fails the test in the end."""
    contexts, complaints, requests = [], [], []

    def open_page(path: Path, fragment: str = "", *, ready: str = "html[data-ready]", **options):
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 800}, **options})
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(path.as_uri() + fragment)
        page.wait_for_selector(ready, timeout=20_000, state="attached")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []
    assert len(requests) == len(contexts), f"the page itself is the only request: {requests}"


@pytest.fixture
def small(write_report) -> Path:
    lines = {name: (ROOT / "examples" / f"{name}.txt").read_text("utf-8").splitlines() for name in
             ("reference", "system-a", "system-b")}  # fmt: skip
    systems = {name: lines[name] for name in ("system-a", "system-b")}
    return write_report(lines["reference"], systems, "-l", "en", "-m", "m,x,bleu")


def numbers(page, place: int) -> list[str]:
    """A column of the table of segments."""
    return page.locator(f"#segment-table tbody tr[data-place] td:nth-child({place})").all_inner_texts()


def test_shown_numbers_are_the_data(small, opened, tesla) -> None:
    document = json.loads(tesla("report", "--extract", str(small)).out)
    page = opened(small)
    for place, system in enumerate(document["systems"]):
        row = page.locator(f'#score-table tr[data-system="{place}"]')
        assert row.locator("th").get_attribute("title") == system
        shown = row.locator(".score").all_inner_texts()
        assert shown == [f"{m['scores'][place]:.{m['digits']}f}" for m in document["metrics"]]
    metric = document["metrics"][0]
    pair = sorted(range(2), key=lambda system: -metric["scores"][system])  # the best against the second
    for place, system in enumerate(pair):
        assert numbers(page, 3 + place) == [f"{value:.4f}" for value in metric["segments"][system]]
    page.locator("#segment-table tbody button").nth(1).click()
    for system in range(2):
        shown = page.locator(f'#segment-view .score[data-system="{system}"]').inner_text()
        assert shown == f"{metric['segments'][system][1]:.4f}"
    features = document["explanations"]["tesla-m"]["1"][0]["references"][0]["features"]
    page.locator("#segment-view summary").first.click()
    cells = page.locator("#segment-view .card").first.locator("details table").first.locator("tbody tr")
    best = max(range(2), key=lambda system: metric["segments"][system][1])
    features = document["explanations"]["tesla-m"]["1"][best]["references"][0]["features"]
    rows = [cells.nth(k).locator("td").all_inner_texts()[:4] for k in range(cells.count())]
    assert rows == [[f["name"], *(f"{f[key]:.4f}" for key in ("precision", "recall", "f"))] for f in features]


def test_counts_of_errors_are_the_data(small, opened, tesla) -> None:
    document = json.loads(tesla("report", "--extract", str(small)).out)
    page = opened(small)
    pair = sorted(range(2), key=lambda system: -document["metrics"][0]["scores"][system])
    rows = [row.locator("td").all_inner_texts() for row in page.locator("#finding-totals tbody tr").all()]
    kinds = ("names", "numbers", "untranslated", "dropped", "inserted", "repeated")
    for kind, row in zip(kinds, rows, strict=True):
        for system, shown in zip(pair, row[1:], strict=True):
            total = document["findings"][system]["totals"][kind]
            plural = "" if total["segments"] == 1 else "s"
            count, segments = total["count"], total["segments"]
            assert shown == (f"{count} in {segments} segment{plural}" if count else "none")
    lost = page.locator("#finding-area .card").filter(has=page.get_by_role("heading", name="Words lost"))
    shown = [row.locator("td").all_inner_texts()[:3] for row in lost.locator("tbody tr").all()]
    data = document["findings"][pair[0]]["lost"]
    assert shown == [[one["text"], str(one["count"]), f"{one['cost']:.1f}"] for one in data]


def test_sentences_without_support_lead_to_their_segment(tesla, opened, tmp_path: Path) -> None:
    texts = {
        "source.txt": "Storms hit Portugal on Monday. Nobody was hurt.",
        "a.txt": "Storms hit Spain. Nobody was hurt.",
        "b.txt": "Storms hit Portugal.",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(f"{text}\n", "utf-8")
    files = [str(tmp_path / name) for name in ("a.txt", "b.txt")]
    path = tmp_path / "support.html"
    given = ("-l", "en", "-m", "s-source", "-s", str(tmp_path / "source.txt"), *files, "-o", str(path))
    assert tesla("report", *given).status == 0
    page = opened(path)
    page.locator('#choices select[name="system"]').select_option(label="a")
    first = page.locator("#support-area tbody tr").first
    assert first.locator("mark").all_inner_texts() == ["Spain"]
    first.get_by_role("button", name="segment 1").click()
    page.wait_for_selector("#segment-dialog[open]")
    assert "Storms hit Portugal on Monday." in page.locator("#segment-view").inner_text()


def test_sorting_searching_and_filters(small, opened, tesla) -> None:
    page = opened(small)
    page.get_by_role("button", name="difference").click()
    differences = [float(text.replace("−", "-")) for text in numbers(page, 5)]
    assert differences == sorted(differences, reverse=True)
    page.get_by_role("button", name="difference").click()
    assert [float(text.replace("−", "-")) for text in numbers(page, 5)] == sorted(differences)
    page.get_by_label("search").fill("glacier")
    assert page.locator("#segment-count").inner_text() == "1 of 5 segments"
    page.get_by_label("search").fill("")
    controls = page.locator("#segment-controls")
    controls.get_by_label("feature").select_option("ms.2")
    page.wait_for_selector('[aria-sort="ascending"] [data-sort="feature"]')
    document = json.loads(tesla("report", "--extract", str(small)).out)
    column = document["metrics"][0]["feature_names"].index("ms.2")
    best = max(range(2), key=lambda system: document["metrics"][0]["scores"][system])
    assert numbers(page, 6) == [
        f"{value:.4f}" for value in sorted(document["features"]["tesla-m"][best][column])
    ]
    controls.get_by_label("words from").fill("11")
    assert page.locator("#segment-count").inner_text().startswith("1 of")
    controls.get_by_label("words from").fill("")
    page.locator("#choices").get_by_label("metric").select_option(label="bleu")
    bleu = document["metrics"][2]["segments"]
    assert numbers(page, 3) == [f"{value:.2f}" for value in bleu[best]]
    middle = sorted(bleu[best])[2]
    controls.get_by_label("score from").fill(repr(middle))
    controls.get_by_label("difference from").fill("1")
    kept = [x for x, y in zip(bleu[best], bleu[1 - best], strict=True) if x >= middle and abs(x - y) >= 1]
    assert numbers(page, 3) == [f"{value:.2f}" for value in kept]


def test_saved_rows_are_those_in_the_table(small, opened, tesla) -> None:
    document = json.loads(tesla("report", "--extract", str(small)).out)
    page = opened(small)
    page.get_by_label("search").fill("the")
    page.get_by_role("button", name="difference").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Save as CSV").click()
    rows = list(csv.DictReader(io.StringIO(Path(download.value.path()).read_text("utf-8"), newline="")))
    assert [row["segment"] for row in rows] == numbers(page, 1)
    scores = document["metrics"][0]["segments"]
    for row in rows:
        segment = int(row["segment"]) - 1
        for system in range(2):
            name = Path(document["systems"][system]).stem
            assert float(row[f"{name} score"]) == scores[system][segment]
            assert row[name] == document["texts"]["hypotheses"][system][segment]
        assert row["reference"] == document["texts"]["references"][0][segment]
    with page.expect_download() as download:
        page.get_by_role("button", name="Save as JSON").click()
    saved = json.loads(Path(download.value.path()).read_text("utf-8"))
    assert [{key: str(value) for key, value in row.items()} for row in saved] == rows


def test_buckets_lead_to_their_segments(write_report, opened, tesla, tmp_path: Path) -> None:
    references = ["The cat sat on 14 mats.", "Mary saw the old dog in Paris.", "Mary went home."]
    systems = {
        "a": ["The cat sat on 14 mats.", "Mary saw the old dog in Paris.", "She went home."],
        "b": ["A cat sat on 15 mats.", "She saw a dog in London.", "Mary went home."],
    }
    (tmp_path / "labels.txt").write_text("news\nsport\nnews\n", "utf-8")
    path = write_report(references, systems, "-l", "en", "-m", "m", "--labels", str(tmp_path / "labels.txt"))
    document = json.loads(tesla("report", "--extract", str(path)).out)
    page = opened(path)
    page.wait_for_selector("#why-area[data-drawn]")
    scores = document["metrics"][0]["segments"]
    rows = card_rows(page, "Label")
    means = [[sum(row[k] for k in some) / len(some) for row in scores] for some in ([0, 2], [1])]
    expected = {
        name: [str(count), f"{x:.4f}", f"{y:.4f}", f"{x - y:+.4f}".replace("-", "−")]
        for name, count, (x, y) in zip(("news", "sport"), (2, 1), means, strict=True)
    }
    assert {row[0]: row[1:] for row in rows} == expected
    words = document["words"]
    name = document["classes"].index("name")
    count = sum(row[2::3].count(name) for row in words["words"])
    assert next(row for row in card_rows(page, "Kind of word") if row[0] == "names")[1] == str(count)
    gets = card_rows(page, "a gets, b misses")
    assert {"14", "mary", "old", "paris"} <= {row[0] for row in gets}
    assert {row[0] for row in card_rows(page, "b gets, a misses")} == {"mary"}
    page.get_by_role("button", name="news: show the 2 segments").click()
    assert page.locator("#segment-count").inner_text() == "2 of 3 segments"
    assert numbers(page, 1) == ["1", "3"]
    page.get_by_role("button", name="Show all segments").click()
    page.locator("#segment-controls").get_by_label("label").select_option("sport")
    assert numbers(page, 1) == ["2"]


def card_rows(page, title: str) -> list[list[str]]:
    """The cells of a table of the part that says why."""
    rows = page.locator("#why-area .card").filter(has=page.get_by_role("heading", name=title, exact=True))
    return [row.locator("td").all_inner_texts() for row in rows.locator("tbody tr").all()]


def test_words_that_differ_are_marked(small, opened, tesla) -> None:
    document = json.loads(tesla("report", "--extract", str(small)).out)
    page = opened(small)
    for segment, row in enumerate(page.locator("#segment-table tbody tr[data-place]").all()):
        for look in ("first", "second"):
            line = row.locator(f".line.{look}")
            name = line.locator("b").inner_text()
            place = [Path(path).stem for path in document["systems"]].index(name)
            assert line.text_content() == name + document["texts"]["hypotheses"][place][segment]
        unmarked = [
            row.locator(f".line.{look}").evaluate(
                "line => [...line.childNodes].filter(n => n.nodeName === '#text').map(n => n.data.trim()).join('')"
            )
            for look in ("first", "second")
        ]  # fmt: skip
        assert unmarked[0].replace(" ", "") == unmarked[1].replace(" ", "")


def test_switching_n_and_metric_in_a_segment(small, opened) -> None:
    page = opened(small, "#segment-2")
    picture = page.locator("#segment-view svg.tm-match[role=img]").first
    first = picture.get_attribute("aria-label")
    page.get_by_label("two words in a row, by meaning").check()
    page.wait_for_function(
        "before => document.querySelector('#segment-view svg[role=img]').getAttribute('aria-label') !== before",
        arg=first,
    )
    page.locator("#segment-view").get_by_label("metric").select_option(label="tesla-x")
    page.get_by_text("What each feature adds").first.wait_for()
    page.locator("#segment-view").get_by_label("metric").select_option(label="bleu")
    page.get_by_text("bleu has no links between words").wait_for()


def test_keyboard_only(small, opened) -> None:
    page = opened(small)
    page.locator("#segment-table").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_selector("#segment-dialog[open]")
    assert page.locator("#segment-title").inner_text() == "Segment 3"
    page.keyboard.press("ArrowRight")
    page.wait_for_function("document.getElementById('segment-title').textContent === 'Segment 4'")
    assert page.url.endswith("#segment-4")
    page.keyboard.press("Escape")
    page.wait_for_selector("#segment-dialog", state="hidden")
    page.wait_for_function("document.activeElement.textContent === '4'")  # the dialog's own focus comes first
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    page.wait_for_function("document.getElementById('segment-title').textContent === 'Segment 5'")
    page.get_by_label("single words, by meaning").focus()
    page.keyboard.press("ArrowDown")
    page.wait_for_function("document.activeElement.value === 'ms.2' && document.activeElement.checked")


def test_tab_reaches_everything_and_its_focus_is_seen(small, opened) -> None:
    page = opened(small)
    page.wait_for_selector("#why-area[data-drawn]")
    wanted = page.evaluate(
        """() => {
          const all = "a[href], button, input, select, summary, [tabindex]";
          const some = [...document.querySelectorAll(all)].filter((one) => one.tabIndex === 0 && one.checkVisibility());
          some.forEach((one, place) => one.setAttribute("data-place-in-order", place));
          return some.length;
        }"""
    )
    places, unseen = [], []
    for _ in range(wanted):
        page.keyboard.press("Tab")
        place, name, seen = page.evaluate(
            """() => {
              const one = document.activeElement;
              const style = getComputedStyle(one);
              const seen = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 1;
              return [Number(one.getAttribute("data-place-in-order")), one.outerHTML.slice(0, 80), seen];
            }"""
        )
        places.append(place)
        unseen += [] if seen else [name]
    assert places == list(range(wanted))
    assert unseen == []
    page.locator("#why-area .link").first.focus()
    page.keyboard.press("Enter")
    page.wait_for_function("document.activeElement.id === 'segment-table'")
    assert " of 5 segments" in page.locator("#segment-count").inner_text()
    page.keyboard.press("Enter")
    page.wait_for_selector("#segment-dialog[open]")
    page.keyboard.press("Escape")
    page.wait_for_selector("#segment-dialog", state="hidden")


def test_injected_text_is_shown_as_text(write_report, opened) -> None:
    path = write_report(
        [f"A cat sat {text}" for text in HOSTILE],
        {"<b>a": [f"The {text} cats" for text in HOSTILE], "b": HOSTILE},
        "-l", "en", "-m", "m,x", "--title", "<img src=x onerror=window.hit=1>",
    )  # fmt: skip
    page = opened(path)
    for segment, text in enumerate(HOSTILE):
        page.evaluate(f"location.hash = 'segment-{segment + 1}'")
        page.wait_for_selector(f'#segment-view[data-segment="{segment}"] .card')
        assert text.strip() in page.locator("#segment-view .card p.tm-text").all_text_contents()
        assert page.locator("#segment-view img, #segment-view script").count() == 0
    assert page.evaluate("window.hit") is None
    assert page.title() == "<img src=x onerror=window.hit=1>"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_serious_accessibility_fault(small, opened, scheme: str) -> None:
    if not AXE.exists():
        pytest.skip("there is no axe-core: make test-browser installs it")
    page = opened(small, color_scheme=scheme, bypass_csp=True)
    code = AXE.read_text("utf-8")
    assert _faults(page, code) == []
    page.locator("#segment-table tbody button").first.click()
    page.wait_for_selector("#segment-view .card")
    for summary in page.locator("#segment-view summary").all():
        summary.click()
    assert _faults(page, code) == []


def test_pages_without_a_script_are_accessible(browser, tesla, tmp_path: Path) -> None:
    if not AXE.exists():
        pytest.skip("there is no axe-core: make test-browser installs it")
    (tmp_path / "why.html").write_text(tesla("explain", "--html", "The cats sat.", "A cat sat.").out, "utf-8")
    scores = [{"system": name, "human": k, "metrics": {"m": k / 2}} for k, name in enumerate("abc")]
    test_set = {
        "lp": "de-en",
        "testset": "own",
        "systems": 3,
        "segments_used": 2,
        "segments": 2,
        "human_score": "da",
    }
    study = {"signatures": ["metric:m"], "test_sets": [{**test_set, "system_scores": scores}], "results": [],
             "significance": []}  # fmt: skip
    (tmp_path / "meta.json").write_text(json.dumps(study), "utf-8")
    done = tesla("report", "--meta", str(tmp_path / "meta.json"), "-o", str(tmp_path / "meta.html"))
    assert done.status == 0, done.err
    for name in ("why.html", "meta.html"):
        for scheme in ("light", "dark"):
            context = browser.new_context(bypass_csp=True, color_scheme=scheme)
            page = context.new_page()
            page.goto((tmp_path / name).as_uri())
            assert _faults(page, AXE.read_text("utf-8")) == []
            context.close()


def test_explanations_outside_a_report_are_drawn_by_the_same_script(opened, tesla, tmp_path: Path) -> None:
    path = tmp_path / "why.html"
    path.write_text(tesla("explain", "--html", "The cats sat.", "A cat sat.").out, "utf-8")
    page = opened(path, ready="svg.tm-match[role=img]")
    assert page.locator(".tm-word").count() == 6
    assert page.locator("p.tm-text").all_inner_texts() == ["A cat sat.", "The cats sat."]
    page.get_by_label("two words in a row, by meaning").check()
    assert "ms.2: matched" in page.locator(".tm-steps").first.text_content()
    with page.expect_download() as download:
        page.get_by_role("button", name="Save the picture as SVG").click()
    assert ET.fromstring(Path(download.value.path()).read_text("utf-8")).tag.endswith("svg")


def _faults(page, code: str) -> list[str]:
    page.evaluate(code)
    found = page.evaluate("async () => (await axe.run()).violations")
    return [
        f"{one['id']}: {one['help']} ({[node['target'] for node in one['nodes']][:3]})"
        for one in found
        if one["impact"] in ("serious", "critical")
    ]


@pytest.mark.parametrize(
    ("language", "reference", "hypothesis"),
    [
        ("ar", "سافر الرئيس إلى القاهرة يوم الثلاثاء الماضي", "ذهب الرئيس الجديد إلى مدينة القاهرة الثلاثاء"),
        ("zh", "您知道哪里是八坂神社吗？", "您还是知道八坂神社和清水寺在哪里吗？"),
        ("de", "Die Donaudampfschifffahrtsgesellschaft feierte 👩\u200d🚀.", "Gestern feierte e\u0301ine."),
    ],
)  # fmt: skip
def test_words_do_not_overlap_and_fit_their_boxes(
    write_report, opened, language, reference, hypothesis
) -> None:
    page = opened(write_report([reference], {"a": [hypothesis]}, "-l", language), "#segment-1")
    page.wait_for_selector("#segment-view .tm-word")
    boxes = page.evaluate(
        """() => [...document.querySelectorAll("#segment-view .tm-word")].map((word) => {
          const box = word.querySelector("rect").getBBox();
          const text = word.querySelector("text").getBBox();
          const inside = text.x >= box.x - 1 && text.x + text.width <= box.x + box.width + 1;
          return { x: box.x, y: box.y, end: box.x + box.width, inside };
        })"""
    )
    assert all(box["inside"] for box in boxes)
    for row in {box["y"] for box in boxes}:
        line = sorted((box["x"], box["end"]) for box in boxes if box["y"] == row)
        assert all(left[1] <= right[0] for left, right in pairwise(line))
        starts = [box["x"] for box in boxes if box["y"] == row]
        assert starts == sorted(starts, reverse=language == "ar")


def test_pivots_language_models_and_summaries(write_report, opened, tesla, tmp_path: Path) -> None:
    page = opened(
        write_report(["The cat sat on the mat."], {"a": ["A cat sat on a mat."]}, "-l", "en", "-m", "f"),
        "#segment-1",
    )
    page.locator("#segment-view").get_by_label("pivot language").select_option("fr.lem.1")
    page.get_by_text("n-grams in the pivot language fr").wait_for()
    assert page.get_by_text("phrase of the reference").count() == 1
    assert page.get_by_text("Language model lm.").count() == 1
    path = tmp_path / "summaries.html"
    source = str(ROOT / "examples" / "summaries.jsonl")
    assert tesla("report", "-l", "en", "-m", "s,dicomer", source, "-o", str(path)).status == 0
    page = opened(path, "#segment-1")
    page.get_by_label("pairs of words with a gap").check()
    page.locator("#segment-view").get_by_label("links to reference").select_option("2")
    assert "Words added" in page.locator("#errors").inner_text()


@pytest.mark.parametrize(
    ("language", "reference", "outputs"),
    [
        ("en", "She has published three novels.", ["She published three novels.", "Three novels she has."]),
        ("ar", "سافر الرئيس إلى القاهرة يوم الثلاثاء", ["ذهب الرئيس إلى القاهرة", "سافر الرئيس يوم الثلاثاء"]),
        ("zh", "您知道哪里是八坂神社吗？" * 8, ["您还是知道八坂神社吗？" * 8, "清水寺在哪里吗？"]),
    ],
)  # fmt: skip
def test_a_narrow_page_does_not_scroll_sideways(write_report, opened, language, reference, outputs) -> None:
    names = ("a", "a-system-with-quite-a-long-name-of-many-letters")
    systems = {name: [text] * 3 for name, text in zip(names, outputs, strict=True)}
    path = write_report([reference] * 3, systems, "-l", language)
    page = opened(path, viewport={"width": 390, "height": 800}, bypass_csp=True)
    page.wait_for_selector("#why-area[data-drawn]")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    wide = page.evaluate(
        """() => [...document.querySelectorAll("main *, nav, header, footer *")].filter((one) => {
          for (let up = one; up; up = up.parentElement) if (getComputedStyle(up).overflowX !== "visible") return false;
          return one.getBoundingClientRect().right > 391;
        }).map((one) => one.outerHTML.slice(0, 80))"""
    )
    assert wide == []
    rows = page.locator("#segment-table")
    assert rows.evaluate("area => area.scrollWidth <= area.clientWidth")
    heights = rows.locator("tr[data-place]").evaluate_all("rows => rows.map(row => row.offsetHeight)")
    assert len(set(heights)) == 1
    if AXE.exists():
        assert _faults(page, AXE.read_text("utf-8")) == []
    page.locator("#segment-table tbody button").first.click()
    page.wait_for_selector("#segment-view .card")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.locator("#segment-dialog").evaluate("dialog => dialog.scrollWidth <= dialog.clientWidth")
    if language == "ar":
        label, text = (
            page.locator(f"#segment-view .texts {tag}").first.bounding_box() for tag in ("dt", "dd")
        )
        style = "label => getComputedStyle(label).direction"
        assert page.locator("#segment-view .texts dt").first.evaluate(style) == "rtl"
        assert label["x"] + label["width"] == pytest.approx(text["x"] + text["width"], abs=1)


def test_a_report_of_3000_segments_and_10_systems(write_report, opened, browser) -> None:
    path = write_report(*_large(), "-l", "en", "-m", "m,bleu")
    size = path.stat().st_size / 1e6
    assert size < 18
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page = context.new_page()
    browser.start_tracing(
        page=page,
        categories=["toplevel", "loading", "blink.user_timing", "disabled-by-default-devtools.timeline"],
    )
    page.goto(path.as_uri())
    page.wait_for_selector("#why-area[data-drawn]", timeout=60_000, state="attached")
    interactive = page.evaluate("performance.getEntriesByName('interactive')[0].startTime")
    page.evaluate(
        """async () => {
          const area = document.getElementById("segment-table");
          area.scrollIntoView();
          for (let top = 0; top < area.scrollHeight; top += 1500) {
            area.scrollTop = top;
            await new Promise(requestAnimationFrame);
          }
          await new Promise((resolve) => setTimeout(resolve, 300));
        }"""
    )
    events = _events_of_the_page(json.loads(browser.stop_tracing())["traceEvents"])
    painted = min(event["ts"] for event in events if event.get("name") == "firstPaint")
    tasks = [task for task in _main_thread_tasks(events) if task["ts"] > painted]
    # At the end of the file the debugging protocol, through which Playwright works, decodes all of it a second time.
    # Nobody else's browser does (tools/page_speed.py measures without it).
    reads = [event["ts"] for event in events if event.get("name") == "DocumentLoader::BodyLoadingFinished"]
    own = [task for task in tasks if not any(task["ts"] <= at <= task["ts"] + task["dur"] for at in reads)]
    assert own, "the trace has no task of the page"
    longest, reading = (max(task["tdur"] / 1000 for task in some) for some in (own, tasks))
    shown = page.locator("#segment-table tbody tr[data-place]").count()
    times = f"interactive after {interactive:.0f} ms, longest task {longest:.0f} ms of CPU, debugger {reading:.0f} ms"
    print(f"\n3,000 × 10: {size:.1f} MB, {times}")
    assert interactive < 3000
    assert longest < 50
    assert shown < 60
    assert page.locator("#segment-table tbody tr[data-place]").last.get_attribute("data-place") == "2999"
    assert "holds the links of" in page.locator("#matching-note").inner_text()
    context.close()


def _events_of_the_page(events: list[dict]) -> list[dict]:
    """Without those of pages of the browser's own, which are processes too."""
    (page,) = {
        e["pid"] for e in events if e.get("name") == "interactive" and "user_timing" in e.get("cat", "")
    }
    return [event for event in events if event["pid"] == page]


def _main_thread_tasks(events: list[dict]) -> list[dict]:
    """The tasks of the page's main thread, with their durations by the clock and in CPU time, in microseconds."""
    names = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e.get("name") == "thread_name"}
    return [
        event
        for event in events
        if event.get("name") == "ThreadControllerImpl::RunTask"
        and names.get((event["pid"], event["tid"])) == "CrRendererMain"
        and "tdur" in event
    ]


def _large() -> tuple[list[str], dict[str, list[str]]]:
    """Sentences of words from the examples, and ten systems that get some of the words wrong."""
    source = random.Random(7)
    words = (ROOT / "examples" / "reference.txt").read_text("utf-8").replace(".", "").split()
    references = [" ".join(source.choices(words, k=source.randint(8, 32))) + "." for _ in range(3000)]
    systems = {
        f"system-{k}": [
            " ".join(
                word if source.random() > 0.03 * (k + 2) else source.choice(words) for word in line.split()
            )
            for line in references
        ]
        for k in range(10)
    }
    return references, systems


@pytest.fixture
def judging_sheet(tesla, tmp_path: Path) -> Path:
    lines = {name: (ROOT / "examples" / f"{name}.txt") for name in ("reference", "system-a", "system-b")}
    done = tesla(
        "judge", "make", "-r", str(lines["reference"]), str(lines["system-a"]), str(lines["system-b"]),
        "--judges", "ann", "--repeat", "0", "-o", str(tmp_path / "round"),
    )  # fmt: skip
    assert done.status == 0, done.err
    return tmp_path / "round" / "sheet-ann.html"


def test_a_sheet_is_judged_by_keyboard_alone(judging_sheet, opened, tesla) -> None:
    page = opened(judging_sheet, ready="section:not([hidden])")
    assert page.title() == page.locator("h1").inner_text() == "Rank the texts: 5 tasks"
    assert page.locator("section:visible").count() == 1
    assert page.locator("#save").is_disabled()
    for task in range(1, 6):
        assert page.locator("section:visible h2").inner_text() == f"Task {task} of 5"
        page.keyboard.press("1")
        page.keyboard.press("2")
        if task < 5:
            page.keyboard.press("Enter")  # the focus is on "Next"
    assert page.locator("#status").inner_text() == "10 of 10 answered"
    assert page.locator("nav button").all_inner_texts() == [f"Task {k} ✓" for k in range(1, 6)]
    page.keyboard.press("p")
    assert page.locator("[aria-current=step]").inner_text() == "Task 4 ✓"
    page.keyboard.press("n")
    page.locator("#save").focus()
    with page.expect_download() as download:
        page.keyboard.press("Enter")
    folder = judging_sheet.parent
    (folder / "filled.tsv").write_text(Path(download.value.path()).read_text("utf-8"), "utf-8")
    read = tesla(
        "judge", "read", str(folder / "key.json"), str(folder / "filled.tsv"), "-o", str(folder / "out")
    )
    assert read.status == 0, read.err


def test_a_sheet_is_accessible_and_fits_a_phone(judging_sheet, opened) -> None:
    for scheme in ("light", "dark"):
        page = opened(
            judging_sheet, ready="section:not([hidden])", bypass_csp=True, color_scheme=scheme,
            viewport={"width": 390, "height": 800},
        )  # fmt: skip
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        if AXE.exists():
            assert _faults(page, AXE.read_text("utf-8")) == []
