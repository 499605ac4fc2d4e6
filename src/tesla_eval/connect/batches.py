"""Scores of an Arrow batch. DuckDB, Ray, Spark and our own threads all call this module.

A score depends on its own row alone, so it has the same bits however rows are grouped into batches.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import compress
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tesla_eval.base.errors import InputError, SegmentError, UsageError, need_package
from tesla_eval.metrics.base import Metric
from tesla_eval.metrics.requests import named_metrics
from tesla_eval.metrics.results import SegmentScores
from tesla_eval.metrics.scoring import Chunk, score_texts
from tesla_eval.texts.tables import MISSING, Columns, Missing

if TYPE_CHECKING:
    import pyarrow


def check_missing(missing: str) -> None:
    """Raise an error for an unknown policy for missing texts."""
    if missing not in MISSING:
        raise UsageError(f"missing={missing!r}: write one of {', '.join(map(repr, MISSING))}")


def complete_rows(
    metric: Metric,
    hypotheses: Sequence[str | None],
    references: Sequence[Sequence[str | None]],
    sources: Sequence[str | None] | None,
    missing: Missing,
) -> npt.NDArray[np.bool_]:
    """The rows that have what the metric reads: a text, at least one reference, a source; with "empty" all rows."""
    if missing == "empty":
        return np.ones(len(hypotheses), bool)
    complete = has_text(hypotheses)
    if metric.needs_references and references:
        complete &= np.logical_or.reduce([has_text(stream) for stream in references])
    if metric.uses_source and sources is not None:
        complete &= has_text(sources)
    return complete


def texts_or_empty(texts: list[str | None], missing: Missing) -> list[str | None]:
    """The texts; with "empty" a missing one is the empty text.

    >>> texts_or_empty(["a", None], "empty"), texts_or_empty(["a", None], "null")
    (['a', ''], ['a', None])
    """
    return [text or "" for text in texts] if missing == "empty" and None in texts else texts


def has_text(texts: Sequence[str | None]) -> npt.NDArray[np.bool_]:
    """Whether each text is there; None is a missing one.

    >>> has_text(["a", None, ""]).tolist()
    [True, False, True]
    """
    if None not in texts:
        return np.ones(len(texts), bool)
    return np.array([text is not None for text in texts], bool)


SIGNATURE_KEY = b"tesla_eval.signature"
"""The metadata of a column of scores that holds their signature."""

_ROWS_AT_ONCE = 2048  # that cross into the core together
_SHOWN = 40  # characters of a value in an error message


class ScoredBatch(NamedTuple):
    """A batch with its scores, the same scores by system and metric, and the texts of the rows that lack none."""

    batch: pyarrow.RecordBatch
    parts: list[list[SegmentScores]]
    texts: Chunk
    writers: list[npt.NDArray[Any]]
    """For each metric the system that wrote each scored row, where a column says it."""

    def parts_of(self, systems: Sequence[str]) -> list[list[SegmentScores]]:
        """The scores by system and metric, of the systems that a column names."""
        return [
            [
                part.part(np.flatnonzero(wrote == system))
                for part, wrote in zip(self.parts[0], self.writers, strict=True)
            ]
            for system in systems
        ]


class BatchScorer:
    """Scores batches: columns of texts in; other columns and one column of scores per system and metric out.

    `keep` names the columns that are carried over; without it these are all but the texts. A column of references may
    hold lists of texts. A null or empty text among several references is missing; where none is left, and for a null
    output or source, `missing` decides: by default it is the empty text.

    It can be sent to other processes, where it is made once however often it arrives.

    >>> import pyarrow
    >>> from tesla_eval import create_metric
    >>> scorer = BatchScorer({"tesla-m": create_metric("m", "en")}, Columns(hyp=("mt",), ref=("ref",)))
    >>> batch = pyarrow.record_batch({"id": [7], "mt": ["The cats sat."], "ref": ["The cat sat."]})
    >>> [(row["id"], round(row["tesla-m"], 4)) for row in scorer(batch).to_pylist()]
    [(7, 0.5873)]
    """

    def __init__(
        self,
        metrics: Mapping[str, Metric],
        columns: Columns,
        *,
        keep: Sequence[str] | None = None,
        missing: Missing = "empty",
    ) -> None:
        need_package("pyarrow", "'tesla-eval[parquet]'")
        check_missing(missing)
        if len(set(columns.hyp)) < len(columns.hyp):
            raise UsageError(f"name each column of hypotheses once, not {' and '.join(columns.hyp)}")
        for name, metric in metrics.items():
            if metric.corpus_wide:
                raise UsageError(
                    f"{name}: a score depends on the references of the whole corpus, so rows cannot be scored in "
                    "batches; use `tesla score` without a .parquet output"
                )
            if metric.needs_references and not columns.ref:
                raise UsageError(f"{name} needs references: which column holds them?")
        self.metrics = dict(metrics)
        self.columns = columns
        self.keep = None if keep is None else tuple(dict.fromkeys(keep))
        self.missing = missing
        self.signatures = {name: str(metric.get_signature()) for name, metric in metrics.items()}

    def __reduce__(self) -> tuple[Any, ...]:
        recipes = tuple((name, *metric.__reduce__()[1]) for name, metric in self.metrics.items())
        return _made_once, (self.key, recipes, self.columns, self.keep, self.missing)

    @property
    def key(self) -> str:
        """A short name of what is computed: the signatures of the metrics, the columns, and what is carried over."""
        described = repr((self.signatures, self.columns, self.keep, self.missing))
        return hashlib.sha256(described.encode()).hexdigest()[:16]

    @property
    def systems(self) -> tuple[str, ...]:
        """The columns with hypotheses."""
        return self.columns.hyp

    def column_name(self, system: str, metric: str) -> str:
        """The column of scores: the metric's name, with the system's before it if there are several."""
        return metric if len(self.columns.hyp) == 1 else f"{system}:{metric}"

    def carried(self, schema: pyarrow.Schema) -> list[str]:
        """The columns that are carried over; `InputError` if one is missing or has the name of a column of scores."""
        names = (
            [name for name in schema.names if name not in self.columns.texts]
            if self.keep is None
            else list(self.keep)
        )
        scores = {self.column_name(system, metric) for system in self.systems for metric in self.metrics}
        for name in names:
            if name not in schema.names:
                raise InputError(f"there is no column {name!r}; the columns are {', '.join(schema.names)}")
            if name in scores:
                raise InputError(
                    f"there is a column {name!r} already, which is the name of the scores; name the columns to keep"
                )
        return names

    def needed(self, schema: pyarrow.Schema) -> list[str]:
        """The columns that are read, each once."""
        return list(dict.fromkeys((*self.carried(schema), *self.columns.named)))

    def schema(self, schema: pyarrow.Schema) -> pyarrow.Schema:
        """The columns of the results for batches with these columns."""
        import pyarrow

        for name in self.columns.texts:
            if schema.names.count(name) != 1:
                raise InputError(
                    f"there is no column {name!r}, or more than one; the columns are {', '.join(schema.names)}"
                )
            _check_type(schema.field(name), may_be_list=name in self.columns.ref)
        fields = [schema.field(name) for name in self.carried(schema)]
        for system in self.systems:
            for metric, signature in self.signatures.items():
                name = self.column_name(system, metric)
                fields.append(
                    pyarrow.field(name, pyarrow.float64(), metadata={SIGNATURE_KEY: signature.encode()})
                )
        return pyarrow.schema(fields)

    def __call__(self, batch: pyarrow.RecordBatch) -> pyarrow.RecordBatch:
        """The batch with its scores instead of its texts."""
        return self.score(batch).batch

    def batches(
        self, texts: pyarrow.RecordBatch | pyarrow.Table, place: str = "", first_row: int = 0
    ) -> Iterator[pyarrow.RecordBatch]:
        """The same for a batch or table of any size, in small batches; errors name `place` and the row."""
        import pyarrow

        if isinstance(texts, pyarrow.Table):
            pieces: Iterable[pyarrow.RecordBatch] = texts.to_batches(max_chunksize=_ROWS_AT_ONCE)
        else:
            pieces = (texts.slice(start, _ROWS_AT_ONCE) for start in range(0, texts.num_rows, _ROWS_AT_ONCE))
        for piece in pieces:
            yield self.score(piece, place, first_row).batch
            first_row += piece.num_rows

    def score(self, batch: pyarrow.RecordBatch, place: str = "", first_row: int = 0) -> ScoredBatch:
        """The same with all parts of the scores; errors name `place` and the row, counted from `first_row`."""
        import pyarrow

        schema = self.schema(batch.schema)
        texts = _Texts(batch, self.columns, self.missing)
        places = np.arange(first_row, first_row + batch.num_rows)
        if self.missing == "skip" and not (complete := texts.complete(self.metrics.values())).all():
            batch, places = batch.filter(pyarrow.array(complete)), places[complete]
            texts = _Texts(batch, self.columns, self.missing)
        parts: list[list[SegmentScores]] = []
        scores = []
        written_by = self.written_by(batch)
        writers: list[npt.NDArray[Any]] = []
        for system in range(len(self.systems)):
            parts.append([])
            for metric in self.metrics.values():
                present = texts.present(system, metric)
                if self.missing == "error" and not present.all():
                    row = int(np.argmin(present))
                    raise InputError(
                        f"{self._row(batch, row, place, places)}: has no {texts.lacking(system, row)}"
                    )
                part = self._score(metric, texts.chunk(system, present), batch, present, place, places)
                parts[-1].append(part)
                if written_by is not None:
                    writers.append(written_by[present])
                column = np.full(len(present), np.nan)
                column[present] = part.scores
                scores.append(pyarrow.array(column, mask=~present))
        carried = [batch.column(batch.schema.get_field_index(name)) for name in self.carried(batch.schema)]
        return ScoredBatch(
            pyarrow.RecordBatch.from_arrays([*carried, *scores], schema=schema),
            parts,
            texts.complete_chunk(self.metrics.values()),
            writers,
        )

    def written_by(self, batch: pyarrow.RecordBatch) -> npt.NDArray[Any] | None:
        """The system that wrote each row, where the batch has a column that says it."""
        place = batch.schema.get_field_index("".join(self.columns.system))
        return (
            None if place < 0 else np.array([str(name) for name in batch.column(place).to_pylist()], object)
        )

    def _score(
        self, metric: Metric, chunk: Chunk, batch: pyarrow.RecordBatch, present: np.ndarray[Any, Any],
        place: str, places: np.ndarray[Any, Any],
    ) -> SegmentScores:  # fmt: skip
        if not chunk.segments:
            return SegmentScores(np.empty(0), np.empty((0, len(metric.feature_names))))
        try:
            return score_texts(metric, chunk)
        except SegmentError as refused:
            row = int(np.flatnonzero(present)[refused.segment])
            raise refused.at(self._row(batch, row, place, places)) from None

    def _row(self, batch: pyarrow.RecordBatch, row: int, place: str, places: np.ndarray[Any, Any]) -> str:
        """The place of a row, with the first column that is carried over: most often an id."""
        where = f"{place}, row {places[row] + 1}" if place else f"row {places[row] + 1} of a batch"
        for name in self.carried(batch.schema)[:1]:
            value = repr(batch.column(batch.schema.get_field_index(name))[row].as_py())
            where += f" ({name} {value if len(value) <= _SHOWN else value[:_SHOWN] + '…'})"
        return where


class _Texts:
    """The texts of a batch, as metrics take them."""

    def __init__(self, batch: pyarrow.RecordBatch, columns: Columns, missing: Missing) -> None:
        self._columns, self._missing = columns, missing

        def column(name: str) -> Any:
            return batch.column(batch.schema.get_field_index(name))

        def texts(name: str) -> list[str | None]:
            return texts_or_empty(column(name).to_pylist(), missing)

        self._hypotheses = [texts(name) for name in columns.hyp]
        self._sources = texts(columns.src[0]) if columns.src else None
        self._streams: list[list[str | None]] = []
        for name in columns.ref:
            array = column(name)
            self._streams.extend(
                _streams(array.to_pylist()) if is_list_type(array.type) else [array.to_pylist()]
            )

    def present(self, system: int, metric: Metric) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """The rows that have all that a metric needs."""
        return complete_rows(metric, self._hypotheses[system], self._streams, self._sources, self._missing)

    def complete(self, metrics: Iterable[Metric]) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """The rows that have all that all metrics need of all systems."""
        systems = range(len(self._hypotheses))
        present = [self.present(k, metric) for metric in metrics for k in systems]
        return np.asarray(np.all(present, axis=0))

    def lacking(self, system: int, row: int) -> str:
        """The name of the column that a row lacks."""
        if self._hypotheses[system][row] is None:
            return repr(self._columns.hyp[system])
        if self._columns.ref and all(stream[row] is None for stream in self._streams):
            return " or ".join(map(repr, self._columns.ref))
        return repr(self._columns.src[0])

    def complete_chunk(self, metrics: Iterable[Metric]) -> Chunk:
        """The texts of all systems in the rows that have all that all metrics need."""
        return self._chunk(self._hypotheses, self.complete(metrics))

    def chunk(self, system: int, present: np.ndarray[Any, np.dtype[np.bool_]]) -> Chunk:
        """The texts of one system in the rows that are present."""
        return self._chunk([self._hypotheses[system]], present)

    def _chunk(self, systems: list[list[str | None]], rows: np.ndarray[Any, np.dtype[np.bool_]]) -> Chunk:
        def chosen(texts: list[str | None]) -> list[Any]:
            return texts if rows.all() else list(compress(texts, rows))

        sources = None if self._sources is None else chosen(self._sources)
        return Chunk(list(map(chosen, systems)), list(map(chosen, self._streams)), sources)


def _streams(lists: list[list[str | None] | None]) -> list[list[str | None]]:
    """Lists of references, one per row, as streams; a row without any has a null in the first."""
    rows = [[text for text in row or () if text is not None] for row in lists]
    most = max(map(len, rows), default=0)
    return [[row[k] if k < len(row) else None for row in rows] for k in range(max(most, 1))]


def is_list_type(kind: pyarrow.DataType) -> bool:
    """Whether the values of a column are lists."""
    from pyarrow import types

    return bool(types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind))


def _is_text(kind: pyarrow.DataType) -> bool:
    from pyarrow import types

    if types.is_dictionary(kind):
        kind = kind.value_type
    is_view = getattr(types, "is_string_view", lambda _: False)  # since pyarrow 16
    return any(check(kind) for check in (types.is_string, types.is_large_string, types.is_null, is_view))


def _check_type(field: pyarrow.Field, *, may_be_list: bool) -> None:
    kind = field.type.value_type if may_be_list and is_list_type(field.type) else field.type
    if not _is_text(kind):
        raise InputError(f"column {field.name!r} holds {field.type}, not texts")


def metrics_by_name(
    metric: str | Metric | Sequence[str | Metric], lang: str, **options: Any
) -> dict[str, Metric]:
    """Metrics by their names in results, from names or objects; `options` go to those given by name.

    >>> list(metrics_by_name(["m", "bleu:tok=intl"], "en"))
    ['tesla-m', 'bleu:tok=intl']
    """
    named = named_metrics(metric, lang, **options)
    found = {one.name: one.metric for one in named}
    if len(found) < len(named):
        raise UsageError("name every metric once")
    return found


def text_columns(
    hypothesis: str | Sequence[str], references: str | Sequence[str], source: str | None
) -> Columns:
    """The columns of texts from names, or lists of names.

    >>> text_columns("mt", ["refA", "refB"], None)
    Columns(hyp=('mt',), ref=('refA', 'refB'), src=(), system=())
    """
    hyp = (hypothesis,) if isinstance(hypothesis, str) else tuple(hypothesis)
    ref = (references,) if isinstance(references, str) else tuple(references)
    if not hyp:
        raise UsageError("which column holds the hypotheses?")
    return Columns(hyp, ref, () if source is None else (source,))


_MADE: dict[str, BatchScorer] = {}


def _made_once(
    key: str,
    recipes: Sequence[tuple[str, type[Metric], tuple[Any, ...], Mapping[str, Any]]],
    columns: Columns,
    keep: Sequence[str] | None,
    missing: Missing,
) -> BatchScorer:
    """The scorer of this process for a key: models are loaded once per process, not once per batch."""
    scorer = _MADE.get(key)
    if scorer is None:
        metrics = {name: cls(*args, **options) for name, cls, args, options in recipes}
        scorer = BatchScorer(metrics, columns, keep=keep, missing=missing)
        own = any(metric.get_signature().is_of_this_process for metric in metrics.values())
        if scorer.key != key and not own:  # functions that came along have other names here
            raise UsageError(
                f"this worker would score with {scorer.signatures}, which is not what was asked for; install the same "
                "version of tesla-eval on every machine"
            )
        _MADE[key] = scorer
    return scorer
