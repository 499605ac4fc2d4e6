"""Every registered metric through every plug: the bits and the signature of the metric itself."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tesla_eval import TeslaError, UsageError
from tesla_eval.metrics import Metric, create_metric
from tesla_eval.metrics.registry import metric_names
from tesla_eval.metrics.requests import named_metric
from tesla_eval.metrics.results import CorpusScore
from tesla_eval.serving.protocols import JsonLines
from tests.pages import ROOT
from tests.plugs.neighbours import two_systems

HYPOTHESES, _, REFERENCES = (texts[:6] for texts in two_systems())
pytestmark = pytest.mark.filterwarnings("ignore::tesla_eval.base.errors.TeslaWarning")


def by_sacrebleu(name: str, own: Metric, expected: CorpusScore) -> None:
    pytest.importorskip("sacrebleu")
    from tesla_eval.connect.sacrebleu import TeslaMetric

    metric = TeslaMetric(name)
    assert metric.corpus_score(HYPOTHESES, [REFERENCES]).score == expected.score
    assert str(metric.get_signature()) == str(expected.signature)
    one = metric.sentence_score(HYPOTHESES[0], REFERENCES[:1])
    assert one.score == own.sentence_score(HYPOTHESES[0], REFERENCES[:1]).score


def by_torchmetrics(name: str, own: Metric, expected: CorpusScore) -> None:
    pytest.importorskip("torchmetrics")
    from tesla_eval.connect.torchmetrics import TeslaScore

    if own.formula_of_sums is not None or own.corpus_wide:
        with pytest.raises(UsageError, match="is not a mean"):
            TeslaScore(name)
        return
    metric = TeslaScore(name)
    metric.update(HYPOTHESES, REFERENCES)
    assert metric.compute().item() == expected.score
    assert metric.signature == str(own.get_signature())
    for references in (REFERENCES[0], REFERENCES[:1]):
        metric.reset()
        metric.update(HYPOTHESES[0], references)
        assert metric.compute().item() == own.sentence_score(HYPOTHESES[0], REFERENCES[:1]).score


def scored_frame(frame: Any, name: str) -> Any:
    from tesla_eval.connect.frames import score_frame

    return score_frame(frame, "mt", "ref", name, "en")


def columns() -> dict[str, list[str]]:
    return {"mt": HYPOTHESES, "ref": REFERENCES}


def column_of(name: str) -> str:
    """The name in results: the id, and the options that `name` carries."""
    return named_metric(name, "en").name


def by_pandas(name: str, own: Metric, expected: CorpusScore) -> None:
    frame = scored_frame(pytest.importorskip("pandas").DataFrame(columns()), name)
    column = column_of(name)
    assert_segments(frame[column], expected)
    assert frame.attrs["tesla_eval"] == {column: str(expected.signature)}


def by_polars(name: str, own: Metric, expected: CorpusScore) -> None:
    frame = scored_frame(pytest.importorskip("polars").DataFrame(columns()), name)
    assert_segments(frame[column_of(name)].fill_null(float("nan")), expected)


def by_arrow(name: str, own: Metric, expected: CorpusScore) -> None:
    table = scored_frame(pytest.importorskip("pyarrow").table(columns()), name)
    assert_segments(table[column_of(name)].to_numpy(), expected)
    assert table.field(column_of(name)).metadata == {
        b"tesla_eval.signature": str(expected.signature).encode()
    }


def by_datasets(name: str, own: Metric, expected: CorpusScore) -> None:
    dataset = pytest.importorskip("datasets").Dataset.from_dict(columns())
    for _ in range(2):  # the second time the column is replaced
        dataset = scored_frame(dataset, name)
        assert dataset.column_names == ["mt", "ref", column_of(name)]
        assert_segments([np.nan if value is None else value for value in dataset[column_of(name)]], expected)


def by_batches(name: str, own: Metric, expected: CorpusScore) -> None:
    arrow = pytest.importorskip("pyarrow")
    from tesla_eval.connect.batches import BatchScorer
    from tesla_eval.texts.tables import Columns

    if own.corpus_wide:
        pytest.skip("depends on all references")
    scorer = BatchScorer({own.id: own}, Columns(hyp=("mt",), ref=("ref",)))
    assert_segments(
        scorer(arrow.record_batch(columns())).column(own.id).to_numpy(zero_copy_only=False), expected
    )


def by_duckdb(name: str, own: Metric, expected: CorpusScore) -> None:
    duckdb, arrow = pytest.importorskip("duckdb"), pytest.importorskip("pyarrow")
    from tesla_eval.connect.duckdb import register

    if own.corpus_wide:
        pytest.skip("depends on all references")
    texts = arrow.table(columns())
    with duckdb.connect() as connection:
        for _ in range(2):  # the second time the function is replaced
            function = register(connection, name, "en")
            assert texts.num_rows
            rows = connection.execute(f"SELECT {function}(mt, ref) FROM texts").fetchall()
            assert_segments([np.nan if score is None else score for (score,) in rows], expected)


def by_mbrs(name: str, own: Metric, expected: CorpusScore) -> None:
    pytest.importorskip("mbrs")
    from tesla_eval.connect.mbrs import MetricTesla

    metric = MetricTesla(MetricTesla.Config(name=name))
    assert metric.corpus_score(HYPOTHESES, [REFERENCES]) == expected.score
    if not own.corpus_wide:
        np.testing.assert_array_equal(
            metric.scores(HYPOTHESES, REFERENCES).numpy(), expected.segments.astype(np.float32)
        )


def by_lm_eval(name: str, own: Metric, expected: CorpusScore) -> None:
    from tesla_eval.connect.lm_eval import aggregation

    assert aggregation(name)(list(zip(REFERENCES, HYPOTHESES, strict=True))) == expected.score


def by_serve(name: str, own: Metric, expected: CorpusScore) -> None:
    if own.corpus_wide:
        pytest.skip("depends on all references")
    pairs = zip(HYPOTHESES, REFERENCES, strict=True)
    lines = [json.dumps({"mt": hypothesis, "refs": [reference]}) for hypothesis, reference in pairs]
    answers = map(json.loads, JsonLines(own).answer(lines).splitlines())
    assert_segments([answer["score"] for answer in answers], expected)


def by_evaluate(name: str, own: Metric, expected: CorpusScore) -> None:
    os.environ["HF_EVALUATE_OFFLINE"] = os.environ["HF_HUB_OFFLINE"] = "1"
    module = pytest.importorskip("evaluate").load(str(ROOT / "integrations" / "evaluate" / "tesla"))
    found = module.compute(predictions=HYPOTHESES, references=REFERENCES, metric=name, lang="en")
    assert (found["score"], found["signature"]) == (expected.score, str(expected.signature))
    assert_segments(found["scores"], expected)


def assert_segments(found: Any, expected: CorpusScore) -> None:
    np.testing.assert_array_equal(np.asarray(found, np.float64), expected.segments)


PLUGS: dict[str, Callable[[str, Metric, CorpusScore], None]] = {
    "arrow": by_arrow, "batches": by_batches, "datasets": by_datasets, "duckdb": by_duckdb, "evaluate": by_evaluate,
    "lm_eval": by_lm_eval, "mbrs": by_mbrs, "pandas": by_pandas, "polars": by_polars, "sacrebleu": by_sacrebleu,
    "serve": by_serve, "torchmetrics": by_torchmetrics,
}  # fmt: skip


@pytest.mark.parametrize("name", [*metric_names(), "bleu:tok=intl,lc=yes", "m:alpha=0.5"])
@pytest.mark.parametrize("plug", PLUGS)
def test_a_plug_gives_the_bits_and_the_signature_of_the_metric(plug: str, name: str) -> None:
    try:
        own = create_metric(name, "en")
        if own.uses_source:
            pytest.skip("reads the source")
        expected = own.corpus_score(HYPOTHESES, [REFERENCES])
    except TeslaError as error:
        pytest.skip(str(error))
    PLUGS[plug](name, own, expected)
