#include "matching/state_texts.h"

#include "base/checks.h"
#include "base/share.h"
#include "simd/kernels.h"

namespace tesla {
namespace {

std::size_t checked_rows(const std::vector<std::int64_t>& offsets, std::size_t rows, std::size_t states,
                         const std::vector<std::int16_t>& means, std::size_t dimensions) {
    check_csr(offsets, rows);
    require(dimensions != 0 && dimensions <= kMostStateDimensions, "the states have an invalid number of dimensions");
    check_columns(rows * dimensions, {states});
    check_columns((offsets.size() - 1) * dimensions, {means.size()});
    for (std::size_t i = 0; i + 1 < offsets.size(); ++i)
        if (static_cast<std::uint64_t>(offsets[i + 1] - offsets[i]) > kMostPieces)
            throw TextTooLong("a text has more than 16,384 pieces of words: split it into segments");
    for (std::int16_t mean : means) require(mean <= kLargestMean && mean >= -kLargestMean, "a mean is too large");
    return rows;
}

std::int32_t checked_threshold(double threshold) {
    require(threshold >= 0 && threshold < 1, "a threshold lies from 0 to below 1");
    return static_cast<std::int32_t>(threshold * kStateUnit);
}

}  // namespace

StateTexts::StateTexts(const ArrayView<std::int64_t>& offsets, const ArrayView<std::uint8_t>& kinds,
                       const ArrayView<std::int8_t>& states, const ArrayView<std::int16_t>& means, std::size_t dimensions)
    : offsets_(offsets.begin(), offsets.end()),
      kinds_(kinds.begin(), kinds.end()),
      means_(means.begin(), means.end()),
      dimensions_(dimensions),
      rows_(states.data, checked_rows(offsets_, kinds_.size(), states.size, means_, dimensions), dimensions) {}

StateTexts::Text StateTexts::operator[](std::size_t i) const {
    const auto first = static_cast<std::size_t>(offsets_[i]), end = static_cast<std::size_t>(offsets_[i + 1]);
    return {{&rows_, kinds_.data(), first, end - first}, means_.data() + i * dimensions_};
}

void StateTexts::check_together(const StateTexts& reference, const StateTexts& hypothesis) {
    require(reference.dimensions_ == hypothesis.dimensions_, "the states do not belong together");
}

void StateTexts::check_kinds(std::size_t count) const {
    require(count != 0 && count <= kMostPieceKinds, "too many kinds of pieces, or none");
    for (std::uint8_t kind : kinds_) require_in_range(kind < count, "no such kind of piece");
}

StateMeasures StateTexts::match(const StateTexts& reference, const StateTexts& hypothesis, const TextPairs& pairs,
                                const ArrayView<std::uint32_t>& weights, double threshold) {
    check_together(reference, hypothesis);
    for (const StateTexts* texts : {&reference, &hypothesis}) texts->check_kinds(weights.size);
    for (std::uint32_t weight : weights) require(weight != 0 && weight <= kLargestPieceWeight, "a weight is 0 or too large");
    StateMatcher matcher({weights.begin(), weights.end()}, checked_threshold(threshold));
    StateMeasures measures;
    for_each_pair(pairs, reference, hypothesis, [&](std::size_t, const Text& x, const Text& y) {
        for (const SharedStates& shared : matcher.match(x.side, y.side)) {
            measures.precision.push_back(shared.precision);
            measures.recall.push_back(shared.recall);
        }
        const bool exists = x.side.size > 0 || y.side.size > 0;
        measures.cosine.push_back(exists ? mean_cosine(x.mean, y.mean, reference.dimensions_) : kNoValue);
    });
    return measures;
}

std::vector<double> StateTexts::gains_by_kind(const StateTexts& reference, const StateTexts& hypothesis, const TextPairs& pairs,
                                              std::size_t kinds) {
    check_together(reference, hypothesis);
    for (const StateTexts* texts : {&reference, &hypothesis}) texts->check_kinds(kinds);
    const std::size_t columns = kGainsByKind * kinds;
    std::vector<double> gains(pairs.size() * columns);
    StateMatcher matcher({}, 0);
    for_each_pair(pairs, reference, hypothesis, [&](std::size_t k, const Text& x, const Text& y) {
        matcher.gains_by_kind(x.side, y.side, kinds, gains.data() + k * columns);
    });
    return gains;
}

std::vector<StateFlowEntry> StateTexts::flow(const StateTexts& reference, const StateTexts& hypothesis, double threshold) {
    check_together(reference, hypothesis);
    require(reference.size() == 1 && hypothesis.size() == 1, "one text on either side");
    return StateMatcher({}, checked_threshold(threshold)).flow(reference[0].side, hypothesis[0].side);
}

}  // namespace tesla
