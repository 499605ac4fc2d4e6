"""PEM (specification §13): its three parts, its scale, its corners, its training, its damaged files."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.fixtures import SHARED_DATA
from tests.matching.test_pivot_bags import UNPRUNED, TestWorkedExample, batch_of, make_table

from tesla_eval._core import Lexicon
from tesla_eval.base.errors import InputError, ResourceError, UsageError
from tesla_eval.base.resources import Resource, write_resource
from tesla_eval.language.analysis import load_pipeline
from tesla_eval.language.analysis.batch import Vocabulary
from tesla_eval.language.analysis.porter import porter_stem
from tesla_eval.language.lm import LanguageModel, load_language_model
from tesla_eval.matching.bags.ngram_bags import PivotNetwork, PivotNgram
from tesla_eval.matching.matcher import shared_ngrams
from tesla_eval_papers import Pem
from tesla_eval_papers.judgements import (
    controls,
    novelty,
    overall_score,
    read_parabank,
    read_rated_pairs,
    shared_words,
)
from tesla_eval_papers.metrics.features.paraphrases import pivot_bags, pivot_f1
from tesla_eval_papers.models.svr import load_pem_model, read_pem_model

ONLY = np.zeros(1, np.int64)
ORIGINAL = "The police arrested the thief yesterday evening."


@cache
def built_in() -> Pem:
    return Pem(lang="en")


def pem_language_model() -> LanguageModel:
    return load_language_model("en", built_in().combined.loaded.language_model)


@pytest.fixture(scope="module")
def pem() -> Pem:
    return built_in()


def test_adequacy_of_the_worked_example_either_way(tmp_path: Path) -> None:
    table = make_table(tmp_path, list(TestWorkedExample.PAIRS))
    vocabulary = Vocabulary(Lexicon(None))
    first, second = (batch_of(vocabulary, text) for text in ("Hello , Querrien .", "Morning , sir ."))
    x, y = (pivot_bags(table, batch, **UNPRUNED) for batch in (first, second))
    assert pivot_f1(x, y, ONLY, ONLY).tolist() == [0.38]
    assert pivot_f1(y, x, ONLY, ONLY).tolist() == [0.38]


def test_what_the_explanation_says_is_shared_makes_the_pivot_f1(pem: Pem) -> None:
    def pivots(paraphrase: str, original: str) -> list[tuple[float, float]]:
        features = pem.explain(paraphrase, [original]).to_dict()["references"][0]["features"]
        adequacy = next(feature for feature in features if feature["name"] == "adequacy")
        return [(one["value"], sum(link["weight"] for link in one["flow"])) for one in adequacy["pivots"]]

    other = "Last night the police caught the thief, who had been running from the police."
    of_first, of_second, between = pivots(ORIGINAL, ORIGINAL), pivots(other, other), pivots(other, ORIGINAL)
    for (_, first), (_, second), (value, shared) in zip(of_first, of_second, between, strict=True):
        assert value == pytest.approx(2 * shared / (first + second), abs=1e-6) and 0 < value < 1


def test_pivot_ngrams_of_the_same_words_are_one_in_the_explanation() -> None:
    run = [PivotNgram(("run",), (tag,), 0, weight) for tag, weight in (("NOUN", 0.25), ("VERB", 0.5))]
    assert shared_ngrams(PivotNetwork((), (tuple(run),)), PivotNetwork((), (tuple(run[:1]),))) == [
        (("run",), 0.25)
    ]
    assert shared_ngrams(PivotNetwork((), (tuple(run),)), PivotNetwork((), (tuple(run),))) == [
        (("run",), 0.75)
    ]


def test_swapping_the_sentences_changes_neither_f1(pem: Pem) -> None:
    texts = [
        ORIGINAL,
        "Last night the thief was caught by police.",
        "Yesterday it rained.",
        "A thief ran.",
        "Stop!",
    ]
    for one in texts:
        for other in texts:
            there = pem.sentence_score(one, [other]).features
            back = pem.sentence_score(other, [one]).features
            assert there["adequacy"] == back["adequacy"]
            assert there["dissimilarity"] == back["dissimilarity"]


def slow_target_f1(one: str, other: str) -> float:
    bags = []
    for text in (one, other):
        (batch,) = load_pipeline("en").analyse([text], keep_punctuation=True)
        stems = [porter_stem(token.surface.lower()) for token in batch.tokens(0)]
        bags.append([tuple(stems[i : i + n]) for n in (1, 2, 3, 4) for i in range(len(stems) - n + 1)])
    rest = list(bags[1])
    common = 0
    for gram in bags[0]:
        if gram in rest:
            rest.remove(gram)
            common += 1
    return 2 * common / (len(bags[0]) + len(bags[1]))


words = st.lists(
    st.sampled_from(["the", "cat", "cats", "sat", "sitting", "on", "mats", "mat", "old"]),
    min_size=1,
    max_size=9,
)


@given(one=words, other=words)
@settings(max_examples=60)
def test_dissimilarity_is_the_f1_of_stemmed_ngrams(one: list[str], other: list[str]) -> None:
    texts = " ".join(one), " ".join(other)
    features = built_in().sentence_score(texts[0], [texts[1]]).features
    assert features["dissimilarity"] == pytest.approx(slow_target_f1(*texts), abs=1e-12)


def test_fluency_is_the_normalised_score_of_the_paraphrase_alone(pem: Pem) -> None:
    expected = pem_language_model().normalised(["He is ill."])[0]
    for original in (ORIGINAL, "He is sick."):
        assert pem.sentence_score("He is ill.", [original]).features["fluency"] == expected
    assert pem_language_model().order == 4


def test_identity_has_both_f1_at_one_but_is_no_good_paraphrase(pem: Pem) -> None:
    found = pem.sentence_score(ORIGINAL, [ORIGINAL])
    assert (found.features["adequacy"], found.features["dissimilarity"]) == (1.0, 1.0)
    assert 1 < found.score < 3


def test_the_corners_are_in_order(pem: Pem) -> None:
    paraphrase, copy, unrelated, salad = (
        pem.sentence_score(text, [ORIGINAL]).score
        for text in (
            "Yesterday evening the thief was caught by the police.",
            ORIGINAL,
            "My sister does not like green apples very much.",
            "apple of their and for it window a very is",
        )
    )
    assert paraphrase > copy > unrelated
    assert copy > salad


@pytest.mark.parametrize("texts", [("", ORIGINAL), (ORIGINAL, ""), ("", "")])
def test_an_empty_side_gets_the_lowest_score(pem: Pem, texts: tuple[str, str]) -> None:
    assert pem.sentence_score(texts[0], [texts[1]]).score == 1.0


def test_one_word_and_many_words_have_scores_within_the_scale(pem: Pem) -> None:
    long = "the old man walked slowly home and " * 72
    texts = ["Rain", "rain", long, "zzz qqq", "é", "a" * 5000]
    scores = pem.corpus_score(texts, [["Rain"] * len(texts)]).segments
    assert ((scores >= 1) & (scores <= 5)).all()
    assert 1 <= pem.sentence_score(long, [long]).score <= 5


def test_scores_do_not_depend_on_batch_order_or_workers(pem: Pem) -> None:
    originals = [ORIGINAL, "He is ill.", "It started to rain.", ""] * 200
    paraphrases = ["The thief was caught.", "He is sick.", "Rain began to fall.", "x"] * 200
    whole = pem.corpus_score(paraphrases, [originals]).segments
    backwards = pem.corpus_score(paraphrases[::-1], [originals[::-1]]).segments[::-1]
    threads = Pem(lang="en", workers=3).corpus_score(paraphrases, [originals]).segments
    alone = np.array(
        [pem.sentence_score(p, [o]).score for p, o in zip(paraphrases[:8], originals[:8], strict=True)]
    )
    np.testing.assert_array_equal(whole, backwards)
    np.testing.assert_array_equal(whole, threads)
    np.testing.assert_array_equal(whole[:8], alone)


def test_several_originals_are_averaged(pem: Pem) -> None:
    both = pem.sentence_score("He is ill.", ["He is sick.", "He does not feel well."]).score
    each = [pem.sentence_score("He is ill.", [o]).score for o in ("He is sick.", "He does not feel well.")]
    assert both == pytest.approx(np.mean(each))


def test_score_and_explain_on_the_command_line(tesla, write) -> None:
    originals = write("originals.txt", [ORIGINAL, "He is ill."])
    paraphrases = write("paraphrases.txt", ["The thief was caught by police last night.", "He is sick."])
    outcome = tesla("score", "-m", "pem", "-r", originals, paraphrases, "--format", "json", "--segments")
    assert outcome.status == 0, outcome.err
    assert '"pem"' in outcome.out
    outcome = tesla("explain", "-m", "pem", "--json", "He is sick.", "He is ill.")
    assert outcome.status == 0, outcome.err
    found = json.loads(outcome.out)
    features = {feature["name"]: feature for feature in found["references"][0]["features"]}
    assert list(features) == ["adequacy", "fluency", "dissimilarity"]
    assert all(isinstance(feature["value"], float) for feature in features.values())
    pivots = features["adequacy"]["pivots"]
    assert np.mean([pivot["value"] for pivot in pivots]) == pytest.approx(features["adequacy"]["value"])
    assert 1 <= found["score"] <= 5
    outcome = tesla("explain", "-m", "pem", "He is sick.", "He is ill.")
    assert outcome.status == 0
    assert "adequacy" in outcome.out


def test_analysis_and_synonyms_of_ones_own_are_refused(tesla, write) -> None:
    text = write("a.txt", ["He is ill."])
    outcome = tesla("score", "-m", f"pem:synonyms={text}", "-r", text, text)
    assert outcome.status == 2
    assert "metric pem has no option 'synonyms'" in outcome.err
    with pytest.raises(UsageError, match="metric pem has no option 'synonyms'"):
        Pem(synonyms=text)


def test_languages_without_a_model_are_refused_with_advice() -> None:
    with pytest.raises(ResourceError, match=r"no PEM model is installed for language 'it'.*tesla train pem"):
        Pem(lang="it")


class TestOverallScores:
    def test_the_papers_controls_come_out(self) -> None:
        assert overall_score(100, 2, 0) == 2.0
        assert overall_score(0, 2, 1) == 1.0
        assert overall_score(100, 0, 1) == 1.0
        assert overall_score(100, 2, 1) == 5.0
        assert overall_score(50, 1, 1) == 2.0

    def test_shared_words_and_novelty(self) -> None:
        texts = (["a b c d"] * 3, ["A b c d", "a b c x", "w x y z"])
        assert shared_words(*texts, "en").tolist() == [1.0, 0.75, 0.0]
        assert novelty(*texts, "en").tolist() == [0.0, 1.0, 1.0]
        assert novelty(*texts, "en", fully_novel=0.5).tolist() == [0.0, 0.5, 1.0]

    def test_controls_are_the_same_every_time(self, pem: Pem) -> None:
        originals = [ORIGINAL, "He is ill.", "It rained."]
        made = list(controls(originals, pem_language_model()))
        assert made == list(controls(originals, pem_language_model()))
        assert [name for name, _ in made] == ["copy", "unrelated", "noise"] * 3
        for name, pair in made:
            assert (pair.paraphrase == pair.original) == (name == "copy")
            assert pair.overall == {"copy": 2, "unrelated": 1, "noise": 1}[name]

    def test_parabanks_raters(self, write) -> None:
        header = "ref_id\treference\tcandidate\tsys_ids\tadequacy_all\tgrammar_all"
        path = write("p.tsv", [header, "7\tIt is good.\tIt is fine.\t1 4\t80,60\t2,0,1"])
        (pair,) = read_parabank(path)
        assert pair.ratings == ((80, 2), (0, 0), (60, 1))
        assert pair.systems == ("1", "4")
        new = novelty(["It is good."], ["It is fine."], "en")[0]
        assert pair.overall == pytest.approx(
            np.mean([overall_score(80, 2, new), 1, overall_score(60, 1, new)])
        )
        (strict,) = read_parabank(path, fully_novel=0.0)
        assert strict.overall < pair.overall
        for bad in ("80\t2,0,1", "80,60,40\t2,0,1", "x\t2"):
            path = write("p.tsv", [header, f"7\tIt is good.\tIt is fine.\t1\t{bad}"])
            with pytest.raises(InputError, match=r"p\.tsv, line 2"):
                read_parabank(path)

    def test_tables_of_ones_own(self, write) -> None:
        path = write("r.tsv", ["overall\toriginal\tparaphrase", "4.5\ta b\tc d"])
        assert [(p.original, p.paraphrase, p.overall) for p in read_rated_pairs(path)] == [
            ("a b", "c d", 4.5)
        ]
        for lines, message in (
            (["overall\toriginal", "4\ta"], "must have the columns original paraphrase overall"),
            (["overall\toriginal\tparaphrase", "9\ta\tb"], r"r\.tsv, line 2: overall '9'"),
            (["overall\toriginal\tparaphrase", "3\ta"], r"r\.tsv, line 2: has 2 fields"),
        ):
            with pytest.raises(InputError, match=message):
                read_rated_pairs(write("r.tsv", lines))


def test_train_pem(tesla, write, tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    rows = [
        f"{original}\t{paraphrase}\t{overall}"
        for original, paraphrase, overall in (
            ("He is ill.", "He is sick.", 4), ("It began to rain.", "It started raining.", 5), ("Go.", "Eat.", 1),
            ("We met in June.", "In June we met.", 3), ("I like tea.", "I love tea.", 4), ("Stop it!", "It stop!", 2),
        )
    ]  # fmt: skip
    table, model = write("r.tsv", ["original\tparaphrase\toverall", *rows]), tmp_path / "pem-en.tesla"
    pivot = load_pem_model("en").pivots[0]
    outcome = tesla("train", "pem", table, "-o", str(model), "--pivots", pivot, "--folds", "3")
    assert outcome.status == 0, outcome.err
    assert "24 pairs of 6 originals" in outcome.out
    metric = Pem(lang="en", model=model)
    assert metric.combined.loaded.pivots == (pivot,)
    refused = tesla("train", "pem", table, "-o", str(model), "--lm", "4gram")
    assert refused.status == 2
    assert "the language model '4gram' is of words; make one with `tesla train lm --stems`" in refused.err
    assert 1 <= metric.sentence_score("He is sick.", ["He is ill."]).score <= 5


def test_damaged_models_are_errors_that_name_the_file(tmp_path: Path) -> None:
    path = tmp_path / "pem-en.tesla"
    sound = load_pem_model("en").to_resource()
    arrays, info = dict(sound.arrays), dict(sound.info)
    for spoilt in (
        Resource("pem", "en", {**arrays, "vectors": arrays["vectors"][:, :2]}, info=info),
        Resource("pem", "en", {k: v for k, v in arrays.items() if k != "means"}, info=info),
        Resource("pem", "en", arrays, info={k: v for k, v in info.items() if k != "pivots"}),
        Resource("pem", "en", arrays, info={**info, "gamma": "x"}),
        Resource("lm", "en", arrays, info=info),
    ):
        write_resource(path, spoilt)
        with pytest.raises(ResourceError, match=r"pem-en\.tesla"):
            read_pem_model(path)
    write_resource(path, sound)
    whole = path.read_bytes()
    for length in (0, 10, 100, len(whole) // 2, len(whole) - 70):
        path.write_bytes(whole[:length])
        with pytest.raises(ResourceError, match=r"pem-en\.tesla"):
            read_pem_model(path)
    write_resource(path, Resource("pem", "en", arrays, analysis="another", info=info))
    with pytest.raises(ResourceError, match=r"another.*tesla train pem"):
        Pem(lang="en", model=path)
    with pytest.raises(ResourceError, match="not for 'de'"):
        Pem(lang="de", model=load_pem_model("en"))


class TestRerank:
    def files(self, write) -> list[str]:
        write("o.txt", [ORIGINAL, "He is ill."])
        return [
            write("a.txt", [ORIGINAL, "My dog is green."]),
            write("b.txt", ["Yesterday evening the thief was caught by the police.", "He feels sick."]),
            write("c.txt", ["Apples are green.", "he of the of"]),
        ]

    def test_the_best_of_three(self, tesla, write, tmp_path: Path) -> None:
        files = self.files(write)
        outcome = tesla("rerank", "-m", "pem", "-r", str(tmp_path / "o.txt"), *files)
        assert outcome.status == 0, outcome.err
        assert outcome.out.splitlines() == [
            "Yesterday evening the thief was caught by the police.",
            "He feels sick.",
        ]

    def test_the_trade_off_is_visible(self, tesla, write, tmp_path: Path) -> None:
        files = self.files(write)
        outcome = tesla("rerank", "-m", "pem", "-r", str(tmp_path / "o.txt"), *files, "--format", "json")
        first, _ = map(json.loads, outcome.out.splitlines())
        scores = [candidate["score"] for candidate in first["candidates"]]
        assert scores == sorted(scores, reverse=True)
        assert set(first["candidates"][0]["features"]) == {"adequacy", "fluency", "dissimilarity"}
        table = tesla("rerank", "-m", "pem", "-r", str(tmp_path / "o.txt"), *files, "--format", "table")
        assert "dissimilarity" in table.out
        tsv = tesla("rerank", "-m", "m", "-r", str(tmp_path / "o.txt"), *files, "--format", "tsv")
        assert tsv.out.splitlines()[1].split("\t")[:4] == ["segment", "rank", "candidate", "tesla-m"]

    def test_nbest_lists(self, tesla, write, tmp_path: Path) -> None:
        self.files(write)
        nbest = write("n.best", ["0 ||| Apples. ||| 1", f"0 ||| {ORIGINAL} ||| 2", "1 ||| He is ill. ||| 3"])
        outcome = tesla("rerank", "-m", "m", "-r", str(tmp_path / "o.txt"), "--nbest", nbest)
        assert outcome.out.splitlines() == [ORIGINAL, "He is ill."]
        for lines, message in (
            (["0 ||| a"], "no candidates for segment 1"),
            (["a b"], "cannot be shared equally"),
            (["0 ||| a", "1 ||| b", "2 ||| c"], "segment 2, but there are references for 2"),
            (["1 ||| a", "0 ||| b"], "n.best, line 2"),
        ):
            outcome = tesla(
                "rerank", "-m", "m", "-r", str(tmp_path / "o.txt"), "--nbest", write("n.best", lines)
            )
            assert outcome.status == 2
            assert message in outcome.err

    def test_something_to_choose_from_is_needed(self, tesla, write) -> None:
        assert "candidates" in tesla("rerank", "-r", write("o.txt", ["a"])).err


@pytest.mark.slow
def test_against_people_on_held_out_originals() -> None:
    path = SHARED_DATA / "paraphrase" / "parabank_eval.tsv.gz"
    if not path.exists():
        pytest.skip("the paraphrases are not here")
    pairs = read_parabank(str(path))
    place = {group: number for number, group in enumerate(dict.fromkeys(pair.group for pair in pairs))}
    held = [pair for pair in pairs if place[pair.group] % 3 == 2]
    metric = Pem(lang="en")
    found = metric.score_segments([p.paraphrase for p in held], [[p.original for p in held]])
    overall = np.array([pair.overall for pair in held])
    r = np.corrcoef(np.column_stack([found.scores, found.features, overall]).T)[-1]
    assert r[0] > 0.5
    assert r[0] > np.abs(r[1:4]).max() + 0.05
    adequacy, grammar = np.array([np.mean(pair.ratings, axis=0) for pair in held]).T
    copies = found.features[:, 2] == 1
    raw = [
        np.corrcoef(np.column_stack([found.scores, found.features, people])[~copies].T)[-1]
        for people in (adequacy, grammar)
    ]
    assert all(by_people[0] > np.abs(by_people[1:4]).max() for by_people in raw)
    shared = shared_words([p.original for p in held], [p.paraphrase for p in held], "en")
    good = np.flatnonzero((adequacy >= 80) & (grammar >= 1.5) & (shared < 0.5))
    originals = [held[k].original for k in good]
    assert np.mean(found.scores[good] > metric.score_segments(originals, [originals]).scores) >= 0.9


def test_usage_without_pivots() -> None:
    from tesla_eval_papers.training.regressions import paraphrase_features

    with pytest.raises(UsageError, match="without a pivot"):
        paraphrase_features("en", [], "stems")
