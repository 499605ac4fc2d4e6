"""What each shipped tagger is built from, how, and under which licence: see ../shared/data/ud/README.md."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from tesla_eval.training.taggers import SMALL_TREEBANK, TaggerSettings, TokenView


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


_BY_SA_3, _BY_SA_4, _BY_4 = "CC BY-SA 3.0", "CC BY-SA 4.0", "CC BY 4.0"
_LGPL_LR = "LGPL-LR"

SMALL = SMALL_TREEBANK
MIDDLING = replace(SMALL, min_weight=2)
"""For less than 70,000 words."""

LEXICON_WORDNETS = {
    "cs": ("omw_ces_wikt",),
    "en": ("wordnet30_en_synsets",),
    "fr": ("omw_fra_wikt",),
    "ja": ("omw_jpn_wikt",),
    "zh": ("omw_cmn", "omw_cmn_wikt"),
}
"""Languages whose lexicon is made from wordnets; others have a lexicon file or none."""


def _wiktionary(code: str) -> tuple[str, ...]:
    return (f"Wiktionary via Open Multilingual Wordnet ({code}): classes of words",)


RECIPES = (
    Recipe(
        "en", f"{_BY_SA_4} (EWT), {_BY_SA_3} (PUD), WordNet 3.0 licence",
        view="words",  # our tokeniser splits contractions as the treebank does
        fine_tag_sources=("UD_English",),
        lexicon_sources=("WordNet 3.0 (Princeton University): classes of word forms",),
        settings=TaggerSettings(fine_tags=True, margin=10, scale=2.0, min_weight=3),
    ),
    Recipe(
        "de", f"GSD {_BY_SA_4}; PUD, EmpiriST {_BY_SA_3}; german-pos-dict {_BY_SA_4}",
        fine_tag_sources=("UD_German-GSD", "EmpiriST"),  # PUD has other tags than STTS
        lexicon_sources=("LanguageTool german-pos-dict (Morphy): classes of word forms",),
        settings=TaggerSettings(fine_tags=True, min_label_count=20),
    ),
    Recipe(
        "fr", f"GSD, Rhapsodie, ParisStories {_BY_SA_4}; PUD {_BY_SA_3}; Sequoia, FQB {_LGPL_LR}; Wiktionary CC BY-SA",
        lexicon_sources=_wiktionary("fra"),
    ),
    Recipe("es", f"GSD {_BY_SA_4}; PUD {_BY_SA_3}; AnCora {_BY_4}"),
    Recipe("cs", f"CAC, CLTT, PUD {_BY_SA_4}; Wiktionary CC BY-SA", lexicon_sources=_wiktionary("ces")),
    Recipe(
        "it", f"MarkIT {_BY_4}; ParlaMint, TWITTIRO, Valico {_BY_SA_4}; PUD {_BY_SA_3}; Morph-it! CC BY-SA 2.0 / LGPL",
        lexicon_sources=("Morph-it! via LanguageTool: classes of word forms",),
    ),
    Recipe("pt", f"Bosque {_BY_SA_4}"),  # train-extra follows other conventions and lowers the accuracy
    Recipe("ru", f"GSD, Taiga {_BY_SA_4}; PUD {_BY_SA_3}"),
    Recipe(
        "zh", f"GSD, CFL, HK {_BY_SA_4}; PUD {_BY_SA_3}; Chinese Open Wordnet: WordNet licence; Wiktionary CC BY-SA",
        lexicon_sources=("Chinese Open Wordnet: classes of words", *_wiktionary("cmn")),
    ),
    Recipe("af", f"AfriBooms {_BY_SA_4}", settings=SMALL),
    Recipe("ar", f"PUD {_BY_SA_3}", settings=SMALL),
    Recipe("be", f"HSE {_BY_SA_4}", settings=SMALL),
    Recipe("ca", f"AnCora {_BY_4}"),
    Recipe("cy", f"CCG {_BY_SA_4}", settings=SMALL),
    Recipe(
        "da", f"DDT {_BY_SA_4}; Stavekontrolden LGPL 2.1 / MPL 1.1",
        lexicon_sources=("Stavekontrolden via LanguageTool: classes of word forms",),
    ),
    Recipe("el", f"GUD {_BY_SA_4}", settings=SMALL),
    Recipe("fa", f"Seraji {_BY_SA_4}", settings=SMALL),
    Recipe("fi", f"TDT, PUD {_BY_SA_4}"),
    Recipe("ga", f"IDT {_BY_SA_3}", settings=MIDDLING),
    Recipe("gl", f"TreeGal {_LGPL_LR}; PUD {_BY_SA_4}", settings=SMALL),
    Recipe("he", f"IAHLTwiki {_BY_SA_4}", settings=SMALL),
    Recipe("hi", f"PUD {_BY_SA_3}", settings=SMALL),
    Recipe("hr", f"SET {_BY_SA_4}", settings=MIDDLING),
    Recipe("hy", f"ArmTDP {_BY_SA_4}", settings=SMALL),
    Recipe("id", f"GSD, CSUI {_BY_SA_4}; PUD {_BY_SA_3}"),
    Recipe("is", f"Modern, PUD {_BY_SA_4}"),
    Recipe("ja", f"GSD {_BY_SA_4}; Wiktionary CC BY-SA", lexicon_sources=_wiktionary("jpn"), settings=SMALL),
    Recipe("ka", f"GLC {_BY_SA_4}", settings=SMALL),
    Recipe("ko", f"GSD {_BY_SA_4}; PUD {_BY_SA_3}"),
    Recipe("lt", f"ALKSNIS {_BY_SA_4}", settings=SMALL),
    Recipe("lv", f"LVTB {_BY_SA_4}", settings=MIDDLING),
    Recipe("mt", f"MUDT {_BY_SA_4}", settings=SMALL),
    Recipe("nl", f"Alpino, LassySmall {_BY_SA_4}"),
    Recipe("nn", f"Nynorsk {_BY_SA_4}"),
    Recipe("no", f"Bokmaal {_BY_SA_4}"),
    # The rest of Polish is under the GPL: measured on, never learned from.
    Recipe("pl", f"PUD {_BY_SA_4}", train=("train",), dev=(), settings=SMALL),
    Recipe(
        "ro", f"RRT, SiMoNERo {_BY_SA_4}; romanian.dict LGPL",
        lexicon_sources=("LanguageTool romanian.dict: classes of word forms",),
    ),
    Recipe(
        "sk", f"SNK {_BY_SA_4}; slovak.dict LGPL",
        lexicon_sources=("LanguageTool slovak.dict: classes of word forms",),
    ),
    Recipe("sl", f"SSJ, SST {_BY_SA_4}", settings=MIDDLING),
    Recipe("sr", f"SET {_BY_SA_4}"),
    Recipe(
        "sv", f"Talbanken, PUD {_BY_SA_4}; DSSO LGPL 2.1+",
        lexicon_sources=("DSSO via LanguageTool: classes of word forms",),
    ),
    Recipe("th", f"PUD {_BY_SA_3}", settings=SMALL),
    Recipe("tr", f"BOUN, Kenet, FrameNet {_BY_SA_4}; PUD {_BY_SA_3}"),
    Recipe("uk", f"ParlaMint {_BY_SA_4}", settings=SMALL),
    Recipe("vi", f"VTB {_BY_SA_4}", settings=MIDDLING),
)  # fmt: skip
