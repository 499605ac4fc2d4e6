"""`evaluate` gives what `tesla score` and `tesla compare` give, to the bit."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner

from tesla_eval import InputError, Metric, SegmentScores, Signature, UsageError, create_metric, evaluate
from tesla_eval.cli import tesla
from tesla_eval.report.embedding import extract
from tests.fixtures import shipped_pairs

METRICS = ("m", "x", "bleu", "ter")


@pytest.fixture(scope="module")
def texts() -> tuple[dict[str, list[str]], list[str]]:
    pairs = shipped_pairs("en")[:30]
    references = [reference for _, reference in pairs]
    outputs = [hypothesis for hypothesis, _ in pairs]
    shorter = [" ".join(text.split()[:-1]) for text in outputs]
    return {"a.txt": outputs, "b.txt": shorter, "c.txt": outputs[::-1]}, references


@pytest.fixture
def run(texts, tmp_path, monkeypatch):
    systems, references = texts
    for name, lines in {**systems, "ref.txt": references}.items():
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), "utf-8")
    monkeypatch.chdir(tmp_path)

    def call(command: str, *options: str):
        result = CliRunner().invoke(
            tesla, [command, "-q", "-l", "en", "-m", ",".join(METRICS), "-r", "ref.txt", *options, *systems]
        )
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)

    return call


def test_scores_are_those_of_tesla_score(texts, run) -> None:
    systems, references = texts
    result = evaluate(systems, [references], METRICS, lang="en")
    printed = run("score", "--json", "--segments")
    for row in printed["systems"]:
        for name in result.metrics:
            expected = row["metrics"][name]
            assert result.scores[row["system"]][name] == expected["score"]
            assert result.segments[row["system"]][name].tolist() == expected["segments"]


@pytest.mark.parametrize("baseline", [None, "b.txt"])
def test_comparisons_are_those_of_tesla_compare(texts, run, baseline) -> None:
    systems, references = texts
    compared = evaluate(systems, [references], METRICS, baseline, lang="en").compare(seed=7)
    printed = run("compare", "--json", "--seed", "7", *(["--baseline", baseline] if baseline else []))
    assert [one.to_dict() for one in compared.values()] == printed["metrics"]


def test_the_result_shows_itself(texts) -> None:
    systems, references = texts
    result = evaluate(systems, [references], ["m", create_metric("bleu", "en")], lang="en")
    assert str(result).splitlines()[0].split() == ["system", "tesla-m", "bleu"]
    assert repr(result) == str(result)
    assert result._repr_html_().count("<tr>") == 4
    assert json.loads(json.dumps(result.to_dict()))["systems"][0]["scores"] == result.scores["a.txt"]


class Words(Metric):
    """A metric that is not registered."""

    id = "words"

    def get_signature(self) -> Signature:
        return Signature({"metric": self.id})

    def score_segments(self, hypotheses, references) -> SegmentScores:
        counts = np.array([float(len(text.split())) for text in hypotheses])
        return SegmentScores(counts, np.empty((len(counts), 0)))


def test_a_metric_of_ones_own_is_shown_and_reported(texts, tmp_path) -> None:
    systems, references = texts
    result = evaluate(systems, [references], [Words()], lang="en")
    assert str(result).split()[:2] == ["system", "words"]
    assert "words" in result.report(tmp_path / "page.html").read_text("utf-8")


def test_a_frame_has_a_row_per_system(texts) -> None:
    pandas = pytest.importorskip("pandas")
    systems, references = texts
    result = evaluate(systems, [references], "m", lang="en")
    frame = result.to_frame()
    assert isinstance(frame, pandas.DataFrame)
    assert frame["tesla-m"].to_dict() == {name: row["tesla-m"] for name, row in result.scores.items()}


def test_documents_are_the_units_of_comparison_and_report(texts, tmp_path) -> None:
    systems, references = texts
    segments = len(references)
    documents = [f"d{k % 3}" for k in range(segments)]
    result = evaluate(systems, [references], "m", lang="en", documents=documents)
    compared = result.compare()["tesla-m"]
    assert (compared.segments, compared.units) == (segments, 3)
    page = result.report(tmp_path / "report.html")
    assert extract(str(page))["metrics"][0]["comparison"] == compared.to_dict()
    with pytest.raises(InputError, match=f"{segments} segments, but the documents of 1"):
        evaluate(systems, [references], "m", lang="en", documents=["d0"])


def test_a_report_is_written(texts, tmp_path) -> None:
    systems, references = texts
    path = evaluate(systems, [references], "m", lang="en").report(
        tmp_path / "page.html", title="Three <systems>"
    )
    page = path.read_text("utf-8")
    assert "Three &lt;systems&gt;" in page


def test_references_by_segment_and_workers(texts) -> None:
    systems, references = texts
    plain = evaluate(systems, [references], "m", lang="en")
    other = evaluate(
        systems, [[text] for text in references], "m", lang="en", references_by_segment=True, workers=2
    )
    assert plain.to_dict() == other.to_dict()


def test_what_does_not_fit_is_refused(texts) -> None:
    systems, references = texts
    with pytest.raises(UsageError, match="mapping of names"):
        evaluate([], [references])  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="baseline 'd'"):
        evaluate(systems, [references], baseline="d")
    with pytest.raises(InputError, match=r"system b\.txt: 29 hypotheses"):
        evaluate({**systems, "b.txt": systems["b.txt"][1:]}, [references], "m", lang="en")
