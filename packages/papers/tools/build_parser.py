"""Build the shipped constituency parser from ../shared/data/srl: `build_parser.py [-o FILE]`.

The parser learns from the train split, with tags that taggers gave to sentences they had not seen. `--measure` leaves
the file as it is and measures it on the dev split: brackets by evalb's rules, sentences per second on one thread, and
the time for the first words of the split as one sentence.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import replace
from pathlib import Path

from tesla_eval.base.resources import Provenance, write_resource
from tesla_eval.language.analysis.tags import TaggerModel, load_tagger
from tesla_eval_papers.syntax.tree_parser import read_parser
from tesla_eval_papers.syntax.treebank import TreebankSentence, read_treebank
from tesla_eval_papers.training.trees import evaluate_parser, jackknifed_tags, train_parser

ROOT = Path(__file__).resolve().parents[3]
TREEBANK = ROOT.parent / "shared" / "data" / "srl" / "ewt_srl.jsonl.gz"
OUTPUT = ROOT / "packages" / "papers" / "src" / "tesla_eval_papers" / "data" / "parser-en.tesla"
SOURCES = (
    "English Web Treebank with PropBank: github propbank/propbank-release 4abade0 (trees)",
    "UD_English-EWT 15d613d (words)",
)
LENGTHS = (25, 50, 100, 200, 500, 1_000, 5_000)
KEPT_TAGS = ROOT / "build" / "parser-tags.json"
LICENCE = "CC BY-SA 4.0; see licences/propbank.txt"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--measure", action="store_true", help="do not build, measure")
    options.add_argument("-o", "--output", type=Path, default=OUTPUT)
    options.add_argument("--date", default="2026-11-15", help="stored in the model")
    given = options.parse_args()
    if not given.measure:
        build(given.output, given.date)
    measure(given.output)


def build(output: Path, date: str) -> None:
    sentences = read_treebank(str(TREEBANK), "train")
    tagger = load_tagger("en")
    assert tagger is not None
    tags = kept_tags(sentences, tagger)
    right = sum(a == b for s, t in zip(sentences, tags, strict=True) for a, b in zip(s.tags, t, strict=True))
    print(
        f"tags of taggers that had not seen the sentence: {right / sum(map(len, tags)):.2%} right", flush=True
    )
    start = time.process_time()
    resource = train_parser(
        sentences, tags, tagger,
        after_epoch=lambda line: print(f"{time.process_time() - start:6.0f} s  {line}", flush=True),
    )  # fmt: skip
    write_resource(output, replace(resource, provenance=Provenance(SOURCES, LICENCE, date)))


def kept_tags(sentences: list[TreebankSentence], tagger: TaggerModel) -> list[list[str]]:
    """The tags of unseen sentences; ten taggers take a minute, so that they are kept for the next time."""
    if not KEPT_TAGS.exists():
        KEPT_TAGS.parent.mkdir(exist_ok=True)
        KEPT_TAGS.write_text(json.dumps(jackknifed_tags(sentences, tagger)))
    tags: list[list[str]] = json.loads(KEPT_TAGS.read_text())
    return tags


def measure(path: Path) -> None:
    parser = read_parser(path)
    dev = read_treebank(str(TREEBANK), "dev")
    start = time.process_time()
    counts = evaluate_parser(parser, dev)
    seconds = time.process_time() - start
    print(f"{path.name}: {path.stat().st_size / 1e6:.2f} MB; dev: {counts.to_dict()}")
    print(f"{len(dev) / seconds:.0f} sentences per second on one thread, tagging and counting included")
    words = [token for sentence in dev for token in sentence.tokens]
    for length in LENGTHS:
        start = time.process_time()
        parser.parse_tokens([words[:length]])
        print(f"{length} words as one sentence: {(time.process_time() - start) * 1e3:.0f} ms of CPU time")


if __name__ == "__main__":
    main()
