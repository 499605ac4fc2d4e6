"""The page of the papers' tables: the same data give the same bytes, and the figures are those of the formulas."""

from __future__ import annotations

import gzip
import random
from pathlib import Path

import numpy as np
import pytest

from research import papers_tables
from tesla_eval.judgements.meta.run import JudgedSet
from tesla_eval.judgements.nouns import EvalSet, Preferences

WORDS = [
    "the",
    "cat",
    "dog",
    "house",
    "sees",
    "a",
    "big",
    "small",
    "man",
    "runs",
    "to",
    "town",
    "and",
    "sits",
    "on",
]
SYSTEMS, SEGMENTS = 4, 24


@pytest.fixture
def tool(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("TESLA_EVAL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(papers_tables, "INTO_METRICS", ("m", "b", "f", "maxsim", "bleu", "ter"))
    return papers_tables


def write(path: Path, header: str, rows: list[str]) -> None:
    text = "".join(line.replace(" | ", "\t") + "\n" for line in [header, *rows])
    path.write_bytes(gzip.compress(text.encode()))


def sentence(generator: random.Random, lp: str) -> str:
    letters = "买雨伞猫狗大小人家今天去" if lp.endswith("zh") else WORDS
    return ("" if lp.endswith("zh") else " ").join(generator.choices(letters, k=8))


def made_data(folder: Path) -> None:
    """Test sets of random sentences; people prefer the system with the lower number."""
    generator = random.Random(3)
    human_systems = []
    for name, lps in (
        ("wmt12-rr", ("cs-en", "de-en", "es-en", "fr-en", "en-cs", "en-de", "en-es", "en-fr")),
        ("wmt13-rr", ("cs-en", "de-en", "es-en", "fr-en")),
        ("wmt14-rr", ("cs-en", "de-en", "fr-en")),
        ("wmt24-esa-outofen-odd", ("en-zh",)),
    ):  # fmt: skip
        rows, pairs = [], []
        for lp in lps:
            human_systems.extend(
                f"{lp} | {name} | s{system} | {-system} | expected_wins | 9" for system in range(SYSTEMS)
            )
            for segment in range(1, SEGMENTS + 1):
                reference = sentence(generator, lp)
                for system in range(SYSTEMS):
                    score = str(SYSTEMS - system) if name.startswith("wmt24") else ""
                    text = reference[: len(reference) - 4 * system] + sentence(generator, lp)[: 4 * system]
                    rows.append(f"{lp} | {name} | s{system} | {segment} | {score} | {text} | {reference}")
                better, worse = sorted(generator.sample(range(SYSTEMS), 2))
                pairs.append(f"{lp} | {name} | {segment} | s{better} | s{worse}")
        write(folder / f"{name}.seg.tsv.gz",
              "lp | testset | system | seg_id | human_score | hypothesis | reference", rows)  # fmt: skip
        if not name.startswith("wmt24"):
            write(
                folder / f"{name}.pairs.tsv.gz", "lp | testset | seg_id | system_better | system_worse", pairs
            )
    write(folder / "system_scores.tsv.gz",
          "lp | testset | system | human_system_score | score_type | n_judgements", human_systems)  # fmt: skip


def test_the_page_regenerates_to_the_same_bytes(tool, tmp_path):
    made_data(tmp_path)
    pages = ["\n".join(tool.page(tmp_path, 2)) for _ in range(2)]
    assert pages[0].encode() == pages[1].encode()
    assert "one judged segment in 2" in pages[0]
    for name in ("TESLA-M", "TESLA-B", "TESLA-F", "MaxSim", "BLEU", "TER", "TESLA-CELAB⁻"):
        assert f"\n| {name} | " in pages[0]


def test_one_segment_in_so_many_is_kept_with_its_pairs(tool):
    outputs = EvalSet(
        "de-en",
        "t",
        ("a", "b"),
        tuple("12345"),
        (("x",) * 5, ("y",) * 5),
        (("r",) * 5,),
        np.full((2, 5), np.nan),
    )
    preferences = Preferences("f", ["1", "2", "4", "5"], ["a"] * 4, ["b"] * 4, [2, 3, 4, 5])
    thin = tool.thinned(JudgedSet(outputs, preferences), 2)
    assert thin.outputs.segments == ("1", "4")
    assert thin.preferences is not None
    assert thin.preferences.segments == ["1", "4"]
    assert thin.preferences.lines == [2, 4]


def test_the_sentence_names_what_agrees_and_what_does_not(tool):
    paper = tool.PaperTable(
        "P", "table 1", "data", ("x", "average"), {"A": (0.1, 0.9), "B": (0.9, 0.5), "C": (0, 0.1)}
    )
    (_, sentence_) = tool._verdict(paper, -1, {"A": 0.3, "B": 0.4, "C": 0.2})
    assert sentence_ == (
        "By average, 2 of 3 orders of two metrics agree (A above C; B above C); these do not: A above B."
    )
