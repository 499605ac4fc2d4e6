"""`tesla train srl`: the role labeller of nouns, and the paper's selection of features."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from tesla_eval.base.errors import UsageError
from tesla_eval.base.resources import Provenance, write_resource
from tesla_eval.cli.shared.options import language_option, provenance_options
from tesla_eval.cli.shared.outputs import model_option
from tesla_eval.cli.shared.terminal import progress
from tesla_eval_papers.srl.frames import read_nomtypes
from tesla_eval_papers.srl.nombank import read_gold
from tesla_eval_papers.syntax.tree_parser import load_tree_parser
from tesla_eval_papers.syntax.treebank import TreebankSentence
from tesla_eval_papers.training.srl import (
    DIMENSIONS,
    LEARNERS,
    SMALLEST_WEIGHT,
    TOLERANCE,
    collect_examples,
    train_labeller,
)


@click.command()
@click.argument("data", metavar="DATA")
@language_option
@model_option("srl-CODE.tesla", "`tesla srl`", required=False)
@click.option(
    "--split", default="train", help="Learn from this split; for NomBank, train is sections 2 to 21."
)
@click.option(
    "--treebank", type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Folder of the Penn Treebank .mrg files, if DATA is NomBank 1.0 (one proposition per line).",
)  # fmt: skip
@click.option(
    "--frames", metavar="FILE", help="A table of rolesets with noun aliases, for the feature nomtype."
)
@click.option(
    "--trees", type=click.Choice(("gold", "auto")), default="gold",
    help="Learn from the treebank's trees or from our own.",
)  # fmt: skip
@click.option("--learner", type=click.Choice(LEARNERS), default="aso", help="The learning method.")
@click.option(
    "--dimensions",
    type=click.IntRange(0),
    default=DIMENSIONS,
    help="aso: number of dimensions of the shared structure.",
)
@click.option(
    "--classification-dimensions", type=click.IntRange(0),
    help="aso: the same for classification; 0 is the linear classifier.  [default: as --dimensions]",
)  # fmt: skip
@click.option(
    "--tolerance", type=click.FloatRange(0, 1, min_open=True), default=TOLERANCE,
    help="Stop when the gradient has shrunk to this fraction of its first norm.",
)  # fmt: skip
@click.option(
    "--select-features", "dev_split", metavar="SPLIT",
    help="Instead of training, remove features from the pool of 52 while F1 of classification on SPLIT does not drop.",
)  # fmt: skip
@click.option("--steps", type=click.IntRange(1), help="--select-features: remove at most this many features.")
@click.option(
    "--every", type=click.IntRange(1), default=1,
    help="--select-features: learn from every Nth sentence only, to save time.",
)  # fmt: skip
@provenance_options("Where the data comes from; default: the file's name.")
def srl(
    *,
    data: str,
    language: str,
    output: Path | None,
    split: str,
    treebank: Path | None,
    frames: str | None,
    trees: str,
    learner: str,
    dimensions: int,
    classification_dimensions: int | None,
    tolerance: float,
    dev_split: str | None,
    steps: int | None,
    every: int,
    provenance: Provenance,
) -> None:
    """Learn to label the arguments of nouns.

    DATA is JSON Lines with tokens, pos, tree and preds, or, with --treebank, propositions of NomBank. Needs
    scikit-learn: pip install "tesla-eval[train]".

    \b
    tesla train srl treebank.jsonl.gz --frames rolesets.tsv.gz -o srl-en.tesla
    tesla train srl nombank.1.0 --treebank wsj -o srl-en.tesla
    tesla train srl nombank.1.0 --treebank wsj --select-features dev
    tesla train srl treebank.jsonl.gz --frames rolesets.tsv.gz --select-features dev
    """
    nomtypes = read_nomtypes(frames) if frames else {}
    sentences = read_gold(data, treebank, split)
    if dev_split is not None:
        _select(sentences[::every], read_gold(data, treebank, dev_split), nomtypes, steps, tolerance)
        return
    if output is None:
        raise UsageError("give -o FILE for the model, or --select-features SPLIT")
    with progress() as bar:
        bar.stage("features")
        used = [sentence.tree for sentence in sentences]
        if trees == "auto":
            used = [p.tree for p in load_tree_parser(language).parse_tokens([s.tokens for s in sentences])]
        examples = collect_examples(sentences, used, nomtypes)
        labeller = train_labeller(
            examples, nomtypes, learner, dimensions=dimensions,
            classification_dimensions=classification_dimensions, smallest=SMALLEST_WEIGHT,
            tolerance=tolerance, progress=bar.stage,
        )  # fmt: skip
    info = {
        "learner": learner, "dimensions": dimensions, "classification_dimensions": classification_dimensions,
        "trees": trees, "sentences": len(sentences),
        **({} if tolerance == TOLERANCE else {"tolerance": tolerance}),
    }  # fmt: skip
    resource = labeller.to_resource(language, info)
    write_resource(output, replace(resource, provenance=provenance.or_from([Path(data).name])))
    counts = (
        f"{len(examples.classification.rows)} arguments in {len(examples.identification.rows)} constituents"
    )
    click.echo(f"{output}: {output.stat().st_size / 1000:.0f} kB, {counts}, {len(examples.roles)} roles")


def _select(
    train: list[TreebankSentence],
    dev: list[TreebankSentence],
    nomtypes: dict[str, str],
    steps: int | None,
    tolerance: float,
) -> None:
    from tesla_eval_papers.training.srl_selection import SelectionStep, select_backwards

    def tell(step: SelectionStep) -> None:
        what = f"without {step.removed}" if step.removed else "all features"
        click.echo(f"{step.f1:.4f}  {len(step.left):2}  {what}")

    chosen = select_backwards(train, dev, nomtypes, most_steps=steps, tolerance=tolerance, after_step=tell)[
        -1
    ]
    click.echo(f"left: {', '.join(chosen.left)}")
