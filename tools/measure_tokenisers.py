"""Print how well and how fast the tokeniser finds the treebanks' own tokens.

    python tools/measure_tokenisers.py [--split dev] [--errors 20] [--peers] [LANGUAGE ...]

Raw text is rebuilt from the forms and SpaceAfter=No. Gold are the surface tokens, multi-word tokens whole;
only English contractions are cut (do|n't), as specification §1 lets a language's tokeniser do. Sources without spacing
are left out.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from pathlib import Path

from tesla_eval.language.analysis.conllu import MultiWord, Sentence, Word, read_conllu  # noqa: F401 (doctest)
from tesla_eval.language.analysis.tokenisers import load_tokeniser

TREEBANKS = Path(__file__).resolve().parents[2] / "shared" / "data" / "ud"
WITHOUT_SPACING = "conll2018"
CUT_CONTRACTIONS = frozenset({"en"})

PEERS = {"jieba": "zh", "fugashi": "ja", "pythainlp": "th"}
"""Segmenters of others, by the name of their package, and their languages."""

Spans = list[tuple[int, int]]
Mistakes = Counter[tuple[str, str]]


def treebank_languages() -> set[str]:
    return {path.parent.name for path in TREEBANKS.glob("*/test.conllu.gz")}


def gold_tokens(sentence: Sentence, *, cut: bool = False) -> tuple[str, Spans]:
    """The raw text of a sentence and its surface tokens; `cut` multi-word tokens that their words spell out.

    >>> words = Word("ca", "can", "AUX", "_"), Word("n't", "not", "PART", "_")
    >>> contraction = Sentence(words, (MultiWord(0, 2, "can't"),))
    >>> gold_tokens(contraction), gold_tokens(contraction, cut=True)
    (("can't", [(0, 5)]), ("can't", [(0, 2), (2, 5)]))
    """
    multiword_at = {multiword.start: multiword for multiword in sentence.multiwords}
    text, spans, done = "", Spans(), 0
    while done < len(sentence.words):
        token = multiword_at.get(done) or sentence.words[done]
        parts = [token.form]
        if isinstance(token, MultiWord):
            words = [word.form for word in sentence.words[done : token.end]]
            parts = words if cut and "".join(words) == token.form else parts
        for part in parts:
            spans.append((len(text), len(text) + len(part)))
            text += part
        text += " " * token.space_after
        done = token.end if isinstance(token, MultiWord) else done + 1
    return text.rstrip(), spans


def gold_texts(language: str, split: str) -> list[tuple[str, Spans]]:
    """The sentences of a treebank as raw text with their tokens."""
    path = TREEBANKS / language / f"{split}.conllu.gz"
    return [
        gold_tokens(sentence, cut=language in CUT_CONTRACTIONS)
        for sentence in read_conllu(path)
        if WITHOUT_SPACING not in (sentence.comment("source") or "")
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


def peer_words(name: str) -> Callable[[str], Iterable[str]]:
    """What another program's segmenter makes of a text; `ImportError` if it is not installed."""
    module = import_module(name)
    if name == "fugashi":
        tagger = module.Tagger()
        return lambda text: [word.surface for word in tagger(text)]
    if name == "jieba":
        module.setLogLevel("ERROR")
    return getattr(module, {"jieba": "lcut", "pythainlp": "word_tokenize"}[name])  # type: ignore[no-any-return]


def peer_f1(name: str) -> float | None:
    """F1, in percent, of another program's words on the test set of its language; None if it is not installed."""
    try:
        cut = peer_words(name)
    except ImportError:
        return None
    both = total = 0
    for text, gold in gold_texts(PEERS[name], "test"):
        found, position = set(), 0
        for word in cut(text):
            start = text.index(word, position)
            position = start + len(word)
            if not word.isspace():
                found.add((start, position))
        both += len({*gold} & found)
        total += len(gold) + len(found)
    return 200 * both / total


def tokens_per_second(language: str, texts: list[tuple[str, Spans]], passes: int = 10) -> float:
    """Speed inside the core on one long text: the sentences, a line each."""
    tokeniser = load_tokeniser(language)
    long_text = "\n".join(text for text, _ in texts)
    best = 0.0  # of the passes, in processor time: the machine may be busy with other things
    for _ in range(passes):
        begin = time.process_time()
        tokens = tokeniser.count(long_text)
        best = max(best, tokens / (time.process_time() - begin))
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("languages", nargs="*", metavar="LANGUAGE", help="all of the treebanks by default")
    parser.add_argument("--split", default="test")
    parser.add_argument("--errors", type=int, default=0, metavar="N", help="show the most frequent mistakes")
    parser.add_argument("--peers", action="store_true", help="only other programs' segmenters that are here")
    options = parser.parse_args()
    if options.peers:
        for name, language in PEERS.items():
            f1 = peer_f1(name)
            print(f"{name:10} {language} {'not installed' if f1 is None else f'{f1:.2f}'}")
        return
    print(f"{'language':8} {'tokens':>7} {'F1':>6} {'M tokens/s':>10}")
    for language in options.languages or sorted(treebank_languages()):
        texts = gold_texts(language, options.split)
        mistakes = Mistakes()
        f1 = token_f1(language, texts, mistakes)
        speed = tokens_per_second(language, texts) / 1e6
        print(f"{language:8} {sum(len(gold) for _, gold in texts):7} {f1:6.2f} {speed:10.1f}")
        for (theirs, ours), count in mistakes.most_common(options.errors):
            print(f"    {count:4} gold {theirs}   found {ours}")


if __name__ == "__main__":
    main()
