"""Print how well and how fast the tokeniser finds the treebanks' own tokens.

    python tools/measure_tokenisers.py [--split dev] [--errors 20] [LANGUAGE ...]

Raw text is rebuilt from the forms and SpaceAfter=No. Gold are the surface tokens, multi-word tokens whole; only
English contractions are cut (do|n't), as SPEC §1 lets a language's tokeniser do. Sources without spacing are
left out.
"""

from __future__ import annotations

import argparse
import gzip
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tesla_eval.analysis.tokenisers import load_tokeniser

TREEBANKS = Path(__file__).resolve().parents[2] / "shared" / "data" / "ud"
WITHOUT_SPACING = "conll2018"
CUT_CONTRACTIONS = frozenset({"en"})

Spans = list[tuple[int, int]]
Mistakes = Counter[tuple[str, str]]


def treebank_sentences(path: Path) -> Iterator[tuple[str, list[list[str]]]]:
    """The source and the rows of each sentence of a CoNLL-U file."""
    source, rows = "", list[list[str]]()
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("# source"):
                source = line.partition("=")[2].strip()
            elif line[0].isdigit():
                rows.append(line.rstrip("\n").split("\t"))
            elif rows and not line.strip():
                yield source, rows
                rows = []
    if rows:
        yield source, rows


def gold_tokens(rows: list[list[str]], *, cut: bool = False) -> tuple[str, Spans]:
    """The raw text of a sentence and its surface tokens; `cut` multi-word tokens that their words spell out.

    >>> contraction = [["1-2", "can't", "_"], ["1", "ca", "_"], ["2", "n't", "_"]]
    >>> gold_tokens(contraction), gold_tokens(contraction, cut=True)
    (("can't", [(0, 5)]), ("can't", [(0, 2), (2, 5)]))
    """
    form_of = {row[0]: row[1] for row in rows}
    text, spans = "", Spans()
    inside = 0  # the last word of the multi-word token, whose words are no tokens
    for number, form, *_, misc in rows:
        first, dash, last = number.partition("-")
        if "." in number or (not dash and int(number) <= inside):
            continue
        parts = [form]
        if dash:
            inside = int(last)
            words = [form_of[str(word)] for word in range(int(first), inside + 1)]
            if cut and "".join(words) == form:
                parts = words
        for part in parts:
            spans.append((len(text), len(text) + len(part)))
            text += part
        if "SpaceAfter=No" not in misc:
            text += " "
    return text.rstrip(), spans


def gold_texts(language: str, split: str) -> list[tuple[str, Spans]]:
    """The sentences of a treebank as raw text with their tokens."""
    path = TREEBANKS / language / f"{split}.conllu.gz"
    return [
        gold_tokens(rows, cut=language in CUT_CONTRACTIONS)
        for source, rows in treebank_sentences(path)
        if WITHOUT_SPACING not in source
    ]


def disagreements(text: str, gold: Spans, found: Spans) -> Iterator[tuple[str, str]]:
    """The stretches that the two cut differently, with | for the cuts."""
    common = sorted({start for start, _ in gold} & {start for start, _ in found})
    for begin, stop in zip(common, [*common[1:], len(text)], strict=True):
        theirs, ours = ("|".join(text[a:b] for a, b in spans if begin <= a < stop) for spans in (gold, found))
        if theirs != ours:
            yield theirs, ours


def token_f1(language: str, texts: list[tuple[str, Spans]], mistakes: Mistakes) -> float:
    """F1, in percent, of the found tokens; the places of disagreement are counted in `mistakes`."""
    tokeniser = load_tokeniser(language)
    both = total = 0
    for text, gold in texts:
        found = tokeniser.spans(text)
        both += len({*gold} & {*found})
        total += len(gold) + len(found)
        mistakes.update(disagreements(text, gold, found))
    return 200 * both / total


def tokens_per_second(language: str, texts: list[tuple[str, Spans]], passes: int = 10) -> float:
    """Speed inside the core on one long text: the sentences, a line each."""
    tokeniser = load_tokeniser(language)
    long_text = "\n".join(text for text, _ in texts)
    best = 0.0  # of the passes: the machine may be busy with other things
    for _ in range(passes):
        begin = time.perf_counter()
        tokens = tokeniser.count(long_text)
        best = max(best, tokens / (time.perf_counter() - begin))
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("languages", nargs="*", metavar="LANGUAGE", help="all of the treebanks by default")
    parser.add_argument("--split", default="test")
    parser.add_argument("--errors", type=int, default=0, metavar="N", help="show the most frequent mistakes")
    options = parser.parse_args()
    print(f"{'language':8} {'tokens':>7} {'F1':>6} {'M tokens/s':>10}")
    everything = sorted(path.parent.name for path in TREEBANKS.glob("*/test.conllu.gz"))
    for language in options.languages or everything:
        texts = gold_texts(language, options.split)
        mistakes = Mistakes()
        f1 = token_f1(language, texts, mistakes)
        speed = tokens_per_second(language, texts) / 1e6
        print(f"{language:8} {sum(len(gold) for _, gold in texts):7} {f1:6.2f} {speed:10.1f}")
        for (theirs, ours), count in mistakes.most_common(options.errors):
            print(f"    {count:4} gold {theirs}   found {ours}")


if __name__ == "__main__":
    main()
