"""NFC with a way back: where composed characters lie in the raw text."""

from __future__ import annotations

import re
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from tesla_eval.language.analysis.tokenisers import compose, raw_offsets

# Letters with marks in any order, Hangul in pieces, Indic signs that compose, a singleton (the Ångström sign).
awkward = st.text(
    st.one_of(
        st.sampled_from("ae s\u0301\u0323\u0308\u1100\u1161\u11a8가\u0915\u093c\u0bc6\u0bbe\u212bé"),
        st.characters(codec="utf-8"),
    )
)


@given(awkward)
def test_every_composed_character_has_its_place_in_the_raw_text(raw: str) -> None:
    composed, places = compose(raw), raw_offsets(raw).tolist()
    assert len(places) == len(composed) + 1
    assert places == sorted(places)
    assert (places[0], places[-1]) == (0, len(raw))
    for word in re.finditer(r"[^ ]+", composed):  # nothing composes with a blank before it
        assert unicodedata.normalize("NFC", raw[places[word.start()] : places[word.end()]]) == word[0]
