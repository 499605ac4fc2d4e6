// Words that mean nearly the same (specification §8b, `vec`): similarity of words by their vectors, and what two texts share.
//
// The cosine of two vectors of 8-bit numbers is rounded down to 160ths by comparing whole numbers. All thresholds and
// steps of SPEC are multiples of 1/160, so that everything after it is exact and the same on every machine.
//
// Sentences: their words are compared token by token, and both flows read tables of gains. To put equal words together would
// take longer, and changes nothing: what two equal suppliers or consumers can trade is what one of both weights can.
//
// Whole books: where two texts have more than four million pairs of different words, only form and lemma count. The
// number of similar words grows with the square of the length, and the time of a flow with more than that.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <vector>

#include "base/flat_table.h"
#include "base/interrupt.h"
#include "base/share.h"
#include "language/analysis/word_vectors.h"
#include "matching/settled_transport.h"
#include "matching/small_transport.h"
#include "simd/kernels.h"

namespace tesla {

inline constexpr std::size_t kMostVectorWords = std::size_t{1} << 16;  // different ones in a text

// A token, as far as vectors need it.
struct VectorToken {
    WeightedWord word;
    std::uint32_t lemma;
};
using VectorTokens = std::vector<VectorToken>;  // of one text

// What is needed while a text is made ready.
struct VectorScratch {
    struct Bigram {
        std::uint32_t first, second;
        std::int64_t weight;
    };
    FirstMet numbers;
    std::vector<std::uint32_t> places;  // of every token: the number of its word; in a sentence nobody asks
    std::vector<std::uint32_t> counts;  // of every word: how many tokens it has
    std::vector<std::uint32_t> next;
    std::vector<Bigram> bigrams;
    std::vector<std::uint32_t> repeated;  // bigrams that may come again, by their numbers
};

// One text, ready to be compared as often as one likes. It lives in `memory`; vectors stay where they are.
class VectorText {
   public:
    // Equal words become one with the sum of their weights; in a sentence every token stands for itself.
    VectorText(const VectorTokens& tokens, VectorScratch& scratch, std::pmr::memory_resource* memory);

    std::size_t size() const { return weight.size(); }
    VectorWords words() const { return {word.data(), lemma.data(), vector.data(), square.data(), inverse.data(), size()}; }

    bool is_sentence;  // so short that its words are its tokens, and its bigrams are neighbours among them

    // Words in order of their first occurrence; kNoWord fills up the last block of rows (`whole_blocks`).
    std::pmr::vector<std::uint32_t> word, lemma;
    std::pmr::vector<const std::int8_t*> vector;  // nullptr: has none
    std::pmr::vector<std::int64_t> square;        // of the length of the vector
    std::pmr::vector<float> inverse;              // of the length, roughly
    std::pmr::vector<std::int64_t> weight;
    std::int64_t total = 0;

    // Bigrams in ascending order of their first words; those of word a lie from bigrams_of[a] to bigrams_of[a + 1].
    std::pmr::vector<std::uint32_t> bigrams_of, second;
    std::pmr::vector<std::int64_t> bigram_weight;
    std::int64_t bigram_total = 0;

   private:
    void resize(std::size_t words);
    void set_word(std::size_t a, const VectorToken& token);
    void add_tokens(const VectorTokens& tokens);
    void add_words(const VectorTokens& tokens, VectorScratch& scratch);
    void add_bigrams(const VectorTokens& tokens, VectorScratch& scratch);
};

// The problems that VectorMatcher solves, in order.
enum VectorProblem : std::size_t { kBest0, kBest5, kFlow1, kFlow2, kVectorProblems };
inline constexpr const char* kVectorProblemNames[kVectorProblems] = {"vec.best0", "vec.best5", "vec.1", "vec.2"};

// What each side gets of the other. With a flow both amounts are its value.
struct SharedMeaning {
    std::int64_t reference_gain = 0, hypothesis_gain = 0;  // in units of `unit` times the weights below
    std::int64_t reference = 0, hypothesis = 0;            // the sum of the weights
    std::int64_t unit = 1;

    bool exists() const { return reference > 0 || hypothesis > 0; }
    double precision() const { return share_of(hypothesis_gain, unit * hypothesis); }
    double recall() const { return share_of(reference_gain, unit * reference); }
    double f(double alpha) const {
        const double p = precision(), r = recall();
        return p == 0 || r == 0 ? 0.0 : p * r / (r + alpha * (p - r));
    }
};

// What a word, or a token, of the reference sends to one of the hypothesis.
struct VectorFlowEntry {
    std::uint32_t reference, hypothesis;
    std::int32_t similarity;  // in 160ths
    std::int32_t gain;        // in 16ths
    std::int64_t amount;      // in 64ths
};

// One object serves one thread and keeps its memory.
class VectorMatcher {
   public:
    using Problems = std::array<SharedMeaning, kVectorProblems>;

    // `best`: whether anyone asks for kBest0 or kBest5.
    explicit VectorMatcher(std::size_t dimensions, bool best = true);
    Problems match(const VectorText& reference, const VectorText& hypothesis);
    std::vector<VectorFlowEntry> flow(const VectorText& reference, const VectorText& hypothesis);  // of kFlow1, between words

   private:
    struct Link {
        std::uint32_t to;
        std::uint8_t similarity;  // in 160ths
    };
    Problems match_in_order(const VectorText& x, const VectorText& y);
    void compare_words(const VectorText& x, const VectorText& y, bool links);
    void find_best(const std::uint8_t* cells, std::uint8_t& best);
    void find_links(const std::uint8_t* cells, std::size_t size);
    void match_best(const VectorText& x, const VectorText& y, Problems& problems) const;
    std::int64_t small_flow_of_words(const VectorText& x, const VectorText& y);
    std::int64_t small_flow_of_bigrams(const VectorText& x, const VectorText& y);
    std::uint8_t linked(std::uint32_t a, std::uint32_t b) const;
    std::int64_t flow_of_words(const VectorText& x, const VectorText& y);
    std::int64_t flow_of_bigrams(const VectorText& x, const VectorText& y);

    std::size_t dimensions_, width_;  // width_: the dimensions rounded up for the kernels
    bool best_;
    const Kernels& kernels_;
    std::vector<std::int16_t> rows_, blocks_;  // vectors of x and of y, arranged for the kernels
    std::vector<std::uint8_t> cells_;  // similarities in 160ths: all of them, or some rows of a book
    std::size_t stride_ = 0;           // between their rows
    bool dense_ = true;
    std::vector<std::uint8_t> best_x_, best_y_;
    std::vector<std::uint32_t> link_first_;  // for every word of x its links: those that a flow can use
    std::vector<Link> links_;
    std::vector<std::uint8_t> gains_, bigram_gains_;  // of sentences
    SmallTransport small_transport_;
    SettledTransport transport_;
    Interrupt interrupt_;
};

}  // namespace tesla
