// core/language/syntax: tagged words to constituency trees (specification §16).
//
// A linear model of spans with 8-bit weights (here) over the features of span_features.h, decoded by CKY (span_chart.h).
// training/span_trainer.h learns the weights.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/array_view.h"
#include "base/fixed_table.h"
#include "language/syntax/span_chart.h"
#include "language/syntax/span_features.h"

namespace tesla {

// The weights of a model file. Hashes are stored as differences between sorted neighbours.
struct SpanWeights {
    ArrayView<std::uint32_t> feature_deltas;
    ArrayView<std::uint8_t> row_lengths;  // per feature: how many weights it has
    ArrayView<std::uint8_t> row_lanes;    // per weight: its label or parent
    ArrayView<std::int8_t> row_weights;
    ArrayView<std::uint32_t> word_deltas;  // hashes of the frequent words
    ArrayView<std::uint8_t> tag_kinds;     // per tag: what `SpanSentence` counts
    ArrayView<std::uint8_t> tag_breaks;    // per tag: 0, or how well a long sentence may be cut after it
    ArrayView<std::int16_t> binary, unary, root;
};

struct ParsedSentence {
    std::vector<SpanNode> nodes;
    std::size_t pieces = 1;
    bool cut = false;  // it was too long and parsed in parts
};

// Many sentences; the nodes of sentence i are those from offsets[i] to offsets[i + 1].
struct ParsedBatch {
    std::vector<std::int64_t> offsets;
    std::vector<std::uint16_t> start, end;  // of nodes
    std::vector<std::int16_t> label;
    std::vector<std::uint16_t> pieces;  // of sentences
    std::vector<std::uint8_t> cut;
};

class SpanParser {  // immutable, so that threads may share it
   public:
    // Throws std::invalid_argument for arrays that do not fit together.
    SpanParser(SpanGrammar grammar, const SpanWeights& weights);

    std::size_t tags() const { return grammar_.tags; }
    std::size_t labels() const { return grammar_.label_top.size(); }

    // Sentences longer than `longest` are cut, best after punctuation, and their parts parsed one by one.
    ParsedSentence parse(const std::vector<std::string>& forms, const std::vector<std::uint8_t>& tags, std::size_t beam,
                         std::size_t longest) const;
    // The same for many sentences; their tags lie one after the other.
    ParsedBatch parse_batch(const std::vector<std::vector<std::string>>& forms, const ArrayView<std::uint8_t>& tags,
                            std::size_t beam, std::size_t longest) const;

   private:
    void score(const SpanSentence& sentence, SpanScores& scores) const;
    void add_rows(const std::uint32_t* features, std::size_t count, float* out) const;
    std::size_t piece_end(const std::vector<std::uint8_t>& tags, std::size_t start, std::size_t longest) const;

    SpanGrammar grammar_;
    SpanVocabulary vocabulary_;
    std::vector<std::uint8_t> tag_kinds_, tag_breaks_;
    FixedTable rows_;
    std::vector<std::int8_t> weights_;  // rows of kLaneCount; row 0 is all zeros
    RuleScores rules_;
};

}  // namespace tesla
