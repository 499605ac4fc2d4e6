"""Names and cells of tables for papers and spreadsheets: LaTeX, Markdown, CSV."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Iterator, Sequence
from io import StringIO

from tesla_eval.metrics.registry import BUILT_IN, metric_key
from tesla_eval.texts.compression import without_suffix

_LATEX_ESCAPES = str.maketrans(
    {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    | {character: "\\" + character for character in "&%$#_{}"}
)
_ENDINGS = (".txt", ".tsv", ".csv", ".jsonl", ".parquet", ".sgm", ".sgml", ".xml", ".conllu")
_PROPER = {"chrf": "chrF", "maxsim": "MaxSim", "rougelsum": "ROUGE-Lsum"}


def latex_escaped(text: str) -> str:
    """`text` with the characters escaped that mean something to LaTeX."""
    return text.translate(_LATEX_ESCAPES)


def proper_name(metric: str) -> str:
    """A metric as papers write it; metrics of other packages keep their names.

    >>> [proper_name(name) for name in ("tesla-m", "bleu:tok=intl", "chrf++", "rouge2-recall", "tesla-s-recall", "own")]
    ['TESLA-M', 'BLEU (tok=intl)', 'chrF++', 'ROUGE-2 recall', 'TESLA-S recall', 'own']
    """
    name, _, options = metric.partition(":")
    if metric_key(name) in BUILT_IN:
        stem, dash, rest = name.partition("-recall")
        plain = stem.rstrip("+")
        proper = _PROPER.get(plain, plain.upper().replace("ROUGE", "ROUGE-"))
        name = proper + stem[len(plain) :] + (" recall" + rest if dash else "")
    return f"{name} ({options})" if options else name


def short_names(systems: Sequence[str]) -> list[str]:
    """The systems without folders and endings; as they are where two would have the same name.

    >>> short_names(["out/A.txt.gz", "out/B.v2.txt"]), short_names(["a/x.txt", "b/x.txt"])
    (['A', 'B.v2'], ['a/x.txt', 'b/x.txt'])
    """
    short = [_without_ending(without_suffix(name).replace("\\", "/").rpartition("/")[2]) for name in systems]
    return short if len(set(short)) == len(short) and all(short) else list(systems)


def _without_ending(name: str) -> str:
    return next((name.removesuffix(ending) for ending in _ENDINGS if name.endswith(ending)), name)


def best_places(scores: Sequence[float], *, higher_is_better: bool) -> set[int]:
    """The places of the best of several scores; none if there is nothing to be better than."""
    known = [score for score in scores if not math.isnan(score)]
    if len(known) < 2 or min(known) == max(known):
        return set()
    best = max(known) if higher_is_better else min(known)
    return {place for place, score in enumerate(scores) if score == best}


def markdown_table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Rows as a table of Markdown; the first is the head, and all columns but the first are numbers."""
    head, *body = ([cell.replace("|", "\\|") for cell in row] for row in rows)
    yield f"| {' | '.join(head)} |"
    yield f"|---|{'--:|' * (len(head) - 1)}"
    yield from (f"| {' | '.join(row)} |" for row in body)


def csv_lines(rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Rows as CSV, quoted as RFC 4180 says; spreadsheets must not take a text for a formula."""
    for row in rows:
        line = StringIO()
        csv.writer(line, lineterminator="").writerow(map(_cell, row))
        yield line.getvalue()


def _cell(text: str) -> str:
    return f"'{text}" if text[:1] in ("=", "+", "-", "@") and not _is_number(text) else text


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
