"""The rule for missing and empty references (specification §5): the same wherever texts come in."""

from __future__ import annotations

import csv
import io
import json
import warnings
from typing import Any

import numpy as np
import pytest
from sacrebleu.metrics import BLEU, CHRF, TER

from tesla_eval import create_metric, evaluate, score, score_samples
from tesla_eval.base.errors import TeslaWarning
from tesla_eval.connect.sacrebleu import TeslaMetric
from tesla_eval.judgements.meta.run import score_metric
from tesla_eval.judgements.wmt import read_segments
from tesla_eval.metrics.cache import ScoreCache
from tesla_eval.serving.protocols import JsonLines

OUTPUTS = ["The cats sat on a mat.", "A storm hit Spain.", "It rained all day.", "Dogs bark."]
FIRST: list[str | None] = ["The cat sat on the mat.", "", " ", None]
SECOND: list[str | None] = ["A cat sat on a mat.", "Spain was hit by a storm.", "It rained.", None]
WARNING = r"empty texts are scored as texts without words: 1 of 4 references \(first: segment 4\)"


@pytest.fixture(scope="module")
def expected() -> list[float]:
    """Each segment against the references that it has, the last one against the empty text."""
    given = [[FIRST[0], SECOND[0]], [SECOND[1]], [SECOND[2]], [""]]
    metric = create_metric("m", "en")
    return [metric.sentence_score(h, texts).score for h, texts in zip(OUTPUTS, given, strict=True)]


class TestPython:
    def test_a_blank_reference_among_several_is_missing_and_none_left_is_the_empty_text(self, expected):
        with pytest.warns(TeslaWarning, match=WARNING):
            result = score(OUTPUTS, [FIRST, SECOND], "m", "en")
        assert result.segments.tolist() == expected
        assert result.signature["nrefs"] == "var"

    def test_the_same_for_systems_samples_and_lists_by_segment(self, expected):
        by_segment = [list(texts) for texts in zip(FIRST, SECOND, strict=True)]
        samples = [{"mt": h, "ref": texts} for h, texts in zip(OUTPUTS, by_segment, strict=True)]
        with pytest.warns(TeslaWarning, match=WARNING):
            evaluated = evaluate({"a": OUTPUTS}, [FIRST, SECOND], "m", lang="en")
        assert evaluated.segments["a"]["tesla-m"].tolist() == expected
        assert evaluated.signatures["tesla-m"].endswith("nrefs:var")
        with pytest.warns(TeslaWarning, match=WARNING):
            assert score_samples(samples, "m", "en").segments.tolist() == expected
        with pytest.warns(TeslaWarning, match=WARNING):
            found = score(OUTPUTS, by_segment, "m", "en", references_by_segment=True)
        assert found.segments.tolist() == expected

    def test_the_same_for_single_sentences_and_their_explanations(self, expected):
        metric = create_metric("m", "en")
        for k, texts in enumerate(zip(FIRST, SECOND, strict=True)):
            found = metric.sentence_score(OUTPUTS[k], list(texts))  # type: ignore[arg-type]
            explained = metric.explain(OUTPUTS[k], list(texts))  # type: ignore[arg-type]
            assert found.score == explained.score == expected[k]
            assert str(found.signature) == str(explained.signature)
            assert found.signature["nrefs"] == ("2" if k == 0 else "1")

    def test_the_same_for_the_cache_and_sacrebleus_tests(self, expected):
        metric = create_metric("m", "en")
        with ScoreCache(on_disk=False) as cache:
            assert cache.score(metric, OUTPUTS, [FIRST, SECOND]).scores.tolist() == expected
        theirs = TeslaMetric("m", lang="en")
        assert [row[0] for row in theirs._extract_corpus_statistics(OUTPUTS, [FIRST, SECOND])] == expected

    @pytest.mark.parametrize("name", ["m", "x", "rouge1", "meteor", "nist", "celab", "maxsim"])
    def test_the_same_for_every_metric_but_sacrebleus(self, name):
        try:
            metric = create_metric(name, "en")
        except Exception as error:  # METEOR needs its program
            pytest.skip(str(error))
        blank = metric.corpus_score(OUTPUTS, [FIRST, SECOND])
        missing = metric.corpus_score(OUTPUTS, [[FIRST[0], None, None, ""], SECOND])
        assert blank.segments.tolist() == missing.segments.tolist()
        assert str(blank.signature) == str(missing.signature)

    @pytest.mark.parametrize(("name", "own"), [("bleu", BLEU), ("chrf", CHRF), ("ter", TER)])
    def test_sacrebleus_metrics_keep_its_rule(self, name, own):
        streams = [["The cat sat.", "", " "], ["A cat.", "Spain was hit.", "It rained."], [None, None, "a"]]
        found = create_metric(name).corpus_score(OUTPUTS[:3], streams)
        theirs = own()
        assert found.score == pytest.approx(theirs.corpus_score(OUTPUTS[:3], streams).score, abs=1e-12)
        assert str(found.signature) == str(theirs.get_signature())


class TestWarning:
    def test_it_counts_references_and_outputs_once(self):
        references, outputs = ["a cat"] * 200, ["a cat"] * 200
        references[10:30] = [""] * 20
        outputs[5:8] = ["", " ", "\n"]
        expected = (
            r"words: 20 of 200 references \(first: segment 11\), 3 of 200 outputs \(first: segment 6\)$"
        )
        for call in (
            lambda: score(outputs, [references], "m", "en"),
            lambda: create_metric("bleu").corpus_score(outputs, [references]),
        ):
            with pytest.warns(TeslaWarning, match=expected) as caught:
                call()
            assert len(caught) == 1

    def test_systems_are_named_and_texts_without_gaps_are_silent(self):
        with pytest.warns(TeslaWarning, match=r"words: 1 of 2 outputs of b \(first: segment 2\)$"):
            evaluate({"a": ["a", "b"], "b": ["a", ""]}, [["a", "b"]], "m", lang="en")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            evaluate({"a": ["a", "b"]}, [["a", "b"], ["", None]], "m", lang="en")


def as_csv(**columns: list[str | None]) -> bytes:
    text = io.StringIO()
    csv.writer(text).writerows([list(columns), *zip(*columns.values(), strict=True)])
    return text.getvalue().encode()


def as_json(**columns: list[str | None]) -> bytes:
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def as_parquet(**columns: list[str | None]) -> bytes:
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    buffer = io.BytesIO()
    parquet.write_table(arrow.table(columns), buffer)
    return buffer.getvalue()


def segment_scores(outcome: Any) -> list[float]:
    assert outcome.status == 0, outcome.err
    found: list[float] = json.loads(outcome.out)["systems"][0]["metrics"]["tesla-m"]["segments"]
    return found


class TestCommandLine:
    def test_lines_follow_the_same_rule(self, tesla, write, expected):
        first, second = (write(f"{i}.txt", [text or "" for text in s]) for i, s in enumerate((FIRST, SECOND)))
        found = tesla(
            "score", "-m", "m", "-r", first, "-r", second, write("s.txt", OUTPUTS), "--json", "--segments"
        )
        assert segment_scores(found) == expected
        assert (
            "warning: empty texts are scored as texts without words: 1 of 4 references (first: line 4)\n"
            in found.err
        )

    @pytest.mark.parametrize(
        ("ending", "table"), [("csv", as_csv), ("jsonl", as_json), ("parquet", as_parquet)]
    )
    def test_cells_of_tables_follow_the_same_rule(self, tesla, write, expected, ending, table):
        columns = {"mt": [*OUTPUTS, None], "refA": [*FIRST, "A bird."], "refB": [*SECOND, None]}
        file = write(f"t.{ending}", table(**columns))
        found = tesla("score", "-m", "m", file, "--columns", "ref=refA+refB", "--json", "--segments")
        assert segment_scores(found) == [*expected, 0]
        assert "words: 1 of 5 references (first: row 4), 1 of 5 outputs (first: row 5)\n" in found.err
        for policy, message in (("error", "has no 'refA' or 'refB'"), ("skip", "2 of 5 rows were skipped")):
            assert (
                message
                in tesla("score", "-m", "m", file, "--columns", "ref=refA+refB", "--missing", policy).err
            )

    def test_parquet_into_parquet_follows_the_same_rule(self, tesla, write, tmp_path, expected):
        columns = {"mt": [*OUTPUTS, None], "refA": [*FIRST, "A bird."], "refB": [*SECOND, None]}
        file, output = write("t.parquet", as_parquet(**columns)), tmp_path / "out.parquet"
        found = tesla("score", "-m", "m", file, "--columns", "ref=refA+refB", "-o", str(output))
        assert found.status == 0, found.err
        assert "words: 1 of 5 references (first: row 4), 1 of 5 outputs (first: row 5)\n" in found.err
        assert found.out.rstrip().endswith("nrefs:var")
        parquet = pytest.importorskip("pyarrow.parquet")
        assert parquet.read_table(output)["tesla-m"].to_pylist() == [*expected, 0]


class TestJudgements:
    def test_references_of_judged_segments_follow_the_same_rule(self, write, expected):
        head = "lp\ttestset\tsystem\tseg_id\thuman_score\thypothesis\treference\treference2"
        rows = [
            f"de-en\tt\tsys\t{k}\t\t{output}\t{first or ''}\t{second or ''}"
            for k, (output, first, second) in enumerate(zip(OUTPUTS, FIRST, SECOND, strict=True))
        ]
        (judged,) = read_segments(write("x.seg.tsv", [head, *rows]))
        with ScoreCache(on_disk=False) as cache:
            scored = score_metric(create_metric("m", "en"), judged, cache, all_references=True)
            alone = score_metric(create_metric("m", "en"), judged, cache)
        assert scored.segments[0].tolist() == expected
        assert np.isfinite(alone.segments).all()
        assert judged.first_reference == (FIRST[0], SECOND[1], SECOND[2], "")


class TestProtocols:
    def test_references_of_a_request_follow_the_same_rule(self, expected):
        protocol = JsonLines(create_metric("m", "en"))
        requests = [
            json.dumps({"hypothesis": h, "references": [text or "" for text in texts]})
            for h, *texts in zip(OUTPUTS, FIRST, SECOND, strict=True)
        ]
        answers = [json.loads(line) for line in protocol.answer(requests).splitlines()]
        assert [answer["score"] for answer in answers] == expected
