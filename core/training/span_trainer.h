// Training of the span parser: structured hinge loss by AdaGrad, weights averaged over all steps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/flat_table.h"
#include "language/syntax/span_chart.h"
#include "language/syntax/span_features.h"

namespace tesla {

struct SpanTrainedArrays {  // as SpanWeights, owned
    std::vector<std::uint32_t> feature_deltas;
    std::vector<std::uint8_t> row_lengths, row_lanes;
    std::vector<std::int8_t> row_weights;
    std::vector<std::int16_t> binary, unary, root;
};

class SpanTrainer {
   public:
    SpanTrainer(SpanGrammar grammar, const std::vector<std::uint32_t>& vocabulary, std::vector<std::uint8_t> tag_kinds);

    SpanTrainer(const SpanTrainer&) = delete;
    SpanTrainer& operator=(const SpanTrainer&) = delete;

    // `nodes`: the binary tree in preorder.
    void add_sentence(const std::vector<std::string>& forms, const std::vector<std::uint8_t>& tags,
                      std::vector<SpanNode> nodes);

    // One pass over the sentences in an order drawn from `seed`; returns how many trees were wrong. A feature gets
    // weights from its `min_updates`-th update on, if it is not fixed which features there are (`select`).
    std::size_t run_epoch(std::uint64_t seed, float rate, float cost, std::size_t beam, std::uint32_t min_updates);

    // Keeps the `count` features with the largest averaged weights, and fixes them. The average starts anew; the weights
    // stay, or start from zero too (`restart`).
    void select(std::size_t count, bool restart);

    std::size_t features() const { return hashes_.size() - 1; }

    // The averaged weights in 8 bits at `scale` units per 1.0; weights below `min_weight` units are dropped.
    SpanTrainedArrays quantised(double scale, int min_weight) const;

   private:
    struct Scalar {
        float weight = 0, squares = 0, total = 0;
    };
    struct Example {
        SpanSentence sentence;
        std::vector<std::uint8_t> tags;
        std::vector<SpanNode> nodes;
    };
    static constexpr std::uint32_t kWaiting = 0x80000000u;
    static constexpr std::size_t kBlockRows = 4096, kRowFloats = 3 * kLaneCount;

    float* row(std::uint32_t number) const {
        return blocks_[number / kBlockRows].get() + (number % kBlockRows) * kRowFloats;
    }
    // The row of a feature; 0: none.
    std::uint32_t find(std::uint32_t hash) const {
        const std::uint32_t value = rows_.find(hash);
        return value & kWaiting ? 0 : value;
    }
    std::uint32_t new_row(std::uint32_t hash);
    void add_rows(const std::uint32_t* features, std::size_t count, float* out) const;
    void score(const SpanSentence& sentence);
    void sum_rules();
    void step(float& weight, float& squares, float& total, float gradient) const;
    void update_feature(std::uint32_t hash, std::size_t lane, float gradient);
    void update_node(const Example& example, const SpanNode& node, float gradient);
    void update_root(const std::vector<SpanNode>& nodes, float gradient);
    void add_cost(const Example& example, float cost);
    bool update_tree(const Example& example, const std::vector<SpanNode>& predicted);
    float tree_score(const Example& example, const std::vector<SpanNode>& nodes) const;
    int rule_number(const SpanNode& node) const;
    float averaged(float weight, float total) const { return weight - total / static_cast<float>(steps_ > 0 ? steps_ : 1); }

    SpanGrammar grammar_;
    SpanVocabulary vocabulary_;
    std::vector<std::uint8_t> tag_kinds_;
    std::vector<Example> examples_;
    FlatTable<0> rows_;  // of features: a row, or kWaiting + updates so far
    std::vector<std::uint32_t> hashes_;  // by row; row 0 is none
    std::vector<std::unique_ptr<float[]>> blocks_;
    std::vector<Scalar> binary_, unary_, root_, left_, right_;  // left_, right_: parent × symbol
    std::vector<int> rule_of_, unary_of_;
    RuleScores rules_;
    SpanScores scores_;
    Interrupt interrupt_;
    std::int64_t steps_ = 0;
    float rate_ = 0;
    std::uint32_t min_updates_ = 1;
    bool fixed_ = false;
};

}  // namespace tesla
