"""`tesla report`: its numbers are those of score, compare and explain; its data can be read back; text stays text."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from datetime import date
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from tesla_eval import TeslaM
from tesla_eval.base.errors import InputError
from tesla_eval.base.version import SCORING
from tesla_eval.drawing.script import bundled
from tesla_eval.language.analysis.frequencies import load_frequencies
from tesla_eval.metrics.comparison import SystemTable, compare_systems
from tesla_eval.report.collect import ReportTexts, ScoredMetric, collect, telling_segments
from tesla_eval.report.embedding import BLOCK_TYPE, encoded, extract, read_blocks
from tesla_eval.report.findings import CLASSES, Findings
from tesla_eval.report.overview import overview
from tesla_eval.report.page import MODULES
from tesla_eval.texts.compression import short_names

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = [str(ROOT / "examples" / name) for name in ("reference.txt", "system-a.txt", "system-b.txt")]
HOSTILE = [
    "<script>alert(1)</script>", "</script><img src=x onerror=alert(1)>", "javascript:alert(1) \u2028 x",
    '"><svg onload=alert(1)>', "{{ 7 * 7 }} {% raw %}", "<!-- <script>",
]  # fmt: skip


@pytest.fixture
def page(tesla, tmp_path: Path):
    """Writes a report and gives back its path."""

    def make(*arguments: str) -> Path:
        path = tmp_path / "report.html"
        language = () if "-l" in arguments else ("-l", "en")
        found = tesla("report", *language, *arguments, "-o", str(path))
        assert found.status == 0, found.err
        return path

    return make


def test_numbers_equal_score_compare_and_explain(tesla, page) -> None:
    given = ("-r", *EXAMPLES, "-m", "m,x,bleu,ter")
    document = extract(page(*given))
    scored = json.loads(tesla("score", *given, "--json", "--segments").out)
    compared = json.loads(tesla("compare", *given, "--json").out)
    for place, metric in enumerate(document["metrics"]):
        rows = [system["metrics"][metric["name"]] for system in scored["systems"]]
        assert metric["scores"] == [row["score"] for row in rows]
        assert metric["segments"] == [row["segments"] for row in rows]
        assert metric["signature"] == scored["metrics"][metric["name"]]["signature"]
        assert metric["comparison"] == compared["metrics"][place]
    for metric, name in (("m", "tesla-m"), ("x", "tesla-x")):
        for system, path in enumerate(EXAMPLES[1:]):
            explained = tesla("explain", "-m", metric, "--json", "-r", EXAMPLES[0], path).out.splitlines()
            found = [document["explanations"][name][str(k)][system] for k in range(len(explained))]
            assert found == [json.loads(line) for line in explained]


def test_compact_coverings_are_read_back_as_explain_gives_them(tesla, page, write) -> None:
    lines = {"ref.txt": ["买雨伞的人走了。", "他去 A b 店", ""], "sys.txt": ["买伞的人走", "A b 他去去", "x"]}
    reference, system = (write(name, texts) for name, texts in lines.items())
    document = extract(page("-l", "zh", "-m", "celab", "-r", reference, system))
    explained = tesla(
        "explain", "-l", "zh", "-m", "celab", "--json", "-r", reference, system
    ).out.splitlines()
    shown = [document["explanations"]["tesla-celab"][str(k)][0] for k in range(3)]
    assert shown == [json.loads(line) for line in explained]
    assert any(not part["equal"] for link in shown[0]["references"][0]["links"] for part in link["parts"])


def test_findings_do_not_depend_on_the_embedded_links(page) -> None:
    few, all_links = (extract(page("-r", *EXAMPLES, "--flows", count)) for count in ("0", "5"))
    for key in ("findings", "lost_classes", "lengths"):
        assert few[key] == all_links[key]


def test_features_are_those_of_the_metric(page) -> None:
    document = extract(page("-r", *EXAMPLES, "-m", "m"))
    lines = [Path(path).read_text("utf-8").splitlines() for path in EXAMPLES]
    for system, texts in enumerate(lines[1:]):
        corpus = TeslaM("en").corpus_score(texts, [lines[0]])
        values = np.array(document["features"]["tesla-m"][system], float)
        assert np.allclose(values.T, corpus.features, atol=5.1e-5, equal_nan=True)
        means = document["metrics"][0]["feature_means"][system]
        assert np.allclose(means, np.nanmean(corpus.features, axis=0), atol=5.1e-5)


def test_the_shown_table_has_the_numbers_of_compare(tesla, page) -> None:
    html = page("-r", *EXAMPLES, "-m", "m,bleu").read_text("utf-8")
    for line in tesla("compare", "-r", *EXAMPLES, "-m", "m,bleu").out.splitlines():
        row = re.search(r"system-[ab]\.txt +(\S+) +(\S+) to (\S+)$", line)
        if row:
            assert f">{row[1]}</span>" in html and f"{row[2]} to {row[3]}" in html


def _metric(name: str, scores: list[float], significant: set[str], higher: bool = True) -> dict:
    """The comparison of systems a, b, c …; `significant` are pairs such as "ab"."""
    systems = "abcdef"[: len(scores)]
    pairs = [
        {"first": x, "second": y, "difference": scores[systems.index(x)] - scores[systems.index(y)],
         "significant": x + y in significant, "low": 0.0, "high": 0.0, "wins": 0.5, "p_randomisation_holm": 1.0}
        for x, y in combinations(systems, 2)
    ]  # fmt: skip
    rows = [{"score": s, "low": s - 1, "high": s + 1, "cluster": None} for s in scores]
    comparison = {"pairs": pairs, "systems": rows, "alpha": 0.05}
    return {"name": name, "scores": scores, "higher_is_better": higher, "digits": 2, "comparison": comparison}


@pytest.mark.parametrize(
    ("metrics", "conclusion"),
    [
        ([_metric("m", [3, 2], {"ab"}), _metric("x", [5, 1], {"ab"})], "a is better than b by both metrics."),
        ([_metric("m", [3, 2], {"ab"}), _metric("ter", [1, 5], {"ab"}, higher=False)],
         "a is better than b by both metrics."),
        ([_metric("m", [2, 3], set()), _metric("x", [1, 5], set())], "b cannot be told apart from a by any metric."),
        ([_metric("m", [3, 2, 1], {"ac", "ab"}), _metric("x", [3, 2, 1], {"ac"})],
         "a is better than c by both metrics. a differs from b by some metrics only."),
        ([_metric("m", [3, 2], {"ab"}), _metric("x", [1, 2], {"ab"})],
         "The metrics disagree about the best system: a is best by m; b is best by x."),
        ([_metric("m", [3, 2], {"ab"})], ""),
    ],
)  # fmt: skip
def test_one_conclusion_over_all_metrics(metrics: list[dict], conclusion: str) -> None:
    systems = list("abcdef"[: len(metrics[0]["scores"])])
    assert overview({"systems": systems, "metrics": metrics}).conclusion == conclusion


def test_the_page_says_where_other_systems_lie(page, write) -> None:
    stored = json.loads((ROOT / "src" / "tesla_eval" / "report" / "ranges.json").read_text("utf-8"))
    assert stored["scoring"] == SCORING, "python tools/score_ranges.py makes the ranges anew"
    row = stored["ranges"]["tesla-m"]["en"]
    assert 0 < row["low"] < row["high"] < 1
    html = page("-r", *EXAMPLES, "-m", "m").read_text("utf-8")
    assert f"systems of {row['set']} into English lie between {row['low']:.4f} and {row['high']:.4f}." in html
    lines = write("ref.txt", ["Saluton."]), write("sys.txt", ["Saluton."])
    assert "What a number means" not in page("-l", "und", "-m", "bleu", "-r", *lines).read_text("utf-8")


def test_the_page_says_what_was_compared_and_when(page) -> None:
    html = page("-r", *EXAMPLES).read_text("utf-8")
    assert "<h1>English: 2 systems, 5 segments</h1>" in html
    assert str(date.today().year) in re.search(r'<p class="what">(.*?)</p>', html)[1]  # type: ignore[index]
    one = page("-r", *EXAMPLES[:2]).read_text("utf-8")
    assert '<svg class="interval"' in html and '<svg class="interval"' not in one


def test_extract_prints_json(tesla, page) -> None:
    path = page("-r", *EXAMPLES)
    document = json.loads(tesla("report", "--extract", str(path)).out)
    assert document == extract(path)
    assert document["format"] == "tesla-report" and document["command"].startswith("tesla report")


def test_the_same_run_writes_the_same_bytes(page) -> None:
    first = page("-r", *EXAMPLES).read_bytes()
    assert page("-r", *EXAMPLES).read_bytes() == first


def test_only_our_style_and_script_are_allowed(page) -> None:
    html = page("-r", *EXAMPLES).read_text("utf-8")
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', html)
    assert policy and "default-src &#39;none&#39;" in policy[1]
    assert "unsafe" not in policy[1]
    for name, pattern in (
        ("style", r"<style>(.*?)</style>"),
        ("script", r'<script type="module">(.*?)</script>'),
    ):
        (content,) = re.findall(pattern, html, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{name}-src &#39;sha256-{digest}&#39;" in policy[1]
    assert not re.search(r"<(link|img|iframe|object|embed|base)\b", html)
    assert not re.search(r'\b(src|srcset|action|poster)="', html)
    assert all(link.startswith("#") for link in re.findall(r'href="([^"]*)"', html))
    assert not re.search(r' style="', html), "the policy forbids style attributes"


def test_hostile_texts_and_names_stay_text(page, write, tmp_path: Path) -> None:
    reference = write("ref.txt", [f"A cat sat {text}" for text in HOSTILE])
    systems = [
        write("a&b'.txt", [f"{text} the cat sat" for text in HOSTILE]),
        write("{{ 7 }}.txt", [f"cats {text}" for text in HOSTILE]),
    ]
    path = page(
        "-r", reference, "--source", reference, *systems, "--title", "</title><script>alert(1)</script>"
    )
    html = path.read_text("utf-8")
    assert html.count("<script") == html.count("</script>") == html.count("<script type=")
    assert "onerror" not in html and "7 * 7" not in html and "{{ 7 }}" in html
    assert [text.split("sat ", 1)[1] for text in extract(path)["texts"]["references"][0]] == HOSTILE


def test_flows_for_a_chosen_subset_are_announced(page) -> None:
    path = page("-r", *EXAMPLES, "-m", "m", "--flows", "2")
    document = extract(path)
    assert document["matching"]["segments"] == 2 == len(document["explanations"]["tesla-m"])
    assert "holds the links of 2 of 5 segments" in path.read_text("utf-8")
    assert "holds the links" not in page("-r", *EXAMPLES, "-m", "m").read_text("utf-8")


def test_flows_stop_at_the_size(monkeypatch) -> None:
    monkeypatch.setattr("tesla_eval.report.collect.MATCHING_BYTES", 3000)
    monkeypatch.setattr("tesla_eval.report.collect._EXPLANATIONS_PER_BLOCK", 1)
    blocks = collect(*_small(40), title="", command="", language="en")
    sizes = [len(text) for name, text in blocks.others.items() if name.startswith("tesla-matching")]
    assert 1 <= len(sizes) < 40 and sum(sizes) <= 3000
    assert blocks.core["matching"]["segments"] == len(sizes)


def _small(count: int) -> tuple[ReportTexts, list[ScoredMetric]]:
    metric = TeslaM("en")
    references = [f"The {('cat', 'dog')[k % 2]} number {k} sat on the mat." for k in range(count)]
    hypotheses = [f"A cat number {k} sat near the mat." for k in range(count)]
    corpus = metric.corpus_score(hypotheses, [references])
    table = SystemTable("tesla-m", ("s",), corpus.segments[:, None])
    scored = ScoredMetric(
        "tesla-m", metric, "s", "s", 4, (corpus.score,), corpus.segments[None], corpus.features[None],
        compare_systems(table, resamples=10),
    )  # fmt: skip
    return ReportTexts(("s",), [hypotheses], [references]), [scored]


def test_the_most_telling_segments_come_first() -> None:
    _, (one,) = _small(10)
    order = telling_segments(one)
    assert sorted(order) == list(range(10))
    assert one.segments[0, order[1]] == one.segments.min() or order[0] == int(one.segments[0].argmin())


def test_lost_words_are_those_without_a_full_link(page) -> None:
    document = extract(page("-r", *EXAMPLES, "-m", "m"))
    words, names = document["words"], document["classes"]
    for system, by_segment in enumerate(words["losses"]):
        for segment, losses in enumerate(by_segment):
            detail = document["explanations"]["tesla-m"][str(segment)][system]["references"][0]
            assert words["references"][segment] == 0
            tokens, places = detail["reference"], words["words"][segment]
            assert places[::3] == [token["start"] for token in tokens]
            assert places[1::3] == [token["end"] for token in tokens]
            functions = [names[kind] == "function" for kind in places[2::3]]
            assert functions == [token["function"] for token in tokens]
            carried = [0.0] * len(tokens)
            for link in detail["features"][0]["flow"]:
                carried[link["reference"][0]] += link["similarity"] * link["weight"]
            missing = [
                (0.1 if token["function"] else 1) - x for token, x in zip(tokens, carried, strict=True)
            ]
            expected = {place: round(100 * cost) for place, cost in enumerate(missing) if cost >= 0.25}
            assert dict(zip(losses[::2], losses[1::2], strict=True)) == expected


def test_segments_are_grouped_by_documents_and_labels(tesla, page, write) -> None:
    labels = write("labels.txt", [f"{'news' if k % 2 else 'sport'}\tann" for k in range(5)])
    groups = extract(page("-r", *EXAMPLES, "-m", "m", "--labels", labels))["texts"]["groups"]
    assert groups == {"label 1": ["sport", "news", "sport", "news", "sport"], "label 2": ["ann"] * 5}
    short = write("short.txt", ["news"] * 4)
    refused = tesla("report", "-l", "en", "-r", *EXAMPLES, "--labels", short, "-o", "x.html")
    assert refused.status == 2 and "4 lines, but there are 5 segments" in refused.err
    ragged = write("ragged.txt", ["news\ta", *["news"] * 4])
    refused = tesla("report", "-l", "en", "-r", *EXAMPLES, "--labels", ragged, "-o", "x.html")
    assert refused.status == 2 and "line 2: 1 columns, but line 1 has 2" in refused.err


def test_stress_and_support_have_sections(tesla, page, write, tmp_path: Path) -> None:
    printed = tesla("stress", "-l", "en", "-r", *EXAMPLES, "-m", "m,bleu", "--format", "json").out
    study = json.loads(printed)
    path = page("--stress", write("stress.json", [printed]))
    assert extract(path)["stress"] == study
    html = path.read_text("utf-8")
    for row in study["rows"]:
        if row["fooled"] is not None:
            drop = row["drop"] if row["relative_drop"] is None else row["relative_drop"]
            assert f"{row['fooled']:.3f} ({drop:.2f})" in html
    assert tesla("report", "--stress", write("no.json", ["{}"]), "-o", "x.html").status == 2
    source = write("source.txt", ["Storms hit Portugal on Monday. Nobody was hurt."])
    outputs = write("a.txt", ["Storms hit Spain. Nobody was hurt."]), write("b.txt", ["Storms hit Portugal."])
    document = extract(page("-m", "s-source", "-s", source, *outputs))
    worst = document["support"][0][0]
    assert (
        worst["segment"] == 0
        and "Spain" in worst["sentence"]
        and worst["score"] < document["support"][1][0]["score"]
    )


def test_findings_name_what_was_lost() -> None:
    metric = TeslaM("en")
    found = Findings({"NNP": "PROPN", "CD": "NUM", "NN": "NOUN"}.get, 1)  # type: ignore[arg-type]
    detail = metric.explain("The visitor saw a car in Paris.", ["Maria saw 12 automobiles in Paris."])
    found.add(0, detail.to_dict()["references"][0], None)
    tables = found.to_dict()
    assert "Maria" in {row["text"] for row in tables["names"]}
    assert [row["text"] for row in tables["numbers"]] == ["12"]
    assert tables["totals"]["numbers"] == {"count": 1, "segments": 1}
    assert [row["text"] for row in tables["synonyms"]] == ["automobiles → car"]
    assert "Paris" not in {row["text"] for row in tables["lost"]}
    assert found.classes[0] & 0b11 == 0b11


def test_a_lost_function_word_costs_what_it_weighs_in_the_metric(monkeypatch) -> None:
    monkeypatch.setattr("tesla_eval.report.findings.FUNCTION_WORD_DISCOUNT", 0.5)
    found = Findings(lambda tag: tag, 1)
    found.add(
        0, TeslaM("en").explain("Dogs bark.", ["Dogs bark because of him."]).to_dict()["references"][0], None
    )
    assert 50 in found.losses[0][1::2]


@pytest.mark.parametrize(
    ("hypothesis", "reference", "kind", "text"),
    [
        ("The mayor spoke.", "The mayor spoke after heavy winter storms damaged many bridges.", "dropped",
         "after heavy winter storms damaged many bridges"),
        ("He left early because heavy winter storms damaged many bridges.", "He left early.", "inserted",
         "because heavy winter storms damaged many bridges"),
        ("He said he said that dogs bark.", "He said that dogs bark.", "repeated", "He said he said"),
    ],
)  # fmt: skip
def test_findings_see_stretches_and_repetitions(
    hypothesis: str, reference: str, kind: str, text: str
) -> None:
    found = Findings(lambda tag: tag, 1)
    found.add(0, TeslaM("en").explain(hypothesis, [reference]).to_dict()["references"][0], None)
    tables = found.to_dict()
    assert [row["text"] for row in tables[kind]] == [text]
    assert {name for name in ("dropped", "inserted", "repeated") if tables[name]} == {kind}
    assert found.classes[0] >> CLASSES.index(kind) & 1


@pytest.mark.parametrize(
    ("reference", "expected"),
    [("The hello was loud.", ["he he"]), ("Then he heard.", ["he he"]), ("Well, he he.", [])],
)
def test_only_whole_words_of_the_reference_repeat_themselves(reference: str, expected: list[str]) -> None:
    found = Findings(lambda tag: tag, 1)
    detail = TeslaM("en").explain("Loud was he he.", [reference]).to_dict()["references"][0]
    found.add(0, detail, None)
    assert [row["text"] for row in found.to_dict()["repeated"]] == expected


def test_findings_see_untranslated_words() -> None:
    found = Findings(lambda tag: tag, 1)
    detail = TeslaM("en").explain(
        "The Bundestag voted über Gesetze москва.", ["The parliament voted on laws."]
    )
    found.add(0, detail.to_dict()["references"][0], "Der Bundestag stimmte über Gesetze ab.")
    assert {row["text"] for row in found.to_dict()["untranslated"]} >= {"Gesetze", "москва"}


def test_words_that_both_languages_have_are_not_untranslated() -> None:
    """ "Region" and "warm" are German and correct English."""
    found = Findings(lambda tag: tag, 1, load_frequencies("en"))
    detail = TeslaM("en").explain(
        "It stays warm in the whole region, not im Bundestag.", ["The area remains mild."]
    )
    found.add(
        0, detail.to_dict()["references"][0], "Warm bleibt es in der ganzen Region, nicht im Bundestag."
    )
    assert {row["text"] for row in found.to_dict()["untranslated"]} == {"Bundestag"}


def test_a_report_of_german_sources_knows_english_words(page, write) -> None:
    files = {
        "ref": "The area remains mild.",
        "sys": "The region stays warm.",
        "src": "Die Region bleibt warm.",
    }
    reference, system, source = (write(f"{name}.txt", [text]) for name, text in files.items())
    document = extract(page("-l", "en", "-m", "m", "-r", reference, "-s", source, system))
    assert document["findings"][0]["untranslated"] == []


@pytest.mark.parametrize("name", ["report.pdf", "report.json"])
def test_a_report_is_not_written_under_the_name_of_another_format(tesla, write, tmp_path, name) -> None:
    reference = write("ref.txt", ["A cat sat."])
    done = tesla("report", "-m", "m", "-r", reference, reference, "-o", str(tmp_path / name))
    assert done.status == 2
    assert f"{name}: a report is an HTML page" in done.err
    assert "report.html; a browser can print it as PDF" in done.err
    assert not (tmp_path / name).exists()


def test_chinese_findings_are_runs_of_characters(page, write) -> None:
    reference, system = write("ref.txt", ["我昨天去了八坂神社。"]), write("sys.txt", ["我昨天去了清水寺。"])
    document = extract(page("-l", "zh", "-r", reference, system))
    assert "八坂神社" in {row["text"] for row in document["findings"][0]["lost"]}
    assert "清水寺" in {row["text"] for row in document["findings"][0]["added"]}


def test_summaries_and_several_references(tesla, page) -> None:
    source = str(ROOT / "examples" / "summaries.jsonl")
    document = extract(page("-m", "s", source))
    scored = json.loads(tesla("score", "-m", "s", source, "--json", "--segments").out)
    assert document["texts"]["names"] == scored["topics"]
    assert document["metrics"][0]["scores"] == [
        row["metrics"]["tesla-s"]["score"] for row in scored["systems"]
    ]
    assert document["findings"][0]["added"] is not None


def test_metrics_without_links_make_a_report(page) -> None:
    path = page("-r", *EXAMPLES, "-m", "bleu,ter")
    assert extract(path)["matching"]["segments"] == 0
    assert "has links between words" in path.read_text("utf-8")


def test_one_system_needs_no_tests(page) -> None:
    document = extract(page("-r", *EXAMPLES[:2]))
    assert document["metrics"][0]["comparison"]["pairs"] == []


def test_empty_lines_are_no_obstacle(page, write) -> None:
    reference, system = write("ref.txt", ["", "A cat sat."]), write("sys.txt", ["Words.", ""])
    assert len(extract(page("-r", reference, system))["texts"]["hypotheses"][0]) == 2


def test_what_is_no_report_is_refused(tesla, write) -> None:
    with pytest.raises(InputError, match="holds no data"):
        list(read_blocks(write("page.html", ["<html>"])))
    damaged = f'<script type="{BLOCK_TYPE}" id="tesla-core">{encoded({"a": 1})[:-8]}AAAAAAA=</script>'
    found = tesla("report", "--extract", write("damaged.html", [damaged]))
    assert found.status == 2 and "is damaged" in found.err
    assert "-o report.html" in tesla("report", "-r", *EXAMPLES).err


def test_meta_results_are_shown(tesla, page, write) -> None:
    rows = ["lp\ttestset\tsystem\tseg_id\thuman_score\thypothesis\treference"]
    rows += [
        f"de-en\town\tsys{system}\t{k}\t{(system * 7 + k) % 5}\tA cat number {k * system} sat.\tA cat number {k} sat."
        for system in range(1, 5)
        for k in range(6)
    ]
    judged = write("own.seg.tsv", rows)
    printed = tesla(
        "meta", "--segments", judged, "-m", "m,chrf", "--format", "json", "--no-cache", "--significance", "kendall",
        "--significance", "system:pearson",
    )  # fmt: skip
    assert printed.status == 0, printed.err
    study = json.loads(printed.out)
    path = page("--meta", write("meta.json", [printed.out]))
    html = path.read_text("utf-8")
    assert extract(path)["human"]["results"] == study["results"]
    assert html.count('<svg class="plot"') + html.count('class="plot"') >= 4
    for row in study["results"]:
        if row["value"] is not None:
            assert f"{row['value']:.4f}" in html
    (pearson,) = [one for one in study["significance"] if one["level"] == "system"]
    shown = pearson["metrics"][0]
    assert f"r = {shown['value']:.4f} ({shown['low']:.4f} to {shown['high']:.4f})" in html
    assert tesla("report", "--meta", write("no.json", ["{}"]), "-o", "x.html").status == 2


def test_names_are_short_where_they_differ() -> None:
    assert short_names(["out/a.txt.gz", "b"]) == ["a", "b"]
    assert short_names(["x/a.txt", "y/a.txt"]) == ["x/a.txt", "y/a.txt"]


def test_every_module_is_in_the_script() -> None:
    assets = ROOT / "src" / "tesla_eval" / "report" / "assets"
    assert {path.stem for path in assets.glob("*.js")} == set(MODULES)
    script = bundled("tesla_eval.report", MODULES)
    assert not re.search(r"^(import|export) ", script, re.MULTILINE)
    assert "innerHTML" not in script and "eval(" not in script and "</" not in script
