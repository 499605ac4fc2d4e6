#include "analysis/tagger.h"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <type_traits>

namespace tesla {
namespace {

void require(bool condition, const char* what) {
    if (!condition) throw std::invalid_argument(what);
}

// Calls `work` with the number of vectors as a constant: so many scores fit into registers, if the compiler knows.
template <std::size_t kVectors = kMaxVectors, class Work>
void for_vectors(std::size_t vectors, Work&& work) {
    if constexpr (kVectors > 1)
        if (vectors < kVectors) return for_vectors<kVectors - 1>(vectors, work);
    work(std::integral_constant<std::size_t, kVectors>{});
}

}  // namespace

Tagger::Tagger(const TaggerArrays& arrays) : labels_(arrays.labels) {
    require(labels_ >= 1 && labels_ <= kMaxLabels, "a tagger has 1 to 64 labels");
    require(arrays.feature_deltas.size == arrays.row_lengths.size, "the tagger's rows and features differ in number");
    require(arrays.row_labels.size == arrays.row_weights.size, "the tagger's labels and weights differ in number");
    require(arrays.suffix_deltas.size == arrays.suffix_classes.size, "the tagger's lexicon is incomplete");
    require(arrays.row_labels.size < (std::size_t{1} << (32 - kStartAt)), "the tagger has too many weights");
    vectors_ = (labels_ + kLanes - 1) / kLanes;

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
    for (std::size_t i = 0; i < length; ++i)
        require(labels[i] < labels_, "the tagger has a weight for a label that it does not have");
    if (length == 0) return kNoRow;
    if (length <= 2) {
        const auto number = [](std::int8_t value) -> std::uint32_t { return static_cast<std::uint8_t>(value); };
        const std::uint32_t first = std::uint32_t{labels[0]} << kFirstLabelAt | number(values[0]) << kFirstValueAt;
        if (length == 1) return kInline | first;  // and nothing for label 0
        return kInline | first | std::uint32_t{labels[1]} << kSecondLabelAt | number(values[1]) << kSecondValueAt;
    }
    if (length <= vectors_) {
        const std::size_t start = weights_.size();
        for (std::size_t i = 0; i < length; ++i) weights_.push_back({labels[i], values[i]});
        return static_cast<std::uint32_t>(start << kStartAt | length << kKindBits | kSparse);
    }
    const std::size_t start = dense_.size();
    dense_.resize(start + vectors_, Lanes{});
    for (std::size_t i = 0; i < length; ++i) dense_[start + labels[i] / kLanes][labels[i] % kLanes] = values[i];
    return static_cast<std::uint32_t>(start << kStartAt | kDense);
}

// Rows that are to be added to scores: collected first, so that the scores stay in registers meanwhile.
class Tagger::RowSum {
   public:
    explicit RowSum(const Tagger& tagger) : tagger_(tagger) {}

    void add(std::uint32_t row) {
        // It is written to all lists and counts in one: branches that nobody can foresee take longer.
        inline_[inline_count_] = sparse_[sparse_count_] = dense_[dense_count_] = row;
        const std::uint32_t kind = row & ((1u << kKindBits) - 1);
        inline_count_ += kind == kInline;
        sparse_count_ += kind == kSparse;
        dense_count_ += kind == kDense;
    }
    template <std::size_t kVectors>
    void add_to(Lanes* scores) const {
        Lanes sum[kVectors];
        std::copy_n(scores, kVectors, sum);
        for (std::size_t i = 0; i < dense_count_; ++i) {
            const Lanes* values = tagger_.dense_.data() + (dense_[i] >> kStartAt);
            for (std::size_t v = 0; v < kVectors; ++v) sum[v] += values[v];
        }
        std::copy_n(sum, kVectors, scores);
        const auto add = [scores](std::uint32_t label, std::uint32_t value) {
            scores[label / kLanes][label % kLanes] += static_cast<std::int8_t>(value);
        };
        for (std::size_t i = 0; i < inline_count_; ++i) {
            add(inline_[i] >> kFirstLabelAt & kLabelMask, inline_[i] >> kFirstValueAt & 255);
            add(inline_[i] >> kSecondLabelAt & kLabelMask, inline_[i] >> kSecondValueAt);
        }
        for (std::size_t i = 0; i < sparse_count_; ++i) {
            const Weight* weight = tagger_.weights_.data() + (sparse_[i] >> kStartAt);
            const Weight* end = weight + (sparse_[i] >> kKindBits & ((1u << kLengthBits) - 1));
            for (; weight != end; ++weight) scores[weight->label / kLanes][weight->label % kLanes] += weight->value;
        }
    }

   private:
    static constexpr std::size_t kMost = std::max(kOwnFeatures, kNeighbourFeatures + kContextFeatures);
    const Tagger& tagger_;
    std::size_t inline_count_ = 0, sparse_count_ = 0, dense_count_ = 0;
    std::uint32_t inline_[kMost + 1], sparse_[kMost + 1], dense_[kMost + 1];
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
    for_vectors(vectors_, [&](auto vectors) { sum.add_to<vectors.value>(word.own_scores.data()); });
    std::transform(hashes.neighbour.begin(), hashes.neighbour.end(), word.neighbour.begin(),
                   [this](std::uint32_t hash) { return row_of(hash); });
    word.parts = hashes.parts;
    return word;
}

Position<WordFeatures> Tagger::position(const WordFeatures* const* words, std::size_t n, std::size_t i) const {
    const auto word_at = [&](std::size_t k) { return k < n ? words[k] : &boundary_; };  // before the first: wraps around
    return {word_at(i - 2), word_at(i - 1), words[i], word_at(i + 1), word_at(i + 2), 0, 0};
}

// All that does not depend on the labels before.
template <std::size_t kVectors>
void Tagger::score_without_labels(const Position<WordFeatures>& at, Lanes* scores) const {
    RowSum sum(*this);
    visit_neighbours(at, [&](std::uint32_t row) { sum.add(row); });
    for (std::uint32_t hash : pair_features(at)) sum.add(rows_.find(hash));
    std::copy_n(at.word->own_scores.data(), kVectors, scores);
    sum.add_to<kVectors>(scores);
}

// The first label with the highest score.
template <std::size_t kVectors>
std::uint32_t Tagger::best_label(const Lanes* scores) {
    Lanes best = scores[0], vector{};  // in every lane: the highest score, and the first vector that has it
    for (std::size_t v = 1; v < kVectors; ++v) raise(best, vector, scores[v], static_cast<std::int16_t>(v));
    std::int32_t highest = std::numeric_limits<std::int32_t>::min();
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
        const auto label = static_cast<std::int32_t>(vector[lane] * kLanes + lane);
        // Below the score stands how far the label is from the last one: of equal scores that of the first label is higher.
        highest = std::max(highest, best[lane] * static_cast<std::int32_t>(kMaxLabels) + (static_cast<std::int32_t>(kLabelMask) - label));
    }
    return kLabelMask - (static_cast<std::uint32_t>(highest) & kLabelMask);
}

template <std::size_t kVectors>
void Tagger::tag_with(const WordFeatures* const* words, std::size_t n, std::uint16_t* labels) const {
    Lanes scores[2][kVectors];  // of this word and the next
    if (n > 0) score_without_labels<kVectors>(position(words, n, 0), scores[0]);
    std::uint32_t label = 0, second_label = 0;
    for (std::size_t i = 0; i < n; ++i) {
        Position<WordFeatures> at = position(words, n, i);
        at.previous_label = label;
        at.second_previous_label = second_label;
        const auto hashes = word_and_label_features(at);
        // Memory is slow: other work comes between asking for it and using it.
        for (std::uint32_t hash : hashes) rows_.prefetch(hash);
        if (i + 3 < n)
            for (std::uint32_t hash : pair_features(position(words, n, i + 3))) rows_.prefetch(hash);
        if (i + 1 < n) score_without_labels<kVectors>(position(words, n, i + 1), scores[(i + 1) % 2]);
        RowSum sum(*this);
        for (std::uint32_t row : label_rows_[label * (labels_ + 1) + second_label]) sum.add(row);
        for (std::uint32_t hash : hashes) sum.add(rows_.find(hash));
        sum.add_to<kVectors>(scores[i % 2]);
        const std::uint32_t best = best_label<kVectors>(scores[i % 2]);
        labels[i] = static_cast<std::uint16_t>(best);
        second_label = label;
        label = best + 1;
    }
}

void Tagger::tag(const WordFeatures* const* words, std::size_t n, std::uint16_t* labels) const {
    for_vectors(vectors_, [&](auto vectors) { tag_with<vectors.value>(words, n, labels); });
}

}  // namespace tesla
