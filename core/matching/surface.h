// Features of two texts without matching weighted n-grams (specification §8b): content and function words apart, rare
// words, numbers, names, word order, lengths, punctuation, letters of a foreign script.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/word_facts.h"
#include "base/interrupt.h"
#include "base/pairs.h"
#include "base/recycled_memory.h"
#include "base/small_sort.h"

namespace tesla {

// The tokens of one text, as far as its surface needs them.
struct SurfaceView {
    const std::uint32_t* word;
    const std::uint32_t* lemma;
    const std::uint8_t* function;
    std::size_t size;
};

// The names of the columns that SurfaceMatcher fills, in order: first what agrees (0 to 1, 1 for a copy of the reference),
// then from "fragments" on what is wrong (0 to 1, 0 for a copy).
inline constexpr const char* kSurfaceFeatures[] = {
    "content.p",  "content.r",  "function.p", "function.r", "rareword.p", "rareword.r", "rarelemma.p", "rarelemma.r",
    "number.p",   "number.r",   "capital.p",  "capital.r",  "lcs.p",      "lcs.r",      "order",       "punct.p",
    "punct.r",    "fragments",  "short",      "long",       "foreign",    "unknown",    "repeated",
};
inline constexpr std::size_t kSurfaceColumns = sizeof(kSurfaceFeatures) / sizeof(kSurfaceFeatures[0]);

// A multiset of ids with weights, which are whole numbers: sums are exact in any order.
struct WeightedIds {
    explicit WeightedIds(std::pmr::memory_resource* memory) : ids(memory), weights(memory) {}

    std::pmr::vector<std::uint32_t> ids;  // ascending, with repetition
    std::pmr::vector<double> weights;     // of each
    double total = 0;

    void reserve(std::size_t size);
    void add(std::uint32_t id, double weight);       // ids come in ascending order
    double overlap(const WeightedIds& other) const;  // the weights of the ids in both; an id weighs the same everywhere
};

// Letters of one script.
struct ScriptCount {
    std::uint32_t block;
    std::size_t letters;
};

// Memory for reading texts, which serves all of a batch one after the other.
struct SurfaceScratch {
    std::vector<std::uint64_t> ordered;  // an id, then the place where it stands
    BucketSorter sorter;
    std::u32string text, marks;
};

// One text, ready to be compared as often as one likes. It lives in `memory`.
class SurfaceText {
   public:
    SurfaceText(const SurfaceView& tokens, const WordFacts& facts, std::string_view utf8, SurfaceScratch& scratch,
                std::pmr::memory_resource* memory);

    WeightedIds content, function, rare_words, rare_lemmas, numbers, capitals, punctuation;
    std::pmr::vector<std::uint32_t> unknown;      // words that no list knows, ascending
    std::pmr::vector<std::uint32_t> lemmas;       // in order of the text; ids of lemmas and words have their bits turned
    std::pmr::vector<std::uint32_t> occurrences;  // places of the tokens, ascending by lemma, then by place
    std::pmr::vector<ScriptCount> scripts;        // of the letters, ascending by block
    std::size_t letters = 0;

   private:
    void read_words(const SurfaceView& tokens, const WordFacts& facts, SurfaceScratch& scratch);
    void read_characters(std::string_view utf8, SurfaceScratch& scratch);
    void read_ascii(std::string_view text, std::u32string& marks);
};

// One object serves one thread and keeps its memory.
class SurfaceMatcher {
   public:
    void compare(const SurfaceText& reference, const SurfaceText& hypothesis, double* row);

   private:
    struct Range {
        std::size_t begin, end;
    };
    void find_occurrences(const SurfaceText& x, const SurfaceText& y);
    std::size_t common_subsequence(const SurfaceText& x);
    void align(const SurfaceText& x, const SurfaceText& y);
    std::size_t chunks() const;
    double share_in_order();
    static double unknown_words(const SurfaceText& x, const SurfaceText& y);
    static double repeated_words(const SurfaceText& x, const SurfaceText& y);

    static constexpr std::uint32_t kNowhere = 0xFFFFFFFF;
    struct Block {
        std::uint32_t place;    // of sixty-four tokens of x
        std::uint64_t matches;  // a bit a token that has the lemma
    };
    std::vector<Range> occurrences_;  // for every token of y those of its lemma in x
    std::vector<Block> blocks_;  // by lemma, then by place
    std::vector<std::size_t> block_of_;  // of every occurrence
    std::vector<std::uint64_t> steps_;
    std::vector<std::uint32_t> aligned_;           // for every token of y its place in x, or kNowhere
    std::vector<std::uint32_t> free_left_, free_right_;  // union-find over occurrences that are still free
    std::vector<std::uint32_t> counts_;
    Interrupt interrupt_;
};

// The surfaces of all texts of a batch; made once, compared as often as one likes.
class Surfaces {
   public:
    // The facts learn the words of the batch.
    Surfaces(const std::vector<std::string_view>& texts, const TokenArrays& tokens, WordFacts& facts);
    std::size_t size() const { return texts_.size(); }

    // One row of kSurfaceColumns per pair.
    static std::vector<double> compare(const Surfaces& reference, const Surfaces& hypothesis, const TextPairs& pairs);

   private:
    Arena memory_;  // before the texts that live in it
    std::vector<SurfaceText> texts_;
};

}  // namespace tesla
