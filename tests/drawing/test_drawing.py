"""Pictures of a match: what is drawn, how texts are broken into rows, and that all text stays text."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tesla_eval import TeslaCelab, TeslaM, TeslaX
from tesla_eval.drawing import explanation_html, explanation_page, match_svg
from tesla_eval.drawing.arithmetic import feature_steps, score_steps
from tesla_eval.drawing.match import rows_of
from tesla_eval.drawing.picture import KINDS, Picture, Tie, Word, picture_of
from tesla_eval.drawing.text import escaped, estimated_width, is_right_to_left, printable, shortened

ROOT = Path(__file__).resolve().parents[2]
HOSTILE = [
    "<script>alert(1)</script>", "</script><img src=x onerror=alert(1)>", "javascript:alert(1)", "a\u2028b\u2029c",
    '"><svg onload=alert(1)>', "{{ 7 * 7 }}", "\x00\x1b[31m", "\u202eabc", "&lt;b&gt;", "]]><!--",
]  # fmt: skip
SVG = "{http://www.w3.org/2000/svg}"


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


def picture(reference: str, hypothesis: str, *ties: Tie) -> Picture:
    words = [tuple(Word(text) for text in side.split()) for side in (reference, hypothesis)]
    return Picture(words[0], words[1], ties)


def test_words_and_links_are_drawn() -> None:
    explanation = TeslaM("en").explain("The cats sat.", ["The cat sat."])
    drawn = picture_of(explanation.to_dict()["references"][0])
    assert drawn is not None
    assert [word.text for word in drawn.hypothesis] == ["The", "cats", "sat"]
    assert {tie.kind for tie in drawn.ties} == {"exact", "lemma"}
    root = ET.fromstring(match_svg(drawn, standalone=True))
    assert len(root.findall(f"{SVG}path")) == len(drawn.ties) == 3
    assert len(root.findall(f"{SVG}g")) == 6


def test_thickness_is_weight_and_kinds_are_told_by_more_than_colour() -> None:
    ties = [Tie((k, k + 1), (k, k + 1), kind, 1.0, 0.1 if k else 1.0) for k, kind in enumerate(KINDS)]
    root = ET.fromstring(match_svg(picture("a b c d e", "a b c d e", *ties), standalone=True))
    paths = {path.get("class", "").split("tm-")[-1]: path for path in root.findall(f"{SVG}path")}
    assert float(paths["exact"].get("stroke-width")) > float(paths["lemma"].get("stroke-width"))
    assert len({(path.get("stroke"), path.get("stroke-dasharray")) for path in paths.values()}) == len(KINDS)
    assert len({path.get("stroke-dasharray") for path in paths.values()}) == len(KINDS)


def test_words_without_a_partner_are_marked() -> None:
    svg = match_svg(picture("a b", "a c", Tie((0, 1), (0, 1), "exact", 1.0, 1.0)))
    assert svg.count("tm-word tm-unmatched") == 2
    assert svg.count("tm-word tm-exact") == 2


def test_synonyms_vectors_and_tags_have_their_own_kinds() -> None:
    detail = TeslaM("en").explain("He bought an automobile.", ["He bought a car."]).to_dict()["references"][0]
    drawn = picture_of(detail)
    assert drawn is not None and "synonym" in {tie.kind for tie in drawn.ties}
    tags = picture_of(detail, "pos.1")
    assert tags is not None and tags.tagged and {tie.kind for tie in tags.ties} == {"pos"}
    vectors = TeslaX("en").explain("A large storm.", ["A big gale."]).to_dict()["references"][0]
    names = [one["name"] for one in vectors["features"] if "flow" in one and one["similarity"] != "pos"]
    assert names
    for name in names:
        shown = picture_of(vectors, name)
        assert shown is not None and {tie.kind for tie in shown.ties} <= {"exact", "lemma", "vector"}


def test_coverings_join_neighbouring_units() -> None:
    drawn = picture_of(TeslaCelab("zh").explain("八坂神社好", ["我去八坂神社"]).to_dict()["references"][0])
    assert drawn is not None
    assert [(tie.reference, tie.hypothesis) for tie in drawn.ties] == [((2, 6), (0, 4))]


@given(
    st.lists(st.floats(1, 60), max_size=12), st.lists(st.floats(1, 60), max_size=12), st.floats(20, 200), st.data()
)  # fmt: skip
def test_rows_hold_every_word_once_and_fit(reference, hypothesis, room, data) -> None:
    places = st.tuples(
        st.integers(0, max(0, len(reference) - 1)), st.integers(0, max(0, len(hypothesis) - 1))
    )
    pairs = data.draw(st.lists(places, max_size=8)) if reference and hypothesis else []
    ties = [Tie((i, i + 1), (j, j + 1), "exact", 1.0, 1.0) for i, j in pairs]
    rows = rows_of(reference, hypothesis, ties, room)
    for side, widths in enumerate((reference, hypothesis)):
        spans = [row[side] for row in rows]
        assert [place for span in spans for place in range(*span)] == list(range(len(widths)))
        assert all(sum(widths[slice(*span)]) <= room + 1e-6 for span in spans if span[1] - span[0] > 1)


def test_links_across_rows_carry_the_same_letter() -> None:
    words = " ".join(f"word{k}" for k in range(30))
    last_to_first = Tie((0, 1), (29, 30), "exact", 1.0, 1.0)
    root = ET.fromstring(match_svg(picture(words, words, last_to_first), 400, standalone=True))
    letters = [text.text for text in root.iter(f"{SVG}text") if text.get("class") == "tm-letter"]
    assert letters == ["a", "a"]
    assert not root.findall(f"{SVG}path")


def test_joined_links_are_cut_where_rows_end() -> None:
    detail = TeslaCelab("zh").explain("因为下雨她在车站买了雨伞", ["因为下雨她在车站买了雨伞"]).to_dict()
    drawn = picture_of(detail["references"][0])
    assert drawn is not None and len(drawn.ties) == 1
    root = ET.fromstring(match_svg(drawn, 200, standalone=True))
    assert len(root.findall(f"{SVG}path")) == len(rows_of([32.0] * 12, [32.0] * 12, drawn.ties, 184)) > 1
    assert not [text for text in root.iter(f"{SVG}text") if text.get("class") == "tm-letter"]


def test_right_to_left_texts_begin_on_the_right() -> None:
    assert is_right_to_left("سافر الرئيس") and is_right_to_left("שלום")
    assert not is_right_to_left("abc שלום عربي abcdefgh")
    root = ET.fromstring(match_svg(picture("سافر الرئيس إلى", "ذهب الرئيس"), standalone=True))
    boxes = [float(box.get("x")) for box in root.iter(f"{SVG}rect") if box.get("x")]
    assert boxes[:3] == sorted(boxes[:3], reverse=True)


@pytest.mark.parametrize("text", HOSTILE)
def test_all_text_is_escaped(text: str) -> None:
    explanation = TeslaM("en").explain(f"{text} cat", [f"cat {text}"])
    page = explanation_page(
        [explanation_html(explanation.to_dict(), explanation.hypothesis, [explanation.references[0].text])],
        text,
    )
    tags = Tags(page)
    assert {"script", "img", "iframe", "object"}.isdisjoint(tags.names)
    assert not [name for name in tags.attributes if name.startswith("on") or name in ("src", "href")]
    assert "http://" not in page and "https://" not in page
    ET.fromstring(match_svg(Picture((Word(text),), (Word(text),), ()), standalone=True))


@given(st.text())
def test_any_text_makes_valid_xml(text: str) -> None:
    root = ET.fromstring(f"<a t={chr(34)}{escaped(text)}{chr(34)}>{escaped(text)}</a>")
    assert (root.text or "") == printable(text) == root.get("t", "")


def test_widths_of_combining_marks_emoji_and_long_words() -> None:
    assert estimated_width("e\u0301", 10) == estimated_width("e", 10)
    assert estimated_width("👩\u200d🚀", 10) > estimated_width("a", 10)
    assert shortened("a" * 100, 28) == "a" * 13 + "…" + "a" * 13
    assert not shortened("a" * 20 + "e\u0301" * 40, 27).split("…")[1].startswith("\u0301")
    svg = match_svg(picture("x" * 500, "y"))
    assert "x" * 500 in svg and svg.count("x" * 30) <= 500 // 30, "in full as a title only"


def test_the_arithmetic_leads_to_the_score() -> None:
    detail = (
        TeslaM("en").explain("The cats sat on a mat.", ["The cat sat on the mat."]).to_dict()["references"][0]
    )
    steps = list(feature_steps(detail["features"][0]))
    assert steps[-1].endswith(f"{detail['features'][0]['f']:.4f}") and "0.8 P" in steps[-1]
    assert "mean of 6 F values" in next(iter(score_steps(detail)))
    covering = TeslaCelab("zh").explain("买伞吗", ["买雨伞"]).to_dict()["references"][0]
    assert list(score_steps(covering))[-1].startswith("score = recall and, by a quarter, precision")
    learned = TeslaX("en").explain("The cats sat.", ["A dog ran."]).to_dict()["references"][0]
    assert "feature shares" in next(iter(score_steps(learned)))


def test_notebooks_show_scores_and_links() -> None:
    metric = TeslaM("en")
    score = metric.sentence_score("The cats sat.", ["The cat sat."])
    assert f"{score.score:.4f}" in score._repr_html_() and "ms.1" in score._repr_html_()
    corpus = metric.corpus_score(["The cats sat.", "A dog."], [["The cat sat.", "A cat."]])
    assert "over 2 segments" in corpus._repr_html_()
    shown = metric.explain("The cats sat.", ["The cat sat."])._repr_html_()
    assert "<svg" in shown and "<script" not in shown and "<style>" in shown


def test_explain_writes_html_and_svg(tesla) -> None:
    page = tesla("explain", "--html", "The cats sat.", "The cat sat.")
    assert page.status == 0 and page.out.startswith("<!doctype html>") and "<svg" in page.out
    picture_file = tesla("explain", "--svg", "--feature", "ms.2", "The cats sat.", "The cat sat.")
    assert ET.fromstring(picture_file.out).tag == f"{SVG}svg"
    assert tesla("explain", "--svg", "--html", "a", "b").status == 2
    assert "there are ms.1" in tesla("explain", "--svg", "--feature", "nonsense", "The cats", "a cat").err


def test_explain_html_of_files_holds_every_segment(tesla, write) -> None:
    files = write("ref.txt", ["The cat sat.", "A dog ran."]), write("sys.txt", ["The cats sat.", "Dogs run."])
    page = tesla("explain", "--html", "-r", *files)
    assert page.status == 0 and page.out.count('class="tm-explanation"') == 2
    assert tesla("explain", "--svg", "-r", *files).status == 2
    assert tesla("explain", "--svg", "-r", *files, "--segment", "2").status == 0


def test_the_example_notebook_runs() -> None:
    notebook = json.loads((ROOT / "examples" / "explain.ipynb").read_text("utf-8"))
    names: dict[str, object] = {}
    shown = []
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            *body, last = "".join(cell["source"]).split("\n")
            exec("\n".join(body), names)
            shown.append(eval(last, names))
    assert any("<svg" in value._repr_html_() for value in shown if hasattr(value, "_repr_html_"))
