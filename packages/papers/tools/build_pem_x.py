"""Build PEM-X's English model from ../shared/data/paraphrase: `build_pem_x.py [--output FILE]`.

Four sets with human judgements of meaning are learned from, each counted alike. Numbers ship, none of their text.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from adequacy import Measured, train_pem_x
from paraphrase_sets import ParaphraseSet, read_paraphrase_set
from tesla_eval.models.documents import write_document
from tesla_eval_papers.models.pem_x import PemXModel

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT.parent / "shared" / "data" / "paraphrase"
DATA = ROOT / "packages" / "papers" / "src" / "tesla_eval_papers" / "data"
FILES = ("parabank_eval.tsv.gz", "parascore_twitter.tsv.gz", "stsb_en.tsv.gz", "mrpc.tsv.gz")
PIVOTS = ("de",)
LANGUAGE_MODEL = "4gram"
DATE = "2026-11-16"


def read_sets() -> list[ParaphraseSet]:
    return [read_paraphrase_set(str(FOLDER / name)) for name in FILES]


def train(sets: list[ParaphraseSet]) -> tuple[PemXModel, list[Measured]]:
    return train_pem_x(sets, "en", PIVOTS, LANGUAGE_MODEL, date=DATE, data=FILES)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=DATA / "weights-pem-x-en.json")
    arguments = parser.parse_args()
    model, _ = train(read_sets())
    write_document(arguments.output, model)
    print(f"{arguments.output.name}: {dict(model.evidence)}, {dict(model.training)}")


if __name__ == "__main__":
    main()
