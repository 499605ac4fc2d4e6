// Features of two texts without matching weighted n-grams (specification §8b): content and function words apart, rare
// words, numbers, names, word order, lengths, punctuation, letters of a foreign script.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <string>
#include <string_view>
#include <vector>

#include "base/flat_table.h"
#include "base/interrupt.h"
#include "base/pairs.h"
#include "base/recycled_memory.h"
#include "base/subsequence.h"
#include "language/analysis/analysis.h"
#include "language/analysis/word_facts.h"
#include "matching/equal_words.h"

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

// What takes time of its own, and is left out where nobody reads its columns.
struct SurfaceParts {
    bool rare_words = true, rare_lemmas = true;
    bool alignment = true;  // order, fragments
    bool scripts = true;    // foreign
};

// The parts that columns need; `read` says of each whether anyone reads it.
SurfaceParts surface_parts(const std::vector<bool>& read);

// Letters of one script.
struct ScriptCount {
    std::uint32_t block;
    std::size_t letters;
};

// Memory for reading texts, which serves all of a batch one after the other.
struct SurfaceScratch {
    std::u32string text;
    std::vector<std::uint32_t> capitals;
};

// One text, ready to be compared as often as one likes. It lives in `memory`.
class SurfaceText {
   public:
    SurfaceText(const SurfaceView& tokens, const WordFacts& facts, std::string_view utf8, SurfaceScratch& scratch,
                std::pmr::memory_resource* memory, const SurfaceParts& parts = {});

    std::size_t size() const { return lemmas.size(); }

    using Ids = std::pmr::vector<std::uint32_t>;
    Ids lemmas, words;                       // of the tokens; words are the same but for capitals
    std::pmr::vector<std::uint8_t> function;  // of the tokens
    // How much the tokens tell; empty where this is left out. Whole numbers, so that sums are exact in any order.
    std::pmr::vector<double> lemma_weights, word_weights;
    Ids numbers, capitals, punctuation;      // ascending, with repetition
    Ids unknown;                             // words that no list knows
    std::pmr::vector<ScriptCount> scripts;   // of the letters, ascending by block
    std::size_t letters = 0;

   private:
    void read_words(const SurfaceView& tokens, const WordFacts& facts, SurfaceScratch& scratch, const SurfaceParts& parts);
    void read_characters(std::string_view utf8, SurfaceScratch& scratch, const SurfaceParts& parts);
    bool read_ascii_signs(std::string_view utf8, SurfaceScratch& scratch);
    void read_letter(char32_t c, std::size_t& script);
};

// One object serves one thread and keeps its memory. The lemmas of two sentences are compared all with all. Those of longer
// texts, and where tokens are aligned, are numbered in the order in which they are met: arrays by number take the place of
// sorted lists, which machines are slow to sort and to walk along.
class SurfaceMatcher {
   public:
    explicit SurfaceMatcher(const SurfaceParts& parts = {}) : parts_(parts) {}

    void compare(const SurfaceText& reference, const SurfaceText& hypothesis, double* row);

   private:
    // How often the texts have a lemma as a content word and as a function word.
    struct Count {
        std::uint32_t x[2], y[2];
    };
    // What the tokens of y have in common with those of x.
    struct Common {
        std::size_t content = 0, function = 0, repeated = 0;
        double rare_lemmas = 0;
    };
    Common compare_lemmas(const SurfaceText& x, const SurfaceText& y);
    Common number_lemmas(const SurfaceText& x, const SurfaceText& y);
    double common_rare_words(const SurfaceText& x, const SurfaceText& y);
    void find_occurrences();
    std::size_t common_subsequence(std::size_t of_y);  // tokens of y
    std::size_t common_subsequence_of_long_texts();
    void align();
    std::size_t chunks() const;
    double share_in_order();
    double unknown_words(const SurfaceText& x, const SurfaceText& y);

    static constexpr std::uint32_t kNowhere = 0xFFFFFFFF;
    SurfaceParts parts_;
    bool sentences_ = false;
    EqualWords equal_;  // lemmas of sentences
    FirstMet numbers_;
    std::vector<std::uint32_t> x_, y_;  // the numbers of the tokens' lemmas
    std::vector<Count> counts_;         // by number
    std::vector<std::uint32_t> occurrences_;  // places of the tokens of x, ascending by number, then by place
    std::vector<std::uint32_t> first_;        // by number: where its occurrences begin
    std::vector<std::uint32_t> next_;
    std::vector<SymbolBlock> blocks_;  // of tokens of x, by lemma, then by place
    std::vector<std::size_t> block_of_;  // of every occurrence
    std::vector<std::uint64_t> steps_;
    std::vector<std::uint32_t> aligned_;           // for every token of y its place in x, or kNowhere
    std::vector<std::uint32_t> free_left_, free_right_;  // union-find over occurrences that are still free
    std::vector<std::uint32_t> tree_;
    std::vector<std::uint32_t> sorted_;
    Interrupt interrupt_;
};

// Reads the texts of a batch, which must outlive it.
class SurfaceReader {
   public:
    // The facts learn the words of the batch.
    SurfaceReader(const std::vector<std::string_view>& texts, const TokenArrays& tokens, WordFacts& facts,
                  const SurfaceParts& parts = {});
    SurfaceText read(std::size_t i, std::pmr::memory_resource* memory);

   private:
    const std::vector<std::string_view>& texts_;
    const TokenArrays& tokens_;
    const WordFacts& facts_;
    SurfaceParts parts_;
    SurfaceScratch scratch_;
};

// The surfaces of all texts of a batch; made once, compared as often as one likes.
class Surfaces {
   public:
    // The facts learn the words of the batch.
    Surfaces(const std::vector<std::string_view>& texts, const TokenArrays& tokens, WordFacts& facts);
    std::size_t size() const { return texts_.size(); }

    // One row of kSurfaceColumns per pair.
    static BatchArray<double> compare(const Surfaces& reference, const Surfaces& hypothesis, const TextPairs& pairs);

   private:
    Arena memory_;  // before the texts that live in it
    std::vector<SurfaceText> texts_;
};

}  // namespace tesla
