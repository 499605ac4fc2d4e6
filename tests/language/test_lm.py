"""Language models: the formulas of Chen & Goodman, sums of 1, equality with other toolkits, damaged files."""

from __future__ import annotations

import gzip
import math
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tesla_eval._core import NgramEstimator
from tesla_eval.base.errors import BuildError, ResourceError, UsageError
from tesla_eval.base.resources import Resource, read_resource, write_resource
from tesla_eval.language.analysis import load_pipeline
from tesla_eval.language.lm import LanguageModel, load_language_model
from tesla_eval.metrics.features.lm import LanguageModelGroup
from tesla_eval.training.language_models import (
    LanguageModelSettings,
    discounts,
    model_resource,
    train_language_model,
    write_arpa,
)
from tests.fixtures import SHARED_DATA
from tests.textbook_lm import KneserNey

SHIPPED = [
    ("en", "3gram"),
    ("en", "4gram"),
    ("de", "3gram"),
    ("fr", "3gram"),
    ("es", "3gram"),
    ("cs", "3gram"),
]

TOY = ["p", "q", "r", *["s"] * 2, *["t"] * 2, *["u"] * 3, *["v"] * 4]
"""Sentences of one word: every word is followed by the end, and the start by every word, as often as it is there."""

TEXT = [
    "The cat sat on the mat.", "The dog sat on the mat.", "A cat ran to the dog!", "Is the cat on the mat?",
    "The dog ran.", "The cat ran.", "A dog is on the mat.", "The mat is old.", "The cat is old.", "Is it old?",
]  # fmt: skip


def resource_of(
    texts: Sequence[str], *, rounded: bool = False, lang: str = "en", **settings: Any
) -> Resource:
    with train_language_model(lambda: [texts], lang, LanguageModelSettings(**settings)) as model:
        return model_resource(model, rounded=rounded)


def sentences_of(model: LanguageModel, texts: Sequence[str]) -> list[list[str]]:
    return [[word for word, _ in model.explain(text)[:-1]] for text in texts]


def test_a_corpus_worked_by_hand() -> None:
    # Bigrams: 2 · 3 are seen once, 2 · 2 twice, two three times, two four times, so Y = 6 / (6 + 2 · 4) = 3/7.
    d1, d2, d3 = 1 - 2 * (3 / 7) * 4 / 6, 2 - 3 * (3 / 7) * 2 / 4, 3 - 4 * (3 / 7) * 2 / 2
    assert (d1, d2, d3) == pytest.approx((3 / 7, 19 / 14, 9 / 7))
    with train_language_model(lambda: [TOY], "en", LanguageModelSettings(order=2, least_count=1)) as trained:
        assert trained.discounts[1] == pytest.approx((d1, d2, d3))
        # Each of seven words follows one word, and the end follows seven: no word follows two.
        assert trained.fallbacks == (1,)
        model = LanguageModel(model_resource(trained))
    # Unigrams: 7 words of count 1, the end of count 7; 9 words share what the discounts .5 and 1.5 set free.
    uniform = (7 * 0.5 + 1.5) / 14 / 9
    p_v, p_end = (1 - 0.5) / 14 + uniform, (7 - 1.5) / 14 + uniform
    after_start = dict(zip(model.words, model.distribution(["<s>"]), strict=True))
    left = (3 * d1 + 2 * d2 + 2 * d3) / 14
    assert after_start["v"] == pytest.approx((4 - d3) / 14 + left * p_v, rel=1e-6)
    assert after_start["<unk>"] == pytest.approx(left * uniform, rel=1e-6)
    after_p = dict(zip(model.words, model.distribution(["p"]), strict=True))
    assert after_p["</s>"] == pytest.approx((1 - d1) + d1 * p_end, rel=1e-6)


def test_discounts_that_make_no_sense_are_refused() -> None:
    assert discounts([0, 5, 2, 1]) is None
    assert discounts([100, 10, 2, 1000]) is None


@pytest.mark.parametrize("order", [1, 2, 3, 4, 5])
def test_probabilities_are_those_of_the_textbook(order: int) -> None:
    with train_language_model(lambda: [TEXT], "en", LanguageModelSettings(order=order)) as trained:
        model = LanguageModel(model_resource(trained))
        book = KneserNey(sentences_of(model, TEXT), order, trained.discounts)
        for n in range(1, order + 1):
            found = discounts(book.count_of_counts(n))
            assert (found is None) == (n in trained.fallbacks)
            assert found is None or found == pytest.approx(trained.discounts[n - 1])
    for text in [*TEXT, "A mat sat on it, dog!", "ran ran ran"]:
        history: tuple[str, ...] = ("<s>",)
        for word, log in model.explain(text):
            assert math.exp(log) == pytest.approx(book.probability(word, history), rel=1e-5)
            history = (*history, word)


@pytest.mark.parametrize("rounded", [False, True])
@pytest.mark.parametrize("prune", [(), (0, 0, 1), (0, 1, 1)])
@pytest.mark.parametrize("order", [2, 3, 5])
def test_every_context_sums_to_one(order: int, prune: tuple[int, ...], rounded: bool) -> None:
    model = LanguageModel(resource_of(TEXT, rounded=rounded, order=order, prune=prune[:order]))
    for sentence in sentences_of(model, TEXT):
        words = ["<s>", *sentence]
        for start in range(len(words)):
            for end in range(start + 1, len(words) + 1):
                assert abs(model.distribution(words[start:end]).sum() - 1) < 1e-6


@pytest.mark.parametrize(("language", "name"), SHIPPED)
def test_shipped_models_sum_to_one_and_know_the_order_of_words(language: str, name: str) -> None:
    model = load_language_model(language, name)
    random = np.random.default_rng(7)
    for length in (0, 1, 2, 3):
        for _ in range(5):
            context = [model.words[k] for k in random.integers(3, 300, length)]
            assert abs(model.distribution(context).sum() - 1) < 1e-6
            assert abs(model.distribution(["<s>", *context]).sum() - 1) < 1e-6
    own = {"en": "this is my house", "de": "das ist mein haus", "fr": "voici ma maison", "es": "esta es mi casa",
           "cs": "to je můj dům"}[language]  # fmt: skip
    as_written, backwards = model.normalised([own, " ".join(reversed(own.split()))])
    assert as_written > backwards + 1


def test_memory_and_runs_on_disk_change_nothing(tmp_path: Path) -> None:
    texts = [f"{a} {b} {c} {a}" for a in "abcdefgh" for b in "klmnop" for c in "uvwxyz" for _ in range(5)]
    small, large = (resource_of(texts, order=4, memory=memory) for memory in (1, 1 << 30))
    assert small.info == large.info
    for name, array in large.arrays.items():
        np.testing.assert_array_equal(array, small.arrays[name])


def test_the_same_text_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one.tesla", "two.tesla"):
        write_resource(tmp_path / name, resource_of(TEXT))
    assert (tmp_path / "one.tesla").read_bytes() == (tmp_path / "two.tesla").read_bytes()


def test_scores_equal_those_of_kenlm(tmp_path: Path) -> None:
    kenlm = pytest.importorskip("kenlm")
    path = tmp_path / "model.arpa"
    with train_language_model(lambda: [TEXT], "en", LanguageModelSettings(order=3)) as trained:
        write_arpa(path, trained)
        model = LanguageModel(model_resource(trained))
    other = kenlm.Model(str(path))
    texts = [*TEXT, "The zebra sat on the old cat.", "mat mat mat"]
    ours = model.score(model.analyse(texts)) / math.log(10)
    theirs = [other.score(" ".join(sentence)) for sentence in sentences_of(model, texts)]
    assert ours == pytest.approx(theirs, abs=1e-4)


def test_arpa_has_what_it_says(tmp_path: Path) -> None:
    path = tmp_path / "model.arpa.gz"
    with train_language_model(lambda: [TEXT], "en", LanguageModelSettings(order=3)) as trained:
        write_arpa(path, trained)
        counts = [trained.ngrams(n) for n in (1, 2, 3)]
    lines = gzip.decompress(path.read_bytes()).decode().split("\n")
    assert lines[1:4] == [f"ngram {n}={count}" for n, count in enumerate(counts, 1)]
    starts = [lines.index(f"\\{n}-grams:") for n in (1, 2, 3)]
    ends = [lines.index("", start) for start in starts]
    assert [end - start - 1 for start, end in zip(starts, ends, strict=True)] == counts
    assert [file.name for file in tmp_path.iterdir()] == ["model.arpa.gz"]


def test_an_empty_text_has_no_normalised_score() -> None:
    model = load_language_model("en")
    assert np.isnan(model.normalised([""])).tolist() == [True]
    assert np.isfinite(model.score(model.analyse(["", "word " * 500]))).all()


def test_settings_out_of_range_are_refused() -> None:
    for bad in ({"order": 6}, {"order": 0}, {"least_count": 0}, {"prune": (0, 2, 1)}, {"prune": (1,)}):
        with pytest.raises(UsageError):
            LanguageModelSettings(**bad)  # type: ignore[arg-type]
    with pytest.raises(BuildError, match="empty"):
        resource_of([""])
    with pytest.raises(
        ResourceError, match=r"no language model 'unheard' is installed for language 'en'.*tesla train lm"
    ):
        load_language_model("en", "unheard")


def tatoeba(count: int) -> tuple[list[str], list[str]]:
    path = SHARED_DATA / "bitext" / "de-en" / "tatoeba.en.gz"
    if not path.exists():
        pytest.skip("the bitext is not here")
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as lines:
        texts = list(dict.fromkeys(line.rstrip("\n") for line, _ in zip(lines, range(count), strict=False)))
    return texts[1::20] + texts[2::20], texts[::20]


def test_perplexity_on_held_out_text_is_that_of_the_textbook() -> None:
    train, held_out = tatoeba(20_000)
    with train_language_model(lambda: [train], "en") as trained:
        model = LanguageModel(model_resource(trained))
        book = KneserNey(sentences_of(model, train), 3, trained.discounts)
    logs = [
        math.log(book.probability(word, ("<s>", *words[:place])[-2:]))
        for words in ([*sentence, "</s>"] for sentence in sentences_of(model, held_out))
        for place, word in enumerate(words)
    ]
    assert model.perplexity(held_out) == pytest.approx(math.exp(-math.fsum(logs) / len(logs)), rel=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize(("order", "prune"), [(3, ()), (4, ()), (5, (0, 0, 1))])
def test_perplexity_on_held_out_text_is_that_of_lmplz(
    order: int, prune: tuple[int, ...], tmp_path: Path
) -> None:
    kenlm = pytest.importorskip("kenlm")
    lmplz = shutil.which("lmplz")
    if lmplz is None:
        pytest.skip("lmplz of KenLM is not on the PATH")
    train, held_out = tatoeba(100_000)
    chosen = LanguageModelSettings(order=order, prune=prune)
    model = LanguageModel(resource_of(train, order=order, prune=prune))

    def lines(texts: Sequence[str]) -> list[str]:  # lmplz keeps the name <unk> for itself
        return [" ".join(s).replace("<unk>", "UNKNOWN") for s in sentences_of(model, texts)]

    (tmp_path / "text").write_text("\n".join(lines(train)) + "\n", "utf-8")
    subprocess.run(
        [lmplz, "-o", str(order), "-S", "500M", "-T", str(tmp_path), "--prune", *map(str, chosen.thresholds),
         "--text", str(tmp_path / "text"), "--arpa", str(tmp_path / "arpa")],
        check=True, capture_output=True,
    )  # fmt: skip
    other = kenlm.Model(str(tmp_path / "arpa"))
    texts = lines(held_out)
    words = sum(len(text.split()) + 1 for text in texts)
    theirs = 10 ** (-sum(map(other.score, texts)) / words)
    assert model.perplexity(held_out) == pytest.approx(theirs, rel=1e-3)


@pytest.fixture(scope="module")
def sound() -> Resource:
    return resource_of(TEXT, order=3)


def load(path: Path) -> LanguageModel:
    return LanguageModel(read_resource(path, "lm"))


def test_another_analysis_is_refused(sound: Resource, tmp_path: Path) -> None:
    path = tmp_path / "lm-x-en.tesla"
    write_resource(path, Resource("lm", "en", sound.arrays, analysis="tokens:0|lang:en", info=sound.info))
    with pytest.raises(ResourceError, match=r"lm-x-en\.tesla: was made for another analysis.*tesla train lm"):
        load(path)


@settings(max_examples=150)
@given(data=st.data())
def test_damaged_files_are_errors_that_name_the_file(
    sound: Resource, tmp_path_factory, data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("damaged") / "lm-x-en.tesla"
    write_resource(path, sound)
    content = bytearray(path.read_bytes())
    cut = data.draw(st.integers(0, len(content)))
    kind = data.draw(st.sampled_from(["cut", "flip", "noise"]))
    if kind == "cut":
        content = content[:cut]
    elif kind == "flip":
        content[min(cut, len(content) - 1)] ^= data.draw(st.integers(1, 255))
    else:
        content[cut : cut + 64] = data.draw(st.binary(min_size=64, max_size=64))
    path.write_bytes(content)
    try:
        load(path)  # padding may be damaged without harm
    except ResourceError as error:
        assert "lm-x-en.tesla" in str(error)


def spoil(array: np.ndarray, data: st.DataObject) -> np.ndarray:
    flat = array.copy().reshape(-1)
    how: dict[str, Callable[[], np.ndarray]] = {
        "shorter": lambda: array[..., : array.shape[-1] // 2],
        "longer": lambda: np.concatenate([array, array], axis=-1),
        "flat": lambda: flat,
        "other type": lambda: array.astype(np.float64),
    }
    choice = data.draw(st.sampled_from([*how, "value"]))
    if choice != "value":
        return how[choice]()
    if len(flat):
        place = data.draw(st.integers(0, len(flat) - 1))
        flat.view(np.uint8)[place * flat.itemsize] = data.draw(st.integers(0, 255))
    return flat.reshape(array.shape)


@settings(max_examples=200)
@given(data=st.data())
def test_arrays_that_do_not_fit_each_other_never_crash(
    sound: Resource, tmp_path_factory, data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("spoilt") / "lm-x-en.tesla"
    arrays = dict(sound.arrays)
    name = data.draw(st.sampled_from(sorted(arrays)))
    arrays[name] = spoil(np.asarray(arrays[name]), data)
    if data.draw(st.booleans()):
        del arrays[data.draw(st.sampled_from(sorted(arrays)))]
    info = {**sound.info, "order": data.draw(st.sampled_from([3, 3, 2, 5, 9, "x"]))}
    write_resource(path, Resource("lm", "en", arrays, analysis=sound.analysis, info=info))
    try:
        model = load(path)
    except ResourceError as error:
        assert "lm-x-en.tesla" in str(error)
        assert "tesla train lm" in str(error)
    else:  # what was spoilt was no more than a word or a probability
        assert abs(model.distribution(["the"]).sum() - 1) < 1e-3
        model.normalised(TEXT)


def test_build_lm(tesla, write, tmp_path: Path) -> None:
    text, held_out = write("text.en", TEXT * 3), write("held.en", TEXT[:2])
    model, arpa = tmp_path / "lm-own-en.tesla", tmp_path / "own.arpa"
    outcome = tesla("train", "lm", "-l", "en", "--order", "4", "-o", str(model), "-o", str(arpa), "--test", held_out,
                    "--licence", "MIT", text)  # fmt: skip
    assert outcome.status == 0, outcome.err
    assert "perplexity" in outcome.out
    assert "discounts of order 4" in outcome.out
    resource = read_resource(model, "lm")
    assert (resource.provenance.licence, resource.provenance.sources, resource.info["order"]) == (
        "MIT",
        ("text.en",),
        4,
    )
    assert arpa.read_text("utf-8").startswith("\\data\\")
    assert load_language_model("en", str(model)).order == 4
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        "held.en",
        "lm-own-en.tesla",
        "own.arpa",
        "text.en",
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-o", "x.bin", "text"], "must end in .tesla"),
        (["-o", "x.tesla", "-"], "standard input"),
        (["-o", "x.tesla", "nowhere.txt"], "nowhere.txt: cannot be opened"),
        (["-o", "x.tesla", "--prune", "a", "text"], "--prune 'a'"),
        (["-o", "nowhere/x.tesla", "text"], "this folder does not exist"),
    ],
)
def test_build_lm_says_what_is_wrong(tesla, arguments: list[str], message: str) -> None:
    outcome = tesla("train", "lm", *arguments)
    assert outcome.status == 2
    assert message in outcome.err


def test_language_models_as_a_group_of_features() -> None:
    pipeline = load_pipeline("en")
    group = LanguageModelGroup().bind(pipeline)
    assert group is not None
    assert [feature.name for feature in group.features] == ["lm.3gram"]
    hypothesis, reference = pipeline.analyse(
        ["He has gone home.", "", "Home gone he has."], ["Any text."] * 3
    )
    index = np.arange(3)
    found = group.compare(group.prepare(reference), group.prepare(hypothesis), index, index)[:, 0]
    expected = load_language_model("en").normalised(["He has gone home."])
    assert found[0] == expected[0] > found[2]
    assert np.isnan(found[1])
    (entry,) = group.explain(*pipeline.analyse(["Any text."], ["He has gone home."])).features
    assert [word for word, _ in entry.words] == ["he", "has", "gone", "home", ".", "</s>"]
    assert math.fsum(log for _, log in entry.words) / 5 == pytest.approx(entry.value)
    assert LanguageModelGroup().bind(load_pipeline("it")) is None


def test_files_in_between_that_cannot_be_written_are_named(tmp_path: Path) -> None:
    passes = 0

    def texts() -> list[list[str]]:
        nonlocal passes
        passes += 1
        if passes == 2:  # somebody cleans up while the n-grams are counted
            for folder in tmp_path.iterdir():
                folder.rmdir()
        return [TEXT]

    with (
        pytest.raises(BuildError, match=r"cannot be opened.*--temp"),
        train_language_model(texts, "en", folder=tmp_path),
    ):
        pass


def nothing(done: int) -> None:
    pass


def estimator_of(folder: Path) -> NgramEstimator:
    estimator = NgramEstimator(2, 6, [0, 0], str(folder), 1 << 16)
    estimator.add(np.array([0, 3], np.int64), np.array([3, 4, 5], np.uint32))
    return estimator


def test_the_steps_of_an_estimation_come_once_and_in_order(tmp_path: Path) -> None:
    estimator, discounts = estimator_of(tmp_path), [0.5, 0.5, 0.5]
    with pytest.raises(ValueError, match="after the counts are adjusted"):
        estimator.estimate(1, discounts, nothing)
    estimator.adjust_counts(nothing)
    with pytest.raises(ValueError, match="adjusted already"):
        estimator.adjust_counts(nothing)
    with pytest.raises(ValueError, match="adjusted already"):
        estimator.add(np.array([0, 1], np.int64), np.array([3], np.uint32))
    for n in (0, 2, 3):
        with pytest.raises(ValueError, match="one after the other"):
            estimator.estimate(n, discounts, nothing)
    with pytest.raises(ValueError, match="after the last order"):
        estimator.join_backoffs(nothing)
    estimator.estimate(1, discounts, nothing)
    estimator.estimate(2, discounts, nothing)
    estimator.join_backoffs(nothing)
    with pytest.raises(ValueError, match="come once"):
        estimator.join_backoffs(nothing)


@pytest.mark.parametrize("place", [0, 16, 24, 40, -1])
def test_a_changed_file_of_an_estimation_is_refused(tmp_path: Path, place: int) -> None:
    estimator = estimator_of(tmp_path)
    estimator.adjust_counts(nothing)
    path = tmp_path / "adjusted-1"
    content = bytearray(path.read_bytes())
    content[place] ^= 1
    path.write_bytes(content)
    with pytest.raises(RuntimeError, match="adjusted-1: is damaged"):
        estimator.estimate(1, [0.5, 0.5, 0.5], nothing)
