"""The page of the papers' tables: the same data give the same bytes, and the figures are those of the formulas."""

from __future__ import annotations

import gzip
import random
import re
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import spearmanr

from research import papers_tables
from research.papers_tables_text import CHINESE_TABLES, INTO_TABLES, NOT_HERE, OTHER_TABLES, OUT_TABLES
from research.resampled import Estimate, ResampledSet
from tesla_eval.judgements.meta.run import JudgedSet
from tesla_eval.judgements.nouns import EvalSet, Preferences
from tesla_eval.metrics.cache import ScoreCache

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
    return papers_tables


def write(path: Path, header: str, rows: list[str]) -> None:
    text = "".join(line.replace(" | ", "\t") + "\n" for line in [header, *rows])
    path.write_bytes(gzip.compress(text.encode()))


def sentence(generator: random.Random, lp: str) -> str:
    letters = "买雨伞猫狗大小人家今天去" if lp.endswith("zh") else WORDS
    return ("" if lp.endswith("zh") else " ").join(generator.choices(letters, k=8))


def made_data(data: Path) -> None:
    """Test sets of random sentences; people prefer the system with the lower number."""
    folder = data / "wmt"
    folder.mkdir()
    (data / "synonyms").mkdir()
    (data / papers_tables.CILIN).write_bytes(gzip.compress("Aa01A01= 买 购\n".encode()))
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
    for name in papers_tables.NAMES.values():
        assert (f"\n| {name} | " in pages[0]) == (name != "METEOR")
    assert "This run left out: METEOR." in pages[0]


def test_every_row_of_every_table_has_a_line(tool, tmp_path):
    made_data(tmp_path)
    lines = "\n".join(tool.page(tmp_path, 8))
    for paper in (*INTO_TABLES, *OUT_TABLES, *CHINESE_TABLES):
        (table,) = (part for part in lines.split("\n\n") if f"{paper.number}: {paper.data} | {paper.columns[0]}" in part
                    and f"| {paper.paper}, " in part)  # fmt: skip
        rows = {line.split(" | ")[0][2:]: line for line in table.splitlines()[2:]}
        assert list(rows) == list(paper.rows)
        for name, row in rows.items():
            assert re.search(r"\[-?\d\.\d{3}, -?\d\.\d{3}\] \|$", row) or row.endswith(
                f"| {NOT_HERE.get(name, 'left out of this run')} |"
            )
    for table in OTHER_TABLES:
        for row, told in table.rows:
            assert f"| {row} | {told} |" in lines
            assert re.match("counterpart: |reproduced|not possible: ", told)


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


def test_the_sentence_names_what_holds_and_what_does_not(tool):
    figures = {"A": (0.3, 0.01), "B": (0.4, 0.01), "C": (0.395, 0.1)}
    generator = np.random.default_rng(0)
    ours = {
        name: Estimate(value, value + width * generator.normal(size=1000))
        for name, (value, width) in figures.items()
    }
    rows: dict[str, tuple[float | None, ...]] = {"A": (0.1, 0.9), "B": (0.9, 0.5), "C": (0, 0.1), "D": (1, 1)}
    paper = tool.PaperTable("P", "table 1", "data", "Spearman", "average", ("x", "average"), rows)
    told = tool._verdict(paper, ours)
    assert re.sub(r" \[[^]]*\]", "", told) == (
        "Orders of two metrics: 0 of 3 hold. Reversed: A above B (-0.100). "
        "Open: A above C (-0.095); B above C (+0.005)."
    )
    low, high = (ours["A"] - ours["B"]).interval
    assert f"A above B (-0.100 [{low:+.3f}, {high:+.3f}])" in told


def test_resampled_figures_are_those_of_the_formulas(tool, tmp_path):
    made_data(tmp_path)
    with ScoreCache() as cache:
        (joined,) = tool._Study(tmp_path, 1, cache, None).joined("wmt12-rr", ("de-en",), ("m",))
    found = ResampledSet(joined, 0).figures("TESLA-M")
    scores = joined.metrics["TESLA-M"]
    difference = joined.pairs.metric_difference(scores.oriented)
    assert found["Consistency"].value == np.mean(difference > 0)
    assert found["τ"].value == pytest.approx(np.mean(np.sign(difference)))
    systems = scores.system_scores(joined.used)
    assert found["Pearson"].value == pytest.approx(np.corrcoef(systems, joined.human_systems)[0, 1])
    assert found["Spearman"].value == pytest.approx(spearmanr(systems, joined.human_systems).statistic)
    low, high = found["Consistency"].interval
    assert low < found["Consistency"].value < high
