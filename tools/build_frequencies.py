"""Build the frequency lists from wordfreq (pip install wordfreq).

    build_frequencies.py [LANGUAGE ...] [--words N] [--output FOLDER]

Without languages: all that wordfreq knows and that have a tagger. The clitics that the English tokeniser cuts off are
no words of wordfreq, they get the level of words as common as they are. Numbers are left out: every one counts as rare.
"""

from __future__ import annotations

import argparse
import math
from itertools import islice
from pathlib import Path

from tesla_eval.base.resources import Provenance, write_resource
from tesla_eval.language.analysis.frequencies import SHARED_LISTS
from word_lists import frequency_resource

DATA = Path(__file__).resolve().parents[1] / "packages" / "data" / "src" / "tesla_eval_data"
WORDS = 20_000
NAMES_IN_WORDFREQ = {"no": "nb", "hr": "sh"}
CLITICS = {"en": dict.fromkeys(("'s", "n't", "'re", "'ve", "'ll", "'d", "'m", "ca", "wo"), 6.5)}
SOURCES = (
    "wordfreq 3.1 (Robyn Speer); SUBTLEX (Marc Brysbaert et al.), OpenSubtitles, Wikipedia, Google Books Ngrams",
)


def main() -> None:
    import wordfreq  # only this tool needs it

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("languages", nargs="*")
    parser.add_argument("--words", type=int, default=WORDS)
    parser.add_argument("--output", type=Path, default=DATA)
    parser.add_argument("--date", default="2026-11-15")
    wishes = parser.parse_args()
    known = wordfreq.available_languages("best")
    tagged = sorted(path.stem.partition("-")[2] for path in DATA.glob("tagger-*.tesla"))
    for language in wishes.languages or [code for code in tagged if code not in SHARED_LISTS]:
        name = NAMES_IN_WORDFREQ.get(language, language)
        if name not in known:
            continue
        frequencies = wordfreq.get_frequency_dict(name).items()  # commonest first
        words = ((word, value) for word, value in frequencies if not any(map(str.isdigit, word)))
        zipf = {word: 9 + math.log10(value) for word, value in islice(words, wishes.words)}
        zipf |= CLITICS.get(language, {})
        path = wishes.output / f"frequencies-{language}.tesla"
        write_resource(
            path,
            frequency_resource(zipf, language, provenance=Provenance(SOURCES, "CC BY-SA 4.0", wishes.date)),
        )
        print(f"{path.name}: {len(zipf)} words, {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
