// The vectors and weights of a lexicon's words (specification §8b, `vec`); every word type is looked up once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <mutex>
#include <string_view>
#include <vector>

#include "base/array_view.h"
#include "base/fork_safe.h"
#include "base/portable.h"
#include "language/analysis/character_map.h"
#include "language/analysis/learned_words.h"
#include "language/analysis/vector_table.h"
#include "language/analysis/word_facts.h"

namespace tesla {

// What the matching by vectors needs of a word.
struct WeightedWord {
    WordVector vector;
    std::uint32_t folded;  // equal numbers: the same form but for capitals
    std::uint32_t weight;  // how much the word tells, in 64ths
};

// Many threads may use it at the same time. Vectors stay where they are for as long as this lives.
class WordVectors {
   public:
    // `as_entries` turns words into what the table has. A table of whole words is also asked for the lemma of a word that it
    // does not have. Where the facts have no weights, all words weigh the same.
    WordVectors(const VectorTable& table, CharacterMap& as_entries, WordFacts& facts)
        : table_(table), as_entries_(as_entries), facts_(facts) {}

    void learn(const ArrayView<std::uint32_t>& words, const ArrayView<std::uint32_t>& lemmas);
    // Of a token whose word and lemma were learned. Written in place: compilers put together what is returned, and then the
    // processor waits for its parts.
    void read(std::uint32_t word, std::uint32_t lemma, WeightedWord& known) const {
        known = words_[word];
        if (!known.vector.values && !table_.has_pieces()) known.vector = lemmas_[lemma];
    }
    void prefetch(std::uint32_t word) const { prefetch_memory(&words_[word]); }  // asks for the memory that is read
    std::size_t dimensions() const { return table_.dimensions(); }

   private:
    std::vector<WordVector> look_up(const std::vector<std::string_view>& entries);
    std::uint32_t weight_of(std::uint32_t word) const;

    const VectorTable& table_;
    CharacterMap& as_entries_;
    WordFacts& facts_;
    LearnedWords<WeightedWord, WordVector> words_;
    LearnedWords<WordVector> lemmas_;
    ForkSafe<std::mutex> memory_mutex_;
    std::pmr::monotonic_buffer_resource memory_;  // of vectors that are not in the table
};

}  // namespace tesla
