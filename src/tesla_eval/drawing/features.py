"""Names of features in words, for people: `ms.3` is "three words in a row, by meaning"."""

from __future__ import annotations

_RUNS = {"1": "single", "2": "two", "3": "three", "4": "four", "5": "five", "6": "six"}
_MEASURES = {"p": "precision", "r": "recall", "f": "F"}
_UNITS = {
    "ms": ("word", "by meaning"),
    "syn": ("word", "by synonym"),
    "lem": ("word", "by lemma"),
    "pos": ("word", "by part of speech"),
    "vec": ("word", "by vectors"),
    "ctx": ("word", "in context"),
    "chr": ("character", ""),
    "s": ("word", ""),
}
_NAMES = {
    "function": "function words", "content": "content words", "number": "numbers", "capital": "capitalised words",
    "rareword": "rare words", "rarelemma": "rare lemmas", "lcs": "common words in order", "punct": "punctuation",
    "order": "word order", "fragments": "matched text in fragments", "short": "too short", "long": "too long",
    "foreign": "words of another language", "unknown": "unknown words", "repeated": "words repeated",
    "padding": "text added at the ends", "insertion": "text inserted", "surplus": "text inserted",
    "digression": "another sentence added", "disorder": "words out of order",
    "stutter": "words said twice", "numbers": "wrong numbers",
    "negation": "negation on one side only", "lm": "language model", "s.skip": "pairs of words with a gap",
    "vec.best0": "best partner by vectors", "vec.best5": "best close partner by vectors",
}  # fmt: skip


def feature_title(name: str) -> str:
    """What a feature measures, in words; a name that is not known stays as it is.

    >>> feature_title("ms.3"), feature_title("chr.1.r"), feature_title("fr.lem.2")
    ('three words in a row, by meaning', 'single characters, recall', 'two words in a row, by lemma, through fr')
    """
    if name in _NAMES:
        return _NAMES[name]
    parts = name.split(".")
    measure = _MEASURES.get(parts[-1]) if len(parts) > 1 else None
    if measure:
        parts.pop()
    pivot = parts.pop(0) if len(parts) == 3 and parts[1] in _UNITS else None
    if len(parts) == 2 and parts[0] in _UNITS and parts[1] in _RUNS:
        unit, how = _UNITS[parts[0]]
        title = f"{_RUNS[parts[1]]} {unit}s{' in a row' if parts[1] != '1' else ''}"
    elif ".".join(parts) in _NAMES:
        title, how = _NAMES[".".join(parts)], ""
    else:
        return name
    return ", ".join(filter(None, (title, how, f"through {pivot}" if pivot else None, measure)))
