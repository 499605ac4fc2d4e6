// core/language/lm: n-gram language models (specification §8).
//
// Sorted arrays form a trie of the n-grams, last word first. training/ngram_estimator.h makes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/array_view.h"

namespace tesla {

constexpr unsigned kLongestNgram = 5;
// Word numbers with a meaning; those of ordinary words follow.
constexpr std::uint32_t kUnknownWord = 0, kSentenceStart = 1, kSentenceEnd = 2;

// The n-grams of one order, sorted by their words from the last to the first.
struct NgramLevel {
    std::vector<std::uint32_t> words;        // the first word of the n-gram; order 1: 0, 1, 2, ...
    std::vector<float> log_probability;      // natural logarithms
    std::vector<std::uint32_t> first_child;  // where the n-grams one word longer begin; empty at the highest order
    std::vector<double> log_backoff;         // of this n-gram as a context; empty at the highest order
};

// One walk a word: from the word back into its history finds the longest known n-gram, and on the way the backoff
// weights that the next word may need.
class NgramModel {
   public:
    // `children[n - 1]`: for every n-gram of order n the number of n-grams that are one word longer. Backoff weights are
    // not stored: each is what makes its context's probabilities sum to 1. `least_left` is the least share of mass that
    // is kept for the lower order, where rounded probabilities leave none. Throws std::invalid_argument for arrays that
    // do not fit each other.
    NgramModel(std::vector<std::vector<std::uint32_t>> words, std::vector<std::vector<float>> log_probabilities,
               const std::vector<std::vector<std::uint32_t>>& children, double least_left);

    std::size_t order() const { return levels_.size(); }
    std::size_t vocabulary() const { return levels_[0].words.size(); }

    // ln P of every word and of the sentence's end: `length` + 1 values.
    void score(const std::uint32_t* words, std::size_t length, double* out) const;
    // The same for many sentences, one after the other; sentence i has the words from offsets[i] to offsets[i + 1].
    std::vector<double> score_words(const ArrayView<std::int64_t>& offsets, const ArrayView<std::uint32_t>& words) const;
    // ln P of every sentence, its end included.
    std::vector<double> score_sentences(const ArrayView<std::int64_t>& offsets, const ArrayView<std::uint32_t>& words) const;
    // P(word | context) for every word; the context is in reading order.
    std::vector<double> distribution(const std::vector<std::uint32_t>& context) const;

   private:
    static constexpr std::uint32_t kNone = 0xFFFFFFFF;
    struct History;

    void normalise_unigrams();
    void compute_backoffs(std::size_t n, double least_left);
    std::vector<std::uint32_t> contexts_of(std::size_t n) const;
    std::uint32_t child(std::size_t n, std::uint32_t node, std::uint32_t word) const;
    double step(History& history, std::uint32_t word) const;

    std::vector<NgramLevel> levels_;
};

}  // namespace tesla
