"""COMET and BERTScore where their packages are missing; tests/plugs/test_comet.py runs them."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest

from tesla_eval import UsageError
from tesla_eval.metrics import create_metric
from tesla_eval.metrics.baselines.packaged import PackagedMetric
from tesla_eval.metrics.results import SegmentScores


@pytest.mark.parametrize("name", ["comet", "comet-qe", "bertscore"])
def test_without_the_package_the_message_says_what_to_install(name: str, tesla, write) -> None:
    if find_spec("comet") or find_spec("bert_score"):
        pytest.skip("the packages are installed")
    extra = name.removesuffix("-qe")
    with pytest.raises(UsageError, match=rf"is not installed: pip install 'tesla-eval\[{extra}\]'"):
        create_metric(name, "en", model="folder")
    outcome = tesla("score", "-r", write("ref", ["a b"]), write("sys", ["a b"]), "-m", f"{name}:model=folder")
    assert outcome.status == 2 and f"tesla-eval[{extra}]" in outcome.err


class Package(PackagedMetric):
    """A metric of another package, which scores the length of a text."""

    id = "package"
    package = "numpy"
    module = "numpy"

    def _scores(self, hypotheses, references, sources) -> SegmentScores:
        self._asked = [*vars(self).get("_asked", []), *hypotheses]
        return SegmentScores(
            np.array([float(len(text)) for text in hypotheses]), np.empty((len(hypotheses), 0))
        )


def test_scores_are_kept_for_the_same_model_and_batch_size(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("TESLA_EVAL_CACHE", str(tmp_path / "cache"))
    model = tmp_path / "model.bin"
    asked = []
    for content, batch in (("a", 16), ("a", 16), ("a", 8), ("b", 16)):
        model.write_text(content)
        metric = Package(model=str(model), batch=batch)
        assert metric.corpus_score(["one", "three"], [["r", "r"]]).score == 4
        asked.append(len(vars(metric).get("_asked", [])))
    assert asked == [2, 0, 2, 2]


@pytest.mark.parametrize("name", ["comet", "comet-qe", "bertscore"])
def test_a_model_must_be_named(name: str) -> None:
    with pytest.raises(UsageError, match=f"{name} needs a model: -m {name}:model=FOLDER"):
        create_metric(name, "en")
