// Longest common subsequences of two texts, 64 words of the hypothesis at once. Memory grows with the length of the texts, and for
// `mark` with its power of 3/2. One object serves one thread and keeps its memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/interrupt.h"
#include "base/subsequence.h"
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
    static constexpr std::size_t kLeastStretch = 512;  // of words of the reference, whose rows are kept together

    // Notes where each word of the hypothesis stands.
    void begin(const WordSequence& reference, const WordSequence& hypothesis);
    // The row of the table after one more word of the reference.
    void advance(std::uint64_t* row, std::uint32_t reference_word);
    // The rows for the words of the reference from `start` to `end`, after a given one.
    void fill_rows(const std::uint64_t* before, const WordSequence& reference, std::size_t start, std::size_t end);
    // The length for the prefix of the reference that a row stands for and `width` words of the hypothesis.
    static std::size_t length_in(const std::uint64_t* row, std::size_t width);

    FirstMet numbers_;
    std::size_t blocks_ = 0;              // of 64 words of the hypothesis
    std::vector<std::uint32_t> words_;    // of the hypothesis, by their numbers
    std::vector<std::uint32_t> first_;    // by number: where the blocks with the word begin
    std::vector<std::uint32_t> next_;
    std::vector<SymbolBlock> places_;     // by number, then by place
    std::vector<std::uint64_t> rows_;     // as in base/subsequence.h
    std::vector<std::uint64_t> kept_;     // the rows before each stretch of the reference
    Interrupt interrupt_;
};

}  // namespace tesla
