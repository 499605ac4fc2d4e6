// One feature of one pair of texts with its flow: who sends how much to whom (specification §4).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "language/analysis/lexicon.h"
#include "matching/bags.h"
#include "matching/matching.h"
#include "matching/text_bags.h"

namespace tesla {

// Rows of the flow are first tokens of n-grams; the row of a skip bigram of the tokens i and j is i * (gap + 1) + (tokens
// between them).
struct Explanation {
    std::int64_t objective = 0;                  // in units of 1 / (2n * unit(n))
    std::int64_t reference = 0, hypothesis = 0;  // weights in units of 1 / unit(n)
    std::vector<FlowEntry> flow;

    // The same whole numbers as those of BatchBags::match, so that scores and explanations agree to the last bit.
    Match match(const Feature& feature) const {
        const std::int64_t gain_unit = 2 * feature.n;
        if (feature.similarity == Similarity::MaxSim) return {objective, gain_unit * reference, gain_unit * hypothesis};
        return {objective / gain_unit, reference, hypothesis};
    }
};

// Both batches hold one text.
Explanation explain_match(const Lexicon& lexicon, const TokenColumns& reference, const TokenColumns& hypothesis,
                          const Feature& feature, const Discount& discount,
                          std::size_t dense_cells = MaxSimMatcher::kDenseCells);

}  // namespace tesla
