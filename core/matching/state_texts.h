// The texts of a batch with the states of their pieces; made once, compared as often as one likes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/array_view.h"
#include "base/pairs.h"
#include "matching/states.h"

namespace tesla {

// One row per pair.
struct StateMeasures {
    std::vector<double> precision, recall;  // one column per problem
    std::vector<double> cosine;             // of the mean states
};

class StateTexts {
   public:
    StateTexts(const ArrayView<std::int64_t>& offsets, const ArrayView<std::uint8_t>& kinds, const ArrayView<std::int8_t>& states,
               const ArrayView<std::int16_t>& means, std::size_t dimensions);
    std::size_t size() const { return offsets_.size() - 1; }

    // `weights`: of a piece of each kind.
    static StateMeasures match(const StateTexts& reference, const StateTexts& hypothesis, const TextPairs& pairs,
                               const ArrayView<std::uint32_t>& weights, double threshold);
    // One row of kGainsByKind * kinds per pair.
    static std::vector<double> gains_by_kind(const StateTexts& reference, const StateTexts& hypothesis, const TextPairs& pairs,
                                             std::size_t kinds);
    // Both batches hold one text: who sends how much to whom.
    static std::vector<StateFlowEntry> flow(const StateTexts& reference, const StateTexts& hypothesis, double threshold);

    struct Text {
        StateSide side;
        const std::int16_t* mean;
    };
    Text operator[](std::size_t i) const;

   private:
    static void check_together(const StateTexts& reference, const StateTexts& hypothesis);
    void check_kinds(std::size_t count) const;

    std::vector<std::int64_t> offsets_;  // the copies are checked, before rows_ are made
    std::vector<std::uint8_t> kinds_;
    std::vector<std::int16_t> means_;
    std::size_t dimensions_;
    StateRows rows_;
};

}  // namespace tesla
