"""One way to say a thing: options of one metric in `-m`, help in sections, and only the metric that is used is made."""

from __future__ import annotations

import json

import click
import pytest

from tesla_eval.base.errors import UsageError
from tesla_eval.cli import tesla as all_commands
from tesla_eval.cli.explain import explain
from tesla_eval.cli.meta import meta
from tesla_eval.cli.score import score
from tesla_eval.cli.shared.command import _SECTION_OF
from tesla_eval.metrics import create_metric
from tesla_eval.metrics.requests import parse_requests
from tesla_eval.serving.protocols import JsonLines
from tesla_eval_papers.tuning.zmert import ZMert

TEXTS = ["The cat sat on the mat.", "A storm hit Spain."]
MOST_OPTIONS = 23  # of `tesla score`, --help among them, without those of gates and missing values
LATER = ("--junit", "--missing")


@pytest.fixture
def files(write):
    return write("ref.txt", TEXTS), write("sys.txt", ["The cats sat on a mat.", "Spain was hit by a storm."])


HABITS = [
    ("score -r REF SYS --tok intl", "tesla score -r REF SYS -m bleu:tok=intl"),
    ("score -r REF SYS -m m,bleu -tok 13a -lc", "tesla score -r REF SYS -m m -m bleu:tok=13a,lc=yes"),
    ("score -r REF SYS --tokenize=zh -m bleu", "tesla score -r REF SYS -m bleu:tok=zh"),
    ("score -r REF SYS -w 4", "tesla score -r REF SYS --json"),
    ("score -r REF SYS -b -w 4", "tesla score -r REF SYS --json"),
    ("score -r REF SYS -f latex", "tesla score -r REF SYS --format latex"),
    ("score -r REF SYS --confidence", "tesla score -r REF SYS --ci"),
    ("score -r REF SYS --confidence --confidence-n 500", "tesla score -r REF SYS --ci --resamples 500"),
    ("score -r REF SYS REF --paired-bs --paired-bs-n 500", "tesla compare -r REF SYS REF --resamples 500"),
    ("compare -r REF SYS REF --paired-ar", "tesla compare -r REF SYS REF"),
    ("score --refs REF --hyp SYS", "tesla score -r REF SYS"),
    ("score --refs REF REF --hyp SYS", "tesla score -r REF -r REF SYS"),
    ("score --refs REF SYS", "tesla score -r REF SYS"),
    ("score -r REF SYS --sentence-level", "tesla score -r REF SYS --segments"),
    ("score -r REF -i SYS -sl", "tesla score -r REF -i SYS --segments"),
    ("compare -r REF SYS -sl", "tesla score -r REF SYS --segments"),
    ("score -r REF SYS --threads 2", "tesla score -r REF SYS -j 2"),
    ("report -r REF SYS --threads=2", "tesla report -r REF SYS -j 2"),
    ("score -s SRC -t SYS -r REF --gpus 0 --quiet", "tesla score -s SRC -t SYS -r REF --quiet"),
    ("score -t SYS -r REF --batch_size 8 --num_workers 2", "tesla score -t SYS -r REF -j 2"),
    ("score -t SYS -r REF --model Unbabel/wmt22", "tesla score -t SYS -r REF -m comet:model=Unbabel/wmt22"),
]


@pytest.mark.parametrize(("typed", "here"), HABITS)
def test_options_of_sacrebleu_and_comet_are_answered_by_the_command_to_type(
    tesla, files, typed, here
) -> None:
    ref, system = files
    names = {"REF": ref, "SYS": system, "SRC": ref}
    command, *arguments = (names.get(word, word) for word in typed.split())
    outcome = tesla(command, "-l", "en", *arguments)
    assert (outcome.status, outcome.out) == (2, "")
    error, hint = outcome.err.splitlines()
    assert error.startswith(f"error: tesla {typed.split()[0]} has no option -")
    expected = [names.get(word, word) for word in here.replace(" -", " -l en -", 1).split()]
    assert hint == f"hint: type {' '.join(expected)}"
    if "comet" not in here and "report" not in here:
        assert tesla(*expected[1:]).status == 0


def test_options_of_comet_score_that_mean_the_same_here_are_taken(tesla, files) -> None:
    ref, system = files
    assert tesla("score", "-s", ref, "-t", system, "-r", ref, "--quiet", "-m", "m").status == 0


@pytest.mark.parametrize("option", ["--dresses", "--reads", "--gates", "--kep-all"])
def test_an_unknown_option_suggests_none_that_is_far_from_it(tesla, option) -> None:
    assert "Did you mean" not in tesla("score", option, "1").err
    assert "Did you mean '--segments'?" in tesla("score", "--segment").err


def test_commands_keep_options_that_are_their_own(tesla) -> None:
    assert "--synonyms" in tesla("train", "language", "--help").out
    assert "--lm" in tesla("train", "f", "--help").out
    assert "No such option" in tesla("score", "--synonym", "x").err


@pytest.mark.parametrize(
    ("text", "option", "value"),
    [
        (r"x:weights=C:\models\own.json", "weights", r"C:\models\own.json"),
        ("m:synonyms=2026-01-01T12:30.tsv", "synonyms", "2026-01-01T12:30.tsv"),
        (r"m:synonyms=a\,b.tsv,alpha=0.5", "synonyms", "a,b.tsv"),
        ("m:synonyms=a=b.tsv", "synonyms", "a=b.tsv"),
    ],
)
def test_values_hold_colons_and_escaped_commas(text: str, option: str, value: str) -> None:
    (request,) = parse_requests([text])
    assert request.options[option] == value


def test_synonyms_in_a_file_whose_name_has_commas_and_colons(tesla, write, files) -> None:
    own = write("my,own:12.tsv", ["cat\tmat"])
    outcome = tesla("score", "-r", *files, "-m", f"m:synonyms={own.replace(chr(44), chr(92) + chr(44))}")
    assert outcome.status == 0, outcome.err


def test_the_segmenter_and_an_own_analyser_exclude_each_other() -> None:
    with pytest.raises(UsageError, match="do not give a segmenter as well"):
        create_metric("m", "ja", segmenter="fugashi", analyser=object())
    with pytest.raises(UsageError, match="metric tesla-celab has no option 'segmenter'"):
        create_metric("celab", "ja", segmenter="fugashi")


def test_score_has_few_options_in_sections(tesla) -> None:
    shown = tesla("score", "--help").out
    titles = [line for line in shown.splitlines() if line.endswith(":") and line[:1].isalpha()]
    assert titles == ["Input:", "Metrics:", "Output:", "Statistics:", "Large data:", "Other:"]
    options = [
        line for line in shown.splitlines() if line.startswith("  -") and not line.strip().startswith(LATER)
    ]
    assert len(options) <= MOST_OPTIONS
    assert r"write \, for a comma" in " ".join(shown.split())


@pytest.mark.parametrize("command", [score, explain, meta])
def test_few_options_have_no_section(command: click.Command) -> None:
    with click.Context(command) as context:
        other = command.get_help(context).partition("\nOther:")[2]
    assert len([line for line in other.splitlines() if line.startswith("  -")]) <= 2


def parameters_of(command: click.Command) -> set[str]:
    """The parameters of a command, or of all commands of a group."""
    if not isinstance(command, click.Group):
        return {str(parameter.name) for parameter in command.params}
    context = click.Context(command)
    commands = (command.get_command(context, name) for name in command.list_commands(context))
    return set().union(*(parameters_of(one) for one in commands if one is not None))


def test_sections_hold_options_that_exist() -> None:
    assert _SECTION_OF.keys() - parameters_of(all_commands) == set()


def test_json_is_short_for_a_format(tesla, files) -> None:
    asked = ("score", "-r", *files, "-m", "m")
    assert tesla(*asked, "--json").out == tesla(*asked, "--format", "json").out != tesla(*asked).out


@pytest.fixture
def damaged(monkeypatch, tmp_path):
    """TESLA-X's weights cannot be read."""
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "weights-x-en.json").write_text("{", "utf-8")
    monkeypatch.setenv("TESLA_EVAL_DATA", str(folder))


@pytest.mark.usefixtures("damaged")
def test_a_default_of_one_metric_makes_no_other(tesla, write, files, tmp_path) -> None:
    ref, system = files
    assert "weights-x-en.json" in tesla("score", "-r", ref, system).err
    nbest = write("n.txt", [f"{k} ||| {text} ||| a= {k} ||| 0" for k, text in enumerate(TEXTS)])
    weights = str(tmp_path / "weights.txt")
    for arguments in (
        ("explain", "The cats sat.", "The cat sat."),
        ("mbr", nbest),
        ("rerank", "-r", ref, system),
        ("tune", "--nbest", nbest, "-r", ref, "-o", weights),
        ("score", "-r", ref, system, "--format", "mtme"),
    ):
        outcome = tesla(*arguments)
        assert outcome.status == 0, outcome.err


def test_an_aggregate_needs_no_metric(tesla, write, monkeypatch) -> None:
    monkeypatch.setattr("tesla_eval.cli.mbr.choose_metric", None)
    nbest = write("n.jsonl", [json.dumps({"id": 0, "candidates": ["a cat sat", "a cat", "dogs"]})])
    outcome = tesla("mbr", "--aggregate", nbest, "--format", "json")
    assert json.loads(outcome.out)["best"] == 0
    assert outcome.err == ""


class TestServe:
    def test_the_first_references_decide_about_the_language(self) -> None:
        asked = []

        def make(texts):
            asked.append(list(texts))
            return create_metric("m", "en")

        protocol = JsonLines(make)
        line = json.dumps({"hyp": "a cat", "refs": ["a cat", "a cat"]})
        first = protocol.answer([line, "nonsense", line])
        assert [json.loads(answer).get("score") for answer in first.splitlines()] == [1.0, None, 1.0]
        protocol.answer([line])
        assert asked == [["a cat"] * 4]

    def test_a_language_that_cannot_be_told_is_answered(self) -> None:
        def make(texts):
            raise UsageError("cannot tell the language")

        answer = json.loads(JsonLines(make).answer([json.dumps({"hyp": "a", "refs": ["a"]})]))
        assert answer["error"] == "line 1: cannot tell the language"
        assert ZMert(make).answer(["REFS 1 1", "a"]) == "ERROR line 2: cannot tell the language\n"

    def test_z_mert_gets_no_metric_where_lower_is_better(self) -> None:
        answer = ZMert(lambda texts: create_metric("ter", "en")).answer(["REFS 1 1", "a"])
        assert answer.startswith("ERROR line 2: ter: lower is better")
