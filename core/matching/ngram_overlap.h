// How many n-grams of all lengths up to four two texts have in common (specification §13, dissimilarity).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/array_view.h"
#include "base/pairs.h"

namespace tesla {

// The words of a batch of texts.
struct WordColumns {
    ArrayView<std::int64_t> offsets;
    ArrayView<std::uint32_t> words;

    std::size_t size() const { return offsets.size - 1; }
};

// Of every pair: the n-grams, n = 1 .. longest, that both texts have.
std::vector<std::int64_t> ngram_overlaps(const WordColumns& x, const WordColumns& y, const TextPairs& pairs, int longest);

}  // namespace tesla
