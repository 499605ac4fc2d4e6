// A part-of-speech tagger: a greedy averaged perceptron over hashed features with sparse, 8-bit weights.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/array_view.h"
#include "base/hashing.h"
#include "base/lanes.h"
#include "analysis/tagger_features.h"
#include "analysis/tagger_lexicon.h"

namespace tesla {

// The arrays of a model file. Hashes are stored as differences between sorted neighbours.
struct TaggerArrays {
    std::size_t labels = 0;
    ArrayView<std::uint32_t> feature_deltas;  // hash of each feature, ascending
    ArrayView<std::uint8_t> row_lengths;      // per feature: how many labels it has a weight for
    ArrayView<std::uint8_t> row_labels;       // per weight: its label
    ArrayView<std::int8_t> row_weights;
    ArrayView<std::uint32_t> suffix_deltas;   // hash of each suffix of the lexicon, ascending
    ArrayView<std::uint8_t> suffix_classes;   // per suffix: its class, never 0
};

inline constexpr std::size_t kMaxLabels = 64;
inline constexpr std::size_t kMaxVectors = kMaxLabels / kLanes;

// All that a tagger needs to know of a word type; good for the tagger that made it.
struct WordFeatures {
    std::array<Lanes, kMaxVectors> own_scores;                    // what the word itself says of its label
    std::array<std::uint32_t, kNeighbourFeatures> neighbour;      // rows of weights for the labels around it
    WordParts parts;
};

// Memory is slow: asked for as soon as it is known, it is there when it is needed.
inline void prefetch([[maybe_unused]] const WordFeatures* word) {
#if defined(__GNUC__)
    for (std::size_t at = 0; at < sizeof(WordFeatures); at += 64) __builtin_prefetch(reinterpret_cast<const char*>(word) + at);
#endif
}

class Tagger {  // immutable, so that threads may share it
   public:
    // Throws std::invalid_argument for arrays that do not fit together.
    explicit Tagger(const TaggerArrays& arrays);

    std::size_t labels() const { return labels_; }
    WordFeatures features(const char32_t* form, std::size_t length) const;

    // Tags one text of `n` words; `words` come from this tagger's `features`.
    void tag(const WordFeatures* const* words, std::size_t n, std::uint16_t* labels) const;

   private:
    struct Weight {
        std::uint8_t label;
        std::int8_t value;
    };
    // A row of weights in one number, its kind in the lowest two bits. Most rows have one or two weights, which the number
    // itself holds; of others it says where they are. Long ones are kept dense. 0 is the row without weights.
    enum RowKind : std::uint32_t { kNoRow, kInline, kSparse, kDense };
    static constexpr unsigned kKindBits = 2, kLengthBits = 6, kStartAt = kKindBits + kLengthBits;
    static constexpr unsigned kFirstLabelAt = 2, kFirstValueAt = 8, kSecondLabelAt = 18, kSecondValueAt = 24;
    static constexpr std::uint32_t kLabelMask = kMaxLabels - 1;
    class RowSum;

    std::uint32_t add_row(const std::uint8_t* labels, const std::int8_t* values, std::size_t length);
    std::uint32_t row_of(std::uint32_t hash) const { return hash == 0 ? 0 : rows_.find(hash); }
    void index_labels();
    Position<WordFeatures> position(const WordFeatures* const* words, std::size_t n, std::size_t i) const;
    template <std::size_t kVectors>
    void score_without_labels(const Position<WordFeatures>& at, Lanes* scores) const;
    template <std::size_t kVectors>
    static std::uint32_t best_label(const Lanes* scores);
    template <std::size_t kVectors>
    void tag_with(const WordFeatures* const* words, std::size_t n, std::uint16_t* labels) const;

    std::size_t labels_;
    std::size_t vectors_;  // that hold the labels' scores
    HashTable rows_;
    std::vector<std::array<std::uint32_t, 2>> label_rows_;  // of the features of the two labels before, by these
    SuffixLexicon lexicon_;
    std::vector<Weight> weights_;
    std::vector<Lanes> dense_;
    WordFeatures boundary_;
};

}  // namespace tesla
