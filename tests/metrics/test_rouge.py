"""ROUGE beside our metrics: equal to rouge-score where that has it, SU4 equal to its definition."""

from __future__ import annotations

import pickle
import subprocess
import sys
from itertools import combinations
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tesla_eval import create_metric
from tesla_eval.base.errors import UsageError
from tesla_eval.metrics import metric_names

REFERENCE = "The judge ordered Stiviano to pay back the gifts of the owner."
HYPOTHESIS = "A judge has ordered her to pay back gifts, and the owner pays the judge."


@pytest.mark.parametrize(
    ("name", "theirs"), [("rouge1", "rouge1"), ("rouge2", "rouge2"), ("rougel", "rougeL")]
)
def test_equal_to_rouge_score(name: str, theirs: str) -> None:
    from rouge_score.rouge_scorer import RougeScorer

    expected = RougeScorer([theirs], use_stemmer=True).score(REFERENCE, HYPOTHESIS)[theirs]
    f, recall = (
        create_metric(name, "en", part=part).sentence_score(HYPOTHESIS, [REFERENCE])
        for part in ("f", "recall")
    )
    assert f.score == expected.fmeasure
    assert recall.score == expected.recall
    assert f.features == {"precision": expected.precision, "recall": expected.recall, "f": expected.fmeasure}


def test_su4_by_its_definition() -> None:
    """Lin 2004: skip bigrams of at most four words between, and unigrams, counted with clipping."""

    def units(text: str) -> list[object]:
        words = text.lower().replace(",", "").replace(".", "").split()
        pairs = [(words[i], words[j]) for i, j in combinations(range(len(words)), 2) if j - i <= 5]
        return [*words, *pairs]

    reference, hypothesis = units(REFERENCE), units(HYPOTHESIS)
    rest, common = list(reference), 0
    for unit in hypothesis:
        if unit in rest:
            rest.remove(unit)
            common += 1
    found = create_metric("rougesu4", "en", stem=False).sentence_score(HYPOTHESIS, [REFERENCE]).features
    p, r = common / len(hypothesis), common / len(reference)
    assert found == {"precision": p, "recall": r, "f": pytest.approx(2 * p * r / (p + r))}


@pytest.mark.parametrize("name", [name for name in metric_names() if name.startswith("rouge")])
def test_identity_empty_and_best_reference(name: str) -> None:
    metric = create_metric(name, "en")
    assert metric.sentence_score(REFERENCE, [REFERENCE]).score == 1
    assert metric.sentence_score("", [REFERENCE]).score == 0
    assert metric.sentence_score(REFERENCE, [""]).score == 0
    alone = metric.sentence_score(HYPOTHESIS, [REFERENCE]).score
    assert metric.sentence_score(HYPOTHESIS, ["Other words.", REFERENCE]).score == alone > 0
    assert metric.corpus_score([HYPOTHESIS], [[None], [REFERENCE]]).score == alone
    assert metric.get_signature()["metric"] == name


def test_other_languages_keep_their_letters() -> None:
    metric = create_metric("rouge1", "ru")
    assert metric.sentence_score("Кошка спит.", ["Кошка ест."]).score == 0.5
    assert metric.get_signature()["tok"] == "tesla-ru"


def test_rouge_needs_no_other_package() -> None:
    code = (
        "import sys; sys.modules['rouge_score'] = sys.modules['nltk'] = None; from tesla_eval import create_metric; "
        "print(create_metric('rougelsum').sentence_score('A cat.', ['A cat.']).score)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "1.0\n"


WORDS = st.sampled_from(
    [
        "the",
        "The",
        "cat",
        "cats",
        "sat",
        "dying",
        "skies",
        "relational",
        "42nd",
        "flies",
        "naïve",
        ",",
        ".",
        "\n",
    ]
)
TEXTS = st.lists(WORDS, max_size=14).map(" ".join)
KINDS = {"rouge1": "rouge1", "rouge2": "rouge2", "rougel": "rougeL", "rougelsum": "rougeLsum"}


@pytest.mark.parametrize(("name", "theirs"), KINDS.items())
@pytest.mark.parametrize("stem", [True, False])
@settings(max_examples=60)
@given(reference=TEXTS, hypothesis=TEXTS)
def test_equal_to_rouge_score_on_any_text(name, theirs, stem, reference, hypothesis) -> None:
    from rouge_score.rouge_scorer import RougeScorer

    expected = RougeScorer([theirs], use_stemmer=stem).score(reference, hypothesis)[theirs]
    found = create_metric(name, stem=stem).sentence_score(hypothesis, [reference]).features
    assert found == {"precision": expected.precision, "recall": expected.recall, "f": expected.fmeasure}


@pytest.mark.parametrize("count", [120, pytest.param(240, marks=pytest.mark.slow)])
def test_equal_to_rouge_score_on_real_pairs(real_pairs, count: int) -> None:
    from rouge_score.rouge_scorer import RougeScorer

    scorer = RougeScorer(list(KINDS.values()), use_stemmer=True)
    pairs = [
        ("\n".join(a for a, _ in group), "\n".join(b for _, b in group))
        for group in (real_pairs[i : i + 3] for i in range(0, count, 3))
    ]
    for name, theirs in KINDS.items():
        metric = create_metric(name)
        for hypothesis, reference in pairs:
            expected = scorer.score(reference, hypothesis)[theirs]
            found = metric.sentence_score(hypothesis, [reference])
            assert tuple(found.features.values()) == tuple(expected)


LETTERS = st.lists(st.sampled_from("abc"), max_size=90)


@given(LETTERS, LETTERS)
def test_the_longest_common_subsequence_by_the_textbook(reference, hypothesis) -> None:
    table = [[0] * (len(hypothesis) + 1) for _ in range(len(reference) + 1)]
    for i, a in enumerate(reference):
        for j, b in enumerate(hypothesis):
            table[i + 1][j + 1] = table[i][j] + 1 if a == b else max(table[i][j + 1], table[i + 1][j])
    measures = create_metric("rougel").sentence_score(" ".join(hypothesis), [" ".join(reference)]).features
    assert measures["precision"] == table[-1][-1] / max(len(hypothesis), 1)
    assert measures["recall"] == table[-1][-1] / max(len(reference), 1)


def test_lsum_of_long_texts_is_rouge_scores() -> None:
    """Longer than the stretches of rows that the core keeps; most words stand in both texts, many times."""
    from rouge_score.rouge_scorer import RougeScorer

    draw = Random(1)
    for sizes in ((1300, 700), (520, 1100)):
        texts = [
            "\n".join(" ".join(draw.choices("abcdefghij", k=size)) for size in (size, 30)) for size in sizes
        ]
        expected = RougeScorer(["rougeLsum"]).score(*texts)["rougeLsum"]
        found = create_metric("rougelsum", stem=False).sentence_score(texts[1], [texts[0]]).features
        assert tuple(found.values()) == tuple(expected)


ANY_TEXTS = st.lists(
    st.text(st.sampled_from("abcde AB12\n.-K\u0130\u212a\xe9\u4e2d\ud800"), max_size=150),
    min_size=1,
    max_size=3,
)


@pytest.mark.parametrize(("name", "theirs"), KINDS.items())
@settings(max_examples=60)
@given(references=ANY_TEXTS, hypothesis=st.text(st.sampled_from("abcde AB1\n\u0130\ud800"), max_size=150))
def test_the_best_of_several_references_is_rouge_scores(name, theirs, references, hypothesis) -> None:
    """Whatever the characters: signs that become letters a to z in lower case, halves of characters."""
    from rouge_score.rouge_scorer import RougeScorer

    scorer = RougeScorer([theirs], use_stemmer=True)
    expected = [scorer.score(reference, hypothesis)[theirs] for reference in references]
    metric, recall = (create_metric(name, part=part) for part in ("f", "recall"))
    best = max(expected, key=lambda score: (score.fmeasure, score))
    assert tuple(metric.sentence_score(hypothesis, references).features.values()) == best
    assert recall.sentence_score(hypothesis, references).score == max(score.recall for score in expected)
    streams = [[None, *[hypothesis] * 2], *([reference] * 3 for reference in references)]
    scored = metric.corpus_score([hypothesis] * 3, streams).segments
    assert scored[0] == best.fmeasure
    assert scored[1] == scored[2] == metric.sentence_score(hypothesis, [hypothesis, *references]).score


@pytest.mark.parametrize("name", [name for name in metric_names() if name.startswith("rouge")])
@pytest.mark.parametrize("lang", ["en", "de"])
def test_all_pairs_are_those_one_by_one(name: str, lang: str) -> None:
    metric = create_metric(name, lang)
    hypotheses, references = (
        [HYPOTHESIS, "", REFERENCE],
        ["The owner.", HYPOTHESIS, "", "Other words. The judge."],
    )
    matrix = metric.pairwise(hypotheses, references)
    expected = [[metric.sentence_score(h, [r]).score for r in references] for h in hypotheses]
    assert matrix.tolist() == expected


@pytest.mark.parametrize("name", [name for name in metric_names() if name.startswith("rouge")])
def test_a_copy_is_the_same_metric(name: str) -> None:
    metric = create_metric(name, "en", stem=False)
    copied = pickle.loads(pickle.dumps(metric))
    assert type(copied) is type(metric)
    assert str(copied.get_signature()) == str(metric.get_signature())


def test_a_text_of_one_line_is_split_into_sentences_only_when_asked() -> None:
    """The order of sentences does not matter to ROUGE-Lsum, once they are known."""
    hypothesis, reference = "It rained. We stayed.", "We stayed. It rained."
    metric = create_metric("rougelsum", split=True)
    assert metric.sentence_score(hypothesis, [reference]).score == 1
    assert metric.get_signature()["sentences"] == "lines-or-splitter"
    whole = create_metric("rougelsum")
    assert whole.sentence_score(hypothesis, [reference]).score == 0.5
    assert whole.get_signature()["sentences"] == "lines"


def test_rouge_is_not_explained() -> None:
    with pytest.raises(UsageError, match="take -m s"):
        create_metric("rougesu4", "en").explain(HYPOTHESIS, [REFERENCE])
