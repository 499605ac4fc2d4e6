"""Build the shipped language models from ../shared/data/bitext: `build_language_models.py [LANGUAGE[:ORDER] ...]`.

Text: Tatoeba, LibreOffice help and Bibles, each line once; every 50th line is kept apart to measure the perplexity.
Test sets of WMT, Multi30k and what states no licence are left out. Of trigrams only those seen three times or more are
kept: perplexity on WMT news (en 366, de 462, cs 388) is then as with all of them (376, 472, 397), the file a third;
dropping bigrams too saves another third but costs 5 % of perplexity.
"""

from __future__ import annotations

import argparse
import gzip
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from shippable_bitext import BITEXT, DATE, FILES, LICENCE, NOTICE, ROOT, SOURCES
from tesla_eval.base.resources import Provenance, Resource, read_resource, write_resource
from tesla_eval.language.lm import KIND, LanguageModel
from tesla_eval.training.language_models import LanguageModelSettings, model_resource, train_language_model

DATA = ROOT / "src" / "tesla_eval" / "data"

MODELS = (("en", 3), ("en", 4), ("de", 3), ("fr", 3), ("es", 3), ("cs", 3))
PRUNE = (0, 0, 2)
HELD_OUT = 50
CHUNK = 1024

HEAD = """Language models (lm-*.tesla)

tesla-eval estimated n-gram probabilities from the texts below; the models hold no sentence of them.
"""


def sentences(language: str) -> list[str]:
    """All lines in the language, each once, in a fixed order."""
    found: dict[str, None] = {}
    for folder in sorted(BITEXT.glob("*-en" if language == "en" else f"{language}-en")):
        for path in sorted(folder.glob(f"*.{language}.gz")):
            if path.name.startswith(FILES):
                with gzip.open(path, "rt", encoding="utf-8", newline="\n") as lines:
                    found.update(dict.fromkeys(line.rstrip("\n") for line in lines))
    return list(found)


def build(language: str, order: int) -> Resource:
    lines = sentences(language)
    held_out = lines[::HELD_OUT]
    train = [line for number, line in enumerate(lines) if number % HELD_OUT]

    def chunks() -> Iterator[Sequence[str]]:
        for start in range(0, len(train), CHUNK):
            yield train[start : start + CHUNK]

    settings = LanguageModelSettings(order=order, prune=PRUNE)
    with TemporaryDirectory() as scratch, train_language_model(chunks, language, settings) as model:
        provenance = Provenance(SOURCES, LICENCE, DATE)
        draft = Path(scratch) / "draft.tesla"
        write_resource(draft, model_resource(model, rounded=True, provenance=provenance))
        perplexity = round(LanguageModel(read_resource(draft)).perplexity(held_out), 1)
        return model_resource(model, rounded=True, provenance=provenance, info={"perplexity": perplexity})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="*", default=[f"{language}:{order}" for language, order in MODELS])
    parser.add_argument("--output", type=Path, default=DATA)
    arguments = parser.parse_args()
    for name in arguments.models:
        language, _, order = name.partition(":")
        resource = build(language, int(order or 3))
        path = arguments.output / f"{KIND}-{order or 3}gram-{language}.tesla"
        write_resource(path, resource)
        print(f"{path.name}: {path.stat().st_size / 1e6:.2f} MB, {dict(resource.info)}", flush=True)
    licences = arguments.output / "licences"
    licences.mkdir(exist_ok=True)
    (licences / "language-models.txt").write_text(HEAD + NOTICE, "utf-8")


if __name__ == "__main__":
    main()
