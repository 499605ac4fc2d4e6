// The texts of a batch with the vectors of their words; made once, compared as often as one likes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/pairs.h"
#include "base/recycled_memory.h"
#include "language/analysis/analysis.h"
#include "language/analysis/word_vectors.h"
#include "matching/measures.h"
#include "matching/vectors.h"

namespace tesla {

// Reads the texts of a batch. Tokens and vectors, which learn the words of the batch, must outlive it.
class VectorReader {
   public:
    // `merged`: equal words of a text are one.
    VectorReader(const TokenArrays& tokens, WordVectors& vectors, bool merged)
        : tokens_(tokens), vectors_(vectors), merged_(merged) {
        vectors.learn(tokens.word, tokens.lemma);
    }
    VectorText read(std::size_t i, std::pmr::memory_resource* memory);

   private:
    const TokenArrays& tokens_;
    const WordVectors& vectors_;
    bool merged_;
    VectorTokens text_;  // the last that was read
    VectorScratch scratch_;
};

class VectorTexts {
   public:
    // The vectors, which learn the words of the batch, must outlive this. `merged`: equal words of a text are one.
    VectorTexts(const TokenArrays& tokens, WordVectors& vectors, bool merged);
    std::size_t size() const { return texts_.size(); }
    // Of all words, in 64ths.
    std::int64_t total_weight() const;

    // One row per pair, one column per problem; NaN where a problem does not exist (specification §5).
    static Measures match(const VectorTexts& reference, const VectorTexts& hypothesis, const TextPairs& pairs, double alpha);
    // Both batches hold one text: who sends how much to whom.
    static std::vector<VectorFlowEntry> flow(const VectorTexts& reference, const VectorTexts& hypothesis);

   private:
    static void check_together(const VectorTexts& reference, const VectorTexts& hypothesis);

    std::size_t dimensions_;
    Arena memory_;  // before the texts that live in it
    std::vector<VectorText> texts_;
};

}  // namespace tesla
