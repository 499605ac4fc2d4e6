"""Word alignment by agreement (Liang, Taskar & Klein 2006): trains the core's two models and writes their links."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tesla_eval._core import WordAligner
from tesla_eval.errors import UsageError
from tesla_eval.files import replacing
from tesla_eval.parallel import NO_PROGRESS, Progress, map_in_order
from tesla_eval.textio import read_lines

__all__ = ["AgreementRecipe", "align_by_agreement", "align_files_by_agreement"]

_PAIRS_AT_ONCE = 2000


@dataclass(frozen=True)
class AgreementRecipe:
    """How the models are trained and read: iterations of both as in the paper, threshold of the links."""

    lexical_iterations: int = 5
    """Of Model 1 in both directions, trained jointly."""
    sequential_iterations: int = 5
    """Of the hidden Markov model, trained jointly."""
    threshold: float = 0.3
    """Two words are linked if the product of both posteriors is at least this."""

    def __post_init__(self) -> None:
        if self.lexical_iterations < 1 or self.sequential_iterations < 0:
            raise UsageError("alignment needs at least one iteration of Model 1")
        if not 0 < self.threshold <= 1:
            raise UsageError(f"threshold of links: must be above 0 and at most 1, got {self.threshold:g}")


def align_by_agreement(
    target: Sequence[str],
    pivot: Sequence[str],
    recipe: AgreementRecipe = AgreementRecipe(),  # noqa: B008 - frozen
    *,
    threads: int = 1,
    progress: Progress = NO_PROGRESS,
) -> list[str]:
    """Links of each sentence pair in Pharaoh format; the same to the bit, whatever the number of threads.

    Sentences are words separated by spaces.

    >>> align_by_agreement(["the cat", "the dog", "a cat", "a dog"], ["le chat", "le chien", "un chat", "un chien"])
    ['0-0 1-1', '0-0 1-1', '0-0 1-1', '0-0 1-1']
    """
    aligner = trained_aligner(target, pivot, recipe, threads=threads, progress=progress)
    chunks = map_in_order(
        lambda chunk: aligner.links(chunk.start, chunk.stop, recipe.threshold), _chunks(len(aligner)), threads
    )
    return [line for lines in chunks for line in lines]


def trained_aligner(
    target: Sequence[str],
    pivot: Sequence[str],
    recipe: AgreementRecipe,
    *,
    threads: int = 1,
    progress: Progress = NO_PROGRESS,
) -> WordAligner:
    """The two models after training."""
    aligner = WordAligner(target, pivot)
    stages = [False] * recipe.lexical_iterations + [True] * recipe.sequential_iterations
    progress.stage("aligning words (sentence pairs and iterations)", len(stages) * len(aligner))
    for sequential in stages:

        def expect(chunk: range, sequential: bool = sequential) -> int:
            aligner.expect(chunk.start, chunk.stop, sequential)
            return len(chunk)

        for done in map_in_order(expect, _chunks(len(aligner)), threads):
            progress.advance(done)
        aligner.maximise(sequential)
    return aligner


def align_files_by_agreement(
    target: Path,
    pivot: Path,
    links: Path,
    recipe: AgreementRecipe,
    *,
    threads: int = 1,
    progress: Progress = NO_PROGRESS,
) -> None:
    """Align the lines of two files of words; the file of links appears under its name only when it is complete."""
    lines = align_by_agreement(
        read_lines(str(target)), read_lines(str(pivot)), recipe, threads=threads, progress=progress
    )
    with replacing(links) as part:
        part.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")


def _chunks(size: int) -> list[range]:
    return [range(start, min(start + _PAIRS_AT_ONCE, size)) for start in range(0, size, _PAIRS_AT_ONCE)]
