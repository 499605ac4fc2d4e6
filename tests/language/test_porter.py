"""The Porter stemmer on the examples of Porter's paper (1980), step by step."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tesla_eval import _core
from tesla_eval.language.analysis.porter import porter_stem


def rouge_stem(word: str) -> str:
    return _core.porter_stem(word, nltk=True)


EXAMPLES = """
caresses caress, ponies poni, ties ti, cats cat, feed feed, agreed agre, plastered plaster, bled bled, motoring motor,
sing sing, conflated conflat, troubled troubl, sized size, hopping hop, tanned tan, falling fall, hissing hiss,
fizzed fizz,
failing fail, filing file, happy happi, sky sky, relational relat, conditional condit, rational ration, digitizer digit,
radically radic, differently differ, vileness vile, analogously analog, vietnamization vietnam, predication predic,
operator oper, feudalism feudal, decisiveness decis, hopefulness hope, callousness callous, formality formal,
sensitivity sensit, sensibility sensibl, triplicate triplic, formative form, formalize formal, electricity electr,
electrical electr, hopeful hope, goodness good, revival reviv, allowance allow, inference infer, airliner airlin,
adjustable adjust, defensible defens, irritant irrit, replacement replac, adjustment adjust, dependent depend,
adoption adopt, communism commun, activate activ, homologous homolog, effective effect, bowdlerize bowdler,
probate probat,
rate rate, cease ceas, controlling control, rolling roll, a a, is is, naïve naïve, 4th 4th
"""


@pytest.mark.parametrize("example", [pair.strip() for pair in EXAMPLES.split(",")])
def test_stems_of_the_paper(example: str) -> None:
    word, stem = example.split()
    assert porter_stem(word) == stem


ENDINGS = (
    "", "y", "ies", "ied", "ed", "ing", "eed", "ational", "alli", "fulli", "logi", "bli", "ement", "ion", "e", "ll",
    "ness", "ically", "izer",
)  # fmt: skip


@settings(max_examples=500)
@given(st.text("aeioulstbgy1", max_size=6), st.sampled_from(ENDINGS))
@example("d", "ying")
@example("sk", "ies")
@example("inn", "ings")
@example("", "succeed")
def test_stems_of_rouge_are_those_of_nltk(start: str, ending: str) -> None:
    from nltk.stem.porter import PorterStemmer

    word = start + ending
    assert rouge_stem(word) == (PorterStemmer().stem(word) if len(word) > 3 else word)


@pytest.mark.parametrize("stem", [porter_stem, rouge_stem])
def test_a_long_run_of_y_is_no_trap(stem) -> None:
    assert stem("y" * 20000) in ("y" * 20000, "y" * 19999 + "i")
