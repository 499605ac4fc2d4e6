"""Pictures of a match: what is drawn, how texts are broken into rows, and that all text stays text."""

from __future__ import annotations

import json
import random
import re
import subprocess
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from pathlib import Path
from shutil import which

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tesla_eval import TeslaCelab, TeslaM, TeslaX
from tesla_eval.drawing.features import feature_title
from tesla_eval.drawing.script import DRAWING, drawing_script
from tesla_eval.drawing.text import escaped, estimated_width, printable

ROOT = Path(__file__).resolve().parents[2]
HOSTILE = [
    "<script>alert(1)</script>", "</script><img src=x onerror=alert(1)>", "javascript:alert(1)", "a\u2028b\u2029c",
    '"><svg onload=alert(1)>', "{{ 7 * 7 }}", "\x00\x1b[31m", "\u202eabc", "&lt;b&gt;", "]]><!--",
]  # fmt: skip
ASSETS = ROOT / "src" / "tesla_eval" / "drawing" / "assets"


class Tags(HTMLParser):
    """The names and attributes of all elements, and the text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.names: list[str] = []
        self.attributes: list[str] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.names.append(tag)
        self.attributes += [name for name, _ in attrs]

    def handle_data(self, data):
        self.text += data


@pytest.fixture(scope="module")
def run_script(tmp_path_factory):
    """Runs code that uses the modules of the script, with data as `data`; gives back what it prints as JSON."""
    if which("node") is None:
        pytest.skip("there is no Node.js to run the script with")
    folder = tmp_path_factory.mktemp("script")
    (folder / "package.json").write_text('{"type": "module"}', "utf-8")
    for name in DRAWING:
        (folder / f"{name}.js").write_text((ASSETS / f"{name}.js").read_text("utf-8"), "utf-8")
    head = """import { readFileSync } from "node:fs";
        import { pictureOf, rowsOf } from "./match.js";
        import { featureSteps, scoreSteps } from "./arithmetic.js";
        const data = JSON.parse(readFileSync("data.json", "utf-8"));"""

    def run(code: str, data: object):
        (folder / "data.json").write_text(json.dumps(data), "utf-8")
        (folder / "run.js").write_text(f"{head}\nconsole.log(JSON.stringify({code}));", "utf-8")
        done = subprocess.run(["node", "run.js"], cwd=folder, capture_output=True, text=True, check=True)
        return json.loads(done.stdout)

    return run


def detail_of(metric, hypothesis: str, reference: str):
    return metric.explain(hypothesis, [reference]).drawn_data()["references"][0]


def kinds(run_script, detail, feature: str | None = None) -> set[str]:
    return set(run_script("pictureOf(data[0], data[1]).ties.map((tie) => tie.kind)", [detail, feature]))


def test_kinds_of_links(run_script) -> None:
    assert kinds(run_script, detail_of(TeslaM("en"), "The cats sat.", "The cat sat.")) == {"exact", "lemma"}
    cars = detail_of(TeslaM("en"), "He bought an automobile.", "He bought a car.")
    assert "synonym" in kinds(run_script, cars)
    assert kinds(run_script, cars, "pos.1") == {"pos"}
    vectors = detail_of(TeslaX("en"), "A large storm.", "A big gale.")
    names = [one["name"] for one in vectors["features"] if "flow" in one and one["similarity"] != "pos"]
    assert names
    for name in names:
        assert kinds(run_script, vectors, name) <= {"exact", "lemma", "vector"}


def test_coverings_join_neighbouring_units(run_script) -> None:
    detail = detail_of(TeslaCelab("zh"), "八坂神社好", "我去八坂神社")
    ties = run_script("pictureOf(data).ties.map((tie) => [tie.reference, tie.hypothesis])", detail)
    assert ties == [[[2, 6], [0, 4]]]


def test_rows_hold_every_word_once_and_fit(run_script) -> None:
    source = random.Random(5)
    cases = []
    for _ in range(200):
        widths = [[source.uniform(1, 60) for _ in range(source.randrange(13))] for _ in range(2)]
        pairs = [[source.randrange(len(side)) for side in widths] for _ in range(8) if all(widths)]
        ties = [{"reference": [i, i + 1], "hypothesis": [j, j + 1]} for i, j in pairs]
        cases.append({"widths": widths, "ties": ties, "room": source.uniform(20, 200)})
    found = run_script("data.map(({ widths, ties, room }) => rowsOf(widths, ties, room))", cases)
    for case, rows in zip(cases, found, strict=True):
        for side, widths in enumerate(case["widths"]):
            spans = [row[side] for row in rows]
            assert [place for span in spans for place in range(*span)] == list(range(len(widths)))
            assert all(
                sum(widths[slice(*span)]) <= case["room"] + 1e-6 for span in spans if span[1] - span[0] > 1
            )


def test_the_arithmetic_leads_to_the_score(run_script) -> None:
    detail = detail_of(TeslaM("en"), "The cats sat on a mat.", "The cat sat on the mat.")
    feature = detail["features"][0]
    steps = run_script("featureSteps(data)", feature)
    assert steps[1].endswith(f"= {feature['precision']:.4f}") and steps[2].endswith(
        f"= {feature['recall']:.4f}"
    )
    assert steps[-1].endswith(f"{feature['f']:.4f}") and "0.8 P" in steps[-1]
    assert "mean of 6 F values" in run_script("scoreSteps(data)", detail)[0]
    covering = run_script("scoreSteps(data)", detail_of(TeslaCelab("zh"), "买伞吗", "买雨伞"))
    assert covering[-1].startswith("score = recall and, by a quarter, precision")
    learned = run_script("scoreSteps(data)", detail_of(TeslaX("en"), "The cats sat.", "A dog ran."))
    assert "feature shares" in learned[0]


def test_names_of_features_in_words() -> None:
    assert feature_title("pos.2") == "two words in a row, by part of speech"
    assert feature_title("vec.1.f") == "single words, by vectors, F"
    assert feature_title("own.feature") == "own.feature"
    assert all(feature_title(name) != name for name in TeslaX("en").feature_names)


@pytest.mark.parametrize("text", HOSTILE)
def test_all_text_is_escaped(text: str) -> None:
    shown = TeslaM("en").explain(f"{text} cat", [f"cat {text}"])._repr_html_()
    tags = Tags(shown)
    assert {"img", "iframe", "object"}.isdisjoint(tags.names)
    assert tags.names.count("script") == 2, "the data, and the script that draws it"
    assert not [name for name in tags.attributes if name.startswith("on") or name in ("src", "href", "id")]
    (data,) = re.findall(r'<script type="application/json" class="tm-data">(.*?)</script>', shown, re.DOTALL)
    assert json.loads(data)["hypothesis"] == f"{text} cat"


def test_every_module_is_in_the_script() -> None:
    assert {path.stem for path in ASSETS.glob("*.js")} == set(DRAWING)
    assert not re.search(r"^(import|export) ", drawing_script(), re.MULTILINE)
    assert (
        "innerHTML" not in drawing_script()
        and "eval(" not in drawing_script()
        and "</" not in drawing_script()
    )


@given(st.text())
def test_any_text_makes_valid_xml(text: str) -> None:
    root = ET.fromstring(f"<a t={chr(34)}{escaped(text)}{chr(34)}>{escaped(text)}</a>")
    assert (root.text or "") == printable(text) == root.get("t", "")


def test_widths_of_combining_marks_and_emoji() -> None:
    assert estimated_width("e\u0301", 10) == estimated_width("e", 10)
    assert estimated_width("👩\u200d🚀", 10) > estimated_width("a", 10)


def test_notebooks_show_scores_and_links() -> None:
    metric = TeslaM("en")
    score = metric.sentence_score("The cats sat.", ["The cat sat."])
    assert f"{score.score:.4f}" in score._repr_html_() and "ms.1" in score._repr_html_()
    corpus = metric.corpus_score(["The cats sat.", "A dog."], [["The cat sat.", "A cat."]])
    assert "over 2 segments" in corpus._repr_html_()
    shown = metric.explain("The cats sat.", ["The cat sat."])._repr_html_()
    assert "The cats sat." in shown and "tm-data" in shown and "drawAll" in shown and "<style>" in shown


def test_explain_writes_html(tesla) -> None:
    page = tesla("explain", "--html", "--feature", "ms.2", "The cats sat.", "The cat sat.")
    assert page.status == 0 and page.out.startswith("<!doctype html>") and '"feature": "ms.2"' in page.out
    assert tesla("explain", "--json", "--html", "a", "b").status == 2
    assert "there are ms.1" in tesla("explain", "--html", "--feature", "nonsense", "The cats", "a cat").err


def test_explain_html_of_files_holds_every_segment(tesla, write) -> None:
    files = write("ref.txt", ["The cat sat.", "A dog ran."]), write("sys.txt", ["The cats sat.", "Dogs run."])
    page = tesla("explain", "--html", "-r", *files)
    assert page.status == 0 and page.out.count('class="tm-data"') == 2


def test_the_example_notebook_runs() -> None:
    notebook = json.loads((ROOT / "examples" / "explain.ipynb").read_text("utf-8"))
    names: dict[str, object] = {}
    shown = []
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            *body, last = "".join(cell["source"]).split("\n")
            exec("\n".join(body), names)
            shown.append(eval(last, names))
    assert any("tm-data" in value._repr_html_() for value in shown if hasattr(value, "_repr_html_"))
