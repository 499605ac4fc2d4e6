// Counted phrase pairs as sorted runs on disk: what does not fit into memory is merged when it is read.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "language/pivot/phrase_table.h"

namespace tesla {

using Phrase = std::array<std::uint32_t, kLongestPhrase>;  // numbers of words, one more than their places; 0: no more
struct PhraseCount {
    Phrase target, pivot;
    std::uint32_t count;
};

// Counts stay at the largest number there is rather than begin anew.
inline std::uint32_t added(std::uint32_t a, std::uint32_t b) {
    constexpr std::uint32_t most = std::numeric_limits<std::uint32_t>::max();
    return a > most - b ? most : a + b;
}

// Whose words the numbers of a run mean, and how many words there are.
struct PhraseRunOwner {
    std::uint64_t id;
    std::size_t target_words, pivot_words;
};

// Writes the pairs, sorted by target and pivot, equal ones added up. Throws std::runtime_error where that fails.
void write_phrase_run(std::vector<PhraseCount>& pairs, const std::string& path, std::uint64_t owner);
// Calls `visit` with the pairs of all runs as one, sorted, equal ones added up. Throws std::runtime_error for a run that is
// damaged or has another owner; the numbers of words that were visited before exist in any case.
void merge_phrase_runs(const std::vector<std::string>& paths, const PhraseRunOwner& owner,
                       const std::function<void(const PhraseCount&)>& visit);

}  // namespace tesla
