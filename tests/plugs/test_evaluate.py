"""Hugging Face evaluate loads the module from its folder, without a network, and scores as we do."""

from __future__ import annotations

import os
import socket
from pathlib import Path

os.environ["HF_EVALUATE_OFFLINE"] = os.environ["HF_HUB_OFFLINE"] = "1"

import pytest

from tesla_eval import score
from tests.pages import ROOT, run_python
from tests.plugs.neighbours import neighbour, two_systems

evaluate = neighbour("evaluate")
FOLDER = Path(__file__).parents[2] / "integrations" / "evaluate" / "tesla"
HYPOTHESES, OTHERS, REFERENCES = two_systems()


@pytest.fixture
def module(monkeypatch, tmp_path):
    def refuse(*_address: object) -> None:
        raise AssertionError("evaluate opened a connection")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    return evaluate.load(str(FOLDER), cache_dir=str(tmp_path))


def test_one_reference_each(module) -> None:
    found = module.compute(predictions=HYPOTHESES, references=REFERENCES, metric="m", lang="en")
    expected = score(HYPOTHESES, [REFERENCES], "m")
    assert found["score"] == expected.score
    assert found["scores"] == expected.segments.tolist()
    assert found["signature"] == str(expected.signature)


def test_n_times_k_and_ragged_references(module) -> None:
    several = [[a, b] for a, b in zip(REFERENCES, OTHERS, strict=True)]
    found = module.compute(predictions=HYPOTHESES, references=several, metric="m")
    assert found["score"] == score(HYPOTHESES, [REFERENCES, OTHERS], "m").score
    ragged = [given[: 1 + i % 2] for i, given in enumerate(several)]
    found = module.compute(predictions=HYPOTHESES, references=ragged, metric="m")
    assert found["score"] == score(HYPOTHESES, ragged, "m", references_by_segment=True).score
    assert found["signature"].endswith("|nrefs:var")


@pytest.mark.parametrize("lists", [False, True])
def test_batches_add_up(module, lists) -> None:
    given = [[text] for text in REFERENCES] if lists else REFERENCES
    for start in range(0, len(HYPOTHESES), 10):
        module.add_batch(predictions=HYPOTHESES[start : start + 10], references=given[start : start + 10])
    found = module.compute(metric="x", lang="en")
    assert found["scores"] == score(HYPOTHESES, [REFERENCES], "x").segments.tolist()


def test_combined_with_other_options(module) -> None:
    module.add(predictions=HYPOTHESES[0], references=REFERENCES[0])
    found = module.compute(metric="m", alpha=0.5)
    assert found["score"] == score(HYPOTHESES[:1], [REFERENCES[:1]], "m", alpha=0.5).score
    assert "|alpha:0.5|" in found["signature"]


def test_the_page_runs_as_written(monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    monkeypatch.chdir(ROOT)
    run_python(ROOT / "docs" / "connect" / "evaluate.md", {})
