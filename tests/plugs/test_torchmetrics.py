"""torchmetrics: one process or two, copies, pickles and collections give the mean score of all segments."""

from __future__ import annotations

import math
import pickle
from pathlib import Path

import pytest

from tesla_eval import InputError, UsageError, score
from tests.pages import ROOT, run_python
from tests.plugs.neighbours import neighbour, two_systems

torch = neighbour("torch")
torchmetrics = neighbour("torchmetrics")

from tesla_eval.connect.torchmetrics import TeslaScore  # noqa: E402

HYPOTHESES, OTHERS, REFERENCES = two_systems()
SIZE = 16
EXPECTED = score(HYPOTHESES, [REFERENCES], "m").score


def feed(metric, rank: int = 0, processes: int = 1) -> None:
    """The batches of one process out of several; all end with an empty one."""
    for start in range(rank * SIZE, len(HYPOTHESES), SIZE * processes):
        metric.update(HYPOTHESES[start : start + SIZE], REFERENCES[start : start + SIZE])
    metric.update([], [])


def test_batches_add_up_and_reset() -> None:
    metric = TeslaScore("m", lang="en")
    feed(metric)
    assert metric.compute().item() == pytest.approx(EXPECTED, rel=1e-14)
    assert metric.count.item() == len(HYPOTHESES) and metric.higher_is_better
    metric.reset()
    assert (
        metric(HYPOTHESES[0], [[REFERENCES[0]]]).item() == score(HYPOTHESES[:1], [REFERENCES[:1]], "m").score
    )
    assert metric.signature.startswith("metric:tesla-m|")


def test_several_and_ragged_references() -> None:
    ragged = [[a, b][: 1 + i % 2] for i, (a, b) in enumerate(zip(REFERENCES, OTHERS, strict=True))]
    metric = TeslaScore("m")
    metric.update(HYPOTHESES, ragged)
    expected = score(HYPOTHESES, ragged, "m", references_by_segment=True).score
    assert metric.compute().item() == pytest.approx(expected, rel=1e-14)


def test_clones_pickles_and_state_dicts() -> None:
    metric = TeslaScore("m", options={"alpha": 0.5})
    feed(metric)
    for copy in (metric.clone(), pickle.loads(pickle.dumps(metric))):
        assert copy.compute() == metric.compute() and copy.signature == metric.signature
        copy.update(HYPOTHESES[:1], REFERENCES[:1])
        assert copy.count == metric.count + 1
    metric.persistent(True)
    restored = TeslaScore("m", options={"alpha": 0.5})
    restored.load_state_dict(metric.state_dict())
    assert restored.compute() == metric.compute()


def test_a_collection_of_metrics() -> None:
    both = torchmetrics.MetricCollection(
        {"m": TeslaScore("m"), "x": TeslaScore("x"), "bleu": torchmetrics.text.SacreBLEUScore()}
    )
    half = len(HYPOTHESES) // 2
    for part in (slice(0, half), slice(half, None)):
        both.update(HYPOTHESES[part], [[text] for text in REFERENCES[part]])
    found = both.compute()
    assert found["m"].item() == pytest.approx(EXPECTED, rel=1e-14)
    assert found["x"].item() == pytest.approx(score(HYPOTHESES, [REFERENCES], "x").score, rel=1e-14)
    copy = both.clone(prefix="val_")
    assert set(copy.compute()) == {"val_m", "val_x", "val_bleu"}


def one_of_two(rank: int, folder: str) -> None:
    torch.distributed.init_process_group("gloo", f"file://{folder}/meeting", rank=rank, world_size=2)
    metric = TeslaScore("m")
    feed(metric, rank, 2)
    Path(folder, str(rank)).write_text(repr(metric.compute().item()))
    torch.distributed.destroy_process_group()


def test_two_processes_give_what_one_gives(tmp_path) -> None:
    torch.multiprocessing.spawn(one_of_two, (str(tmp_path),), nprocs=2)
    found = [float((tmp_path / str(rank)).read_text()) for rank in range(2)]
    assert found[0] == found[1] == pytest.approx(EXPECTED, rel=1e-14)


def test_what_cannot_work_says_so() -> None:
    with pytest.raises(UsageError, match="bleu is not a mean"):
        TeslaScore("bleu")
    with pytest.raises(InputError, match="2 predictions, but 1 targets"):
        TeslaScore("m").update(["a", "b"], ["a"])
    empty = TeslaScore("m")
    empty.update([], [])
    assert math.isnan(empty.compute().item())


def test_the_page_runs_as_written(monkeypatch) -> None:
    monkeypatch.chdir(ROOT)
    run_python(ROOT / "docs" / "connect" / "torchmetrics.md", {})
