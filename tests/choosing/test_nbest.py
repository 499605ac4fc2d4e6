"""n-best lists: every format, its detection, and strict errors; parameter files."""

from __future__ import annotations

import gzip
import json
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tesla_eval.base.errors import InputError, TeslaError, UsageError
from tesla_eval.choosing.nbest import read_nbest
from tesla_eval.choosing.parameters import Parameters, read_parameters
from tesla_eval_papers.tuning.pool import Pool

MOSES = [
    "0 ||| a b ||| LM0= -1.5 D0= -2 -3 ||| -6.5",
    "0 ||| a c ||| LM0= -2 D0= 0 1 ||| -1",
    "1 ||| d ||| LM0= 0 D0= 0 0 ||| 0",
]


def lists(path: str, nbest_format: str | None = None, segments: int | None = None):
    return list(read_nbest(path, nbest_format, segments))


class TestFormats:
    def test_moses_numbers_the_values_of_one_name(self, write) -> None:
        first, second = lists(write("n", MOSES))
        assert (first.segment, second.segment) == (0, 1)
        assert first.texts == ("a b", "a c")
        assert first.candidates[0] == ("a b", ("LM0", "D0_0", "D0_1"), (-1.5, -2.0, -3.0), -6.5)
        assert first.candidates[0].names is first.candidates[1].names

    def test_marian(self, write) -> None:
        (only,) = lists(write("n", ["0 ||| ein Haus ||| F0= -2.5 F1= 3 ||| -0.25"]), "marian")
        assert only.candidates == (("ein Haus", ("F0", "F1"), (-2.5, 3.0), -0.25),)

    def test_zmert_and_joshua(self, write) -> None:
        (only,) = lists(write("n", ["0 ||| x y ||| -1 2.5e-1"]))
        assert only.candidates == (("x y", ("f1", "f2"), (-1.0, 0.25), None),)
        (only,) = lists(write("n", ["0 ||| x y ||| lm_0=-1 tm_pt_3=2 ||| 7"]), "joshua")
        assert only.candidates == (("x y", ("lm_0", "tm_pt_3"), (-1.0, 2.0), 7.0),)

    def test_fairseq_comes_out_in_the_order_of_segments_and_without_subwords(self, write) -> None:
        lines = [
            "INFO | loading", "S-1\tein", "T-1\tone", "H-1\t-0.5\to@@ ne", "D-1\t-0.5\tone", "P-1\t-0.1 -0.2",
            "H-1\t-0.7\ta", "D-1\t-0.7\ta", "S-0\tzwei", "H-0\t-0.1\ttwo", "Generate test with beam=2",
        ]  # fmt: skip
        first, second = lists(write("n", lines))
        assert (first.segment, first.texts, second.segment, second.texts) == (0, ("two",), 1, ("one", "a"))
        assert second.candidates[0] == ("one", ("score",), (-0.5,), -0.5)

    def test_json_lines(self, write) -> None:
        lines = [
            json.dumps({"id": 0, "candidates": ["a", "b"], "scores": [-1, -2.5]}),
            json.dumps({"id": 1, "candidates": ["c"], "features": {"lm": [1], "tm": [2]}, "scores": [3]}),
            json.dumps({"candidates": ["d"], "features": [[4, 5]]}),
        ]
        first, second, third = lists(write("n", lines))
        assert first.candidates[1] == ("b", ("score",), (-2.5,), -2.5)
        assert second.candidates[0] == ("c", ("lm", "tm"), (1.0, 2.0), 3)
        assert (third.segment, third.candidates[0]) == (2, ("d", ("f1", "f2"), (4.0, 5.0), None))

    def test_plain(self, write) -> None:
        path = write("n", ["a", "", "c", "d"])
        assert [found.texts for found in lists(path, "plain:2")] == [("a", ""), ("c", "d")]
        assert [found.texts for found in lists(path, None, segments=1)] == [("a", "", "c", "d")]

    def test_compressed(self, write) -> None:
        path = write("n.gz", gzip.compress("\n".join(MOSES).encode()))
        assert lists(path)[1].texts == ("d",)

    @pytest.mark.parametrize(
        ("lines", "nbest_format", "message"),
        [
            (["0 ||| a ||| F0= 1", ""], None, "line 2: must be SEGMENT"),
            (["x ||| a ||| 1"], None, "line 1: must be SEGMENT"),
            (["1 ||| a ||| 1", "0 ||| a ||| 1"], None, "line 2: segment 0 comes after segment 1"),
            (["0 ||| a ||| 1 2", "0 ||| b ||| 1"], None, "line 2: has 1 features, the first line has 2"),
            (["0 ||| a ||| F0= x"], None, "line 1: 'x' is not a number"),
            (["0 ||| a ||| F0= 1_000"], None, "line 1: '1_000' is not a number"),
            (["0 ||| a ||| F0= nan"], None, "line 1: a feature is infinite or not a number"),
            (["0 ||| a ||| F0= 1e999"], None, "line 1: a feature is infinite"),
            (["0 ||| a ||| F0= F1= 1"], None, "line 1: every feature needs a name and a value"),
            (["0 ||| a ||| 1 F0= 1"], None, "line 1: feature value '1' stands before any NAME="),
            (["0 ||| a ||| 1"], "moses", "line 1: features in this format must have names"),
            (["S-0\ta", "H-0\t-1"], None, "line 2: must be H-0, score and text"),
            (["H-0\t-1\ta", "D-1\t-1\ta"], None, "line 2: D-1 must follow its H-1 line"),
            (["S-0\ta"], None, "has no H- lines"),
            (['{"id": 0}'], None, "line 1: candidates must be a list of texts"),
            (
                ['{"id": 0, "candidates": ["a"], "scores": [1, 2]}'],
                None,
                "'score' must be a list of 1 numbers",
            ),
            (['{"id": 0, "candidates": ["a"], "scores": [true]}'], None, "must hold numbers only"),
            (['{"id": 0, "candidates": ["a"]}', "{"], None, "line 2: is not JSON"),
            (
                ['{"id": 1, "candidates": ["a"]}', '{"id": 1, "candidates": ["a"]}'],
                None,
                "line 2: id must be",
            ),
            (["a", "b", "c"], "plain:2", "ends after 3 lines, which is no multiple of 2"),
            ([], None, "is empty"),
        ],
    )
    def test_errors_name_the_line(self, write, lines, nbest_format, message: str) -> None:
        with pytest.raises(InputError, match=message.replace("(", r"\(").replace("[", r"\[")):
            lists(write("n", lines), nbest_format)

    @pytest.mark.parametrize("nbest_format", ["mosses", "plain:0", "plain:x", "moses:3"])
    def test_formats_that_do_not_exist(self, write, nbest_format: str) -> None:
        with pytest.raises(UsageError):
            lists(write("n", MOSES), nbest_format)

    def test_plain_text_needs_a_number(self, write) -> None:
        with pytest.raises(UsageError, match="plain:K"):
            lists(write("n", ["a", "b"]))

    @given(st.lists(st.text(alphabet='0 1|=-.aH\tS{}[]":,', max_size=30), min_size=1, max_size=6))
    def test_whatever_the_lines_are_there_is_a_list_or_an_error(self, tmp_path_factory, lines) -> None:
        path = tmp_path_factory.mktemp("n") / "list"
        path.write_text("\n".join(lines), "utf-8")
        try:
            found = lists(str(path), None, segments=1)
        except TeslaError:
            return
        assert all(entry.candidates for entry in found)


class TestSegmentsWithoutCandidates:
    """Chosen lines are line-aligned with the source: a segment without candidates cannot be left out."""

    LINES = ("0 ||| a ||| F= -1 ||| -1", "2 ||| c ||| F= -1 ||| -1")

    @pytest.mark.parametrize(("lines", "missing"), [(LINES, 1), (LINES[1:], 0)])
    @pytest.mark.parametrize("command", [("mbr",), ("rerank", "--params", "weights", "--nbest")])
    def test_a_gap_is_refused_and_named(self, tesla, write, command, lines, missing: int) -> None:
        weights = write("weights", ["F 1"])
        found = tesla(
            *(weights if word == "weights" else word for word in command), write("n.best", list(lines))
        )
        assert (found.status, found.out) == (2, "")
        assert f"n.best: has no candidates for segment {missing}" in found.err


class TestPool:
    def test_the_same_candidate_counts_once_and_texts_are_scored_once(self, write) -> None:
        pool = Pool(2)
        assert pool.add(read_nbest(write("a", [*MOSES[:2], MOSES[0], MOSES[2]]))) == 3
        more = ["0 ||| a b ||| LM0= 9 D0= 9 9", "1 ||| d ||| LM0= 0 D0= 0 0"]
        assert pool.add(read_nbest(write("b", more))) == 1
        assert (len(pool), pool.texts) == (4, 3)

    def test_missing_and_unknown_segments(self, write) -> None:
        with pytest.raises(InputError, match="no candidates for segment 2"):
            Pool(3).add(read_nbest(write("a", MOSES)))
        with pytest.raises(InputError, match="line 3: segment 1, but there are references for 1"):
            Pool(1).add(read_nbest(write("a", MOSES)))

    def test_features_without_a_parameter(self, write) -> None:
        with pytest.raises(InputError, match="feature 'LM0' is no parameter"):
            Pool(2, ["lm"]).add(read_nbest(write("a", MOSES)))


class TestParameters:
    ZMERT: ClassVar[list[str]] = [
        "lm\t|||\t0.5\tOpt\t-Inf\t+Inf\t-1\t+1",
        "tm |||  -0.25 Fix 0 1 0 1",
        "normalization = LNorm 2 1",
    ]

    def test_a_file_of_zmert_survives_writing(self, write) -> None:
        parameters = read_parameters(write("p", self.ZMERT))
        assert parameters.names == ("lm", "tm")
        assert (parameters.items[1].tuned, parameters.items[1].low) == (False, 0)
        assert read_parameters(write("q", parameters.zmert_lines())) == parameters

    MOSES_INI: ClassVar[list[str]] = [
        "# a comment with [weight] in it", "[mapping]", "0 T 0", "[feature]", "UnknownWordPenalty", "Distortion",
        "PhraseDictionaryMemory name=TM0 num-features=2", "KENLM name=LM0 tuneable=false path=lm", "[weight]",
        "UnknownWordPenalty0= 1", "Distortion0= 0.3", "", "TM0= 0.2 -1e-1  # of phrases", "LM0 = 0.5",
        "[search-algorithm]", "1",
    ]  # fmt: skip

    def test_a_moses_ini_survives_writing(self, write) -> None:
        read = read_parameters(write("moses.ini", self.MOSES_INI))
        assert read.names == ("UnknownWordPenalty0", "Distortion0", "TM0_0", "TM0_1", "LM0")
        assert read.weights.tolist() == [1, 0.3, 0.2, -0.1, 0.5]
        assert [item.tuned for item in read.items] == [False, True, True, True, False]
        written = read.with_weights(np.array([1, 1 / 3, -2, 5e-324, 0.5])).lines()
        expected = dict(enumerate(self.MOSES_INI))
        expected |= {
            9: "UnknownWordPenalty0= 1.0",
            10: f"Distortion0= {1 / 3!r}",
            12: "TM0= -2.0 5e-324",
            13: "LM0 = 0.5",
        }
        assert written == list(expected.values())
        assert read_parameters(write("again.ini", written)).weights.tolist() == [1, 1 / 3, -2, 5e-324, 0.5]

    @pytest.mark.parametrize(
        ("lines", "message"),
        [
            (["[weight]"], r"has no weights under \[weight\]"),
            (["[weight]", "LM0"], "line 2: 'LM0' is not a number"),
            (["[weight]", "0.5"], "line 2: must be NAME= VALUE"),
            (["[weight]", "LM0= inf"], "line 2: must be NAME= VALUE"),
            (["[weight]", "LM0= 1", "LM0= 2"], "line 3: must be NAME= VALUE"),
        ],
    )
    def test_wrong_weights_of_moses_are_refused(self, write, lines, message: str) -> None:
        with pytest.raises(InputError, match=message):
            read_parameters(write("moses.ini", lines))

    def test_tune_reads_and_writes_moses_ini(self, write, tesla, tmp_path) -> None:
        reference = write("ref", ["the cat sat", "a dog barked"])
        nbest = write(
            "nbest",
            [
                "0 ||| the dog ran ||| LM0= -1 TM0= -1 -2 ||| 0", "0 ||| the cat sat ||| LM0= -3 TM0= -2 -1 ||| 0",
                "1 ||| a dog barked ||| LM0= -3 TM0= -2 -1 ||| 0", "1 ||| a cow ||| LM0= -1 TM0= -1 -2 ||| 0",
            ],
        )  # fmt: skip
        ini = write(
            "moses.ini", ["[feature]", "KENLM name=LM0", "[weight]", "LM0= 1", "TM0= 0.5 0.5", "[end]", "x"]
        )
        tuned = tmp_path / "tuned.ini"
        given = ["tune", "-m", "m", "--nbest", nbest, "-r", reference, "--params", ini]
        assert tesla(*given, "-o", str(tuned)).status == 0
        lines = tuned.read_text().splitlines()
        assert lines[:3] + lines[5:] == ["[feature]", "KENLM name=LM0", "[weight]", "[end]", "x"]
        assert lines[3].startswith("LM0= ") and len(lines[4].split()) == 3
        chosen = tesla("rerank", "--nbest", nbest, "--params", str(tuned)).out.splitlines()
        assert chosen == ["the cat sat", "a dog barked"]
        assert tesla(*given, "--output-format", "plain", "-o", "-").out.splitlines()[1].startswith("TM0_0 ")
        plain = write("weights", ["LM0 1", "TM0_0 1", "TM0_1 1"])
        wrong = tesla(*given[:-1], plain, "--output-format", "moses", "-o", "-")
        assert wrong.status == 2 and "needs --params moses.ini" in wrong.err

    def test_plain_weights_survive_writing(self, write) -> None:
        weights = {"lm": 0.1, "tm=x": -1 / 3}
        written = Parameters.named(list(weights)).with_weights(np.array(list(weights.values()))).lines()
        read = read_parameters(write("w", written))
        assert dict(zip(read.names, read.weights.tolist(), strict=True)) == weights

    @pytest.mark.parametrize(
        ("rule", "expected"),
        [
            ("none", [3, -4]),
            ("LNorm 1 1", [3 / 7, -4 / 7]),
            ("absval 1 b", [0.75, -1]),
            ("maxabsval 2", [1.5, -2]),
        ],
    )
    def test_normalisation(self, write, rule: str, expected) -> None:
        parameters = read_parameters(write("p", ["a 3", "b -4", f"normalization = {rule}"]))
        assert parameters.normalised(parameters.weights) == pytest.approx(expected)

    @pytest.mark.parametrize(
        ("lines", "message"),
        [
            ([], "has no parameters"),
            (["lm"], "line 1: must be NAME VALUE"),
            (["lm x"], "line 1: 'x' is not a number"),
            (["lm 1", "lm 2"], "line 2: a second value for 'lm'"),
            (["lm ||| 1 Opt -Inf"], "line 1: must be NAME"),
            (["lm ||| 1 Opt 2 1 0 1"], "line 1: needs a finite value"),
            (["lm 1", "normalization = absval 1 tm"], "names 'tm', which is no parameter"),
            (["lm 1", "normalization = cosine"], "line 2: normalization must be"),
        ],
    )
    def test_errors(self, write, lines, message: str) -> None:
        with pytest.raises(InputError, match=message):
            read_parameters(write("p", lines))

    def test_weights_of_zero_stay(self) -> None:
        parameters = Parameters(Parameters.named(["a"]).items, "LNorm 2 1")
        assert parameters.normalised(np.zeros(1)).tolist() == [0.0]
