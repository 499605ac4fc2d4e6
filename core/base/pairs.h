// Pairs of texts of two batches, and a walk over them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/array_view.h"
#include "base/checks.h"
#include "base/interrupt.h"

namespace tesla {

// Pair k is text reference[k] of one batch and text hypothesis[k] of the other.
struct TextPairs {
    ArrayView<std::int64_t> reference, hypothesis;

    std::size_t size() const { return reference.size; }
    // Refuses indices that differ in number or point past the texts.
    void check(std::size_t references, std::size_t hypotheses) const {
        require(reference.size == hypothesis.size, "the indices do not belong together");
        for (std::size_t k = 0; k < size(); ++k)
            require_in_range(static_cast<std::uint64_t>(reference[k]) < references &&
                                 static_cast<std::uint64_t>(hypothesis[k]) < hypotheses,
                             "no such text");
    }
};

// What a pair takes at least, in nanoseconds; matchers count what long texts take.
inline constexpr std::size_t kLeastPerPair = 4096;

// Calls visit(k, x, y) for every pair, and asks now and then whether the user wants it to stop.
template <class Texts, class Visit>
void for_each_pair(const TextPairs& pairs, const Texts& references, const Texts& hypotheses, Visit&& visit) {
    pairs.check(references.size(), hypotheses.size());
    Interrupt interrupt;
    for (std::size_t k = 0; k < pairs.size(); ++k) {
        interrupt.step(kLeastPerPair);
        visit(k, references[static_cast<std::size_t>(pairs.reference[k])],
              hypotheses[static_cast<std::size_t>(pairs.hypothesis[k])]);
    }
}

}  // namespace tesla
