"""`tesla train pem`: PEM's regression from rated paraphrases."""

from __future__ import annotations

from pathlib import Path

import click

from tesla_eval.analysis.languages import resolve_language
from tesla_eval.cli.options import language_option, provenance_options
from tesla_eval.cli.terminal import progress
from tesla_eval.judgements.paraphrases import FULLY_NOVEL, is_parabank, read_parabank, read_rated_pairs
from tesla_eval.metrics.groups.paraphrases import LEAST_COUNT
from tesla_eval.pivot import installed_pivots
from tesla_eval.resources import Provenance, find_resource, missing_resource, write_resource
from tesla_eval.training.regressions import paraphrase_features, train_pem, with_controls

__all__ = ["pem"]


@click.command()
@click.argument("tables", nargs=-1, required=True, metavar="TABLE...")
@language_option
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(path_type=Path, dir_okay=False),
    help="Where the model goes: pem-CODE.tesla in your data folder is found by itself.",
)
@click.option(
    "--pivots", default=None, metavar="CODE[,CODE...]", help="Pivot languages.  [default: all installed]"
)
@click.option(
    "--least-count",
    type=click.IntRange(0),
    default=LEAST_COUNT,
    show_default=True,
    help="Leave out phrases of several words that the phrase tables' bitext has less often.",
)
@click.option(
    "--fully-novel",
    type=click.FloatRange(0, 1, max_open=True),
    default=FULLY_NOVEL,
    show_default=True,
    metavar="SHARE",
    help="ParaBank: up to this share of common words nothing is taken off a score; a lower one punishes near-copies.",
)
@click.option(
    "--lm",
    "language_model",
    default=None,
    help="The language model's name or file.  [default: 4gram, or 3gram where there is none]",
)
@click.option(
    "--controls/--no-controls",
    default=True,
    show_default=True,
    help="Add controls: every original itself (2), another original (1), noise (1), and some with words shuffled (1).",
)
@click.option(
    "--folds",
    type=click.IntRange(2),
    default=5,
    show_default=True,
    help="For the grid search; pairs of one original stay together.",
)
@provenance_options("Where the ratings come from; default: the files' names.")
def pem(
    *,
    tables: tuple[str, ...],
    language: str,
    output: Path,
    pivots: str | None,
    least_count: int,
    fully_novel: float,
    language_model: str,
    controls: bool,
    folds: int,
    licence: str,
    sources: tuple[str, ...],
    day: str,
) -> None:
    """Fit PEM to paraphrases that people rated, by support vector regression.

    A TABLE has a first line that names its columns, separated by tabs: original, paraphrase, overall (1 to 5). The
    evaluation data of ParaBank (adequacy_all, grammar_all) is read as it is. Needs scikit-learn:
    pip install "tesla-eval[train]".

    \b
    tesla train pem ratings.tsv -o pem-en.tesla
    tesla train pem parabank_eval.tsv.gz --pivots fr,de --fully-novel 0.75 -o pem-en.tesla
    """
    language = resolve_language(language)
    model_name = language_model or _default_model(language)
    chosen = pivots.split(",") if pivots else installed_pivots(language)
    if not chosen:
        raise missing_resource(
            "phrase table", language, f"tesla build phrase-table -l {language} --pivot CODE"
        )
    pairs = [
        pair
        for path in tables
        for pair in (
            read_parabank(path, language, fully_novel) if is_parabank(path) else read_rated_pairs(path)
        )
    ]
    if controls:
        pairs = with_controls(pairs, paraphrase_features(language, chosen, model_name))
    with progress() as bar:
        model = train_pem(
            pairs, language, chosen, model_name, least_count=least_count, folds=folds, progress=bar
        )
    provenance = Provenance(sources, licence, day).or_from(Path(path).name for path in tables)
    write_resource(output, model.to_resource(provenance))
    click.echo(f"{output}: {output.stat().st_size / 1000:.0f} kB, pivots {', '.join(model.pivots)}")
    told = model.info
    click.echo(
        f"{told['pairs']} pairs of {told['originals']} originals; C {told['C']:g}, gamma {told['gamma']:g}, "
        f"epsilon {told['epsilon']:g}; Pearson's r over {folds} held-out folds {told['pearson']:.4f}"
    )


def _default_model(language: str) -> str:
    """Specification §8: PEM takes a model of order 4; languages without one make do with the trigrams."""
    there = [name for name in ("4gram", "3gram") if find_resource(f"lm-{name}", language) is not None]
    return there[0] if there else "4gram"
