#include "analysis/tagger.h"

#include <algorithm>
#include <limits>
#include <type_traits>

#include "base/checks.h"

namespace tesla {
namespace {

constexpr std::size_t kLabelsOfPair = 2 * kLanes;
constexpr int kHalf = 8;  // bits of one of the two weights in a lane
constexpr int kZeroWeight = 1 << (kHalf - 1);  // is added to every weight

// Calls `work` with the number of pairs of vectors as a constant: sums stay in registers, if the compiler knows it.
template <std::size_t kPairs = kMaxPairs, class Work>
void for_pairs(std::size_t pairs, Work&& work) {
    if constexpr (kPairs > 1)
        if (pairs < kPairs) return for_pairs<kPairs - 1>(pairs, work);
    work(std::integral_constant<std::size_t, kPairs>{});
}

// For every label how far it is from the end: the more the earlier it comes, and never 0.
const std::array<Lanes, kMaxVectors> kFromEnd = [] {
    std::array<Lanes, kMaxVectors> places{};
    for (std::size_t i = 0; i < kMaxLabels; ++i) places[i / kLanes][i % kLanes] = static_cast<std::int16_t>(kMaxLabels - i);
    return places;
}();

}  // namespace

// Features differ where the forms or the ends of words do, so that little else need be looked at.
std::uint32_t WordFeatures::hash() const {
    std::uint64_t first[2];
    std::memcpy(first, own_scores.data(), sizeof first);
    return table_hash(std::uint64_t{parts.form} << 32 | parts.suffix, first[0], first[1]);
}

Tagger::Tagger(const TaggerArrays& arrays) : labels_(arrays.labels) {
    require(labels_ >= 1 && labels_ <= kMaxLabels, "a tagger has 1 to 64 labels");
    require(arrays.feature_deltas.size == arrays.row_lengths.size, "the tagger's rows and features differ in number");
    require(arrays.row_labels.size == arrays.row_weights.size, "the tagger's labels and weights differ in number");
    require(arrays.suffix_deltas.size == arrays.suffix_classes.size, "the tagger's lexicon is incomplete");
    require(arrays.row_lengths.size < (std::size_t{1} << (32 - kKindBits)) / kMaxPairs, "the tagger has too many features");
    pairs_ = (labels_ + kLabelsOfPair - 1) / kLabelsOfPair;

    std::vector<std::uint32_t> rows(arrays.row_lengths.size);
    std::size_t start = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const std::size_t length = arrays.row_lengths[i];
        require(length <= labels_ && start + length <= arrays.row_labels.size,
                "the tagger's rows do not add up to its weights");
        rows[i] = add_row(arrays.row_labels.data + start, arrays.row_weights.data + start, length);
        start += length;
    }
    require(start == arrays.row_labels.size, "the tagger's rows do not add up to its weights");
    rows_.build(hashes_of_differences(arrays.feature_deltas), rows);

    const auto& classes = arrays.suffix_classes;
    lexicon_.build(hashes_of_differences(arrays.suffix_deltas), {classes.data, classes.data + classes.size});
    boundary_ = features(nullptr, 0);
    index_labels();
}

std::uint32_t Tagger::add_row(const std::uint8_t* labels, const std::int8_t* values, std::size_t length) {
    for (std::size_t i = 0; i < length; ++i) {
        require(labels[i] < labels_, "the tagger has a weight for a label that it does not have");
        require(i == 0 || labels[i - 1] < labels[i], "the labels of one of the tagger's rows do not ascend");
    }
    if (length == 0) return kNoRow;
    if (length <= 2) {
        const auto number = [](std::int8_t value) -> std::uint32_t { return static_cast<std::uint8_t>(value); };
        const std::uint32_t first = std::uint32_t{labels[0]} << kFirstLabelAt | number(values[0]) << kFirstValueAt;
        if (length == 1) return kInline | first;  // and nothing for label 0
        return kInline | first | std::uint32_t{labels[1]} << kSecondLabelAt | number(values[1]) << kSecondValueAt;
    }
    const std::size_t start = dense_.size();
    UnsignedLanes zeros{};
    for (std::size_t lane = 0; lane < kLanes; ++lane) zeros[lane] = kZeroWeight << kHalf | kZeroWeight;
    dense_.resize(start + pairs_, zeros);
    for (std::size_t i = 0; i < length; ++i) {
        UnsignedLanes& lanes = dense_[start + labels[i] / kLabelsOfPair];
        const std::size_t lane = labels[i] % kLanes;
        const int unit = labels[i] % kLabelsOfPair < kLanes ? 1 : 1 << kHalf;
        lanes[lane] = static_cast<std::uint16_t>(lanes[lane] + values[i] * unit);
    }
    return static_cast<std::uint32_t>(start << kKindBits | kDense);
}

// Rows that are to be added to scores: collected first, so that the sums stay in registers meanwhile.
class Tagger::RowSum {
   public:
    explicit RowSum(const Tagger& tagger) : tagger_(tagger) {}

    void add(std::uint32_t row) {
        // It is written to both lists and counts in one: branches that nobody can foresee take longer.
        inline_[inline_count_] = dense_[dense_count_] = row;
        inline_count_ += row & kInline;
        dense_count_ += (row & kDense) / kDense;
    }
    template <std::size_t kPairs>
    void add_to(Lanes* scores) const {
        const auto add = [scores](std::uint32_t label, std::uint32_t value) {
            scores[label / kLanes][label % kLanes] += static_cast<std::int8_t>(value);
        };
        for (std::size_t i = 0; i < inline_count_; ++i) {
            add(inline_[i] >> kFirstLabelAt & kLabelMask, inline_[i] >> kFirstValueAt & 255);
            add(inline_[i] >> kSecondLabelAt & kLabelMask, inline_[i] >> kSecondValueAt);
        }
        // Lanes are added up as they are. Overflow from the low halves into the high ones is undone at the end, for which
        // the sums of the high halves are needed.
        UnsignedLanes sum[kPairs]{}, high[kPairs]{};
        for (std::size_t i = 0; i < dense_count_; ++i) {
            const UnsignedLanes* values = tagger_.dense_.data() + (dense_[i] >> kKindBits);
            for (std::size_t k = 0; k < kPairs; ++k) {
                sum[k] += values[k];
                high[k] += values[k] >> kHalf;
            }
        }
        for (std::size_t k = 0; k < kPairs; ++k) {
            scores[2 * k] += as_signed(sum[k] - (high[k] << kHalf));
            scores[2 * k + 1] += as_signed(high[k]);
        }
    }

   private:
    static constexpr std::size_t kMost = std::max(kOwnFeatures, kNeighbourFeatures + kContextFeatures);
    const Tagger& tagger_;
    std::size_t inline_count_ = 0, dense_count_ = 0;
    std::uint32_t inline_[kMost + 1], dense_[kMost + 1];
};

void Tagger::index_labels() {
    const auto count = static_cast<std::uint32_t>(labels_ + 1);  // 0: beyond the start
    label_rows_.reserve(count * count);
    for (std::uint32_t label = 0; label < count; ++label)
        for (std::uint32_t second = 0; second < count; ++second) {
            const auto hashes = label_features(label, second);
            label_rows_.push_back({rows_.find(hashes[0]), rows_.find(hashes[1])});
        }
}

WordFeatures Tagger::features(const char32_t* form, std::size_t length) const {
    const WordHashes hashes = hash_word(form, length, lexicon_.class_of(form, length));
    for (std::uint32_t hash : hashes.own) rows_.prefetch(hash);
    for (std::uint32_t hash : hashes.neighbour) rows_.prefetch(hash);
    WordFeatures word{};
    // Places beyond the labels have the lowest score, so that whole vectors can be compared.
    for (std::size_t i = labels_; i < kMaxLabels; ++i)
        word.own_scores[i / kLanes][i % kLanes] = std::numeric_limits<std::int16_t>::min();
    RowSum sum(*this);
    for (std::uint32_t hash : hashes.own) sum.add(row_of(hash));
    for_pairs(pairs_, [&](auto pairs) { sum.add_to<pairs.value>(word.own_scores.data()); });
    std::transform(hashes.neighbour.begin(), hashes.neighbour.end(), word.neighbour.begin(),
                   [this](std::uint32_t hash) { return row_of(hash); });
    word.parts = hashes.parts;
    return word;
}

// All that does not depend on the labels before.
template <std::size_t kPairs>
void Tagger::score_without_labels(const Position<WordFeatures>& at, const PairHashes& pairs, Lanes* scores) const {
    RowSum sum(*this);
    visit_neighbours(at, [&](std::uint32_t row) { sum.add(row); });
    for (std::uint32_t hash : pairs) sum.add(rows_.find(hash));
    std::copy_n(at.word->own_scores.data(), 2 * kPairs, scores);
    sum.add_to<kPairs>(scores);
}

// The first label with the highest score.
template <std::size_t kPairs>
std::uint32_t Tagger::best_label(const Lanes* scores) {
    Lanes best = scores[0];
    for (std::size_t v = 1; v < 2 * kPairs; ++v) best = higher(best, scores[v]);
    best = highest(best);
    Lanes place{};
    for (std::size_t v = 0; v < 2 * kPairs; ++v) place = higher(place, where_equal(scores[v], best, kFromEnd[v]));
    return kMaxLabels - static_cast<std::uint32_t>(highest(place)[0]);
}

template <std::size_t kPairs>
void Tagger::tag_with(const WordFeatures* const* words, std::size_t n, std::uint16_t* labels) const {
    const auto position = [words](std::size_t i) -> Position<WordFeatures> {
        const WordFeatures* const* word = words + i;
        return {word[-2], word[-1], word[0], word[1], word[2], 0, 0};
    };
    constexpr std::size_t kAhead = 4;  // memory is slow: other work comes between asking for it and using it
    PairHashes pairs[kAhead];
    const auto ask_for_pairs = [&](std::size_t i) {
        if (i >= n) return;
        pairs[i % kAhead] = pair_features(position(i));
        for (std::uint32_t hash : pairs[i % kAhead]) rows_.prefetch(hash);
    };
    for (std::size_t i = 0; i + 1 < kAhead; ++i) ask_for_pairs(i);
    Lanes scores[2][2 * kPairs];  // of this word and the next
    if (n > 0) score_without_labels<kPairs>(position(0), pairs[0], scores[0]);
    std::uint32_t label = 0, second_label = 0;
    for (std::size_t i = 0; i < n; ++i) {
        Position<WordFeatures> at = position(i);
        at.previous_label = label;
        at.second_previous_label = second_label;
        const auto hashes = word_and_label_features(at);
        for (std::uint32_t hash : hashes) rows_.prefetch(hash);
        ask_for_pairs(i + kAhead - 1);
        if (i + 1 < n) score_without_labels<kPairs>(position(i + 1), pairs[(i + 1) % kAhead], scores[(i + 1) % 2]);
        RowSum sum(*this);
        for (std::uint32_t row : label_rows_[label * (labels_ + 1) + second_label]) sum.add(row);
        for (std::uint32_t hash : hashes) sum.add(rows_.find(hash));
        sum.add_to<kPairs>(scores[i % 2]);
        const std::uint32_t best = best_label<kPairs>(scores[i % 2]);
        labels[i] = static_cast<std::uint16_t>(best);
        second_label = label;
        label = best + 1;
    }
}

void Tagger::tag(const WordRow& words, std::uint16_t* labels) const {
    for_pairs(pairs_, [&](auto pairs) { tag_with<pairs.value>(words.data(), words.size(), labels); });
}

}  // namespace tesla
