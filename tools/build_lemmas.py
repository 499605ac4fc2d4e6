"""Build the shipped lemma tables from ../shared/data/ud and print their quality: `build_lemmas.py [CODE ...]`.

What a table takes over from its treebank is chosen on the dev set (on half of the training sentences like the
test set where there is none) by the share of words with the right lemma, lower-cased. The final table is learned
from train, dev and, where the licence allows, train-check. Words are surface tokens: a multi-word token counts
as its content word. Figures are lemma accuracy / grouping, the B-cubed F of the sets of words with one lemma:
matching asks only whether two words have the same lemma, not which. "Other text" is `test-nc`, another corpus.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from tesla_eval.base.resources import Provenance, Resource, write_resource
from tesla_eval.language.analysis.conllu import Sentence, read_conllu
from tesla_eval.language.analysis.lemmas import Lemmatiser, normalise_form
from tesla_eval.training.languages import LemmaSettings, count_lemmas, train_lemmas

ROOT = Path(__file__).resolve().parents[1]
TREEBANKS = ROOT.parent / "shared" / "data" / "ud"
DATA = ROOT / "packages" / "data" / "src" / "tesla_eval_data"

CUT_CONTRACTIONS = frozenset({"en"})  # languages whose tokeniser cuts multi-word tokens
NOT_SHIPPED = frozenset(
    {"UD_Polish-LFG", "UD_Polish-SZ"}
)  # GPL, or licence unknown: nothing is learned from them
LEAST_GAIN = 0.3
"""Points of accuracy on the dev set for which a table is worth its bytes."""

Pairs = list[tuple[str, str]]

_CONVENTIONS: dict[str, Callable[[str], str]] = {
    "ar": lambda lemma: lemma.replace("`", ""),
    "fa": lambda lemma: lemma.split("#")[0],  # past stem and present stem
    "fi": lambda lemma: lemma.replace("#", ""),  # parts of compounds
    "ko": lambda lemma: lemma.split("+")[0],  # the first morpheme: the word without particles and endings
    "nl": lambda lemma: lemma.replace("_", ""),  # separable verbs
}

WITHOUT_SIMPLEMMA: frozenset[str] = frozenset()
"""Languages whose table is good enough alone. English would be: 97.9 / 98.4 and on other text 97.8 / 98.6, at a
start that is 0.4 s of CPU sooner, but without rare irregular forms (slain, strove)."""

CANDIDATES = [
    LemmaSettings(trust=trust, overrule_simplemma=overrule, rules=rules)
    for trust, overrule in ((0.0, True), (0.7, True), (0.0, False), (0.7, False), (2.0, True))
    for rules in (False, True)
    if rules or trust <= 1
]


def sentences(language: str, split: str) -> list[Sentence]:
    path = TREEBANKS / language / f"{split}.conllu.gz"
    return list(read_conllu(path)) if path.exists() else []


def treebank(sentence: Sentence) -> str:
    """The treebank a sentence comes from, without the way it took."""
    return (sentence.comment("source") or "?").split(" (")[0]


def shipped(texts: list[Sentence]) -> list[Sentence]:
    """The sentences that a table may be learned from."""
    return [sentence for sentence in texts if treebank(sentence) not in NOT_SHIPPED]


def held_out(train: list[Sentence], treebanks: set[str]) -> tuple[list[Sentence], list[Sentence]]:
    """Every second sentence of those treebanks kept apart, for a language without a dev set."""
    like_test = [k for k, sentence in enumerate(train) if treebank(sentence) in treebanks] or range(
        len(train)
    )
    apart = set(like_test[::2])
    return [s for k, s in enumerate(train) if k not in apart], [train[k] for k in sorted(apart)]


def pairs(texts: Iterable[Sentence], language: str) -> Iterator[tuple[str, str]]:
    """The words of a treebank with their lemmas, in the conventions of this package."""
    convention = _CONVENTIONS.get(language, str)
    for sentence in texts:
        for word in sentence.words if language in CUT_CONTRACTIONS else sentence.surface():
            if word.lemma != "_" and word.upos not in {"PUNCT", "SYM"} and any(map(str.isalnum, word.form)):
                lemma = convention(word.lemma).split("|")[0] or word.lemma
                yield word.form, normalise_form(lemma, language).lower()


def predictions(words: Pairs, lemmatise: Callable[[list[str]], list[str]]) -> list[str]:
    forms = sorted({form for form, _ in words})
    lemma = dict(zip(forms, lemmatise(forms), strict=True))
    return [lemma[form] for form, _ in words]


def accuracy(words: Pairs, found: list[str]) -> float:
    right = sum(lemma == gold for (_, gold), lemma in zip(words, found, strict=True))
    return 100 * right / len(words) if words else float("nan")


def grouping(words: Pairs, found: list[str]) -> float:
    gold = [lemma for _, lemma in words]
    together, golds, founds = Counter(zip(gold, found, strict=True)), Counter(gold), Counter(found)
    precision = sum(n * n / founds[lemma] for (_, lemma), n in together.items()) / len(words)
    recall = sum(n * n / golds[lemma] for (lemma, _), n in together.items()) / len(words)
    return 100 * 2 * precision * recall / (precision + recall)


def figures(words: Pairs, lemmatise: Callable[[list[str]], list[str]]) -> str:
    found = predictions(words, lemmatise)
    return f"{accuracy(words, found):.1f} / {grouping(words, found):.1f}" if words else "–"


def without_table(language: str) -> Resource:
    """A table that says nothing."""
    return train_lemmas(
        count_lemmas([("a", "a")], "und"), language, settings=LemmaSettings(trust=2, rules=False)
    )


def choose(train: Pairs, dev: Pairs, language: str) -> LemmaSettings | None:
    """The settings with the best lemmas on `dev`; `None` if none is better than no table."""

    def right(table: Resource) -> float:
        return accuracy(dev, predictions(dev, Lemmatiser(language, table).lemmas))

    counts = count_lemmas(train, language)
    candidates = [replace(settings, simplemma=language not in WITHOUT_SIMPLEMMA) for settings in CANDIDATES]
    scores = {settings: right(train_lemmas(counts, language, settings=settings)) for settings in candidates}
    best = max(scores, key=lambda settings: round(scores[settings], 1))
    return best if scores[best] - right(without_table(language)) >= LEAST_GAIN else None


def licences() -> dict[str, str]:
    """The licence column of the table in the treebanks' README."""
    rows = re.findall(
        r"^\| (\w\w) .*\| ([^|]+) \|$", (TREEBANKS / "README.md").read_text("utf-8"), re.MULTILINE
    )
    return {**dict(rows), "pl": "PUD CC BY-SA 4.0"}


def build(language: str, output: Path) -> str:
    """Write the table of a language if it is worth one; a row of figures."""
    train = shipped(sentences(language, "train") + sentences(language, "train-check"))
    dev = sentences(language, "dev")
    everything = train + shipped(dev)
    test_sentences = sentences(language, "test")
    if not dev:
        train, dev = held_out(train, {treebank(sentence) for sentence in test_sentences})
    test = list(pairs(test_sentences, language))
    if not test:
        return f"| {language} | – | – | – | – | – | the word itself (no lemmas in the treebank) | – |"
    other = list(pairs(sentences(language, "test-nc"), language))
    settings = choose(list(pairs(train, language)), list(pairs(dev, language)), language)
    plain = Lemmatiser(language, without_table(language))
    chosen, size, how = plain, 0, "simplemma" if plain.name != "none" else "the word itself"
    if settings is not None:
        table = train_lemmas(
            count_lemmas(pairs(everything, language), language),
            language,
            settings=settings,
            provenance=Provenance(
                tuple(sorted({treebank(sentence) for sentence in everything})), licences()[language]
            ),
        )
        path = output / f"lemmas-{language}.tesla"
        write_resource(path, table)
        chosen, size = Lemmatiser(language, table), path.stat().st_size
        forms, rules = table.info["forms"], table.info["rules"]
        how = f"{forms} forms" + f", {rules} rules" * bool(rules) + f", {how}" * (plain.name != "none")
        how += ", trusted from 70 %" * (0.5 < settings.trust < 1)
        how += ", simplemma's dictionary first" * (not settings.overrule_simplemma)
    columns = [
        language,
        figures(test, lambda forms: [normalise_form(form, language).lower() for form in forms]),
        figures(test, plain.lemmas) if plain.name != "none" else "–",
        figures(test, chosen.lemmas),
        figures(other, plain.lemmas),
        figures(other, chosen.lemmas),
        how,
        f"{size / 1000:.0f} kB",
    ]
    return f"| {' | '.join(columns)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("languages", nargs="*")
    parser.add_argument("--output", type=Path, default=DATA)
    arguments = parser.parse_args()
    names = [
        "",
        "the word itself",
        "simplemma",
        "shipped",
        "simplemma, other text",
        "shipped, other text",
        "made of",
        "",
    ]
    print("| " + " | ".join(names) + " |\n" + "|---" * len(names) + "|")
    for language in arguments.languages or sorted(
        path.parent.name for path in TREEBANKS.glob("*/test.conllu.gz")
    ):
        print(build(language, arguments.output), flush=True)


if __name__ == "__main__":
    main()
