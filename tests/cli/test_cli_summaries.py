"""`tesla score` of summaries: a line each, JSON Lines, a folder; `tesla explain -m s`."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
from pathlib import Path

import pytest

from tesla_eval import TeslaS

MODELS = {"t1": ["A storm hit the coast of Spain.", "Spain was hit by a storm."], "t2": ["Nobody was hurt."]}
PEERS = {
    "a": {"t1": "A storm hit Spain.\nIt was strong.", "t2": "No one was hurt."},
    "b": {"t1": "Storm.", "t2": "Nobody was hurt."},
}
EXPECTED = {
    system: {topic: TeslaS().sentence_score(text, MODELS[topic]).score for topic, text in texts.items()}
    for system, texts in PEERS.items()
}


def rows(peers: dict[str, dict[str, str]]) -> list[str]:
    return [
        json.dumps({"id": topic, "system": system, "hypothesis": text, "references": MODELS[topic]})
        for system, texts in peers.items()
        for topic, text in texts.items()
    ]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    home = tmp_path / "summaries"
    texts = {f"peers/{s}/{t}.txt": text for s, texts in PEERS.items() for t, text in texts.items()}
    texts |= {f"models/{t}.{k}.txt": text for t, models in MODELS.items() for k, text in enumerate(models)}
    for name, text in texts.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text + "\n", encoding="utf-8")
    return home


def check(output: str) -> None:
    found = json.loads(output)
    assert found["topics"] == ["t1", "t2"]
    assert {entry["system"] for entry in found["systems"]} == EXPECTED.keys()
    for entry in found["systems"]:
        cell = entry["metrics"]["tesla-s"]
        assert cell["segments"] == list(EXPECTED[entry["system"]].values())
        assert cell["score"] == pytest.approx(sum(cell["segments"]) / 2)


def test_json_lines(tesla, write) -> None:
    path = write("peers.jsonl", rows(PEERS))
    check(tesla("score", "-m", "s", path, "--format", "json", "--segments").out)


@pytest.mark.parametrize(
    ("ending", "pack"), [("gz", gzip.compress), ("bz2", bz2.compress), ("xz", lzma.compress)]
)
def test_json_lines_may_be_compressed(tesla, write, ending, pack) -> None:
    path = write(f"peers.jsonl.{ending}", pack("\n".join(rows(PEERS)).encode()))
    check(tesla("score", "-m", "s", path, "--format", "json", "--segments").out)


def test_folder(tesla, folder: Path) -> None:
    check(tesla("score", "-m", "s", str(folder), "--format", "json", "--segments").out)


def test_one_summary_a_line(tesla, write) -> None:
    system = write("a.txt", [text.replace("\n", " ") for text in PEERS["a"].values()])
    first, second = write("m1.txt", [m[0] for m in MODELS.values()]), write("m2.txt", [MODELS["t1"][1], ""])
    out = tesla("score", "-m", "s", "-r", first, "-r", second, system, "--format", "json", "--segments").out
    assert json.loads(out)["systems"][0]["metrics"]["tesla-s"]["segments"] == list(EXPECTED["a"].values())


def test_topics_are_named(tesla, write) -> None:
    path = write("peers.jsonl", rows(PEERS))
    lines = tesla(
        "score", "-m", "s,s-recall,rougesu4", path, "--format", "tsv", "--segments"
    ).out.splitlines()
    assert lines[1].split("\t")[:3] == ["a", "t1", "tesla-s"]
    assert "t2" in tesla("score", "-m", "s", path, "--segments").out


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (rows({"a": PEERS["a"], "b": {"t1": "Storm."}}), "b has no summary of t2"),
        (["{"], "peers.jsonl, line 1: is not JSON"),
        ([], "contains no summaries"),
    ],
)
def test_bad_summaries(tesla, write, lines: list[str], message: str) -> None:
    found = tesla("score", "-m", "s", write("peers.jsonl", lines))
    assert found.status == 2
    assert message in found.err


def test_texts_need_references(tesla, write) -> None:
    found = tesla("score", "-m", "s", write("a.txt", ["One."]))
    assert found.status == 2
    assert "give reference files with -r" in found.err


def test_explain_draws_unigrams_and_matched_skip_bigrams(tesla) -> None:
    out = tesla("explain", "-m", "s", "He quickly ordered it.", "He ordered it.").out
    assert "He … ordered" in out
    assert "ordered it" in out
    assert "quickly … it" not in out
    alone = tesla("explain", "-m", "s", "--feature", "s.skip", "He quickly ordered it.", "He ordered it.").out
    assert "hypothesis (s.1)" not in alone
