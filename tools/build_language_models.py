"""Build the shipped language models from ../shared/data/bitext: `build_language_models.py [LANGUAGE[:NAME] ...]`.

Text: Tatoeba, LibreOffice help and Bibles, each line once; every 50th line is kept apart to measure the perplexity.
Test sets of WMT, Multi30k and what states no licence are left out. Of trigrams only those seen three times or more are
kept, which makes the file much smaller.

`en:stems` is PEM's model, as the paper has it: order 4, stems, the English side of the English-Chinese phrase table's
bitext; of trigrams and 4-grams those seen four times or more (SRILM's default: twice), which costs perplexity and
keeps the file small.
"""

from __future__ import annotations

import argparse
import gzip
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from build_phrase_tables import bitexts
from shippable_bitext import BITEXT, DATE, FILES, LICENCE, NOTICE, ROOT, SOURCES
from tesla_eval.base.resources import Provenance, Resource, read_resource, write_resource
from tesla_eval.language.lm import KIND, LanguageModel
from tesla_eval.training.language_models import LanguageModelSettings, model_resource, train_language_model

DATA = ROOT / "packages" / "data" / "src" / "tesla_eval_data"

MODELS = ("en:3gram", "en:4gram", "en:stems", "de:3gram", "fr:3gram", "es:3gram", "cs:3gram")
SETTINGS = {
    "3gram": LanguageModelSettings(3, prune=(0, 0, 2)),
    "4gram": LanguageModelSettings(4, prune=(0, 0, 2)),
    "stems": LanguageModelSettings(4, prune=(0, 0, 3), stems=True),
}
HELD_OUT = 50
CHUNK = 1024

HEAD = """Language models (lm-*.tesla)

tesla-eval estimated n-gram probabilities from the texts below; the models hold no sentence of them.
"""


def files(language: str, name: str) -> Iterator[Path]:
    """The texts that a model learns from, in a fixed order."""
    if name == "stems":
        yield from (Path(bitext.target) for bitext in bitexts("en", "zh"))
        return
    for folder in sorted(BITEXT.glob("*-en" if language == "en" else f"{language}-en")):
        yield from (path for path in sorted(folder.glob(f"*.{language}.gz")) if path.name.startswith(FILES))


def build(language: str, name: str) -> Resource:
    found: dict[str, None] = {}  # each line once
    for path in files(language, name):
        with gzip.open(path, "rt", encoding="utf-8", newline="\n") as opened:
            found.update(dict.fromkeys(line.rstrip("\n") for line in opened))
    lines = list(found)
    held_out = lines[::HELD_OUT]
    train = [line for number, line in enumerate(lines) if number % HELD_OUT]

    def chunks() -> Iterator[Sequence[str]]:
        for start in range(0, len(train), CHUNK):
            yield train[start : start + CHUNK]

    with TemporaryDirectory() as scratch, train_language_model(chunks, language, SETTINGS[name]) as model:
        provenance = Provenance(SOURCES, LICENCE, DATE)
        draft = Path(scratch) / "draft.tesla"
        write_resource(draft, model_resource(model, rounded=True, provenance=provenance))
        perplexity = round(LanguageModel(read_resource(draft)).perplexity(held_out), 1)
        return model_resource(model, rounded=True, provenance=provenance, info={"perplexity": perplexity})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="*", default=MODELS)
    parser.add_argument("--output", type=Path, default=DATA)
    arguments = parser.parse_args()
    for chosen in arguments.models:
        language, _, name = chosen.partition(":")
        resource = build(language, name or "3gram")
        path = arguments.output / f"{KIND}-{name or '3gram'}-{language}.tesla"
        write_resource(path, resource)
        print(f"{path.name}: {path.stat().st_size / 1e6:.2f} MB, {dict(resource.info)}", flush=True)
    licences = arguments.output / "licences"
    licences.mkdir(exist_ok=True)
    (licences / "language-models.txt").write_text(HEAD + NOTICE, "utf-8")


if __name__ == "__main__":
    main()
