// core/metrics: from analysed texts to scores (specification §5, §8b), a batch at a time.
//
// A FeatureGroup (here; all of them in groups.h) compares pairs of texts: one row per pair, one column per feature. A
// Combination (combination.h) turns rows into scores. A Scorer (scorer.h) does both for all segments of a batch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "base/array_view.h"
#include "base/pairs.h"
#include "language/analysis/analysis.h"

namespace tesla {

// Analysed texts: their tokens, and the texts themselves in NFC.
struct AnalysedTexts {
    const TokenArrays& tokens;
    const std::vector<std::string_view>& texts;
};

// References: those of the numbers in `present`, ascending, are compared with the hypotheses of the same numbers.
struct AnalysedStream {
    AnalysedTexts texts;
    ArrayView<std::int64_t> present;
};

using Rows = BatchArray<double>;  // a matrix, row by row; NaN where a feature does not exist

class FeatureGroup {
   public:
    // What a group needs of the texts of a batch; made once, compared as often as one likes.
    struct Prepared {
        virtual ~Prepared() = default;
    };

    virtual ~FeatureGroup() = default;
    virtual std::size_t columns() const = 0;
    virtual std::unique_ptr<Prepared> prepare(const AnalysedTexts& texts) const = 0;
    virtual Rows compare(const Prepared& reference, const Prepared& hypothesis, const TextPairs& pairs) const = 0;
    // With the first text of each pair as the reference, and with the second.
    virtual std::pair<Rows, Rows> compare_both_ways(const Prepared& texts, const TextPairs& pairs) const {
        return {compare(texts, texts, pairs), compare(texts, texts, {pairs.hypothesis, pairs.reference})};
    }
    // Is told the row of a text against the reference that it has in a stream. The texts come in their order.
    using TakeRow = std::function<void(std::size_t stream, std::size_t text, const double* row)>;
    // Texts that are compared once are not kept: the same memory, which the cache holds, serves all segments. `read` says of
    // each column whether anyone reads it; what stands in the others does not matter.
    virtual void compare_segments(const std::vector<AnalysedStream>& references, const AnalysedTexts& hypothesis,
                                  const std::vector<bool>& read, const TakeRow& take) const = 0;
};

}  // namespace tesla
