"""Print how well sentences are found in running text, beside a cut at every stop before a capital.

    python -m research.sentences [--errors 20] [LANGUAGE ...]

Runs of ten neighbouring sentences of the treebanks (test part, raw text rebuilt from SpaceAfter=No) joined by blanks,
and the tokenised documents of the discourse treebank (`gdtb`, test part). Sentences that end without a stop, such as
headings, cannot be found in such text by anybody who does not understand it; the last columns leave them out: F1 over
the boundaries behind a stop.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from tesla_eval.language.analysis.conllu import read_conllu
from tesla_eval.language.analysis.sentences import split_sentences

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
DOCUMENTS = "gdtb"
RUN = 10
LANGUAGES = ("en", "de", "fr", "es", "it", "cs", "ru", "zh", "ja")
_AFTER_STOP = re.compile(r"[.!?…。！？।؟]\W*$")

Splitter = Callable[[str], list[tuple[int, int]]]


def joined(sentences: Sequence[str], blank: str) -> tuple[str, set[int]]:
    """The text of the sentences, and where they end: all but the last, which everybody finds.

    >>> joined(["One.", "Two."], " ")
    ('One. Two.', {4})
    """
    ends, length = set(), 0
    for sentence in sentences:
        length += len(sentence)
        ends.add(length)
        length += len(blank)
    return blank.join(sentences), ends - {length - len(blank)}


def texts_of(name: str) -> Iterator[tuple[str, set[int]]]:
    if name == DOCUMENTS:
        with gzip.open(DATA / "discourse" / "gdtb" / "docs.jsonl.gz", "rt", encoding="utf-8") as lines:
            for document in map(json.loads, lines):
                if document["split"] == "test":
                    yield joined([" ".join(words) for words in document["sents"]], " ")
        return
    sentences = [sentence.text.strip() for sentence in read_conllu(DATA / "ud" / name / "test.conllu.gz")]
    for start in range(0, len(sentences) - RUN + 1, RUN):
        yield joined(sentences[start : start + RUN], "" if name in ("zh", "ja") else " ")


def at_every_stop(text: str) -> list[tuple[int, int]]:
    """What a first attempt would do."""
    ends = [
        match.end()
        for match in re.finditer(r"[.!?…。！？।؟][\"')\]”’»]*(?=\s+[^\Wa-z]|[^\W\d_a-zA-Z])", text)
    ]
    return list(zip([0, *ends], [*ends, len(text)], strict=True))


def measure(texts: Sequence[tuple[str, set[int]]], split: Splitter, errors: list[str]) -> tuple[float, float]:
    """F1 in percent over all boundaries, and over those behind a stop."""
    counts = [[0, 0], [0, 0]]  # found rightly, found plus wanted
    for text, gold in texts:
        found = {end for _, end in split(text)} - {len(text)}
        errors += [f"{'missed' if at in gold else 'wrong '} {text[max(0, at - 40) : at]!r} | {text[at : at + 30]!r}"
                   for at in sorted(gold ^ found)]  # fmt: skip
        stopped = [
            {at for at in ends if _AFTER_STOP.search(text, max(0, at - 4), at)} for ends in (gold, found)
        ]
        for count, (wanted, given) in zip(counts, [(gold, found), stopped], strict=True):
            count[0] += len(wanted & given)
            count[1] += len(wanted) + len(given)
    return 200 * counts[0][0] / counts[0][1], 200 * counts[1][0] / counts[1][1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "languages", nargs="*", metavar="LANGUAGE", help=f"or {DOCUMENTS}; by default a choice"
    )
    parser.add_argument("--errors", type=int, default=0, metavar="N", help="show the first mistakes")
    options = parser.parse_args()
    print(f"{'':8} {'sentences':>9} {'F1':>6} {'naive':>6} | {'behind stops':>12} {'naive':>6}")
    for name in options.languages or (DOCUMENTS, *LANGUAGES):
        texts = list(texts_of(name))
        errors: list[str] = []
        language = "en" if name == DOCUMENTS else name
        every, stopped = measure(texts, lambda text, lang=language: split_sentences(text, lang), errors)  # type: ignore[misc]
        naive, naive_stopped = measure(texts, at_every_stop, [])
        count = sum(len(ends) for _, ends in texts)
        print(f"{name:8} {count:9} {every:6.2f} {naive:6.2f} | {stopped:12.2f} {naive_stopped:6.2f}")
        for error in errors[: options.errors]:
            print(f"    {error}")


if __name__ == "__main__":
    main()
