#include "language/pivot/phrase_table.h"

#include <algorithm>
#include <string>

#include "base/checks.h"

namespace tesla {

std::uint32_t WordList::find(std::string_view wanted) const {
    std::uint32_t low = 0, high = static_cast<std::uint32_t>(size());
    while (low < high) {
        std::uint32_t middle = low + (high - low) / 2;
        if (word(middle) < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    return low < size() && word(low) == wanted ? low : kMissing;
}

namespace {

constexpr char kChildren[] = "the phrase table's children lead nowhere", kOptions[] = "the phrase table's options lead nowhere";
constexpr char kPhrases[] = "the phrase table's pivot phrases lead nowhere", kCounts[] = "the phrase table's counts lead nowhere";

// Offsets from 0 to `items`, ascending.
void check_offsets(const ArrayView<std::uint32_t>& offsets, std::size_t rows, std::size_t items, const char* otherwise) {
    require(offsets.size == rows + 1 && offsets[0] == 0 && offsets[rows] == items, otherwise);
    require(std::is_sorted(offsets.data, offsets.data + offsets.size), otherwise);
}

void check_words(const WordList& words, const char* otherwise) {
    require(words.ends.size > 0, otherwise);
    check_offsets(words.ends, words.size(), words.text.size, otherwise);
    for (std::uint32_t i = 0; i < words.size(); ++i) {
        std::string_view word = words.word(i);
        require(!word.empty() && (static_cast<unsigned char>(word[0]) & 0xC0) != 0x80, otherwise);  // begins a character
        require(i == 0 || words.word(i - 1) < word, otherwise);
    }
}

void check_numbers(const ArrayView<std::uint32_t>& numbers, std::size_t limit, const char* otherwise) {
    require(std::all_of(numbers.data, numbers.data + numbers.size, [=](std::uint32_t x) { return x < limit; }), otherwise);
}

}  // namespace

void PhraseTable::check() const {
    check_words(target, "the phrase table's words lead nowhere");
    check_words(pivot, "the phrase table's pivot words lead nowhere");
    require(pivot_tags.size == pivot.size(), "the phrase table's tags lead nowhere");
    const std::size_t nodes = node_word.size;
    require(nodes >= target.size() && node_count.size == nodes && total > 0, "the phrase table's nodes lead nowhere");
    check_numbers(node_word, target.size(), "the phrase table's words of nodes lead nowhere");
    for (std::size_t i = 0; i < target.size(); ++i) require(node_word[i] == i, "the phrase table's first nodes lead nowhere");
    // The children of node 0 come right after the first level; every later node is the child of an earlier one.
    require(node_child.size == nodes + 1 && node_child[0] == target.size() && node_child[nodes] == nodes, kChildren);
    require(std::is_sorted(node_child.data, node_child.data + node_child.size), kChildren);
    for (std::size_t i = 0; i < nodes; ++i) {
        require(node_child[i] == node_child[i + 1] || node_child[i] > i, kChildren);
        for (std::size_t k = node_child[i] + 1; k < node_child[i + 1]; ++k)
            require(node_word[k - 1] < node_word[k], kChildren);
    }
    require(option_count.size == option_phrase.size, kOptions);
    check_offsets(node_option, nodes, option_phrase.size, kOptions);
    require(phrase_ends.size > 0, kPhrases);
    check_offsets(phrase_ends, phrase_ends.size - 1, phrase_words.size, kPhrases);
    check_numbers(option_phrase, phrase_ends.size - 1, kOptions);
    check_numbers(phrase_words, pivot.size(), "the phrase table's words of pivot phrases lead nowhere");
    for (std::size_t i = 0; i + 1 < phrase_ends.size; ++i) {
        std::uint32_t length = phrase_ends[i + 1] - phrase_ends[i];
        require(length >= 1 && length <= kLongestPhrase, kPhrases);
    }
    for (std::size_t i = 0; i < nodes; ++i) {
        require((node_count[i] > 0) == (node_option[i] < node_option[i + 1]), kCounts);
        std::uint64_t sum = 0;  // probabilities add up to 1 at most: they bound how many options a network has
        for (std::size_t k = node_option[i]; k < node_option[i + 1]; ++k) {
            sum += option_count[k];
            require(sum <= node_count[i] || node_count[i] == UINT32_MAX, kCounts);
            require(option_count[k] > 0 && option_count[k] <= node_count[i], kCounts);
            require(k == node_option[i] || option_count[k] <= option_count[k - 1], kCounts);
        }
    }
}

std::uint32_t PhraseTable::child(std::uint32_t node, std::uint32_t word) const {
    const std::uint32_t* first = node_word.data + node_child[node];
    const std::uint32_t* last = node_word.data + node_child[node + 1];
    const std::uint32_t* place = std::lower_bound(first, last, word);
    return place != last && *place == word ? static_cast<std::uint32_t>(place - node_word.data) : kNoNode;
}

std::uint32_t PhraseTable::find(const std::vector<std::string>& phrase) const {
    std::uint32_t node = kNoNode;
    for (std::size_t i = 0; i < phrase.size(); ++i) {
        const std::uint32_t word = target.find(phrase[i]);
        if (word == WordList::kMissing) return kNoNode;
        node = i == 0 ? word : child(node, word);
        if (node == kNoNode) break;
    }
    return node;
}

PhraseEntry PhraseTable::look_up(const std::vector<std::string>& phrase) const {
    PhraseEntry entry;
    const std::uint32_t node = find(phrase);
    if (node == kNoNode) return entry;
    entry.count = node_count[node];
    for (std::uint32_t k = node_option[node]; k < node_option[node + 1]; ++k) {
        PhraseEntry::Option& option = entry.options.emplace_back();
        option.count = option_count[k];
        const std::uint32_t f = option_phrase[k];
        for (std::uint32_t w = phrase_ends[f]; w < phrase_ends[f + 1]; ++w) option.words.push_back(pivot.word(phrase_words[w]));
    }
    return entry;
}

}  // namespace tesla
