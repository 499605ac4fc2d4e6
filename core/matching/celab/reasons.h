// What a reader wants to know of a matching: why n-grams are linked, what the links cover, and which of them are needed.
#pragma once

#include <cstdint>
#include <vector>

#include "matching/celab/celab.h"
#include "matching/celab/text.h"

namespace tesla::celab {

struct Reasons {
    static constexpr std::size_t kColumns = 5;  // of a part: start and end in the reference, in the hypothesis; equal (1) or synonyms (0)

    std::vector<std::int32_t> parts;
    std::vector<std::int64_t> part_ends;                   // the parts of link k end before row part_ends[k]
    std::vector<std::uint8_t> essential;                   // whether something would be less covered without the link
    std::vector<double> reference_covered, hypothesis_covered;  // c(X) by span; NaN past the end of the text
};

Reasons reasons(const Vocabulary& vocabulary, const Text& reference, const Text& hypothesis,
                const std::vector<MatchedPair>& matches);

}  // namespace tesla::celab
