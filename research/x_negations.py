"""Does TESLA-X see negations that other people wrote? No word list of ours decides what a negation looks like.

    python -m research.x_negations [chrf++ m x]

Two sentences of Tatoeba's contributors in one language are a text and its denial if their translations differ by the
negation alone: `not`, `n't`, `do not` taken out of the English one (for English, `nicht` out of the German one). The
reference is another translation of the affirmed sentence, and the denial is the one with the fewest words changed. A
metric is fooled where the denial does not score lower than the text.
"""

from __future__ import annotations

import gzip
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from difflib import SequenceMatcher
from pathlib import Path

from tesla_eval import create_metric

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "bitext"
DENIALS = {
    "en": re.compile(r" (?:do not|don't|not)\b|n't\b|(?<=ca)nnot\b"),
    "de": re.compile(r" nicht\b"),
}
MOST = 500
LEAST_ALIKE = 0.5  # of the words


def translations(language: str, told_by: str) -> dict[str, list[str]]:
    """By sentence in the other language its translations."""
    folder = DATA / f"{language if language != 'en' else told_by}-en"
    by_sentence: dict[str, list[str]] = defaultdict(list)
    sides = (
        gzip.decompress((folder / f"tatoeba.{side}.gz").read_bytes()).decode().splitlines()
        for side in (told_by, language)
    )
    for sentence, text in zip(*sides, strict=True):
        by_sentence[sentence.strip()].append(text.strip())
    return by_sentence


def denied(language: str) -> Iterator[tuple[str, str, str]]:
    """Reference, text and denial."""
    told_by = "de" if language == "en" else "en"
    table = translations(language, told_by)
    for sentence, denials in table.items():
        affirmed, count = DENIALS[told_by].subn("", sentence)
        texts = table.get(affirmed, [])
        if count != 1 or len(set(texts)) < 2:
            continue
        alike, text, denial = max(
            (SequenceMatcher(None, one.split(), other.split()).ratio(), one, other)
            for one in texts
            for other in denials
        )
        reference = next(one for one in texts if one != text)
        if alike >= LEAST_ALIKE and denial not in (reference, text):
            yield reference, text, denial


def main() -> None:
    names = sys.argv[1:] or ["chrf++", "m", "x"]
    print("| language | texts | " + " | ".join(names) + " |\n|---|--:|" + "--:|" * len(names))
    for language in ("en", "de", "es", "fr", "cs"):
        rows = list(denied(language))[:MOST]
        references, texts, denials = map(list, zip(*rows, strict=True))
        shares = []
        for name in names:
            metric = create_metric(name, language)
            before, after = (metric.score_segments(some, [references]).scores for some in (texts, denials))
            shares.append(float((after >= before).mean()))
        print(
            f"| {language} | {len(rows)} | " + " | ".join(f"{share:.3f}" for share in shares) + " |",
            flush=True,
        )


if __name__ == "__main__":
    main()
