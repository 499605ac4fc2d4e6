"""`s-source`, `s-x` and `cremer-x`: the source as evidence, and scores that are monotone in every part."""

from __future__ import annotations

import json
import random
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tesla_eval import CremerX, TeslaS, TeslaSSource, TeslaSX
from tesla_eval.base.errors import InputError, ResourceError, UsageError
from tesla_eval.judgements.summaries import read_summaries
from tesla_eval.language.analysis import split_sentences
from tesla_eval.metrics.cache import ScoreCache
from tesla_eval.metrics.summary_parts import SummaryParts
from tesla_eval.training.summary_weights import (
    JudgedParts,
    learn_cremer_x,
    learn_s_x,
    linear_model,
)

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data" / "summaries"
SOURCE = "On Monday a storm hit the coast of Portugal. Many roads were closed until the evening."
MODELS = ["A storm hit Portugal.", "Roads were closed."]
_WORDS = st.lists(
    st.sampled_from(["storm", "hit", "coast", "road", "the", "of", "closed", "Portugal"]),
    min_size=1,
    max_size=12,
)


def textbook_precision(
    summary: list[tuple[str, float]], source: list[tuple[str, float]], window: int
) -> float:
    """The share of the summary's weight that the source has, with skip bigrams (window > 0) or words."""

    def bag(words: list[tuple[str, float]]) -> dict[tuple[str, ...], float]:
        found: dict[tuple[str, ...], float] = {}
        for i, (word, weight) in enumerate(words):
            if not window:
                found[word,] = found.get((word,), 0.0) + weight
            for other, other_weight in words[i + 1 : i + 2 + window] if window else ():
                found[word, other] = found.get((word, other), 0.0) + weight * other_weight
        return found

    mine, theirs = bag(summary), bag(source)
    total = sum(mine.values())
    return sum(min(weight, theirs.get(key, 0.0)) for key, weight in mine.items()) / total if total else 0.0


@given(_WORDS, _WORDS)
@settings(max_examples=60, deadline=None)
def test_support_is_the_textbook_precision(summary: list[str], source: list[str]) -> None:
    metric = _SOURCE
    texts = " ".join(summary), " ".join(source)
    batch, other = metric.analysis.analyse([texts[0]], [texts[1]])
    weighted = [
        [(token.surface.lower(), 0.1 if token.function else 1.0) for token in one.tokens(0)]
        for one in (batch, other)
    ]
    features = metric.sentence_score(texts[0], sources=texts[1]).features
    assert features["source.1"] == pytest.approx(textbook_precision(*weighted, 0))
    if len(summary) > 1 and len(source) > 1:
        assert features["source.skip"] == pytest.approx(textbook_precision(*weighted, 4))


_SOURCE = TeslaSSource()


def test_a_sentence_of_the_source_is_fully_supported() -> None:
    assert TeslaSSource().sentence_score("Many roads were closed.", sources=SOURCE).score == 1.0
    assert TeslaSSource().sentence_score("", sources=SOURCE).score == 0.0


def test_sources_are_needed_and_counted() -> None:
    with pytest.raises(UsageError, match="-s"):
        TeslaSX().sentence_score("A storm.", MODELS)
    with pytest.raises(UsageError, match="source"):
        TeslaSSource().sentence_score("A storm.")
    with pytest.raises(InputError, match="2 hypotheses, but 1 sources"):
        TeslaSSource().corpus_score(["a", "b"], sources=["a"])
    with pytest.raises(UsageError):
        TeslaSX().pairwise(["a"], ["b"])


def test_explanations_name_the_words_that_nothing_supports() -> None:
    summary = "A storm hit a kangaroo in Portugal."
    for found in (
        TeslaSSource().explain(summary, sources=SOURCE),
        TeslaSX().explain(summary, MODELS, SOURCE),
        CremerX().explain(summary, MODELS, SOURCE),
    ):
        support = found.references[0].support
        assert support is not None
        assert [token.surface for token in support.unsupported] == ["kangaroo", "in"]
        place = found.to_dict()["references"][0]["support"]["unsupported"][0]
        assert summary[place["start"] : place["end"]] == "kangaroo"
    assert CremerX().explain(summary, MODELS).references[0].support is None


def test_the_score_is_the_weighted_mean_of_the_parts_of_the_best_model() -> None:
    metric = TeslaSX()
    summary = "A storm hit Portugal on Monday evening."
    score = metric.sentence_score(summary, MODELS, SOURCE)
    content = TeslaS().sentence_score(summary, MODELS).features
    support = TeslaSSource().sentence_score(summary, sources=SOURCE).features
    assert score.features == {**content, **support}
    weights = dict(zip(metric.model.features, metric.model.weights.tolist(), strict=True))
    expected = sum(weights[name] * score.features[name] for name in weights) / sum(weights.values())
    assert score.score == pytest.approx(expected)
    assert metric.explain(summary, MODELS, SOURCE).score == score.score


@pytest.mark.parametrize("metric", [TeslaSX(), CremerX()], ids=["s-x", "cremer-x"])
def test_scores_are_monotone_in_every_part_and_bounded(metric: SummaryParts) -> None:
    steps = [0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0]
    columns = [metric.part_names.index(name) for name in metric.model.features]
    grid = np.array(list(product(steps, repeat=len(metric.part_names))))
    scores = metric.model.score(grid[:, columns]).reshape([len(steps)] * len(metric.part_names))
    for axis in range(scores.ndim):
        assert (np.diff(scores, axis=axis) >= 0).all()
    assert scores.min() == 0.0
    assert scores.max() == 1.0


def test_cremer_x_does_without_a_source() -> None:
    metric = CremerX()
    with_source = metric.sentence_score(MODELS[0], MODELS, SOURCE)
    without = metric.sentence_score(MODELS[0], MODELS)
    assert np.isnan(without.features["support"])
    assert without.score == 1.0
    assert 0.0 < with_source.score <= 1.0
    assert metric.sentence_score("", MODELS, SOURCE).score == 0.0
    assert metric.sentence_score("", [""]).score == 0.0


def test_negative_or_unknown_weights_are_refused() -> None:
    model = linear_model(CremerX, np.array([0.5, 0.4, 0.1]), ())
    object.__setattr__(model, "weights", np.array([0.5, -0.4, 0.1]))
    with pytest.raises(ResourceError, match="positive weights"):
        CremerX(weights=model)
    with pytest.raises(ResourceError, match="of content, support, length"):
        CremerX(weights=linear_model(TeslaSX, np.array([1.0, 0, 0, 0]), ()))


def _made(rng: np.random.Generator, parts: int, useful: int) -> JudgedParts:
    values = rng.random((6, 20, parts))
    human = values[:, :, useful] + 0.05 * rng.random((6, 20))
    return JudgedParts("made", values, human, human)


def test_learners_find_the_part_that_people_follow() -> None:
    rng = np.random.default_rng(5)
    assert learn_cremer_x([_made(rng, 3, 1) for _ in range(2)])[1] > 0.5
    assert learn_s_x([_made(rng, 4, 0) for _ in range(2)])[0] > 0.8


def test_tau_counts_the_pairs_that_people_told_apart() -> None:
    parts = np.array([[[0.1], [0.3]], [[0.2], [0.1]], [[0.3], [0.2]]])
    human = np.array([[1.0, 3.0], [2.0, 1.0], [2.0, np.nan]])
    judged = JudgedParts("made", parts, human, human)
    # Topic 1: both pairs with system 0 agree. Topic 2: the only pair agrees.
    assert judged.kendall(np.array([[1.0], [-1.0]])).tolist() == [1.0, -1.0]


def _record(topic: str, system: str, **more: object) -> str:
    row = {"id": topic, "system": system, "hypothesis": "A storm hit Portugal.", "references": MODELS}
    return json.dumps({**row, **more})


def test_summary_records_take_a_source(tesla, tmp_path: Path) -> None:
    file = tmp_path / "summaries.jsonl"
    file.write_text("\n".join([_record("1", "a", source=SOURCE), _record("1", "b")]), encoding="utf-8")
    assert read_summaries(str(file)).sources == (SOURCE,)
    shown = tesla("score", "-m", "s-source,s-x,cremer-x", str(file), "-l", "en", "--json")
    assert shown.status == 0
    for metric in (TeslaSSource(), TeslaSX(), CremerX()):
        expected = metric.sentence_score("A storm hit Portugal.", MODELS, SOURCE)
        assert repr(expected.score) in shown.out


def test_sources_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "summaries.jsonl"
    for lines, message in (
        ([_record("1", "a", source=SOURCE), _record("1", "b", source="Other.")], "line 2.*another source"),
        ([_record("1", "a", source=SOURCE), _record("2", "a")], "2 has no source"),
        ([_record("1", "a", source=7)], "line 1.*neither a text"),
    ):
        file.write_text("\n".join(lines), encoding="utf-8")
        with pytest.raises(InputError, match=message):
            read_summaries(str(file))


def test_the_command_line_passes_sources_on(tesla, tmp_path: Path) -> None:
    files = {"sys.txt": "A storm hit Spain.", "ref.txt": MODELS[0], "src.txt": SOURCE}
    for name, text in files.items():
        (tmp_path / name).write_text(text + "\n", encoding="utf-8")
    system, reference, source = (str(tmp_path / name) for name in files)
    scored = tesla("score", "-l", "en", "-m", "s-x", "-r", reference, "-s", source, system, "--json")
    assert scored.status == 0
    expected = TeslaSX().sentence_score(files["sys.txt"], [MODELS[0]], SOURCE).score
    assert repr(expected) in scored.out
    explained = tesla("explain", "-l", "en", "-m", "s-x", "-r", reference, "-s", source, system)
    assert "not in the source: Spain" in explained.out
    alone = tesla("explain", "-l", "en", "-m", "s-source", files["sys.txt"], "--source-text", SOURCE)
    assert "not in the source: Spain" in alone.out
    refused = tesla("score", "-l", "en", "-m", "s-x", "-r", reference, system)
    assert refused.status == 2
    assert "-s" in refused.err


def test_the_cache_tells_sources_apart(tmp_path: Path) -> None:
    metric = TeslaSSource()
    with ScoreCache(tmp_path) as cache:
        first = cache.score(metric, ["A storm."], [], sources=[SOURCE]).scores
        second = cache.score(metric, ["A storm."], [], sources=["Nothing of the kind."]).scores
        assert first[0] > second[0] == 0.0
        cache.score(metric, ["A storm."], [], sources=[SOURCE])
        assert len(cache) == 2


@pytest.mark.skipif(not SHARED.is_dir(), reason="needs the judged summaries")
def test_a_copy_beats_its_first_sentence_its_shuffled_words_and_nothing() -> None:
    """At least 95 % of 500 model summaries of several sentences, with their sources."""
    cases = []
    for name in ("summeval", "realsumm", "newsroom"):
        read = read_summaries(str(SHARED / name))
        assert read.sources is not None
        for source, models in zip(read.sources, read.references, strict=True):
            for model in models:
                spans = split_sentences(model, "en")
                if len(spans) > 1:
                    cases.append((model, model[slice(*spans[0])], source))
    chosen = random.Random(7).sample(cases, 500)
    models, firsts, sources = map(list, zip(*chosen, strict=True))
    shuffled = [" ".join(random.Random(text).sample(text.split(), len(text.split()))) for text in models]
    metric = CremerX()
    copy, first, salad, nothing = (
        metric.corpus_score(texts, [models], sources).segments
        for texts in (models, firsts, shuffled, [""] * 500)
    )
    for other in (first, salad, nothing):
        assert (copy > other).mean() >= 0.95
