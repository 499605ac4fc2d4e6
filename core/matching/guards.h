// Evidence against texts that buy a score (specification §8b): added and repeated words, broken order, numbers and
// negations that differ. Every column is a penalty from 0 to 1, and 0 for a copy of the reference.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <string_view>
#include <vector>

#include "base/flat_table.h"
#include "base/pairs.h"
#include "base/recycled_memory.h"
#include "matching/equal_words.h"

namespace tesla {

inline constexpr const char* kGuardFeatures[] = {"padding",  "insertion", "surplus", "digression", "stray",
                                                 "disorder", "stutter",   "numbers", "negation"};
inline constexpr std::size_t kGuardColumns = sizeof(kGuardFeatures) / sizeof(kGuardFeatures[0]);
inline constexpr std::size_t kStrayColumn = 4, kNegationColumn = kGuardColumns - 1;
static_assert(std::string_view(kGuardFeatures[kStrayColumn]) == "stray");

// The tokens of one text: lemmas, function words, the key of the number that a word is (0: none), NegationKind (at most
// kNegativeWord), and 1 where a sentence begins (the first one does not count).
struct GuardView {
    const std::uint32_t* lemma;
    const std::uint8_t* function;
    const std::uint32_t* number;
    const std::uint8_t* negation;
    const std::uint8_t* starts;
    std::size_t size;
};

// One text, ready to be compared as often as one likes. It lives in `memory`.
struct GuardText {
    GuardText(GuardView tokens, std::pmr::memory_resource* memory);

    std::size_t size() const { return lemmas.size(); }

    std::pmr::vector<std::uint32_t> lemmas;    // of the words
    std::pmr::vector<std::uint8_t> function;   // of the words
    std::pmr::vector<std::uint32_t> numbers;   // ascending
    std::pmr::vector<std::size_t> sentence_ends;  // among the content words, of the sentences that have such words
    std::size_t content = 0;                   // words
    std::size_t stutters = 0;                  // words equal to the one before
    std::size_t negations = 0;
};

// One object serves one thread and keeps its memory. The lemmas of two sentences are compared all with all; those of longer
// texts are numbered in the order in which they are met, as in SurfaceMatcher.
class GuardMatcher {
   public:
    void compare(const GuardText& reference, const GuardText& hypothesis, double* row);

   private:
    struct Count {
        std::uint32_t content = 0;    // words of x that have the lemma
        std::uint32_t x = 0, y = 0;   // words of any kind
        std::uint32_t place = 0;      // the last one of x
    };
    struct Partners {
        std::size_t matched, longest_unmatched_run;  // content words of y
    };
    void compare_lemmas(const GuardText& x, const GuardText& y);
    void number_lemmas(const GuardText& x, const GuardText& y);
    Partners partners(const GuardText& y);
    void take_partners(const GuardText& y, bool backwards);
    double stray(const GuardText& x, const GuardText& y);
    double disorder(const GuardText& x, const GuardText& y);
    void find_sequence(const GuardText& y);
    std::size_t inversions(std::size_t places);
    std::size_t inversions_by_merging(std::size_t from, std::size_t to);

    bool sentences_ = false;
    std::vector<std::uint8_t> taken_;  // of every word of y: is it a content word, and has it a partner in x?
    std::vector<std::uint32_t> sequence_, merged_;  // places in x of words that both texts have once, in the order of y
    // Of sentences.
    EqualWords equal_;
    std::uint64_t content_x_ = 0, content_y_ = 0;  // a bit for every content word
    // Of longer texts.
    FirstMet numbers_;
    std::vector<std::uint32_t> y_;     // the numbers of the lemmas of y
    std::vector<Count> counts_;        // by number
    std::vector<std::uint32_t> free_;  // of every lemma of x how many are still free
};

class Guards {
   public:
    // read(i, memory) gives the text of a number.
    template <class Read>
    Guards(std::size_t texts, Read&& read) {
        texts_.reserve(texts);
        for (std::size_t i = 0; i < texts; ++i) texts_.push_back(read(i, &memory_));
    }
    std::size_t size() const { return texts_.size(); }

    // One row of kGuardColumns per pair.
    static BatchArray<double> compare(const Guards& reference, const Guards& hypothesis, const TextPairs& pairs);

   private:
    Arena memory_;  // before the texts that live in it
    std::vector<GuardText> texts_;
};

}  // namespace tesla
