"""A folder of scores in parts, which a broken run can resume.

OUTPUT/signature=KEY/_parts/CONTENT-DIGEST.parquet       while the run goes on: each part appears when it is complete
OUTPUT/signature=KEY/part-00000-CONTENT-DIGEST.parquet   when all parts are there, numbered in the order of the input
OUTPUT/signature=KEY/_scores.json                        the signatures, the columns and the rows of every part

KEY stands for the metrics' signatures and the columns, CONTENT for the texts and ids of the part, DIGEST for the bytes
of the file. Another version of a metric has another KEY, changed input another CONTENT, a damaged file another DIGEST:
nothing outdated or damaged is ever taken for a result. Parts of other input are never removed: the run is refused.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import uuid4

from tesla_eval.base.errors import ResourceError, UsageError, warn
from tesla_eval.base.files import locked, replacing, sync, write_text
from tesla_eval.connect.batches import BatchScorer
from tesla_eval.connect.parquet import write_parquet

if TYPE_CHECKING:
    import pyarrow


_NAME = re.compile(r"(?:part-\d{5,}-)?([0-9a-f]{32})-([0-9a-f]{32})\.parquet")
_DAMAGED = "is damaged and was removed; run the same again: parts that are complete are kept"


class Part(NamedTuple):
    """One part that is complete: what it holds, how many rows, and whether an earlier run had made it."""

    content: str
    rows: int
    reused: bool


class _Stored(NamedTuple):
    """A part on the disk, with the digest that its bytes should have."""

    path: Path
    digest: str

    def is_whole(self) -> bool:
        return _digest(self.path) == self.digest


class _Hash(io.RawIOBase):
    """A file that only hashes what is written to it."""

    def __init__(self) -> None:
        self._hash = hashlib.blake2b(digest_size=16)

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._hash.update(data)
        return len(data)

    def hexdigest(self) -> str:
        return self._hash.hexdigest()


def content_key(table: pyarrow.Table) -> str:
    """A hash of a table's columns and rows."""
    import pyarrow

    sink = _Hash()
    # A copy: buffers of the same rows may differ in what lies around them.
    whole = table.take(pyarrow.array(range(table.num_rows), pyarrow.int64())).combine_chunks()
    whole = whole.replace_schema_metadata(None)
    with (
        pyarrow.PythonFile(sink, mode="w") as file,
        pyarrow.ipc.new_stream(file, whole.schema) as stream,
    ):
        stream.write_table(whole)
    return sink.hexdigest()


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        sink = _Hash()
        shutil.copyfileobj(file, sink, 1 << 20)
    return sink.hexdigest()


class PartFolder:
    """The parts of one run. Workers `score` into it at the same time; one process `publish`es the whole.

    All workers must see the folder under the same name, as on a network file system.
    """

    def __init__(self, output: str | Path, scorer: BatchScorer) -> None:
        self._scorer = scorer
        self.path = Path(output).resolve() / f"signature={scorer.key}"
        self._working = self.path / "_parts"

    @contextmanager
    def opened(self, files: Sequence[str] = ()) -> Iterator[frozenset[str]]:
        """Hold the folder for one run over these input files; gives the contents of the parts that are there.

        Parts that are damaged are removed. A folder that holds the scores of other files is refused.
        """
        if self.path.parent.exists() and not self.path.parent.is_dir():
            raise UsageError(f"{self.path.parent}: is a file; name a folder for the parts")
        with self._explained():
            self._working.mkdir(parents=True, exist_ok=True)
            with locked(self.path / "_lock"):
                self._claim([[Path(file).name, Path(file).stat().st_size] for file in files])
                stored = self._stored()
                for content, part in list(stored.items()):
                    if not part.is_whole():
                        warn(f"{part.path}: is damaged; its rows are scored again")
                        part.path.unlink()
                        del stored[content]
                yield frozenset(stored)

    def _claim(self, files: list[list[Any]]) -> None:
        """Note whose scores the folder holds."""
        note = self.path / "_input.json"
        text = json.dumps(files)
        if note.exists() and (earlier := note.read_text("utf-8")) != text:
            names = ", ".join(name for name, _ in json.loads(earlier)) or "a dataset"
            raise UsageError(f"{self.path}: holds scores of other input ({names}); name another folder")
        write_text(note, text)

    def score(
        self,
        table: pyarrow.Table,
        present: frozenset[str] = frozenset(),
        *,
        place: str = "",
        first_row: int = 0,
    ) -> Part:
        """Score a table into a part of its own, unless that is among those `present` or was made in this run.

        Errors name the `place`, and the row counted from `first_row`.
        """
        needed = table.select(self._scorer.needed(table.schema))
        content = content_key(needed)
        if content in present or any(self._working.glob(f"{content}-*.parquet")):
            return Part(content, table.num_rows, reused=True)
        schema = self._scorer.schema(needed.schema)
        # Workers on several machines may have the same process id, so the temporary name does not rely on it.
        temporary = self._working / f".{content}.{uuid4().hex}.part"
        with self._explained():
            try:
                write_parquet(temporary, schema, self._scorer.batches(needed, place, first_row))
                sync(temporary)
                temporary.replace(self._working / f"{content}-{_digest(temporary)}.parquet")
                sync(self._working)
            finally:
                temporary.unlink(missing_ok=True)
        return Part(content, table.num_rows, reused=False)

    def publish(self, parts: Sequence[Part]) -> None:
        """Give all parts their final names, in this order."""
        with self._explained():
            stored = self._stored()
            self._check(stored, parts)
            description = self.path / "_scores.json"
            description.unlink(missing_ok=True)
            names = self._name(stored, parts)
            for path in self.path.glob("part-*.parquet"):
                if path.name not in names:  # rows that the input has fewer times than before
                    path.unlink()
            sync(self.path)
            shutil.rmtree(self._working)
            write_text(description, self._described(names, parts))

    def _check(self, stored: dict[str, _Stored], parts: Sequence[Part]) -> None:
        """Refuse parts of other input, and parts that are not what was written."""
        foreign = len(stored.keys() - {part.content for part in parts})
        if foreign:
            raise UsageError(f"{self.path}: holds {foreign} parts of other input; name another folder")
        for content in dict.fromkeys(part.content for part in parts):
            if content not in stored:
                raise ResourceError(f"{self.path}: a part has vanished; run the same again")
            if not stored[content].is_whole():
                stored[content].path.unlink()
                raise ResourceError(f"{stored[content].path}: {_DAMAGED}")

    def _name(self, stored: dict[str, _Stored], parts: Sequence[Part]) -> list[str]:
        """Move the parts to their final names, which are returned."""
        uses = Counter(part.content for part in parts)
        names: list[str] = []
        for number, part in enumerate(parts):
            source = stored[part.content]
            final = self.path / f"part-{number:05}-{part.content}-{source.digest}.parquet"
            names.append(final.name)
            uses[part.content] -= 1
            if source.path == final:
                continue
            if (
                uses[part.content] or source.path.name in names
            ):  # the same rows stand in the input more than once
                with replacing(final) as temporary:
                    shutil.copyfile(source.path, temporary)
            else:
                source.path.replace(final)
                stored[part.content] = _Stored(final, source.digest)
        return names

    def _described(self, names: Sequence[str], parts: Sequence[Part]) -> str:
        columns = self._scorer.columns
        described = {
            "signatures": self._scorer.signatures,
            "columns": {"hyp": columns.hyp, "ref": columns.ref, "src": columns.src},
            "rows": sum(part.rows for part in parts),
            "parts": {name: part.rows for name, part in zip(names, parts, strict=True)},
        }
        return json.dumps(described, indent=1, ensure_ascii=False) + "\n"

    def _stored(self) -> dict[str, _Stored]:
        """The parts on the disk by their contents, those with final names preferred."""
        paths = [*self._working.glob("*.parquet"), *sorted(self.path.glob("part-*.parquet"))]
        matches = [(path, _NAME.fullmatch(path.name)) for path in paths]
        return {match[1]: _Stored(path, match[2]) for path, match in matches if match}

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Errors of the file system, such as a full disk, in one line that says how to go on."""
        try:
            yield
        except OSError as error:
            raise ResourceError(
                f"{self.path}: {error}; mend that and run the same again: parts that are complete are kept"
            ) from error
