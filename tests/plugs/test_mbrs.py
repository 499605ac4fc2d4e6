"""mbrs with the metric `tesla`: the real decoder and the real command choose what `tesla mbr` chooses."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tesla_eval import create_metric
from tesla_eval.choosing.mbr import expected_scores
from tests.pages import ROOT, run_python
from tests.plugs.neighbours import neighbour, two_systems

neighbour("mbrs")
from mbrs.decoders import DecoderMBR  # noqa: E402
from mbrs.metrics import get_metric  # noqa: E402

import tesla_eval.connect.mbrs  # noqa: E402, F401  # registers the metric

PLUGIN = Path(__file__).parents[2] / "integrations" / "mbrs" / "tesla_plugin"
HYPOTHESES, OTHERS, REFERENCES = two_systems()
SAMPLES = [list(texts) for texts in zip(HYPOTHESES, OTHERS, REFERENCES, strict=True)][:20]


def made(name: str):
    found = get_metric("tesla")
    return found(found.Config(name=name, lang="en"))


@pytest.mark.parametrize("name", ["m", "x", "chrf", "ter"])
def test_the_decoder_chooses_by_our_expected_scores(name: str) -> None:
    metric, own = made(name), create_metric(name, "en")
    decoder = DecoderMBR(DecoderMBR.Config(), metric)
    assert own.higher_is_better == decoder.metric.HIGHER_IS_BETTER
    for samples in SAMPLES:
        expected = expected_scores(own, samples)
        best = expected.max() if own.higher_is_better else expected.min()
        output = decoder.decode(samples, samples)
        assert output.score[0] == pytest.approx(best, rel=1e-6)
        assert expected[output.idx[0]] == pytest.approx(best, rel=1e-6)


def test_every_way_to_score() -> None:
    metric, own = made("m"), create_metric("m", "en")
    assert metric.pairwise_scores(HYPOTHESES[:5], REFERENCES[:7]).numpy() == pytest.approx(
        own.pairwise(HYPOTHESES[:5], REFERENCES[:7]), rel=1e-6
    )
    corpus = own.corpus_score(HYPOTHESES, [REFERENCES])
    assert metric.scores(HYPOTHESES, REFERENCES).numpy() == pytest.approx(corpus.segments, rel=1e-6)
    assert metric.corpus_score(HYPOTHESES, [REFERENCES]) == corpus.score
    assert metric.score("a cat", "a cat") == 1.0


def test_the_command_with_the_plugin(tmp_path) -> None:
    texts = tmp_path / "samples.txt"
    texts.write_text("".join(f"{text}\n" for samples in SAMPLES for text in samples), "utf-8")
    command = [
        str(Path(sys.executable).with_name("mbrs-decode")), str(texts), "--num_candidates", "3", "--plugin_dir",
        str(PLUGIN), "--metric", "tesla", "--metric.name", "x", "--metric.lang", "en", "--format", "json",
        "--report", str(tmp_path / "report"),
    ]  # fmt: skip
    ran = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    chosen = [json.loads(line) for line in ran.stdout.splitlines() if line.startswith("{")]
    assert len(chosen) == len(SAMPLES)
    own = create_metric("x", "en")
    for samples, choice in zip(SAMPLES, chosen, strict=True):
        expected = expected_scores(own, samples)
        assert choice["expected_score"] == pytest.approx(expected.max(), rel=1e-6)
        assert choice["sentence"] == samples[choice["selected_idx"]]


def test_the_page_runs_as_written(monkeypatch) -> None:
    monkeypatch.chdir(ROOT)
    run_python(ROOT / "docs" / "connect" / "mbrs.md", {})
