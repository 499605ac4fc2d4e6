"""Stress tests of metrics (specification §18)."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from tesla_eval import create_metric
from tesla_eval.base.errors import InputError, UsageError
from tesla_eval.cli import tesla
from tesla_eval.language.analysis.languages import LANGUAGES
from tesla_eval.metrics.scoring import NamedMetric
from tesla_eval.stress import DEGENERATE, HARMFUL, HARMLESS, Case, Kind, stress
from tesla_eval.stress.kinds import all_kinds, choose_kinds
from tesla_eval.stress.run import StressResult, damage
from tesla_eval.stress.words import analysed_words

REFERENCES = [
    "In 2019 the happy president visited Berlin, but she did not meet Angela Merkel. It was raining.",
    "The old man reads a big book about 17 cats.",
    "John likes the small house in Paris.",
]
OUTPUTS = {
    "a": [
        "In 2019 the glad president went to Berlin, but she did not see Merkel.",
        "An old man reads 17 books.",
        "John likes a house.",
    ],
    "b": [
        "The president was 2019 in Berlin.",
        "The man reads a large book of 17 cats.",
        "John loves Paris and its house.",
    ],
}
SOURCES = ["Quelle eins", "Quelle zwei", "Quelle drei"]


def texts_of(kind: str, texts: list[str], language: str = "en") -> list[str]:
    return [one.text for one in damage(texts, language, kinds=choose_kinds([kind]))[0]]


def run(metrics: str = "chrf++", kinds: list[Kind] | None = None, seed: int = 1) -> StressResult:
    named = [NamedMetric(name, create_metric(name, "en")) for name in metrics.split(",")]
    return stress(named, [REFERENCES], "en", OUTPUTS, SOURCES, kinds=kinds, seed=seed)


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        ("half", "one two three four.", "one two"),
        ("doubled", "One two.", "One two. One two."),
        ("words-doubled", "One, two.", "One One, two two."),
        ("negation", "He can swim.", "He can not swim."),
        ("negation", "He can't swim.", "He can swim."),
        ("negation", "She reads books.", "She does not read books."),
        ("tense", "He was late.", "He is late."),
        ("punctuation", "One two.", "One two"),
        ("case", "One two.", "one two."),
        ("tokenised", "Wait, what?", "Wait , what ?"),
        ("noun-dropped", "They saw cats.", "They saw."),
        ("one-sentence", "It rains. We wait.", "It rains."),
        ("sentences-shuffled", "It rains. We wait.", "We wait. It rains."),
        ("sentence-repeated", "It rains. We wait.", "It rains. We wait. We wait."),
        ("all-negated", "He can swim. She reads books.", "He can not swim. She does not read books."),
    ],
)
def test_what_a_kind_makes(kind: str, text: str, expected: str) -> None:
    assert texts_of(kind, [text, "something else"])[0] == expected


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("de", "Er hat einen Hund.", "Er hat nicht einen Hund."),
        ("es", "El presidente visitó la escuela.", "El presidente no visitó la escuela."),
        ("fr", "Le président a visité Paris.", "Le président n'a pas visité Paris."),
        ("cs", "Prezident včera navštívil školu.", "Prezident včera nenavštívil školu."),
        ("zh", "他喜欢猫。", "他不喜欢猫。"),
    ],
)
def test_negations_of_other_languages(language: str, text: str, expected: str) -> None:
    assert texts_of("negation", [text], language) == [expected]


def test_a_changed_number_keeps_its_length() -> None:
    for seed in range(20):
        (one,) = damage(["10 of 204"], "en", kinds=choose_kinds(["number"]), seed=seed)[0]
        first, last = one.text.split(" of ")
        assert (len(first), len(last)) == (2, 3) and first[0] != "0" and last[0] != "0"
        assert sum(x != y for x, y in zip(one.text, "10 of 204", strict=True)) == 1


def test_parts_of_a_compound_are_one_word() -> None:
    (text,) = analysed_words(["Der Aktionsplan gilt."], "de")
    assert [word.surface for word in text.words] == ["Der", "Aktionsplan", "gilt"]


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_kinds_of_tokens_alone_work_in_every_language(language: str) -> None:
    """Texts of other scripts are cut into few words, but something can be made of them."""
    kinds = choose_kinds(
        ["empty", "doubled", "words-doubled", "another-text", "sentence-added", "number", "punctuation"]
    )
    texts, left_out = damage(["Alpha beta 12 gamma.", "Delta 34 epsilon zeta."], language, kinds=kinds)
    assert not left_out
    assert {one.kind.name for one in texts} == {kind.name for kind in kinds}


def test_texts_depend_on_the_seed_and_on_nothing_else() -> None:
    alone = texts_of("words-shuffled", REFERENCES)
    among = [one.text for one in damage(REFERENCES, "en")[0] if one.kind.name == "words-shuffled"]
    other = [one.text for one in damage(REFERENCES, "en", kinds=choose_kinds(["words-shuffled"]), seed=2)[0]]
    assert alone == among != other


def test_edits_are_made_from_outputs_in_turn() -> None:
    kinds = choose_kinds(["word-repeated", "doubled"])
    texts, _ = damage(REFERENCES, "en", list(OUTPUTS.values()), kinds=kinds)
    assert [(one.segment, one.made_from) for one in texts if one.kind.family == HARMFUL] == [
        (0, 0),
        (1, 1),
        (2, 0),
    ]
    assert {one.made_from for one in texts if one.kind.family == DEGENERATE} == {-1}


def test_what_cannot_be_made_is_named() -> None:
    _, left_out = damage(["Ein Hund bellt."], "de")
    assert left_out["source-copied"] == "there are no sources"
    assert left_out["antonym"] == "de has no antonyms"
    assert left_out["another-text"] == "no text allows it"


def test_shares() -> None:
    """A metric that counts letters is fooled by everything that is longer, and by nothing that is shorter."""

    class Longer(type(create_metric("chrf", "en"))):  # type: ignore[misc]
        def score_segments(self, hypotheses, references):  # type: ignore[no-untyped-def]
            scored = super().score_segments(hypotheses, references)
            scored.scores[:] = [len(text) for text in hypotheses]
            return scored

    kinds = choose_kinds(["empty", "doubled", "word-repeated", "noun-dropped", "punctuation"])
    result = stress([NamedMetric("length", Longer("en"))], [REFERENCES], "en", OUTPUTS, kinds=kinds)
    rows = {row.kind: row for row in result.rows}
    assert [rows[kind].fooled for kind in ("empty", "doubled", "word-repeated", "noun-dropped")] == [
        0,
        1,
        1,
        0,
    ]
    assert (rows["word-repeated"].above_harmless, rows["noun-dropped"].above_harmless) == (1, 0)
    assert rows["punctuation"].fooled is None and rows["punctuation"].drop == 1
    differences = sorted(abs(len(x) - len(y)) for x, y in zip(*OUTPUTS.values(), strict=True))
    assert result.typical_differences["length"] == differences[1]
    assert rows["punctuation"].relative_drop == 1 / differences[1]


def test_a_metric_where_lower_is_better_is_turned() -> None:
    rows = {
        (row.metric, row.kind): row for row in run("ter,chrf++", choose_kinds(["empty", "punctuation"])).rows
    }
    assert rows["ter", "empty"].fooled == rows["chrf++", "empty"].fooled == 0
    assert rows["ter", "empty"].drop > 0


def test_own_kinds() -> None:
    def shouted(case: Case) -> str | None:
        return case.text.upper()

    result = run(kinds=[Kind("shouted", HARMLESS, shouted)])
    assert [row.kind for row in result.rows] == ["shouted"]
    assert result.texts[0].text == OUTPUTS["a"][0].upper()


def test_unknown_kinds_and_empty_references_are_refused() -> None:
    with pytest.raises(UsageError, match="unknown kind 'sarcasm'"):
        choose_kinds(["sarcasm"])
    with pytest.raises(InputError, match="empty"):
        stress([], [[""]], "en")


def test_every_family_has_kinds_enough() -> None:
    families = [kind.family for kind in all_kinds().values()]
    assert len(families) >= 25 and {DEGENERATE, HARMFUL, HARMLESS} == set(families)


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    for name, texts in {"ref": REFERENCES, "src": SOURCES, **OUTPUTS}.items():
        (tmp_path / name).write_text("\n".join(texts) + "\n", encoding="utf-8")
    return [str(tmp_path / name) for name in ("ref", "src", "a", "b")]


def test_command(files: list[str], tmp_path: Path) -> None:
    reference, source, *systems = files
    table = tmp_path / "damaged.tsv"
    arguments = ["stress", "-r", reference, "-s", source, *systems, "-m", "x,chrf++", "--texts", str(table)]
    result = CliRunner().invoke(tesla, [*arguments, "--json"], catch_exceptions=False)
    plain = json.loads(result.stdout)
    assert plain["systems"] == systems and plain["segments"] == 3 and plain["seed"] == 1
    assert {row["metric"] for row in plain["rows"]} == {"tesla-x", "chrf++"} == set(plain["signatures"])
    lines = table.read_text("utf-8").splitlines()
    assert lines[0] == "segment\tkind\tmade_from\ttext"
    assert f"1\tsource-copied\treference\t{SOURCES[0]}" in lines
    shown = CliRunner().invoke(tesla, arguments, catch_exceptions=False).stdout
    assert "share above the real outputs" in shown and "doubled" in shown and "metric:tesla-x|" in shown


def test_command_without_systems(files: list[str]) -> None:
    shown = CliRunner().invoke(
        tesla,
        ["stress", "-r", files[0], "-m", "chrf++", "--kinds", "doubled,number,punctuation"],
        catch_exceptions=False,
    )
    assert "share above harmless edits of the reference" in shown.stdout
    assert "half" not in shown.stdout
