"""Every parameter of the papers from the command line (specification §2–§13), and where it is described."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from tesla_eval import TeslaF, create_metric
from tesla_eval.base.errors import ResourceError, UsageError
from tesla_eval.base.resources import find_resource, write_resource
from tesla_eval.metrics.features.lm import LanguageModelGroup
from tesla_eval.metrics.registry import registered
from tesla_eval.metrics.requests import parse_requests
from tesla_eval.models.linear import load_weights
from tesla_eval.training.recipe import Recipe, features_for
from tesla_eval_papers.discourse.roles import VARIANTS, load_coherence_model, variant_kind
from tesla_eval_papers.models.svr import kernel_kind, load_pem_model

PAIR = "The cats sat on a mat.", ["The cat sat on the mat."]


@pytest.mark.parametrize(("spelling", "signature"), [
    ("m:alpha=0.5,discount=1,max_n=2", ("alpha:0.5", "discount:1", "max_n:2")),
    ("b:pivots=fr+de", ("pivots:fr.",)),
    ("f:scaled=no", ("scaled:no",)),
    ("celab:order=3,f=0.5", ("order:3", "f:0.5")),
])  # fmt: skip
def test_options_of_the_papers(spelling, signature):
    (request,) = parse_requests([spelling])
    metric = create_metric(request.entry.name, "en", **request.options)
    assert all(part in str(metric.get_signature()) for part in signature)
    plain = create_metric(request.entry.name, "en")
    assert metric.sentence_score(*PAIR).score != plain.sentence_score(*PAIR).score


TEXT = "Tom fell ill. He stayed at home because he had a fever. But his fever soon went down. Then he left."


SHIPPED_VARIANTS = [one for one in VARIANTS if find_resource(variant_kind(one), "en") is not None]
SHIPPED_KERNELS = [
    kernel
    for kernel, stored in {"linear": "linear", "polynomial": "poly", "rbf": "rbf"}.items()
    if find_resource(kernel_kind(stored), "en") is not None
]


def test_the_default_models_ship():
    assert "dicomer" in SHIPPED_VARIANTS
    assert "rbf" in SHIPPED_KERNELS


@pytest.mark.parametrize("variant", SHIPPED_VARIANTS)
def test_dicomer_takes_the_model_of_the_variant(variant):
    (request,) = parse_requests([f"dicomer:variant={variant}"])
    metric = create_metric("dicomer", "en", **request.options)
    assert metric.model.variant == variant
    assert f"variant:{variant}" in str(metric.get_signature())
    explicit = any(name.startswith(("E.", "N.")) for name in metric.model.weights)
    assert explicit == (variant in ("lin+e", "dicomer"))
    assert metric.sentence_score(TEXT).score != 0


@pytest.mark.parametrize("kernel", SHIPPED_KERNELS)
def test_cremer_takes_the_model_of_the_kernel(kernel):
    (request,) = parse_requests([f"cremer:kernel={kernel}"])
    metric = create_metric("cremer", "en", **request.options)
    stored = "poly" if kernel == "polynomial" else kernel
    assert metric.model.regression.kernel == stored
    assert f"kernel:{stored}" in str(metric.get_signature())
    assert 0 < metric.sentence_score(TEXT, [TEXT]).score < 6


def test_a_variant_of_ones_own_is_found_by_its_name(monkeypatch, tmp_path):
    model = replace(load_coherence_model("en"), variant="lin", weights={"nil→nil": 1.0})
    write_resource(tmp_path / f"{variant_kind('lin')}-en.tesla", model.to_resource("en"))
    monkeypatch.setenv("TESLA_EVAL_DATA", str(tmp_path))
    load_coherence_model.cache_clear()
    metric = create_metric("dicomer", "en", variant="lin")
    assert metric.model.variant == "lin"
    assert "variant:lin" in str(metric.get_signature())
    load_coherence_model.cache_clear()


def test_a_model_that_is_not_installed_says_how_to_make_it(monkeypatch):
    monkeypatch.setattr("tesla_eval_papers.discourse.roles.find_resource", lambda kind, language: None)
    load_coherence_model.cache_clear()
    with pytest.raises(ResourceError, match=r"tesla train dicomer --variant lin\+e -l en"):
        create_metric("dicomer", "en", variant="lin+e")
    load_coherence_model.cache_clear()


def test_unknown_variants_and_kernels_are_refused():
    with pytest.raises(UsageError, match="one of lin, lin\\+c, lin\\+e, dicomer, not 'tree'"):
        create_metric("dicomer", "en", variant="tree")
    with pytest.raises(UsageError, match="one of linear, polynomial, rbf"):
        create_metric("cremer", "en", kernel="sigmoid")


def test_metrics_lists_options_with_default_and_section(tesla):
    outcome = tesla("metrics", "dicomer")
    assert "lin | lin+c | lin+e | dicomer" in outcome.out
    assert "§11" in outcome.out
    for name in ("m", "b", "f", "s", "celab", "pem", "dicomer", "cremer", "maxsim"):
        described = json.loads(tesla("metrics", name, "--json").out)
        assert described["options"], name
        assert all(option["section"].startswith("§") for option in described["options"]), name


def test_every_section_is_that_of_an_option():
    for entry in registered().values():
        metric = entry.load()
        assert set(metric.option_sections()) <= set(metric.option_defaults()), entry.name


class TestLanguageModels:
    """specification §8: for each language model the normalised score is a feature."""

    def second_model(self, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
        source = find_resource("lm-4gram", "en")
        assert source is not None
        shutil.copy(source, folder / "lm-news-en.tesla")
        monkeypatch.setenv("TESLA_EVAL_DATA", str(folder))

    def test_every_named_model_is_a_feature_in_training(self, monkeypatch, tmp_path):
        self.second_model(monkeypatch, tmp_path)
        metric = features_for(Recipe(TeslaF, "en", language_models=("3gram", "news")))("de-en")
        names = [name for name in metric.feature_names if name.startswith("lm.")]
        assert names == ["lm.3gram", "lm.news"]
        features = metric.sentence_score(*PAIR).features
        single = features_for(Recipe(TeslaF, "en"))("de-en").sentence_score(*PAIR).features
        assert features["lm.3gram"] == single["lm.3gram"] != features["lm.news"]

    def test_scoring_takes_the_models_of_the_weights(self, monkeypatch, tmp_path):
        self.second_model(monkeypatch, tmp_path)
        shipped = load_weights("tesla-f", "en")
        names = tuple(name.replace("lm.3gram", "lm.news") for name in shipped.features)
        weights = replace(shipped, features=names)
        metric = TeslaF("en", weights=weights, lm=["news"])
        assert "lm.news" in metric.feature_names
        assert "lm.news:" in str(metric.get_signature())
        with pytest.raises(ResourceError, match="learned with the language models news, not with 3gram"):
            TeslaF("en", weights=weights, lm=["3gram"])
        monkeypatch.delenv("TESLA_EVAL_DATA")
        with pytest.raises(ResourceError, match="need the language model 'news', which is not installed"):
            TeslaF("en", weights=weights)

    def test_the_command_line(self, tesla, write):
        files = write("r.txt", ["The cat sat."]), write("s.txt", ["A cat sat."])
        assert tesla("score", "-r", *files, "-m", "f:lm=3gram").status == 0
        outcome = tesla("score", "-r", *files, "-m", "f:lm=3gram+4gram")
        assert outcome.status == 2
        assert "tesla train f --lm NAME" in outcome.err
        outcome = tesla("train", "f", "--segments", "x.tsv", "-o", "w.json", "--lm", "none")
        assert "--lm none: no such language model is installed for 'en'; there are 3gram" in outcome.err

    def test_one_model_by_default(self):
        assert LanguageModelGroup().models == ("3gram",)


class TestPaperPem:
    def test_the_model_is_made_as_the_paper_says(self):
        metric = create_metric("pem", "en")
        model = metric.combined.loaded
        assert model.pivots == ("zh",)
        assert model.info["originals"] == 200
        signature = str(metric.get_signature())
        assert "lemmas:porter|punctuation:kept|" in signature
        assert re.search(r"pivots:zh\.\w+\.min8\b", signature)

    def test_another_pivot_needs_a_table_of_stems(self):
        with pytest.raises(ResourceError, match=r"installed pivot languages: zh.*--pivot de --stems"):
            create_metric("pem", "en", pivots=["de"])

    def test_the_kernel_has_one_width(self):
        """The model divides each feature by its own deviation in the data, and by nothing else."""
        model = load_pem_model("en")
        vectors = model.regression.vectors * model.regression.deviations + model.regression.means
        assert (vectors[:, [0, 2]] >= -1e-12).all()
        assert (vectors[:, [0, 2]] <= 1 + 1e-12).all()
        assert model.regression.deviations[2] == pytest.approx(vectors[:, 2].std(), rel=0.3)


def test_pem_is_the_papers_and_has_no_option_for_it(tesla, write) -> None:
    text = write("text.txt", ["The police arrested two men."])
    refused = tesla("score", "-l", "en", "-m", "pem:paper=yes", "-r", text, text)
    assert refused.status == 2
    assert "paper" in refused.err
