"""Build the shipped role labeller from ../shared/data/srl: `build_srl.py`, which calls `tesla train srl`.

It learns from the train split with the treebank's trees: identification by ASO, h = 20, classification by the linear
classifier (h = 0).
"""

from __future__ import annotations

from pathlib import Path

from tesla_eval_papers.cli.train_srl import srl

ROOT = Path(__file__).resolve().parents[3]
DATA = ROOT.parent / "shared" / "data" / "srl"


def main() -> None:
    options = {
        "--output": str(ROOT / "packages" / "papers" / "src" / "tesla_eval_papers" / "data" / "srl-en.tesla"),
        "--frames": str(DATA / "propbank_frames" / "rolesets.tsv.gz"),
        "--learner": "aso",
        "--dimensions": "20",
        "--classification-dimensions": "0",
        "--licence": "CC BY-SA 4.0; see licences/propbank.txt",
        "--date": "2026-11-15",
    }
    sources = (
        "English Web Treebank with PropBank: github propbank/propbank-release 4abade0",
        "UD_English-EWT 15d613d",
        "PropBank frames",
    )
    arguments = [part for option in options.items() for part in option]
    arguments += [part for source in sources for part in ("--source", source)]
    srl.main([str(DATA / "ewt_srl.jsonl.gz"), *arguments], standalone_mode=False)


if __name__ == "__main__":
    main()
