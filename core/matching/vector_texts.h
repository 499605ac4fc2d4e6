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

// The tokens of each word of a text, in order, and what each of them has left to trade, in 64ths.
class WordTokens {
   public:
    WordTokens(const VectorTokens& tokens, std::vector<std::uint32_t> word_of_token, std::size_t words);
    // The first token of the word that has something left; there must be one.
    std::uint32_t first_open(std::uint32_t word);
    void trade(std::uint32_t token, std::int64_t amount) { left_[token] -= amount; }
    std::int64_t left(std::uint32_t token) const { return left_[token]; }

   private:
    std::vector<std::uint32_t> tokens_, next_;  // by word; where the first token that may be open stands there, for each word
    std::vector<std::int64_t> left_;
};

// Reads the texts of a batch. Tokens and vectors, which learn the words of the batch, must outlive it.
class VectorReader {
   public:
    VectorReader(const TokenArrays& tokens, WordVectors& vectors) : tokens_(tokens), vectors_(vectors) {
        vectors.learn(tokens.word, tokens.lemma);
    }
    VectorText read(std::size_t i, std::pmr::memory_resource* memory);
    // Of the text that was read last, which has so many words: the tokens of each word.
    WordTokens tokens_of_words(const VectorText& text) const;

   private:
    const TokenArrays& tokens_;
    const WordVectors& vectors_;
    VectorTokens text_;  // the last that was read
    VectorScratch scratch_;
};

class VectorTexts {
   public:
    // The vectors, which learn the words of the batch, must outlive this.
    VectorTexts(const TokenArrays& tokens, WordVectors& vectors);
    std::size_t size() const { return texts_.size(); }
    // Of all words, in 64ths.
    std::int64_t total_weight() const;

    // One row per pair, one column per problem; NaN where a problem does not exist (specification §5).
    static Measures match(const VectorTexts& reference, const VectorTexts& hypothesis, const TextPairs& pairs, double alpha);

   private:
    std::size_t dimensions_;
    Arena memory_;  // before the texts that live in it
    std::vector<VectorText> texts_;
};

// Both batches hold one text: which token sends how much to which. The flow is found between words, of which a long text has
// few, and then shared out among their tokens in the order of the text.
std::vector<VectorFlowEntry> flow_of_tokens(const TokenArrays& reference, const TokenArrays& hypothesis, WordVectors& vectors);

}  // namespace tesla
