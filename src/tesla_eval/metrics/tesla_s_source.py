"""How far the source supports a summary, sentence by sentence (specification §10, beyond the papers)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from tesla_eval._core import Bags
from tesla_eval.base.arrays import FloatArray, Index
from tesla_eval.base.errors import InputError, UsageError
from tesla_eval.base.explanations import Contradiction, ReferenceExplanation, SentenceSupport
from tesla_eval.base.records import Signature, Span
from tesla_eval.base.version import __version__
from tesla_eval.language.analysis import AnalysedBatch, choose_analysis, split_sentences
from tesla_eval.language.analysis.batch import WordMap
from tesla_eval.language.analysis.conllu import UNIVERSAL_IDS
from tesla_eval.metrics.base import Metric
from tesla_eval.metrics.contradictions.finder import CONTRADICTIONS, ContradictionFinder, Marks, unshared
from tesla_eval.metrics.features.ngrams import SourceGroup
from tesla_eval.metrics.features.vectors import VectorGroup
from tesla_eval.metrics.results import Explanation, SegmentScores
from tesla_eval.metrics.segments import References, distinct_texts

_PAIRS_AT_ONCE = 1 << 16  # of sentences: more would keep other threads waiting
CLOSE = 0.5
"""Only a source sentence that has so much of a sentence can contradict it."""
_DENIALS = ("scope", "antonym", "roles")
_DENIAL_COLUMNS = [CONTRADICTIONS.index(kind) for kind in _DENIALS]
_INSIDE_WORDS = re.compile(r"(?<=\w)[^\w\s'’.,](?=\w)|(?<=[^\W\d])[.,](?=\w)|(?<=\w)[.,](?=[^\W\d])")
_CUT_NUMBER = re.compile(r"(?<!\d)(\d{1,3})(?:(,) (\d{3})|(\.) (\d\d?))(?!\d)", re.ASCII)
_PROPER = UNIVERSAL_IDS["PROPN"]


@dataclass(frozen=True)
class SourceEvidence:
    """What the sentences of all summaries find in their sources: one entry per sentence."""

    summary: Index
    spans: Sequence[Span]
    worded: npt.NDArray[np.bool_]
    """Whether the sentence has words: others do not count."""
    words: FloatArray
    pairs: FloatArray
    unknown: npt.NDArray[np.bool_]
    contradicted: npt.NDArray[np.bool_]
    closest: Index
    """The number of the source sentence that has most of the words and pairs, among all sentences of all sources."""
    source_spans: Sequence[Span]
    tokens: AnalysedBatch
    absent: npt.NDArray[np.bool_]
    """For each token of `tokens` whether the source lacks its form."""
    doubtful: npt.NDArray[np.bool_]
    """For each token whether it is a name or a number that the source has not."""

    def scores(self, pair_share: float, doubted: float) -> FloatArray:
        """The support of each sentence; `TeslaSSource` says what the two numbers mean."""
        support = self.words * (1 - pair_share * (1 - self.pairs))
        doubts = np.where(self.unknown, doubted, 1.0) * np.where(self.contradicted, doubted, 1.0)
        return np.asarray(support * doubts * self.worded)


class TeslaSSource(Metric):
    """How much of a summary its source supports: the mean over the sentences of the summary. Needs no model.

    A sentence has the share of its words that the source has, similar words included. Up to `pair_share` of it depends
    on its skip bigrams. A sentence with a name or number that the source has not keeps `doubted` of its support, and so
    does one that the closest source sentence contradicts.

    >>> metric = TeslaSSource()
    >>> source = "On Monday a storm hit Portugal. Twelve roads were closed."
    >>> texts = "A storm hit Portugal.", "A storm hit Spain.", "Twenty roads were closed.", "No storm hit Portugal."
    >>> [round(metric.sentence_score(text, sources=source).score, 2) for text in texts]
    [1.0, 0.35, 0.34, 0.44]
    """

    id: ClassVar[str] = "tesla-s-source"
    needs_references: ClassVar[bool] = False
    uses_source: ClassVar[bool] = True
    feature_names = ("words", "pairs", "known", "consistent")
    sections: ClassVar[Mapping[str, str]] = {"pair_share": "§10", "doubted": "§10"}

    def __init__(
        self, lang: str = "en", *, pair_share: float = 0.25, doubted: float = 0.5, workers: int = 1
    ) -> None:
        if not (0 <= pair_share <= 1 and 0 <= doubted <= 1):
            raise UsageError(f"{self.id}: pair_share and doubted lie between 0 and 1")
        self.pair_share, self.doubted = pair_share, doubted
        self.analysis = choose_analysis(lang, None, None)
        self.lang = self.analysis.signature["lang"]
        self.workers = workers
        vectors = VectorGroup(measures=("p",)).bind(self.analysis)
        self._words = vectors or SourceGroup(discount=1.0).bind(self.analysis)
        self._pairs = SourceGroup().bind(self.analysis)
        self._contradictions = ContradictionFinder(self.lang)
        self._capitals = WordMap(lambda form: int(form[:1].isupper()))

    def get_signature(self) -> Signature:
        """Name, version, language and resources."""
        return Signature(
            {
                "metric": self.id, "version": __version__, **self.analysis.signature,
                **self._words.signature, **self._contradictions.signature,
            }
        )  # fmt: skip

    def score_segments(
        self, hypotheses: Sequence[str], references: References = (), sources: Sequence[str] | None = None
    ) -> SegmentScores:
        """The support of each summary; references are not looked at."""
        evidence = self.evidence(hypotheses, needed_sources(self.id, hypotheses, sources))
        counts = np.maximum(np.bincount(evidence.summary, evidence.worded, len(hypotheses)), 1)
        columns = (
            evidence.scores(self.pair_share, self.doubted), evidence.words, evidence.pairs, ~evidence.unknown,
            ~evidence.contradicted,
        )  # fmt: skip
        sums = (
            np.bincount(evidence.summary, column * evidence.worded, len(hypotheses)) for column in columns
        )
        scores, *features = (column / counts for column in sums)
        return SegmentScores(scores, np.column_stack(features))

    def evidence(self, hypotheses: Sequence[str], sources: Sequence[str]) -> SourceEvidence:
        """Analyse all texts once and look for the words, pairs, names and numbers of every sentence in its source."""
        wholes, whole_of = distinct_texts(sources)
        spans = [(k, span) for k, text in enumerate(hypotheses) for span in split_sentences(text, self.lang)]
        inner = [(k, span) for k, text in enumerate(wholes) for span in split_sentences(text, self.lang)]
        texts, sides = ([pieces(text) for text in side] for side in (hypotheses, wholes))
        y, x, z = self.analysis.analyse(
            [texts[k][slice(*span)] for k, span in spans],
            sides,
            [sides[k][slice(*span)] for k, span in inner],
        )
        summary = np.array([k for k, _ in spans], np.int64)
        source, every = whole_of[summary], np.arange(len(spans))
        words = self._words.compare(self._words.prepare(x), self._words.prepare(y), source, every)[:, 0]
        own = self._pairs.prepare(y)
        pairs = self._pairs.compare(self._pairs.prepare(x), own, source, every)[:, 1]
        parts_of = np.searchsorted([k for k, _ in inner], np.arange(len(wholes) + 1))
        closest, closeness = self._closest(self._pairs.prepare(z), own, source, parts_of)
        near = np.flatnonzero(closeness >= CLOSE)
        marks = self._contradictions.prepare(y)
        kinds = self._contradictions.compare(self._contradictions.prepare(z), marks, closest[near], near)
        contradicted = np.zeros(len(spans), np.bool_)
        contradicted[near] = kinds[:, _DENIAL_COLUMNS].any(axis=1)
        absent, doubtful = self._missing(marks, self._contradictions.prepare(x), source)
        return SourceEvidence(
            summary, [span for _, span in spans], y.lengths > 0, np.nan_to_num(words),
            np.nan_to_num(np.where(y.lengths == 1, words, pairs)),
            np.bincount(np.repeat(every, y.lengths), doubtful, len(spans)) > 0, contradicted,
            closest, [span for _, span in inner], y, absent, doubtful,
        )  # fmt: skip

    def _closest(
        self, parts: Bags, sentences: Bags, source: Index, parts_of: Index
    ) -> tuple[Index, FloatArray]:
        """For each sentence the part of its source with most of its words and pairs, and how much that is; −1: none.

        The parts of source k are numbered from `parts_of[k]` up to `parts_of[k + 1]`.
        """
        counts = np.diff(parts_of)[source]
        before = np.cumsum(counts) - counts
        closest, closeness = np.full(len(source), -1), np.full(len(source), -1.0)
        ends_of_blocks = np.flatnonzero(np.diff(before // _PAIRS_AT_ONCE)) + 1
        for block in np.split(np.arange(len(source)), ends_of_blocks):
            owner = np.repeat(block, counts[block])
            first_part = parts_of[source[block]] - before[block] + before[block[:1]]
            part = np.arange(len(owner)) + np.repeat(first_part, counts[block])
            shares = np.nan_to_num(self._pairs.compare(parts, sentences, part, owner)).mean(axis=1)
            ranked = np.lexsort((part, -shares, owner))
            present, first = np.unique(owner[ranked], return_index=True)
            closest[present], closeness[present] = part[ranked[first]], shares[ranked[first]]
        return closest, closeness

    def _missing(
        self, sentences: Marks, sources: Marks, source: Index
    ) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
        """For each token whether its source lacks its form, and whether it is a name or a number without an equal."""
        y, x = sentences.batch, sources.batch
        at_y, at_x = np.repeat(source, y.lengths), np.repeat(np.arange(len(x)), x.lengths)
        absent = unshared(at_y, y.lowered, at_x, x.lowered)[0]
        values = np.concatenate([sentences.value, sources.value])
        ids = np.unique(values, return_inverse=True)[1].reshape(-1).astype(np.uint32)
        spoken, numbers = sentences.number > 1, sources.number > 0
        lone = np.zeros(len(absent), np.bool_)
        lone[spoken] = unshared(
            at_y[spoken], ids[: len(absent)][spoken], at_x[numbers], ids[len(absent) :][numbers]
        )[0]
        name = (y.universal == _PROPER) & self._capitals.of(y).astype(np.bool_)
        name[y.offsets[:-1][y.lengths > 0]] = False  # any word has a capital there
        return absent, lone | (name & absent)

    def explain(
        self, hypothesis: str, references: Sequence[str] = (), sources: str | None = None
    ) -> Explanation:
        """For each sentence: its support, the closest sentence of the source, and what contradicts it."""
        (source,) = needed_sources(self.id, [hypothesis], None if sources is None else [sources])
        evidence = self.evidence([hypothesis], [source])
        scores = evidence.scores(self.pair_share, self.doubted)
        sentences = []
        for k in np.flatnonzero(evidence.worded).tolist():
            start, end = evidence.spans[k]
            closest = evidence.source_spans[evidence.closest[k]] if evidence.closest[k] >= 0 else (0, 0)
            text, nearest = hypothesis[start:end], source[slice(*closest)]
            tokens = slice(evidence.tokens.offsets[k], evidence.tokens.offsets[k + 1])
            starts, ends = (
                start + side[tokens].astype(np.int64) for side in (evidence.tokens.start, evidence.tokens.end)
            )
            unsupported, unknown = (
                tuple(zip(starts[mask[tokens]].tolist(), ends[mask[tokens]].tolist(), strict=True))
                for mask in (evidence.absent, evidence.doubtful)
            )
            contradictions = self._denials(nearest, text) if evidence.contradicted[k] else ()
            sentences.append(
                SentenceSupport(
                    text, start, float(scores[k]), float(evidence.words[k]), float(evidence.pairs[k]), unsupported,
                    unknown, nearest, closest, contradictions,
                )
            )  # fmt: skip
        score = float(self.score_segments([hypothesis], sources=[source]).scores[0])
        detail = ReferenceExplanation(text=source, score=score, support=tuple(sentences))
        return Explanation(self.id, self.get_signature(), score, hypothesis, (detail,))

    def _denials(self, source: str, sentence: str) -> tuple[Contradiction, ...]:
        sides = (
            self._contradictions.prepare(side)
            for side in self.analysis.analyse([pieces(source)], [pieces(sentence)])
        )
        return tuple(
            one for one in self._contradictions.explain(*sides) if one.kind in ("negation", *_DENIALS)
        )

    def pairwise(self, hypotheses: Sequence[str], references: Sequence[str]) -> FloatArray:
        """Refused: references say nothing about the source."""
        raise UsageError(f"{self.id} compares summaries with their source, not with each other")


def needed_sources(metric: str, hypotheses: Sequence[str], sources: Sequence[str] | None) -> Sequence[str]:
    """The sources, one per summary; an error says how to give them where they are missing."""
    if sources is None:
        raise UsageError(
            f"{metric} needs the source texts",
            hint="give a file with -s to score, compare, explain, report, stress or rerank; a table has them in a "
            "column src, a summary in a field 'source'; in Python, pass sources=",
        )
    if len(sources) != len(hypotheses):
        raise InputError(f"{len(hypotheses)} hypotheses, but {len(sources)} sources")
    return sources


def pieces(text: str) -> str:
    """The text with `20-year-old` in pieces and `1, 600` in one, for texts differ in that; its length stays."""
    return _CUT_NUMBER.sub(r"\1\2\3\4\5 ", _INSIDE_WORDS.sub(" ", text))
