// A part-of-speech tagger: a greedy averaged perceptron over hashed features with sparse, 8-bit weights.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "base/array_view.h"
#include "base/fixed_table.h"
#include "base/lanes.h"
#include "base/portable.h"
#include "base/recycled_memory.h"
#include "language/analysis/tagger_features.h"
#include "language/analysis/tagger_lexicon.h"

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

using LabelScores = std::array<Lanes, kMaxVectors>;

// Scores from 0 to 255, two labels in a lane: label 16 k + i in the low half of lane i of vector k, label 16 k + 8 + i in the
// high half. Some number was added to the scores of all labels, which changes nothing in which label is best.
struct alignas(kCacheLine) PackedScores {
    UnsignedLanes lanes[kMaxPairs];

    bool operator==(const PackedScores& other) const { return std::memcmp(lanes, other.lanes, sizeof lanes) == 0; }
    bool are_zero() const {
        std::array<std::uint64_t, sizeof lanes / 8> words;
        std::memcpy(words.data(), lanes, sizeof lanes);
        std::uint64_t any = 0;
        for (std::uint64_t word : words) any |= word;
        return any == 0;
    }
};

// The rows of weights that a word has for its own label and for the label of a neighbour; 0 is the row without weights.
using OwnRows = std::array<std::uint32_t, kOwnFeatures>;
using NeighbourRows = std::array<std::uint32_t, std::max(kPreviousFeatures, kNextFeatures)>;

// All that a tagger needs to know of a word type; good for the tagger that made it. Of sums that eight bits do not hold, which
// are rare, the rows are given, and else null.
struct WordFeatures {
    PackedScores own;                             // what the word says of its label,
    const PackedScores *as_previous, *as_next;    // of the next word's, of the one's before; many words share them
    const OwnRows* own_rows;
    const NeighbourRows *previous_rows, *next_rows;
    std::uint32_t second_previous, second_next;   // rows of weights for the labels two words after and before it
    WordParts parts;

    bool operator==(const WordFeatures& other) const {
        const bool same_rows = own_rows && other.own_rows ? *own_rows == *other.own_rows : own_rows == other.own_rows;
        return own == other.own && same_rows && as_previous == other.as_previous && as_next == other.as_next &&
               second_previous == other.second_previous && second_next == other.second_next && parts == other.parts;
    }
};
static_assert(sizeof(WordFeatures) == 2 * kCacheLine || sizeof(void*) != 8);

// The rows of weights of a word type, from which its features come.
struct WordLook {
    OwnRows own;
    NeighbourRows as_previous, as_next;
    std::uint32_t second_previous, second_next;
    WordParts parts;
};

// The features of a word that shares nothing with others.
struct SingleWord {
    WordLook look;
    PackedScores as_previous, as_next;
    WordFeatures features;

    SingleWord() = default;
    SingleWord(const SingleWord&) = delete;  // the features point to the others
    SingleWord& operator=(const SingleWord&) = delete;
};

// Memory is slow: asked for as soon as it is known, it is there when it is needed.
template <class Scores>
inline void prefetch(const Scores* memory) {
    for (std::size_t at = 0; at < sizeof(Scores); at += kCacheLine) prefetch_memory(reinterpret_cast<const char*>(memory) + at);
}

class Tagger;

// The words of texts for `Tagger::tag`, between what lies beyond their ends. The words must outlive it.
class WordRows {
   public:
    explicit WordRows(const Tagger& tagger);

    void clear() {
        words_.assign(2 * kBeyond, beyond_);
        starts_.assign(1, kBeyond);
    }
    // To the text that was not ended yet.
    void push_back(const WordFeatures& word) {
        words_[words_.size() - kBeyond] = &word;
        words_.push_back(beyond_);
    }
    void end_text() {
        words_.insert(words_.end(), kBeyond, beyond_);
        starts_.push_back(words_.size() - kBeyond);
    }
    std::size_t texts() const { return starts_.size() - 1; }
    // Where the words of a text begin among all places, of which some are no words.
    std::size_t start(std::size_t text) const { return starts_[text]; }
    std::size_t places() const { return words_.size(); }

   private:
    friend class Tagger;
    static constexpr std::size_t kBeyond = 2;  // words on either side that a tag depends on

    std::size_t end(std::size_t text) const { return starts_[text + 1] - kBeyond; }

    const WordFeatures* beyond_;
    std::vector<const WordFeatures*> words_;
    std::vector<std::size_t> starts_;
};

class Tagger {  // immutable, so that threads may share it
   public:
    // Throws std::invalid_argument for arrays that do not fit together.
    explicit Tagger(const TaggerArrays& arrays);

    std::size_t labels() const { return labels_; }
    Tagger(const Tagger&) = delete;  // its boundary points into it
    // The rows of some words; they take turns, as texts do in `tag`.
    void look_at(const std::u32string* forms, std::size_t count, WordLook* looks) const;
    // All but what a word says of its neighbours, which is a sum of rows. They may point to the look.
    WordFeatures own_features(const WordLook& look) const;
    // Zeros where eight bits do not hold the sum.
    template <class Rows>
    PackedScores sum_of(const Rows& rows) const;
    // The rows that must be added in place of their sum; mostly null.
    template <class Rows>
    static const Rows* rows_beside(const PackedScores& sum, const Rows& rows) {
        return sum.are_zero() && rows != Rows{} ? &rows : nullptr;
    }
    void find_features(const std::u32string& form, SingleWord& word) const;

    // Tags texts; their words come from this tagger's `features`. `labels` has room for all places.
    void tag(const WordRows& texts, std::uint16_t* labels) const;
    // The labels of one text, by its words alone.
    std::vector<std::uint16_t> tag_forms(const std::vector<std::string>& forms) const;

   private:
    friend class WordRows;

    // A row of weights in one number, its kind in the lowest two bits. Most rows have one or two weights, which the number
    // itself holds; of others it says where they are. 0 is the row without weights.
    enum RowKind : std::uint32_t { kNoRow = 0, kInline = 1, kDense = 2 };
    static constexpr unsigned kKindBits = 2;
    static constexpr unsigned kFirstLabelAt = 2, kFirstValueAt = 8, kSecondLabelAt = 18, kSecondValueAt = 24;
    static constexpr std::uint32_t kLabelMask = kMaxLabels - 1;
    class RowSum;
    struct Running;

    std::uint32_t add_row(const std::uint8_t* labels, const std::int8_t* values, std::size_t length);
    template <std::size_t kPairs>
    static PackedScores packed(const Lanes* scores);
    void index_labels();
    // Of a row that is not dense, memory is asked for that the cache holds: no branch depends on it.
    void prefetch_row(std::uint32_t row) const {
        const std::uint32_t dense = (row & kDense) != 0 ? row : kNoRow;
        prefetch_memory(dense_.data() + (dense >> kKindBits) / kLineLanes);  // the tagger may have none
    }
    const UnsignedLanes* dense_row(std::uint32_t row) const {
        return reinterpret_cast<const UnsignedLanes*>(dense_.data()) + (row >> kKindBits);
    }
    void ask_for_rows(Running& text) const;
    template <std::size_t kPairs>
    void collect_rows(Running& text) const;
    template <std::size_t kPairs>
    static std::uint32_t best_label(const Lanes* scores);
    template <std::size_t kPairs>
    void tag_with(const WordRows& texts, std::uint16_t* labels) const;

    std::size_t labels_;
    std::size_t pairs_;  // of vectors that hold the labels' scores
    FixedTable rows_;
    std::vector<std::array<std::uint32_t, 2>> label_rows_;  // of the features of the two labels before, by these
    std::vector<std::array<std::uint32_t, kShapes>> shape_rows_;  // of the features of the label before and the shape, by these
    SuffixLexicon lexicon_;
    // The weights of the rows with more than two, 128 added to each. Where there are few labels, several rows are packed as one;
    // none lies in two cache lines.
    static constexpr std::size_t kLineLanes = kMaxPairs;
    std::vector<PackedScores, Recycled<PackedScores>> dense_;
    std::size_t dense_size_ = 0;  // in vectors
    LabelScores floor_{};         // places beyond the labels have the lowest score, so that whole vectors can be compared
    SingleWord boundary_;
};

inline WordRows::WordRows(const Tagger& tagger) : beyond_(&tagger.boundary_.features) { clear(); }

}  // namespace tesla
