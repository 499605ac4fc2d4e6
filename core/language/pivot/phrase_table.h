// core/language/pivot: a phrase table as stored in its file (specification §6): sorted words, a trie of target phrases, and for each its
// pivot phrases with their counts. Nothing is built when it is loaded; the arrays may be memory-mapped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/array_view.h"

namespace tesla {

inline constexpr int kLongestPhrase = 4;  // words of a target or pivot phrase (specification §6)

// Words in ascending order of their bytes; a word's number is its place.
struct WordList {
    static constexpr std::uint32_t kMissing = 0xFFFFFFFF;

    ArrayView<std::uint8_t> text;
    ArrayView<std::uint32_t> ends;  // one more than there are words, from 0 on

    std::size_t size() const { return ends.size - 1; }
    std::string_view word(std::uint32_t id) const {
        return {reinterpret_cast<const char*>(text.data) + ends[id], ends[id + 1] - ends[id]};
    }
    std::uint32_t find(std::string_view word) const;
};

// What a table says of a phrase: N(p), and its pivot phrases with N(p, f), the most frequent first. The words are the table's.
struct PhraseEntry {
    struct Option {
        std::vector<std::string_view> words;
        std::uint32_t count;
    };
    std::uint32_t count = 0;
    std::vector<Option> options;
};

// Nodes of the trie lie level by level, brothers in ascending order of their words. The nodes of the first level are
// the target words themselves, so that a look-up begins without a search.
struct PhraseTable {
    static constexpr std::uint32_t kNoNode = 0xFFFFFFFF;
    static constexpr std::uint8_t kFunctionBit = 0x80;  // in `pivot_tags`, beside the universal tag

    WordList target, pivot;
    ArrayView<std::uint8_t> pivot_tags;
    ArrayView<std::uint32_t> node_word;     // the last word of the node's phrase
    ArrayView<std::uint32_t> node_child;    // children of node i: node_child[i] .. node_child[i + 1]
    ArrayView<std::uint32_t> node_count;    // N(p); 0 where the node is only on the way to longer phrases
    ArrayView<std::uint32_t> node_option;   // options of node i: node_option[i] .. node_option[i + 1], the best first
    ArrayView<std::uint32_t> option_phrase; // the pivot phrase
    ArrayView<std::uint32_t> option_count;  // N(p, f)
    ArrayView<std::uint32_t> phrase_ends;   // one more than there are pivot phrases, from 0 on
    ArrayView<std::uint32_t> phrase_words;
    double total = 1;                  // the sum of N over all phrases, those that were pruned included

    // Throws std::invalid_argument unless every number leads somewhere: a damaged file must not crash anything.
    void check() const;
    std::uint32_t child(std::uint32_t node, std::uint32_t word) const;
    // The node of a phrase, which may be only on the way to longer ones; kNoNode: there is none.
    std::uint32_t find(const std::vector<std::string>& phrase) const;
    // Empty for a phrase that the table does not have.
    PhraseEntry look_up(const std::vector<std::string>& phrase) const;
};

}  // namespace tesla
