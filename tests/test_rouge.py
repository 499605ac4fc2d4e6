"""ROUGE beside our metrics: equal to rouge-score where that has it, SU4 equal to its definition."""

from __future__ import annotations

from itertools import combinations

import pytest

from tesla_eval import create_metric
from tesla_eval.errors import UsageError
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
        create_metric(key, "en").sentence_score(HYPOTHESIS, [REFERENCE]) for key in (name, f"{name}-recall")
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


def test_missing_package_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "rouge_score", None)
    with pytest.raises(UsageError, match=r"pip install 'tesla-eval\[rouge\]'"):
        create_metric("rouge2", "en")


def test_rouge_is_not_explained() -> None:
    with pytest.raises(UsageError, match="take -m s"):
        create_metric("rougesu4", "en").explain(HYPOTHESIS, [REFERENCE])
