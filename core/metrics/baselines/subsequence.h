// Longest common subsequences of two texts, 64 words of the hypothesis at once. One object serves one thread and keeps its memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/interrupt.h"
#include "metrics/baselines/bag_overlap.h"
#include "metrics/baselines/word_texts.h"

namespace tesla {

class CommonSubsequence {
   public:
    std::size_t length(const WordSequence& reference, const WordSequence& hypothesis);
    // Marks the words of the reference that belong to one longest common subsequence: the one that rouge-score picks.
    // `marked` has one place per word of the reference.
    void mark(const WordSequence& reference, const WordSequence& hypothesis, std::vector<char>& marked);

   private:
    static constexpr std::size_t kBits = 64;

    // Notes where each word of the hypothesis stands, and begins the table with its first row.
    void begin(const WordSequence& reference, const WordSequence& hypothesis);
    // The row of the table after one more word of the reference.
    void advance(std::uint32_t reference_word, const std::uint64_t* row, std::uint64_t* next);
    // The length for the prefix of the reference that a row stands for and `width` words of the hypothesis.
    static std::size_t length_in(const std::uint64_t* row, std::size_t width);

    FirstMet numbers_;
    std::size_t words_ = 0, blocks_ = 0;  // of the hypothesis: different words, blocks of 64 words
    std::vector<std::uint64_t> places_;   // of each different word, one bit per word of the hypothesis
    std::vector<std::uint64_t> rows_;     // as in base/subsequence.h
    Interrupt interrupt_;
};

}  // namespace tesla
