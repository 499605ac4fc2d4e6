"""A metric as groups of features and a combination: everything that TESLA's metrics share (specification §5).

    class TeslaM(FeatureMetric):
        id = "tesla-m"
        groups = (NgramGroup(),)
        combination = Mean()

The options of such a metric are the fields of its groups and of its combination. Options that differ from a field's
default are part of the signature, and so is the shape of a class that is not the registered one of its id.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from functools import cached_property
from inspect import Parameter, signature
from math import nan
from typing import TYPE_CHECKING, Any, ClassVar, TypeGuard, cast

import numpy as np

from tesla_eval._core import DamagedDictionaryError, Scorer
from tesla_eval.base.arrays import FloatArray, Index
from tesla_eval.base.errors import ResourceError, UsageError
from tesla_eval.base.identity import name_of
from tesla_eval.base.records import Signature
from tesla_eval.base.version import __version__
from tesla_eval.language.analysis import (
    AnalysedBatch,
    Analyser,
    Analysis,
    Pipeline,
    SegmentedAnalyser,
    choose_analysis,
)
from tesla_eval.language.analysis.batch import PerVocabulary
from tesla_eval.language.analysis.languages import resolve_language
from tesla_eval.metrics.base import Metric
from tesla_eval.metrics.combinations import Combination
from tesla_eval.metrics.features import (
    FIRST,
    BoundGroup,
    CoreGroup,
    FeatureGroup,
    options_of,
    spelled_options,
)
from tesla_eval.metrics.results import Score, SegmentScores
from tesla_eval.metrics.segments import (
    References,
    blank_places,
    blocks_of_pairs,
    distinct_texts,
    new_matrix,
    same_text,
    streams_of_one,
    texts_of,
)

if TYPE_CHECKING:
    from tesla_eval.base.explanations import ReferenceExplanation
    from tesla_eval.metrics.results import Explanation

_PAIRS_AT_ONCE = 1 << 15
_ANALYSIS_SECTIONS = {"analyser": "§1", "segmenter": "§1", "synonyms": "§1"}


class FeatureMetric(Metric):
    """A metric over groups of features; a subclass names its groups and its combination."""

    groups: ClassVar[tuple[FeatureGroup, ...]]
    combination: ClassVar[Combination]
    accepts: ClassVar[frozenset[str]] = frozenset({"analyser", "segmenter", "synonyms"})
    """Which ways to change the analysis it offers."""
    ignores: ClassVar[frozenset[str]] = frozenset()
    """The parts of the analysis that its groups do not read: they are not in the signature."""
    _signature: Signature | None = None

    def __init__(
        self,
        lang: str = "en",
        *,
        analyser: Analyser | Pipeline | None = None,
        synonyms: str | None = None,
        segmenter: str | None = None,
        workers: int = 1,
        **options: Any,
    ) -> None:
        groups, combination = self._configured(options)
        if segmenter is not None:
            if analyser is not None:
                raise UsageError("your own analysis cuts words itself: do not give a segmenter as well")
            analyser, synonyms = SegmentedAnalyser(segmenter, resolve_language(lang), synonyms), None
        self.analysis = self.make_analysis(lang, analyser, synonyms)
        self.lang = self.analysis.signature["lang"]
        self.workers = workers
        self._declared: tuple[FeatureGroup | Combination, ...] = (*groups, combination)
        own_analysis = analyser is not None or synonyms is not None
        loaded = combination.load(self.id, self.analysis, own_analysis)
        bound = [(group, group.bind(self.analysis)) for group in loaded.choose(groups)]
        missing = [group for group, features in bound if features is None]
        if missing and not loaded.optional_groups:
            raise ResourceError(f"{self.id}: {missing[0].advice(self.lang)}")
        self._result_signatures: dict[int | str, Signature] = {}
        self._layout = loaded.over([features for _, features in bound if features is not None])
        self.features = self._layout.features
        self.feature_names = tuple(feature.name for feature in self.features)

    def make_analysis(
        self, lang: str, analyser: Analyser | Pipeline | None, synonyms: str | None
    ) -> Analysis:
        """How texts become tokens."""
        return choose_analysis(lang, analyser, synonyms)

    @classmethod
    def option_defaults(cls) -> dict[str, Any]:
        """The fields of the groups (unless a model fixes them) and of the combination, with their defaults.

        To these come what the constructor of a subclass takes, and the ways to change the analysis.
        """
        declarations = (cls.combination,) if cls.combination.fixes_groups else (*cls.groups, cls.combination)
        declared = {name: value for one in declarations for name, value in options_of(one).items()}
        shared = signature(FeatureMetric.__init__).parameters
        own = {
            name: parameter.default
            for name, parameter in signature(cls.__init__).parameters.items()
            if name not in shared and parameter.kind is Parameter.KEYWORD_ONLY
        }
        return {**dict.fromkeys(sorted(cls.accepts)), **own, **declared}

    @classmethod
    def option_sections(cls) -> dict[str, str]:
        """The sections of its groups, of its combination and of the analysis."""
        declared = [cls.combination.sections, *(group.sections for group in reversed(cls.groups))]
        merged = {name: section for sections in declared for name, section in sections.items()}
        known = cls.option_defaults()
        return {n: s for n, s in {**_ANALYSIS_SECTIONS, **merged, **cls.sections}.items() if n in known}

    @classmethod
    def options_said_elsewhere(cls) -> frozenset[str]:
        """Those of the analysis, those that are named by content, and those that change no score."""
        declared = (*cls.groups, cls.combination)
        kept = {name for one in declared for name in options_of(one).keys() - spelled_options(one)}
        return frozenset(cls.signed | cls.accepts | kept)

    def _configured(self, options: dict[str, Any]) -> tuple[list[FeatureGroup], Combination]:
        """The groups and the combination with the user's options in the place of the declared values."""
        if not options:
            return list(self.groups), self.combination
        declared: tuple[Any, ...] = (*self.groups, self.combination)
        *groups, combination = (
            replace(one, **{name: options[name] for name in options_of(one) if name in options})
            for one in declared
        )
        return groups, combination

    @property
    def combined(self) -> Combination:
        """The combination with its model."""
        return self._layout.combination

    @property
    def shortcomings(self) -> list[str]:
        """What the analysis of this language lacks, for a warning."""
        return self.analysis.shortcomings

    def get_signature(self) -> Signature:
        """Name, version, analysis, options that are not the default, resources; the shape of an unregistered class."""
        if self._signature is None:
            from tesla_eval.metrics.registry import registered_class

            analysis = {
                name: value for name, value in self.analysis.signature.items() if name not in self.ignores
            }
            shape = {}
            if registered_class(self.id) is not type(self):  # a class that borrows a registered id
                declared = name_of((type(self).groups, type(self).combination))
                shape = {"class": f"{type(self).__qualname__}-{declared}"}
            options = {name: text for one in self._declared for name, text in _differing(one).items()}
            readers: list[Combination | BoundGroup] = [self._layout.combination, *self._layout.groups]
            resources = {name: text for one in readers for name, text in one.signature.items()}
            self._signature = Signature(
                {"metric": self.id, "version": __version__, **analysis, **shape, **options, **resources}
            )
        return self._signature

    def result_signature(self, references: References) -> Signature:
        """The signature of scores against these references; those of results alike are one object."""
        return self._signature_for(self.count_references(references))

    def _signature_for(self, count: int | str) -> Signature:
        if count not in self._result_signatures:
            self._result_signatures[count] = self.get_signature().with_references(count)
        return self._result_signatures[count]

    def sentence_score(
        self, hypothesis: str, references: Sequence[str] = (), sources: str | None = None
    ) -> Score:
        """The score of one segment against one or several references; a single call, where the core has all of it."""
        analysis = self._core_analysis
        if (
            analysis is None or self._scorers is None or not _are_texts(references, hypothesis)
            or (len(references) > 1 and (not self._takes_means or blank_places(references)))
        ):  # fmt: skip
            return super().sentence_score(hypothesis, references, sources)
        vocabulary, analyser = analysis.in_core()
        try:
            score, features = self._scorers[vocabulary].score_one(analyser, hypothesis, references)
        except (UnicodeEncodeError, DamagedDictionaryError):  # the longer way says what is wrong
            return super().sentence_score(hypothesis, references, sources)
        return Score(self.id, score, features, self._signature_for(len(references)))

    @cached_property
    def _core_analysis(self) -> Pipeline | None:
        """The analysis, if the core has all of it and the class scores segments as this one does."""
        is_own = type(self).score_segments is not FeatureMetric.score_segments or not self.needs_references
        return self.analysis if isinstance(self.analysis, Pipeline) and not is_own else None

    @cached_property
    def _takes_means(self) -> bool:
        """Whether a score is the mean over the references, as the core computes it."""
        return type(self._layout.combination).over_references is Combination.over_references

    def score_segments(self, hypotheses: Sequence[str], references: References) -> SegmentScores:
        """The scores of some segments over the references that each has."""
        present = [
            None if None not in stream else np.flatnonzero([text is not None for text in stream])
            for stream in references
        ]
        streams = [
            cast("Sequence[str]", stream) if index is None else [text or "" for text in stream]
            for stream, index in zip(references, present, strict=True)
        ]
        hypothesis, *sides = self.analysis.analyse(hypotheses, *streams)
        if self._scorers is None:
            scored = list(self._score_streams(hypothesis, sides, present))
        else:
            scorer = self._scorers[hypothesis.vocabulary]
            scored = scorer.score([side.core for side in sides], hypothesis.core, present)
        if len(scored) == 1:
            return SegmentScores(*scored[0])
        scores, features = map(np.stack, zip(*scored, strict=True))
        return SegmentScores(*self._layout.combination.over_references(scores, features))

    def _score_streams(
        self, hypothesis: AnalysedBatch, sides: Sequence[AnalysedBatch], present: Sequence[Index | None]
    ) -> Iterator[tuple[FloatArray, FloatArray]]:
        """For each stream of references the scores and features, where some group is not of the core."""
        everything = np.arange(len(hypothesis.texts))
        numbers = [everything if index is None else index for index in present]
        by_group = [group.compare_segments(sides, hypothesis, numbers) for group in self._layout.groups]
        for *compared, side, index in zip(*by_group, sides, numbers, strict=True):
            scores = np.full(len(everything), np.nan)
            features = np.full((len(everything), len(self.features)), np.nan)
            rows = features[index] = self._joined(compared)
            scores[index] = self._scores(rows, side, hypothesis, index, index)
            yield scores, features

    @cached_property
    def _scorers(self) -> PerVocabulary[Scorer] | None:
        """By vocabulary what scores the segments of a batch in the core; None where it lacks a part of the metric."""
        combination, columns = self._layout.combination, self._layout.columns
        core, groups = (
            combination.core,
            [group for group in self._layout.groups if isinstance(group, CoreGroup)],
        )
        if core is None or len(groups) < len(self._layout.groups):
            return None
        chosen = [] if columns is None else columns.tolist()
        ends = combination.lowest, combination.equal_texts
        return PerVocabulary(
            lambda vocabulary: Scorer(
                [group.core[vocabulary] for group in groups],
                chosen,
                self.feature_names,
                core,
                *ends,
                same_text,
            )
        )

    def pairwise(self, hypotheses: Sequence[str], references: Sequence[str]) -> FloatArray:
        """The score of every hypothesis (row) against every reference (column).

        Each text is analysed once, and equal texts are compared once. Where both sides are the same texts, each
        unordered pair is solved once: precision and recall change places when sides do.
        """
        hypotheses, references = texts_of(hypotheses), texts_of(references)
        matrix = new_matrix(hypotheses, references)
        if not matrix.size:
            return matrix
        rows, row_of = distinct_texts(hypotheses)
        columns, column_of = distinct_texts(references)
        scores = self._unordered_pairs(rows) if rows == columns else self._ordered_pairs(rows, columns)
        return scores if scores.shape == matrix.shape else scores[np.ix_(row_of, column_of)]

    def _ordered_pairs(self, hypotheses: list[str], references: list[str]) -> FloatArray:
        matrix = np.empty((len(hypotheses), len(references)))
        hypothesis, reference = self.analysis.analyse(hypotheses, references)
        prepared = self._prepare(reference), self._prepare(hypothesis)
        for rows, i, j in blocks_of_pairs(len(hypotheses), len(references), _PAIRS_AT_ONCE):
            compared = self._compare(*prepared, j, i)
            matrix[rows] = self._scores(compared, reference, hypothesis, j, i).reshape(len(rows), -1)
        return matrix

    def _unordered_pairs(self, texts: list[str]) -> FloatArray:
        matrix = np.empty((len(texts), len(texts)))
        (batch,) = self.analysis.analyse(texts)
        prepared = self._prepare(batch)
        first, second = np.triu_indices(len(texts))  # every pair once, each text with itself too
        for start in range(0, len(first), _PAIRS_AT_ONCE):
            i, j = first[start : start + _PAIRS_AT_ONCE], second[start : start + _PAIRS_AT_ONCE]
            compared = [
                group.compare_both_ways(part, i, j)
                for group, part in zip(self._layout.groups, prepared, strict=True)
            ]
            for rows, x, y in zip(
                map(self._joined, zip(*compared, strict=True)), (i, j), (j, i), strict=True
            ):
                matrix[y, x] = self._scores(rows, batch, batch, x, y)
        return matrix

    def explain(
        self, hypothesis: str, references: Sequence[str] = (), sources: str | None = None
    ) -> Explanation:
        """The score of one segment with the matching behind it: each text is analysed, each problem solved once."""
        from tesla_eval.base.explanations import ReferenceExplanation  # not before something is explained
        from tesla_eval.metrics.results import Explanation

        streams = streams_of_one(hypothesis, references)
        y, *sides = self.analysis.analyse([hypothesis], *streams)
        rows, details = [], []
        for (text,), x in zip(streams, sides, strict=True):
            parts = [group.explain(x, y) for group in self._layout.groups]
            row = np.concatenate([part.values for part in parts])
            if self._layout.columns is not None:
                row = row[self._layout.columns]
            detail = ReferenceExplanation(
                text=text,
                score=float(self._scores(row[None], x, y, FIRST, FIRST)[0]),
                features=tuple(feature for part in parts for feature in part.features),
                reference=tuple(x.tokens(0)),
                hypothesis=tuple(y.tokens(0)),
                covering=next((part.covering for part in parts if part.covering is not None), None),
            )
            rows.append(row)
            details.append(self._layout.combination.explain(row, self.features, detail))
        scores = np.array([[detail.score] for detail in details])
        score, _ = self._layout.combination.over_references(scores, np.stack(rows)[:, None])
        return Explanation(
            self.id, self.result_signature(streams), float(score[0]), hypothesis, tuple(details)
        )

    def explain_words(self, hypotheses: Sequence[str], reference: str) -> list[ReferenceExplanation | None]:
        """Of each explanation only the first links between words, without a score; None where `explain` is needed."""
        from tesla_eval.base.explanations import ReferenceExplanation  # not before something is explained

        if type(self).explain is not FeatureMetric.explain:
            return [None] * len(hypotheses)
        x, *sides = self.analysis.analyse([reference], *([text] for text in hypotheses))
        shared = tuple(x.tokens(0))
        details: list[ReferenceExplanation | None] = []
        for y in sides:
            linked = next(filter(None, (group.explain_words(x, y) for group in self._layout.groups)), None)
            details.append(
                None if linked is None else
                ReferenceExplanation(reference, nan, (linked,), shared, tuple(y.tokens(0)))
            )  # fmt: skip
        return details

    def _prepare(self, batch: Any) -> list[Any]:
        return [group.prepare(batch) for group in self._layout.groups]

    def _compare(self, reference: list[Any], hypothesis: list[Any], i: Index, j: Index) -> FloatArray:
        """The features of pairs of prepared texts: one row per pair, one column per feature."""
        return self._joined(
            [
                group.compare(x, y, i, j)
                for group, x, y in zip(self._layout.groups, reference, hypothesis, strict=True)
            ]
        )

    def _joined(self, columns: Sequence[FloatArray]) -> FloatArray:
        """The groups' features side by side, in the order of the combination."""
        rows = columns[0] if len(columns) == 1 else np.column_stack(columns)
        return rows if self._layout.columns is None else np.asarray(rows[:, self._layout.columns])

    def _scores(self, rows: FloatArray, reference: Any, hypothesis: Any, i: Index, j: Index) -> FloatArray:
        """The score of each pair, by the rule for texts without tokens where there are none (specification §5)."""
        if not (reference.has_empty_text or hypothesis.has_empty_text):
            return self._layout.combination.score(rows)
        no_reference, no_hypothesis = reference.lengths[i] == 0, hypothesis.lengths[j] == 0
        lacking = no_reference | no_hypothesis
        scores = np.full(len(rows), self._layout.combination.lowest)
        scores[~lacking] = self._layout.combination.score(rows[~lacking])
        for k in np.nonzero(no_reference & no_hypothesis)[0].tolist():
            if same_text(reference.texts[i[k]], hypothesis.texts[j[k]]):
                scores[k] = self._layout.combination.equal_texts
        return scores


def _are_texts(references: Sequence[str], hypothesis: str) -> TypeGuard[list[str]]:
    """Whether this is a list of texts and one text: nothing that must be converted or refused."""
    return (
        type(references) is list and len(references) > 0
        and type(hypothesis) is str and all(type(text) is str for text in references)
    )  # fmt: skip


def _differing(declaration: FeatureGroup | Combination) -> dict[str, str]:
    """The options of a group or combination that are not the default of their field, as signatures write them."""
    values = options_of(declaration)
    spelled = spelled_options(declaration)
    return {
        one.name: text
        for one in fields(declaration)  # type: ignore[arg-type]  # dataclasses by contract
        if one.name in spelled and (text := name_of(values[one.name])) != name_of(one.default)
    }
