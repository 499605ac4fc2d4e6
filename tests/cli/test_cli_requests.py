"""What `-m` takes: names that add up, options of one metric, sacreBLEU's options and signatures, `tesla metrics`."""

from __future__ import annotations

import json

import numpy as np
import pytest
import sacrebleu
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER

from tesla_eval import create_metric
from tesla_eval.base.errors import UsageError
from tesla_eval.metrics.registry import registered
from tesla_eval.metrics.requests import option_kinds, parse_requests
from tesla_eval_papers.resources import data_folder

REFERENCES = ["The cat sat on the mat.", "A storm hit Spain.", "It rained all day.", "the"]
SYSTEM = ["The cats sat on a mat.", "Spain was hit by a storm.", "It RAINED all day", "the the the"]


@pytest.fixture
def files(write):
    return write("ref.txt", REFERENCES), write("sys.txt", SYSTEM)


def scores_of(outcome):
    assert outcome.status == 0, outcome.err
    document = json.loads(outcome.out)
    return document["metrics"], document["systems"][0]["metrics"]


def test_repeated_options_add_up_and_doubles_count_once(tesla, files) -> None:
    ref, system = files
    found = tesla("score", "-r", ref, system, "-m", "m", "-m", "bleu,m", "-m", "chrf", "--json")
    assert list(scores_of(found)[1]) == ["tesla-m", "bleu", "chrf"]


def test_one_metric_with_two_settings_has_two_columns(tesla, files) -> None:
    ref, system = files
    found = tesla("score", "-r", ref, system, "-m", "m", "-m", "m:alpha=0.5, max-n=2", "--json")
    signatures, scores = scores_of(found)
    assert list(scores) == ["tesla-m", "tesla-m:alpha=0.5,max-n=2"]
    own = create_metric("m", "en", alpha=0.5, max_n=2).corpus_score(SYSTEM, [REFERENCES])
    assert scores["tesla-m:alpha=0.5,max-n=2"]["score"] == own.score != scores["tesla-m"]["score"]
    assert "alpha:0.5" in signatures["tesla-m:alpha=0.5,max-n=2"]["signature"]


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("bleu:tok=intl,lc=yes", {"tok": "intl", "lc": True}),
        ("bleu:tokenize=char,smooth-value=0.5", {"tok": "char", "smooth_value": 0.5}),
        ("m:alpha=0.5,max_n=2", {"alpha": 0.5, "max_n": 2}),
        ("b:pivots=fr+de", {"pivots": ["fr", "de"]}),
        ("celab:order=3,f=0.5", {"order": 3, "f": 0.5}),
        ("f:scaled=no", {"scaled": False}),
        ("x:weights=own.tesla", {"weights": "own.tesla"}),
        ("ter:asian_support=yes", {"asian_support": True}),
        ("rougelsum:split=on", {"split": True}),
        ("m:synonyms = /x/a b.tsv , alpha=0.5", {"synonyms": "/x/a b.tsv", "alpha": 0.5}),
    ],
)
def test_values_have_the_type_of_the_option(text: str, options: dict[str, object]) -> None:
    (request,) = parse_requests([text])
    assert request.options == options
    assert all(type(request.options[name]) is type(value) for name, value in options.items())


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("bleu:tokk=intl", ("'tokk'", "did you mean tok?", "max_ngram_order")),
        ("bleu:lc=perhaps", ("lc=perhaps", "yes or no")),
        ("m:max_n=two", ("whole number", "'two'")),
        ("m:max_n=1_0", ("whole number", "'1_0'")),
        ("m:alpha=0.1_5", ("number", "'0.1_5'")),
        ("m:alpha=nan", ("number", "'nan'")),
        ("m:analyser=x", ("Python object",)),
        ("m:alpha", ("key=value",)),
        ("m:alpha=1,alpha=0", ("twice",)),
        ("m,bleu:lc=yes", ("one metric", "-m bleu:lc=yes")),
        ("blue:lc=yes", ("did you mean bleu?",)),
    ],
)
def test_errors_name_the_option_and_what_is_known(text: str, parts: tuple[str, ...]) -> None:
    with pytest.raises(UsageError) as caught:
        parse_requests([text])
    for part in parts:
        assert part in str(caught.value)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("bleu:tok=nonsense", ("13a", "intl")),
        ("bleu:smooth_method=none-such", ("floor", "add-k")),
        ("bleu:smooth_method=floor,smooth_value=-1", ("smooth_value",)),
        ("bleu:max_ngram_order=1000000", ("from 1 to",)),
        ("chrf:char_order=0", ("from 1 to",)),
    ],
)
def test_values_that_sacrebleu_does_not_know_are_refused(tesla, files, text, parts) -> None:
    ref, system = files
    found = tesla("score", "-r", ref, system, "-m", text)
    assert (found.status, found.out) == (2, "")
    for part in parts:
        assert part in found.err


THEIRS = [
    ("bleu", BLEU()),
    ("bleu:tok=intl,lc=yes", BLEU(tokenize="intl", lowercase=True)),
    ("bleu:smooth_method=floor", BLEU(smooth_method="floor")),
    ("bleu:smooth_method=add-k,smooth_value=2", BLEU(smooth_method="add-k", smooth_value=2)),
    ("bleu:smooth_method=none", BLEU(smooth_method="none")),
    ("bleu:eff=yes,max_ngram_order=6", BLEU(effective_order=True, max_ngram_order=6)),
    ("chrf:beta=3,lc=yes", CHRF(beta=3, lowercase=True)),
    ("chrf++:eps=yes,whitespace=yes", CHRF(word_order=2, eps_smoothing=True, whitespace=True)),
    ("chrf:char_order=4,word_order=1", CHRF(char_order=4, word_order=1)),
    ("ter:normalized=yes,no_punct=yes,case_sensitive=yes", TER(True, True, False, True)),
]


@pytest.mark.parametrize(("text", "theirs"), THEIRS, ids=[text for text, _ in THEIRS])
def test_scores_and_signatures_are_sacrebleus_own(tesla, files, text, theirs) -> None:
    ref, system = files
    signatures, scores = scores_of(tesla("score", "-r", ref, system, "-m", text, "--json"))
    assert scores[text]["score"] == theirs.corpus_score(SYSTEM, [REFERENCES]).score
    name, _, options = text.partition(":")
    left_out = "".join(
        f"|{option.replace('=', ':')}"
        for option in options.split(",")
        if option.startswith(
            ("smooth_value", "max_ngram_order", "beta")
        )  # what theirs rounds, or does not say
    )
    assert signatures[text]["signature"] == f"{theirs.get_signature()}{left_out}"
    shown = tesla("score", "-r", ref, system, "-m", text).out
    assert f"{name}|{theirs.get_signature()}{left_out}\n" in shown


def test_two_references_and_segments_have_their_own_signatures(tesla, write, files) -> None:
    ref, system = files
    more = write("more.txt", ["A cat sat on a mat.", "", "All day it rained.", "the the"])
    both = ("score", "-r", ref, "-r", more, system, "-m", "bleu", "--json")
    signatures, scores = scores_of(tesla(*both))
    assert signatures["bleu"]["signature"].startswith("nrefs:2|case:mixed|eff:no|tok:13a|smooth:exp|version:")
    streams = [REFERENCES, ["A cat sat on a mat.", "", "All day it rained.", "the the"]]
    assert scores["bleu"]["score"] == sacrebleu.BLEU().corpus_score(SYSTEM, streams).score
    signatures, scores = scores_of(tesla("score", "-r", ref, system, "-m", "bleu", "--json", "--segments"))
    theirs = sacrebleu.BLEU(effective_order=True)
    expected = [theirs.sentence_score(h, [r]).score for h, r in zip(SYSTEM, REFERENCES, strict=True)]
    assert scores["bleu"]["segments"] == expected
    assert signatures["bleu"]["segment_signature"] == str(theirs.get_signature())
    assert str(create_metric("bleu").sentence_score("a", ["a"]).signature) == str(theirs.get_signature())


@pytest.mark.parametrize("text", [text for text, _ in THEIRS])
@given(drawn=st.lists(st.lists(st.integers(0, 3), min_size=4, max_size=4), min_size=1, max_size=3))
def test_sums_of_statistics_score_as_sacrebleu_scores_them(text, drawn) -> None:
    (request,) = parse_requests([text])
    metric = create_metric(request.entry.name, "en", **request.options)
    rows = metric.score_segments(SYSTEM, [REFERENCES]).statistics
    formula = metric.formula_of_sums
    assert rows is not None and formula is not None
    found = formula(np.array(drawn, float) @ rows)
    for counts, score in zip(drawn, found, strict=True):
        lines = np.repeat(np.arange(4), counts).tolist()
        if lines:
            again = metric.corpus_score([SYSTEM[i] for i in lines], [[REFERENCES[i] for i in lines]])
            assert score == pytest.approx(again.score, abs=1e-9)


def test_the_cache_tells_settings_apart() -> None:
    signatures = {str(create_metric("chrf", beta=beta).get_signature()) for beta in (1, 2, 3)}
    assert len(signatures) == 3
    assert all(signature.startswith("metric:chrf|") for signature in signatures)


def test_the_list_of_metrics_is_complete_and_options_are_shown(tesla) -> None:
    found = tesla("metrics", "--all")
    assert found.status == 0
    for entry in registered().values():
        assert any(line.startswith(f"{entry.name} ") for line in found.out.splitlines()[1:])
    shown = tesla("metrics", "celab").out
    for name, kind in option_kinds(registered()["celab"].load()).items():
        assert (name in shown.split()) == (kind != "Python only"), name
    document = json.loads(tesla("metrics", "m", "--json").out)
    assert {"name": "alpha", "value": "number", "default": 0.8, "section": "§4"} in document["options"]
    refused = tesla("metrics", "blue")
    assert refused.status == 2
    assert "did you mean bleu?" in refused.err


def test_a_model_given_by_its_file_is_the_one_that_is_used(tesla, write, tmp_path) -> None:
    texts = write(
        "texts.txt", ["It rained. But we went out. We got wet.", "Tom had a fever. So he stayed at home."]
    )
    copy = tmp_path / "own.tesla"
    copy.write_bytes((data_folder() / "dicomer-en.tesla").read_bytes())
    _, built_in = scores_of(tesla("score", texts, "-m", "dicomer", "--json"))
    _, own = scores_of(tesla("score", texts, "-m", f"dicomer:model={copy}", "--json"))
    assert list(own.values()) == list(built_in.values())
    wrong = tesla("score", texts, "-m", f"dicomer:model={data_folder() / 'cremer-en.tesla'}")
    assert wrong.status == 2
    assert "cremer-en.tesla" in wrong.err


def test_the_list_has_what_we_recommend_and_the_rest_on_request(tesla) -> None:
    recommended, every = (tesla("metrics", *option).out for option in ((), ("--all",)))
    tasks = [line for line in recommended.splitlines() if line.endswith(":")]
    assert tasks[:3] == ["translations:", "summaries:", "to show beside them:"]
    assert "rougel" not in recommended and "rougel" in every
    assert {"dicomer", "pem"}.isdisjoint(recommended.split()) and "below TESLA-S on sets" in every


def test_a_path_with_a_space_keeps_it_in_the_name() -> None:
    (request,) = parse_requests(["m: synonyms = /x/a b.tsv , alpha=0.5"])
    assert request.name == "tesla-m:synonyms=/x/a b.tsv,alpha=0.5"
