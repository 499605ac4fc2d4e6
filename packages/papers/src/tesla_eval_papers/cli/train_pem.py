"""`tesla train pem`: PEM's regression from rated paraphrases."""

from __future__ import annotations

from pathlib import Path

import click

from tesla_eval.base.resources import Provenance, missing_resource, write_resource
from tesla_eval.cli.shared.options import language_option, need_scikit_learn, provenance_options
from tesla_eval.cli.shared.outputs import model_option
from tesla_eval.cli.shared.terminal import progress
from tesla_eval.language.analysis.languages import resolve_language
from tesla_eval.language.pivot import STEMS, installed_pivots
from tesla_eval_papers.judgements import FULLY_NOVEL, is_parabank, read_parabank, read_rated_pairs
from tesla_eval_papers.training.regressions import paraphrase_features, train_pem, with_controls


@click.command()
@click.argument("tables", nargs=-1, required=True, metavar="TABLE...")
@language_option
@model_option("pem-CODE.tesla", "-m pem")
@click.option(
    "--pivots", default=None, metavar="CODE[,CODE...]", help="Pivot languages.  [default: all installed]"
)
@click.option(
    "--fully-novel",
    type=click.FloatRange(0, 1, max_open=True),
    default=FULLY_NOVEL,
    metavar="SHARE",
    help="ParaBank: up to this share of common words nothing is taken off a score; a lower one punishes near-copies.",
)
@click.option(
    "--lm",
    "language_model",
    default=None,
    help="The language model's name or file, one of stems.  [default: stems]",
)
@click.option(
    "--controls/--no-controls",
    default=True,
    help="Add the paper's controls: every original itself (2), another original (1), and noise (1).",
)
@click.option(
    "--folds",
    type=click.IntRange(2),
    default=5,
    help="Folds of the grid search; pairs of one original stay together.",
)
@provenance_options("Where the ratings come from; default: the files' names.")
def pem(
    *,
    tables: tuple[str, ...],
    language: str,
    output: Path,
    pivots: str | None,
    fully_novel: float,
    language_model: str,
    controls: bool,
    folds: int,
    provenance: Provenance,
) -> None:
    """Fit PEM to paraphrases that people rated, by support vector regression.

    A TABLE has a first line that names its columns, separated by tabs: original, paraphrase, overall (1 to 5). The
    evaluation data of ParaBank (adequacy_all, grammar_all) is read as it is. Needs scikit-learn:
    pip install "tesla-eval[train]".

    \b
    tesla train pem ratings.tsv -o pem-en.tesla
    tesla train pem parabank_eval.tsv.gz --pivots fr,de --fully-novel 0.75 -o pem-en.tesla
    """
    need_scikit_learn("tesla train pem")
    language = resolve_language(language)
    model_name = language_model or STEMS
    chosen = pivots.split(",") if pivots else installed_pivots(language, stems=True)
    if not chosen:
        raise missing_resource(
            "phrase table of stems", language, f"tesla train phrase-table -l {language} --pivot CODE --stems"
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
            pairs,
            language,
            chosen,
            model_name,
            folds=folds,
            progress=bar,
        )
    write_resource(output, model.to_resource(provenance.or_from(Path(path).name for path in tables)))
    click.echo(f"{output}: {output.stat().st_size / 1000:.0f} kB, pivots {', '.join(model.pivots)}")
    told = model.info
    click.echo(
        f"{told['pairs']} pairs of {told['originals']} originals; C {told['C']:g}, gamma {told['gamma']:g}, "
        f"epsilon {told['epsilon']:g}; Pearson's r over {folds} held-out folds {told['pearson']:.4f}"
    )
