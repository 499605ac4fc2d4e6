"""A cache of scores on disk, keyed by metric and texts: no segment is scored twice.

The key of a row is a hash of the metric's signature and of the texts, so that nothing has to be invalidated: another
version, parameter or resource has another signature. Every chunk is committed, so that interrupted work resumes.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import numpy as np

from tesla_eval.base.arrays import FloatArray
from tesla_eval.base.errors import ResourceError, warn
from tesla_eval.base.resources import home_folder
from tesla_eval.metrics.base import Metric
from tesla_eval.metrics.results import SegmentScores
from tesla_eval.metrics.scoring import Chunk, score_chunks
from tesla_eval.metrics.segments import References, check_references, streams_of_texts, texts_of

CACHE_VARIABLE = "TESLA_EVAL_CACHE"
_FILE = "scores.sqlite"
_FORMAT = 3
"""Of the table, and of scores whose signature is not ours; an older one is emptied, a newer one refused."""
_CHUNK = 512  # segments that are scored and committed together
_KEYS_AT_ONCE = 500  # SQLite allows 999 parameters a query
_SECONDS_TO_WAIT = 60.0  # for another process that is writing
_NUMBERS = np.dtype("<f8")


def default_cache_folder() -> Path | None:
    """Where scores are kept: `$TESLA_EVAL_CACHE`, or else the platform's folder for caches, if there is one."""
    if chosen := os.environ.get(CACHE_VARIABLE):
        return Path(chosen)
    variable, *place = _PLATFORM_FOLDERS.get(sys.platform, ("XDG_CACHE_HOME", ".cache"))
    if base := os.environ.get(variable):
        return Path(base) / "tesla-eval"
    home = home_folder()
    return None if home is None else home.joinpath(*place, "tesla-eval")


_PLATFORM_FOLDERS = {"win32": ("LOCALAPPDATA", "AppData", "Local"), "darwin": ("", "Library", "Caches")}
"""The variable that names a platform's folder for caches, and where it is in the home folder."""


class ScoreCache(AbstractContextManager["ScoreCache"]):
    """Segment scores with their features and statistics in one SQLite file.

    Without `on_disk` scores are kept for the life of the object only, and no file is touched.

    >>> from tempfile import TemporaryDirectory
    >>> from tesla_eval.metrics import create_metric
    >>> with TemporaryDirectory() as folder, ScoreCache(folder) as cache:
    ...     scored = cache.score(create_metric("chrf", "en"), ["the cat", "a dog"], [["the cat", "the dog"]])
    ...     len(cache), scored.scores.round(1).tolist()
    (2, [100.0, 31.2])
    """

    def __init__(self, folder: str | Path | None = None, *, on_disk: bool = True) -> None:
        chosen = default_cache_folder() if folder is None else Path(folder)
        if on_disk and chosen is None:
            warn(f"scores are not kept: you have no home folder; name a folder in ${CACHE_VARIABLE}")
        on_disk = on_disk and chosen is not None
        self.path = (chosen or Path()) / _FILE
        with self._explained():
            if on_disk:
                self.path.parent.mkdir(parents=True, exist_ok=True)
            self._database = sqlite3.connect(self.path if on_disk else ":memory:", timeout=_SECONDS_TO_WAIT)
            try:
                self._prepare()
            except BaseException:
                self._database.close()
                raise

    def _prepare(self) -> None:
        """Make the table where there is none; refuse a newer format."""
        version = self._database.execute("PRAGMA user_version").fetchone()[0]
        if version > _FORMAT:
            raise ResourceError(
                f"{self.path}: is a score cache of format {version}, this version reads format {_FORMAT}; "
                f"delete it, or name another folder in ${CACHE_VARIABLE}"
            )
        if version < _FORMAT:  # what an older version kept can be computed again
            self._database.execute("DROP TABLE IF EXISTS scores")
        # One blob: the score, the features, the statistics. Without rowid the key is the table's own order.
        self._database.execute(
            "CREATE TABLE IF NOT EXISTS scores (key BLOB PRIMARY KEY, numbers BLOB NOT NULL) WITHOUT ROWID"
        )
        self._database.execute(f"PRAGMA user_version = {_FORMAT}")
        self._database.commit()

    def __exit__(self, *error: object) -> None:
        self._database.close()

    def __len__(self) -> int:
        with self._explained():
            return int(self._database.execute("SELECT count(*) FROM scores").fetchone()[0])

    def score(
        self,
        metric: Metric,
        hypotheses: Sequence[str],
        references: References,
        advance: Callable[[int], None] = lambda done: None,
        sources: Sequence[str] | None = None,
    ) -> SegmentScores:
        """The scores of the segments, read where they are known and computed and kept where not.

        Equal segments are scored once. `advance` is told how many more segments are done. `sources` reach only a metric
        that reads them.
        """
        hypotheses, references, sources = (
            texts_of(hypotheses),
            streams_of_texts(references),
            texts_of(sources),
        )
        check_references(hypotheses, references, needed=metric.needs_references)
        read_sources = sources if metric.uses_source else None
        keys = _keys(str(metric.get_signature()), hypotheses, references, read_sources)
        first_with = {key: index for index, key in reversed(list(enumerate(keys)))}
        rows = self._read(first_with)
        new = sorted(index for key, index in first_with.items() if key not in rows)
        advance(len(keys) - len(new))
        spans = list(_spans(new, references))
        chunks = (
            Chunk(
                [[hypotheses[i] for i in span]],
                [[stream[i] for i in span] for stream in references],
                None if read_sources is None else [read_sources[i] for i in span],
            )
            for span in spans
        )
        for span, [[part]] in zip(spans, score_chunks([metric], chunks, metric.workers), strict=True):
            columns = [part.scores, part.features] + ([] if part.statistics is None else [part.statistics])
            computed = {keys[index]: row for index, row in zip(span, np.column_stack(columns), strict=True)}
            self._write(computed)
            rows |= computed
            advance(len(span))
        table = np.stack([rows[key] for key in keys])
        end = 1 + len(metric.feature_names)
        statistics = table[:, end:] if table.shape[1] > end else None
        return SegmentScores(table[:, 0].copy(), table[:, 1:end].copy(), statistics)

    def _read(self, keys: Iterable[bytes]) -> dict[bytes, FloatArray]:
        wanted = sorted(keys)  # the table's own order: every page is read once
        found: dict[bytes, FloatArray] = {}
        with self._explained():
            for start in range(0, len(wanted), _KEYS_AT_ONCE):
                some = wanted[start : start + _KEYS_AT_ONCE]
                query = f"SELECT key, numbers FROM scores WHERE key IN ({','.join('?' * len(some))})"
                found |= {
                    key: np.frombuffer(row, _NUMBERS) for key, row in self._database.execute(query, some)
                }
        return found

    def _write(self, rows: dict[bytes, FloatArray]) -> None:
        with self._explained(), self._database:
            self._database.executemany(
                "INSERT OR REPLACE INTO scores VALUES (?, ?)",
                [(key, row.astype(_NUMBERS).tobytes()) for key, row in rows.items()],
            )

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Errors of the file system and of SQLite as one message that says what to do."""
        way_out = f"name another folder in ${CACHE_VARIABLE}, or do without (--no-cache)"
        try:
            yield
        except (OSError, sqlite3.OperationalError) as error:
            raise ResourceError(
                f"{self.path}: the score cache cannot be used ({error}); {way_out}"
            ) from error
        except (sqlite3.DatabaseError, ValueError) as error:
            raise ResourceError(
                f"{self.path}: the score cache is damaged ({error}); delete the file, {way_out}"
            ) from error


def _keys(
    signature: str, hypotheses: Sequence[str], references: References, sources: Sequence[str] | None = None
) -> list[bytes]:
    start = _framed(signature)
    columns: list[Iterable[bytes]] = [map(_framed, stream) for stream in (hypotheses, *references)]
    if sources is not None:  # marked, so that no source looks like a reference
        columns.append(b"s" + _framed(text) for text in sources)
    return [hashlib.sha256(start + b"".join(texts)).digest() for texts in zip(*columns, strict=True)]


def _framed(text: str | None) -> bytes:
    """A text with its length in front, so that no two lists of texts look alike; a missing one is like no text."""
    if text is None:
        return b"-:"
    encoded = text.encode("utf-8", "surrogatepass")
    return b"%d:%b" % (len(encoded), encoded)


def _spans(new: Sequence[int], references: References) -> Iterator[list[int]]:
    """Segments to score at once, no reference twice: systems share their references, which are then prepared once."""
    span: list[int] = []
    seen: set[tuple[str | None, ...]] = set()
    for index in new:
        given = tuple(stream[index] for stream in references)
        if len(span) == _CHUNK or (given and given in seen):
            yield span
            span, seen = [], set()
        span.append(index)
        seen.add(given)
    if span:
        yield span
