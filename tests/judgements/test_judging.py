"""`tesla judge`: blind sheets, filled by a script whose preferences are known, read back to the numbers put in."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from html import unescape
from itertools import combinations
from pathlib import Path

import pytest

from tesla_eval.base.errors import InputError, UsageError
from tesla_eval.judgements.sheets import Material, Plan, make_round, read_filled, read_key, sheet_lines
from tesla_eval.judgements.wmt import read_segments
from tesla_eval.metrics import create_metric

SYSTEMS = ("alpha", "beta", "gamma", "delta")
QUALITY = {"alpha": 4, "beta": 3, "gamma": 2, "delta": 1}
ITEMS = 60


def material(items: int = ITEMS) -> Material:
    return Material(
        {s: [f"{s} text number {i}" for i in range(items)] for s in SYSTEMS},
        references=[f"reference {i}" for i in range(items)],
    )


@pytest.fixture
def round_files(write) -> dict[str, str]:
    files = {s: write(s, [f"{s} text number {i}" for i in range(ITEMS)]) for s in SYSTEMS}
    return files | {"reference": write("ref.txt", [f"reference {i}" for i in range(ITEMS)])}


@pytest.fixture
def made(round_files, tmp_path, tesla):
    """Makes a round in a folder; further options may be given."""

    def make(*options: str) -> Path:
        folder = tmp_path / "round"
        systems = [round_files[s] for s in SYSTEMS]
        done = tesla("judge", "make", "-r", round_files["reference"], *systems, "--judges", "ann,bob", "--lp", "de-en",
                     "--testset", "made", "-o", str(folder), *options)  # fmt: skip
        assert done.status == 0, done.err
        return folder

    return make


def filled(sheet: Path, answer) -> Path:
    """The sheet with answers: `answer(texts of a task)` gives for each output the values of the last columns."""
    header, *rows = [line.split("\t") for line in sheet.read_text("utf-8").splitlines()]
    fields = len(header) - header.index("output") - 1
    by_task: dict[str, list[list[str]]] = {}
    for row in rows:
        by_task.setdefault(row[1], []).append(row)
    for outputs in by_task.values():
        values = answer([row[header.index("output")] for row in outputs])
        for row, own in zip(outputs, values, strict=True):
            row[-fields:] = map(str, own)
    path = sheet.with_name(f"filled-{sheet.name}")
    path.write_text("".join("\t".join(row) + "\n" for row in [header, *rows]), encoding="utf-8")
    return path


def dense_ranks(scores: list[float]) -> list[int]:
    order = sorted(set(scores), reverse=True)
    return [order.index(score) + 1 for score in scores]


class Judge:
    """Ranks by true quality with noise of its own; remembers every verdict by what was compared."""

    def __init__(self, seed: int) -> None:
        self._draw = random.Random(seed)
        self.rankings: list[dict[str, int]] = []
        self.items: list[str] = []

    def __call__(self, texts: list[str]) -> list[tuple[int]]:
        scores = [QUALITY[text.split()[0]] + self._draw.choice([-1, 0, 0, 0, 1]) for text in texts]
        ranks = dense_ranks(scores)
        self.rankings.append({text.split()[0]: rank for text, rank in zip(texts, ranks, strict=True)})
        self.items.append(texts[0].split()[-1])
        return [(rank,) for rank in ranks]


class TestRound:
    def test_tables_that_are_no_sheets_are_passed_over(self, made, tesla, tmp_path):
        """A shell's `round/*.tsv` names the outputs, which `judge make` wrote there, and the rankings of before."""
        folder = made()
        for name in ("ann", "bob"):
            filled(folder / f"sheet-{name}.tsv", Judge(1)).replace(folder / f"sheet-{name}.tsv")
        results = []
        for _ in range(2):
            tables = sorted(map(str, folder.glob("*.tsv")))
            assert str(folder / "outputs.seg.tsv") in tables
            done = tesla("judge", "read", str(folder / "key.json"), *tables, "-o", str(folder))
            assert done.status == 0, done.err
            assert "outputs.seg.tsv" in done.err and "note:" in done.err
            results.append((folder / "rankings.tsv").read_text("utf-8"))
        assert results[0] == results[1]

    def test_known_preferences_come_out(self, made, tesla, tmp_path):
        """Kappa, self-agreement, percentages and the order of systems are those of the judges' own notes."""
        folder = made("--repeat", "0.5", "--seed", "7")
        judges = {"ann": Judge(1), "bob": Judge(2)}
        sheets = [filled(folder / f"sheet-{name}.tsv", one) for name, one in judges.items()]
        out = tmp_path / "judged"
        done = tesla("judge", "read", str(folder / "key.json"), *map(str, sheets), "-o", str(out))
        assert done.status == 0, done.err
        told = tesla(
            "judge",
            "agree",
            "--rankings",
            str(out / "rankings.tsv"),
            "--judges",
            "--shares",
            "--format",
            "json",
        )
        (report,) = json.loads(told.out)["preferences"]

        verdicts = [
            ((item, x, y), name, (ranks[x] < ranks[y]) - (ranks[x] > ranks[y]))
            for name, judge in judges.items()
            for item, ranks in zip(judge.items, judge.rankings, strict=True)
            for x, y in combinations(sorted(ranks), 2)
        ]
        for ties, names in ((True, ("between", "within")), (False, ("between_untied", "within_untied"))):
            same: dict[bool, list[bool]] = {True: [], False: []}
            kept = [one for one in verdicts if ties or one[2]]
            by_pair: dict[tuple[str, ...], list[tuple[str, int]]] = {}
            for pair, name, outcome in kept:
                by_pair.setdefault(pair, []).append((name, outcome))
            for told_of in by_pair.values():
                for (a, x), (b, y) in combinations(told_of, 2):
                    same[a == b].append(x == y)
            for field, own in zip(names, (False, True), strict=True):
                found = report["judges"][field]
                agreed, chance = sum(same[own]) / len(same[own]), 1 / 3 if ties else 1 / 2
                assert found["n"] == len(same[own])
                assert found["kappa"] == pytest.approx((agreed - chance) / (1 - chance))
        outcomes = Counter((pair[1:], outcome) for pair, _, outcome in verdicts)
        order = [row["system"] for row in report["systems"]]
        assert order == list(SYSTEMS)
        for x, y in combinations(sorted(SYSTEMS), 2):
            total = sum(outcomes[(x, y), k] for k in (-1, 0, 1))
            share = report["shares"]["matrix"][order.index(x)][order.index(y)]
            assert share == pytest.approx(outcomes[(x, y), 1] / total)
        best = Counter(
            s for one in judges.values() for ranks in one.rankings for s, rank in ranks.items() if rank == 1
        )
        tasks = sum(len(one.rankings) for one in judges.values())
        assert report["shares"]["best"] == pytest.approx([best[s] / tasks for s in order])

    def test_metrics_are_measured_against_the_round(self, made, tesla, tmp_path):
        folder = made()
        sheets = [filled(folder / f"sheet-{name}.tsv", Judge(k)) for k, name in enumerate(("ann", "bob"))]
        out = str(tmp_path / "judged")
        assert tesla("judge", "read", str(folder / "key.json"), *map(str, sheets), "-o", out).status == 0
        done = tesla("meta", "--segments", str(folder / "outputs.seg.tsv"), "--rankings", f"{out}/rankings.tsv", "-m",
                     "chrf", "--format", "json", "--no-cache")  # fmt: skip
        assert done.status == 0, done.err
        assert {row["testset"] for row in json.loads(done.out)["results"]} == {"made"}

    def test_outputs_are_no_formulas_and_score_as_they_are(self, tesla, write, tmp_path):
        outputs, references = ["=1+1 is two", "- a dash", "plain"], ["@home it is two", "a dash", "+plain"]
        ref, system = write("ref.txt", references), write("a.txt", outputs)
        made = (
            "judge",
            "make",
            "-r",
            ref,
            system,
            write("b.txt", references),
            "--judges",
            "ann",
            "--lp",
            "de-en",
        )
        assert tesla(*made, "-o", str(tmp_path / "round")).status == 0
        file = tmp_path / "round" / "outputs.seg.tsv"
        cells = {cell for line in file.read_text().splitlines() for cell in line.split("\t")}
        assert not any(cell.startswith(("=", "+", "-", "@")) for cell in cells)
        (judged,) = read_segments(str(file))
        place = judged.systems.index("a.txt")
        for name in ("m", "x", "bleu", "chrf", "ter", "celab", "rougel"):
            metric = create_metric(name, "en")
            found = metric.corpus_score([text or "" for text in judged.hypotheses[place]], judged.references)
            assert found.score == metric.corpus_score(outputs, [references]).score

    def test_ratings_come_out_as_they_were_given(self, made, tesla, tmp_path):
        folder = made("--kind", "rating", "--criteria", "overall,adequacy", "--repeat", "0")
        sheets = [
            filled(folder / f"sheet-{name}.tsv", lambda texts: [(QUALITY[t.split()[0]], 5) for t in texts])
            for name in ("ann", "bob")
        ]
        out = tmp_path / "judged"
        assert tesla("judge", "read", str(folder / "key.json"), *map(str, sheets), "-o", str(out)).status == 0
        told = tesla("judge", "agree", "--ratings", str(out / "ratings.tsv"), "--judges", "--format", "json")
        overall, adequacy = json.loads(told.out)["preferences"]
        assert (overall["criterion"], adequacy["criterion"]) == ("overall", "adequacy")
        assert [row["system"] for row in overall["systems"]] == list(SYSTEMS)
        assert overall["judges"]["between"]["kappa"] == overall["judges"]["between_untied"]["kappa"] == 1
        assert overall["judges"]["correlations"][0]["sentence"]["value"] == pytest.approx(1)
        assert adequacy["judges"]["between_untied"]["n"] == 0  # all tied

    def test_the_round_is_the_same_each_time_and_another_with_another_seed(self):
        plan = Plan(("ann", "bob"), seed=3)
        assert make_round(material(), plan) == make_round(material(), plan)
        assert (
            make_round(material(), plan).sheets != make_round(material(), Plan(("ann", "bob"), seed=4)).sheets
        )


class TestBlind:
    def test_no_sheet_names_a_system_or_keeps_an_order(self, tmp_path, write, tesla):
        """The texts are the same for all readers, so only order and marks could give a system away."""
        files = [write(f"{s}.out", [f"words {k} of {i}" for i in range(40)]) for k, s in enumerate(SYSTEMS)]
        folder = tmp_path / "r"
        assert tesla("judge", "make", *files, "--judges", "ann", "-o", str(folder)).status == 0
        for name in ("sheet-ann.tsv", "sheet-ann.html"):
            content = (folder / name).read_text("utf-8")
            assert not any(system in content for system in (*SYSTEMS, "key.json"))
        places = Counter()
        for task in read_key(str(folder / "key.json")).sheets[0].tasks:
            places.update((system, place) for place, (system,) in enumerate(task.systems))
        assert all(places[f"{s}.out", place] >= 2 for s in SYSTEMS for place in range(4))

    def test_equal_outputs_are_shown_once_and_count_for_all(self):
        same = Material({"a": ["One  text"], "b": ["One text"], "c": ["Another"]})
        key = make_round(same, Plan(("ann",), repeated=0))
        (task,) = key.sheets[0].tasks
        assert sorted(task.systems) == [("a", "b"), ("c",)]

    def test_items_are_shared_evenly(self):
        key = make_round(material(), Plan(tuple("wxyz"), judges_per_item=3, repeated=0))
        seen = Counter(task.item for sheet in key.sheets for task in sheet.tasks)
        assert set(seen.values()) == {3}
        assert {len(sheet.tasks) for sheet in key.sheets} == {ITEMS * 3 // 4}

    def test_more_systems_than_fit_are_drawn_for_each_item(self):
        many = Material({f"s{k}": [f"{k} {i}" for i in range(200)] for k in range(9)})
        key = make_round(many, Plan(("u", "v"), repeated=0))
        for first, second in zip(*(sorted(s.tasks, key=lambda t: t.item) for s in key.sheets), strict=True):
            assert len(first.systems) == 5
            assert sorted(first.systems) == sorted(second.systems)
        seen = Counter(system for task in key.sheets[0].tasks for (system,) in task.systems)
        assert max(seen.values()) - min(seen.values()) < 60

    def test_repeats_come_after_the_rest_with_another_order(self):
        tasks = make_round(material(), Plan(("ann",), repeated=0.25)).sheets[0].tasks
        assert len(tasks) == ITEMS + 15
        assert len({task.item for task in tasks[:ITEMS]}) == ITEMS


class TestPage:
    HOSTILE = '</script><script>alert(1)</script> & "q" <img src=x onerror=alert(2)> \u202e'

    def page(self, kind: str = "ranking") -> str:
        from tesla_eval.judgements.sheet_page import sheet_page

        hostile = Material({"a": [self.HOSTILE], "b": ["fine"]}, references=["<b>reference</b>"])
        key = make_round(hostile, Plan(("ann",), kind, repeated=0))
        return sheet_page(key.sheets[0], key, hostile)

    @pytest.mark.parametrize("kind", ["ranking", "rating"])
    def test_texts_are_escaped_and_nothing_outside_is_named(self, kind):
        page = self.page(kind)
        assert page.count("<script") == 1
        assert "<img" not in page
        assert "<b>reference" not in page
        assert self.HOSTILE in unescape(page)
        assert not re.search(r"(?:src|href)=|https?:|url\(|@import", page.replace("src=x", ""))
        assert "default-src &#x27;none&#x27;" in page or "default-src 'none'" in page
        assert "unsafe" not in page

    def test_the_policy_allows_exactly_the_script_and_the_style_of_the_page(self):
        import base64
        import hashlib

        page = self.page()
        for tag, name in (("script", "script-src"), ("style", "style-src")):
            content = re.search(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL).group(1)
            digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
            assert f"{name} 'sha256-{digest}'" in page

    def test_cells_are_no_formulas(self):
        formulas = Material({"a": ["=1+1", "@x"], "b": ["+y", "-z"]})
        key = make_round(formulas, Plan(("ann",), repeated=0))
        rows = [line.split("\t") for line in sheet_lines(key.sheets[0], key, formulas)]
        assert all(row[3].startswith("'") for row in rows[1:])


class TestRefused:
    @pytest.fixture
    def round_(self, tmp_path):
        from tesla_eval.judgements.sheets import write_key

        small = Material({"a": ["x", "y"], "b": ["u", "v"]})
        key = make_round(small, Plan(("ann",), repeated=0))
        write_key(tmp_path / "key.json", key)
        rows = [[*line.split("\t")[:3], "1"] for line in sheet_lines(key.sheets[0], key, small)]
        rows[0][3] = "rank"
        return key, rows

    def read(self, round_, write, change, **options):
        key, rows = round_
        rows = [list(row) for row in rows]
        change(rows)
        return read_filled(key, [write("f.tsv", ["\t".join(row) for row in rows])], **options)

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            (lambda rows: rows[1].__setitem__(3, "6"), "line 2: rank '6' is not a whole number from 1 to 5"),
            (lambda rows: rows[1].__setitem__(3, "good"), "line 2: rank 'good'"),
            (lambda rows: rows[2].__setitem__(0, "zz"), "line 3: sheet 'zz' is not of this round"),
            (lambda rows: rows[2].__setitem__(1, "9"), "line 3: sheet .* has no task '9'"),
            (lambda rows: rows[2].__setitem__(2, "x"), "line 3: sheet .* has no task"),
            (lambda rows: rows.append(rows[1]), "line 6: a second row of task 1, output 1"),
            (
                lambda rows: rows[0].__setitem__(3, "score"),
                "line 1: the header must have the columns sheet task",
            ),
            (lambda rows: rows[1].append("x"), "line 2: has 5 fields instead of 4"),
            (lambda rows: rows.pop(), "not complete: judge ann, task 2, output 2 has no rank. Use --partial"),
            (
                lambda rows: rows[1].__setitem__(3, ""),
                "not complete: judge ann, task 1, output 1 has no rank",
            ),
        ],
    )
    def test_bad_sheets_are_named(self, round_, write, change, message):
        with pytest.raises(InputError, match=message):
            self.read(round_, write, change)

    def test_gaps_can_be_left_out(self, round_, write):
        found = self.read(round_, write, lambda rows: rows.pop(), partial=True)
        assert len(found.verdicts) == 2
        assert found.missing == ["judge ann, task 2, output 2 has no rank"]

    @pytest.mark.parametrize(
        "content", ["", "[]", "{}", '{"format": "tesla-judging 1"}', "{" * 100000, '{"format": 1}']
    )
    def test_a_file_that_is_no_key_is_refused(self, write, content):
        with pytest.raises(InputError, match="is not the key of a judging round"):
            read_key(write("key.json", [content]))

    def test_a_key_is_never_overwritten(self, made, tesla, round_files, tmp_path):
        folder = made()
        done = tesla(
            "judge", "make", *(round_files[s] for s in SYSTEMS), "--judges", "ann", "-o", str(folder)
        )
        assert (done.status, "is not empty" in done.err) == (2, True)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"judges": ()}, "at least one judge"),
            ({"judges": ("a", "a")}, "each once"),
            ({"judges": ("../x",)}, "letters, digits"),
            ({"judges": ("a",), "kind": "rating", "criteria": ("style",)}, "criteria: choose from"),
            ({"judges": ("a",), "outputs_per_task": 1}, "outputs per task: must be from 2 to 5"),
            ({"judges": ("a",), "judges_per_item": 2}, "judges per item"),
        ],
    )
    def test_bad_plans_are_refused(self, options, message):
        with pytest.raises(UsageError, match=message):
            Plan(**options)

    def test_nothing_to_judge_is_said(self):
        with pytest.raises(UsageError, match="nothing to judge"):
            make_round(Material({"a": ["x"], "b": ["x"]}), Plan(("ann",)))

    def test_files_of_different_lengths_are_named(self):
        with pytest.raises(InputError, match="a 1, b 2 lines"):
            Material({"a": ["x"], "b": ["x", "y"]})
