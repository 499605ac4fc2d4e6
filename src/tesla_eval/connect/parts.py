"""A folder of scores in parts, which a broken run can resume.

OUTPUT/signature=KEY/_parts/CONTENT.parquet       while the run goes on: each part appears when it is complete
OUTPUT/signature=KEY/part-00000-CONTENT.parquet   when all parts are there, numbered in the order of the input
OUTPUT/signature=KEY/_scores.json                 the signatures, the columns and the rows of every part

KEY stands for the metrics' signatures and the columns, CONTENT for the texts and ids of the part. Another version of a
metric has another KEY, changed input another CONTENT: nothing that is outdated is ever taken for a result.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import shutil
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import uuid4

from tesla_eval.base.errors import UsageError
from tesla_eval.base.files import replacing
from tesla_eval.connect.batches import BatchScorer
from tesla_eval.connect.parquet import write_parquet

if TYPE_CHECKING:
    import pyarrow

__all__ = ["Part", "PartFolder", "content_key"]

_FINAL = re.compile(r"part-\d{5,}-([0-9a-f]{32})\.parquet")


class Part(NamedTuple):
    """One part that is complete: what it holds, how many rows, and whether an earlier run had made it."""

    content: str
    rows: int
    reused: bool


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


class PartFolder:
    """The parts of one run. Workers `score` into it at the same time; one process `publish`es the whole.

    All workers must see the folder under the same name, as on a network file system.
    """

    def __init__(self, output: str | Path, scorer: BatchScorer) -> None:
        self._scorer = scorer
        self.path = Path(output).resolve() / f"signature={scorer.key}"
        self._working = self.path / "_parts"

    def prepare(self) -> None:
        """Make the folder."""
        if self.path.parent.exists() and not self.path.parent.is_dir():
            raise UsageError(f"{self.path.parent}: is a file; name a folder for the parts")
        self._working.mkdir(parents=True, exist_ok=True)

    def score(
        self,
        table: pyarrow.Table,
        published: frozenset[str] = frozenset(),
        *,
        place: str = "",
        first_row: int = 0,
    ) -> Part:
        """Score a table into a part of its own, unless that part is there; `published` is from an earlier run.

        Errors name the `place`, and the row counted from `first_row`.
        """
        needed = table.select(self._scorer.needed(table.schema))
        content = content_key(needed)
        part = self._working / f"{content}.parquet"
        if content in published or part.exists():
            return Part(content, table.num_rows, reused=True)
        self._working.mkdir(parents=True, exist_ok=True)
        schema = self._scorer.schema(needed.schema)
        # Workers on several machines may have the same process id, so the temporary name does not rely on it.
        temporary = self._working / f".{content}.{uuid4().hex}.part"
        try:
            write_parquet(temporary, schema, self._scorer.batches(needed, place, first_row))
            temporary.replace(part)
        finally:
            temporary.unlink(missing_ok=True)
        return Part(content, table.num_rows, reused=False)

    def published(self) -> frozenset[str]:
        """The contents of the parts that an earlier run completed."""
        return frozenset(self._published())

    def publish(self, parts: Sequence[Part]) -> None:
        """Give all parts their final names, in this order, and remove what does not belong to them."""
        description = self.path / "_scores.json"
        description.unlink(missing_ok=True)
        sources = {path.stem: path for path in self._working.glob("*.parquet")} | self._published()
        uses = Counter(part.content for part in parts)
        names = []
        for number, part in enumerate(parts):
            final = self.path / f"part-{number:05}-{part.content}.parquet"
            names.append(final.name)
            uses[part.content] -= 1
            source = sources[part.content]
            if source == final:
                continue
            if uses[part.content] or source.name in names:  # the same rows stand in the input more than once
                with replacing(final) as temporary:
                    shutil.copyfile(source, temporary)
            else:
                source.replace(final)
                sources[part.content] = final
        keep = set(names)
        for path in self.path.glob("part-*.parquet"):
            if path.name not in keep:
                path.unlink()
        shutil.rmtree(self._working)
        described = {
            "signatures": self._scorer.signatures,
            "columns": {
                "hyp": self._scorer.columns.hyp, "ref": self._scorer.columns.ref, "src": self._scorer.columns.src,
            },
            "rows": sum(part.rows for part in parts),
            "parts": {name: part.rows for name, part in zip(names, parts, strict=True)},
        }  # fmt: skip
        with replacing(description) as temporary:
            temporary.write_text(json.dumps(described, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")

    def _published(self) -> dict[str, Path]:
        paths = {}
        for path in sorted(self.path.glob("part-*.parquet")):
            match = _FINAL.fullmatch(path.name)
            if match:
                paths[match[1]] = path
        return paths
