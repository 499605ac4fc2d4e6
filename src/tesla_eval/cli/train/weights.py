"""`tesla train x` and `tesla train f`: the weights of a metric, learned from human judgements."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path

import click

from tesla_eval.cli.shared.options import (
    judgement_options,
    need_scikit_learn,
)
from tesla_eval.cli.shared.outputs import model_option
from tesla_eval.cli.shared.terminal import progress, resumable
from tesla_eval.judgements.meta.run import JudgedSet, analysed_language, wmt_sets
from tesla_eval.judgements.nouns import Key, Preferences
from tesla_eval.judgements.wmt import read_preferences
from tesla_eval.language.analysis.languages import resolve_language
from tesla_eval.language.lm import installed_language_models
from tesla_eval.metrics.cache import ScoreCache
from tesla_eval.metrics.feature_metric import FeatureMetric
from tesla_eval.metrics.features.lm import LanguageModelGroup
from tesla_eval.metrics.tesla_f import TeslaF
from tesla_eval.metrics.tesla_x import TeslaX
from tesla_eval.models.documents import write_document
from tesla_eval.models.linear import ANY_LANGUAGE
from tesla_eval.texts.lines import is_number
from tesla_eval.training.fit import LEARNERS
from tesla_eval.training.judged import collect
from tesla_eval.training.recipe import Recipe, Trained, features_for
from tesla_eval.training.recipe import train as train_model


def _parse_floors(
    context: click.Context, option: click.Parameter, wishes: tuple[str, ...]
) -> dict[str, float]:
    floors = {}
    for wish in wishes:
        name, _, amount = wish.partition("=")
        if not is_number(amount) or not math.isfinite(float(amount)):
            raise click.BadParameter(f"{wish!r} must be KIND=SHARE, such as pos=0.05")
        floors[name] = float(amount)
    return floors


def _weights_command(name: str, metric: type[FeatureMetric], *, logistic_scale: bool) -> click.Command:
    @click.command(name, help=_HELP.format(metric=metric.id.upper(), name=name))
    @judgement_options
    @click.option(
        "-l",
        "--lang",
        "language",
        default="en",
        help=f"Language of the weights; only pairs with this target language are used. {ANY_LANGUAGE}: weights for "
        "every language, learned from all pairs.",
    )
    @model_option(f"weights-{name}-LANG.json", f"-m {name}")
    @click.option(
        "--learner",
        type=click.Choice(LEARNERS),
        default="signed",
        help="From pairs: logistic (logistic loss), svm (the ranking SVM, needs scikit-learn), signed and signed-svm "
        "(the same, but each weight has the sign that its feature should have, or is 0). From scores: regression "
        "(ridge).",
    )
    @click.option(
        "--penalty",
        type=click.FloatRange(0, min_open=True),
        help="L2 penalty. [default: the best in cross-validation]",
    )
    @click.option(
        "--floor",
        "floors",
        multiple=True,
        metavar="KIND=NUMBER",
        callback=_parse_floors,
        help="With --learner signed: give a kind of features at least this share of the weights of all features that "
        "measure agreement, spread evenly over the kind, such as pos=0.05. Give a kind of penalties this weight, such "
        "as padding=0.5. Repeatable. The shares must add up to less than 1.",
    )
    @click.option(
        "--groups",
        metavar="NAME[,NAME...]",
        help=f"Groups of features to learn with: {', '.join(group.name for group in metric.groups)}. "
        "[default: all that are available]",
    )
    @click.option(
        "--without",
        multiple=True,
        metavar="KIND",
        help="Leave out these features: pos leaves out pos.1.p and so on; repeatable.",
    )
    @click.option(
        "--lm",
        "language_models",
        multiple=True,
        metavar="NAME",
        hidden=not any(isinstance(group, LanguageModelGroup) for group in metric.groups),
        help="A language model that is a feature, by its installed name; repeatable. `all`: every installed one.  "
        "[default: 3gram]",
    )
    def command(
        segments: tuple[str, ...], pairs: tuple[str, ...], lps: tuple[str, ...], language: str, output: Path,
        learner: str, penalty: float | None, floors: dict[str, float], threshold: float, groups: str | None,
        without: tuple[str, ...], language_models: tuple[str, ...], day: str, jobs: int, no_cache: bool,
    ) -> None:  # fmt: skip
        if learner == "svm":
            need_scikit_learn("--learner svm")
        code = ANY_LANGUAGE if language == ANY_LANGUAGE else resolve_language(language)
        recipe = Recipe(
            metric, code, tuple(groups.split(",")) if groups else None, without, learner, penalty, floors,
            chosen_language_models(code, language_models), logistic_scale=logistic_scale, date=day,
        )  # fmt: skip
        uncombined = features_for(recipe, jobs)
        judged = _judged(segments, read_preferences(*pairs), lps, code)
        with (
            resumable(None if no_cache else "the cache"),
            ScoreCache(on_disk=not no_cache) as cache,
            progress() as bar,
        ):
            sets = collect(judged, uncombined, cache, threshold=threshold, progress=bar)
        with progress() as bar:
            trained = train_model(recipe, sets, uncombined(sets[0].name.split()[0]), bar)
        write_document(output, trained.model)
        for line in _report(output, trained):
            click.echo(line)

    return command


def chosen_language_models(language: str, names: tuple[str, ...]) -> tuple[str, ...] | None:
    """The language models that `--lm` names, `all` for every installed one; each must be installed."""
    installed = installed_language_models(language)
    chosen = tuple(dict.fromkeys(one for name in names for one in (installed if name == "all" else (name,))))
    for name in chosen:
        if name not in installed:
            known = f"; there are {', '.join(installed)}" if installed else ""
            raise click.UsageError(
                f"--lm {name}: no such language model is installed for {language!r}{known}"
            )
    return chosen or None


def _judged(
    segments: tuple[str, ...], preferences: Mapping[Key, Preferences], lps: tuple[str, ...], language: str
) -> Iterator[JudgedSet]:
    for one in wmt_sets(segments, preferences, {}, lps):
        if language in (ANY_LANGUAGE, analysed_language(one.outputs.lp)):
            yield one


def _report(output: Path, trained: Trained) -> Iterator[str]:
    for validation in trained.validations:
        by_set = validation.by_test_set
        yield (
            f"{validation.learner}, penalty {validation.penalty:g}: "
            f"τ of other segments {validation.by_segment:.4f}"
            f"{'' if by_set is None else f', of other test sets {by_set:.4f}'}"
        )
    model = trained.model
    yield f"{output}: {len(model.features)} weights, penalty {model.training['penalty']:g}, learned from"
    yield from (f"  {line}" for line in model.data)


_HELP = """Learn the weights of {metric} from rankings, or from scores.

Features are computed once and kept in the cache; the same files and options then give the same weights, to the bit.

\b
tesla train {name} --segments wmt12.seg.tsv.gz --pairs wmt12.pairs.tsv.gz -o weights-{name}-en.json
tesla train {name} --segments wmt24.seg.tsv.gz -l und --threshold 0.5 -o weights-{name}-und.json
"""


f = _weights_command("f", TeslaF, logistic_scale=False)
x = _weights_command("x", TeslaX, logistic_scale=True)
