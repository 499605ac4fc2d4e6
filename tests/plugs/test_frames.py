"""Frames of pandas, Polars and Arrow: the scores of lists, missing values, empty frames, every kind of column."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from tesla_eval import InputError, TeslaM, TeslaX, UsageError, create_metric, explain, score
from tesla_eval.base.errors import TeslaWarning
from tesla_eval.choosing.mbr import expected_scores
from tesla_eval.connect.frames import score_frame
from tesla_eval.metrics.cache import ScoreCache
from tesla_eval.metrics.comparison import explain_difference
from tesla_eval.metrics.registry import BUILT_IN
from tesla_eval.metrics.segments import texts_of
from tests.pages import ROOT, run_python
from tests.plugs.neighbours import neighbour, two_systems

pa = neighbour("pyarrow")
pytestmark = pytest.mark.filterwarnings("ignore:language. .* is assumed:tesla_eval.base.errors.TeslaWarning")
HYPOTHESES, OTHERS, REFERENCES = two_systems()
EXPECTED = score(HYPOTHESES, [REFERENCES], "m").segments.tolist()


def pandas_frame(columns: dict[str, list[Any]]) -> Any:
    return neighbour("pandas").DataFrame(columns, index=[f"row {i}" for i in range(len(columns["mt"]))])


def polars_frame(columns: dict[str, list[Any]]) -> Any:
    return neighbour("polars").DataFrame(columns, strict=False)


KINDS = {
    "pandas": pandas_frame,
    "polars": polars_frame,
    "table": pa.table,
    "batch": pa.RecordBatch.from_pydict,
}


@pytest.fixture(params=list(KINDS))
def make(request) -> Any:
    return KINDS[request.param]


def values(frame: Any, name: str) -> list[float | None]:
    return texts_of(frame[name])


def test_scores_are_those_of_lists(make) -> None:
    frame = make({"id": list(range(len(HYPOTHESES))), "mt": HYPOTHESES, "ref": REFERENCES})
    scored = score_frame(frame, hypothesis="mt", references=["ref"], metric="m", lang="en")
    assert type(scored) is type(frame)
    assert values(scored, "tesla-m") == EXPECTED
    assert values(scored, "id") == list(range(len(HYPOTHESES)))
    assert "tesla-m" not in list(getattr(frame, "column_names", None) or frame.columns)
    again = score_frame(scored, "mt", "ref", ["m", "chrf"], features=True)
    names = list(getattr(again, "column_names", None) or again.columns)
    assert names[:4] == ["id", "mt", "ref", "tesla-m"] and "tesla-m.ms.1" in names and "chrf" in names


def test_columns_with_the_usual_names_are_found(make) -> None:
    frame = make({"source": HYPOTHESES[:3], "mt": HYPOTHESES[:3], "ref": REFERENCES[:3]})
    found = score_frame(frame, metric="m")
    assert values(found, "tesla-m") == values(score_frame(frame, "mt", ["ref"], "m"), "tesla-m")
    with pytest.raises(
        InputError, match=r"which column holds the hypotheses\? Its columns are x, y\nhint:.*hypothesis="
    ):
        score_frame(pa.table({"x": ["a"], "y": ["a"]}), metric="m")


def test_a_row_without_a_text_has_no_score(make) -> None:
    nothing = None if make is not pandas_frame else float("nan")
    frame = make({
        "mt": ["The cats sat.", nothing, "", "Dogs bark.", "A bird."],
        "ref": ["The cat sat.", "A b.", "Dogs bark.", nothing, nothing],
        "ref2": [nothing, nothing, nothing, nothing, "A bird."],
    })  # fmt: skip
    scored = values(score_frame(frame, "mt", ["ref", "ref2"], "m"), "tesla-m")
    assert scored == [score(["The cats sat."], [["The cat sat."]], "m").score, None, 0.0, None, 1.0]


@pytest.mark.parametrize("texts", [[], [None, None]])
def test_nothing_to_score_is_an_empty_or_missing_column(make, texts) -> None:
    scored = score_frame(make({"mt": texts, "ref": texts}), "mt", ["ref"], "m", features=True)
    assert values(scored, "tesla-m") == values(scored, "tesla-m.ms.1") == texts


def test_a_column_of_lists_holds_several_references(make) -> None:
    cells = [["The cat sat.", "A cat sat."], ["Dogs bark."], None]
    frame = make({"mt": ["The cats sat."] * 3, "refs": cells})
    expected = score(["The cats sat."] * 2, cells[:2], "m", references_by_segment=True).segments.tolist()
    assert values(score_frame(frame, "mt", "refs", "m"), "tesla-m") == [*expected, None]


def test_sources_metrics_and_options(make) -> None:
    frame = make({"mt": HYPOTHESES[:3], "ref": REFERENCES[:3], "src": [*REFERENCES[:2], None]})
    supported = values(score_frame(frame, "mt", metric="s-source", source="src"), "tesla-s-source")
    assert supported[2] is None and None not in supported[:2]
    half = TeslaM("en", alpha=0.5)
    assert values(score_frame(frame, "mt", "ref", half), "tesla-m") == values(
        score_frame(frame, "mt", "ref", "m", alpha=0.5), "tesla-m"
    )
    with pytest.raises(UsageError, match="options belong to the metric"):
        score_frame(frame, "mt", "ref", half, alpha=0.5)
    with pytest.raises(InputError, match="no column 'hyp'; its columns are mt, ref, src"):
        score_frame(frame, "hyp", "ref")
    with pytest.raises(UsageError, match="dict is not a frame"):
        score_frame({"mt": []}, "mt")


def lists_of_texts() -> dict[str, Any]:
    """The same texts in everything that holds a list of them."""
    some = REFERENCES[:40]
    kinds: dict[str, Any] = {
        "tuple": tuple(some), "objects": np.array(some, object), "numpy": np.array(some),
        "string": pa.array(some), "large_string": pa.array(some, pa.large_string()),
        "dictionary": pa.array(some).dictionary_encode(), "chunked": pa.chunked_array([some[:7], [], some[7:]]),
        "sliced": pa.array(["before", *some, "after"]).slice(1, len(some)),
    }  # fmt: skip
    return kinds


def check_every_entry(references: Any, hypotheses: Any) -> None:
    """Every call that takes a list of texts gives for `references` what it gives for a list."""
    metric, plain, texts = TeslaM("en"), REFERENCES[:40], HYPOTHESES[:40]
    expected = metric.corpus_score(texts, [plain])
    found = metric.corpus_score(hypotheses, [references])
    assert found.score == expected.score and str(found.signature) == str(expected.signature)
    assert np.array_equal(metric.pairwise(hypotheses, references), metric.pairwise(texts, plain))
    assert np.array_equal(metric.pairwise(references, references), metric.pairwise(plain, plain))
    assert score(hypotheses, [references], "chrf", "auto").score == score(texts, [plain], "chrf").score
    assert metric.sentence_score(texts[0], references).score == metric.sentence_score(texts[0], plain).score
    assert explain(texts[0], references).to_dict() == explain(texts[0], plain).to_dict()
    assert np.array_equal(expected_scores(metric, references), expected_scores(metric, plain))
    with ScoreCache(on_disk=False) as cache:
        assert cache.score(metric, hypotheses, [references]).scores.tolist() == expected.segments.tolist()
    learned = TeslaX("en")
    difference = explain_difference(learned, hypotheses, references, [references])
    assert difference.to_dict() == explain_difference(learned, texts, plain, [plain]).to_dict()
    sourced = score(texts, [plain], "s-x", sources=plain).score
    assert score(hypotheses, [references], "s-x", sources=references).score == sourced


@pytest.mark.parametrize("kind", list(lists_of_texts()))
def test_arrow_and_numpy_are_lists_of_texts_everywhere(kind: str) -> None:
    check_every_entry(lists_of_texts()[kind], pa.array(HYPOTHESES[:40]))


def test_series_are_lists_of_texts_everywhere() -> None:
    pandas, polars = neighbour("pandas"), neighbour("polars")
    for dtype in (object, "str", "string", "category", pandas.ArrowDtype(pa.string())):
        series = pandas.Series(REFERENCES[:40], index=range(100, 140), dtype=dtype)
        check_every_entry(series, pandas.Series(HYPOTHESES[:40]))
    check_every_entry(polars.Series(REFERENCES[:40]), polars.Series(HYPOTHESES[:40]))


def missing_values() -> list[Any]:
    return [None, math.nan, np.float32("nan")]


@pytest.mark.parametrize("missing", missing_values(), ids=repr)
def test_a_missing_reference_is_left_out_and_a_missing_hypothesis_is_an_error(missing) -> None:
    expected = score(["a cat", "a dog"], [["a cat", "a dog"], ["a bird", None]], "m")
    for second in (["a bird", missing], np.array(["a bird", missing], object)):
        found = score(["a cat", "a dog"], [["a cat", "a dog"], second], "m")
        assert found.segments.tolist() == expected.segments.tolist()
        assert found.signature["nrefs"] == "var"
    with pytest.raises(InputError, match="hypothesis 2 is missing"):
        score(["a cat", missing], [["a cat", "a dog"]], "m")
    with pytest.warns(TeslaWarning, match=r"1 of 2 references \(first: segment 2\)"):
        assert score(["a cat", "a dog"], [["a cat", missing]], "m", "en").segments.tolist() == [1, 0]


def test_pandas_missing_values() -> None:
    pandas = neighbour("pandas")
    for missing in (pandas.NA, pandas.NaT):
        test_a_missing_reference_is_left_out_and_a_missing_hypothesis_is_an_error(missing)
    series = pandas.Series(["a cat", pandas.NA], dtype="string")
    with pytest.raises(InputError, match="hypothesis 2 is missing"):
        score(series, [["a cat", "a dog"]], "m")


def test_one_array_instead_of_a_list_of_streams_is_refused() -> None:
    for references in (pa.array(["a"]), np.array(["a"])):
        with pytest.raises(UsageError, match=r"\[references\]"):
            score(["a"], references, "m")


def test_arrow_says_what_made_the_scores() -> None:
    scored = score_frame(pa.table({"mt": ["a cat"], "ref": ["a cat"]}), "mt", "ref", "m")
    signature = scored.schema.field("tesla-m").metadata[b"tesla_eval.signature"].decode()
    assert signature == str(score(["a cat"], [["a cat"]], "m").signature)


def test_pandas_accessor_index_and_signature() -> None:
    pandas = neighbour("pandas")
    import tesla_eval.connect.pandas  # noqa: F401  # registers the accessor

    frame = pandas.DataFrame(
        {"mt": HYPOTHESES, "ref": REFERENCES}, index=range(1000, 1000 - len(HYPOTHESES), -1)
    )
    scored = frame[frame.index % 2 == 0].tesla.score("mt", "ref", metric="m")
    assert scored.index.tolist() == frame.index[frame.index % 2 == 0].tolist()
    assert scored["tesla-m"].tolist() == EXPECTED[::2]
    assert scored.attrs["tesla_eval"]["tesla-m"].startswith("metric:tesla-m|")

    class OwnFrame(pandas.DataFrame):
        """As GeoPandas has one."""

    assert score_frame(OwnFrame(frame), "mt", "ref", "m")["tesla-m"].tolist() == EXPECTED


def test_polars_expression_in_eager_and_lazy_frames() -> None:
    polars = neighbour("polars")
    from tesla_eval.connect.polars import score as score_expression

    frame = polars.DataFrame({"mt": HYPOTHESES, "ref": REFERENCES, "n": range(len(HYPOTHESES))})
    expression = score_expression("mt", ["ref"], metric="m", lang="en")
    assert frame.with_columns(expression)["tesla-m"].to_list() == EXPECTED
    lazy = frame.lazy().filter(polars.col("n") % 2 == 0).with_columns(expression.alias("score"))
    assert lazy.collect()["score"].to_list() == EXPECTED[::2]
    assert lazy.collect(engine="streaming")["score"].to_list() == EXPECTED[::2]
    assert frame.head(0).select(expression)["tesla-m"].to_list() == []
    with pytest.raises(UsageError, match="LazyFrame is not a frame of pandas, Polars or Arrow; use"):
        score_frame(frame.lazy(), "mt", "ref")
    with pytest.raises(UsageError, match="whole corpus"):
        score_expression("mt", "ref", "nist")


@pytest.mark.parametrize(
    "name", [name for name in BUILT_IN if not name.startswith(("meteor", "comet", "bertscore"))]
)
def test_an_empty_batch_gives_an_empty_result(name: str) -> None:
    metric = create_metric(name, "en")
    sources = {"sources": []} if metric.uses_source else {}
    scored = metric.score_segments([], [[]], **sources)
    assert scored.scores.shape == (0,)
    assert scored.features.shape == (0, len(metric.feature_names))


def test_the_page_runs_as_written(monkeypatch) -> None:
    neighbour("pandas"), neighbour("polars"), neighbour("dask.dataframe")
    monkeypatch.chdir(ROOT)
    run_python(ROOT / "docs" / "connect" / "frames.md", {})
