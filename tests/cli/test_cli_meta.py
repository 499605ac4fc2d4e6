"""`tesla meta`: metrics against humans on the formats of WMT and mt-metrics-eval, and the judges themselves."""

from __future__ import annotations

import importlib.util
import json
import math
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from tesla_eval import statistics
from tesla_eval.cli.shared.terminal import resumable
from tesla_eval.drawing.shapes import Drawing, Words
from tesla_eval.judgements.meta.plots import write_drawing
from tesla_eval.metrics import create_metric

WMT = Path(__file__).parents[3] / "shared" / "data" / "wmt"

REFERENCES = [
    "The cat sat on the mat.",
    "A dog barked at night.",
    "It rained all day.",
    "We went home early.",
]
OUTPUTS = {
    "best": REFERENCES,
    "fair": ["The cat sat on a mat.", "A dog barked at us.", "It rained all night.", "We went home late."],
    "poor": ["The cat.", "A dog.", "Rain.", "Home."],
}
HUMAN = {"best": [5, 4, 5, 5], "fair": [3, 4, 4, 2], "poor": [1, 2, "", 1]}


@pytest.fixture(autouse=True)
def own_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("TESLA_EVAL_CACHE", str(tmp_path / "cache"))


def segment_rows(lp="de-en", testset="news", outputs=OUTPUTS, human=HUMAN):
    return [
        f"{lp}\t{testset}\t{system}\t{i + 1}\t{human[system][i]}\t{text}\t{REFERENCES[i]}"
        for i in range(len(REFERENCES))
        for system, texts in outputs.items()
        for text in texts[i : i + 1]
    ]


@pytest.fixture
def segments(write):
    """Writes a file of segments from rows."""
    header = "lp\ttestset\tsystem\tseg_id\thuman_score\thypothesis\treference"

    def write_segments(*rows: str, name="set.seg.tsv") -> str:
        return write(name, [header, *rows])

    return write_segments


@pytest.fixture
def results(tesla):
    """Runs the command with JSON output; gives (metric, level, statistic) -> row for one language pair."""

    def run(*arguments: str, lp: str = "de-en"):
        outcome = tesla("meta", "--format", "json", *arguments)
        assert outcome.status == 0, outcome.err
        rows = json.loads(outcome.out)["results"]
        return {(r["metric"], r["level"], r["statistic"]): r for r in rows if r["lp"] == lp}

    return run


class TestResults:
    def test_a_row_has_the_fields_of_the_interface(self, results, segments):
        row = results("--segments", segments(*segment_rows()), "-m", "m")["tesla-m", "segment", "kendall"]
        assert list(row) == ["lp", "testset", "metric", "level", "statistic", "value", "n"]
        assert (row["lp"], row["testset"], row["metric"], row["n"]) == ("de-en", "news", "tesla-m", 11)

    def test_pooled_correlations_are_those_of_the_plain_vectors(self, results, segments):
        found = results("--segments", segments(*segment_rows()), "-m", "m,chrf")
        judged = [(s, i) for s in OUTPUTS for i in range(4) if HUMAN[s][i] != ""]
        for name, key in (("m", "tesla-m"), ("chrf", "chrf")):
            metric = create_metric(name, "en")
            scores = [metric.sentence_score(OUTPUTS[s][i], [REFERENCES[i]]).score for s, i in judged]
            human = [HUMAN[s][i] for s, i in judged]
            assert found[key, "segment", "pearson"]["value"] == pytest.approx(
                statistics.pearson(human, scores).value
            )
            assert found[key, "segment", "kendall"]["value"] == pytest.approx(
                statistics.kendall(human, scores).value
            )

    def test_pairs_decide_the_pairwise_statistics(self, results, segments, write):
        header = "lp\ttestset\tseg_id\tsystem_better\tsystem_worse"
        pairs = ["de-en\tnews\t1\tbest\tpoor", "de-en\tnews\t1\tbest\tfair", "de-en\tnews\t2\tpoor\tfair"]
        found = results(
            "--segments", segments(*segment_rows()), "--pairs", write("p.tsv", [header, *pairs]), "-m", "chrf"
        )
        row = found["chrf", "segment", "consistency"]
        assert (row["value"], row["n"]) == (pytest.approx(2 / 3), 3)
        assert found["chrf", "segment", "kendall_wmt"]["value"] == pytest.approx(1 / 3)

    def test_system_bleu_is_corpus_bleu_of_the_judged_segments(self, results, segments, write):
        """Segment 4 is judged by nobody: what a system writes there must not matter, unless it is asked for."""
        human = {s: [*row[:3], ""] for s, row in HUMAN.items()}
        outputs = {**OUTPUTS, "fair": [*OUTPUTS["fair"][:3], "Quatsch Quatsch Quatsch Quatsch"]}
        file = segments(*segment_rows(outputs=outputs, human=human))
        bleu = create_metric("bleu", "en")
        mean = {s: float(np.mean([x for x in row if x != ""])) for s, row in human.items()}
        for arguments, count in (((), 3), (("--all-segments",), 4)):
            corpus = [
                bleu.corpus_score(outputs[s][:count], [REFERENCES[:count]]).score for s in sorted(outputs)
            ]
            expected = statistics.pearson([mean[s] for s in sorted(outputs)], corpus).value
            found = results("--segments", file, "-m", "bleu", *arguments)["bleu", "system", "pearson"]
            assert found["value"] == pytest.approx(expected, abs=1e-12)

    def test_a_metric_for_which_lower_is_better_is_turned_round(self, results, segments):
        found = results("--segments", segments(*segment_rows()), "-m", "ter")
        assert found["ter", "system", "pearson"]["value"] > 0.8
        assert found["ter", "segment", "accuracy"]["value"] > 0.8

    def test_all_references_are_used_only_when_wished(self, tesla, write):
        header = "lp\ttestset\tsystem\tseg_id\thuman_score\thypothesis\treference\treference2"
        rows = [f"de-en\tnews\t{s}\t1\t{h}\t{text}\tThe cat sat.\tRain fell hard." for s, h, text in
                (("a", 1, "The cat sat."), ("b", 2, "Rain fell hard."))]  # fmt: skip
        file = write("two.tsv", [header, *rows])
        out = {}
        for arguments in ((), ("--all-references",)):
            lines = tesla(
                "meta", "--segments", file, "-m", "chrf", "--format", "tsv", *arguments
            ).out.splitlines()
            out[arguments] = next(line for line in lines if "segment\tkendall_wmt" in line).split("\t")[5]
        assert float(out[()]) == -1.0
        assert float(out["--all-references",]) == 0.0

    def test_averages_stand_apart_and_are_means_over_the_test_sets(self, tesla, segments):
        worse = {**HUMAN, "best": [1, 1, 1, 1]}
        file = segments(*segment_rows(), *segment_rows(lp="fr-en", human=worse))
        document = json.loads(tesla("meta", "--segments", file, "-m", "chrf", "--format", "json").out)
        value = {r["lp"]: r["value"] for r in document["results"] if r["statistic"] == "pearson_within"}
        (average,) = [r for r in document["averages"] if r["statistic"] == "pearson_within"]
        assert average["value"] == pytest.approx((value["de-en"] + value["fr-en"]) / 2)
        assert (average["lp"], average["n"]) == ("average", 2)
        assert document["signatures"][0].startswith("chrf|nrefs:1|case:mixed|")

    def test_kinds_of_judgement_have_averages_of_their_own(self, tesla, segments):
        files = [
            segments(*segment_rows(lp=lp), name=f"wmt99-{kind}.seg.tsv")
            for lp, kind in (("de-en", "mqm"), ("fr-en", "da"), ("cs-en", "esa"))
        ]
        given = [argument for file in files for argument in ("--segments", file)]
        document = json.loads(tesla("meta", *given, "-m", "chrf", "--format", "json").out)
        assert [one["protocol"] for one in document["test_sets"]] == ["mqm", "other", "esa"]
        kinds = {r["testset"]: r["n"] for r in document["averages"] if r["statistic"] == "kendall_centred"}
        assert kinds == {"": 3, "esa": 1, "mqm": 1, "other": 1}
        assert (
            "average over 1 test sets with judgements of the kind mqm"
            in tesla("meta", *given, "-m", "chrf").out
        )

    def test_the_kind_of_human_system_scores_can_be_chosen(self, tesla, segments, write):
        header = "lp\ttestset\tsystem\thuman_system_score\tscore_type\tn_judgements"
        rows = [f"de-en\tnews\t{s}\t{x}\t{t}\t9" for t, row in (("mqm", (3, 2, 1)), ("win_ratio", (1, 2, 3)))
                for s, x in zip(OUTPUTS, row, strict=True)]  # fmt: skip
        systems = write("systems.tsv", [header, *rows])
        chosen = {}
        for arguments in ((), ("--human-score", "win_ratio")):
            outcome = tesla("meta", "--segments", segments(*segment_rows()), "--systems", systems, "-m", "chrf",
                            "--format", "json", *arguments)  # fmt: skip
            document = json.loads(outcome.out)
            row = next(
                r for r in document["results"] if (r["level"], r["statistic"]) == ("system", "kendall")
            )
            chosen[document["test_sets"][0]["human_score"]] = row["value"]
        assert chosen == {"mqm": 1.0, "win_ratio": -1.0}
        refused = tesla(
            "meta", "--segments", segments(*segment_rows()), "--systems", systems, "--human-score", "x"
        )
        assert refused.status == 2
        assert "no human system scores of type 'x'" in refused.err


class TestGaps:
    @pytest.mark.parametrize("lp", ["en-sw", "en-et"])
    def test_a_target_without_analysis_is_compared_as_written_with_one_warning(self, tesla, segments, lp):
        file = segments(*segment_rows(lp=lp, testset="a"), *segment_rows())
        outcome = tesla("meta", "--segments", file, "-m", "m", "--format", "json")
        assert outcome.status == 0
        document = json.loads(outcome.out)
        assert {r["lp"] for r in document["results"]} == {"de-en", lp}
        assert [one.split("|lang:")[1][:3].rstrip("|") for one in document["signatures"]] == ["und", "en"]
        assert outcome.err.count(f"warning: {lp}: language {lp[3:]!r} has no analysis") == 1

    def test_a_language_that_is_asked_for_needs_no_warning(self, tesla, segments):
        file = segments(*segment_rows(lp="en-sw"))
        outcome = tesla("meta", "-l", "und", "--segments", file, "-m", "m", "--format", "json")
        assert (outcome.status, outcome.err) == (0, "")
        assert "|lang:und|" in outcome.out

    def test_nothing_left_is_an_error(self, tesla, segments):
        outcome = tesla("meta", "--segments", segments())
        assert outcome.status == 2
        assert "there is no language pair to evaluate" in outcome.err

    def test_a_language_pair_that_is_not_there_is_named(self, tesla, segments):
        outcome = tesla("meta", "--segments", segments(*segment_rows()), "--lp", "fr-en")
        assert outcome.status == 2
        assert "no outputs for fr-en" in outcome.err

    def test_a_constant_metric_has_no_correlation_and_says_why(self, results, segments):
        same = dict.fromkeys(OUTPUTS, ["Same."] * 4)
        row = results("--segments", segments(*segment_rows(outputs=same)), "-m", "chrf")[
            "chrf", "system", "pearson"
        ]
        assert row["value"] is None
        assert "constant" in row["note"]

    def test_two_systems_and_one_segment_give_stated_results(self, results, segments):
        rows = [row for row in segment_rows() if "\t1\t" in row and "poor" not in row]
        found = results("--segments", segments(*rows), "-m", "m")
        assert found["tesla-m", "segment", "accuracy"]["value"] == 1.0
        for row in found.values():
            assert row["value"] is not None or row["note"]

    def test_an_output_that_is_missing_is_left_out_not_filled_in(self, results, segments):
        rows = [row for row in segment_rows() if not ("\tfair\t" in row and "\t2\t4\t" in row)]
        found = results("--segments", segments(*rows), "-m", "m")
        assert found["tesla-m", "segment", "kendall"]["n"] == 10

    def test_preferences_about_another_test_set_are_a_warning(self, tesla, segments, write):
        pairs = write(
            "p.tsv", ["lp\ttestset\tseg_id\tsystem_better\tsystem_worse", "de-en\told\t1\tbest\tpoor"]
        )
        outcome = tesla("meta", "--segments", segments(*segment_rows()), "--pairs", pairs, "-m", "chrf")
        assert outcome.status == 0
        assert "the preferences are for de-en old" in outcome.err

    def test_no_source_at_all_is_wrong_usage(self, tesla):
        outcome = tesla("meta", "-m", "chrf")
        assert outcome.status == 2
        assert "--segments" in outcome.err


class TestCache:
    def test_a_rerun_reads_what_the_first_run_kept(self, tesla, segments, monkeypatch):
        arguments = ("meta", "--segments", segments(*segment_rows()), "-m", "chrf", "--format", "tsv")
        first = tesla(*arguments)
        monkeypatch.setattr(
            "tesla_eval.metrics.baselines.bleu.SacreBleuMetric.score_segments",
            lambda *_: pytest.fail("scored although the cache knows"),
        )
        assert tesla(*arguments) == first

    def test_can_be_left_alone(self, tesla, segments, tmp_path):
        tesla("meta", "--segments", segments(*segment_rows()), "-m", "chrf", "--no-cache")
        assert not (tmp_path / "cache").exists()

    def test_a_damaged_one_is_one_message(self, tesla, segments, tmp_path):
        (tmp_path / "cache").mkdir()
        (tmp_path / "cache" / "scores.sqlite").write_bytes(b"x" * 5000)
        outcome = tesla("meta", "--segments", segments(*segment_rows()), "-m", "chrf")
        assert outcome.status == 2
        assert "the score cache is damaged" in outcome.err


class TestSignificance:
    def test_metrics_come_with_intervals_tests_and_clusters(self, tesla, segments):
        outcome = tesla("meta", "--segments", segments(*segment_rows()), "-m", "m,chrf,ter", "--format", "json",
                        "--significance", "kendall_wmt", "--significance", "system:pearson")  # fmt: skip
        found = json.loads(outcome.out)["significance"]
        assert [(f["level"], f["statistic"]) for f in found] == [
            ("segment", "kendall_wmt"),
            ("system", "pearson"),
        ]
        for comparison in found:
            assert {m["metric"] for m in comparison["metrics"]} == {"tesla-m", "chrf", "ter"}
            assert len(comparison["pairs"]) == 3
            for metric in comparison["metrics"]:
                assert metric["low"] <= metric["value"] <= metric["high"]
                assert metric["cluster"] == 1  # four segments tell nothing apart

    def test_the_value_compared_is_the_value_in_the_table(self, tesla, segments):
        outcome = tesla("meta", "--segments", segments(*segment_rows()), "-m", "bleu", "--format", "json",
                        "--significance", "system:pearson")  # fmt: skip
        document = json.loads(outcome.out)
        (row,) = [r for r in document["results"] if (r["level"], r["statistic"]) == ("system", "pearson")]
        assert document["significance"][0]["metrics"][0]["value"] == pytest.approx(row["value"], abs=1e-12)

    @pytest.mark.parametrize("wish", ["nonsense", "system:soft_accuracy", "word:kendall"])
    def test_statistics_that_cannot_be_compared_are_refused_at_once(self, tesla, segments, wish):
        outcome = tesla("meta", "--segments", segments(*segment_rows()), "--significance", wish)
        assert outcome.status == 2

    def test_too_few_resamples_are_an_error_that_names_the_number(self, tesla, segments):
        wish = (
            "meta",
            "--segments",
            segments(*segment_rows()),
            "-m",
            "chrf,bleu,ter",
            "--significance",
            "kendall",
        )
        assert "Holm-corrected, at most 1200 resamples)" in tesla(*wish).out
        outcome = tesla(*wish, "--resamples", "50")
        assert outcome.status == 2
        assert "give at least 59" in outcome.err

    def test_a_test_set_that_does_not_allow_it_is_a_warning(self, tesla, segments):
        nobody = {system: [""] * 4 for system in HUMAN}
        outcome = tesla("meta", "--segments", segments(*segment_rows(human=nobody)), "-m", "chrf", "--significance",
                        "kendall")  # fmt: skip
        assert outcome.status == 0
        assert "cannot be compared by segment:kendall" in outcome.err


class TestRankings:
    ROWS = (
        ("t1", "ann", "a", 1), ("t1", "ann", "b", 2), ("t1", "ann", "c", 2),
        ("t2", "bob", "a", 1), ("t2", "bob", "b", 2), ("t2", "bob", "c", 3),
    )  # fmt: skip

    @pytest.fixture
    def rankings(self, write):
        header = "lp\ttestset\tseg_id\ttask\tjudge\tsystem\trank"
        return write(
            "ranks.tsv", [header, *(f"de-en\tnews\t1\t{t}\t{j}\t{s}\t{r}" for t, j, s, r in self.ROWS)]
        )

    def test_agreement_expected_wins_and_sign_tests(self, tesla, rankings):
        (report,) = json.loads(tesla("judge", "agree", "--rankings", rankings, "--format", "json").out)[
            "preferences"
        ]
        assert report["judges"]["between"]["p_agree"] == pytest.approx(
            2 / 3
        )  # of a-b, a-c, b-c they differ on b-c
        assert report["judges"]["between"]["kappa"] == pytest.approx(0.5)
        assert report["judges"]["within"]["p_agree"] is None
        assert [(s["system"], s["expected_wins"]) for s in report["systems"]] == [
            ("a", 1.0),
            ("b", 0.5),
            ("c", 0.0),
        ]
        b_and_c = report["tests"][-1]
        assert (b_and_c["wins"], b_and_c["losses"], b_and_c["ties"], b_and_c["p_value"]) == (1, 0, 1, 1.0)

    @pytest.mark.parametrize("output_format", ["text", "tsv"])
    def test_other_formats_show_every_pair(self, tesla, rankings, output_format):
        out = tesla("judge", "agree", "--rankings", rankings, "--format", output_format).out
        assert sum(line.split()[-1:] == ["1.000"] or line.endswith("\t1.0") for line in out.splitlines()) == 3

    def test_rankings_stand_in_for_pairs(self, results, segments, write):
        header = "lp\ttestset\tseg_id\ttask\tjudge\tsystem\trank"
        ranks = write(
            "r.tsv",
            [header, *(f"de-en\tnews\t1\tt\tann\t{s}\t{r}" for s, r in zip(OUTPUTS, (1, 2, 2), strict=True))],
        )
        found = results("--segments", segments(*segment_rows()), "--rankings", ranks, "-m", "chrf")
        assert found["chrf", "segment", "consistency"]["n"] == 2


class TestMtMetricsEval:
    @pytest.fixture
    def folder(self, tmp_path):
        home = tmp_path / "wmt99"
        files = {"references/de-en.refA.txt": REFERENCES, "human-scores/de-en.mqm.seg.score": [
            f"{s}\t{x if x != '' else 'None'}" for s, row in HUMAN.items() for x in row]}  # fmt: skip
        files |= {f"system-outputs/de-en/{s}.txt": lines for s, lines in OUTPUTS.items()}
        for name, lines in files.items():
            (home / name).parent.mkdir(parents=True, exist_ok=True)
            (home / name).write_text("".join(f"{line}\n" for line in lines))
        return home

    def test_a_folder_gives_what_the_table_gives(self, results, segments, folder):
        from_folder = results("--mtme", str(folder), "-m", "m,bleu")
        from_table = results("--segments", segments(*segment_rows(testset="wmt99")), "-m", "m,bleu")
        assert from_folder == from_table

    def test_score_files_hold_every_segment_and_system_higher_is_better(self, tesla, folder, tmp_path):
        outcome = tesla("meta", "--mtme", str(folder), "-m", "ter", "--write-scores", str(tmp_path / "out"))
        assert outcome.status == 0, outcome.err
        home = tmp_path / "out" / "wmt99" / "metric-scores" / "de-en"
        segments = [line.split("\t") for line in (home / "ter-refA.seg.score").read_text().splitlines()]
        systems = dict(line.split("\t") for line in (home / "ter-refA.sys.score").read_text().splitlines())
        assert len(segments) == 12
        assert float(systems["poor"]) < float(systems["best"]) == 0.0

    def test_names_are_read_as_mt_metrics_eval_reads_them(self, tesla, folder, tmp_path):
        """NAME-REF.LEVEL.score, cut at the last hyphen; REF is a reference of the test set; SYSTEM SCORE on a line."""
        asked = ("meta", "--mtme", str(folder), "-m", "m", "-m", "m:alpha=0.5", "-m", "bleu:tok=char")
        assert tesla(*asked, "--write-scores", str(tmp_path / "out")).status == 0
        paths = list((tmp_path / "out" / "wmt99" / "metric-scores" / "de-en").iterdir())
        parsed = set()
        for path in paths:
            name, level, ending = path.name.rsplit(".", maxsplit=2)
            metric, references = name.rsplit("-", maxsplit=1)
            assert (ending, references.split(".")) == ("score", ["refA"])
            systems = {line.split()[0] for line in path.read_text().splitlines()}
            assert systems == {p.stem for p in (folder / "system-outputs" / "de-en").iterdir()}
            parsed.add((metric, level))
        assert parsed == {
            (m, lv) for m in ("tesla-m", "tesla-m:alpha=0.5", "bleu:tok=char") for lv in ("seg", "sys")
        }

    def test_a_system_with_a_gap_is_left_out_and_named(self, tesla, segments, tmp_path):
        rows = [row for row in segment_rows() if not row.startswith("de-en\tnews\tfair\t2\t")]
        out = tmp_path / "out"
        outcome = tesla("meta", "--segments", segments(*rows), "-m", "chrf", "--write-scores", str(out))
        assert outcome.status == 1
        assert "segment" in outcome.out, "the results are there all the same"
        assert "fair lacks segments" in outcome.err
        written = (out / "news" / "metric-scores" / "de-en" / "chrf-refA.seg.score").read_text()
        assert {line.split()[0] for line in written.splitlines()} == {"best", "poor"}

    def test_the_reference_can_be_named(self, tesla, folder, tmp_path):
        asked = ("meta", "--mtme", str(folder), "-m", "m:alpha=0.5", "--write-scores", str(tmp_path / "out"))
        assert tesla(*asked, "--reference-name", "refC").status == 0
        assert list((tmp_path / "out").rglob("tesla-m:alpha=0.5-refC.seg.score"))
        assert tesla(*asked, "--reference-name", "ref-C").status == 2

    def test_a_test_set_cannot_lead_out_of_the_folder(self, tesla, segments, tmp_path):
        home = tmp_path / "deep" / "out"
        file = segments(*segment_rows(testset="../../evil"))
        assert tesla("meta", "--segments", file, "-m", "chrf", "--write-scores", str(home)).status == 0
        assert len(list(home.rglob("*.score"))) == len(list(tmp_path.rglob("*.score"))) == 2

    def test_two_sources_are_one_too_many(self, tesla, folder, segments):
        outcome = tesla("meta", "--mtme", str(folder), "--segments", segments(*segment_rows()))
        assert outcome.status == 2


class TestHumanScores:
    """Which kind of human system scores counts where a file holds several."""

    HEADER = "lp\ttestset\tsystem\thuman_system_score\tscore_type\tn_judgements"

    @pytest.fixture
    def chosen(self, tesla, segments, write):
        def run(kinds: list[str], name: str) -> tuple[str, str]:
            rows = [f"de-en\tnews\t{s}\t{i}\t{kind}\t9" for kind in kinds for i, s in enumerate(OUTPUTS)]
            systems = write("systems.tsv", [self.HEADER, *rows])
            asked = (
                "meta",
                "--segments",
                segments(*segment_rows(), name=name),
                "--systems",
                systems,
                "-m",
                "chrf",
            )
            document = json.loads(tesla(*asked, "--format", "json").out)
            return document["test_sets"][0]["human_score"], tesla(*asked).out.splitlines()[0]

        return run

    @pytest.mark.parametrize(
        ("kinds", "name", "expected"),
        [
            (["srcda_raw", "srcda_z"], "set.seg.tsv", "srcda_z"),
            (["own_raw", "own_z"], "set.seg.tsv", "own_z"),
            (["mqm", "da_z"], "wmt21-da-toen.seg.tsv", "da_z"),
            (["mqm", "da_z"], "wmt21-mqm-news.seg.tsv", "mqm"),
            (["mqm", "da_raw", "da_z"], "wmt21-da-toen.seg.tsv", "da_z"),
            (["mqm", "srcda_z"], "wmt21-da-toen.seg.tsv", "mqm"),
        ],
    )
    def test_the_kind_of_the_segments_then_standardised(self, chosen, kinds, name, expected):
        kind, line = chosen(kinds, name)
        assert kind == expected
        assert f"human system scores: {expected}" in line
        others = [other for other in kinds if other != expected]
        assert f"(--human-score takes {' or '.join(others)})" in line


class TestWhatIsMissing:
    def test_two_files_may_judge_the_same_test_set(self, tesla, segments):
        first = segments(*segment_rows(), name="wmt99-mqm.seg.tsv")
        second = segments(*segment_rows(human={**HUMAN, "best": [1, 1, 1, 1]}), name="wmt99-da.seg.tsv")
        outcome = tesla("meta", "--segments", first, "--segments", second, "-m", "chrf", "--format", "json")
        assert outcome.status == 0, outcome.err
        document = json.loads(outcome.out)
        assert [one["testset"] for one in document["test_sets"]] == ["news", "news_wmt99-da"]
        values = [
            r["value"] for r in document["results"] if (r["level"], r["statistic"]) == ("segment", "pearson")
        ]
        assert len(set(values)) == 2
        twice = tesla("meta", "--segments", first, "--segments", first, "-m", "chrf")
        assert twice.status == 2
        assert "is given twice" in twice.err

    def test_a_metric_without_a_table_for_one_language_is_named(self, tesla, segments):
        file = segments(*segment_rows(), *segment_rows(lp="en-is"))
        outcome = tesla("meta", "--segments", file, "-m", "b,chrf", "--format", "json")
        assert outcome.status == 1
        rows = json.loads(outcome.out)["results"]
        assert {(row["lp"], row["metric"]) for row in rows} == {
            ("de-en", "tesla-b"), ("de-en", "chrf"), ("en-is", "chrf"),
        }  # fmt: skip
        assert "en-is: without tesla-b" in outcome.err

    def test_where_nothing_is_left_the_reason_is_the_error(self, tesla, segments):
        outcome = tesla("meta", "--segments", segments(*segment_rows(lp="en-is")), "-m", "b")
        assert (outcome.status, outcome.out) == (2, "")
        assert "tesla-b" in outcome.err

    def test_one_metric_twice_with_other_options(self, results, segments):
        found = results("--segments", segments(*segment_rows()), "-m", "m", "-m", "m:alpha=0")
        values = [found[name, "segment", "pearson"]["value"] for name in ("tesla-m", "tesla-m:alpha=0")]
        assert values[0] != values[1]


class TestPlots:
    def test_every_picture_is_sound_svg_with_a_dot_a_system_and_a_bar_a_metric(
        self, tesla, segments, tmp_path
    ):
        rows = [row.replace("\tbest\t", "\t<b&\x01st>\t") for row in segment_rows()]
        outcome = tesla(
            "meta", "--segments", segments(*rows), "-m", "m,chrf", "--plots", str(tmp_path / "plots")
        )
        assert outcome.status == 0, outcome.err
        pictures = {path.name: ElementTree.parse(path) for path in (tmp_path / "plots").iterdir()}
        assert set(pictures) == {
            "de-en.news.tesla-m.svg", "de-en.news.chrf.svg", "de-en.news.segment.kendall_wmt.svg",
            "de-en.news.system.pearson.svg",
        }  # fmt: skip
        svg = "{http://www.w3.org/2000/svg}"
        dots = pictures["de-en.news.chrf.svg"].findall(f".//{svg}circle/{svg}title")
        assert len(dots) == 3
        assert any(dot.text.startswith("<b&\ufffdst>:") for dot in dots)
        bars = pictures["de-en.news.segment.kendall_wmt.svg"].findall(f".//{svg}rect/{svg}title")
        assert [bar.text.split(":")[0] for bar in bars] in (["tesla-m", "chrf"], ["chrf", "tesla-m"])

    def test_several_test_sets_share_a_picture_with_a_dot_for_each_value(self, tesla, segments, tmp_path):
        rows = segment_rows()
        others = [row.replace("\tnews\t", "\ttalks\t") for row in rows]
        outcome = tesla(
            "meta",
            "--segments",
            segments(*rows, *others),
            "-m",
            "m,chrf",
            "--plots",
            str(tmp_path),
            "--format",
            "json",
        )
        assert outcome.status == 0, outcome.err
        for level in ("segment", "system"):
            picture = ElementTree.parse(tmp_path / f"all.{level}.pearson.svg")
            titles = [one.text for one in picture.iter("{http://www.w3.org/2000/svg}title")]
            found = [
                f"{one['lp']} {one['testset']}, {one['metric']}: {one['value']:.4f}"
                for one in json.loads(outcome.out)["results"]
                if (one["level"], one["statistic"]) == (level, "pearson")
            ]
            assert sorted(titles) == sorted(found)
            assert len(found) == 4

    def test_png_is_drawn_by_matplotlib_or_refused(self, tmp_path):
        drawing = Drawing(100, 50, [Words(50, 25, "a $ sign")])
        path = tmp_path / "a.png"
        if importlib.util.find_spec("matplotlib"):
            write_drawing(drawing, path)
            assert path.read_bytes().startswith(b"\x89PNG")
        else:
            with pytest.raises(ValueError, match="needs matplotlib"):
                write_drawing(drawing, path)


class TestSegments:
    def test_columns_are_found_by_name(self, tesla, segments, write):
        """In any order and among others, as people's own tables have them."""
        plain = segments(*segment_rows())
        head, *rows = Path(plain).read_text("utf-8").splitlines()
        order = [5, 6, 0, 3, 2, 4, 1]
        turned = [
            "\t".join([f"note {k}", *(row.split("\t")[i] for i in order)])
            for k, row in enumerate([head, *rows])
        ]
        other = write("other.tsv", turned)
        ask = ("-m", "chrf", "--format", "json")
        first, second = (json.loads(tesla("meta", "--segments", file, *ask).out) for file in (plain, other))
        assert second["results"] == first["results"]

    def test_a_missing_column_is_named(self, tesla, write):
        outcome = tesla("meta", "--segments", write("s.tsv", ["lp\tsystem\tseg_id"]), "-m", "chrf")
        assert outcome.status == 2
        assert (
            "must have the columns lp testset system seg_id human_score hypothesis reference" in outcome.err
        )


def test_signatures_have_one_form_in_score_compare_meta_and_stress(tesla, segments, write):
    metrics = ("-m", "m,bleu,nist")
    files = [write(f"{name}.txt", OUTPUTS[name]) for name in ("best", "fair", "poor")]
    scored = tesla("score", "-l", "en", "-r", *files, *metrics, "--segments").out.splitlines()
    corpus, of_segments = scored[-4:-1], scored[-1]
    assert corpus[1].startswith("bleu|nrefs:1|") and of_segments.endswith("  (segments)")
    assert tesla("compare", "-l", "en", "-r", *files, *metrics).out.splitlines()[-3:] == corpus
    judged = {system: [5, 4, 3, 2] for system in OUTPUTS}
    study = tesla("meta", "--segments", segments(*segment_rows(human=judged)), *metrics).out.splitlines()
    assert study[-4:] == [*corpus[:2], of_segments, corpus[2]]
    stressed = tesla("stress", "-l", "en", "-r", *files, *metrics, "--kinds", "half").out.splitlines()
    assert stressed[-3:-1] == [corpus[0], of_segments.removesuffix("  (segments)")]


class TestText:
    def test_shows_sets_averages_notes_and_signatures(self, tesla, segments):
        nobody = {system: [""] * 4 for system in HUMAN}
        file = segments(*segment_rows(), *segment_rows(lp="fr-en", human=nobody))
        out = tesla("meta", "--segments", file, "-m", "m,chrf", "--significance", "kendall_wmt").out
        assert "de-en news: 3 systems, 4 of 4 segments" in out
        assert "average over 2 test sets" in out
        assert out.count("no human segment scores") == 2  # once for the test set, once for the average
        assert "metric:tesla-m|" in out


@pytest.fixture(scope="module")
def wmt14_averages():
    """The usual metrics on WMT14 into English."""
    from tesla_eval.judgements.meta.evaluate import averages, evaluate
    from tesla_eval.judgements.meta.run import score_and_join, wmt_sets
    from tesla_eval.judgements.wmt import read_preferences, read_system_scores
    from tesla_eval.metrics.cache import ScoreCache

    names = [str(WMT / f"wmt14-rr.{kind}.tsv.gz") for kind in ("seg", "pairs")]
    sets = wmt_sets(
        [names[0]], read_preferences(names[1]), read_system_scores(str(WMT / "system_scores.tsv.gz"))
    )
    metrics = [create_metric(name, "en") for name in ("bleu", "chrf", "chrf++")]
    with ScoreCache(on_disk=False) as cache:
        found = [row for judged in sets for row in evaluate(score_and_join(judged, metrics, cache))]
    return {(row.metric, row.level, row.statistic): row.value for row in averages(found)}


@pytest.mark.slow
@pytest.mark.skipif(not WMT.exists(), reason="the WMT data is not here")
class TestAnchors:
    """Figures published with the task for WMT14 into English."""

    @pytest.mark.parametrize(("metric", "tau"), [("chrf", 0.344), ("chrf++", 0.343), ("bleu", 0.272)])
    def test_average_tau(self, wmt14_averages, metric, tau):
        assert wmt14_averages[metric, "segment", "kendall_wmt"] == pytest.approx(tau, abs=0.0005)

    def test_system_pearson_on_judged_segments(self, wmt14_averages):
        assert wmt14_averages["chrf", "system", "pearson"] == pytest.approx(0.943, abs=0.0005)
        assert not math.isnan(wmt14_averages["bleu", "system", "soft_accuracy"])


AGAIN = "run the same command again to continue"


@pytest.mark.parametrize("kept_in", ["the cache", None])
def test_who_interrupts_is_told_how_to_go_on(kept_in, capsys):
    with pytest.raises(KeyboardInterrupt), resumable(kept_in):
        raise KeyboardInterrupt
    told = capsys.readouterr().err
    assert told == ("" if kept_in is None else f"hint: finished work is kept in {kept_in}; {AGAIN}\n")
