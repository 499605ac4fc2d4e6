"""`tesla train dicomer`: the weights of LIN, LIN+C, LIN+E or DICOMER from lists of texts."""

from __future__ import annotations

from pathlib import Path

import click

from tesla_eval.cli.options import language_option, need_scikit_learn, provenance_options
from tesla_eval.cli.terminal import progress
from tesla_eval.discourse import load_parser
from tesla_eval.discourse.roles import VARIANTS, Variant
from tesla_eval.resources import write_resource
from tesla_eval.textio import LineReader
from tesla_eval.training.dicomer import COST, permuted_lists, scored_lists, train_coherence
from tesla_eval.training.text_lists import read_text_lists

__all__ = ["dicomer"]


@click.command(context_settings={"max_content_width": 110})
@click.argument("lists", nargs=-1, metavar="LISTS...")
@click.option(
    "--human", metavar="NAME", help="The human score of summaries that have several, such as coherence."
)
@click.option(
    "--permute", "texts", multiple=True, metavar="FILE",
    help="A text: itself is better than 20 permutations of its sentences. May be given several times.",
)  # fmt: skip
@click.option("--variant", type=click.Choice(VARIANTS), default="dicomer", show_default=True)
@click.option(
    "--cost", type=click.FloatRange(0, min_open=True), default=COST, show_default=True, help="The SVM's C."
)
@language_option
@click.option(
    "-o", "--output", required=True, type=click.Path(path_type=Path, dir_okay=False),
    help="Where the model goes: dicomer-CODE.tesla in a folder of `tesla resources`.",
)  # fmt: skip
@provenance_options()
def dicomer(
    *, lists: tuple[str, ...], human: str | None, texts: tuple[str, ...], variant: Variant, cost: float,
    language: str, output: Path, licence: str, sources: tuple[str, ...], day: str,
) -> None:  # fmt: skip
    """Learn which transitions of discourse roles make a text readable: a linear ranking SVM.

    LISTS are JSON Lines of {"list": NAME, "text": TEXT, "score": NUMBER}; texts are compared within their list.
    Summaries with human scores (JSON Lines or folders, as for `tesla meta --summaries`) are one list a topic.
    Needs scikit-learn (pip install 'tesla-eval[train]').

    \b
    tesla train dicomer essays.jsonl -o dicomer-en.tesla
    tesla train dicomer summeval --human coherence -o dicomer-en.tesla
    tesla train dicomer --permute a.txt --permute b.txt --variant lin -o dicomer-en.tesla
    """
    if not lists and not texts:
        raise click.UsageError("give lists of texts with scores, or texts with --permute")
    need_scikit_learn("tesla train dicomer")
    parser = load_parser(language)
    ranked = []
    for path in lists:
        read = read_text_lists(path, human)
        with progress("lists", len(read)) as bar:
            for one in read:
                documents = parser.documents([text for text, _ in one])
                scored = list(zip(documents, (score for _, score in one), strict=True))
                ranked.extend(scored_lists(parser.parser, [scored], [variant])[variant])
                bar.advance(1)
    wholes = {path: parser.documents(["\n".join(LineReader(path))])[0] for path in texts}
    with progress("permuted texts", len(wholes)) as bar:
        permuted = permuted_lists(parser.parser, wholes, [variant], after_text=lambda: bar.advance(1))
    model = train_coherence(ranked + permuted[variant], variant, cost=cost, parser=parser.fingerprint)
    write_resource(
        output, model.to_resource(parser.pipeline.language, sources=sources, licence=licence, date=day)
    )
    told = model.info
    click.echo(
        f"{output}: {output.stat().st_size / 1000:.0f} kB, {len(model.weights)} features of {variant}, "
        f"{told['lists']} lists, {told['texts']} texts, {told['pairs']} pairs"
    )
