"""Write data/licences/universal-dependencies.txt: what the shipped models learned from which treebanks.

python tools/make_notices.py

To be run after a tagger, a segmenter, a lemma table or the model of languages was built anew.
"""

from __future__ import annotations

from pathlib import Path

from tesla_eval.base.resources import read_resource, shipped_folder

PATTERNS = ("tagger-*", "segmenter-*", "lemmas-*", "detection")
NOTICE = """Treebanks of Universal Dependencies (https://universaldependencies.org) and others

tesla-eval learned from them the weights of taggers, of segmenters and of the model that tells languages apart, and
tables of word forms with their lemmas and rules for word ends. Models and tables are under the licences of what they
learned from, which are named behind them.
Legal codes: https://creativecommons.org/licenses/by-sa/4.0/legalcode,
https://creativecommons.org/licenses/by-sa/3.0/legalcode, https://creativecommons.org/licenses/by/4.0/legalcode; the
LGPL-LR is in lgpl-lr.txt. Lexica: see lgpl-2.1.txt, cc-by-sa-4.0.txt, cc-by-sa-3.0.txt, wordnet-3.0.txt and
apache-2.0.txt.
"""


def notice(folder: Path) -> str:
    """The sources and licences of all models and tables in a folder, for people to read."""
    lines = [NOTICE]
    for pattern in PATTERNS:
        for path in sorted(folder.glob(f"{pattern}.tesla")):
            resource = read_resource(path)
            sources = dict.fromkeys(source.partition(" (")[0] for source in resource.provenance.sources)
            lines.append(f"- {path.name}: {', '.join(sources)}. {resource.provenance.licence}")
    return "\n".join(lines) + "\n"


def main() -> None:
    folder = shipped_folder()
    (folder / "licences" / "universal-dependencies.txt").write_text(notice(folder), encoding="utf-8")


if __name__ == "__main__":
    main()
