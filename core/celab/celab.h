// TESLA-CELAB between two texts (specification §9).
#pragma once

#include <cstdint>
#include <vector>

#include "celab/cover.h"
#include "celab/links.h"
#include "celab/text.h"

namespace tesla::celab {

// A pair of n-gram occurrences that are matched with each other.
struct MatchedPair {
    std::int32_t reference_start, reference_length, hypothesis_start, hypothesis_length;
    double weight;
};

struct Solution {
    Cover reference, hypothesis;
    std::vector<MatchedPair> matches;  // on request
};

// Solves pair after pair; keeps its working memory.
class Solver {
   public:
    explicit Solver(std::size_t limit) : limit_(limit) {}  // as in `maximise`
    Solution solve(const Text& reference, const Text& hypothesis, bool want_matches = false);

   private:
    std::size_t limit_;
    Linker linker_;
};

}  // namespace tesla::celab
