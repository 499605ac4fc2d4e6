"""Word alignment by agreement (Liang, Taskar & Klein 2006): trains the core's two models and writes their links."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tesla_eval._core import StopToken, WordAligner
from tesla_eval.base.errors import UsageError
from tesla_eval.base.files import replacing
from tesla_eval.base.parallel import NO_PROGRESS, Progress, map_in_order
from tesla_eval.texts.lines import read_lines

_PAIRS_AT_ONCE = 2000


@dataclass(frozen=True)
class AgreementRecipe:
    """How the models are trained and read: iterations of both as in the paper, least posterior of a link."""

    lexical_iterations: int = 5
    """Of Model 1 in both directions, trained jointly."""
    sequential_iterations: int = 5
    """Of the hidden Markov model, trained jointly."""
    threshold: float = 0.05
    """In each direction a word is linked to its likeliest origin if that has at least this posterior."""

    def __post_init__(self) -> None:
        if self.lexical_iterations < 1 or self.sequential_iterations < 0:
            raise UsageError("alignment needs at least one iteration of Model 1")
        if not 0 < self.threshold <= 1:
            raise UsageError(f"threshold of links: must be above 0 and at most 1, got {self.threshold:g}")


@dataclass(frozen=True)
class Links:
    """The links of each sentence pair in Pharaoh format, one list per direction."""

    forward: list[str]
    """Each pivot word with the target word that it comes from."""
    reverse: list[str]
    """Each target word with the pivot word that it comes from."""


def align_by_agreement(
    target: Sequence[str],
    pivot: Sequence[str],
    recipe: AgreementRecipe = AgreementRecipe(),  # noqa: B008 - frozen
    *,
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
    aligner = trained_aligner(target, pivot, recipe, threads=threads, progress=progress)

    def directed(direction: int) -> list[str]:
        chunks = map_in_order(
            lambda chunk: aligner.directed_links(direction, chunk.start, chunk.stop, recipe.threshold),
            _chunks(len(aligner)),
            threads,
            StopToken(),
        )
        return [line for lines in chunks for line in lines]

    return Links(directed(0), directed(1))


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

        for done in map_in_order(expect, _chunks(len(aligner)), threads, StopToken()):
            progress.advance(done)
        aligner.maximise(sequential)
    return aligner


def align_files_by_agreement(
    target: Path,
    pivot: Path,
    forward: Path,
    reverse: Path,
    recipe: AgreementRecipe,
    *,
    threads: int = 1,
    progress: Progress = NO_PROGRESS,
) -> None:
    """Align the lines of two files of words; files of links appear under their names only when they are complete."""
    links = align_by_agreement(
        read_lines(str(target)), read_lines(str(pivot)), recipe, threads=threads, progress=progress
    )
    for path, lines in ((forward, links.forward), (reverse, links.reverse)):
        with replacing(path) as part:
            part.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")


def _chunks(size: int) -> list[range]:
    return [range(start, min(start + _PAIRS_AT_ONCE, size)) for start in range(0, size, _PAIRS_AT_ONCE)]
