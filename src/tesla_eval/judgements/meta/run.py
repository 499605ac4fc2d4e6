"""From judgements on disk to results: read test sets, score their outputs, join, average, compare metrics."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from tesla_eval.base.errors import InputError, UsageError
from tesla_eval.base.parallel import NO_PROGRESS, Progress
from tesla_eval.base.records import signature_line
from tesla_eval.judgements.judges import Ratings
from tesla_eval.judgements.marked import marked_eval_set
from tesla_eval.judgements.meta.evaluate import SEGMENT_STATISTICS, Result, averages, evaluate
from tesla_eval.judgements.meta.join import (
    CorpusStatistics,
    Joined,
    MetricScores,
    choose_outputs,
    join,
    judged_segments,
)
from tesla_eval.judgements.meta.significance import ALPHA, Level, MetricComparison, compare_metrics
from tesla_eval.judgements.nouns import EvalSet, Key, Preferences, SystemScores
from tesla_eval.judgements.summaries import read_summaries
from tesla_eval.judgements.wmt import language_pairs, read_eval_set, read_human_systems, read_segments
from tesla_eval.language.analysis.languages import UNDETERMINED, resolve_language
from tesla_eval.metrics.base import Metric
from tesla_eval.metrics.cache import ScoreCache
from tesla_eval.metrics.segments import References
from tesla_eval.statistics import DEFAULT_RESAMPLES, DEFAULT_SEED
from tesla_eval.statistics.correlation import ROW_STATISTICS
from tesla_eval.statistics.multiple import enough_resamples


@dataclass(frozen=True)
class LevelStatistic:
    """A statistic by which metrics are to be compared.

    >>> LevelStatistic.parse("system:pearson"), LevelStatistic.parse("kendall_wmt")
    (LevelStatistic(level='system', statistic='pearson'), LevelStatistic(level='segment', statistic='kendall_wmt'))
    """

    level: Level
    statistic: str

    @classmethod
    def parse(cls, text: str) -> LevelStatistic:
        """From STATISTIC or LEVEL:STATISTIC."""
        head, colon, tail = text.partition(":")
        level, statistic = (head, tail) if colon else ("segment", head)
        if level not in _COMPARABLE:
            raise UsageError(f"{text!r}: the level must be segment or system, not {level!r}")
        known = _COMPARABLE[level]
        if statistic not in known:
            raise UsageError(f"{text!r}: metrics are compared at {level} level by one of {', '.join(known)}")
        return cls("system" if level == "system" else "segment", statistic)

    def __str__(self) -> str:
        return f"{self.level}:{self.statistic}"


_PROTOCOLS = ("mqm", "esa")
"""The careful protocols: direct assessment of recent years is nearly all noise."""
_COMPARABLE = {"segment": SEGMENT_STATISTICS, "system": tuple(ROW_STATISTICS)}


@dataclass(frozen=True)
class JudgedSystem:
    """What humans and metrics say of one system; None where there is no score."""

    system: str
    human: float | None
    metrics: Mapping[str, float | None]


@dataclass(frozen=True)
class TestedSet:
    """What a test set consists of, and which human system scores it was measured by."""

    lp: str
    testset: str
    systems: int
    segments_used: int
    segments: int
    human_score: str
    human_scores: tuple[str, ...] = ()
    """All kinds of human system scores that there were to choose from."""
    system_scores: tuple[JudgedSystem, ...] = ()
    """The human score and the metrics' scores of each system, to draw one against the other."""
    protocol: str = ""
    """How people judged: `mqm`, `esa` or `other`; results of several protocols are averaged apart, too."""


@dataclass(frozen=True)
class SetComparison:
    """The comparison of metrics on one test set."""

    lp: str
    testset: str
    comparison: MetricComparison


def _system_scores(joined: Joined) -> tuple[JudgedSystem, ...]:
    scores = {name: one.system_scores(joined.used) for name, one in joined.metrics.items()}
    human, *columns = (
        [None if math.isnan(value) else value for value in column.tolist()]
        for column in (joined.human_systems, *scores.values())
    )
    rows = zip(joined.outputs.systems, human, zip(*columns, strict=True), strict=True)
    return tuple(
        JudgedSystem(system, score, dict(zip(scores, row, strict=True))) for system, score, row in rows
    )


@dataclass
class Study:
    """Collects one test set after the other; `complain` hears of comparisons that a test set does not allow."""

    compared: Sequence[LevelStatistic] = ()
    resamples: int | None = None  # else as many as the comparisons need
    seed: int = DEFAULT_SEED
    complain: Callable[[str], None] = lambda message: None
    test_sets: list[TestedSet] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)
    comparisons: list[SetComparison] = field(default_factory=list)
    signatures: list[str] = field(default_factory=list)

    def add(self, joined: Joined, human_scores: Collection[str] = ()) -> list[SetComparison]:
        """Take in a test set with its scores; gives back its comparisons."""
        outputs = joined.outputs
        words = re.split(r"[-_.]", f"{outputs.score_kind}_{joined.score_type}".lower())
        self.test_sets.append(
            TestedSet(
                outputs.lp, outputs.testset, len(outputs.systems), int(joined.used.sum()),
                len(outputs.segments), joined.score_type, tuple(human_scores),
                _system_scores(joined), next((name for name in _PROTOCOLS if name in words), "other"),
            )
        )  # fmt: skip
        self.results.extend(
            evaluate(joined, permutations=self.resamples or DEFAULT_RESAMPLES, seed=self.seed)
        )
        comparisons = self.compare(joined)
        self.comparisons.extend(comparisons)
        signatures = (line for scores in joined.metrics.values() for line in scores.signatures)
        self.signatures = list(dict.fromkeys([*self.signatures, *signatures]))
        return comparisons

    @property
    def averages(self) -> list[Result]:
        """The means over the test sets, where there are several; then over those of each kind of judgement."""
        if len(self.test_sets) < 2:
            return []
        protocol_of = {(one.lp, one.testset): one.protocol for one in self.test_sets}
        protocols = sorted(set(protocol_of.values()))
        rows = list(averages(self.results))
        for name in protocols if len(protocols) > 1 else ():
            rows += averages([one for one in self.results if protocol_of[one.lp, one.testset] == name], name)
        return rows

    def compare(self, joined: Joined) -> list[SetComparison]:
        """The metrics of a test set compared by every chosen statistic that the test set allows."""
        key = joined.outputs.key
        comparisons = []
        resamples = self.resamples
        if self.compared:  # too few are an error, not a comparison that this test set does not allow
            resamples = enough_resamples(math.comb(len(joined.metrics), 2), ALPHA, resamples)
        for one in self.compared:
            try:
                comparison = compare_metrics(
                    joined, one.level, one.statistic, resamples=resamples, seed=self.seed
                )
            except UsageError as error:
                self.complain(f"{' '.join(key)}: metrics cannot be compared by {one}: {error}")
            else:
                comparisons.append(SetComparison(*key, comparison))
        return comparisons


@dataclass(frozen=True)
class JudgedSet:
    """A test set with the judgements that other files hold of it."""

    outputs: EvalSet
    preferences: Preferences | None = None
    systems: SystemScores | None = None

    def count_outputs(self, all_segments: bool) -> int:
        """How many outputs there are to score."""
        chosen = np.flatnonzero(self.scored_segments(all_segments)).tolist()
        return sum(row[segment] is not None for row in self.outputs.hypotheses for segment in chosen)

    def scored_segments(self, all_segments: bool) -> npt.NDArray[np.bool_]:
        """The segments whose outputs matter: those judged, or all of them if asked for or if none was judged."""
        pairs = None if self.preferences is None else self.preferences.joined(self.outputs)
        judged = judged_segments(self.outputs, pairs)
        return np.ones_like(judged) if all_segments or not judged.any() else judged


def wmt_sets(
    segments: Sequence[str],
    preferences: Mapping[Key, Preferences] | None = None,
    system_scores: Mapping[Key, SystemScores] | None = None,
    lps: Collection[str] = (),
) -> Iterator[JudgedSet]:
    """The test sets of `*.seg.tsv` files with their preferences and human system scores, where there are any.

    Two files may judge the same test set: in results the second one's has the name of its file.
    """
    preferences, system_scores = preferences or {}, system_scores or {}
    seen: set[Key] = set()
    for number, path in enumerate(segments):
        if path in segments[:number]:
            raise InputError(f"{path}: is given twice")
        for outputs in read_segments(path, lps or None):
            key, named = outputs.key, outputs
            while named.key in seen:
                named = replace(named, testset=f"{named.testset}_{outputs.score_kind}")
            seen.add(named.key)
            yield JudgedSet(named, preferences.get(key), system_scores.get(key))
    _check_wishes(lps, {lp for lp, _ in seen}, ", ".join(segments))


def rated_sets(
    sets: Iterable[JudgedSet], ratings: Mapping[Key, Mapping[str, Ratings]], criterion: str | None = None
) -> Iterator[JudgedSet]:
    """Test sets with the mean scores of judges in place of their human scores, once for each criterion.

    Preferences and system scores of a set are not used where there are ratings: these are the judgements.
    """
    used: set[Key] = set()
    for judged in sets:
        by_criterion = ratings.get(judged.outputs.key)
        if by_criterion is None:
            continue
        used.add(judged.outputs.key)
        if criterion is not None and criterion not in by_criterion:
            names = ", ".join(by_criterion)
            raise UsageError(f"no ratings of the criterion {criterion!r}; there are: {names or 'none'}")
        for name, rated in by_criterion.items():
            if criterion in (None, name):
                testset = f"{judged.outputs.testset}_{name}" if name else judged.outputs.testset
                human = rated.means(judged.outputs)
                yield JudgedSet(replace(judged.outputs, testset=testset, human=human, score_kind=name))
    for lp, testset in ratings.keys() - used:
        raise InputError(f"ratings of {lp} {testset}: no outputs in the files of --segments")


def marked_sets(
    references: Sequence[str],
    systems: Sequence[str],
    preferences: Mapping[Key, Preferences] | None = None,
    system_scores: Mapping[Key, SystemScores] | None = None,
    lps: Collection[str] = (),
) -> Iterator[JudgedSet]:
    """The one test set of SGML or XML files, with its preferences and human system scores.

    These belong to it if they have its name, or if there are no others of its language pair. A language pair in `lps`
    is that of the files.
    """
    if len(lps) > 1:
        raise UsageError("SGML files hold one language pair: give --lp once")
    outputs = marked_eval_set(references, systems, lp=next(iter(lps), None))
    preferred = _only_of(preferences or {}, outputs)
    if preferred is not None and all(name.isdigit() for name in preferred.segments):
        outputs = replace(outputs, segments=tuple(str(n) for n in range(1, len(outputs.segments) + 1)))
    yield JudgedSet(outputs, preferred, _only_of(system_scores or {}, outputs))


_Judged = TypeVar("_Judged")


def _only_of(judged: Mapping[Key, _Judged], outputs: EvalSet) -> _Judged | None:
    """What belongs to a test set: the entry of its name, or the only one of its language pair."""
    if outputs.key in judged:
        return judged[outputs.key]
    same_pair = [value for (lp, _), value in judged.items() if lp == outputs.lp]
    return same_pair[0] if len(same_pair) == 1 else None


def mtme_sets(folder: Path, lps: Collection[str] = (), score_name: str | None = None) -> Iterator[JudgedSet]:
    """The language pairs of a test set's folder in the layout of mt-metrics-eval."""
    present = language_pairs(folder)
    _check_wishes(lps, present, str(folder))
    for lp in present:
        if not lps or lp in lps:
            outputs = read_eval_set(folder, lp, score_name=score_name)
            systems = read_human_systems(folder, lp)
            yield JudgedSet(outputs, systems=systems if systems.by_type else None)


def summary_sets(
    path: str,
    choose_language: Callable[[Sequence[str]], str],
    score_name: str | None = None,
    lps: Collection[str] = (),
) -> Iterator[JudgedSet]:
    """The summaries of a file or folder, once for each kind of human score; a segment is a topic."""
    summaries = read_summaries(path)
    streams = summaries.reference_streams or summaries.hypotheses
    lang = choose_language([text for stream in streams for text in stream if text])
    _check_wishes(lps, [lang], path)
    yield from map(JudgedSet, summaries.eval_sets(score_name, lang))


def target_language(lp: str) -> str:
    """The language of the outputs: what follows the hyphen; without one (summaries) the name itself.

    >>> target_language("de-en"), target_language("en")
    ('en', 'en')
    """
    return lp.rpartition("-")[2]


def analysed_language(lp: str) -> str:
    """The language that the outputs are analysed as: `und` where we have no analysis of the target.

    >>> analysed_language("en-de"), analysed_language("en-sw")
    ('de', 'und')
    """
    try:
        return resolve_language(target_language(lp))
    except UsageError:
        return UNDETERMINED.code


def score_and_join(
    judged: JudgedSet,
    metrics: Sequence[Metric],
    cache: ScoreCache,
    *,
    score_type: str | None = None,
    all_references: bool = False,
    all_segments: bool = False,
    score_everything: bool = False,
    progress: Progress = NO_PROGRESS,
    names: Sequence[str] | None = None,
) -> Joined:
    """Score a test set's outputs with the metrics and put the scores beside the judgements.

    System scores count judged segments, by their first reference, unless `all_segments` and `all_references`. Other
    segments are not even scored, unless `score_everything`. `names` are those of the metrics in results, by default
    their ids.
    """
    segments = judged.scored_segments(all_segments or score_everything)
    scores = {
        name: score_metric(
            metric, judged.outputs, cache, segments=segments, all_references=all_references, progress=progress
        )
        for name, metric in zip(names or [metric.id for metric in metrics], metrics, strict=True)
    }
    return join(
        judged.outputs,
        scores,
        preferences=judged.preferences,
        system_scores=judged.systems,
        score_type=score_type,
        all_segments=all_segments,
    )


def score_metric(
    metric: Metric,
    outputs: EvalSet,
    cache: ScoreCache,
    *,
    segments: npt.NDArray[np.bool_] | None = None,
    all_references: bool = False,
    progress: Progress = NO_PROGRESS,
) -> MetricScores:
    """A metric's scores of the outputs in the chosen segments, with the statistics that make its system scores."""
    chosen = choose_outputs(outputs, segments, all_references=all_references)
    table = np.full(outputs.human.shape, np.nan)
    if metric.corpus_wide:
        streams = outputs.references if all_references else (outputs.first_reference,)
        kept = np.flatnonzero(np.ones(len(outputs.segments), bool) if segments is None else segments).tolist()
        metric = metric.for_corpus([[stream[place] for place in kept] for stream in streams])
    corpus, signatures = None, _signature_lines(metric, chosen.references)
    if not chosen.hypotheses:
        return MetricScores(table, metric.higher_is_better, corpus, signatures)
    with outputs.naming_refused(*(cells.tolist() for cells in chosen.cells)):
        scored = cache.score(metric, chosen.hypotheses, chosen.references, progress.advance, chosen.sources)
    table[chosen.cells] = scored.scores
    formula = metric.formula_of_sums
    if formula is not None and scored.statistics is not None:
        rows = np.full((*table.shape, scored.statistics.shape[1]), np.nan)
        rows[chosen.cells] = scored.statistics
        corpus = CorpusStatistics(rows, formula)
    return MetricScores(table, metric.higher_is_better, corpus, signatures)


def _signature_lines(metric: Metric, references: References) -> tuple[str, ...]:
    """A metric's signature as `tesla score` shows it, and that of its segments' scores if it differs."""
    count = metric.count_references(references)
    own = metric.get_signature()
    line, of_segments = (
        signature_line(metric.id, str(one)) for one in (own.with_references(count), own.of_segments(count))
    )
    return (line,) if of_segments == line else (line, f"{of_segments}  (segments)")


def _check_wishes(lps: Collection[str], present: Collection[str], where: str) -> None:
    missing = [lp for lp in lps if lp not in present]
    if missing:
        known = f"; there are {', '.join(sorted(present))}" if present else ""
        raise InputError(f"{where}: no outputs for {', '.join(missing)}{known}")
