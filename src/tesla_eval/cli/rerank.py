"""`tesla rerank`: the best of several candidates."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import chain

import click
import numpy as np

from tesla_eval.choosing.parameters import read_parameters
from tesla_eval.choosing.rerank import Ranking, best_by_weights, candidates_in_files, candidates_in_nbest
from tesla_eval.choosing.rerank import rerank as rank
from tesla_eval.cli.shared.command import Command
from tesla_eval.cli.shared.language import SAMPLE, identified_language
from tesla_eval.cli.shared.options import (
    auto_language_option,
    choose_metric,
    nbest_format_option,
    one_metric_option,
    quiet_option,
    source_option,
    warn_of_unused_source,
)
from tesla_eval.cli.shared.terminal import aligned, counted, visible, write_lines
from tesla_eval.metrics import Metric
from tesla_eval.metrics.requests import need_references, parse_requests


@click.command(cls=Command)
@click.argument("systems", nargs=-1, metavar="CANDIDATES...")
@click.option(
    "-r",
    "--reference",
    default=None,
    metavar="FILE",
    help="The references; for pem, the original texts.",
)
@source_option
@click.option("--nbest", metavar="FILE", help="Read candidates from an n-best list instead.")
@nbest_format_option
@click.option(
    "--params",
    metavar="FILE",
    help="Choose from --nbest by these feature weights, such as `tesla tune` writes; no metric is used.",
)
@one_metric_option("The metric that chooses.")
@auto_language_option
@quiet_option
@click.option(
    "--format",
    "output_format",
    type=click.Choice(["best", "table", "tsv", "json"]),
    default="best",
    help="best: the best text, one per line. Others: all candidates with scores and features.",
)
def rerank(
    systems: tuple[str, ...],
    reference: str | None,
    source: str | None,
    nbest: str | None,
    nbest_format: str | None,
    params: str | None,
    metric: str | None,
    language: str,
    output_format: str,
) -> None:
    """Pick, for every segment, the candidate that the metric scores best.

    Line i of each CANDIDATES file is a candidate for line i of the reference file. With -m pem the table shows how
    close each candidate is in meaning (adequacy), how fluent it is, and how much of the wording it keeps
    (dissimilarity: 1 is a copy).

    \b
    tesla rerank -m pem -r originals.txt a.txt b.txt c.txt > best.txt
    tesla rerank -m pem -r originals.txt a.txt b.txt c.txt --format table
    tesla rerank -r ref.txt --nbest moses.nbest --format tsv
    tesla rerank -m s-source -s articles.txt a.txt b.txt
    tesla rerank --nbest moses.nbest --params weights.txt
    """
    if bool(systems) == (nbest is not None):
        raise click.UsageError("give files of candidates, or an n-best list with --nbest")
    if params is not None:
        _rerank_by_weights(params, nbest, nbest_format, reference or source, metric)
        return
    if reference is None and need_references(parse_requests(() if metric is None else (metric,))):
        raise click.UsageError("give references with -r, or feature weights with --params")
    # All is read before anything is printed: files that do not fit give an error, not half a result.
    candidates = list(
        candidates_in_files(systems, reference, source)
        if nbest is None
        else candidates_in_nbest(nbest, nbest_format, reference, source)
    )
    sample = [one.texts[0] if one.reference is None else one.reference for one in candidates[:SAMPLE]]
    code = identified_language(language, sample, "candidates" if reference is None else "references")
    chosen = choose_metric(metric, code).for_corpus([[one.reference for one in candidates]])
    if source is not None:
        warn_of_unused_source(chosen)
    rankings = counted("ranking (segments)", rank(chosen, candidates))
    write_lines(_FORMATS[output_format](chosen, rankings))


def _rerank_by_weights(
    params: str, nbest: str | None, nbest_format: str | None, judged_by: str | None, metric: str | None
) -> None:
    if nbest is None or judged_by is not None or metric is not None:
        raise click.UsageError(
            "--params goes with --nbest, and without -r, -s and -m: the features choose, not a metric"
        )
    weights = read_parameters(params).by_name
    write_lines([text for text, _ in best_by_weights(nbest, weights, nbest_format)])


def _best(metric: Metric, rankings: list[Ranking]) -> Iterator[str]:
    for ranking in rankings:
        yield ranking.ranked[0].text


def _rows(
    metric: Metric, rankings: list[Ranking], show: Callable[[str], str]
) -> Iterator[list[tuple[str, ...]]]:
    for segment, ranking in enumerate(rankings, 1):
        yield [
            (
                str(segment), str(rank), show(item.name), f"{item.score:.4f}",
                *("" if np.isnan(value) else f"{value:.4f}" for value in item.features.values()), show(item.text),
            )
            for rank, item in enumerate(ranking.ranked, 1)
        ]  # fmt: skip


def _head(metric: Metric) -> tuple[str, ...]:
    return ("segment", "rank", "candidate", metric.id, *metric.feature_names, "text")


def _table(metric: Metric, rankings: list[Ranking]) -> Iterator[str]:
    numeric = (0, 1, *range(3, 4 + len(metric.feature_names)))
    for ranking, rows in zip(rankings, _rows(metric, rankings, visible), strict=True):
        if ranking.reference is not None:
            yield f"reference  {visible(ranking.reference)}"
        yield from aligned([_head(metric), *rows], numeric=numeric)
        yield ""
    yield str(metric.get_signature())


def _tsv(metric: Metric, rankings: list[Ranking]) -> Iterator[str]:
    yield f"# {metric.get_signature()}"
    yield "\t".join(_head(metric))
    for row in chain.from_iterable(_rows(metric, rankings, lambda text: text.replace("\t", " "))):
        yield "\t".join(row)


def _json(metric: Metric, rankings: list[Ranking]) -> Iterator[str]:
    signature = str(metric.get_signature())
    for ranking in rankings:
        yield json.dumps(
            {"metric": metric.id, "signature": signature, **ranking.to_dict()}, ensure_ascii=False
        )


_FORMATS: dict[str, Callable[[Metric, list[Ranking]], Iterator[str]]] = {
    "best": _best, "table": _table, "tsv": _tsv, "json": _json,
}  # fmt: skip
