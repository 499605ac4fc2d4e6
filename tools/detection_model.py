"""Building the model that tells languages apart: count n-grams, learn few weights, keep alphabets and common words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tesla_eval._core import script_of
from tesla_eval.base.errors import BuildError
from tesla_eval.base.parallel import NO_PROGRESS, Progress
from tesla_eval.base.resources import Provenance, Resource
from tesla_eval.language.analysis.detection import KIND, LETTER_UNITS, PIECE_LENGTH, spelled_texts

__all__ = ["DetectionSettings", "build_detection", "serbian_cyrillic"]

_CHINESE_OR_JAPANESE = frozenset({"Han", "Kana"})
"""Kana tells these two apart; there is nothing to learn."""
_MOST_LETTERS = 500


@dataclass(frozen=True)
class DetectionSettings:
    """How the model is learned: chosen on held-out training sentences, and so that it takes less than a minute."""

    bits: int = 14
    """2**bits buckets of n-grams for a script of many languages; fewer for one of few."""
    bits_few: int = 12
    epochs: int = 6
    batch: int = 512
    rate: float = 0.5
    l1: float = 3e-6
    """L1 penalty: most weights become 0, which deflates to nothing."""
    largest_weight: int = 31
    sentences: int = 2500
    """Taken at most from each language, evenly spread."""
    common_words: int = 192
    seed: int = 1


_CYRILLIC_PAIRS = {
    "lj": "љ", "nj": "њ", "dž": "џ", "a": "а", "b": "б", "c": "ц", "č": "ч", "ć": "ћ", "d": "д", "đ": "ђ", "e": "е",
    "f": "ф", "g": "г", "h": "х", "i": "и", "j": "ј", "k": "к", "l": "л", "m": "м", "n": "н", "o": "о", "p": "п",
    "r": "р", "s": "с", "š": "ш", "t": "т", "u": "у", "v": "в", "z": "з", "ž": "ж",
}  # fmt: skip


def serbian_cyrillic(text: str) -> str:
    """Serbian in Latin letters written in Cyrillic ones, in small letters.

    >>> serbian_cyrillic("Ljubav i džungla")
    'љубав и џунгла'
    """
    text = text.lower()
    for latin, cyrillic in _CYRILLIC_PAIRS.items():
        text = text.replace(latin, cyrillic)
    return text


def build_detection(
    texts: Mapping[str, Sequence[str]],
    *,
    provenance: Provenance,
    settings: DetectionSettings | None = None,
    progress: Progress = NO_PROGRESS,
) -> Resource:
    """The model's resource, learned from sentences by language; scripts are found in the sentences."""
    settings = settings or DetectionSettings()
    arrays: dict[str, npt.NDArray[Any]] = {}
    scripts: dict[str, Any] = {}
    for script, languages in sorted(_by_script(texts, settings).items()):
        codes = sorted(languages)
        progress.stage(f"{script}: {' '.join(codes)}")
        entry: dict[str, Any] = {"languages": codes}
        entry["letters"], arrays[f"letters {script}"] = _letters([languages[code] for code in codes], script)
        lists, entry["usual shares"] = zip(
            *(_common_words(languages[code], code, settings) for code in codes), strict=True
        )
        arrays[f"words {script}"] = np.array(lists)
        if len(codes) > 1:
            weights, entry["scale"] = _learn(
                [languages[code] for code in codes],
                settings,
                settings.bits if len(codes) > 8 else settings.bits_few,
            )
            arrays[f"weights {script}"] = weights
        scripts[script] = entry
    return Resource(
        KIND, "und", arrays, provenance=provenance,
        info={"scripts": scripts, "settings": asdict(settings)},
    )  # fmt: skip


def _by_script(
    texts: Mapping[str, Sequence[str]], settings: DetectionSettings
) -> dict[str, dict[str, list[str]]]:
    """By script and language the sentences that are mostly in this script."""
    groups: dict[str, dict[str, list[str]]] = {}
    for language, sentences in sorted(texts.items()):
        by_script: dict[str, list[str]] = {}
        for sentence in _spread(sentences, settings.sentences):
            piece = sentence[:PIECE_LENGTH]
            letters = Counter(script for letter in piece if (script := script_of(ord(letter))))
            if letters:
                by_script.setdefault(max(letters, key=lambda name: (letters[name], name)), []).append(piece)
        total = sum(map(len, by_script.values()))
        if not total:
            raise BuildError(f"no text in {language!r} to learn from")
        for script, pieces in by_script.items():
            if script not in _CHINESE_OR_JAPANESE and len(pieces) >= total / 10:
                groups.setdefault(script, {})[language] = pieces
    return groups


def _spread(items: Sequence[str], most: int) -> Sequence[str]:
    return items if len(items) <= most else [items[i * len(items) // most] for i in range(most)]


def _letters(texts: Sequence[Sequence[str]], script: str) -> tuple[str, npt.NDArray[np.uint16]]:
    """The letters that some language uses, and their shares by language; none for a script of too many."""
    shares: list[dict[int, int]] = []
    for sentences in texts:
        codes, counts = spelled_texts(sentences).of_script(script).letters()
        occurrences = dict(zip(codes.tolist(), counts.tolist(), strict=True))
        total = sum(occurrences.values())
        units = {code: round(LETTER_UNITS * count / total) for code, count in occurrences.items()}
        shares.append({code: count for code, count in units.items() if count})
    letters = sorted(set().union(*shares))
    if len(letters) > _MOST_LETTERS:
        letters = []
    table = [[share.get(letter, 0) for letter in letters] for share in shares]
    return "".join(map(chr, letters)), np.array(table, np.uint16).reshape(len(texts), len(letters))


def _common_words(
    texts: Sequence[str], language: str, settings: DetectionSettings
) -> tuple[npt.NDArray[np.uint16], float]:
    """Hashes of the commonest words, and their share in sentences that did not choose them."""
    if language == "th":  # no spaces: there are no words to count
        return np.zeros(settings.common_words, np.uint16), 0.0
    held_out = [text for i, text in enumerate(texts) if i % 10 == 0]
    others = [text for i, text in enumerate(texts) if i % 10]
    hashes = spelled_texts(held_out).word_hashes()
    share = float(np.isin(hashes, _commonest(others, settings)).mean())
    return _commonest(texts, settings), round(share, 3)


def _commonest(texts: Sequence[str], settings: DetectionSettings) -> npt.NDArray[np.uint16]:
    hashes, counts = np.unique(spelled_texts(texts).word_hashes(), return_counts=True)
    chosen = hashes[np.argsort(-counts, kind="stable")[: settings.common_words]]
    return np.sort(np.resize(chosen, settings.common_words))


def _learn(
    texts: Sequence[Sequence[str]], settings: DetectionSettings, bits: int
) -> tuple[npt.NDArray[np.int8], float]:
    """Softmax regression by AdaGrad with an L1 penalty: small whole weights, and what one unit is worth."""
    rng = np.random.default_rng(settings.seed)
    samples: list[str] = []
    labels: list[int] = []
    for label, sentences in enumerate(texts):
        pieces = [*sentences, *_fragments(sentences, rng)]
        samples += pieces
        labels += [label] * len(pieces)
    counts = _counts(samples, bits)
    target = np.array(labels)
    # Half way to equal weight for all languages, whatever the size of their treebanks.
    sizes = np.bincount(target)
    importance = np.sqrt(sizes.mean() / sizes).astype(np.float32)
    weights = np.zeros((1 << bits, len(texts)), np.float32)
    squares = np.full_like(weights, 1e-8)
    for _ in range(settings.epochs):
        order = rng.permutation(len(target))
        for start in range(0, len(order), settings.batch):
            rows = order[start : start + settings.batch]
            batch, wanted = counts[rows], target[rows]
            scores = batch @ weights
            odds = np.exp(scores - scores.max(axis=1, keepdims=True))
            errors = odds / odds.sum(axis=1, keepdims=True)
            errors[np.arange(len(rows)), wanted] -= 1
            errors *= importance[wanted][:, None]
            gradient = (batch.T @ errors) / len(rows)
            squares += gradient * gradient
            step = settings.rate / np.sqrt(squares)
            weights -= step * gradient
            weights = np.sign(weights) * np.maximum(np.abs(weights) - step * settings.l1, 0)
    largest = float(np.quantile(np.abs(weights[weights != 0]), 0.999))
    unit = largest / settings.largest_weight
    limit = settings.largest_weight
    return np.clip(np.rint(weights / unit), -limit, limit).astype(np.int8), unit


def _fragments(sentences: Sequence[str], rng: np.random.Generator) -> list[str]:
    """Three to eight words out of each sentence: the model is to know short texts too."""
    fragments = []
    for sentence in sentences:
        words = sentence.split()
        if len(words) > 3:
            length = int(rng.integers(3, 9))
            start = int(rng.integers(0, max(1, len(words) - length + 1)))
            fragments.append(" ".join(words[start : start + length]))
    return fragments


def _counts(texts: Sequence[str], bits: int) -> Any:
    """One row per text: n-grams by bucket, over the root of their number, as the reader counts them."""
    from scipy.sparse import csr_matrix, diags

    buckets, rows = spelled_texts(texts).ngram_buckets(bits)
    ones = np.ones(len(buckets), np.float32)
    counts = csr_matrix((ones, (rows, buckets)), shape=(len(texts), 1 << bits))
    totals = np.maximum(np.bincount(rows, minlength=len(texts)), 1)
    return (diags(1 / np.sqrt(totals)) @ counts).tocsr().astype(np.float32)
