"""`tesla train dicomer` and `cremer`: readability and quality from scored texts."""

from __future__ import annotations

from pathlib import Path

import click

from tesla_eval.base.resources import Provenance, write_resource
from tesla_eval.cli.shared.options import language_option, need_scikit_learn, provenance_options
from tesla_eval.cli.shared.outputs import model_option
from tesla_eval.cli.shared.terminal import progress
from tesla_eval.judgements.summaries import OVERALL, choose_human, read_summaries, read_text_lists
from tesla_eval.metrics.tesla_s import TeslaS
from tesla_eval.texts.lines import LineReader
from tesla_eval_papers.discourse.relation_parser import load_discourse_parser
from tesla_eval_papers.discourse.roles import VARIANTS, Variant
from tesla_eval_papers.metrics.dicomer import Dicomer
from tesla_eval_papers.models.svr import KERNELS
from tesla_eval_papers.training.dicomer import permuted_lists, scored_lists, train_coherence
from tesla_eval_papers.training.regressions import cremer_rows, train_cremer


@click.command()
@click.argument("lists", nargs=-1, metavar="LISTS...")
@click.option(
    "--human", metavar="NAME", help="The human score of summaries that have several, such as coherence."
)
@click.option(
    "--permute", "texts", multiple=True, metavar="FILE",
    help="A text to be ranked above 20 permutations of its sentences; repeatable.",
)  # fmt: skip
@click.option("--variant", type=click.Choice(VARIANTS), default="dicomer")
@click.option(
    "--cost",
    type=click.FloatRange(0, min_open=True),
    help="The SVM's C.  [default: SVM-light's, from the data]",
)
@language_option
@model_option("dicomer-CODE.tesla", "-m dicomer")
@provenance_options()
def dicomer(
    *, lists: tuple[str, ...], human: str | None, texts: tuple[str, ...], variant: Variant,
    cost: float | None, language: str, output: Path, provenance: Provenance,
) -> None:  # fmt: skip
    """Learn which transitions of discourse roles make a text readable: a linear ranking SVM. Experimental.

    LISTS are JSON Lines of {"list": NAME, "text": TEXT, "score": NUMBER}; texts are compared within their list.
    Summaries with human scores (JSON Lines or folders, as for `tesla meta --summaries`) are one list per topic.
    Needs scikit-learn (pip install 'tesla-eval[train]').

    \b
    tesla train dicomer essays.jsonl -o dicomer-en.tesla
    tesla train dicomer summeval --human coherence -o dicomer-en.tesla
    tesla train dicomer --permute a.txt --permute b.txt --variant lin -o dicomer-en.tesla
    """
    if not lists and not texts:
        raise click.UsageError("give lists of scored texts, or texts with --permute")
    need_scikit_learn("tesla train dicomer")
    parser = load_discourse_parser(language)
    ranked = []
    for path in lists:
        read = read_text_lists(path, human)
        with progress("reading (lists)", len(read)) as bar:
            for one in read:
                documents = parser.documents([text for text, _ in one])
                scored = list(zip(documents, (score for _, score in one), strict=True))
                ranked.extend(scored_lists(parser.parser, [scored], [variant])[variant])
                bar.advance(1)
    wholes = {path: parser.documents(["\n".join(LineReader(path))])[0] for path in texts}
    with progress() as bar:
        permuted = permuted_lists(parser.parser, wholes, [variant], progress=bar)
    model = train_coherence(ranked + permuted[variant], variant, cost=cost, parser=parser.fingerprint)
    write_resource(output, model.to_resource(parser.pipeline.language, provenance))
    told = model.info
    click.echo(
        f"{output}: {output.stat().st_size / 1000:.0f} kB, {len(model.weights)} features of {variant}, "
        f"{told['lists']} lists, {told['texts']} texts, {told['pairs']} pairs"
    )


@click.command()
@click.argument("summaries", metavar="SUMMARIES")
@click.option(
    "--human", default=OVERALL, metavar="NAME", help="The human score to predict; mean: SummEval's."
)
@click.option("--kernel", type=click.Choice(KERNELS), default="rbf")
@click.option(
    "--dicomer", "coherence", metavar="FILE", help="Your own DICOMER model.  [default: the installed one]"
)
@click.option(
    "--folds", type=click.IntRange(2), default=5,
    help="For the grid search; summaries of a topic stay together.",
)  # fmt: skip
@language_option
@model_option("cremer-CODE.tesla", "-m cremer")
@provenance_options()
def cremer(
    *, summaries: str, human: str, kernel: str, coherence: str | None, folds: int, language: str, output: Path,
    provenance: Provenance,
) -> None:  # fmt: skip
    """Fit CREMER to summaries that people scored, by support vector regression.

    SUMMARIES: JSON Lines or a folder, as for `tesla meta --summaries`, with human scores. Use a DICOMER model that did
    not learn from the same summaries; otherwise its scores are too good to learn from. Needs scikit-learn
    (pip install 'tesla-eval[train]').

    \b
    tesla train cremer summeval -o cremer-en.tesla
    tesla train cremer judged.jsonl --human responsiveness --kernel poly -o cremer-en.tesla
    """
    need_scikit_learn("tesla train cremer")
    judged = read_summaries(summaries)
    table = judged.human[choose_human(judged, human)]
    dicomer = Dicomer(language, model=coherence)
    with progress() as bar:
        rows, targets, topics = cremer_rows(judged, table, TeslaS(language), dicomer, progress=bar)
        model, info = train_cremer(
            rows,
            targets,
            topics,
            kernel=kernel,
            folds=folds,
            dicomer=dicomer.model.fingerprint,
            progress=bar,
        )
    code = dicomer.parser.pipeline.language
    write_resource(output, model.to_resource(code, provenance, info=info))
    click.echo(
        f"{output}: {output.stat().st_size / 1000:.0f} kB; {kernel}, C {info['C']:g}, gamma {info['gamma']:g}, "
        f"epsilon {info['epsilon']:g}; Pearson's r over {folds} held-out folds {info['pearson']:.4f}"
    )
