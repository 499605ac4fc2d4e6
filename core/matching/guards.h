// Evidence against texts that buy a score (specification §8b): added and repeated words, broken order, numbers and
// negations that differ. Every column is a penalty from 0 to 1, and 0 for a copy of the reference.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/array_view.h"
#include "base/pairs.h"

namespace tesla {

inline constexpr const char* kGuardFeatures[] = {"padding",  "insertion", "surplus", "digression", "stray",
                                                 "disorder", "stutter",   "numbers", "negation"};
inline constexpr std::size_t kGuardColumns = sizeof(kGuardFeatures) / sizeof(kGuardFeatures[0]);
inline constexpr std::size_t kNegationColumn = kGuardColumns - 1;

// A particle (not, ne) or a word that may go with one in the same clause (rien, nikdo): the larger number counts.
enum NegationKind : std::uint8_t { kNoNegation = 0, kParticle = 1, kNegativeWord = 2 };

// The number of a token that is an XML entity: no word.
inline constexpr std::uint32_t kMarkup = 1;

// The tokens of a batch: lemmas, function words, the key of the number that a word is (0: none), NegationKind, and 1 where a
// sentence begins (the first one does not count).
struct GuardTokens {
    ArrayView<std::int64_t> offsets;
    ArrayView<std::uint32_t> lemma;
    ArrayView<std::uint8_t> function;
    ArrayView<std::uint32_t> number;
    ArrayView<std::uint8_t> negation;
    ArrayView<std::uint8_t> starts;

    void check() const;
};

// One text, ready to be compared as often as one likes.
struct GuardText {
    GuardText(const GuardTokens& tokens, std::size_t from, std::size_t to);

    struct Count {
        std::uint32_t lemma, count;
    };
    std::size_t size = 0;  // words
    std::vector<std::uint32_t> content;                         // lemmas of content words, in order of the text
    std::vector<std::size_t> sentence_ends;                     // in `content`, of the sentences that have content words
    std::vector<Count> counts;                                  // the same, ascending by lemma
    std::vector<std::pair<std::uint32_t, std::uint32_t>> once;  // lemma and place of words that occur once, ascending
    std::vector<std::uint32_t> numbers;                         // ascending
    std::size_t stutters = 0;                                   // words equal to the one before
    std::size_t negations = 0;
};

// One object serves one thread and keeps its memory.
class GuardMatcher {
   public:
    void compare(const GuardText& reference, const GuardText& hypothesis, double* row);

   private:
    struct Partners {
        std::size_t matched, longest_unmatched_run;  // content words of y
    };
    Partners partners(const GuardText& x, const GuardText& y);
    void free_partners(const GuardText& x);
    bool take_partner(const GuardText& x, std::uint32_t lemma);
    double stray(const GuardText& x, const GuardText& y);
    double disorder(const GuardText& x, const GuardText& y);
    std::size_t inversions(std::size_t from, std::size_t to);

    std::vector<std::uint32_t> free_;  // of every lemma of x how many are still free
    std::vector<std::pair<std::uint32_t, std::uint32_t>> places_;  // of words in both texts: in y, in x
    std::vector<std::uint32_t> sequence_, merged_;
};

class Guards {
   public:
    explicit Guards(const GuardTokens& tokens);
    std::size_t size() const { return texts_.size(); }

    // One row of kGuardColumns per pair.
    static std::vector<double> compare(const Guards& reference, const Guards& hypothesis, const TextPairs& pairs);

   private:
    std::vector<GuardText> texts_;
};

}  // namespace tesla
