"""The Porter stemmer on the examples of Porter's paper (1980), step by step."""

from __future__ import annotations

import pytest

from tesla_eval.analysis.porter import porter_stem

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
