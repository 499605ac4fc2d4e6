// What a tagger knows of the word types of a lexicon, each looked at once.
//
// What a word says of its neighbours' labels mostly comes from its last letters and its class, so that many words say the
// same. It is kept once for all of them: there it stays in the processor's cache.
#pragma once

#include <cstddef>
#include <mutex>
#include <string>

#include "base/flat_table.h"
#include "base/fork_safe.h"
#include "base/stable_array.h"
#include "language/analysis/tagger.h"

namespace tesla {

// Many threads may use it at the same time.
class FeatureStore {
   public:
    explicit FeatureStore(const Tagger& tagger) : tagger_(tagger) {}

    // Writes where the features of some words are. They stay there as long as the store.
    void find(const std::u32string* forms, std::size_t count, const WordFeatures** features);

   private:
    // Of different features with one hash, no more are found again: nobody can make it search for long.
    static constexpr std::size_t kMostAlike = 8;

    // Under the lock. Equal features of words with digits are kept once: numbers with as many digits look the same to a tagger.
    const WordFeatures* keep(const WordFeatures& features);
    const WordFeatures* append(const WordFeatures& features);
    std::uint32_t sum_of(const NeighbourRows& rows);  // its number

    const Tagger& tagger_;
    ForkSafe<std::mutex> mutex_;
    StableArray<WordFeatures> words_;
    StableArray<OwnRows> own_rows_;  // of words whose sums eight bits do not hold
    StableArray<PackedScores> sums_;
    StableArray<NeighbourRows> sum_rows_;  // of which they are the sums
    FlatTable<> words_with_digits_{128}, sum_numbers_{128};
};

}  // namespace tesla
