"""Character n-grams (specification §8b) against a textbook count."""

from __future__ import annotations

import mmap
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tesla_eval import TeslaX
from tesla_eval.base.errors import InputError
from tesla_eval.matching.bags.ngram_bags import LONGEST_CHARACTER_NGRAM
from tests.matching.given_matches import build_character_bags, match_characters

TEXTS = st.text(st.sampled_from("ab c\u00a0é漢\U0001f600"), max_size=30) | st.text(
    st.sampled_from("ab c\t\0~"), max_size=60
)


def textbook(reference: str, hypothesis: str, n: int) -> tuple[float, float]:
    bags = []
    for text in (reference, hypothesis):
        characters = "".join(text.replace("\0", "").split())
        bags.append(Counter(characters[i : i + n] for i in range(len(characters) - n + 1)))
    common = sum((bags[0] & bags[1]).values())
    totals = [sum(bag.values()) for bag in bags]
    if not any(totals):
        return np.nan, np.nan
    return common / totals[1] if totals[1] else 0.0, common / totals[0] if totals[0] else 0.0


@given(TEXTS, TEXTS)
def test_all_orders_equal_a_plain_count(reference: str, hypothesis: str) -> None:
    only = np.zeros(1, np.int64)
    found = match_characters(
        build_character_bags([reference]),
        build_character_bags([hypothesis]),
        only,
        only,
        LONGEST_CHARACTER_NGRAM,
    )
    for n in range(1, LONGEST_CHARACTER_NGRAM + 1):
        expected = textbook(reference, hypothesis, n)
        np.testing.assert_equal((found.precision[0, n - 1], found.recall[0, n - 1]), expected)


@pytest.mark.parametrize(
    "reference", ["zyx wvu" * 40, "".join(f"aaa{chr(122 - k % 26)}" for k in range(900)), "абвг" * 90]
)
@pytest.mark.parametrize(
    "hypothesis", ["xyz" * 50 + "\u2019", "".join(f"aab{k % 10}" for k in range(9000)), "гвба aaaz"]
)
def test_texts_that_are_hard_to_sort_equal_a_plain_count(reference: str, hypothesis: str) -> None:
    test_all_orders_equal_a_plain_count.hypothesis.inner_test(reference, hypothesis)  # type: ignore[attr-defined]


@pytest.mark.parametrize("size", [254, 255, 256])
def test_texts_of_as_many_different_characters_as_a_byte_can_number(size: int) -> None:
    first = "".join(chr(0x4E00 + k) for k in range(size))
    second = "".join(chr(0x4E00 + k ^ 1) for k in range(size))
    for reference, hypothesis in (
        (first, first[::-1]),
        (first, second),
        (first, first[7:] + "zz" + first[:7]),
    ):
        test_all_orders_equal_a_plain_count.hypothesis.inner_test(reference, hypothesis)  # type: ignore[attr-defined]


def test_a_text_has_everything_of_itself() -> None:
    bags, only = build_character_bags(["The same text, twice."]), np.zeros(1, np.int64)
    assert match_characters(bags, bags, only, only, 6).f.tolist() == [[1.0] * 6]


def test_composed_and_decomposed_letters_are_the_same() -> None:
    only = np.zeros(1, np.int64)
    found = match_characters(build_character_bags(["é"]), build_character_bags(["e\u0301"]), only, only, 1)
    assert found.f.tolist() == [[1.0]]


def test_a_lone_surrogate_is_no_text() -> None:
    with pytest.raises(InputError, match="surrogate"):
        TeslaX(lang="en").sentence_score("\ud800", ["a"])


STATM = Path("/proc/self/statm")


@pytest.mark.skipif(not STATM.exists(), reason="the system does not say how much memory is in use")
@pytest.mark.skipif("asan" in os.environ.get("LD_PRELOAD", ""), reason="the sanitizer keeps freed memory")
def test_memory_for_a_huge_text_is_given_back() -> None:
    """In a process of its own: what other tests left to the allocator would decide how much it gives back."""
    program = """
from pathlib import Path
from tesla_eval._core import CharacterBags
text = "abcdefgh" * 500_000
resident = lambda: int(Path("/proc/self/statm").read_text("ascii").split()[1])
before = resident()
bags = CharacterBags([text])
del bags
print(resident() - before)
"""
    grown = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout
    # To make the bag takes 25 bytes a character besides the bag itself.
    assert int(grown) * mmap.PAGESIZE < 10 * 4_000_000
