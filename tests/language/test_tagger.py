"""The tagger: learns what it is shown, the same to the bit each time, and no damaged model can crash it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tesla_eval._core import Tagger
from tesla_eval.base.errors import BuildError, InputError, ResourceError
from tesla_eval.base.resources import Resource, from_byte_planes, installed_resources, write_resource
from tesla_eval.language.analysis.conllu import Word, parse_conllu
from tesla_eval.language.analysis.tags import WIDE_ARRAYS, Label, TaggerModel, load_tagger, read_tagger
from tesla_eval.training.taggers import (
    WORD_START,
    TaggerData,
    TaggerSettings,
    build_tagger,
    choose_labels,
    evaluate,
    lexicon_classes,
    read_lexicon,
    read_treebanks,
    suffix_rules,
    train_tagger,
)
from tests.fixtures import SHIPPED_DATA

TREEBANKS = Path(__file__).resolve().parents[3] / "shared" / "data" / "ud"
TREEBANK_TESTS = sorted(TREEBANKS.glob("*/test.conllu.gz"))
needs_treebanks = pytest.mark.skipif(not TREEBANKS.exists(), reason="the treebanks are not here")


def tagged(text: str) -> list[Word]:
    """Words from `form/UPOS` or `form/UPOS/XPOS`."""
    parts = (item.split("/") for item in text.split())
    return [Word(form, form.lower(), upos, xpos[0] if xpos else "_") for form, upos, *xpos in parts]


TOY = [
    tagged("the/DET/DT cat/NOUN/NN sleeps/VERB/VBZ ./PUNCT/."),
    tagged("a/DET/DT dog/NOUN/NN barks/VERB/VBZ ./PUNCT/."),
    tagged("the/DET/DT dogs/NOUN/NNS sleep/VERB/VBP ./PUNCT/."),
    tagged("they/PRON/PRP sleep/VERB/VBP quietly/ADV/RB ./PUNCT/."),
    tagged("they/PRON/PRP bark/VERB/VBP loudly/ADV/RB ./PUNCT/."),
    tagged("they/PRON/PRP run/VERB/VBP slowly/ADV/RB ./PUNCT/."),
    tagged("the/DET/DT run/NOUN/NN slowly/ADV/RB ends/VERB/VBZ ./PUNCT/."),
] * 3
SMALL = TaggerSettings(fine_tags=True, min_label_count=1, min_weight=1)


@pytest.fixture(scope="module")
def toy() -> Resource:
    return train_tagger(TOY, "xx", settings=SMALL)


@pytest.fixture(scope="module")
def toy_tagger(toy: Resource) -> TaggerModel:
    return TaggerModel.from_resource(toy)


def test_it_learns_its_training_data(toy_tagger: TaggerModel) -> None:
    accuracy = evaluate(toy_tagger, TOY)
    assert (accuracy.words, accuracy.universal, accuracy.fine) == (sum(map(len, TOY)), 100, 100)


def test_context_decides_between_noun_and_verb(toy_tagger: TaggerModel) -> None:
    assert toy_tagger.tag(["the", "run", "."])[1] == Label("NN", "NOUN")
    assert toy_tagger.tag(["they", "run", "."])[1] == Label("VBP", "VERB")


def test_suffixes_carry_over_to_words_never_seen(toy_tagger: TaggerModel) -> None:
    assert toy_tagger.tag(["they", "sleep", "gladly", "."])[2].universal == "ADV"


def test_an_empty_text_has_no_tags(toy_tagger: TaggerModel) -> None:
    assert toy_tagger.tag([]) == []


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=40), max_size=12))
def test_any_text_gets_one_label_a_word(toy_tagger: TaggerModel, forms: list[str]) -> None:
    labels = toy_tagger.tag(forms)
    assert len(labels) == len(forms)
    assert set(labels) <= set(toy_tagger.labels)


def test_training_is_the_same_to_the_bit(toy: Resource) -> None:
    again = train_tagger(TOY, "xx", settings=SMALL)
    assert all(np.array_equal(toy.arrays[name], again.arrays[name]) for name in toy.arrays)


def test_the_order_of_epochs_depends_on_the_seed(toy: Resource) -> None:
    other = train_tagger(TOY, "xx", settings=replace(SMALL, seed=99))
    assert any(not np.array_equal(toy.arrays[name], other.arrays[name]) for name in toy.arrays)


def test_words_without_a_fine_tag_teach_their_universal_tag() -> None:
    partly = [*TOY, *[tagged("they/PRON snore/VERB ./PUNCT")] * 3]
    model = TaggerModel.from_resource(train_tagger(partly, "xx", settings=SMALL))
    assert model.tag(["they", "snore", "."])[1].universal == "VERB"
    assert all(label.fine != "_" for label in model.labels)


def test_rare_pairs_of_tags_are_no_labels_but_every_universal_tag_keeps_one() -> None:
    labels = choose_labels(
        [*TOY, tagged("ach/INTJ/UH oh/X/FW Dogs/NOUN/NNPS")], replace(SMALL, min_label_count=4)
    )
    assert Label("UH", "INTJ") in labels
    assert Label("FW", "X") in labels
    assert Label("NNPS", "NOUN") not in labels
    assert Label("NNS", "NOUN") not in labels  # three times only


def test_without_fine_tags_the_fine_tag_is_the_universal_one() -> None:
    model = TaggerModel.from_resource(train_tagger(TOY, "xx"))
    assert {label.fine for label in model.labels} == {"DET", "NOUN", "VERB", "PRON", "ADV", "PUNCT"}
    assert not model.has_fine_tags
    assert evaluate(model, TOY).fine is None


@pytest.mark.parametrize(
    ("sentences", "complaint"),
    [
        ([], "no words"),
        ([tagged("word/_")], "without a universal tag"),
        ([tagged(" ".join(f"w{i}/X/T{i}" for i in range(65)))], "65 pairs"),
    ],
)
def test_data_from_which_nothing_can_be_learned_is_refused(
    sentences: list[list[Word]], complaint: str
) -> None:
    with pytest.raises(BuildError, match=complaint):
        train_tagger(sentences, "xx", settings=SMALL)


# The lexicon


def test_a_lexicon_helps_with_words_never_seen() -> None:
    entries = [
        ("dog", "N"),
        ("cat", "N"),
        ("sleeps", "V"),
        ("barks", "V"),
        ("ends", "V"),
        ("ox", "N"),
        ("errs", "V"),
    ]
    sentences = [
        tagged(f"{noun}/NOUN {verb}/VERB") for noun in ("dog", "cat") for verb in ("sleeps", "barks", "ends")
    ]
    sentences += [tagged("sleeps/VERB dog/NOUN"), tagged("barks/VERB cat/NOUN")] * 3
    model = TaggerModel.from_resource(train_tagger(sentences * 2, "xx", lexicon=lexicon_classes(entries)))
    assert [label.universal for label in model.tag(["errs", "ox"])] == ["VERB", "NOUN"]


def longest_suffix(rules: Mapping[str, str], form: str) -> str | None:
    whole = WORD_START + form
    return next((rules[whole[i:]] for i in range(len(whole) + 1) if whole[i:] in rules), None)


@given(st.dictionaries(st.text("abcß漢", min_size=1, max_size=6), st.sampled_from("NVA"), max_size=60))
def test_suffix_rules_give_every_form_its_class(classes: dict[str, str]) -> None:
    rules = suffix_rules(classes)
    assert all(longest_suffix(rules, form) == name for form, name in classes.items())
    assert len(rules) <= max(1, len(classes))


@pytest.mark.parametrize("line", ["form\tlemma", "form lemma tag", "\tlemma\ttag", "a\tb\tc\td"])
def test_a_lexicon_line_that_is_not_three_columns_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "words.tsv"
    path.write_text(f"dog\tdog\tN\n{line}\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"words\.tsv, line 2"):
        read_lexicon(path)


# The file


def test_a_written_model_tags_as_before(toy: Resource, toy_tagger: TaggerModel, tmp_path: Path) -> None:
    path = tmp_path / "tagger-xx.tesla"
    write_resource(path, toy)
    model = read_tagger(path)
    assert (model.language, model.labels) == ("xx", toy_tagger.labels)
    assert all(model.tag([w.form for w in s]) == toy_tagger.tag([w.form for w in s]) for s in TOY)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"analysis": "features-0"}, "another version"),
        ({"arrays": {}}, "is not a valid tagger"),
        ({"arrays": {"labels": np.frombuffer(b"NN\tNOUNS\n", np.uint8)}}, "not a universal tag"),
        ({"arrays": {"labels": np.frombuffer(b"NN\n", np.uint8)}}, "is not a valid tagger"),
    ],
)
def test_a_model_that_does_not_fit_is_refused(toy: Resource, change: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ResourceError, match=complaint):
        TaggerModel.from_resource(replace(toy, **change))


def unpacked(resource: Resource) -> dict[str, npt.NDArray[Any]]:
    """Copies of the arrays as the core takes them."""
    return {
        name: from_byte_planes(array) if name in WIDE_ARRAYS else array.copy()
        for name, array in resource.arrays.items()
        if name != "labels"
    }


ARRAYS = ("feature_deltas", "row_lengths", "row_labels", "row_weights", "suffix_deltas", "suffix_classes")


@settings(max_examples=200)
@given(st.data())
def test_damaged_arrays_raise_or_tag_but_never_crash(toy: Resource, data: st.DataObject) -> None:
    arrays = unpacked(toy)
    labels = data.draw(st.sampled_from([len(toy.text("labels").splitlines()), 0, 1, 64, 65, 1 << 40]))
    for name in data.draw(st.sets(st.sampled_from(ARRAYS), max_size=2)):
        array = arrays[name]
        if data.draw(st.booleans()):
            arrays[name] = array[: data.draw(st.integers(0, len(array)))]
        elif len(array):
            limits = np.iinfo(array.dtype)
            array[data.draw(st.integers(0, len(array) - 1))] = data.draw(st.integers(limits.min, limits.max))
    try:
        tagger = Tagger(labels, **arrays)
    except ValueError:
        return
    assert all(number < labels for sentence in TOY for number in tagger.tag([word.form for word in sentence]))


@pytest.mark.parametrize("again", ["twice", "descending"])
def test_rows_whose_labels_do_not_ascend_are_refused(toy: Resource, again: str) -> None:
    arrays = unpacked(toy)
    labels, lengths = arrays["row_labels"], arrays["row_lengths"]
    start = int(lengths[: np.flatnonzero(lengths >= 2)[0]].sum())
    first, second = int(labels[start]), int(labels[start + 1])
    labels[start : start + 2] = (first, first) if again == "twice" else (second, first)
    with pytest.raises(ValueError, match="labels of one of the tagger's rows do not ascend"):
        Tagger(len(toy.text("labels").splitlines()), **arrays)


def test_a_language_without_a_model_has_no_tagger() -> None:
    assert load_tagger("qqq") is None


# Building from files

FRENCH = """# source = a treebank
1\tIl\til\tPRON\t_\t_\t_\t_\t_\t_
2\tparle\tparler\tVERB\t_\t_\t_\t_\t_\t_
3-4\tdu\t_\t_\t_\t_\t_\t_\t_\t_
3\tde\tde\tADP\t_\t_\t_\t_\t_\t_
4\tle\tle\tDET\t_\t_\t_\t_\t_\t_
5\tchat\tchat\tNOUN\t_\t_\t_\t_\t_\t_

"""


@pytest.mark.parametrize(
    ("view", "learned"), [("words", ["de", "le"]), ("surface", ["du"]), ("both", ["de", "le", "du"])]
)
def test_words_surface_tokens_or_both_are_learned(view: Any, learned: list[str]) -> None:
    treebank = list(parse_conllu(FRENCH)) * 4
    resource = build_tagger(TaggerData(treebank, test=treebank), "fr", view=view)
    model = TaggerModel.from_resource(resource)
    expected = {"de": "ADP", "le": "DET", "du": "ADP"}
    context = {"de": ["Il", "parle", "de", "le", "chat"], "le": ["Il", "parle", "de", "le", "chat"],
               "du": ["Il", "parle", "du", "chat"]}  # fmt: skip
    for form in learned:
        forms = context[form]
        assert model.tag(forms)[forms.index(form)].universal == expected[form]
    assert resource.provenance.sources == ("a treebank (20 words)",)
    figures = resource.info["accuracy"]["test"]
    assert (figures["tokens"], figures["surface"]["tokens"]) == (20, 16)


def test_the_command_builds_a_model_that_can_be_read(tesla: Any, write: Any, tmp_path: Path) -> None:
    train = write("train.conllu", (FRENCH * 4).encode())
    lexicon = write("words.tsv", ["chat\tchat\tNOUN", "parle\tparler\tVERB"])
    output = tmp_path / "tagger-fr.tesla"
    arguments = ("--train", train, "--dev", train, "--test", train, "--lexicon", lexicon, "-l", "fr",
                 "--licence", "CC0", "--date", "2025-01-01", "-o", str(output))  # fmt: skip
    outcome = tesla("train", "tagger", *arguments)
    assert (outcome.status, outcome.err) == (0, "")
    assert "test: UPOS 100.0 % of 20 words" in outcome.out
    model = read_tagger(output)
    assert (model.resource.provenance.licence, model.resource.provenance.date) == ("CC0", "2025-01-01")
    first = output.read_bytes()
    assert tesla("train", "tagger", *arguments).status == 0
    assert output.read_bytes() == first


@pytest.mark.parametrize("arguments", [("-l", "../x"), ("-l", "fr", "--epochs", "0")])
def test_the_command_refuses_what_makes_no_sense(
    tesla: Any, write: Any, tmp_path: Path, arguments: Any
) -> None:
    train = write("train.conllu", FRENCH.encode())
    outcome = tesla("train", "tagger", "--train", train, "-o", str(tmp_path / "x.tesla"), *arguments)
    assert outcome.status == 2
    assert not (tmp_path / "x.tesla").exists()


# The shipped models

REQUIRED = {
    "en": 94.7,
    "de": 94.5,
    "fr": 96.5,
    "es": 93.8,
    "cs": 97.0,
    "it": 96.0,
    "pt": 96.0,
    "ru": 95.0,
    "zh": 89.0,
}
MAX_BYTES = 16_000_000


def test_english_has_penn_tags() -> None:
    english = load_tagger("en")
    assert english is not None
    labels = english.tag(["The", "cats", "did", "n't", "see", "Mr.", "Smith", "'s", "new", "house", "."])
    assert [label.fine for label in labels] == [
        "DT",
        "NNS",
        "VBD",
        "RB",
        "VB",
        "NNP",
        "NNP",
        "POS",
        "JJ",
        "NN",
        ".",
    ]


def test_shipped_models_are_small_and_say_where_they_come_from() -> None:
    paths = [path for path in installed_resources() if path.name.startswith("tagger-")]
    models = [read_tagger(path) for path in paths]
    assert len({model.language for model in models}) >= 45
    assert all(model.resource.provenance.licence and model.resource.provenance.sources for model in models)
    assert all(model.resource.info["accuracy"]["test"]["upos"] > 50 for model in models)
    assert sum(path.stat().st_size for path in paths) <= MAX_BYTES


@pytest.mark.parametrize(("language", "required"), REQUIRED.items())
def test_accuracy_on_sentences_tagged_by_hand(language: str, required: float) -> None:
    """A few dozen words each: one word is worth two points."""
    model = load_tagger(language)
    assert model is not None
    lines = (line.split("\t") for line in (SHIPPED_DATA / "tagged.tsv").read_text("utf-8").splitlines())
    sentences = [tagged(text) for code, text in lines if code == language]
    assert sum(map(len, sentences)) > 40
    assert evaluate(model, sentences).universal >= required - 4


@needs_treebanks
@pytest.mark.parametrize(("language", "required"), REQUIRED.items())
def test_accuracy_on_gold_words(language: str, required: float) -> None:
    model = load_tagger(language)
    assert model is not None
    test = read_treebanks([TREEBANKS / language / "test.conllu.gz"])
    accuracy = evaluate(model, (sentence.words for sentence in test))
    assert accuracy.universal >= required
    assert round(accuracy.universal, 2) == model.resource.info["accuracy"]["test"]["upos"]


@needs_treebanks
@pytest.mark.slow
@pytest.mark.parametrize("path", TREEBANK_TESTS, ids=[path.parent.name for path in TREEBANK_TESTS])
def test_two_million_words_a_second(path: Path) -> None:
    model = load_tagger(path.parent.name)
    assert model is not None
    cached, _ = model.core.measure_speed(
        [[word.form for word in s.words] for s in read_treebanks([path])], 50
    )
    assert cached >= 2e6
