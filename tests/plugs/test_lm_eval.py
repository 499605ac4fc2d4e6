"""lm-evaluation-harness evaluates a task of its own kind, from a folder, with our aggregation."""

from __future__ import annotations

import json
import os

os.environ["HF_HUB_OFFLINE"] = os.environ["HF_DATASETS_OFFLINE"] = "1"

from tesla_eval import score
from tests.pages import ROOT, blocks
from tests.plugs.neighbours import neighbour, two_systems

neighbour("lm_eval")
import lm_eval  # noqa: E402
from lm_eval.api.model import LM  # noqa: E402
from lm_eval.tasks import TaskManager  # noqa: E402

PAGE = ROOT / "docs" / "connect" / "lm-eval.md"
HYPOTHESES, OTHERS, REFERENCES = (texts[:30] for texts in two_systems())


class Translator(LM):
    """Writes the hypothesis that belongs to a source."""

    def generate_until(self, requests, **_):
        return [HYPOTHESES[int(request.args[0].split()[-1])] for request in requests]

    def loglikelihood(self, requests, **_):
        raise NotImplementedError

    loglikelihood_rolling = loglikelihood


def test_the_task_on_the_page(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (functions,), (task,) = blocks(PAGE, "python"), blocks(PAGE, "yaml")
    (tmp_path / "utils.py").write_text(functions, "utf-8")
    (tmp_path / "my_translation.yaml").write_text(task, "utf-8")
    rows = [
        {"source": f"source {i}", "reference": a, "references": [a, b][: 1 + i % 2]}
        for i, (a, b) in enumerate(zip(REFERENCES, OTHERS, strict=True))
    ]
    (tmp_path / "test.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    manager = TaskManager(include_path=str(tmp_path), include_defaults=False)
    found = lm_eval.simple_evaluate(
        Translator(), tasks=["my_translation"], task_manager=manager, bootstrap_iters=0
    )
    results = found["results"]["my_translation"]
    ragged = [row["references"] for row in rows]
    assert results["tesla_x,none"] == score(HYPOTHESES, [REFERENCES], "x", "de").score
    assert results["tesla_m,none"] == score(HYPOTHESES, ragged, "m", "de", references_by_segment=True).score
