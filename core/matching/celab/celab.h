// core/matching/celab: TESLA-CELAB (specification §9), how much of two texts n-grams of units cover when linked ones are matched.
//
// A text becomes units (units.cpp) and n-grams of them (text.h). links.h finds which n-grams of two texts are linked. Each side
// is a linear program of its own (cover.h): a matching where that decides alone (flow.h), else a simplex over paths (paths.h,
// simplex.h, path_finder.h). The Solver here puts it together for one pair, batch.h for many.
#pragma once

#include <cstdint>
#include <vector>

#include "matching/celab/cover.h"
#include "matching/celab/links.h"
#include "matching/celab/text.h"

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
