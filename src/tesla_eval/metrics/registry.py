"""The metrics by name: the built-in ones, and those that other packages add.

A package adds a metric through the entry-point group `tesla_eval.metrics`: the entry's name is what `-m` takes, and its
value is a subclass of `Metric`. Modules are imported when a metric of theirs is asked for, or when all are listed: the
class may have a `summary`, a `scale` and `languages`, which are texts for `tesla metrics`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from tesla_eval.base.errors import GET_PAPERS, UsageError
from tesla_eval.language.analysis.languages import is_spaced
from tesla_eval.metrics.base import Metric

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

ENTRY_POINTS = "tesla_eval.metrics"
"""The group of entry points under which other packages add metrics."""

ALL_LANGUAGES = "all"
UNKNOWN = ""
"""What the registry does not know about a metric of another package."""
_NEURAL = "pip install 'tesla-eval[neural]', or in a clone pip install ./packages/neural"
_LARGE = (
    "it needs a large model, which is not part of tesla-eval; the nearest metrics here are x, learned from human "
    f"judgements, and n, which reads words in context ({_NEURAL})"
)
_PAPERS = f"it is in the package tesla-eval-papers: {GET_PAPERS}"
_ELSEWHERE = {
    **dict.fromkeys(("pem", "pem-x", "dicomer", "cremer"), _PAPERS),
    "n": f"TESLA-N is in a package of its own: {_NEURAL}",
    **dict.fromkeys(("bleurt", "metricx", "yisi"), _LARGE),
    "xcomet": "it is a model of COMET; write comet:model=FOLDER",
    "cometkiwi": "it is a model of COMET without references; write comet-qe:model=FOLDER",
    "bert-score": "write bertscore:model=FOLDER",
    "tesla": "TESLA is a family of metrics; write m (no training; ranks systems) or x (learned; ranks segments)",
    "lin": "it is a variant of DICOMER; write dicomer:variant=lin",
    "cremer-x": "it was removed, since it rewarded copying: the whole source scored above the best summary. Use "
    "s-recall or s to compare summaries, and s-source to ask what the source supports",
    "rouge": "write rouge1, rouge2, rougel, rougelsum or rougesu4",
}
"""What to tell a user who asks for a metric that is not here, by the name that they gave."""


@dataclass(frozen=True)
class Entry:
    """One metric of the registry."""

    name: str
    """What `-m` takes."""
    target: str
    """`module:Class`."""
    summary: str
    scale: str = "0..1"
    better: str = "higher"
    languages: str = ALL_LANGUAGES
    package: str = "tesla-eval"
    task: str = ""
    """What it is recommended for; empty for what is listed only on request."""

    def load(self) -> type[Metric]:
        """The class, imported now."""
        module, _, name = self.target.partition(":")
        try:
            loaded = getattr(import_module(module), name)
        except Exception as error:  # a module of others may raise anything
            raise UsageError(f"metric {self.name!r} of {self.package} cannot be loaded: {error}") from error
        if not (isinstance(loaded, type) and issubclass(loaded, Metric)):
            raise UsageError(
                f"metric {self.name!r} of {self.package}: {self.target} is not a subclass of Metric"
            )
        return loaded

    def create(self, lang: str, **options: Any) -> Metric:
        """The metric for a language, made with these options."""
        return self.load()(lang=lang, **options)  # type: ignore[call-arg]  # contract of registered metrics


_HOME = "tesla_eval.metrics"
_PERCENT = "0..100"
_PERCENT_SCALES = (_PERCENT, "0..")
"""Of metrics whose scores are percentages, as all of sacreBLEU's are: two digits say enough."""


ROUGE_KINDS = {
    "1": "unigrams",
    "2": "bigrams",
    "L": "longest common subsequence",
    "Lsum": "longest common subsequences by sentence",
    "SU4": "skip bigrams and unigrams",
}

TRANSLATIONS, SUMMARIES, BESIDE = "translations", "summaries", "to show beside them"
"""What metrics are recommended for."""
_BASELINES = f"{_HOME}.baselines"

_ENTRIES = (
    Entry("m", f"{_HOME}.tesla_m:TeslaM", "words by lemma, synonym and part of speech; no training", task=TRANSLATIONS),
    Entry("x", f"{_HOME}.tesla_x:TeslaX", "words, characters, order and lengths, weights learned", task=TRANSLATIONS),
    Entry("celab", f"{_HOME}.tesla_celab:TeslaCelab", "characters with synonyms, for scripts without spaces",
          task=TRANSLATIONS),
    Entry("s-recall", f"{_HOME}.tesla_s:TeslaSRecall", "recall of model summaries' content; for single summaries too",
          task=SUMMARIES),
    Entry("s", f"{_HOME}.tesla_s:TeslaS", "content of a summary against model summaries; for systems", task=SUMMARIES),
    Entry("s-source", f"{_HOME}.tesla_s_source:TeslaSSource",
          "what the source supports, sentence by sentence; needs no reference", task=SUMMARIES),
    Entry("bleu", f"{_BASELINES}.bleu:Bleu", "sacreBLEU's BLEU", scale=_PERCENT, task=BESIDE),
    Entry("chrf++", f"{_BASELINES}.chrf:ChrfPlusPlus", "sacreBLEU's chrF++", scale=_PERCENT, task=BESIDE),
    Entry("ter", f"{_BASELINES}.ter:Ter", "sacreBLEU's TER", scale="0..", better="lower", task=BESIDE),
    Entry("b", f"{_HOME}.tesla_b:TeslaB", "TESLA-M and pivot-language n-grams", languages="with a phrase table"),
    Entry("f", f"{_HOME}.tesla_f:TeslaF", "TESLA-B and a language model, weights learned", languages="with weights"),
    Entry("s-x", f"{_HOME}.tesla_s_x:TeslaSX", "s-recall, and how much of the source's main content"),
    Entry("celab-", f"{_HOME}.tesla_celab:TeslaCelabMinus", "characters without synonyms"),
    Entry("maxsim", f"{_HOME}.maxsim:MaxSim", "MaxSim: TESLA-M's predecessor, every n-gram of weight 1"),
    Entry("chrf", f"{_BASELINES}.chrf:Chrf", "sacreBLEU's chrF", scale=_PERCENT),
    Entry("nist", f"{_BASELINES}.nist:Nist", "NIST: n-grams by their information", scale="0.."),
    Entry("meteor", f"{_BASELINES}.meteor:Meteor", "METEOR 1.5, the Java program", languages="METEOR's 16"),
    Entry("comet", f"{_BASELINES}.packaged:Comet", "COMET by unbabel-comet, with a model of yours", scale="learned"),
    Entry("comet-qe", f"{_BASELINES}.packaged:CometQE", "COMET without references, such as CometKiwi", scale="learned"),
    Entry("bertscore", f"{_BASELINES}.packaged:BertScore", "BERTScore by bert-score, with a model of yours"),
    *(Entry(f"rouge{kind.lower()}", f"{_BASELINES}.rouge:Rouge{kind}", f"ROUGE-{kind}: F1 of {what}")
      for kind, what in ROUGE_KINDS.items()),
)  # fmt: skip


BUILT_IN = {entry.name: entry for entry in _ENTRIES}
"""The metrics of this package by name."""


@cache
def registered() -> dict[str, Entry]:
    """All metrics by name, the built-in ones first; another package cannot replace one of these."""
    from importlib.metadata import entry_points  # takes 20 ms: only when asked for

    entries = dict(BUILT_IN)
    for point in sorted(entry_points(group=ENTRY_POINTS), key=lambda point: point.name):
        entries.setdefault(point.name, _from_entry_point(point))
    return entries


def _from_entry_point(point: EntryPoint) -> Entry:
    package = point.dist.name if point.dist is not None else "another package"
    return Entry(
        point.name, point.value, f"of the package {package}", scale=UNKNOWN, languages=UNKNOWN, package=package,
    )  # fmt: skip


def described(entry: Entry) -> Entry:
    """The entry with what the class of another package says of itself."""
    if entry.name in BUILT_IN:
        return entry
    try:
        loaded = entry.load()
    except UsageError as error:
        return replace(entry, summary=str(error))
    said = {
        name: getattr(loaded, name, getattr(entry, name))
        for name in ("summary", "scale", "languages", "task")
    }
    return replace(entry, **said, better="higher" if loaded.higher_is_better else "lower")


def metric_names() -> list[str]:
    """What `-m` takes."""
    return list(registered())


def metric_key(name: str) -> str:
    """The registered name that is meant: ids and capitals are understood.

    >>> metric_key(" TESLA-M"), metric_key("chrF++")
    ('m', 'chrf++')
    """
    key = name.strip().lower()
    short = key.removeprefix("tesla-")
    return key if short not in BUILT_IN and key in registered() else short


def _known_entry(name: str) -> Entry | None:
    key = metric_key(name)
    return BUILT_IN.get(key) or registered().get(key)  # others are looked for only if it is not built in


def find_entry(name: str) -> Entry:
    """The entry that a name means; the error for an unknown name suggests the nearest one."""
    entry = _known_entry(name)
    if entry is None:
        key = metric_key(name)
        if key in _ELSEWHERE:
            raise UsageError(f"there is no metric {name!r} here: {_ELSEWHERE[key]}")
        from difflib import get_close_matches

        near = get_close_matches(key, metric_names(), n=1)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise UsageError(f"unknown metric {name!r}{hint} (metrics: {', '.join(metric_names())})")
    return entry


def digits(metric: str) -> int:
    """How many digits a metric's scores are shown with; `metric` may carry options, or be none that is registered.

    >>> digits("bleu:tok=intl"), digits("tesla-m"), digits("not registered")
    (2, 4, 4)
    """
    entry = _known_entry(metric.partition(":")[0])
    return 2 if entry is not None and entry.scale in _PERCENT_SCALES else 4


def registered_class(metric_id: str) -> type[Metric] | None:
    """The class that is registered for an id, if any."""
    entry = _known_entry(metric_id)
    return None if entry is None else entry.load()


def default_metrics(lang: str, *, summaries: bool = False) -> str:
    """What `-m` means where it is not given: TESLA-M and TESLA-X; TESLA-CELAB for languages written without spaces.

    >>> default_metrics("en"), default_metrics("zh"), default_metrics("en", summaries=True)
    ('m,x', 'celab', 's-recall,s')
    """
    if summaries:
        return "s-recall,s"
    return "m,x" if is_spaced(lang) else "celab"
