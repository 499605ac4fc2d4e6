"""The metrics that the papers compare with, each against its own implementation."""

from __future__ import annotations

import json
import pickle
import shutil
import subprocess
from random import Random
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics import BLEU, CHRF, TER
from sacrebleu.metrics.lib_ter import translation_edit_rate
from scipy.optimize import linear_sum_assignment

from tesla_eval import TeslaM, create_metric
from tesla_eval.base.errors import ResourceError, UsageError
from tesla_eval.connect.adapters import objective
from tesla_eval.connect.sacrebleu import TeslaMetric
from tesla_eval.metrics.baselines.meteor import Meteor, find_meteor_jar
from tesla_eval.metrics.baselines.nist import Nist
from tesla_eval.metrics.baselines.ter import Ter
from tesla_eval.metrics.maxsim import MaxSim
from tesla_eval.metrics.scoring import NamedMetric
from tesla_eval.serving.batching import Batcher, Scoring
from tests.textbook import similarity

SEGMENTS = 500


@pytest.fixture(scope="module")
def corpus(wmt14_pairs) -> tuple[list[str], list[str]]:
    pairs = wmt14_pairs[:SEGMENTS]
    assert len(pairs) == SEGMENTS
    return [hypothesis for hypothesis, _ in pairs], [reference for _, reference in pairs]


class TestNist:
    def words(self, metric: Nist, texts: list[str]) -> list[list[str]]:
        return [list(metric._words(text)) for text in texts]

    @pytest.mark.parametrize("nist", [Nist(), Nist(tok="char"), Nist(n=3, lc=False, tok="intl")])
    def test_a_corpus_is_nltk(self, corpus, nist):
        nist_score = pytest.importorskip("nltk.translate.nist_score")
        hypotheses, references = corpus
        shifted = references[1:] + references[:1]
        found = nist.corpus_score(hypotheses, [references, shifted])
        texts = zip(self.words(nist, references), self.words(nist, shifted), strict=True)
        expected = nist_score.corpus_nist(list(map(list, texts)), self.words(nist, hypotheses), nist.n)
        assert found.score == pytest.approx(expected, rel=1e-12)

    def test_a_sentence_is_nltk(self, corpus):
        nist_score = pytest.importorskip("nltk.translate.nist_score")
        metric = Nist()
        compared = 0
        for hypothesis, reference in zip(*corpus, strict=True):
            words = self.words(metric, [hypothesis, reference])
            if len(words[0]) >= metric.n:  # NLTK divides by zero otherwise
                expected = nist_score.sentence_nist([words[1]], words[0])
                assert metric.sentence_score(hypothesis, [reference]).score == pytest.approx(
                    expected, rel=1e-12
                )
                compared += 1
        assert compared > 400

    def test_short_and_empty_texts_have_a_score(self):
        assert Nist().corpus_score(["a b", ""], [["a b", "c"]]).score > 0
        assert Nist().sentence_score("", ["a"]).score == 0
        assert Nist().sentence_score("a", [""]).score == 0

    def test_sums_that_are_all_whole_numbers_have_a_score(self):
        """Two words of a reference weigh one bit each, and one of them is matched: half a bit per word."""
        assert Nist().corpus_score(["a cat"], [["the cat"]]).score == 0.5
        assert Nist().corpus_score(["a cat", "the"], [["the cat", "the"]]).score > 0

    @pytest.mark.parametrize("tok", ["13a", "char"])
    def test_halves_of_characters_are_words_as_others(self, tok):
        lone, texts = "\ud800", ["a b c d", "e f g"]
        scored = Nist(tok=tok).corpus_score([f"{text} {lone}" for text in texts], [texts])
        other = Nist(tok=tok).corpus_score([f"{text} ☃" for text in texts], [texts])
        assert scored.score == other.score > 0
        one, two = (Nist(tok=tok).corpus_score([text], [[text]]).score for text in (lone, "☃"))
        assert one == two

    def test_the_order_of_segments_changes_no_bit(self, corpus):
        hypotheses, references = corpus
        turned = Nist().corpus_score(hypotheses[::-1], [references[::-1]])
        assert turned.score == Nist().corpus_score(hypotheses, [references]).score

    def test_the_command_line_reads_all_references_first(self, corpus, tesla, write):
        files = [write(name, texts) for name, texts in zip(("sys.txt", "ref.txt"), corpus, strict=True)]
        outcome = tesla("score", "-r", files[1], files[0], "-m", "nist", "--format", "tsv")
        expected = Nist().corpus_score(corpus[0], [corpus[1]]).score
        assert float(outcome.out.splitlines()[1].split("\t")[2]) == expected
        assert (
            tesla("compare", "-r", files[1], files[0], files[1], "-m", "nist", "--resamples", "20").status
            == 0
        )

    def test_a_fitted_metric_survives_a_copy(self):
        fitted = Nist().for_corpus([["a b c", "a b"]])
        copied = pickle.loads(pickle.dumps(fitted))
        scored = [metric.score_segments(["a b"], [["a b"]]).scores[0] for metric in (fitted, copied)]
        assert scored[0] == scored[1]
        assert str(copied.get_signature()) == str(fitted.get_signature()) != str(Nist().get_signature())

    def test_wrong_options_are_refused(self):
        for options in ({"n": 0}, {"tok": "nonsense"}):
            with pytest.raises(UsageError, match="nist"):
                Nist(**options)


class TestTheInformationOfACorpus:
    """Every way to a corpus asks its references first, and says in the signature which they were."""

    HYPOTHESES = ("the cat sat on a mat", "a dog sat down", "it rained on the mat")
    REFERENCES = ("the cat sat on the mat", "the dog sat down", "rain fell on the mat all day")

    @pytest.fixture
    def corpus(self) -> tuple[list[str], list[str]]:
        return list(self.HYPOTHESES), list(self.REFERENCES)

    def test_the_signature_names_the_references_of_the_information(self, corpus):
        hypotheses, references = corpus
        scored = Nist().corpus_score(hypotheses, [references])
        assert (
            scored.signature["information"] == Nist().for_corpus([references]).get_signature()["information"]
        )
        assert "information" not in Nist().sentence_score(hypotheses[0], [references[0]]).signature

    def test_the_signature_is_the_same_elsewhere(self, corpus):
        hypotheses, references = corpus
        batcher = Batcher()
        served = batcher.submit(Scoring(NamedMetric("nist", Nist()), hypotheses, [references])).result()
        batcher.close()
        plug = TeslaMetric("nist")
        plug.corpus_score(hypotheses, [references])
        trial: dict[str, str] = {}
        objective(lambda trial: hypotheses, references, "nist")(
            SimpleNamespace(set_user_attr=trial.__setitem__)
        )
        expected = str(Nist().corpus_score(hypotheses, [references]).signature)
        assert "|information:" in expected
        assert {json.loads(served)["signature"], str(plug.get_signature()), trial["signature"]} == {expected}

    def test_candidates_are_ranked_by_the_scores_of_the_corpus(self, corpus, tesla, write):
        files = [write(name, texts) for name, texts in zip(("sys.txt", "ref.txt"), corpus, strict=True)]
        ranked = tesla("rerank", "-m", "nist", "-r", files[1], files[0], "--format", "json").out.splitlines()
        expected = Nist().corpus_score(corpus[0], [corpus[1]])
        assert [json.loads(line)["candidates"][0]["score"] for line in ranked] == expected.segments.tolist()
        information = f"|information:{expected.signature['information']}"
        assert information in json.loads(ranked[0])["signature"]

    def test_a_decoder_is_tuned_to_the_scores_of_the_corpus(self, corpus, tesla, write):
        lists = write("n", [f"{k} ||| {text} ||| F= 1" for k, text in enumerate(corpus[0])])
        told = tesla(
            "tune", "-m", "nist", "--nbest", lists, "-r", write("r", corpus[1]), "-o", write("w", [])
        )
        expected = Nist().corpus_score(corpus[0], [corpus[1]])
        assert f"{expected.score:.4f}" in told.out
        assert f"|information:{expected.signature['information']}" in told.out

    def test_metrics_are_compared_with_people_under_the_signature_of_their_scores(self, tesla, write):
        rows = ["lp\ttestset\tsystem\tseg_id\thuman_score\thypothesis\treference"]
        rows += [f"de-en\tn\ts{k}\t{k % 3}\t{k}\ta cat sat {k}\tthe cat sat down" for k in range(6)]
        rows += [f"de-en\tn\ts{k}\t9\t{k}\ta dog {k}\tdogs" for k in range(6)]
        told = tesla("meta", "--segments", write("x.seg.tsv", rows), "-m", "nist", "--no-cache")
        assert "|information:" in told.out


class TestMaxSim:
    def test_it_is_scipys_assignment(self, corpus):
        metric = MaxSim("en")
        for hypothesis, reference in zip(*corpus, strict=True):
            (detail,) = metric.explain(hypothesis, [reference]).references
            values = []
            for n in (1, 2, 3):
                x, y = (
                    [tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1)]
                    for tokens in (detail.reference, detail.hypothesis)
                )
                if not x and not y:
                    continue
                if not x or not y:
                    values.append(0.0)
                    continue
                table = np.array([[similarity("ms", a, b) for b in y] for a in x])
                total = table[linear_sum_assignment(table, maximize=True)].sum()
                precision, recall = total / len(y), total / len(x)
                below = 0.8 * precision + 0.2 * recall
                values.append(precision * recall / below if below else 0.0)
            assert detail.score == pytest.approx(np.mean(values), abs=1e-12)

    def test_weights_are_what_tells_it_from_tesla(self):
        assert MaxSim.groups[0].discount == 1
        pair = "The cats sat on a mat.", ["The cat sat on the mat."]
        assert MaxSim("en").sentence_score(*pair).score != TeslaM("en").sentence_score(*pair).score
        assert MaxSim("en").sentence_score(pair[0], [pair[0]]).score == 1


@pytest.mark.parametrize(("name", "own"), [("bleu", BLEU), ("chrf", CHRF), ("ter", TER)])
@pytest.mark.parametrize("streams", [[["", "a b"]], [["", "a b"], ["c d", ""]], [["c", "a b"], [None, ""]]])
def test_empty_references_count_and_missing_ones_do_not(name, own, streams):
    hypotheses = ["c c d", "a b"]
    assert (
        create_metric(name).corpus_score(hypotheses, streams).score
        == own().corpus_score(hypotheses, streams).score
    )


@given(st.data())
@settings(deadline=None)
def test_edits_are_those_of_sacrebleu(data):
    """Few words, so that much can be shifted; very different lengths, so that the beam is left."""
    size, few = (
        data.draw(st.sampled_from([(8, 8), (30, 30), (3, 120), (90, 60)])),
        data.draw(st.integers(1, 12)),
    )
    words = st.integers(0, few).map(str)
    hypothesis, reference = (data.draw(st.lists(words, max_size=most)) for most in size)
    if data.draw(st.booleans()) and hypothesis:  # the same words, some of them elsewhere
        start, end, to = (data.draw(st.integers(0, len(hypothesis))) for _ in range(3))
        reference = hypothesis[:start] + hypothesis[end:]
        reference[to:to] = hypothesis[start:end]
    edits, length = translation_edit_rate(hypothesis, reference)
    texts = ([" ".join(hypothesis)], [[" ".join(reference)]])
    assert Ter().score_segments(*texts).statistics.tolist() == [[edits, length]]


@pytest.mark.parametrize("jobs", [1, 3])
def test_ter_of_a_corpus_is_sacrebleus_with_three_references(jobs):
    """The mean length of three references is a third: in another order the sum may differ in the last bit."""
    draw = Random(1)

    def text(most: int) -> str:
        return " ".join(draw.choices("abc", k=draw.randint(1, most)))

    for _ in range(20):
        hypotheses, *streams = ([text(6) for _ in range(300)] for _ in range(4))
        metric = Ter(workers=jobs)
        assert metric.corpus_score(hypotheses, streams).score == TER().corpus_score(hypotheses, streams).score


def test_ter_over_characters_is_ter_over_spread_text(corpus):
    hypotheses, references = (texts[:20] for texts in corpus)
    spread = [[" ".join(text.replace(" ", "")) for text in texts] for texts in (hypotheses, references)]
    expected = Ter().corpus_score(spread[0], [spread[1]])
    found = Ter(level="char").corpus_score(hypotheses, [references])
    assert found.score == expected.score
    assert np.array_equal(found.segments, expected.segments)
    assert "unit:char" in str(found.signature)


needs_meteor = pytest.mark.skipif(
    shutil.which("java") is None or find_meteor_jar() is None, reason="METEOR's jar or Java is not here"
)


@pytest.fixture(scope="module")
def metric() -> Meteor:
    return Meteor("en")


@needs_meteor
class TestMeteor:
    def run_jar(self, folder, hypotheses: list[str], streams: list[list[str]]) -> tuple[float, list[float]]:
        (folder / "hyp").write_text("".join(f"{x}\n" for x in hypotheses), encoding="utf-8")
        lines = (text for texts in zip(*streams, strict=True) for text in texts)
        (folder / "ref").write_text("".join(f"{x}\n" for x in lines), encoding="utf-8")
        command = ["java", "-Xmx2G", "-jar", str(find_meteor_jar()), "hyp", "ref", "-l", "en", "-norm",
                   "-r", str(len(streams))]  # fmt: skip
        run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
        *segments, final = (float(line.split()[-1]) for line in run.stdout.splitlines() if "score:" in line)
        return final, segments

    def test_segments_and_corpus_are_the_jars(self, metric, corpus, tmp_path):
        hypotheses, references = corpus
        found = metric.corpus_score(hypotheses, [references])
        final, segments = self.run_jar(tmp_path, hypotheses, [references])
        assert found.segments.tolist() == segments
        assert found.score == final

    def test_several_references(self, metric, corpus, tmp_path):
        hypotheses, references = (texts[:40] for texts in corpus)
        streams = [references, references[1:] + references[:1]]
        found = metric.corpus_score(hypotheses, streams)
        assert (found.score, found.segments.tolist()) == self.run_jar(tmp_path, hypotheses, streams)

    def test_the_formula_of_the_bootstrap_is_the_jars(self, metric, corpus):
        hypotheses, references = (texts[:100] for texts in corpus)
        scored = metric.score_segments([*hypotheses, references[0]], [[*references, references[0]]])
        assert metric.score_of_sums(scored.statistics) == pytest.approx(scored.scores, abs=1e-12)
        total = metric.corpus_score(hypotheses, [references]).score
        sums = scored.statistics[:100].sum(axis=0)
        assert float(metric.score_of_sums(sums)) == pytest.approx(total, abs=1e-12)

    def test_marks_and_line_breaks_do_not_end_a_text(self, metric):
        plain = metric.sentence_score("a b", ["a c b"]).score
        assert metric.sentence_score("a ||| b", ["a\nc\nb"]).score == plain
        assert metric.sentence_score("", ["a"]).score == 0

    def test_one_process_serves_all(self, metric):
        first = metric._program._process
        metric.sentence_score("a", ["a"])
        assert metric._program._process is first

    def test_a_file_that_is_no_jar_is_named(self, tmp_path):
        with pytest.raises(ResourceError, match="tesla-eval\\[meteor\\]"):
            Meteor(jar=str(tmp_path / "none.jar"))
        (tmp_path / "bad.jar").write_bytes(b"not a jar")
        with pytest.raises(ResourceError, match="ended"):
            Meteor(jar=str(tmp_path / "bad.jar")).sentence_score("a", ["a"])

    def test_the_command_line_takes_another_jar(self, tesla, write):
        files = write("r.txt", ["a b"]), write("s.txt", ["a b"])
        assert tesla("score", "-r", *files, "-m", f"meteor:jar={find_meteor_jar()}").status == 0
        outcome = tesla("score", "-r", *files, "-m", "meteor:jar=/nowhere.jar")
        assert outcome.status == 2
        assert "/nowhere.jar: is no file" in outcome.err


def test_meteor_refuses_languages_that_it_does_not_have():
    with pytest.raises(UsageError, match="no language 'zh'"):
        Meteor("zh")
