"""The test sets of ../shared/data/wmt that the results are measured on, and what is shown of each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tesla_eval.base.errors import UsageError
from tesla_eval.base.resources import find_resource
from tesla_eval.judgements.meta.run import JudgedSet, wmt_sets
from tesla_eval.judgements.wmt import read_preferences, read_system_scores
from tesla_eval.language.analysis.languages import resolve_language

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT.parent / "shared" / "data" / "wmt"

Statistic = tuple[str, str]
BY_PREFERENCE: tuple[Statistic, ...] = (
    ("segment", "consistency"),
    ("segment", "kendall_wmt"),
    ("system", "pearson"),
    ("system", "accuracy"),
)
BY_SCORE: tuple[Statistic, ...] = (
    ("segment", "kendall"),
    ("segment", "accuracy_calibrated"),
    ("system", "pearson"),
    ("system", "accuracy"),
    ("system", "soft_accuracy"),
)
BY_SYSTEM: tuple[Statistic, ...] = (("system", "pearson"), ("system", "accuracy"))


@dataclass(frozen=True)
class Section:
    """A file of outputs with its judgements, and what to show of it."""

    title: str
    file: str
    statistics: tuple[Statistic, ...]
    text: str
    pairs: bool = False
    into_english: bool = False
    too_slow: frozenset[str] = field(default_factory=frozenset)

    def wants(self, lp: str) -> bool:
        return lp.endswith("-en") == self.into_english


# sacreBLEU's TER needs 2 to 10 ms a segment: it is measured on the first two sets and left out elsewhere.
_SLOW = frozenset({"ter"})

SECTIONS = (
    Section("WMT14 into English", "wmt14-rr", BY_PREFERENCE, "Rankings; the test set that the papers' metrics are "
            "measured on here. METEOR 1.5 has 0.354 (τ) and 0.940 (system Pearson) on the same rows "
            "(`pip install 'tesla-eval[meteor]'`, `python -m research.results -m meteor --only wmt14-rr -o FILE`).",
            pairs=True, into_english=True),
    Section("WMT12 into English", "wmt12-rr", BY_PREFERENCE, "Rankings; used for training where a metric is trained.",
            pairs=True, into_english=True),
    Section("WMT13 into English", "wmt13-rr", BY_PREFERENCE, "Rankings; used for training where a metric is trained.",
            pairs=True, into_english=True, too_slow=_SLOW),
    Section("WMT17 into English", "wmt17-da-toen", BY_SCORE, "Direct assessment, few systems a segment.",
            into_english=True, too_slow=_SLOW),
    Section("WMT19 into English", "wmt19-darr", BY_PREFERENCE, "Preferences made of direct assessment.",
            pairs=True, into_english=True, too_slow=_SLOW),
    Section("WMT20 into English", "wmt20-mqm", BY_SCORE, "MQM. TESLA-X learned from the segments with an odd number, "
            "the others alone are in the last section.", into_english=True, too_slow=_SLOW),
    Section("WMT21 into English, direct assessment", "wmt21-da-toen", BY_SCORE, "Direct assessment; segments of cs, "
            "de and ha have no scores.", into_english=True, too_slow=_SLOW),
    Section("WMT21 into English, MQM of news", "wmt21-mqm-news", BY_SCORE, "MQM.", into_english=True, too_slow=_SLOW),
    Section("WMT21 into English, MQM of talks", "wmt21-mqm-ted", BY_SCORE, "MQM.", into_english=True, too_slow=_SLOW),
    Section("WMT12 out of English", "wmt12-rr", BY_PREFERENCE, "Rankings.", pairs=True, too_slow=_SLOW),
    Section("WMT14 out of English", "wmt14-outofen", BY_SYSTEM, "Official scores of systems only, so all segments "
            "count.", too_slow=_SLOW),
    Section("WMT20 out of English", "wmt20-mqm", BY_SCORE, "MQM.", too_slow=_SLOW),
    Section("WMT21 out of English, MQM of news", "wmt21-mqm-news", BY_SCORE, "MQM.", too_slow=_SLOW),
    Section("WMT21 out of English, MQM of talks", "wmt21-mqm-ted", BY_SCORE, "MQM.", too_slow=_SLOW),
    Section("WMT21 out of English, MQM of Russian", "wmt21-mqm-enru", BY_SCORE, "MQM by Unbabel, news and talks.",
            too_slow=_SLOW),
    Section("WMT21 out of English, systems", "wmt21-sysonly-outofen", BY_SYSTEM, "Scores of systems only, so all "
            "segments count.", too_slow=_SLOW),
    Section("WMT24 out of English", "wmt24-esa-outofen-odd", BY_SCORE, "ESA, segments with an odd number.",
            too_slow=_SLOW),
)  # fmt: skip


def read(section: Section) -> Iterator[JudgedSet]:
    pairs = read_preferences(str(DATA / f"{section.file}.pairs.tsv.gz")) if section.pairs else {}
    systems = read_system_scores(str(DATA / "system_scores.tsv.gz"))
    for judged in wmt_sets([str(DATA / f"{section.file}.seg.tsv.gz")], pairs, systems):
        if section.wants(judged.outputs.lp):
            yield judged


def analysable(language: str) -> str | None:
    """The code of a language whose words can be tagged, else None."""
    try:
        code = resolve_language(language)
    except UsageError:
        return None
    return code if find_resource("tagger", code) is not None else None
