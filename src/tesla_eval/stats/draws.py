"""Random draws that are the same everywhere: a function of the seed alone, in bounded memory.

They are cut from the raw bits of PCG64, whose stream NumPy guarantees across versions (unlike that of its
higher level generators), and row by row, so that the size of a chunk does not show in the result.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from tesla_eval.arrays import FloatArray
from tesla_eval.errors import UsageError

__all__ = ["DEFAULT_RESAMPLES", "DEFAULT_SEED", "exchange_masks", "resample_counts"]

DEFAULT_RESAMPLES = 1000
DEFAULT_SEED = 12345
_CHUNK_VALUES = 1 << 21
_CHUNK_ROWS = 256
_MAX_UNITS = 1 << 31


def resample_counts(units: int, resamples: int, seed: int) -> Iterator[FloatArray]:
    """Bootstrap resamples in chunks: rows of how often each unit was drawn, `units` draws with replacement.

    >>> counts = np.concatenate(list(resample_counts(units=3, resamples=5, seed=1)))
    >>> counts.shape, counts.sum(axis=1)
    ((5, 3), array([3., 3., 3., 3., 3.]))
    """
    words = (units + 1) // 2
    for rows, raw in _raw_rows(units, resamples, seed, words):
        # The high 32 bits of (32 random bits x units): uniform up to units / 2^32.
        halves = raw.view("<u4").reshape(rows, 2 * words)[:, :units].astype(np.uint64)
        drawn = (halves * np.uint64(units)) >> np.uint64(32)
        cells = drawn.astype(np.int64) + units * np.arange(rows)[:, None]
        yield np.bincount(cells.ravel(), minlength=rows * units).reshape(rows, units).astype(np.float64)


def exchange_masks(units: int, resamples: int, seed: int) -> Iterator[FloatArray]:
    """Random halves in chunks: rows of 0 and 1, each unit 1 (kept) or 0 (exchanged) with probability 1/2.

    Where all 2^units rows are no more than `resamples`, they are enumerated instead and a test on them is
    exact.

    >>> np.concatenate(list(exchange_masks(units=2, resamples=4, seed=1)))
    array([[1., 1.],
           [0., 1.],
           [1., 0.],
           [0., 0.]])
    """
    if is_exhaustive(units, resamples):
        exchanged = np.arange(1 << units)[:, None] >> np.arange(units) & 1
        yield (1 - exchanged).astype(np.float64)
        return
    words = (units + 63) // 64
    for rows, raw in _raw_rows(units, resamples, seed, words):
        bits = np.unpackbits(raw.view(np.uint8).reshape(rows, -1), axis=1, count=units, bitorder="little")
        yield bits.astype(np.float64)


def is_exhaustive(units: int, resamples: int) -> bool:
    """True where `exchange_masks` enumerates every exchange instead of drawing some."""
    return units < 63 and 1 << units <= resamples


def _raw_rows(
    units: int, resamples: int, seed: int, words: int
) -> Iterator[tuple[int, npt.NDArray[np.uint64]]]:
    if not 1 <= units < _MAX_UNITS:
        raise UsageError(f"resampling needs between 1 and {_MAX_UNITS - 1} units, got {units}")
    if resamples < 1:
        raise UsageError(f"resamples: at least 1 is needed, got {resamples}")
    if seed < 0:
        raise UsageError(f"seed: a whole number of at least 0 is needed, got {seed}")
    bits = np.random.PCG64(seed)
    chunk = max(1, min(_CHUNK_ROWS, _CHUNK_VALUES // units))
    for start in range(0, resamples, chunk):
        rows = min(chunk, resamples - start)
        yield rows, bits.random_raw(rows * words).astype("<u8", copy=False)
