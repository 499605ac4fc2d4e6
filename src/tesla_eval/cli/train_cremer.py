"""`tesla train cremer`: the regression from TESLA-S and DICOMER to overall human scores."""

from __future__ import annotations

from pathlib import Path

import click

from tesla_eval.cli.options import language_option, need_scikit_learn, provenance_options
from tesla_eval.cli.terminal import progress
from tesla_eval.meta.summaries import OVERALL, read_summaries
from tesla_eval.metrics.dicomer import Dicomer
from tesla_eval.metrics.tesla_s import TeslaS
from tesla_eval.models.svr import KERNELS
from tesla_eval.resources import write_resource
from tesla_eval.training.cremer import GRIDS, cremer_rows, train_cremer
from tesla_eval.training.text_lists import choose_human

__all__ = ["cremer"]


@click.command(context_settings={"max_content_width": 110})
@click.argument("summaries", metavar="SUMMARIES")
@click.option(
    "--human",
    default=OVERALL,
    show_default=True,
    metavar="NAME",
    help="The human score to predict; mean: SummEval's.",
)
@click.option("--kernel", type=click.Choice(KERNELS), default="rbf", show_default=True)
@click.option(
    "--dicomer", "coherence", metavar="FILE", help="Your own DICOMER model.  [default: the installed one]"
)
@click.option(
    "--folds", type=click.IntRange(2), default=5, show_default=True,
    help="For the grid search; summaries of a topic stay together.",
)  # fmt: skip
@language_option
@click.option(
    "-o", "--output", required=True, type=click.Path(path_type=Path, dir_okay=False),
    help="Where the model goes: cremer-CODE.tesla in a folder of `tesla resources`.",
)  # fmt: skip
@provenance_options()
def cremer(
    *, summaries: str, human: str, kernel: str, coherence: str | None, folds: int, language: str, output: Path,
    licence: str, sources: tuple[str, ...], day: str,
) -> None:  # fmt: skip
    """Fit CREMER to summaries that people scored, by support vector regression.

    SUMMARIES: JSON Lines or a folder, as for `tesla meta --summaries`, with human scores. A DICOMER model that learned
    from the same summaries knows them too well: its scores are then too good for this. Needs scikit-learn
    (pip install 'tesla-eval[train]').

    \b
    tesla train cremer summeval -o cremer-en.tesla
    tesla train cremer judged.jsonl --human responsiveness --kernel poly -o cremer-en.tesla
    """
    need_scikit_learn("tesla train cremer")
    judged = read_summaries(summaries)
    table = judged.human[choose_human(judged, human)]
    dicomer = Dicomer(language, model=coherence)
    with progress("summaries", table.size) as bar:
        rows, targets, topics = cremer_rows(judged, table, TeslaS(language), dicomer, advance=bar.advance)
    with progress("grid", GRIDS[kernel].size) as bar:
        model, info = train_cremer(
            rows,
            targets,
            topics,
            kernel=kernel,
            folds=folds,
            dicomer=dicomer.model.fingerprint,
            advance=bar.advance,
        )
    code = dicomer.parser.pipeline.language
    write_resource(output, model.to_resource(code, sources=sources, licence=licence, date=day, info=info))
    click.echo(
        f"{output}: {output.stat().st_size / 1000:.0f} kB; {kernel}, C {info['C']:g}, gamma {info['gamma']:g}, "
        f"epsilon {info['epsilon']:g}; Pearson's r over {folds} held-out folds {info['pearson']:.4f}"
    )
