"""Several systems under several metrics from Python: `evaluate` and its result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tesla_eval.base.errors import InputError, UsageError, need_package
from tesla_eval.base.files import write_text
from tesla_eval.drawing.explanation import html_table
from tesla_eval.drawing.text import escaped
from tesla_eval.language.choice import AUTO
from tesla_eval.metrics.base import Metric
from tesla_eval.metrics.comparison import SystemComparison, compare_systems
from tesla_eval.metrics.empty_texts import EmptyTexts
from tesla_eval.metrics.language_check import check_language
from tesla_eval.metrics.registry import digits
from tesla_eval.metrics.results import json_number
from tesla_eval.metrics.scoring import Chunk, Scored, cut_chunks, score_systems
from tesla_eval.metrics.segments import (
    References,
    check_orientation,
    check_references,
    check_sources,
    streams_by_segment,
    streams_of_texts,
    texts_of,
)
from tesla_eval.metrics.shortcuts import metrics_for

if TYPE_CHECKING:
    import pandas

    from tesla_eval.base.arrays import FloatArray


def evaluate(
    systems: Mapping[str, Sequence[str]],
    references: References,
    metrics: str | Metric | Sequence[str | Metric] = ("m", "x"),
    baseline: str | None = None,
    sources: Sequence[str] | None = None,
    lang: str = AUTO,
    *,
    references_by_segment: bool = False,
    documents: Sequence[str] | None = None,
    workers: int = 1,
) -> Evaluation:
    """Score several systems with several metrics against K streams of references.

    `systems` maps each name to its texts. A metric is a name as `-m` takes it (`"bleu:tok=intl"`) or a metric object.
    `baseline` names the system that the others are compared with; without it all pairs are compared. `documents` names
    the document of each segment: comparisons then draw and exchange whole documents.

    >>> result = evaluate({"a": ["The cats sat."], "b": ["A dog."]}, [["The cat sat."]], metrics="m", lang="en")
    >>> print(result)
    system  tesla-m
    a        0.5873
    b        0.1725
    """
    if not isinstance(systems, Mapping) or not systems:
        raise UsageError('systems are a mapping of names to texts: {"A": [...], "B": [...]}')
    if baseline is not None and baseline not in systems:
        raise UsageError(f"baseline {baseline!r}: is not one of the systems {', '.join(systems)}")
    texts = {str(name): texts_of(given) for name, given in systems.items()}
    first = next(iter(texts.values()))
    streams = streams_of_texts(streams_by_segment(first, references) if references_by_segment else references)
    sources = texts_of(sources)
    lang, chosen = metrics_for(metrics, lang, streams or [first], {})
    needed = any(one.metric.needs_references for one in chosen)
    for name, hypotheses in texts.items():
        try:
            check_references(hypotheses, streams, needed=needed)
        except InputError as error:
            raise InputError(f"system {name}: {error}") from None
    if not references_by_segment:
        check_orientation(first, streams)
    check_sources(first, sources, read=any(one.metric.uses_source for one in chosen))
    if documents is not None and len(documents) != len(first):
        raise InputError(f"{len(first)} segments, but the documents of {len(documents)}")
    for one in chosen:
        check_language(one.metric, streams, anew=True)
    chunks = list(cut_chunks(list(texts.values()), streams, sources))
    empty = EmptyTexts(list(texts))
    scored = score_systems(list(texts), chosen, empty.watch(chunks), jobs=workers)
    empty.warn()
    return Evaluation(scored, chunks, lang, baseline, documents)


class Evaluation:
    """Systems and their scores under several metrics; it shows itself as a table."""

    def __init__(
        self, scored: Scored, chunks: Sequence[Chunk], lang: str, baseline: str | None,
        documents: Sequence[str] | None = None,
    ) -> None:  # fmt: skip
        self._scored, self._chunks = scored, chunks
        self.systems = scored.systems
        self.metrics = tuple(one.name for one in scored.metrics)
        self.lang = lang
        self.baseline = baseline
        self.documents = None if documents is None else tuple(documents)

    @property
    def scores(self) -> dict[str, dict[str, float]]:
        """The system scores: `scores[system][metric]`."""
        return {
            system: dict(zip(self.metrics, row, strict=True))
            for system, row in zip(self.systems, self._scored.scores, strict=True)
        }

    @property
    def segments(self) -> dict[str, dict[str, FloatArray]]:
        """The scores of the segments: `segments[system][metric]` is an array."""
        return {
            system: {name: self._scored.segments(i, k).scores for k, name in enumerate(self.metrics)}
            for i, system in enumerate(self.systems)
        }

    @property
    def signatures(self) -> dict[str, str]:
        """For each metric what made its scores."""
        return {name: str(self._scored.signature(place)) for place, name in enumerate(self.metrics)}

    def compare(self, **options: Any) -> dict[str, SystemComparison]:
        """For each metric the systems with intervals, corrected p-values and rank clusters.

        The options are those of `compare_systems`: `documents`, `resamples`, `seed`, `alpha`.
        """
        options = {"baseline": self.baseline, "documents": self.documents, **options}
        return {
            name: compare_systems(self._scored.table(place), **options)
            for place, name in enumerate(self.metrics)
        }

    def report(self, path: str | Path, title: str | None = None) -> Path:
        """Write the HTML report of `tesla report`; returns its path."""
        from tesla_eval.report.collect import ReportTexts, collect, scored_metrics
        from tesla_eval.report.overview import default_title
        from tesla_eval.report.page import check_page_path, render

        path = Path(path)
        check_page_path(path)
        groups = None if self.documents is None else {"document": self.documents}
        texts = ReportTexts.of_chunks(self.systems, self._chunks, groups=groups)
        title = title or default_title(self.lang, len(self.systems), texts.count)
        command = "tesla_eval.evaluate"
        scored = scored_metrics(self._scored, baseline=self.baseline, documents=self.documents)
        blocks = collect(texts, scored, title=title, command=command, language=self.lang)
        write_text(path, render(blocks, None, title=title, command=command))
        return path

    def to_dict(self) -> dict[str, Any]:
        """All scores as plain data, ready for JSON: a score that does not exist is None."""
        return {
            "lang": self.lang,
            "signatures": self.signatures,
            "systems": [
                {
                    "system": system,
                    "scores": {name: json_number(value) for name, value in self.scores[system].items()},
                    "segments": {
                        name: [json_number(value) for value in values.tolist()]
                        for name, values in self.segments[system].items()
                    },
                }
                for system in self.systems
            ],
        }

    def to_frame(self) -> pandas.DataFrame:
        """The system scores as a pandas frame: one row per system, one column per metric."""
        need_package("pandas", "'tesla-eval[pandas]'", "to_frame")
        import pandas

        frame = pandas.DataFrame.from_dict(self.scores, orient="index", columns=list(self.metrics))
        frame.index.name = "system"
        return frame

    def _rows(self) -> list[list[str]]:
        return [
            [system, *(f"{row[name]:.{digits(name)}f}" for name in self.metrics)]
            for system, row in self.scores.items()
        ]

    def __str__(self) -> str:
        rows = [["system", *self.metrics], *self._rows()]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        return "\n".join(
            "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip()
            for row in rows
        )

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """A notebook's view: the table."""
        cells = [[escaped(cell) for cell in row] for row in self._rows()]
        head = ("system", *map(escaped, self.metrics))
        return html_table(head, cells, numeric=range(1, len(head)))
