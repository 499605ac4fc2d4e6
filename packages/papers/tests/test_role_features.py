"""Exchanged roles, and the group of features that compares who did what to whom."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from research.role_features import RoleGroup, exchanged_roles, find_exchanges
from tesla_eval import FeatureMetric, TeslaError
from tesla_eval.metrics.combinations import Mean as MeanOfFeatures
from tesla_eval.metrics.combinations import Uncombined
from tesla_eval.metrics.contradictions.exchanges import Exchange
from tesla_eval_papers.srl.propositions import DOER, UNDERGOER, Proposition, read_propositions

PAIRS = [
    ("The doctor called the nurse.", "The nurse called the doctor.", [Exchange("call", "nurse", "doctor")]),
    ("Mary was hit by John.", "John hit Mary.", []),
    ("John was hit by Mary.", "John hit Mary.", [Exchange("hit", "john", "mary")]),
    ("She saw him yesterday.", "He saw her yesterday.", [Exchange("see", "he", "she")]),
    ("John hit Bill.", "John hit Mary.", []),
    ("Mary hit the wall.", "John hit Mary.", []),
    ("Mary married John.", "John married Mary.", []),
    ("John hit Mary.", "John hit Mary.", []),
    (
        "We know the woman who saw the man.",
        "We know the woman who the man saw.",
        [Exchange("see", "man", "woman")],
    ),
    ("", "John hit Mary.", []),
]


@pytest.mark.parametrize(("hypothesis", "reference", "expected"), PAIRS)
def test_exchanged_roles(hypothesis: str, reference: str, expected: list[Exchange]) -> None:
    assert exchanged_roles(hypothesis, reference) == expected


def test_roles_of_nouns_are_exchanged_too() -> None:
    one, other = read_propositions(
        ["France's invasion of Russia failed.", "Russia's invasion of France failed."]
    )
    assert find_exchanges(one, other) == [Exchange("invasion", "russia", "france")]


names = st.sampled_from(["ann", "bill", "cat"])
propositions = st.lists(
    st.builds(
        lambda predicate, doers, undergoers: Proposition(
            predicate, (*((DOER, d) for d in doers), *((UNDERGOER, u) for u in undergoers))
        ),
        st.sampled_from(["see", "hit"]),
        st.lists(names, max_size=2),
        st.lists(names, max_size=2),
    ),
    max_size=3,
)


@given(propositions, propositions)
def test_an_exchange_seen_from_the_other_side(first: list[Proposition], second: list[Proposition]) -> None:
    """Both sides see the same exchanges unless one of them says it both ways."""
    there = {(e.predicate, e.doer, e.undergoer) for e in find_exchanges(first, second)}
    back = {(e.predicate, e.undergoer, e.doer) for e in find_exchanges(second, first)}
    for exchange in there ^ back:
        predicate, doer, undergoer = exchange
        for side in (first, second):
            ways = {
                (d, u)
                for p in side if p.predicate == predicate
                for d in p.fillers(DOER) for u in p.fillers(UNDERGOER)
            }  # fmt: skip
            if {(doer, undergoer), (undergoer, doer)} <= ways:
                break
        else:
            raise AssertionError(exchange)
    assert find_exchanges(first, first) == []


class WhoDidWhat(FeatureMetric):
    """The group alone."""

    id = "who-did-what"
    groups = (RoleGroup(),)
    combination = Uncombined()


def roles_of(hypothesis: str, reference: str, **options: object) -> dict[str, float]:
    return dict(WhoDidWhat("en", **options).sentence_score(hypothesis, [reference]).features)


def test_bags_of_roles_worked_out_by_hand() -> None:
    """Reference: chase-ARG0-dog, chase-ARG1-cat; hypothesis: chase-ARG0-cat, chase-ARG1-dog."""
    swapped = roles_of("The cat chased the dog.", "The dog chased the cat.")
    assert swapped == {"roles.triples": 0.0, "roles.fillers": 0.0, "roles.links": 1.0, "roles.exchanged": 1.0}
    passive = roles_of("The cat was chased by the dog.", "The dog chased the cat.")
    assert passive == {"roles.triples": 1.0, "roles.fillers": 1.0, "roles.links": 1.0, "roles.exchanged": 0.0}
    # One triple of the hypothesis, two of the reference, one in common: 1 / (α · 2 + (1 − α) · 1).
    short = roles_of("The dog chased.", "The dog chased the cat.", alpha=0.75)
    assert short["roles.triples"] == pytest.approx(1 / (0.75 * 2 + 0.25 * 1))


def test_what_cannot_be_compared_does_not_exist() -> None:
    features = WhoDidWhat("en").score_segments(["Yes!"], [["No!"]]).features
    assert np.isnan(features).all()
    assert np.isnan(WhoDidWhat("en").score_segments(["Dogs bark."], [["Dogs bark."]]).features[0, -1])


def test_the_group_is_for_english_only() -> None:
    class Mean(WhoDidWhat):
        """With a score, so that the group is not optional."""

        combination = MeanOfFeatures()

    with pytest.raises(TeslaError, match="'roles' are not available for language 'de'"):
        Mean("de")
    assert 0 < Mean("en").sentence_score("The cat chased a dog.", ["The cat chased a rat."]).score < 1


def test_nouns_are_optional_and_in_the_signature() -> None:
    both = roles_of("France's invasion of Russia.", "Russia's invasion of France.")
    assert both["roles.exchanged"] == 1.0
    verbs = WhoDidWhat("en", nouns=False)
    assert np.isnan(
        verbs.score_segments(["France's invasion of Russia."], [["Russia's invasion of France."]]).features
    ).all()
    assert verbs.get_signature() != WhoDidWhat("en").get_signature()


def test_the_explanation_has_the_features() -> None:
    explained = WhoDidWhat("en").explain("The cat chased the dog.", ["The dog chased the cat."])
    names = {detail.name: detail.value for detail in explained.references[0].features}  # type: ignore[attr-defined]
    assert names == roles_of("The cat chased the dog.", "The dog chased the cat.")
