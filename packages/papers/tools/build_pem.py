"""Build PEM's English model from ../shared/data/paraphrase: `build_pem.py [--pivots zh] [--output DIR]`.

As in the paper, words are Porter stems, the pivot is Chinese, 200 originals are learned from, the kernel has one width,
and the controls are the paper's three. It needs what `build_phrase_tables.py stems-en-zh` and
`build_language_models.py en:stems` make.

ParaBank's evaluation data states no licence: the model learned from it ships, none of its text. Two of every three
originals may be learned from; `research/pem.py` measures on the third. How ratings become overall scores is told
in `tesla_eval_papers.judgements`.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from tesla_eval.base.resources import Provenance, write_resource
from tesla_eval_papers.judgements import RatedPair, read_parabank
from tesla_eval_papers.models.svr import PEM
from tesla_eval_papers.training.regressions import paraphrase_features, train_pem, with_controls

ROOT = Path(__file__).resolve().parents[3]
PARABANK = ROOT.parent / "shared" / "data" / "paraphrase" / "parabank_eval.tsv.gz"
DATA = ROOT / "packages" / "papers" / "src" / "tesla_eval_papers" / "data"

PIVOTS = ("zh",)
"""The paper's pivot language."""
ORIGINALS = 200
"""The paper's size of training: so many originals, each with its paraphrases and three controls."""
LANGUAGE_MODEL = "stems"
SOURCES = ("human ratings of ParaBank-Eval-Data (decompositional-semantics-initiative)",)
LICENCE = "Apache-2.0 (learned numbers, no text)"
DATE = "2026-11-15"
EVERY = 3


def split(pairs: Sequence[RatedPair]) -> tuple[list[RatedPair], list[RatedPair]]:
    """Pairs to learn from and pairs to measure on, apart by original."""
    place = {group: number for number, group in enumerate(dict.fromkeys(pair.group for pair in pairs))}
    held = [place[pair.group] % EVERY == EVERY - 1 for pair in pairs]
    return (
        [pair for pair, apart in zip(pairs, held, strict=True) if not apart],
        [pair for pair, apart in zip(pairs, held, strict=True) if apart],
    )


def to_learn_from(pairs: Sequence[RatedPair]) -> list[RatedPair]:
    """The pairs of as many originals as the paper had."""
    train, _ = split(pairs)
    first = set(list(dict.fromkeys(pair.group for pair in train))[:ORIGINALS])
    return [pair for pair in train if pair.group in first]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pivots", default=",".join(PIVOTS))
    parser.add_argument("--output", type=Path, default=DATA)
    arguments = parser.parse_args()
    pivots = arguments.pivots.split(",")
    train = to_learn_from(read_parabank(str(PARABANK)))
    pairs = with_controls(train, paraphrase_features("en", pivots, LANGUAGE_MODEL))
    model = train_pem(pairs, "en", pivots, LANGUAGE_MODEL)
    path = arguments.output / f"{PEM}-en.tesla"
    write_resource(path, model.to_resource(Provenance(SOURCES, LICENCE, DATE)))
    print(f"{path.name}: {path.stat().st_size:,} bytes, {dict(model.info)}")


if __name__ == "__main__":
    main()
