"""A cache of scores on disk, keyed by metric and texts: no segment is scored twice.

The key of a row is a hash of the metric's signature and of the texts, so that nothing has to be invalidated: another
version, parameter or resource has another signature. Every chunk is committed, so that interrupted work resumes.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import numpy as np

from tesla_eval.base.arrays import FloatArray
from tesla_eval.base.errors import ResourceError, SegmentError, warn
from tesla_eval.base.resources import home_folder
from tesla_eval.metrics.base import Metric
from tesla_eval.metrics.results import SegmentScores
from tesla_eval.metrics.scoring import Chunk, score_chunks
from tesla_eval.metrics.segments import References, check_references, streams_of_texts, texts_of

CACHE_VARIABLE = "TESLA_EVAL_CACHE"
_FILE = "scores.sqlite"
_FORMAT = 4
"""Of the table, and of scores whose signature is not ours; an older one is emptied, a newer one refused."""
_APPLICATION = 0x7E51AE7A
"""SQLite's `application_id`: a file with another one is not ours."""
_CHUNK = 512  # segments that are scored and committed together
_KEYS_AT_ONCE = 500  # SQLite allows 999 parameters a query
_SECONDS_TO_WAIT = 10.0  # for another process, which writes for some milliseconds at a time
_NUMBERS = np.dtype("<f8")
_CHECKSUM_BYTES = 8
_OTHER_FOLDER = f"name another folder in ${CACHE_VARIABLE}"


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

    The file is made and written when there are new scores; one that cannot be written serves all that it has. While
    another process holds it, scores are computed, and a warning says so. Without `on_disk` scores are kept for the life
    of the object only, and no file is touched. Scores of a metric that has a function as an option, or whose class
    cannot be imported, are not kept: nothing tells one such function or class from another.

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
        self.path = (chosen or Path()) / _FILE
        self._keeps_scores = True
        if not on_disk or chosen is None:
            self._database = _open(":memory:")
            return
        with self._explained():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._database = _open(self.path)
            try:
                self._has_table()
            except BaseException:
                self._database.close()
                raise

    def _has_table(self) -> bool:
        """Whether there are scores of this format; refuses a file that is not ours, or newer than this version."""
        ours, version = (
            self._database.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("application_id", "user_version")
        )
        tables = [str(row[0]) for row in self._database.execute("SELECT sql FROM sqlite_master")]
        if ours == _APPLICATION and version > _FORMAT:
            raise ResourceError(
                f"{self.path}: is a score cache of format {version}, this version reads format {_FORMAT}",
                hint=f"delete it, or {_OTHER_FOLDER}",
            )
        is_empty = not (ours or version or tables)
        if not (is_empty or ours == _APPLICATION or _is_of_older_version(version, tables)):
            raise ResourceError(
                f"{self.path}: is a database of another program, not a score cache", hint=_OTHER_FOLDER
            )
        return bool(tables) and (ours, version) == (_APPLICATION, _FORMAT)

    def __exit__(self, *error: object) -> None:
        self._database.close()

    def __len__(self) -> int:
        with self._explained():
            if self._has_table():
                return int(self._database.execute("SELECT count(*) FROM scores").fetchone()[0])
        return 0

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
        signature = metric.get_signature()
        keys = _keys(repr(list(signature.items())), hypotheses, references, read_sources)
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
        try:
            for span, [[part]] in zip(spans, score_chunks([metric], chunks, metric.workers), strict=True):
                columns = [part.scores, part.features] + (
                    [] if part.statistics is None else [part.statistics]
                )
                computed = {
                    keys[index]: row for index, row in zip(span, np.column_stack(columns), strict=True)
                }
                if not signature.is_of_this_process:
                    self._write(computed)
                rows |= computed
                advance(len(span))
        except SegmentError as refused:
            raise refused.moved(new[refused.segment]) from None
        table = np.stack([rows[key] for key in keys])
        end = 1 + len(metric.feature_names)
        statistics = table[:, end:] if table.shape[1] > end else None
        return SegmentScores(table[:, 0].copy(), table[:, 1:end].copy(), statistics)

    def _read(self, keys: Collection[bytes]) -> dict[bytes, FloatArray]:
        wanted = sorted(keys)  # the table's own order: every page is read once
        found: dict[bytes, FloatArray] = {}
        with self._explained():
            for start in range(0, len(wanted) if self._has_table() else 0, _KEYS_AT_ONCE):
                some = wanted[start : start + _KEYS_AT_ONCE]
                query = f"SELECT key, numbers FROM scores WHERE key IN ({','.join('?' * len(some))})"
                for key, row in self._database.execute(query, some):
                    if key in keys and (numbers := _numbers(key, row)) is not None:
                        found[key] = numbers
        return found

    def _write(self, rows: Mapping[bytes, FloatArray]) -> None:
        if not self._keeps_scores:
            return
        packed = [(key, _row(key, numbers)) for key, numbers in rows.items()]
        with self._explained(writing=True):
            self._database.execute("BEGIN IMMEDIATE")
            try:
                if not self._has_table():
                    self._make_table()
                self._database.executemany("INSERT OR REPLACE INTO scores VALUES (?, ?)", packed)
                self._database.execute("COMMIT")
            except BaseException:
                if self._database.in_transaction:
                    self._database.execute("ROLLBACK")
                raise

    def _make_table(self) -> None:
        self._database.execute("DROP TABLE IF EXISTS scores")  # of an older format: it can be computed again
        # One blob: the score, the features, the statistics. Without rowid the key is the table's own order.
        self._database.execute(
            "CREATE TABLE scores (key BLOB PRIMARY KEY, numbers BLOB NOT NULL) WITHOUT ROWID"
        )
        self._database.execute(f"PRAGMA application_id = {_APPLICATION}")
        self._database.execute(f"PRAGMA user_version = {_FORMAT}")

    @contextmanager
    def _explained(self, *, writing: bool = False) -> Iterator[None]:
        """Errors of the file system and of SQLite as one message that says what to do.

        A file that another process has locked is not read again, and one that cannot be written not written again.
        """
        way_out = f"{_OTHER_FOLDER}, or do without (--no-cache)"
        try:
            yield
        except (OSError, sqlite3.OperationalError) as error:
            if isinstance(error, sqlite3.OperationalError) and writing:
                self._keeps_scores = False
                warn(f"{self.path}: new scores are not kept in the score cache ({error})")
            elif isinstance(error, sqlite3.OperationalError) and "locked" in str(error):
                self._database.close()
                self._database = _open(":memory:")
                warn(f"{self.path}: the score cache is not used ({error}); all scores are computed")
            else:
                raise ResourceError(
                    f"{self.path}: the score cache cannot be used ({error})", hint=way_out
                ) from error
        except (sqlite3.Error, MemoryError, ValueError) as error:
            raise ResourceError(
                f"{self.path}: the score cache is damaged ({error})", hint=f"delete the file, {way_out}"
            ) from error


def _open(path: Path | str) -> sqlite3.Connection:
    database = sqlite3.connect(path, timeout=_SECONDS_TO_WAIT, isolation_level=None)
    database.execute("PRAGMA cell_size_check = ON")  # so that damage is found earlier
    return database


def _is_of_older_version(version: int, tables: Sequence[str]) -> bool:
    """Whether this is a cache that was made before caches had an application id."""
    return (
        0 < version < _FORMAT and len(tables) == 1 and tables[0].startswith("CREATE TABLE scores (key BLOB")
    )


def _row(key: bytes, numbers: FloatArray) -> bytes:
    """What a row of the table holds: its numbers, and a checksum of the key and of them."""
    packed = numbers.astype(_NUMBERS).tobytes()
    return packed + _checksum(key, packed)


def _numbers(key: bytes, row: object) -> FloatArray | None:
    """The numbers of a row; None if it is damaged."""
    if not isinstance(row, bytes) or row[-_CHECKSUM_BYTES:] != _checksum(key, row[:-_CHECKSUM_BYTES]):
        return None
    return np.frombuffer(row[:-_CHECKSUM_BYTES], _NUMBERS)


def _checksum(key: bytes, packed: bytes) -> bytes:
    return hashlib.blake2b(packed, key=key, digest_size=_CHECKSUM_BYTES).digest()


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
