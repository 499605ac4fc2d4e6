"""COMET and BERTScore through their real packages, with miniature models made here."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tesla_eval import InputError, ResourceError, UsageError, evaluate
from tesla_eval.metrics import create_metric
from tesla_eval.metrics.baselines import packaged
from tests.pages import ROOT, blocks, run_python
from tests.plugs.neighbours import neighbour, two_systems

torch = neighbour("torch")
transformers = neighbour("transformers")
comet = neighbour("comet")
bert_score = neighbour("bert_score")

HYPOTHESES, OTHERS, REFERENCES = (texts[:40] for texts in two_systems())
SOURCES = [text[::-1] for text in REFERENCES]


def bert(folder: Path, layers: int) -> Path:
    """A small BERT with letters for pieces."""
    folder.mkdir(parents=True, exist_ok=True)
    letters = [chr(code) for code in range(33, 127)]
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *(f"##{letter}" for letter in letters)]
    (folder / "vocab.txt").write_text("\n".join(pieces) + "\n")
    torch.manual_seed(1)
    config = transformers.BertConfig(
        vocab_size=len(pieces), hidden_size=16, num_hidden_layers=layers, num_attention_heads=2, intermediate_size=32,
        max_position_embeddings=128,
    )  # fmt: skip
    transformers.BertModel(config).save_pretrained(folder)
    transformers.BertTokenizerFast(str(folder / "vocab.txt"), model_max_length=126).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def encoder(tmp_path_factory) -> Path:
    return bert(tmp_path_factory.mktemp("encoder"), 2)


def checkpoint(encoder: Path, folder: Path, kind: str, **extra: Any) -> Path:
    """A COMET model with random weights, saved as the package saves its own."""
    from comet.models import str2model

    torch.manual_seed(2)
    settings = {
        "encoder_model": "BERT",
        "pretrained_model": str(encoder),
        "hidden_sizes": [8],
        "layer": "mix",
    }
    model = str2model[kind](**settings)
    (folder / "checkpoints").mkdir(parents=True)
    (folder / "hparams.yaml").write_text(
        "\n".join([f"class_identifier: {kind}", *(f"{k}: {v}" for k, v in settings.items())])
    )
    content = {"state_dict": model.state_dict(), "hyper_parameters": dict(model.hparams), **extra}
    torch.save({**content, "pytorch-lightning_version": "2.0.0"}, folder / "checkpoints" / "model.ckpt")
    return folder


@pytest.fixture(scope="module")
def model(encoder, tmp_path_factory) -> Path:
    return checkpoint(encoder, tmp_path_factory.mktemp("comet") / "tiny", "regression_metric")


@pytest.fixture(scope="module")
def kiwi(encoder, tmp_path_factory) -> Path:
    return checkpoint(encoder, tmp_path_factory.mktemp("comet") / "kiwi", "referenceless_regression_metric")


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("TESLA_EVAL_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def calls(monkeypatch) -> list[int]:
    """How many segments the packages were asked for, call by call."""
    seen: list[int] = []
    for metric in (packaged.Comet, packaged.BertScore):
        asked = metric._scores
        monkeypatch.setattr(
            metric,
            "_scores",
            lambda self, texts, *rest, asked=asked: seen.append(len(texts)) or asked(self, texts, *rest),
        )
    return seen


def predicted(model: Path, references: list[str]) -> list[float]:
    samples = [
        {"src": source, "mt": hypothesis, "ref": reference}
        for source, hypothesis, reference in zip(SOURCES, HYPOTHESES, references, strict=True)
    ]
    loaded = comet.load_from_checkpoint(str(model / "checkpoints" / "model.ckpt"))
    return loaded.predict(samples, batch_size=16, gpus=0, progress_bar=False).scores


def test_comet_gives_the_scores_of_the_package(model) -> None:
    metric = create_metric("comet", "en", model=str(model))
    result = metric.corpus_score(HYPOTHESES, [REFERENCES], SOURCES)
    assert result.segments.tolist() == predicted(model, REFERENCES)
    assert len(set(result.segments)) > 30
    assert metric.score_segments([], [[]], []).scores.shape == (0,)
    both = metric.corpus_score(HYPOTHESES, [REFERENCES, OTHERS], SOURCES).segments
    means = np.mean([predicted(model, REFERENCES), predicted(model, OTHERS)], axis=0)
    np.testing.assert_allclose(both, means, atol=1e-6)  # the package sorts and pads more samples together


def test_a_model_without_references_is_comet_qe(model, kiwi) -> None:
    metric = create_metric("comet-qe", "en", model=str(kiwi))
    found = metric.corpus_score(HYPOTHESES, sources=SOURCES)
    assert found.segments.tolist() == predicted(kiwi, [""] * len(HYPOTHESES))
    assert found.segments.tolist() == metric.corpus_score(HYPOTHESES, [REFERENCES], SOURCES).segments.tolist()
    with pytest.raises(UsageError, match="needs no reference; write -m comet-qe:model="):
        create_metric("comet", "en", model=str(kiwi))
    with pytest.raises(UsageError, match="needs references; write -m comet:model="):
        create_metric("comet-qe", "en", model=str(model))


def test_bertscore_gives_the_scores_of_the_package(encoder) -> None:
    metric = create_metric("bertscore", "en", model=str(encoder), layers=2)
    expected = bert_score.score(HYPOTHESES, REFERENCES, model_type=str(encoder), num_layers=2)
    result = metric.corpus_score(HYPOTHESES, [REFERENCES])
    np.testing.assert_array_equal(
        result.features, np.column_stack([side.double().numpy() for side in expected])
    )
    assert result.segments.tolist() == result.features[:, 2].tolist()
    ragged = [text if k % 2 else None for k, text in enumerate(OTHERS)]
    several = [[a] if b is None else [a, b] for a, b in zip(REFERENCES, ragged, strict=True)]
    expected = bert_score.score(HYPOTHESES, several, model_type=str(encoder), num_layers=2)
    found = metric.corpus_score(HYPOTHESES, [REFERENCES, ragged]).segments
    np.testing.assert_array_equal(found, expected[2].double().numpy())


def test_a_segment_is_scored_once_and_another_model_is_another_signature(
    model, encoder, calls, tmp_path
) -> None:
    metric = create_metric("comet", "en", model=str(model))
    first = metric.corpus_score(HYPOTHESES, [REFERENCES], SOURCES)
    again = create_metric("comet", "en", model=str(model)).corpus_score(
        [*HYPOTHESES, "new"], [[*REFERENCES, "old"]], [*SOURCES, "alt"]
    )
    assert calls == [40, 1] and again.segments[:40].tolist() == first.segments.tolist()
    assert "package:unbabel-comet-2.2.7|model:tiny|hash:" in str(first.signature)
    other = checkpoint(encoder, tmp_path / "tiny", "regression_metric", note="another")
    assert str(create_metric("comet", "en", model=str(other)).get_signature()) != str(metric.get_signature())
    uncached = create_metric("comet", "en", model=str(model), cache=False)
    uncached.corpus_score(HYPOTHESES, [REFERENCES], SOURCES)
    assert calls == [40, 1, 40]
    copied = pickle.loads(pickle.dumps(metric))
    assert copied.corpus_score(HYPOTHESES, [REFERENCES], SOURCES).segments.tolist() == first.segments.tolist()


@pytest.fixture
def files(tmp_path) -> dict[str, str]:
    texts = {"a": HYPOTHESES, "b": OTHERS, "ref": REFERENCES, "src": SOURCES}
    for name, lines in texts.items():
        (tmp_path / f"{name}.txt").write_text("".join(f"{line}\n" for line in lines))
    return {name: str(tmp_path / f"{name}.txt") for name in texts}


def test_commands_show_them_beside_tesla_and_the_second_run_is_from_the_cache(
    model, encoder, files, calls, tmp_path, tesla
) -> None:
    chosen = ["-m", "m", "-m", f"comet:model={model}", "-m", f"bertscore:model={encoder},layers=2"]

    def run(*arguments: str) -> str:
        outcome = tesla(*arguments)
        assert outcome.status == 0, outcome
        return outcome.out

    given = ["-r", files["ref"], "--source", files["src"], "-l", "en", *chosen, files["a"], files["b"]]
    document = json.loads(run("score", "--format", "json", *given))
    changed = sum(a != b for a, b in zip(HYPOTHESES, OTHERS, strict=True))
    assert calls == [40, 40, changed, changed]  # a text that both systems share is scored once
    calls.clear()
    assert json.loads(run("score", "--format", "json", *given)) == document
    compared = run("compare", *given)
    assert "comet:model=" in compared and "bertscore:model=" in compared
    page = tmp_path / "report.html"
    run("report", *given, "-o", str(page))
    assert "comet:model=" in page.read_text()
    assert calls == []
    stressed = run("stress", "-r", files["ref"], "-l", "en", "-m", f"bertscore:model={encoder},layers=2")
    assert "bertscore" in stressed
    result = evaluate({"a": HYPOTHESES}, [REFERENCES], [f"comet:model={model}"], sources=SOURCES, lang="en")
    (scores,) = result.scores["a"].values()
    np.testing.assert_allclose(scores, np.mean(predicted(model, REFERENCES)), atol=1e-6)


def test_meta_sets_them_against_people(model, encoder, calls, tmp_path, tesla) -> None:
    texts = {
        "sources/de-en.txt": SOURCES, "references/de-en.refA.txt": REFERENCES, "system-outputs/de-en/a.txt": HYPOTHESES,
        "system-outputs/de-en/b.txt": OTHERS,
        "human-scores/de-en.mqm.seg.score": [f"{name} {k % 7}" for name in "ab" for k in range(40)],
    }  # fmt: skip
    for name, lines in texts.items():
        path = tmp_path / "wmt" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{line}\n" for line in lines))
    command = ["meta", "--mtme", str(tmp_path / "wmt"), "--lp", "de-en", "--format", "json", "-m", "m"]
    command += ["-m", f"comet:model={model}", "-m", f"bertscore:model={encoder},layers=2"]
    first = tesla(*command)
    assert first.status == 0, first.err
    assert {row["metric"].partition(":")[0] for row in json.loads(first.out)["results"]} == {
        "tesla-m",
        "comet",
        "bertscore",
    }
    assert sum(calls) > 80
    calls.clear()
    assert tesla(*command).out == first.out and calls == []


def test_wrong_models_are_refused_with_a_way_out(model, encoder, tmp_path) -> None:
    for name, options, says in (
        ("comet", {}, "needs a model: -m comet:model=FOLDER"),
        ("comet", {"model": "no/where"}, "hf download no/where fetches it"),
        ("comet", {"model": str(encoder)}, "there is no .*model.ckpt"),
        ("bertscore", {"model": str(encoder)}, "say which layer: layers=N"),
        ("comet", {"model": str(model), "batch": 0}, "batch is at least 1"),
    ):
        with pytest.raises((UsageError, ResourceError), match=says):
            create_metric(name, "en", **options)
    metric = create_metric("comet", "en", model=str(model))
    with pytest.raises(InputError, match="needs the source"):
        metric.corpus_score(HYPOTHESES, [REFERENCES])
    with pytest.raises(InputError, match="surrogate"):
        metric.corpus_score(["\ud800"], [["a"]], ["b"])


class Shot:
    def __reduce__(self) -> Any:
        return Path.touch, (Path("shot"),)


def test_a_checkpoint_that_runs_code_is_refused(encoder, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    folder = checkpoint(encoder, tmp_path / "bad", "regression_metric", callbacks=Shot())
    with pytest.raises(ResourceError, match="if you trust the file, add trust=yes"):
        create_metric("comet", "en", model=str(folder)).corpus_score(["a"], [["a"]], ["a"])
    assert not Path("shot").exists()


def test_the_page_runs_as_written(model, encoder, files, tmp_path, monkeypatch, tesla) -> None:
    page = ROOT / "docs" / "connect" / "comet.md"
    run_python(page, {"folder": str(model), "encoder": str(encoder)})
    monkeypatch.chdir(tmp_path)
    for name, lines in {"sysA": HYPOTHESES, "sysB": OTHERS}.items():
        Path(f"{name}.txt").write_text("".join(f"{line}\n" for line in lines))
    bert(Path("roberta-large"), 24)  # a name that bert-score knows: it compares layer 17
    Path("Unbabel").mkdir()
    for name in ("wmt22-comet-da", "Unbabel/wmt22-comet-da"):
        Path(name).symlink_to(model)
    commands = [
        line.split()[1:]
        for block in blocks(page, "")
        for line in block.splitlines()
        if line.startswith("tesla ")
    ]
    for command in commands:
        outcome = tesla(*command)
        assert outcome.status == 0, outcome.err
    assert len(commands) == 3 and "bertscore:model=roberta-large" in Path("report.html").read_text()
