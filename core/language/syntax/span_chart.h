// CKY over labelled spans: the best tree, given scores of labels, of split points and of rules.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/interrupt.h"

namespace tesla {

// Labels are chains of categories ("SBAR+S"); a label's top is what its parent's rule sees, its bottom is what expands.
// Symbols are tags, then categories. Parents are the bottoms.
struct SpanGrammar {
    std::size_t tags = 0, symbols = 0, parents = 0;
    std::vector<std::uint8_t> label_top, label_bottom;  // per label: a symbol, a parent
    std::vector<std::uint8_t> is_partial;               // per symbol: an unfinished constituent, which is no root
    std::vector<std::uint8_t> rule_parent, rule_left, rule_right;  // parent, symbol, symbol
    std::vector<std::uint8_t> unary_parent, unary_tag;             // parent over a tag

    // Throws std::invalid_argument for numbers out of range.
    void check() const;
};

struct SpanNode {
    std::uint16_t start = 0, end = 0, split = 0;  // split 0: no children
    std::int16_t label = -1;
    std::uint16_t left = 0, right = 0;  // symbols of the children
};

struct SpanScores {  // (n + 1)² rows of kLaneCount numbers, by (i, j)
    std::vector<float> span, left, right;
    std::size_t n = 0;
    void resize(std::size_t words);
    std::size_t row(std::size_t i, std::size_t j) const;
};

struct RuleScores {
    std::vector<float> binary, unary, root;  // by rule, by unary rule, by symbol
};

// Throws std::invalid_argument for scores and tags that do not fit the grammar and the sentence.
void check_scores(const SpanGrammar& grammar, const std::vector<std::uint8_t>& tags, const SpanScores& scores,
                  const RuleScores& rules);
// Refuses an invalid number of items per span.
void require_beam(std::size_t beam);

class SpanChart {
   public:
    explicit SpanChart(const SpanGrammar& grammar, std::size_t beam);

    // The nodes of the best tree in preorder, without bare words. If the grammar covers no whole tree, `pieces` trees
    // stand beside each other. Returns the score.
    float parse(const SpanScores& scores, const RuleScores& rules, const std::vector<std::uint8_t>& tags,
                std::vector<SpanNode>& nodes, std::size_t& pieces);

   private:
    struct Item {
        float score;
        std::int16_t label;  // -1: a bare word
        std::uint16_t split;
        std::uint8_t symbol, left, right;  // left, right: places in the children's cells
    };
    struct Entry {
        std::uint16_t rule;
        std::uint8_t parent;
    };
    struct Best {
        float score;
        std::uint16_t split;
        std::uint8_t left, right;
    };

    Item* cell(std::size_t i, std::size_t j) { return items_.data() + (i * (n_ + 1) + j) * beam_; }
    std::uint8_t& count(std::size_t i, std::size_t j) { return counts_[i * (n_ + 1) + j]; }
    void fill_word(std::size_t i, std::uint8_t tag, const SpanScores& scores, const RuleScores& rules);
    void fill_span(std::size_t i, std::size_t j, const SpanScores& scores, const RuleScores& rules);
    std::pair<float, std::size_t> best_root(const RuleScores& rules);
    void add_candidates(const float* labels);
    void keep_best(std::size_t i, std::size_t j);
    void emit(std::size_t i, std::size_t j, std::size_t place, std::vector<SpanNode>& nodes);
    void glue(std::vector<SpanNode>& nodes, std::size_t& pieces);

    const SpanGrammar& grammar_;
    std::size_t beam_, n_ = 0;
    std::vector<std::uint32_t> pair_begin_;  // by left symbol × symbols + right symbol
    std::vector<Entry> entries_;
    std::vector<std::vector<std::pair<std::uint8_t, std::uint16_t>>> unary_of_tag_;  // parent, unary rule
    std::vector<Item> items_;
    std::vector<std::uint8_t> counts_;
    std::vector<Best> best_;         // by parent
    std::vector<Item> candidates_;   // the best per symbol
    std::vector<std::int16_t> candidate_of_;
    Interrupt interrupt_;
};

}  // namespace tesla
