// A part-of-speech tagger: a greedy averaged perceptron over hashed features with sparse, 8-bit weights.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/array_view.h"
#include "base/flat_table.h"
#include "base/hashing.h"
#include "base/lanes.h"
#include "base/portable.h"
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
inline constexpr std::size_t kMaxPairs = kMaxVectors / 2;

// All that a tagger needs to know of a word type; good for the tagger that made it.
struct WordFeatures {
    std::array<Lanes, kMaxVectors> own_scores;                    // what the word itself says of its label
    std::array<std::uint32_t, kNeighbourFeatures> neighbour;      // rows of weights for the labels around it
    WordParts parts;

    bool operator==(const WordFeatures& other) const {
        return std::memcmp(own_scores.data(), other.own_scores.data(), sizeof own_scores) == 0 &&
               neighbour == other.neighbour && parts == other.parts;
    }
    std::uint32_t hash() const;
};

// Memory is slow: asked for as soon as it is known, it is there when it is needed.
inline void prefetch(const WordFeatures* word) {
    for (std::size_t at = 0; at < sizeof(WordFeatures); at += 64) prefetch_memory(reinterpret_cast<const char*>(word) + at);
}

class Tagger;

// The words of one text for `Tagger::tag`, between what lies beyond its ends. The words must outlive it.
class WordRow {
   public:
    explicit WordRow(const Tagger& tagger);

    void clear() {
        const WordFeatures* beyond = words_.front();  // a copy: the row is about to be overwritten
        words_.assign(2 * kBeyond, beyond);
    }
    void push_back(const WordFeatures& word) {
        words_[words_.size() - kBeyond] = &word;
        words_.push_back(words_.front());
    }
    std::size_t size() const { return words_.size() - 2 * kBeyond; }

   private:
    friend class Tagger;
    static constexpr std::size_t kBeyond = 2;  // words on either side that a tag depends on

    const WordFeatures* const* data() const { return words_.data() + kBeyond; }

    std::vector<const WordFeatures*> words_;
};

class Tagger {  // immutable, so that threads may share it
   public:
    // Throws std::invalid_argument for arrays that do not fit together.
    explicit Tagger(const TaggerArrays& arrays);

    std::size_t labels() const { return labels_; }
    WordFeatures features(const char32_t* form, std::size_t length) const;

    // Tags one text; its words come from this tagger's `features`. `labels` has room for as many.
    void tag(const WordRow& words, std::uint16_t* labels) const;

   private:
    friend class WordRow;

    // A row of weights in one number, its kind in the lowest two bits. Most rows have one or two weights, which the number
    // itself holds; of others it says where they are. 0 is the row without weights.
    enum RowKind : std::uint32_t { kNoRow = 0, kInline = 1, kDense = 2 };
    static constexpr unsigned kKindBits = 2;
    static constexpr unsigned kFirstLabelAt = 2, kFirstValueAt = 8, kSecondLabelAt = 18, kSecondValueAt = 24;
    static constexpr std::uint32_t kLabelMask = kMaxLabels - 1;
    class RowSum;

    std::uint32_t add_row(const std::uint8_t* labels, const std::int8_t* values, std::size_t length);
    std::uint32_t row_of(std::uint32_t hash) const { return hash == 0 ? 0 : rows_.find(hash); }
    void index_labels();
    template <std::size_t kPairs>
    void score_without_labels(const Position<WordFeatures>& at, const PairHashes& pairs, Lanes* scores) const;
    template <std::size_t kPairs>
    static std::uint32_t best_label(const Lanes* scores);
    template <std::size_t kPairs>
    void tag_with(const WordFeatures* const* words, std::size_t n, std::uint16_t* labels) const;

    std::size_t labels_;
    std::size_t pairs_;  // of vectors that hold the labels' scores
    HashTable rows_;
    std::vector<std::array<std::uint32_t, 2>> label_rows_;  // of the features of the two labels before, by these
    SuffixLexicon lexicon_;
    // The weights of the rows with more than two, two labels in a lane: the weight of label 16 k + i in the low half of
    // lane i of a row's vector k, that of label 16 k + 8 + i in the high half. To all of them 128 is added, so that none is
    // negative; that changes nothing in which label is best.
    std::vector<UnsignedLanes> dense_;
    WordFeatures boundary_;
};

inline WordRow::WordRow(const Tagger& tagger) : words_(2 * kBeyond, &tagger.boundary_) {}

}  // namespace tesla
