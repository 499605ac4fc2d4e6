// The features of spans and split points, after Hall, Durrett & Klein (2014): words and tags at the borders and around them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/fixed_table.h"
#include "base/interrupt.h"
#include "language/syntax/span_chart.h"

namespace tesla {

inline constexpr int kSpanFeatureVersion = 1;
inline constexpr std::size_t kSpanFeatures = 54;
inline constexpr std::size_t kMostFeatures = 64;        // of anything
static_assert(kSpanFeatures <= kMostFeatures);
inline constexpr std::size_t kSplitFeatures = 10;       // of a split point alone
inline constexpr std::size_t kSplitLeftFeatures = 8;    // of the left part
inline constexpr std::size_t kSplitRightFeatures = 9;   // of the right part
inline constexpr std::size_t kLaneCount = 64;           // a feature has a weight for each label (or parent)

// What a feature may know of a word.
struct SpanWord {
    std::uint32_t word = 0;   // the lower-cased form, or the ending of a rare one
    std::uint32_t suffix = 0;
    std::uint8_t tag = 0;
    std::uint8_t shape = 0;   // upper case, lower case, digit, other
    std::uint8_t kind = 0;    // bits: see `SpanSentence`
};

// The words that are frequent enough to be features themselves.
class SpanVocabulary {
   public:
    void build(const std::vector<std::uint32_t>& hashes);
    SpanWord word(const std::string& form, std::uint8_t tag, std::uint8_t kind) const;
    static std::uint32_t key(const std::string& form);

   private:
    FixedTable known_;
};

// A sentence ready for feature extraction. Kind bits: 1 finite verb, 2 any verb, 4 conjunction, 8 comma, 16 wh-word,
// 32 preposition, 64 noun, 128 opening or closing quote or bracket.
class SpanSentence {
   public:
    explicit SpanSentence(std::vector<SpanWord> words);

    std::size_t size() const { return size_; }
    std::uint8_t tag(std::size_t i) const { return words_[i + kPad].tag; }

    void span(std::size_t i, std::size_t j, std::uint32_t* out) const;
    void split(std::size_t k, std::uint32_t* out) const;
    void split_left(std::size_t i, std::size_t k, std::uint32_t* out) const;
    void split_right(std::size_t k, std::size_t j, std::uint32_t* out) const;

   private:
    static constexpr std::size_t kPad = 2, kKindBits = 8;
    const SpanWord& at(std::size_t i, int offset) const { return words_[i + kPad + static_cast<std::size_t>(offset)]; }
    std::uint32_t kinds_between(std::size_t i, std::size_t j) const;

    std::size_t size_;
    std::vector<SpanWord> words_;                          // padded at both ends
    std::vector<std::array<std::uint16_t, kKindBits>> counts_;     // of each kind before a word
};

// The scores of all spans and split points. add_rows(features, count, lanes) adds the weights of features to kLaneCount numbers.
template <class AddRows>
void score_spans(const SpanSentence& sentence, SpanScores& scores, Interrupt& interrupt, AddRows add_rows) {
    const std::size_t n = sentence.size();
    scores.resize(n);
    std::uint32_t features[kMostFeatures];
    std::vector<float> splits((n + 1) * kLaneCount, 0);
    for (std::size_t k = 1; k < n; ++k) {
        sentence.split(k, features);
        add_rows(features, kSplitFeatures, &splits[k * kLaneCount]);
    }
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = i + 1; j <= n; ++j) {
            interrupt.step(1000);
            const std::size_t row = scores.row(i, j);
            std::fill_n(&scores.span[row], kLaneCount, 0.0f);
            sentence.span(i, j, features);
            add_rows(features, kSpanFeatures, &scores.span[row]);
            if (j < n) {
                std::copy_n(&splits[j * kLaneCount], kLaneCount, &scores.left[row]);
                sentence.split_left(i, j, features);
                add_rows(features, kSplitLeftFeatures, &scores.left[row]);
            }
            if (i > 0) {
                std::fill_n(&scores.right[row], kLaneCount, 0.0f);
                sentence.split_right(i, j, features);
                add_rows(features, kSplitRightFeatures, &scores.right[row]);
            }
        }
}

}  // namespace tesla
