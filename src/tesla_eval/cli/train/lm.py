"""`tesla train lm`: a language model from text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from tesla_eval.base.errors import UsageError
from tesla_eval.base.resources import SUFFIX, Provenance, Resource, read_resource, write_resource
from tesla_eval.cli.shared.options import language_option, provenance_options
from tesla_eval.cli.shared.terminal import progress, warn
from tesla_eval.language.lm import LanguageModel
from tesla_eval.texts.lines import STANDARD_INPUT, read_in_step, read_lines
from tesla_eval.training.language_models import (
    LONGEST,
    LanguageModelSettings,
    TrainedModel,
    model_resource,
    train_language_model,
    write_arpa,
)

_ARPA = (".arpa", ".arpa.gz")
_MEGABYTE = 1 << 20


@click.command()
@click.argument("texts", nargs=-1, required=True, metavar="TEXT...")
@language_option
@click.option(
    "-o",
    "--output",
    "outputs",
    required=True,
    multiple=True,
    type=click.Path(path_type=Path, dir_okay=False),
    help=f"Where the model goes: a name ending in {SUFFIX}, or in .arpa or .arpa.gz; repeatable.",
)
@click.option(
    "--order",
    type=click.IntRange(1, LONGEST),
    default=LanguageModelSettings.order,
    help="The longest n-grams.",
)
@click.option(
    "--min-count",
    type=click.IntRange(1),
    default=LanguageModelSettings.least_count,
    help="Words seen less often become <unk>.",
)
@click.option(
    "--prune",
    default="0",
    metavar="N[,N...]",
    help="By order: leave out n-grams seen at most this often; the last number applies to higher orders.",
)
@click.option("--stems", is_flag=True, help="A model for -m pem: stems of English words.")
@click.option(
    "--round", "rounded", is_flag=True, help=f"Keep eight bits of each probability in the {SUFFIX} file."
)
@click.option(
    "--memory", type=click.IntRange(1), default=1024, help="Megabytes for sorting; the rest goes to disk."
)
@click.option(
    "--temp",
    "folder",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Folder for temporary files; default: the system's.",
)
@click.option("--test", "test", metavar="FILE", help="Text to measure the perplexity on.")
@provenance_options("Where the text comes from; default: the files' names.")
def lm(
    *,
    texts: tuple[str, ...],
    language: str,
    outputs: tuple[Path, ...],
    order: int,
    min_count: int,
    prune: str,
    stems: bool,
    rounded: bool,
    memory: int,
    folder: Path | None,
    test: str | None,
    provenance: Provenance,
) -> None:
    """Learn a language model from text, one sentence per line, by modified Kneser–Ney smoothing.

    The text is read twice and may be larger than memory. A model called lm-NAME-LANG.tesla in your data folder
    (see `tesla resources`) is found by its NAME.

    \b
    tesla train lm -l en -o lm-news-en.tesla news.en.gz more.en
    tesla train lm -l de --order 5 --prune 0,0,1 -o de.arpa.gz corpus.de.gz
    """
    if STANDARD_INPUT in texts:
        raise UsageError("the text is read twice, so it cannot be standard input: write it to a file")
    _check_outputs(outputs)
    named = provenance.or_from(Path(text).name for text in texts)
    settings = LanguageModelSettings(order, min_count, _numbers(prune), stems, memory * _MEGABYTE)

    def chunks() -> Iterator[Sequence[str]]:
        for path in texts:
            for (chunk,) in read_in_step([path]):
                yield chunk

    with (
        progress() as bar,
        train_language_model(chunks, language, settings, folder=folder, progress=bar) as model,
    ):
        bar.stage("writing")
        for n in model.fallbacks:
            warn(
                f"order {n}: too few counts to compute discounts (Chen & Goodman); 0.5, 1 and 1.5 are used instead"
            )
        for path in outputs:
            if path.name.endswith(_ARPA):
                write_arpa(path, model)
            else:
                _write(path, model_resource(model, rounded=rounded, provenance=named), test)
        _report(model, outputs)


def _write(path: Path, resource: Resource, test: str | None) -> None:
    write_resource(path, resource)
    if test is not None:
        perplexity = LanguageModel(read_resource(path)).perplexity(read_lines(test))
        click.echo(f"{test}: perplexity {perplexity:.2f}")


def _report(model: TrainedModel, outputs: Sequence[Path]) -> None:
    for path in outputs:
        click.echo(f"{path}: {path.stat().st_size / 1000:.0f} kB")
    counts = ", ".join(f"{model.ngrams(n)}" for n in range(1, model.settings.order + 1))
    click.echo(f"{model.tokens} words read; n-grams by order: {counts}")
    for n, values in enumerate(model.discounts, 1):
        click.echo(f"discounts of order {n}: {', '.join(f'{value:.4f}' for value in values)}")


def _check_outputs(outputs: Sequence[Path]) -> None:
    for path in outputs:
        if not path.name.endswith((SUFFIX, *_ARPA)):
            raise UsageError(f"{path}: the name must end in {SUFFIX}, .arpa or .arpa.gz")
        if not path.parent.is_dir():
            raise UsageError(f"{path.parent}: this folder does not exist")


def _numbers(prune: str) -> tuple[int, ...]:
    try:
        return tuple(int(number) for number in prune.split(","))
    except ValueError:
        raise UsageError(f"--prune {prune!r}: must be whole numbers separated by commas") from None
