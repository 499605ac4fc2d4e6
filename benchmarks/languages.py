"""TESLA-M against sacreBLEU's chrF in every language, cold, one thread; the start-up of a language beside it.

python -m benchmarks languages [LANGUAGE ...]

The pairs are sentences of the treebanks' test sets and the same sentences with some words left out and others
exchanged. Every language is measured in a process of its own, so that every word is new; CPU time, median of several
processes, in which the two take turns to be first. Start-up is what the first sentence costs: reading the tagger, the
dictionary of lemmas and the synonyms.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from collections.abc import Sequence
from itertools import islice

from benchmarks.common import SHARED_DATA, cpu_seconds
from tesla_eval import TeslaM
from tesla_eval.language.analysis.conllu import read_conllu
from tesla_eval.language.analysis.languages import LANGUAGES

SENTENCES = 1_000
RUNS = 3
UNKNOWN = "qzxw-qzxw"  # what loads simplemma, which has no lemma for it
COLD = "import sys; from benchmarks import languages; languages.measure(sys.argv[1], sys.argv[2] == '1')"


def pairs(language: str) -> list[tuple[str, str]]:
    """Changed sentences and the sentences themselves; short test sets give fewer."""
    path = SHARED_DATA / "ud" / language / "test.conllu.gz"
    if not path.exists():
        raise SystemExit(f"{path} is needed for this benchmark")
    texts = [sentence.text for sentence in islice(read_conllu(path), SENTENCES)]
    return [(changed(text, spaced=LANGUAGES[language].spaces), text) for text in texts]


def changed(text: str, *, spaced: bool) -> str:
    """Of every eight words (pieces of two characters) the sixth is left out and the last two are exchanged.

    >>> changed("a b c d e f g h i", spaced=True)
    'a b c d e h g i'
    """
    words = text.split(" ") if spaced else [text[k : k + 2] for k in range(0, len(text), 2)]
    kept: list[str] = []
    for start in range(0, len(words), 8):
        kept += words[start : start + 5]
        kept += reversed(words[start + 6 : start + 8])
    return (" " if spaced else "").join(kept)


def measure(language: str, ours_first: bool) -> None:
    """Print, as JSON, the CPU seconds of start-up with the last pair, and of scoring all others once."""
    *rest, (last_hypothesis, last_reference) = pairs(language)
    hypotheses, references = zip(*rest, strict=True)

    from sacrebleu.metrics import CHRF

    chrf = CHRF()
    ours: list[TeslaM] = []

    def start() -> None:
        ours.append(TeslaM(lang=language))
        ours[0].sentence_score(f"{last_hypothesis} {UNKNOWN}", [last_reference])

    works = {
        "ours": lambda: ours[0].corpus_score(hypotheses, [references]),
        "chrf": lambda: [chrf.sentence_score(h, [r]) for h, r in zip(hypotheses, references, strict=True)],
    }
    found = {"startup": cpu_seconds(start), "pairs": len(hypotheses)}
    for name in sorted(works, reverse=ours_first):
        found[name] = cpu_seconds(works[name])
    print(json.dumps(found))


def cold(language: str, ours_first: bool) -> dict[str, float]:
    """`measure` in a process of its own."""
    command = [sys.executable, "-c", COLD, language, str(int(ours_first))]
    found: dict[str, float] = json.loads(
        subprocess.run(command, capture_output=True, text=True, check=True).stdout
    )
    return found


def main(languages: Sequence[str] = ()) -> None:
    print("CPU time, one thread, every word new, median of", RUNS, "processes")
    print(f"{'language':<10}{'pairs':>6}{'pairs/s':>9}{'chrF/s':>8}{'TESLA-M is':>12}{'start-up s':>12}")
    slowest: tuple[float, str] = (float("inf"), "")
    for language in languages or sorted(LANGUAGES):
        runs = [cold(language, bool(run % 2)) for run in range(RUNS)]
        count = runs[0]["pairs"]
        ours, chrf, startup = (
            statistics.median(run[name] for run in runs) for name in ("ours", "chrf", "startup")
        )
        slowest = min(slowest, (chrf / ours, language))
        print(
            f"{language:<10}{count:>6}{count / ours:>9,.0f}{count / chrf:>8,.0f}{chrf / ours:>11.2f}x"
            f"{startup:>12.2f}",
            flush=True,
        )
    print(f"slowest against chrF: {slowest[1]}, {slowest[0]:.2f}x")


if __name__ == "__main__":
    main(sys.argv[1:])
