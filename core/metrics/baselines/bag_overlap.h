// What two bags have in common: each item as often as in the bag that has it less often. One object serves one thread and
// keeps its memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/flat_table.h"
#include "metrics/baselines/word_texts.h"

namespace tesla {

// Bags of keys, such as two word numbers in 64 bits.
class BagOverlap {
   public:
    std::int64_t common(const std::vector<std::uint64_t>& first, const std::vector<std::uint64_t>& second);

   private:
    FirstMet numbers_;
    std::vector<std::uint32_t> left_;  // of the first bag, by number
};

// The n-grams of a hypothesis that its references have, as BLEU counts them: an n-gram counts as often as in the hypothesis,
// but not more often than in the reference that has it most often.
//
// Longer n-grams are found from shorter ones: only where an n-gram is in both texts can one of n + 1 words be.
class NgramOverlap {
   public:
    // matches[n - 1] for n = 1 .. max_order
    void count(const WordSequence& hypothesis, const std::vector<WordSequence>& references, std::size_t max_order,
               double* matches);

   private:
    // An n-gram that begins at a word of its text.
    struct Ngram {
        std::size_t start;
        std::uint32_t number;
    };
    struct Counts {
        std::uint32_t in_hypothesis = 0, in_reference = 0, most_in_reference = 0;
    };
    // Makes n-grams longer by one word, to `n` words, and drops those that go past the end. Returns how many it kept.
    template <class Keep>
    std::size_t extend(Ngram* ngrams, std::size_t count, const WordSequence& text, std::size_t n, Keep&& keep);

    FirstMet numbers_;
    std::vector<Counts> counts_;  // by number
    std::vector<Ngram> hypothesis_;
    std::vector<std::vector<Ngram>> references_;
};

}  // namespace tesla
