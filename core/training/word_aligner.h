// Words of sentence pairs that translate each other, for phrase tables (specification §6).
//
// Alignment by agreement (Liang, Taskar & Klein 2006): two models, one in each direction, that learn from the product of their
// posteriors. alignment_chain.h computes the posteriors of one sentence in one direction.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "training/alignment_chain.h"

namespace tesla {

// Expected counts are whole numbers of small steps: their sum does not depend on the order, nor on the number of threads.
class ExpectedCount {
   public:
    void add(double value, double steps) {
        const auto whole = static_cast<std::uint64_t>(value * steps + 0.5);
        if (whole != 0) sum_.fetch_add(whole, std::memory_order_relaxed);
    }
    std::uint64_t take() { return sum_.exchange(0, std::memory_order_relaxed); }

   private:
    std::atomic<std::uint64_t> sum_{0};
};

enum class AlignmentModel { Lexical, Sequential };  // Model 1, hidden Markov model

struct Posteriors {  // rows: words that are generated; columns: words that generate them
    std::vector<double> pivot_by_target, target_by_pivot;
};

class WordAligner {
   public:
    // Sentences as words separated by single spaces; both lists have the same length.
    WordAligner(const std::vector<std::string_view>& target, const std::vector<std::string_view>& pivot);

    std::size_t size() const { return target_.ends.size(); }
    // Adds the expectations of some sentence pairs. Several threads may do so at once.
    void expect(AlignmentModel model, std::size_t from, std::size_t to);
    // New parameters from the expectations, which begin anew.
    void maximise(AlignmentModel model);
    Posteriors posteriors(AlignmentModel model, std::size_t pair) const;
    // Pharaoh links of one direction: each generated word with the word that most likely generated it, if its posterior is
    // `threshold` or more. Direction 0: pivot words are generated; 1: target words.
    std::vector<std::string> directed_links(std::size_t direction, std::size_t from, std::size_t to, double threshold) const;

    std::size_t target_size(std::size_t pair) const { return target_.size(pair); }
    std::size_t pivot_size(std::size_t pair) const { return pivot_.size(pair); }
    const JumpWeights& jump_weights(std::size_t direction) const { return directions_[direction].weights; }

   private:
    struct Side {
        std::vector<std::uint32_t> words;
        std::vector<std::size_t> ends;
        std::size_t vocabulary = 0;
        void read(const std::vector<std::string_view>& lines);
        std::size_t start(std::size_t k) const { return k == 0 ? 0 : ends[k - 1]; }
        std::size_t size(std::size_t k) const { return ends[k] - start(k); }
    };
    struct Direction {  // 0: target words generate pivot words; 1: the other way round
        std::vector<double> null_chance;
        std::vector<ExpectedCount> null_count;
        JumpWeights weights;
        std::array<ExpectedCount, kJumpKinds> jumps, exposures;
    };
    struct WordPair {
        double chance[2] = {1.0, 1.0};
        ExpectedCount count;
    };
    class Scratch;
    void number_pairs();
    std::uint32_t pair_target(std::size_t pair) const { return static_cast<std::uint32_t>(pair_words_[pair] >> 32); }
    std::uint32_t pair_pivot(std::size_t pair) const { return static_cast<std::uint32_t>(pair_words_[pair]); }
    void infer(AlignmentModel model, std::size_t pair, Scratch& scratch) const;

    Side target_, pivot_;
    std::vector<std::uint32_t> cells_;      // of each sentence pair, target word by target word: the number of the word pair
    std::vector<std::size_t> cell_starts_;
    std::vector<std::uint64_t> pair_words_;  // target word, then pivot word
    std::vector<WordPair> pairs_;
    Direction directions_[2];
};

}  // namespace tesla
