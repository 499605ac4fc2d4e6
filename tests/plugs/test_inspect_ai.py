"""Inspect evaluates the task on our page with a model that needs no network."""

from __future__ import annotations

import pytest

from tesla_eval import score
from tests.pages import ROOT, run_python
from tests.plugs.neighbours import neighbour, two_systems

neighbour("inspect_ai")
from inspect_ai import Task, eval  # noqa: E402
from inspect_ai.dataset import Sample  # noqa: E402
from inspect_ai.model import ModelOutput, ModelUsage, get_model  # noqa: E402

from tesla_eval.connect.inspect_ai import tesla  # noqa: E402

HYPOTHESES, OTHERS, REFERENCES = (texts[:30] for texts in two_systems())


def written(text: str) -> ModelOutput:
    output = ModelOutput.from_content("mockllm/model", text)
    output.usage = ModelUsage()  # without it the mock model downloads a tokeniser to count tokens
    return output


def translate(messages, *_) -> ModelOutput:
    return written(HYPOTHESES[int(messages[-1].text)])


def test_scores_of_samples_and_of_the_task(tmp_path) -> None:
    ragged = [[a, b][: 1 + i % 2] for i, (a, b) in enumerate(zip(REFERENCES, OTHERS, strict=True))]
    task = Task(
        [Sample(str(i), target=given) for i, given in enumerate(ragged)], scorer=tesla("m", lang="en")
    )
    model = get_model("mockllm/model", custom_outputs=translate)
    (log,) = eval(task, model, log_dir=str(tmp_path), display="none")
    assert log.status == "success", log.error
    expected = score(HYPOTHESES, ragged, "m", references_by_segment=True)
    by_sample = {int(s.input): s.scores["tesla"].value for s in log.samples}
    assert [by_sample[i] for i in range(30)] == expected.segments.tolist()
    assert log.results.scores[0].metrics["mean"].value == pytest.approx(expected.score, rel=1e-12)


def test_the_page_and_bleu_of_all_samples(tmp_path) -> None:
    names: dict = {}
    run_python(ROOT / "docs" / "connect" / "inspect.md", names)
    model = get_model("mockllm/model", custom_outputs=lambda *_: written("The cats sat."))
    (log,) = eval(names["translation"](), model, log_dir=str(tmp_path), display="none")
    assert log.status == "success", log.error
    metrics = log.results.scores[0].metrics
    texts, references = ["The cats sat."] * 2, [["The cat sat.", "The cat is sitting."], ["The dog sat."]]
    expected = score(texts, references, "bleu", references_by_segment=True).score
    assert metrics["system_score"].value == expected
