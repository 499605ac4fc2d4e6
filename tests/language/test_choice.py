"""One choice of language for the command line and for Python: what is identified, assumed, refused and warned of."""

from __future__ import annotations

import json
import warnings

import pytest

import tesla_eval
from tesla_eval import TeslaM, create_metric
from tesla_eval.base.errors import TeslaWarning, UsageError
from tesla_eval.language.analysis.languages import LANGUAGES
from tesla_eval.language.choice import choose, other_language, resolve

GERMAN = [
    "Die Regierung hat gestern einen neuen Plan zur Senkung der Steuern vorgestellt.",
    "Der Hund schläft unter dem Tisch, und die Katze sitzt auf dem Dach.",
    "Er ging nach Hause, weil es zu regnen begann und er keinen Schirm hatte.",
]
WORSE = [text.replace("neuen", "alten").replace("Hund", "Kater") for text in GERMAN]
ENGLISH = ["The government presented a new plan to lower taxes.", "The dog sleeps under the table."] * 4
MIXED = [
    *GERMAN,
    "Hallitus esitteli eilen uuden suunnitelman, jonka mukaan veroja alennetaan ensi vuonna.",
    "Koira nukkuu pöydän alla, ja kissa istuu talon katolla, koska siellä on lämmintä.",
    "Hän lähti kotiin, sillä alkoi sataa eikä hänellä ollut sateenvarjoa mukanaan.",
]


@pytest.mark.parametrize("metric", ["m", "x"])
def test_german_without_a_language_is_german(metric: str) -> None:
    scored = tesla_eval.score(WORSE, [GERMAN], metric)
    assert scored.signature["lang"] == "de"
    assert scored.score == tesla_eval.score(WORSE, [GERMAN], metric, lang="de").score
    assert tesla_eval.explain(WORSE[0], GERMAN[:1], metric).signature["lang"] == "de"


def test_references_by_segment_and_texts_without_references_are_told_too() -> None:
    by_segment = [[text] for text in GERMAN]
    scored = tesla_eval.score(WORSE, by_segment, "m", references_by_segment=True)
    assert scored.signature["lang"] == "de"
    texts = ["It rained. But we went out. We got wet, so we went back home and had a cup of tea."]
    assert tesla_eval.score(texts, [], "dicomer").signature["lang"] == "en"


@pytest.mark.parametrize(
    ("texts", "code"),
    [(["Hello!"], "en"), (["Доброе утро"], "ru"), (["买雨伞"], "zh"), (["r"], "en"), ([], "en")],
)
def test_texts_too_short_to_tell_take_the_best_guess_or_english(texts: list[str], code: str) -> None:
    said: list[str] = []
    assert resolve("auto", texts, said.append) == code
    assert "too short to tell" in said[0]


def test_copies_that_differ_in_a_number_are_one_text() -> None:
    text = "In {} the committee approved a new budget after a long debate in the parliament."
    copies = [text.format(number) for number in range(600_000)]
    assert resolve("auto", copies) == resolve("auto", copies[:1]) == "en"
    assert resolve("auto", [f"The cat number {number} sat on the mat." for number in range(1000)]) == "en"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Der Hund hat den Mann gebissen.", "de"),
        ("Die Kinder spielen heute mit ihren Freunden im Garten.", "de"),
        ("Le chat est assis sur la table.", "fr"),
        ("Los niños juegan en el jardín.", "es"),
        ("The cat sat.", "en"),
    ],
)
def test_a_short_sentence_is_scored_in_its_language_without_a_word(text: str, code: str) -> None:
    assert choose("auto", [text]) == (
        code,
        False,
        f"{LANGUAGES[code].name} ({code}), identified from the references",
    )
    assert tesla_eval.score([text], [[text]], "m").signature["lang"] == code


def test_short_texts_of_one_call_are_identified_together() -> None:
    texts = ["Guten Morgen!", "Ja, gerne.", "Wo warst du?", "Ich weiß nicht."]
    assert choose("auto", texts[:1]).assumed
    assert choose("auto", texts)[:2] == ("de", False)
    assert choose(
        "auto", ["I see.", "Ich weiß es nicht.", "Thank you so much!"]
    ).assumed  # not of one language


def test_python_warns_of_an_assumed_language_and_the_command_line_notes_it(tesla, write) -> None:
    assumed = r"language: English \(en\) is assumed, because the references are too short to tell"
    for call in (
        lambda: tesla_eval.score(["Hi!"], [["Hello!"]], "m"),
        lambda: tesla_eval.explain("Hi!", ["Hello!"]),
        lambda: tesla_eval.evaluate({"a": ["Hi!"]}, [["Hello!"]], ["chrf", "m"]),
        lambda: tesla_eval.score_samples([{"mt": "Hi!", "ref": "Hello!"}], "m"),
    ):
        with pytest.warns(TeslaWarning, match=assumed) as caught:
            call()
        assert [warning.filename for warning in caught] == [__file__]
    text = write("short.txt", ["Hello!"])
    assert "note: language: English (en) is assumed" in tesla("score", "-l", "auto", "-r", text, text).err


def test_nobody_is_warned_where_the_language_has_no_effect_or_is_given() -> None:
    tesla_eval.score(["Hi!"], [["Hello!"]], "chrf")
    tesla_eval.score(["Hi!"], [["Hello!"]], "m", lang="en")
    tesla_eval.score(["Hi!"], [["Hello!"]], TeslaM("en"))


def test_longer_texts_that_cannot_be_told_are_refused_everywhere(tesla, write) -> None:
    with pytest.raises(UsageError, match="cannot tell the language of the references"):
        tesla_eval.score(MIXED, [MIXED])
    text = write("mixed.txt", MIXED)
    refused = tesla("score", "-l", "auto", "-r", text, text)
    assert refused.status == 2
    assert "-l en" in refused.err


def test_the_command_line_says_what_it_chose_and_python_is_silent(tesla, write, capsys) -> None:
    ref, system = write("ref.txt", GERMAN), write("sys.txt", WORSE)
    outcome = tesla("score", "-l", "auto", "-r", ref, system, "-m", "m", "--json")
    assert "language: German (de), identified from the references" in outcome.err
    score = json.loads(outcome.out)["systems"][0]["metrics"]["tesla-m"]["score"]
    assert score == tesla_eval.score(WORSE, [GERMAN], "m").score
    assert capsys.readouterr().err == ""


def test_a_metric_for_another_language_warns_once() -> None:
    metric = TeslaM("en")
    metric.corpus_score(WORSE[:1], [GERMAN[:1]])  # too short to tell
    with pytest.warns(TeslaWarning, match=r"made for language 'en'.*look like German \(de\)") as caught:
        metric.corpus_score(WORSE, [GERMAN])
        metric.corpus_score(WORSE, [GERMAN])
    assert len(caught) == 1
    assert caught[0].filename == __file__


def test_a_metric_that_was_right_before_still_warns() -> None:
    metric = TeslaM("en")
    metric.corpus_score(ENGLISH, [ENGLISH])
    german = GERMAN * 1000
    with pytest.warns(TeslaWarning, match="German"):
        metric.corpus_score(german, [german])


def test_the_same_metric_warns_of_each_set_of_texts_and_in_evaluate_too() -> None:
    metric = TeslaM("en")
    for texts in (GERMAN, GERMAN[:2] * 2):
        with pytest.warns(TeslaWarning, match="made for language 'en'.*German") as caught:
            tesla_eval.evaluate({"a": texts, "b": texts[::-1]}, [texts], [metric])
        assert len(caught) == 1
    with pytest.warns(TeslaWarning, match="German"):
        metric.corpus_score(GERMAN, [GERMAN])
    with pytest.warns(TeslaWarning, match="German"):
        tesla_eval.evaluate({"a": GERMAN}, [GERMAN], "m", lang="en")


@pytest.mark.parametrize(
    ("name", "lang", "texts"),
    [
        ("m", "de", GERMAN),
        ("m", "und", GERMAN),
        ("bleu", "en", GERMAN),
        ("m", "en", GERMAN[1:2]),
        ("m", "en", MIXED),
    ],
)
def test_no_warning_where_the_language_is_right_unknown_or_without_effect(name, lang, texts) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        create_metric(name, lang).corpus_score(texts, [texts])


def test_short_texts_do_not_load_the_table_of_languages(monkeypatch) -> None:
    def fail() -> None:
        raise AssertionError("loaded")

    monkeypatch.setattr("tesla_eval.language.analysis.detection.load_detection", fail)
    TeslaM("en").corpus_score(GERMAN[1:2], [GERMAN[1:2]])
    assert other_language("en", ["买雨伞"]) is None


def test_candidates_tell_the_language_of_mbr(tesla, write) -> None:
    lists = [json.dumps({"id": k, "candidates": [GERMAN[k], WORSE[k]]}) for k in range(3)]
    path = write("lists.jsonl", lists)
    outcome = tesla("mbr", "-l", "auto", path, "--format", "json")
    assert "language: German (de), identified from the candidates" in outcome.err
    assert "lang:de" in json.loads(outcome.out.splitlines()[0])["signature"]


def test_references_tell_the_language_of_tune(tesla, write, tmp_path) -> None:
    nbest = write("n.txt", [f"{k} ||| {texts[k]} ||| a= 1 b= {i} ||| 0" for k in range(3) for i, texts in
                            enumerate((GERMAN, WORSE))])  # fmt: skip
    ref = write("ref.txt", GERMAN)
    outcome = tesla("tune", "-l", "auto", "--nbest", nbest, "-r", ref, "-o", str(tmp_path / "w"))
    assert outcome.status == 0, outcome.err
    assert "language: German (de)" in outcome.err
    assert "lang:de" in outcome.out


def test_summaries_tell_the_language_of_meta(tesla, write) -> None:
    rows = [
        {"id": f"t{k}", "system": name, "hypothesis": texts[k], "references": [GERMAN[k]], "human": {"quality": k + i}}
        for k in range(3) for i, (name, texts) in enumerate((("a", GERMAN), ("b", WORSE)))
    ]  # fmt: skip
    path = write("judged.jsonl", [json.dumps(row) for row in rows])
    outcome = tesla("meta", "-l", "auto", "--summaries", path, "-m", "m", "--no-cache", "--format", "json")
    assert outcome.status == 0, outcome.err
    assert "language: German (de)" in outcome.err
    assert "lang:de" in outcome.out
