#include "tagger.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace tesla {
namespace {

void require(bool condition, const char* what) {
    if (!condition) throw std::invalid_argument(what);
}

// The index of the highest score. Scores beyond the labels are lowered first: then whole vectors can be compared.
template <std::size_t kLanes>
std::uint32_t first_highest(std::int16_t* scores, std::size_t labels, std::size_t padded) {
    std::fill(scores + labels, scores + padded, std::numeric_limits<std::int16_t>::min());
    std::int16_t highest[kLanes];
    std::copy_n(scores, kLanes, highest);
    for (std::size_t block = kLanes; block < padded; block += kLanes)
        for (std::size_t k = 0; k < kLanes; ++k) highest[k] = std::max(highest[k], scores[block + k]);
    const std::int16_t value = *std::max_element(highest, highest + kLanes);
    return static_cast<std::uint32_t>(std::find(scores, scores + labels, value) - scores);
}

}  // namespace

Tagger::Tagger(const TaggerArrays& arrays) : labels_(arrays.labels) {
    require(labels_ >= 1 && labels_ <= kMaxLabels, "a tagger has 1 to 64 labels");
    require(arrays.feature_deltas.size == arrays.row_lengths.size, "the tagger's rows and features differ in number");
    require(arrays.row_labels.size == arrays.row_weights.size, "the tagger's labels and weights differ in number");
    require(arrays.suffix_deltas.size == arrays.suffix_classes.size, "the tagger's lexicon is incomplete");
    require(arrays.row_labels.size < (std::size_t{1} << (32 - kLengthBits)), "the tagger has too many weights");
    padded_labels_ = (labels_ + kLanes - 1) / kLanes * kLanes;

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
}

std::uint32_t Tagger::add_row(const std::uint8_t* labels, const std::int8_t* values, std::size_t length) {
    for (std::size_t i = 0; i < length; ++i)
        require(labels[i] < labels_, "the tagger has a weight for a label that it does not have");
    if (length <= padded_labels_ / 8) {
        const std::size_t start = weights_.size();
        for (std::size_t i = 0; i < length; ++i) weights_.push_back({labels[i], values[i]});
        return static_cast<std::uint32_t>(start << kLengthBits | length);
    }
    const std::size_t start = dense_.size();
    dense_.resize(start + padded_labels_);
    for (std::size_t i = 0; i < length; ++i) dense_[start + labels[i]] = values[i];
    return static_cast<std::uint32_t>(start / kLanes << kLengthBits | kDense);
}

inline void Tagger::add_scores(std::uint32_t row, std::int16_t* scores) const {
    const std::uint32_t length = row & ((1u << kLengthBits) - 1);
    if (length == kDense) {
        const std::int16_t* values = dense_.data() + (row >> kLengthBits) * kLanes;
        for (std::size_t block = 0; block < padded_labels_; block += kLanes)
            for (std::size_t k = 0; k < kLanes; ++k) scores[block + k] += values[block + k];
    } else {
        const Weight* weight = weights_.data() + (row >> kLengthBits);
        for (const Weight* end = weight + length; weight != end; ++weight) scores[weight->label] += weight->value;
    }
}

WordFeatures Tagger::features(const char32_t* form, std::size_t length) const {
    const WordHashes hashes = hash_word(form, length, lexicon_.class_of(form, length));
    const auto row_of = [&](std::uint32_t hash) { return hash == 0 ? 0 : rows_.find(hash); };
    WordFeatures word{};
    for (std::uint32_t hash : hashes.own) add_scores(row_of(hash), word.own_scores.data());
    std::transform(hashes.neighbour.begin(), hashes.neighbour.end(), word.neighbour.begin(), row_of);
    word.parts = hashes.parts;
    return word;
}

void Tagger::tag(const WordFeatures* const* words, std::size_t n, std::uint16_t* labels) const {
    const auto word_at = [&](std::size_t i) { return i < n ? words[i] : &boundary_; };
    Position<WordFeatures> at{&boundary_, &boundary_, &boundary_, word_at(0), word_at(1), 0, 0};
    alignas(32) std::int16_t scores[kMaxLabels];
    for (std::size_t i = 0; i < n; ++i) {
        at = {at.previous, at.word, at.next, at.second_next, word_at(i + 2), at.previous_label, at.second_previous_label};
        const auto context = context_features(at);
        for (std::uint32_t hash : context) rows_.prefetch(hash);  // memory is slow: other work comes in between
        std::copy_n(at.word->own_scores.data(), padded_labels_, scores);
        visit_neighbours(at, [&](std::uint32_t row) { add_scores(row, scores); });
        for (std::uint32_t hash : context) add_scores(rows_.find(hash), scores);
        const std::uint32_t best = first_highest<kLanes>(scores, labels_, padded_labels_);
        labels[i] = static_cast<std::uint16_t>(best);
        at.second_previous_label = at.previous_label;
        at.previous_label = best + 1;
    }
}

}  // namespace tesla
