"""Data inside a page: named blocks of compressed JSON, written by the report and read back by `--extract`.

A block is `<script type="application/x-tesla-gzip" id="NAME">BASE64</script>`: not a script that a browser would run,
and without a character that HTML gives a meaning.
"""

from __future__ import annotations

import base64
import binascii
import gzip
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tesla_eval.base.errors import InputError
from tesla_eval.drawing.covering import expanded

BLOCK_TYPE = "application/x-tesla-gzip"
CORE, TEXTS = "tesla-core", "tesla-texts"
_BLOCK = re.compile(rf'<script type="{BLOCK_TYPE}" id="([a-z0-9-]{{1,64}})">([A-Za-z0-9+/=]*)</script>')
_MOST_BYTES = 1 << 30
_LEVEL = 6
"""Level 9 makes explanations 6 to 7 % smaller and takes about 2.6 times as long."""


def encoded(value: object) -> str:
    """The value as base64 of gzipped JSON; the same value gives the same text.

    >>> encoded([1]) == encoded([1])
    True
    """
    plain = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return base64.b64encode(gzip.compress(plain.encode("utf-8"), _LEVEL, mtime=0)).decode("ascii")


def read_blocks(path: str | Path) -> Iterator[tuple[str, Any]]:
    """The name and value of each block of a report; raises `InputError` for what is no report or is damaged."""
    try:
        page = Path(path).read_text("utf-8")
    except UnicodeDecodeError:
        raise InputError(f"{path}: is not UTF-8 text; give a file that `tesla report` wrote") from None
    replaced = False
    for match in _BLOCK.finditer(page):
        replaced = True
        try:
            yield match[1], json.loads(_decompressed(base64.b64decode(match[2], validate=True)))
        except (binascii.Error, OSError, EOFError, ValueError) as error:
            raise InputError(
                f"{path}: block {match[1]} is damaged ({error}); write the report again"
            ) from error
    if not replaced:
        raise InputError(f"{path}: holds no data of a report; give a file that `tesla report` wrote")


def _decompressed(data: bytes) -> bytes:
    with gzip.GzipFile(fileobj=io.BytesIO(data)) as stream:
        plain = stream.read(_MOST_BYTES + 1)
    if len(plain) > _MOST_BYTES:
        raise ValueError(f"holds more than {_MOST_BYTES} bytes")
    return plain


def extract(path: str | Path) -> dict[str, Any]:
    """Everything that a report holds, as one document (docs/report.md)."""
    document: dict[str, Any] = {}
    features: dict[str, Any] = {}
    explanations: dict[str, dict[str, Any]] = {}
    for name, value in read_blocks(path):
        if name == CORE:
            document |= value
        elif name.startswith("tesla-features-"):
            features[value["metric"]] = value["values"]
        elif name in (TEXTS, "tesla-words"):
            document[name.removeprefix("tesla-")] = value
        elif name.startswith("tesla-matching-"):
            for metric, by_segment in value.items():
                for of_systems in by_segment.values():
                    for one in of_systems:
                        one["references"] = [expanded(detail) for detail in one["references"]]
                explanations.setdefault(metric, {}).update(by_segment)
    if "format" not in document:
        raise InputError(f"{path}: lacks its block {CORE}; write the report again")
    for by_segment in explanations.values():
        for segment in sorted(by_segment, key=int):
            by_segment[segment] = by_segment.pop(segment)
    return {**document, "features": features, "explanations": explanations}
