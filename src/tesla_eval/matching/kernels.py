"""The compiled parts that packages beside this one use. Their names and meanings are kept as public names are.

`tesla_eval_papers` parses trees, tunes decoders and overlaps n-grams with them, `tesla_eval_neural` encodes and matches
states of pieces. Nothing outside `tesla_eval` imports the compiled module itself.
"""

from tesla_eval._core import (
    GUARD_FEATURES,
    MOST_PIECES,
    MOST_SPAN_LABELS,
    SPAN_FEATURES,
    STATE_PROBLEMS,
    CandidateTable,
    CharacterMap,
    PivotBags,
    SpanGrammar,
    SpanParser,
    SpanTrainer,
    StateEncoder,
    StateTexts,
    WordPieceCutter,
    best_span_tree,
    explain_states,
    match_states,
    ngram_overlap,
    span_word_key,
)

__all__ = [
    "GUARD_FEATURES", "MOST_PIECES", "MOST_SPAN_LABELS", "SPAN_FEATURES", "STATE_PROBLEMS", "CandidateTable",
    "CharacterMap", "PivotBags", "SpanGrammar", "SpanParser", "SpanTrainer", "StateEncoder", "StateTexts",
    "WordPieceCutter", "best_span_tree", "explain_states", "match_states", "ngram_overlap", "span_word_key",
]  # fmt: skip
