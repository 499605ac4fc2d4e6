"""Bitexts as aligned lines of lemmas: the stage of a phrase table that knows the languages, and the word aligner."""

from __future__ import annotations

import importlib.metadata
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from tesla_eval.base.errors import BuildError, InputError, ResourceError
from tesla_eval.base.files import replacing
from tesla_eval.base.parallel import Progress
from tesla_eval.language.analysis.batch import AnalysedBatch
from tesla_eval.language.analysis.conllu import FUNCTION_TAGS, UNIVERSAL_TAGS
from tesla_eval.language.analysis.pipeline import Pipeline
from tesla_eval.language.pivot import FunctionTag
from tesla_eval.texts.lines import read_in_step

LONGEST_SENTENCE = 100
"""In words. Longer sentences are left out: their alignments are often wrong."""
_LINES_AT_ONCE = 4096
_NO_LEMMA = "_"  # what a word of signs only, such as a lone Arabic tatweel, is called


@dataclass(frozen=True)
class Bitext:
    """Two files whose lines translate each other, and perhaps one with their alignments (Pharaoh format).

    Links `i-j` count the words between white space: i on the target side, j on the pivot side.
    """

    target: str
    pivot: str
    alignments: str | None = None


class TagCounts(Counter[tuple[str, int]]):
    """How often each pivot word had which universal tag."""

    def count(self, batch: AnalysedBatch, names: dict[int, str]) -> None:
        """Count the tokens of a batch; `names` are its lemmas."""
        keys, counts = np.unique(batch.lemma.astype(np.int64) * 256 + batch.universal, return_counts=True)
        for key, count in zip(keys.tolist(), counts.tolist(), strict=True):
            self[names[key // 256], key % 256] += count

    def most_frequent(self) -> dict[str, FunctionTag]:
        """For each word its most frequent tag and kind of word (specification §6); ties by the order of the tags."""
        tags: dict[str, dict[int, int]] = {}
        for (word, tag), count in self.items():
            tags.setdefault(word, {})[tag] = count
        return {word: _function_tag(counts) for word, counts in tags.items()}


def _function_tag(counts: dict[int, int]) -> FunctionTag:
    best = min(counts, key=lambda tag: (-counts[tag], tag))
    function = sum(count for tag, count in counts.items() if UNIVERSAL_TAGS[tag] in FUNCTION_TAGS)
    return FunctionTag(UNIVERSAL_TAGS[best], 2 * function > sum(counts.values()))


def analysed_pairs(
    bitext: Bitext, target: Pipeline, pivot: Pipeline, tags: TagCounts, progress: Progress
) -> Iterator[dict[str, list[str]]]:
    """The sentence pairs of a bitext with words on both sides, none of them too long.

    They come in columns: target and pivot as words separated by spaces, and links between these words if given.
    """
    paths = [path for path in (bitext.target, bitext.pivot, bitext.alignments) if path is not None]
    done = 0
    for chunk in read_in_step(paths, _LINES_AT_ONCE):
        (x,), (y,) = target.analyse(chunk[0]), pivot.analyse(chunk[1])
        names = lemma_names(y)
        tags.count(y, names)
        kept = [
            k for k, (m, n) in enumerate(zip(x.lengths.tolist(), y.lengths.tolist(), strict=True))
            if 0 < m <= LONGEST_SENTENCE and 0 < n <= LONGEST_SENTENCE
        ]  # fmt: skip
        lines = {"target": lemma_lines(x, lemma_names(x)), "pivot": lemma_lines(y, names)}
        columns = {name: [column[k] for k in kept] for name, column in lines.items()}
        if bitext.alignments is not None:
            columns["links"] = [
                _projected(chunk[2][k], x, y, k, f"{bitext.alignments}, line {done + k + 1}") for k in kept
            ]
        yield columns
        done += len(chunk[0])
        progress.advance(len(chunk[0]))


def lemma_names(batch: AnalysedBatch) -> dict[int, str]:
    """The lemmas of a batch by number, as single words: each is one in the lines that aligners read."""
    lexicon = batch.vocabulary.lexicon
    return {
        number: "_".join(lexicon.lemma(number).split()) or _NO_LEMMA
        for number in np.unique(batch.lemma).tolist()
    }


def lemma_lines(batch: AnalysedBatch, names: dict[int, str]) -> list[str]:
    """Each text as its lemmas, separated by spaces."""
    words = [names[number] for number in batch.lemma.tolist()]
    return [" ".join(words[start:end]) for start, end in pairwise(batch.offsets.tolist())]


def _projected(line: str, x: AnalysedBatch, y: AnalysedBatch, index: int, where: str) -> str:
    """Links between words of the raw texts as links between our tokens: those that share a character."""
    targets, pivots = _tokens_of_words(x, index), _tokens_of_words(y, index)
    links: set[tuple[int, int]] = set()
    for link in line.split():
        try:
            i, j = map(int, link.split("-"))
            if min(i, j) < 0:
                raise ValueError
            links.update((a, b) for a in targets[i] for b in pivots[j])
        except (ValueError, IndexError):
            raise InputError(
                f"{where}: {link!r} is not a link I-J between sentences of {len(targets)} and {len(pivots)} words"
            ) from None
    return " ".join(f"{a}-{b}" for a, b in sorted(links))


def _tokens_of_words(batch: AnalysedBatch, index: int) -> list[list[int]]:
    """For each word between white space the tokens that lie in it."""
    text = batch.texts[index]
    span = slice(batch.offsets[index], batch.offsets[index + 1])
    tokens = list(zip(batch.start[span].tolist(), batch.end[span].tolist(), strict=True))
    tokens_by_word, position = [], 0
    for word in text.split():
        start = text.index(word, position)
        position = start + len(word)
        tokens_by_word.append([k for k, (a, b) in enumerate(tokens) if a < position and start < b])
    return tokens_by_word


PROGRAM = "eflomal-align"
_LAST_WORDS = 400  # characters of the program's complaint that are passed on


def find_eflomal() -> str:
    """The path of the program; `ResourceError` with the command that installs it if it is not found."""
    beside = shutil.which(PROGRAM, path=str(Path(sys.executable).parent))
    program = beside or shutil.which(PROGRAM) or _installed_script()
    if program is None:
        raise ResourceError(
            f"the aligner {PROGRAM} is not installed; `pip install eflomal` (GPL-3.0, used as a separate program), or "
            "give your own alignments with --alignments"
        )
    return program


def _installed_script() -> str | None:
    """The script that pip installed, which may not be on the path."""
    try:
        files = importlib.metadata.files("eflomal") or ()
    except importlib.metadata.PackageNotFoundError:
        return None
    for file in files:
        if file.name == PROGRAM and (path := Path(str(file.locate()))).is_file():
            return str(path.resolve())
    return None


def align_with_eflomal(target: Path, pivot: Path, forward: Path, reverse: Path) -> None:
    """Align the lines of two files of words; the links of both directions go into two files (Pharaoh format).

    These appear under their names only when they are complete. An interrupt ends the program too.
    """
    program = find_eflomal()
    try:
        with replacing(forward) as forward_part, replacing(reverse) as reverse_part:
            files = ["-s", str(target), "-t", str(pivot), "-f", str(forward_part), "-r", str(reverse_part)]
            done = subprocess.run(
                [program, "--overwrite", *files],
                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False,
            )  # fmt: skip
            if done.returncode != 0:
                raise BuildError(
                    f"{PROGRAM} failed with status {done.returncode}: {done.stderr.strip()[-_LAST_WORDS:]}"
                )
    except OSError as error:
        raise BuildError(f"{program}: cannot be run ({error.strerror})") from error
