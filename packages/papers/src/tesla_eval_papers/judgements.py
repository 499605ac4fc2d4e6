"""Paraphrases that people rated, as PEM is trained on them.

ParaBank's raters gave adequacy (0..100) and grammar (0 nonsense, 1 meaningful but ungrammatical, 2 fine), not an
overall score. Ours follows the instruction of the PEM paper (§5.1): the same meaning, as different as possible on the
surface, fluent and grammatical. All three must hold together, so they multiply:

    overall = 1 + 4 · adequacy/100 · grammar/2 · (1/4 + 3/4 · novelty)

A faithful copy gets the 2 that the paper gives it, a faithful and fluent sentence in other words 5, and what means
something else or is nonsense 1. Novelty is 0 for a copy and 1 where no more than `FULLY_NOVEL` of the words are
shared; it looks at surface words, not at the stems and n-grams of PEM's own feature. Nearly every paraphrase is fully
novel so: raters like near-copies, and the more these are punished, the less a score agrees with what people said
(`research/pem.py --frontier`). The paper's table 2 leaves the choice open: from 0.85 on, our overall scores relate
to adequacy, grammar and dissimilarity about equally like those of the paper's judges, and more so than with 0.75.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tesla_eval.base.arrays import FloatArray
from tesla_eval.base.errors import InputError
from tesla_eval.language.analysis import load_pipeline
from tesla_eval.language.analysis.batch import WordMap
from tesla_eval.language.lm import LanguageModel
from tesla_eval.texts.lines import LineReader, parse_number, read_headed_rows
from tesla_eval_papers.metrics.features.stems import Stems, shared_and_all

COPY_SHARE = 0.25
"""The share of the scale that a faithful copy gets: 1 + 4 · 1/4 = 2, as in the paper."""
FULLY_NOVEL = 0.95
"""Where no more than this share of the words is common, nothing is taken off for similarity."""

CONTROLS = {"copy": 2.0, "unrelated": 1.0, "noise": 1.0}
"""The paper's artificial paraphrases and the scores it gives them (§5.1)."""

_PARABANK = ("ref_id", "reference", "candidate", "sys_ids", "adequacy_all", "grammar_all")
_PLAIN = ("original", "paraphrase", "overall")


@dataclass(frozen=True)
class RatedPair:
    """An original, a paraphrase, and what people said of it."""

    original: str
    paraphrase: str
    group: str
    """Pairs of one group are never split between training and testing: those of one original."""
    overall: float = float("nan")
    """1..5; NaN until `overall_score` computed it from ratings."""
    ratings: tuple[tuple[float, float], ...] = ()
    """Adequacy 0..100 and grammar 0..2 of every rater; a rater who found nonsense gave adequacy 0."""
    systems: tuple[str, ...] = ()


def overall_score(adequacy: float, grammar: float, new: float) -> float:
    """The overall score, 1..5, of one rater's adequacy (0..100) and grammar (0..2) and a novelty (0..1).

    >>> overall_score(100, 2, 0), overall_score(100, 2, 1), overall_score(0, 2, 1)
    (2.0, 5.0, 1.0)
    """
    return 1 + 4 * (adequacy / 100) * (grammar / 2) * (COPY_SHARE + (1 - COPY_SHARE) * new)


def shared_words(originals: Sequence[str], paraphrases: Sequence[str], lang: str) -> FloatArray:
    """The balanced share of words, lower-cased as they are written, that original and paraphrase have in common."""
    numbers: dict[str, int] = {}
    words = WordMap(lambda form: numbers.setdefault(form.lower(), len(numbers)))
    x, y = load_pipeline(lang).analyse(originals, paraphrases)
    index = np.arange(len(originals))
    x_words, y_words = (Stems(batch.offsets, words.of(batch)) for batch in (x, y))
    shared, total = shared_and_all(x_words, y_words, index, index, 1)
    return np.asarray(2 * shared / np.maximum(total, 1))


def novelty(
    originals: Sequence[str], paraphrases: Sequence[str], lang: str, fully_novel: float = FULLY_NOVEL
) -> FloatArray:
    """How different the paraphrases are on the surface, 0..1."""
    return np.minimum(1.0, (1 - shared_words(originals, paraphrases, lang)) / (1 - fully_novel))


def controls(
    originals: Sequence[str], model: LanguageModel, seed: int = 0
) -> Iterator[tuple[str, RatedPair]]:
    """For each original the paper's three controls by name: itself, another original, and words of a unigram model."""
    random = np.random.default_rng(seed)
    chances = np.where([word.startswith("<") for word in model.words], 0.0, model.unigrams)
    chances /= chances.sum()
    lengths = model.analyse(originals).lengths.tolist()
    for place, (original, length) in enumerate(zip(originals, lengths, strict=True)):
        other = originals[(place + 1 + int(random.integers(len(originals) - 1))) % len(originals)]
        noise = " ".join(model.words[number] for number in random.choice(len(chances), length, p=chances))
        for name, text in (("copy", original), ("unrelated", other), ("noise", noise)):
            yield name, RatedPair(original, text, original, CONTROLS[name])


def read_rated_pairs(path: str) -> list[RatedPair]:
    """Pairs from a table with the columns original, paraphrase and overall (1..5), separated by tabs."""
    pairs = []
    for place, row in read_headed_rows(path, _PLAIN, None):
        overall = parse_number(row["overall"], place, "overall")
        if not 1 <= overall <= 5:
            raise InputError(f"{place}: overall {row['overall']!r} is not a number from 1 to 5")
        pairs.append(RatedPair(row["original"], row["paraphrase"], row["original"], overall))
    return pairs


def is_parabank(path: str) -> bool:
    """Whether the table's header is that of ParaBank's evaluation data."""
    header = next(iter(LineReader(path)), "").split("\t")
    return set(_PARABANK) <= set(header)


def read_parabank(path: str, lang: str = "en", fully_novel: float = FULLY_NOVEL) -> list[RatedPair]:
    """ParaBank's evaluation data with the overall scores that its ratings amount to."""
    pairs = []
    for place, row in read_headed_rows(path, _PARABANK, None):
        try:
            ratings = tuple(_ratings(row["adequacy_all"], row["grammar_all"]))
        except ValueError as error:
            raise InputError(f"{place}: adequacy and grammar do not match ({error})") from error
        texts, systems = (row["reference"], row["candidate"]), tuple(row["sys_ids"].split())
        pairs.append(RatedPair(*texts, row["ref_id"], ratings=ratings, systems=systems))
    new = novelty([pair.original for pair in pairs], [pair.paraphrase for pair in pairs], lang, fully_novel)
    overall = [
        float(np.mean([overall_score(*rating, value) for rating in pair.ratings]))
        for pair, value in zip(pairs, new.tolist(), strict=True)
    ]
    return [replace(pair, overall=score) for pair, score in zip(pairs, overall, strict=True)]


def _ratings(adequacy: str, grammar: str) -> Iterator[tuple[float, float]]:
    """The raters' pairs; one who found nonsense (grammar 0) gave no adequacy, which counts as 0."""
    given = iter(adequacy.split(",")) if adequacy else iter(())
    for mark in grammar.split(","):
        value = float(mark)
        yield (float(next(given, "missing")) if value > 0 else 0.0), value
    if next(given, None) is not None:
        raise ValueError("there are more adequacy ratings than raters")
