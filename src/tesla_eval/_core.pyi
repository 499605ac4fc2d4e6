"""The C++ core of tesla-eval: text to tokens, tokens to bags, bags to the exact optimum.

Written by hand, because arrays deserve their types; tests/house/test_core_stub.py keeps it in step with the module.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypedDict, overload

import numpy as np
import numpy.typing as npt

from tesla_eval.base.errors import InputError

class StopToken:
    def __init__(self) -> None: ...
    def watch(self) -> None: ...
    def stop(self) -> None: ...

MAX_LABELS: int
MTEVAL_UNICODE: str
TAGGER_FEATURES: int

class Segmenter:
    def __init__(
        self,
        feature_deltas: npt.NDArray[np.uint32],
        feature_places: npt.NDArray[np.uint8],
        weights: npt.NDArray[np.int8],
        transitions: npt.NDArray[np.int16],
        word_deltas: npt.NDArray[np.uint32],
        variants: npt.NDArray[np.uint32],
    ) -> None: ...

class SegmenterTrainer:
    def __init__(self) -> None: ...
    def add_word(self, word: str) -> None: ...
    def add_text(self, text: str, words: Sequence[tuple[int, int]]) -> None: ...
    def prepare(self, min_count: int) -> None: ...
    def run_epoch(self, seed: int, margin: int) -> int: ...
    def quantised(self, scale: float, min_weight: int) -> dict[str, npt.NDArray[Any]]: ...

class Tokeniser:
    def __init__(self, language: str, segmenter: Segmenter | None = None) -> None: ...
    @staticmethod
    def from_table(table: str) -> Tokeniser: ...
    def spans(self, text: str) -> list[tuple[int, int]]: ...
    def count(self, text: str) -> int: ...
    @staticmethod
    def languages() -> list[str]: ...

def script_of(letter: int) -> str: ...

class SpelledTexts:
    def __init__(self, texts: bytes) -> None: ...
    def of_script(self, script: str) -> SpelledTexts: ...
    def letters_by_script(self) -> dict[str, int]: ...
    def letters(self) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.int64]]: ...
    def word_hashes(self) -> npt.NDArray[np.uint16]: ...
    def ngram_buckets(self, bits: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]: ...
    def weigh(self, weights: npt.NDArray[np.int8]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]: ...

class Tagger:
    def __init__(
        self,
        labels: int,
        feature_deltas: npt.NDArray[np.uint32],
        row_lengths: npt.NDArray[np.uint8],
        row_labels: npt.NDArray[np.uint8],
        row_weights: npt.NDArray[np.int8],
        suffix_deltas: npt.NDArray[np.uint32],
        suffix_classes: npt.NDArray[np.uint8],
    ) -> None: ...
    def tag(self, forms: Sequence[str]) -> list[int]: ...
    def measure_speed(self, sentences: Sequence[Sequence[str]], repeats: int = 1) -> tuple[float, float]: ...

class TaggerTrainer:
    def __init__(self, universal_of: Sequence[int]) -> None: ...
    def set_lexicon(self, suffixes: Sequence[str], classes: Sequence[int]) -> None: ...
    def add_sentence(self, forms: Sequence[str], gold: Sequence[int]) -> None: ...
    def prepare(self, min_count: int) -> None: ...
    def run_epoch(self, seed: int, margin: int) -> int: ...
    def quantised(self, scale: float, min_weight: int) -> dict[str, npt.NDArray[Any]]: ...

def types_in(objects: list[Any]) -> set[type]: ...

class Lexicon:
    def __init__(self, tagger: Tagger | None) -> None: ...
    @property
    def word_count(self) -> int: ...
    def forms(self, words: npt.NDArray[np.uint32]) -> list[str]: ...
    def lemma(self, lemma: int) -> str: ...
    def lemmas(self, lemmas: npt.NDArray[np.uint32]) -> list[str]: ...
    def senses(self, lemma: int) -> list[int]: ...
    def intern_words(self, words: Sequence[str]) -> npt.NDArray[np.uint32]: ...
    def intern_lemmas(
        self, lemmas: Sequence[str], sense_offsets: npt.NDArray[np.int64], senses: npt.NDArray[np.uint32]
    ) -> npt.NDArray[np.uint32]: ...
    def define_words(
        self,
        words: npt.NDArray[np.uint32],
        lemmas: npt.NDArray[np.uint32],
        parts: Sequence[Sequence[tuple[int, int, int]]],
    ) -> None: ...

class CharacterMap:
    def __init__(
        self, of_character: Callable[[str], tuple[str | None, int]], of_word: Callable[[str], str]
    ) -> None: ...

class WordWeights:
    def __init__(self, words: str, weights: npt.NDArray[np.float64], unlisted: float) -> None: ...
    def of(self, words: Sequence[str]) -> npt.NDArray[np.float64]: ...

class WordFacts:
    def __init__(self, lexicon: Lexicon, lowering: CharacterMap, weights: WordWeights | None) -> None: ...
    def of(
        self, batch: TokenBatch
    ) -> tuple[
        npt.NDArray[np.uint32], npt.NDArray[np.uint8], npt.NDArray[np.float64], npt.NDArray[np.float64]
    ]: ...

class Labels:
    def __init__(
        self,
        tags: npt.NDArray[np.uint16],
        universal: npt.NDArray[np.uint8],
        function: npt.NDArray[np.uint8],
        noun: npt.NDArray[np.uint8],
    ) -> None: ...

class Analyser:
    def __init__(
        self,
        lexicon: Lexicon,
        tokeniser: Tokeniser,
        lemmas: PlainLemmas | None,
        senses: SenseIndex | None,
        define: Callable[[npt.NDArray[np.uint32]], object],
        labels: Labels,
        keep_punctuation: bool,
        compose: Callable[[str], str],
    ) -> None: ...
    def analyse(self, groups: list[Sequence[str]], keep_punctuation: bool) -> list[TokenBatch]: ...
    def forget_recent(self) -> None: ...

class WordMarks:
    def __init__(
        self,
        listed: dict[str, int],
        asked_traits: int,
        asked_beginning: str,
        ask: Callable[[list[str]], list[int]],
    ) -> None: ...

PARTICLE: int
NEGATIVE_WORD: int
NEGATED_VERB: int
TAKES_BACK: int
MARKUP: int

class CriticalWords:
    def __init__(
        self,
        lexicon: Lexicon,
        lowering: CharacterMap,
        numbers: WordMarks,
        negations: WordMarks,
        knows_negations: bool,
        verb_tags: Sequence[int],
    ) -> None: ...
    def numbers(self, batch: TokenBatch) -> npt.NDArray[np.uint32]: ...
    def negations(self, batch: TokenBatch) -> npt.NDArray[np.uint8]: ...

class TokenBatch:
    def __init__(
        self,
        offsets: npt.NDArray[np.int64],
        word: npt.NDArray[np.uint32],
        lemma: npt.NDArray[np.uint32],
        tag: npt.NDArray[np.uint16],
        universal: npt.NDArray[np.uint8],
        function: npt.NDArray[np.uint8],
        start: npt.NDArray[np.uint32],
        end: npt.NDArray[np.uint32],
        texts: Sequence[str],
    ) -> None: ...
    @property
    def texts(self) -> tuple[str, ...]: ...
    @property
    def has_empty_text(self) -> bool: ...
    @property
    def offsets(self) -> npt.NDArray[np.int64]: ...
    @property
    def word(self) -> npt.NDArray[np.uint32]: ...
    @property
    def lemma(self) -> npt.NDArray[np.uint32]: ...
    @property
    def tag(self) -> npt.NDArray[np.uint16]: ...
    @property
    def universal(self) -> npt.NDArray[np.uint8]: ...
    @property
    def function(self) -> npt.NDArray[np.uint8]: ...
    @property
    def start(self) -> npt.NDArray[np.uint32]: ...
    @property
    def end(self) -> npt.NDArray[np.uint32]: ...

class FrontCodedDictionary:
    def __init__(self, stream: bytes) -> None: ...
    def get(self, key: str) -> str | None: ...
    def __len__(self) -> int: ...

class DamagedDictionaryError(ValueError): ...

class SenseIndex:
    def __init__(
        self,
        keys: npt.NDArray[np.uint32],
        text: npt.NDArray[np.uint8],
        text_ends: npt.NDArray[np.int64],
        id_ends: npt.NDArray[np.int64],
        ids: npt.NDArray[np.uint32],
    ) -> None: ...
    def lookup(self, lemmas: Sequence[str]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint32]]: ...

class PlainLemmas:
    def __init__(
        self,
        forms: Sequence[str],
        form_edits: Sequence[str],
        suffixes: Sequence[str],
        suffix_edits: Sequence[str],
        dictionary: FrontCodedDictionary | None,
        open_ends: Sequence[str] | None,
        numbers_are_lemmas: bool,
        english: bool = False,
    ) -> None: ...
    def lookup(self, words: Sequence[str]) -> list[str | None]: ...

def define_plain(
    lexicon: Lexicon, words: npt.NDArray[np.uint32], lemmas: PlainLemmas, senses: SenseIndex | None
) -> npt.NDArray[np.uint32]: ...

class NgramEstimator:
    def __init__(
        self, order: int, vocabulary: int, thresholds: Sequence[int], folder: str, memory: int
    ) -> None: ...
    def add(self, offsets: npt.NDArray[np.int64], words: npt.NDArray[np.uint32]) -> None: ...
    def adjust_counts(self, progress: Callable[[int], object]) -> None: ...
    def count_of_counts(self, n: int) -> list[int]: ...
    def ngrams(self, n: int) -> int: ...
    def estimate(self, n: int, discounts: Sequence[float], progress: Callable[[int], object]) -> None: ...
    def join_backoffs(self, progress: Callable[[int], object]) -> None: ...
    def kept(self, n: int) -> int: ...
    def read(
        self, n: int, start: int, count: int
    ) -> tuple[
        npt.NDArray[np.uint32], npt.NDArray[np.uint32], npt.NDArray[np.float64], npt.NDArray[np.float64]
    ]: ...

class NgramModel:
    def __init__(
        self,
        words: Sequence[npt.NDArray[np.uint32]],
        log_probabilities: Sequence[npt.NDArray[np.float32]],
        children: Sequence[npt.NDArray[np.uint32]],
        least_left: float,
    ) -> None: ...
    @property
    def order(self) -> int: ...
    @property
    def vocabulary(self) -> int: ...
    def score(
        self, offsets: npt.NDArray[np.int64], words: npt.NDArray[np.uint32]
    ) -> npt.NDArray[np.float64]: ...
    def score_words(
        self, offsets: npt.NDArray[np.int64], words: npt.NDArray[np.uint32]
    ) -> npt.NDArray[np.float64]: ...
    def distribution(self, context: Sequence[int]) -> npt.NDArray[np.float64]: ...

def ngram_overlap(
    x_offsets: npt.NDArray[np.int64],
    x_words: npt.NDArray[np.uint32],
    y_offsets: npt.NDArray[np.int64],
    y_words: npt.NDArray[np.uint32],
    x_index: npt.NDArray[np.int64],
    y_index: npt.NDArray[np.int64],
    longest: int,
) -> npt.NDArray[np.int64]: ...

class Tokens:
    @overload
    def __init__(self, batch: TokenBatch) -> None: ...
    @overload
    def __init__(
        self,
        offsets: npt.NDArray[np.int64],
        lemma: npt.NDArray[np.uint32],
        tag: npt.NDArray[np.uint16],
        function: npt.NDArray[np.uint8],
    ) -> None: ...

class Discount:
    def __init__(self, p: int, q: int) -> None: ...

class TextTooLongError(InputError): ...

class BagRecipe:
    def __init__(self, features: Sequence[tuple[str, int]], discount: Discount) -> None: ...

class Bags:
    def __init__(self, lexicon: Lexicon, tokens: Tokens, recipe: BagRecipe) -> None: ...
    def __len__(self) -> int: ...

@overload
def match(
    reference: Bags,
    hypothesis: Bags,
    reference_index: npt.NDArray[np.int64],
    hypothesis_index: npt.NDArray[np.int64],
    alpha: float,
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], npt.NDArray[np.float64]]: ...
@overload
def match(
    reference: PivotBags,
    hypothesis: PivotBags,
    reference_index: npt.NDArray[np.int64],
    hypothesis_index: npt.NDArray[np.int64],
    alpha: float,
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], npt.NDArray[np.float64]]: ...

class WordTexts:
    @staticmethod
    def by_sacrebleu(texts: list[str], tokeniser: str) -> WordTexts: ...
    @staticmethod
    def by_rouge_score(texts: list[str], stem: bool) -> WordTexts: ...
    @staticmethod
    def by_tokeniser(texts: list[str], tokeniser: Tokeniser) -> WordTexts: ...
    def __len__(self) -> int: ...
    def words(self) -> list[str]: ...
    def replace_words(self, forms: list[str]) -> None: ...

def count_bleu(
    texts: WordTexts,
    hypotheses: npt.NDArray[np.int64],
    references: npt.NDArray[np.int64],
    max_order: int,
) -> npt.NDArray[np.float64]: ...
def score_bleu(
    rows: npt.NDArray[np.float64],
    smoothing: str,
    smoothing_value: float,
    effective_order: bool,
    corrected_sum: bool,
) -> npt.NDArray[np.float64]: ...
def match_rouge(
    sentences: WordTexts,
    sentence_offsets: npt.NDArray[np.int64],
    hypotheses: npt.NDArray[np.int64],
    references: npt.NDArray[np.int64],
    kind: str,
    measure: int,
) -> npt.NDArray[np.float64]: ...
def count_edits(hypothesis: npt.NDArray[np.uint32], reference: npt.NDArray[np.uint32]) -> int: ...
def porter_stem(word: str, nltk: bool) -> str: ...

class CharacterBags:
    def __init__(self, texts: list[str]) -> None: ...
    def __len__(self) -> int: ...

def count_characters(
    reference: CharacterBags,
    hypothesis: CharacterBags,
    reference_index: npt.NDArray[np.int64],
    hypothesis_index: npt.NDArray[np.int64],
    max_order: int,
) -> npt.NDArray[np.int64]: ...

SURFACE_FEATURES: tuple[str, ...]

GUARD_FEATURES: tuple[str, ...]

class VectorTable:
    def __init__(
        self,
        entries: npt.NDArray[np.uint8],
        vectors: npt.NDArray[np.int8],
        dimensions: int,
        pieces: bool,
    ) -> None: ...
    def __len__(self) -> int: ...
    def look_up(self, words: list[str]) -> npt.NDArray[np.int8]: ...
    def segment(self, word: str) -> list[int]: ...

VECTOR_PROBLEMS: tuple[str, ...]

class WordVectors:
    def __init__(self, table: VectorTable, as_entries: CharacterMap, facts: WordFacts) -> None: ...
    def of(
        self, batch: TokenBatch
    ) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32], npt.NDArray[np.int8]]: ...

class VectorTexts:
    def __init__(self, batch: TokenBatch, vectors: WordVectors) -> None: ...
    @property
    def total_weight(self) -> int: ...
    def __len__(self) -> int: ...

def match_vectors(
    reference: VectorTexts,
    hypothesis: VectorTexts,
    reference_index: npt.NDArray[np.int64],
    hypothesis_index: npt.NDArray[np.int64],
    alpha: float,
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], npt.NDArray[np.float64]]: ...
def explain_vectors(
    reference: TokenBatch, hypothesis: TokenBatch, vectors: WordVectors
) -> npt.NDArray[np.int64]: ...

class PreparedTexts:
    def compare(
        self,
        hypothesis: PreparedTexts,
        reference_index: npt.NDArray[np.int64],
        hypothesis_index: npt.NDArray[np.int64],
    ) -> npt.NDArray[np.float64]: ...
    def compare_both_ways(
        self, first: npt.NDArray[np.int64], second: npt.NDArray[np.int64]
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]: ...

class FeatureGroup:
    def prepare(self, batch: TokenBatch) -> PreparedTexts: ...
    def compare_segments(
        self,
        references: list[TokenBatch],
        hypothesis: TokenBatch,
        present: Sequence[npt.NDArray[np.int64] | None],
    ) -> list[npt.NDArray[np.float64]]: ...

class NgramGroup(FeatureGroup):
    def __init__(
        self,
        lexicon: Lexicon,
        form: str,
        facts: WordFacts | None,
        recipe: BagRecipe,
        alpha: float,
        measures: Sequence[str],
    ) -> None: ...

class CharacterGroup(FeatureGroup):
    def __init__(self, max_order: int, alpha: float, measures: Sequence[str]) -> None: ...

class SlidingGroup(FeatureGroup):
    def __init__(self, orders: int, growth: int, shortest: int, longest: int, alpha: float) -> None: ...

class SurfaceGroup(FeatureGroup):
    def __init__(self, facts: WordFacts) -> None: ...

class VectorGroup(FeatureGroup):
    def __init__(self, vectors: WordVectors, alpha: float, measures: Sequence[str]) -> None: ...

class GuardGroup(FeatureGroup):
    def __init__(self, words: CriticalWords) -> None: ...

class Combination: ...

class MeanCombination(Combination):
    def __init__(self) -> None: ...

class SignedCombination(Combination):
    def __init__(self, weights: Sequence[float], families: Sequence[int], clipped: bool) -> None: ...

class Scorer:
    def __init__(
        self,
        groups: list[FeatureGroup],
        columns: Sequence[int],
        names: tuple[str, ...],
        combination: Combination,
        lowest: float,
        equal: float,
        same: Callable[[str, str], bool],
    ) -> None: ...
    def score(
        self,
        references: list[TokenBatch],
        hypothesis: TokenBatch,
        present: Sequence[npt.NDArray[np.int64] | None],
    ) -> list[tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]]: ...
    def score_one(
        self, analyser: Analyser, hypothesis: str, references: list[str]
    ) -> tuple[float, dict[str, float]]: ...

def mean_over_references(rows: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]: ...

KERNELS: tuple[str, ...]

_Dense = tuple[npt.NDArray[np.int8], npt.NDArray[np.float32], npt.NDArray[np.float32]]

class WordPieceCutter:
    def __init__(
        self, vocabulary: str, unknown: int, prefix: str, longest_word: int, characters: CharacterMap
    ) -> None: ...
    def cut(
        self, texts: Sequence[str]
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint32], npt.NDArray[np.uint32]]: ...

class StateEncoder:
    def __init__(
        self,
        layers: int,
        dimensions: int,
        heads: int,
        inner: int,
        epsilon: float,
        begin: int,
        end: int,
        words: npt.NDArray[np.int8],
        word_scales: npt.NDArray[np.float32],
        places: npt.NDArray[np.float32],
        norms: npt.NDArray[np.float32],
        attention: _Dense,
        output: _Dense,
        inner_dense: _Dense,
        outer: _Dense,
    ) -> None: ...
    def encode(
        self, offsets: npt.NDArray[np.int64], pieces: npt.NDArray[np.uint32], kernel: str = ...
    ) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.int16]]: ...

STATE_PROBLEMS: tuple[str, ...]
LARGEST_MEAN: int
MOST_PIECES: int

class StateTexts:
    def __init__(
        self,
        offsets: npt.NDArray[np.int64],
        kinds: npt.NDArray[np.uint8],
        states: npt.NDArray[np.int8],
        means: npt.NDArray[np.int16],
        dimensions: int,
    ) -> None: ...
    def __len__(self) -> int: ...

def match_states(
    reference: StateTexts,
    hypothesis: StateTexts,
    reference_index: npt.NDArray[np.int64],
    hypothesis_index: npt.NDArray[np.int64],
    weights: npt.NDArray[np.uint32],
    threshold: float,
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], npt.NDArray[np.float64]]: ...
def state_gains_by_kind(
    reference: StateTexts,
    hypothesis: StateTexts,
    reference_index: npt.NDArray[np.int64],
    hypothesis_index: npt.NDArray[np.int64],
    kinds: int,
) -> npt.NDArray[np.float64]: ...
def explain_states(
    reference: StateTexts, hypothesis: StateTexts, threshold: float
) -> npt.NDArray[np.int64]: ...

class Explained(TypedDict):
    objective: int
    reference_weight: int
    hypothesis_weight: int
    gain_unit: int
    weight_unit: int
    measures: tuple[float, float, float]
    flow: npt.NDArray[np.int64]

def explain(
    lexicon: Lexicon,
    reference: Tokens,
    hypothesis: Tokens,
    similarity: str,
    n: int,
    discount: Discount,
    alpha: float,
    dense_cells: int = ...,
) -> Explained: ...
@overload
def solve_transport(
    supply: npt.NDArray[np.int64],
    demand: npt.NDArray[np.int64],
    rows: npt.NDArray[np.int64],
    columns: npt.NDArray[np.int64],
    gains: npt.NDArray[np.int64],
) -> tuple[int, npt.NDArray[np.int64]]: ...
@overload
def solve_transport(
    supply: npt.NDArray[np.float64],
    demand: npt.NDArray[np.float64],
    rows: npt.NDArray[np.int64],
    columns: npt.NDArray[np.int64],
    gains: npt.NDArray[np.int64],
) -> tuple[float, npt.NDArray[np.float64]]: ...
def unit_spans(text: str) -> list[tuple[int, int]]: ...
def unit_surfaces(text: str) -> list[str]: ...

class NgramVocabulary:
    def __init__(self) -> None: ...
    def __len__(self) -> int: ...

class CelabBatch:
    def __init__(
        self,
        vocabulary: NgramVocabulary,
        texts: list[list[str]],
        order: int,
        weights: list[npt.NDArray[np.float64]] | None = None,
    ) -> None: ...
    def __len__(self) -> int: ...
    def unknown(self) -> list[str]: ...
    def define(self, offsets: npt.NDArray[np.int64], categories: npt.NDArray[np.int32]) -> None: ...
    def solve(
        self, reference: npt.NDArray[np.int64], hypothesis: npt.NDArray[np.int64], limit: int
    ) -> npt.NDArray[np.float64]: ...
    def explain(self, reference: int, hypothesis: int, limit: int) -> Any: ...

class PhraseTable:
    def __init__(
        self,
        target_words: npt.NDArray[np.uint8],
        target_ends: npt.NDArray[np.uint32],
        pivot_words: npt.NDArray[np.uint8],
        pivot_ends: npt.NDArray[np.uint32],
        pivot_tags: npt.NDArray[np.uint8],
        node_word: npt.NDArray[np.uint32],
        node_child: npt.NDArray[np.uint32],
        node_count: npt.NDArray[np.uint32],
        node_option: npt.NDArray[np.uint32],
        option_phrase: npt.NDArray[np.uint32],
        option_count: npt.NDArray[np.uint32],
        phrase_ends: npt.NDArray[np.uint32],
        phrase_words: npt.NDArray[np.uint32],
        total: float,
    ) -> None: ...
    def look_up(self, phrase: Sequence[str]) -> tuple[int, list[tuple[tuple[str, ...], int]]]: ...

class PivotTokens:
    def __init__(
        self,
        offsets: npt.NDArray[np.int64],
        lemma: npt.NDArray[np.uint32],
        universal: npt.NDArray[np.uint8],
        function: npt.NDArray[np.uint8],
    ) -> None: ...

class PivotBags:
    def __init__(
        self,
        lexicon: Lexicon,
        table: PhraseTable,
        tokens: PivotTokens,
        features: Sequence[tuple[str, int, int]],
        discount: Discount,
        min_probability: float,
        min_ngram: float,
    ) -> None: ...
    def __len__(self) -> int: ...

def explain_pivot(
    lexicon: Lexicon,
    table: PhraseTable,
    tokens: PivotTokens,
    longest: int,
    min_probability: float,
    min_ngram: float,
) -> tuple[
    list[tuple[int, int, list[tuple[float, list[tuple[str, int, bool]]]]]],
    list[list[tuple[tuple[tuple[str, int], ...], int, float]]],
]: ...

class WordAligner:
    def __init__(self, target: Sequence[str], pivot: Sequence[str]) -> None: ...
    def __len__(self) -> int: ...
    def expect(self, start: int, stop: int, sequential: bool) -> None: ...
    def maximise(self, sequential: bool) -> None: ...
    def posteriors(
        self, pair: int, sequential: bool
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]: ...
    def directed_links(self, direction: int, start: int, stop: int, threshold: float) -> list[str]: ...
    @property
    def jump_weights(self) -> tuple[list[float], list[float]]: ...

class PhraseCounter:
    def __init__(self) -> None: ...
    def add_sentences(
        self, target: Sequence[str], pivot: Sequence[str], forward: Sequence[str], reverse: Sequence[str]
    ) -> None: ...
    def add_pairs(
        self, target: Sequence[str], pivot: Sequence[str], counts: npt.NDArray[np.uint32]
    ) -> None: ...
    @property
    def pending(self) -> int: ...
    def write_run(self, path: str) -> None: ...
    def merge(self, paths: Sequence[str], min_count: int, min_probability: float) -> dict[str, Any]: ...

def symmetrise(forward: str, reverse: str, target_size: int, pivot_size: int) -> list[tuple[int, int]]: ...
def extract_phrases(links: str, target_size: int, pivot_size: int) -> list[tuple[int, int, int, int]]: ...

class CandidateTable:
    def __init__(
        self,
        offsets: npt.NDArray[np.int64],
        features: npt.NDArray[np.float64],
        statistics: npt.NDArray[np.int64],
    ) -> None: ...
    def scores(self, weights: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]: ...
    def best(self, weights: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]: ...
    def cut(
        self,
        intercepts: npt.NDArray[np.float64],
        direction: npt.NDArray[np.float64],
        low: float,
        high: float,
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]: ...

SPAN_FEATURES: int
MOST_SPAN_LABELS: int

def span_word_key(form: str) -> int: ...
def best_span_tree(
    grammar: SpanGrammar,
    tags: npt.NDArray[np.uint8],
    span: npt.NDArray[np.float32],
    left: npt.NDArray[np.float32],
    right: npt.NDArray[np.float32],
    binary: npt.NDArray[np.float32],
    unary: npt.NDArray[np.float32],
    root: npt.NDArray[np.float32],
    beam: int,
) -> tuple[float, list[tuple[int, int, int, int]], int]: ...

class SpanGrammar:
    def __init__(
        self,
        tags: int,
        parents: int,
        label_top: npt.NDArray[np.uint8],
        label_bottom: npt.NDArray[np.uint8],
        is_partial: npt.NDArray[np.uint8],
        rule_parent: npt.NDArray[np.uint8],
        rule_left: npt.NDArray[np.uint8],
        rule_right: npt.NDArray[np.uint8],
        unary_parent: npt.NDArray[np.uint8],
        unary_tag: npt.NDArray[np.uint8],
    ) -> None: ...

class SpanParser:
    def __init__(
        self,
        grammar: SpanGrammar,
        feature_deltas: npt.NDArray[np.uint32],
        row_lengths: npt.NDArray[np.uint8],
        row_lanes: npt.NDArray[np.uint8],
        row_weights: npt.NDArray[np.int8],
        word_deltas: npt.NDArray[np.uint32],
        tag_kinds: npt.NDArray[np.uint8],
        tag_breaks: npt.NDArray[np.uint8],
        binary: npt.NDArray[np.int16],
        unary: npt.NDArray[np.int16],
        root: npt.NDArray[np.int16],
    ) -> None: ...
    def parse(
        self, forms: Sequence[Sequence[str]], tags: npt.NDArray[np.uint8], beam: int, longest: int
    ) -> tuple[
        npt.NDArray[np.int64],
        npt.NDArray[np.uint16],
        npt.NDArray[np.uint16],
        npt.NDArray[np.int16],
        npt.NDArray[np.uint16],
        npt.NDArray[np.uint8],
    ]: ...

class SpanTrainer:
    def __init__(self, grammar: SpanGrammar, vocabulary: Sequence[int], tag_kinds: Sequence[int]) -> None: ...
    def add_sentence(
        self, forms: Sequence[str], tags: npt.NDArray[np.uint8], nodes: npt.NDArray[np.int32]
    ) -> None: ...
    def run_epoch(self, seed: int, rate: float, cost: float, beam: int, min_updates: int) -> int: ...
    def select(self, count: int, restart: bool) -> None: ...
    @property
    def features(self) -> int: ...
    def quantised(self, scale: float, min_weight: int) -> dict[str, npt.NDArray[Any]]: ...
