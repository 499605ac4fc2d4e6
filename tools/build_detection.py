"""Build the model detection.tesla, which tells languages apart, from the treebanks' training sentences.

    python tools/build_detection.py [-o FILE] [--hold-out]

`--hold-out` leaves every tenth training sentence out and prints what the model makes of them: settings are chosen so.
The development and test sentences are for research/detection.py alone. Needs SciPy.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

from detection_model import build_detection, serbian_cyrillic
from tagger_sources import RECIPES
from tesla_eval.base.resources import Provenance, shipped_folder, write_resource
from tesla_eval.cli.shared.terminal import progress
from tesla_eval.language.analysis import detection
from tesla_eval.language.analysis.conllu import read_conllu

TREEBANKS = Path(__file__).resolve().parents[1].parent / "shared" / "data" / "ud"
DATE = "2026-11-15"
ALSO = {"pt": ("train-extra",)}
"""Sentences with other conventions of annotation, which do not matter here."""
LICENCE = "CC BY-SA 4.0, CC BY-SA 3.0, CC BY 4.0, LGPL-LR (TreeGal, Sequoia, FQB)"


def training_sentences() -> tuple[dict[str, list[str]], list[str]]:
    """By language the text that taggers may learn from, and its treebanks."""
    texts: dict[str, list[str]] = {}
    sources: Counter[str] = Counter()
    for recipe in RECIPES:
        found = texts.setdefault(recipe.language, [])
        for name in (*recipe.train, *ALSO.get(recipe.language, ())):
            path = TREEBANKS / recipe.language / f"{name}.conllu.gz"
            for sentence in read_conllu(path) if path.exists() else ():
                found.append(sentence.text)
                sources[(sentence.comment("source") or "unnamed treebank").partition(" (")[0]] += 1
    texts["sr"] += [serbian_cyrillic(text) for text in texts["sr"]]
    return texts, sorted(sources)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("-o", "--output", type=Path, default=shipped_folder() / "detection.tesla")
    parser.add_argument("--hold-out", action="store_true")
    wishes = parser.parse_args()
    texts, sources = training_sentences()
    held_out = {language: found[5::10] for language, found in texts.items()} if wishes.hold_out else {}
    if wishes.hold_out:
        texts = {code: [t for i, t in enumerate(found) if i % 10 != 5] for code, found in texts.items()}
    provenance = Provenance(tuple(sources), LICENCE, DATE)
    with progress() as bar:
        resource = build_detection(texts, provenance=provenance, progress=bar)
    if not wishes.hold_out:
        write_resource(wishes.output, resource, compress=False)  # inflating takes long
        print(f"{wishes.output.name}: {wishes.output.stat().st_size} bytes")
        return
    models = detection.models_of(resource)
    detection.load_detection = lambda: models  # type: ignore[assignment]
    right: Counter[str] = Counter()
    confusions: Counter[tuple[str, str]] = Counter()
    for language, found in held_out.items():
        for text in found[:400]:
            guess = detection.identify([text])
            right[language] += guess.language == language
            confusions[language, guess.language] += guess.language != language
    total = sum(min(len(found), 400) for found in held_out.values())
    print(f"{sum(right.values()) / total:.4f} of {total} sentences; {confusions.most_common(20)}")


if __name__ == "__main__":
    main()
