"""A signature says all that bears on a score: where two metrics give other scores, signatures and cache keys differ.

The property is tried on pairs of metrics that differ in one option or in one resource, over all options of all metrics
and all resources that ship.
"""

from __future__ import annotations

import gc
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import _lru_cache_wrapper, cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tesla_eval import Token
from tesla_eval.base.errors import TeslaError
from tesla_eval.base.records import Signature
from tesla_eval.base.resources import Resource, read_resource, resources_in, shipped_folder, write_resource
from tesla_eval.language.analysis.compounds import CompoundSplitter
from tesla_eval.language.pivot import load_phrase_table
from tesla_eval.matching.bags.units import discount_units
from tesla_eval.matching.synonyms import SynonymSets
from tesla_eval.metrics import create_metric
from tesla_eval.metrics.base import Metric
from tesla_eval.metrics.baselines.bleu import Bleu
from tesla_eval.metrics.cache import ScoreCache, _keys
from tesla_eval.metrics.registry import registered
from tesla_eval.metrics.results import SegmentScores
from tesla_eval.metrics.scoring import Chunk, score_texts
from tesla_eval.metrics.tesla_celab import TeslaCelab
from tesla_eval.metrics.tesla_m import TeslaM
from tesla_eval.metrics.tesla_x import TeslaX
from tesla_eval.models.linear import load_weights
from tesla_eval_papers.discourse.roles import load_coherence_model
from tests.fixtures import shipped_pairs, shipped_texts

NEEDS_MORE = {"meteor", "comet", "comet-qe", "bertscore"}
"""Metrics that need a program or a model that is not here; `test_comet` has their signatures."""
METRICS = {name: entry for name, entry in registered().items() if name not in {*NEEDS_MORE, "n"}}
"""All others, those of the papers' package too; TESLA-N has tests of its own."""
LANGUAGES = ("en", "de", "zh", "ja", "fr", "cs", "fi", "th")
SEGMENTS = 5

NEAR = 1e-8
"""Numbers this close gave the same signature."""


class Lower:
    """An analyser of one's own, in two versions with names of their own."""

    def __init__(self, function: bool) -> None:
        self.name, self._function = f"lower-{function}", function

    def analyse(self, texts: list[str]) -> list[list[Token]]:
        return [
            [
                Token(word, 0, len(word), word.lower(), "", self._function and len(word) < 4)
                for word in text.split()
            ]
            for text in texts
        ]


def near(draw: random.Random, low: float, high: float) -> float:
    """A number, often a very small step from another one."""
    value = draw.choice([low, high, 0.3, 0.12345671, round(draw.uniform(low, high), 3)])
    return min(value + draw.choice([0.0, NEAR]), high) if value < high else value


def linear(metric: str, lang: str, draw: random.Random) -> Any:
    """A model changed in one weight, by `replace`, which keeps everything else."""
    model = load_weights(f"tesla-{metric}", lang)
    changed = model.weights.copy()
    changed[draw.randrange(len(changed))] *= 1 + draw.choice([0.0, NEAR, 0.5])
    return replace(model, weights=changed)


def coherence(draw: random.Random, lang: str) -> Any:
    model = load_coherence_model(lang)
    return replace(model, lowest=model.lowest - draw.choice([0.0, NEAR, 1.0]))


def pem_model(draw: random.Random) -> Any:
    model = create_metric("pem").combined.loaded  # type: ignore[attr-defined]
    shift = draw.choice([0.0, NEAR, 0.5])
    return replace(model, regression=replace(model.regression, intercept=model.regression.intercept + shift))


def pem_x_model(draw: random.Random) -> Any:
    model = create_metric("pem-x").combined.loaded  # type: ignore[attr-defined]
    return replace(model, unrelated=model.unrelated + draw.choice([0.0, NEAR, 0.1]))


def cremer_model(draw: random.Random) -> Any:
    model = create_metric("cremer").model  # type: ignore[attr-defined]
    return replace(model, highest=model.highest - draw.choice([0.0, NEAR, 2.0]))


def installed_pivots(lang: str, draw: random.Random) -> list[Any]:
    codes = [path.stem.rpartition("-")[2] for path in shipped_folder().glob(f"phrases-{lang}-*.tesla")]
    if not codes:
        return []
    chosen = draw.sample(codes, draw.randint(1, len(codes)))
    if draw.random() < 0.2:  # a table of one's own, with the fingerprint of its changed copy
        table = load_phrase_table(lang, chosen[0])
        return [type(table).from_resource(replace(table.resource)), *chosen[1:]]
    return chosen


@dataclass(frozen=True)
class Setting:
    """What an option is asked for: the metric, the language, and a source of chance."""

    metric: str
    lang: str
    draw: random.Random
    synonyms: tuple[str, ...]


ORDERS = (1, 2, 3, 4, 5, 7)
VALUES: Mapping[str, Callable[[Setting], Any]] = {
    "alpha": lambda s: near(s.draw, 0, 1),
    "analyser": lambda s: s.draw.choice([None, None, Lower(True), Lower(False)]),
    "asian_support": lambda s: s.draw.choice([None, True, False]),
    "beta": lambda s: s.draw.choice([1, 2, 3]),
    "case_sensitive": lambda s: s.draw.random() < 0.5,
    "char_order": lambda s: s.draw.choice(ORDERS),
    "dicomer": lambda s: coherence(s.draw, s.lang),
    "discount": lambda s: s.draw.choice([1, 0.1, 0.5, 0.1234, 0.1235, 0.1111]),
    "doubted": lambda s: near(s.draw, 0, 1),
    "eff": lambda s: s.draw.random() < 0.5,
    "eps": lambda s: s.draw.random() < 0.5,
    "f": lambda s: near(s.draw, 0, 1),
    "kernel": lambda s: s.draw.choice(["linear", "polynomial", "rbf"]),
    "lc": lambda s: s.draw.random() < 0.5,
    "least_ngram_probability": lambda s: near(s.draw, 0, 0.2),
    "least_probability": lambda s: near(s.draw, 0, 0.5),
    "level": lambda s: s.draw.choice(["word", "char"]),
    "lm": lambda s: s.draw.choice([None, ["3gram"]]),
    "max_n": lambda s: s.draw.choice([1, 2, 3]),
    "max_ngram_order": lambda s: s.draw.choice(ORDERS),
    "max_units": lambda s: s.draw.choice([5000, 6000]),
    "model": lambda s: s.draw.choice([
        None, {"pem": pem_model, "pem-x": pem_x_model, "cremer": cremer_model}.get(s.metric, lambda _: None)(s.draw),
    ]),
    "n": lambda s: s.draw.choice(ORDERS),
    "no_punct": lambda s: s.draw.random() < 0.5,
    "normalized": lambda s: s.draw.random() < 0.5,
    "order": lambda s: s.draw.choice([1, 2, 3, 4]),
    "pair_share": lambda s: near(s.draw, 0, 1),
    "part": lambda s: s.draw.choice(["f", "recall", "precision"]),
    "pivots": lambda s: None if s.metric == "pem" else s.draw.choice([None, installed_pivots(s.lang, s.draw) or None]),
    "pre_tokenized": lambda s: s.draw.random() < 0.5,
    "scale": lambda s: s.draw.choice(["log", "raw", "length"]),
    "scaled": lambda s: s.draw.random() < 0.5,
    "segmenter": lambda s: None,
    "share": lambda s: near(s.draw, 0, 1),
    "smooth_method": lambda s: s.draw.choice(["exp", "floor", "add-k", "none"]),
    "smooth_value": lambda s: s.draw.choice([None, 0.101, 0.1, 0.1 + NEAR, 0.3]),
    "split": lambda s: s.draw.random() < 0.5,
    "stem": lambda s: s.draw.random() < 0.5,
    "synonyms": lambda s: s.draw.choice([None, "none", *s.synonyms]),
    "tok": lambda s: s.draw.choice([None, "13a", "intl", "zh", "char", "none"]),
    "variant": lambda s: s.draw.choice(["dicomer", "lin", "lin+c", "lin+e"]),
    "weights": lambda s: (
        discount_units("的了的ist", s.draw.choice([0.1, 0.9])) if s.metric.startswith("celab")
        else linear(s.metric, s.lang, s.draw)
    ),
    "whitespace": lambda s: s.draw.random() < 0.5,
    "window": lambda s: s.draw.choice([1, 2, 3, 4, 9]),
    "word_order": lambda s: s.draw.choice([0, 1, 2, 3]),
}  # fmt: skip


def test_every_option_of_every_metric_is_tried() -> None:
    classes = [entry.load() for name, entry in METRICS.items()]
    assert {name for one in classes for name in one.option_defaults()} == set(VALUES)


@cache
def texts(lang: str) -> tuple[list[str], list[list[str | None]], list[str]]:
    """Hypotheses, two streams of references, and sources."""
    pairs = [tuple(pair) for pair in shipped_pairs(lang)[:SEGMENTS]]
    pairs = pairs or [(text[: len(text) // 2], text) for text in shipped_texts(lang)[:SEGMENTS]]
    hypotheses, references = map(list, zip(*pairs, strict=True))
    hypotheses = [
        f"{text} He did not see 17 cats, nor {index} dogs." for index, text in enumerate(hypotheses)
    ]
    others: list[str | None] = [None, *references[:-1]]
    return hypotheses, [references, others], [f"{text} {other}" for text, other in pairs]


class Found(dict[str, Any]):
    """What a metric says and computes."""


def found(metric: Metric, lang: str) -> Found:
    """The scores of a metric to the last bit, and all names that it gives them."""
    hypotheses, references, sources = texts(lang)
    scored = score_texts(metric, Chunk([hypotheses], references if metric.needs_references else [], sources))
    signature = metric.get_signature()
    parts = (scored.scores, scored.features, scored.statistics)
    return Found(
        scores=[None if part is None else (part.shape, part.tobytes()) for part in parts],
        signature=str(signature),
        of_results=str(signature.with_references(2)),
        of_segments=str(signature.of_segments(2)),
        key=_keys(repr(list(signature.items())), ["a"], [["b"]])[0],
        kept=not signature.is_of_this_process,
    )


class Pairs:
    """Counts pairs of metrics, and collects those whose scores differ although their names do not."""

    def __init__(self) -> None:
        self.count, self.differing = 0, 0
        self.mistaken: list[tuple[object, ...]] = []
        self.tried: Counter[str] = Counter()

    def add(self, first: Found, second: Found, *what: object) -> None:
        self.count += 1
        self.tried[str(what[-1])] += 1
        if first["scores"] == second["scores"]:
            return
        self.differing += 1
        names = ("signature", "of_results", "of_segments", "key")
        if any(first[name] == second[name] for name in names):
            self.mistaken.append((*what, first["of_results"], second["of_results"]))


def pairs_of_options(pairs: Pairs, count: int, seed: int, synonyms: tuple[str, ...]) -> None:
    """Pairs of metrics that differ in one option, drawn evenly over all options of all metrics."""
    draw = random.Random(seed)
    options = [
        (name, option)
        for name, entry in METRICS.items() for option in entry.load().option_defaults()
    ]  # fmt: skip
    while pairs.count < count:
        name, option = options[pairs.count % len(options)] if draw.random() < 0.9 else draw.choice(options)
        entry = METRICS[name]
        setting = Setting(name, draw.choice(["en"] if entry.languages == "en" else LANGUAGES), draw, synonyms)
        others = [one for one in entry.load().option_defaults() if one != option and draw.random() < 0.15]
        try:
            base = {one: VALUES[one](setting) for one in others}
            changed = [VALUES[option](setting) for _ in range(2)]
            if draw.random() < 0.5:
                changed[0] = entry.load().option_defaults()[option]
            metrics = [create_metric(name, setting.lang, **base, **{option: value}) for value in changed]
            scored = [found(metric, setting.lang) for metric in metrics]
        except (TeslaError, ValueError):  # options that exclude each other, or a language without resources
            continue
        pairs.add(*scored, name, setting.lang, changed, option)


def clear_caches() -> None:
    """Forget everything that was loaded."""
    for one in gc.get_objects():
        if isinstance(one, _lru_cache_wrapper) and str(one.__module__).startswith("tesla_eval"):
            one.cache_clear()


def variants(resource: Resource, draw: random.Random) -> Iterator[Resource]:
    """Changed copies of a resource: arrays with other numbers, which may be no sound tables, and another date."""
    names = [name for name, array in resource.arrays.items() if array.size > 1]
    for name in draw.sample(names, len(names)):
        array = np.array(resource.arrays[name])
        place = draw.randrange(array.size // 2, array.size)
        array.reshape(-1)[: place + 1] = np.roll(array.reshape(-1)[: place + 1], 1)
        yield replace(resource, arrays={**resource.arrays, name: array})
    yield replace(resource, provenance=replace(resource.provenance, date="2000-01-01"))


def pairs_of_resources(pairs: Pairs, count: int, seed: int, folder: Path, monkeypatch) -> None:
    """Pairs of metrics of which one reads a changed copy of a resource; those that do not read it do not count."""
    draw = random.Random(seed)
    names = list(METRICS)
    paths = [path for path in resources_in(shipped_folder()) if set(LANGUAGES) & set(path.stem.split("-"))]
    plain: dict[tuple[str, str], Found] = {}
    while pairs.count < count:
        path = draw.choice(paths)
        lang = draw.choice([lang for lang in LANGUAGES if lang in path.stem.split("-")])
        chosen = draw.sample(names, 8)
        monkeypatch.delenv("TESLA_EVAL_DATA", raising=False)
        clear_caches()
        plain |= found_all([name for name in chosen if (name, lang) not in plain], lang)
        for variant in variants(read_resource(path), draw):
            write_resource(folder / str(pairs.count) / path.name, variant)
            monkeypatch.setenv("TESLA_EVAL_DATA", str(folder / str(pairs.count)))
            clear_caches()
            if changed := found_all(chosen, lang):
                break
        for key, result in changed.items():
            if key in plain and result != plain[key]:
                pairs.add(plain[key], result, *key, path.name)
    clear_caches()


def found_all(names: list[str], lang: str) -> dict[tuple[str, str], Found]:
    """What metrics say and compute, as far as they work in a language with the resources that there are."""
    results = {}
    for name in names:
        with suppress(TeslaError, ValueError, RuntimeError):  # a changed table may be no sound one
            results[name, lang] = found(create_metric(name, lang), lang)
    return results


@pytest.fixture
def synonyms(write) -> tuple[str, ...]:
    """Two files of synonyms that differ in where one set ends."""
    return (
        write("one.tsv", ["cat\tdog\tcats", "买\t购", "Katze\tHund"]),
        write("two.tsv", ["cat\tdog", "cats\t买\t购", "Katze\tHund"]),
    )


class TestWhereScoresDifferSignaturesDo:
    def test_for_pairs_that_differ_in_one_option(self, synonyms) -> None:
        pairs = Pairs()
        pairs_of_options(pairs, 200, 1, synonyms)
        assert pairs.mistaken == []
        assert pairs.differing > 50

    def test_for_pairs_that_differ_in_one_resource(self, tmp_path, monkeypatch) -> None:
        pairs = Pairs()
        pairs_of_resources(pairs, 10, 1, tmp_path, monkeypatch)
        assert pairs.mistaken == []
        assert pairs.differing > 0

    @pytest.mark.slow
    def test_for_five_thousand_pairs(self, synonyms, tmp_path, monkeypatch, capsys) -> None:
        options, resources = Pairs(), Pairs()
        pairs_of_options(options, 4500, 2, synonyms)
        pairs_of_resources(resources, 500, 2, tmp_path, monkeypatch)
        with capsys.disabled():
            for pairs, what in ((options, "options"), (resources, "resources")):
                tried = f"{pairs.count} pairs that differ in one of {len(pairs.tried)} {what}"
                print(
                    f"\n{tried}: {pairs.differing} have other scores, {len(pairs.mistaken)} of them the same name"
                )
        assert options.mistaken == resources.mistaken == []


def signatures(*metrics: Metric) -> set[str]:
    """The different signatures of results, all of which must differ from metric to metric."""
    return {str(metric.get_signature().with_references(1)) for metric in metrics}


class TestOptions:
    def test_numbers_are_said_in_full(self) -> None:
        metrics = [TeslaM(alpha=0.12345671), TeslaM(alpha=0.12345679), TeslaM(alpha=1), TeslaM(alpha=1.0)]
        assert [metric.get_signature()["alpha"] for metric in metrics] == [
            "0.12345671",
            "0.12345679",
            "1",
            "1",
        ]
        assert len(signatures(*(TeslaCelab("zh", discount=number) for number in (0.1, 0.1 + NEAR)))) == 2

    def test_what_sacrebleu_leaves_out_or_rounds_is_added(self) -> None:
        metric = Bleu(max_ngram_order=1, smooth_method="floor", smooth_value=0.123)
        text = str(metric.get_signature().with_references(1))
        assert "smooth:floor[0.12]|" in text and text.endswith("|max_ngram_order:1|smooth_value:0.123")
        assert str(create_metric("chrf", beta=3).get_signature().of_segments(1)).endswith("|beta:3")

    def test_two_orders_of_bleu_are_two_columns(self, tmp_path) -> None:
        with ScoreCache(tmp_path) as cache:
            columns = [
                cache.score(Bleu(max_ngram_order=order), ["the cat sat"], [["the cat sat down"]])
                for order in (4, 1, 4)
            ]
        statistics = [column.statistics for column in columns]
        assert [None if part is None else part.shape for part in statistics] == [(1, 10), (1, 4), (1, 10)]

    def test_those_that_a_metric_of_others_forgets_are_added(self) -> None:
        class Forgetful(TeslaM):
            def __init__(self, lang: str = "en", *, magic: float = 1.0, **options: Any) -> None:
                super().__init__(lang, **options)

            def get_signature(self) -> Signature:
                return Signature({"metric": "forgetful", "version": "1"})

        assert Forgetful(magic=0.5).get_signature()["magic"] == "0.5"
        assert Forgetful(alpha=0.5).get_signature()["alpha"] == "0.5"
        assert "magic" not in Forgetful(magic=1).get_signature()


class TestResources:
    @pytest.mark.parametrize(("name", "lang", "key"), [
        ("pem-x", "en", "frequencies"), ("s-source", "en", "frequencies"), ("s-x", "en", "frequencies"),
        ("rouge1", "zh", "segmenter"), ("rougelsum", "ja", "segmenter"),
    ])  # fmt: skip
    def test_these_are_named(self, name: str, lang: str, key: str) -> None:
        path = shipped_folder() / f"{key}-{lang}.tesla"
        assert create_metric(name, lang).get_signature()[key] == read_resource(path).fingerprint

    def test_a_changed_copy_has_a_fingerprint_of_its_own(self) -> None:
        shipped = load_weights("tesla-x", "en")
        weights = shipped.weights.copy()
        weights[0] += NEAR
        models = (
            shipped,
            replace(shipped, weights=weights),
            replace(shipped, scale=replace(shipped.scale, slope=2.0)),
        )
        assert len({model.fingerprint for model in models}) == 3
        assert len(signatures(*(TeslaX("en", weights=model) for model in models), TeslaX("en"))) == 3
        equal = replace(shipped, weights=weights.copy())
        assert equal.fingerprint == models[1].fingerprint
        assert shipped.restricted(shipped.features[1:]).fingerprint != shipped.fingerprint

    def test_a_splitter_of_ones_own_is_named_by_its_content(self) -> None:
        splitters = [CompoundSplitter({"plan": level}) for level in (1, 2, 1)]
        assert len({one.fingerprint for one in splitters}) == 2

    def test_sets_of_synonyms_that_end_elsewhere_are_others(self) -> None:
        assert SynonymSets([["a", "b"], ["c"]]).fingerprint != SynonymSets([["a"], ["b", "c"]]).fingerprint


class TestWhatIsOnlyHere:
    """Functions, and classes that cannot be imported: two that look the same may do different things."""

    def test_functions_of_one_name_are_two(self) -> None:
        metrics = [TeslaCelab("zh", weights=discount_units("的", number)) for number in (0.1, 0.9)]
        assert len(signatures(*metrics)) == 2
        assert all(metric.get_signature()["weights"].startswith("own-") for metric in metrics)

    def test_the_name_is_that_of_the_function(self) -> None:
        rule = discount_units("的", 0.1)
        assert len(signatures(TeslaCelab("zh", weights=rule), TeslaCelab("zh", weights=rule))) == 1

    def test_a_class_that_is_defined_again_is_another(self) -> None:
        def defined(factor: float) -> type[Metric]:
            class Mine(TeslaM):
                def score_segments(self, *texts: Any) -> SegmentScores:
                    scored = super().score_segments(*texts)
                    return replace(scored, scores=factor * scored.scores)

            return Mine

        assert len(signatures(defined(1.0)(), defined(0.5)())) == 2

    def test_an_analyser_of_a_class_that_is_defined_again_is_another(self) -> None:
        def defined(function: bool) -> Any:
            class Mine(Lower):
                pass

            mine = Mine(function)
            mine.name = "mine"
            return mine

        assert len(signatures(*(TeslaM(analyser=defined(function)) for function in (True, False)))) == 2
        assert len(signatures(TeslaM(analyser=Lower(True)), TeslaM(analyser=Lower(True)))) == 1

    def test_their_scores_are_not_kept(self, tmp_path) -> None:
        texts, references = ["我的的猫"], [["我的猫"]]
        with ScoreCache(tmp_path) as cache:
            for number in (0.1, 0.9):
                metric = TeslaCelab("zh", weights=discount_units("的", number))
                cached = cache.score(metric, texts, references)
                assert cached.scores.tolist() == metric.score_segments(texts, references).scores.tolist()
            assert len(cache) == 0
