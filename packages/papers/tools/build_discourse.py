"""Build the shipped discourse parser from ../shared/data/discourse/gdtb, and measure it: `build_discourse.py`.

Two parsers learn from the parts train and dev: one from all genres, for the report, and the shipped one without the
genres whose texts are CC BY-NC-SA. Both are measured on the part test, all genres and the free ones apart.
`--measure` leaves the shipped file as it is and measures that one.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from tesla_eval.base.resources import Provenance, read_resource, write_resource
from tesla_eval.language.analysis import load_pipeline
from tesla_eval_papers.discourse.relation_parser import Parser
from tesla_eval_papers.training.discourse import train_parser, train_parser_resource
from tesla_eval_papers.training.discourse_evaluation import evaluate_parser
from tesla_eval_papers.training.gdtb import GoldDocument, read_gdtb

ROOT = Path(__file__).resolve().parents[3]
GDTB = ROOT.parent / "shared" / "data" / "discourse" / "gdtb"
OUTPUT = ROOT / "packages" / "papers" / "src" / "tesla_eval_papers" / "data" / "discourse-en.tesla"
SOURCES = (
    "GDTB (PDTB-style relations over GUM), github amir-zeldes/gum 72ce5ac, without its CC BY-NC-SA genres",
)
LICENCE = "CC BY 4.0 (annotations); texts CC BY, CC BY-SA; see licences/gum.txt"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--measure", action="store_true", help="do not build the shipped model, measure it")
    options.add_argument("--date", default="2026-11-15", help="stored in the model")
    given = options.parse_args()
    pipeline = load_pipeline("en")
    corpus = read_gdtb(str(GDTB / "docs.jsonl.gz"), str(GDTB / "relations.tsv.gz"), pipeline)
    learnt = [document for document in corpus if document.split in ("train", "dev")]
    if not given.measure:
        free = [document for document in learnt if document.free]
        resource = train_parser_resource(free, pipeline, provenance=Provenance(SOURCES, LICENCE, given.date))
        write_resource(OUTPUT, resource)
    print(f"{OUTPUT.name}: {OUTPUT.stat().st_size / 1000:.0f} kB")
    shipped = Parser.from_arrays(read_resource(OUTPUT).arrays)
    everything = train_parser(learnt)
    test = [document for document in corpus if document.split == "test"]
    report({"all genres": everything, "shipped": shipped}, {"all": test, "free": [d for d in test if d.free]})


def report(parsers: dict[str, Parser], tests: dict[str, list[GoldDocument]]) -> None:
    """A table in Markdown: one row a measure, one column a parser and a set of test documents."""
    columns = {
        f"{parser_name} on {test_name} ({len(documents)})": evaluate_parser(parser, documents).rows()
        for parser_name, parser in parsers.items()
        for test_name, documents in tests.items()
    }
    print(f"| measure | {' | '.join(columns)} |")
    print(f"|---|{'---|' * len(columns)}")
    for rows in zip(*columns.values(), strict=True):
        print(f"| {rows[0][0]} | {' | '.join(f'{value} ({beside})' for _, value, beside in rows)} |")


if __name__ == "__main__":
    main()
