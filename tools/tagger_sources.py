"""What each shipped tagger is built from, how, and under which licence: see ../shared/data/ud/README.md."""

from __future__ import annotations

from dataclasses import dataclass, field

from tesla_eval.analysis.tagger_build import TokenView
from tesla_eval.analysis.tagger_training import TaggerSettings


@dataclass(frozen=True)
class Recipe:
    language: str
    licence: str
    train: tuple[str, ...] = ("train", "train-check")
    dev: tuple[str, ...] = ("dev",)
    view: TokenView = "both"
    fine_tag_sources: tuple[str, ...] = ()
    lexicon_sources: tuple[str, ...] = ()
    settings: TaggerSettings = field(default_factory=TaggerSettings)

    def has_fine_tags(self, source: str) -> bool:
        return source.startswith(self.fine_tag_sources)


RECIPES = (
    Recipe(
        "en",
        "CC BY-SA 4.0 (EWT), CC BY-SA 3.0 (PUD), WordNet 3.0 licence",
        view="words",  # our tokeniser splits contractions as the treebank does
        fine_tag_sources=("UD_English",),
        lexicon_sources=("WordNet 3.0 (Princeton University): classes of word forms",),
        settings=TaggerSettings(fine_tags=True),
    ),
)
