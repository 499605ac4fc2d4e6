"""Word alignment by agreement (Liang, Taskar & Klein 2006): trains the core's two models and writes their links."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from tesla_eval._core import StopToken, WordAligner
from tesla_eval.base.files import write_text
from tesla_eval.base.parallel import NO_PROGRESS, Progress, map_in_order
from tesla_eval.texts.lines import read_lines

_PAIRS_AT_ONCE = 2000


ITERATIONS = (5, 5)
"""As in the paper: of Model 1 and of the hidden Markov model, both directions trained jointly."""
THRESHOLD = 0.05
"""In each direction a word is linked to its likeliest origin if that has at least this posterior."""


class Links(NamedTuple):
    """The links of each sentence pair in Pharaoh format, one list per direction."""

    forward: list[str]
    """Each pivot word with the target word that it comes from."""
    reverse: list[str]
    """Each target word with the pivot word that it comes from."""


def align_by_agreement(
    target: Sequence[str],
    pivot: Sequence[str],
    *,
    threshold: float = THRESHOLD,
    threads: int = 1,
    progress: Progress = NO_PROGRESS,
) -> Links:
    """The links of both directions; the same to the bit, whatever the number of threads.

    Sentences are words separated by spaces.

    >>> links = align_by_agreement(
    ...     ["the cat", "the dog", "a cat", "a dog"], ["le chat", "le chien", "un chat", "un chien"]
    ... )
    >>> links.forward
    ['0-0 1-1', '0-0 1-1', '0-0 1-1', '0-0 1-1']
    >>> links.forward == links.reverse
    True
    """
    aligner = trained_aligner(target, pivot, threads=threads, progress=progress)

    def directed(direction: int) -> list[str]:
        chunks = map_in_order(
            lambda chunk: aligner.directed_links(direction, chunk.start, chunk.stop, threshold),
            _chunks(len(aligner)),
            threads,
            StopToken(),
        )
        return [line for lines in chunks for line in lines]

    return Links(directed(0), directed(1))


def trained_aligner(
    target: Sequence[str],
    pivot: Sequence[str],
    iterations: tuple[int, int] = ITERATIONS,
    *,
    threads: int = 1,
    progress: Progress = NO_PROGRESS,
) -> WordAligner:
    """The two models after training."""
    aligner = WordAligner(target, pivot)
    stages = [False] * iterations[0] + [True] * iterations[1]
    progress.stage("aligning words (sentence pairs and iterations)", len(stages) * len(aligner))
    for sequential in stages:

        def expect(chunk: range, sequential: bool = sequential) -> int:
            aligner.expect(chunk.start, chunk.stop, sequential)
            return len(chunk)

        for done in map_in_order(expect, _chunks(len(aligner)), threads, StopToken()):
            progress.advance(done)
        aligner.maximise(sequential)
    return aligner


def align_files_by_agreement(
    target: Path, pivot: Path, forward: Path, reverse: Path, *, threads: int, progress: Progress
) -> None:
    """Align the lines of two files of words; files of links appear under their names only when they are complete."""
    links = align_by_agreement(
        read_lines(str(target)), read_lines(str(pivot)), threads=threads, progress=progress
    )
    for path, lines in zip((forward, reverse), links, strict=True):
        write_text(path, "".join(f"{line}\n" for line in lines))


def _chunks(size: int) -> list[range]:
    return [range(start, min(start + _PAIRS_AT_ONCE, size)) for start in range(0, size, _PAIRS_AT_ONCE)]
