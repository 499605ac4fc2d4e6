#include "language/pivot/phrase_table.h"

#include <algorithm>
#include <stdexcept>
#include <string>

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

void require_path(bool good, const char* what) {
    if (!good) throw std::invalid_argument(std::string("the phrase table's ") + what + " lead nowhere");
}

// Offsets from 0 to `items`, ascending.
void check_offsets(const ArrayView<std::uint32_t>& offsets, std::size_t rows, std::size_t items, const char* what) {
    require_path(offsets.size == rows + 1 && offsets[0] == 0 && offsets[rows] == items, what);
    require_path(std::is_sorted(offsets.data, offsets.data + offsets.size), what);
}

void check_words(const WordList& words, const char* what) {
    require_path(words.ends.size > 0, what);
    check_offsets(words.ends, words.size(), words.text.size, what);
    for (std::uint32_t i = 0; i < words.size(); ++i) {
        std::string_view word = words.word(i);
        require_path(!word.empty() && (static_cast<unsigned char>(word[0]) & 0xC0) != 0x80, what);  // begins a character
        require_path(i == 0 || words.word(i - 1) < word, what);
    }
}

void check_numbers(const ArrayView<std::uint32_t>& numbers, std::size_t limit, const char* what) {
    require_path(std::all_of(numbers.data, numbers.data + numbers.size, [=](std::uint32_t x) { return x < limit; }), what);
}

}  // namespace

void PhraseTable::check() const {
    check_words(target, "words");
    check_words(pivot, "pivot words");
    require_path(pivot_tags.size == pivot.size(), "tags");
    const std::size_t nodes = node_word.size;
    require_path(nodes >= target.size() && node_count.size == nodes && total > 0, "nodes");
    check_numbers(node_word, target.size(), "words of nodes");
    for (std::size_t i = 0; i < target.size(); ++i) require_path(node_word[i] == i, "first nodes");
    // The children of node 0 come right after the first level; every later node is the child of an earlier one.
    require_path(node_child.size == nodes + 1 && node_child[0] == target.size() && node_child[nodes] == nodes, "children");
    require_path(std::is_sorted(node_child.data, node_child.data + node_child.size), "children");
    for (std::size_t i = 0; i < nodes; ++i) {
        require_path(node_child[i] == node_child[i + 1] || node_child[i] > i, "children");
        for (std::size_t k = node_child[i] + 1; k < node_child[i + 1]; ++k)
            require_path(node_word[k - 1] < node_word[k], "children");
    }
    require_path(option_count.size == option_phrase.size, "options");
    check_offsets(node_option, nodes, option_phrase.size, "options");
    require_path(phrase_ends.size > 0, "pivot phrases");
    check_offsets(phrase_ends, phrase_ends.size - 1, phrase_words.size, "pivot phrases");
    check_numbers(option_phrase, phrase_ends.size - 1, "options");
    check_numbers(phrase_words, pivot.size(), "words of pivot phrases");
    for (std::size_t i = 0; i + 1 < phrase_ends.size; ++i) {
        std::uint32_t length = phrase_ends[i + 1] - phrase_ends[i];
        require_path(length >= 1 && length <= kLongestPhrase, "pivot phrases");
    }
    for (std::size_t i = 0; i < nodes; ++i) {
        require_path((node_count[i] > 0) == (node_option[i] < node_option[i + 1]), "counts");
        std::uint64_t sum = 0;  // probabilities add up to 1 at most: they bound how many options a network has
        for (std::size_t k = node_option[i]; k < node_option[i + 1]; ++k) {
            sum += option_count[k];
            require_path(sum <= node_count[i] || node_count[i] == UINT32_MAX, "counts");
            require_path(option_count[k] > 0 && option_count[k] <= node_count[i], "counts");
            require_path(k == node_option[i] || option_count[k] <= option_count[k - 1], "counts");
        }
    }
}

std::uint32_t PhraseTable::child(std::uint32_t node, std::uint32_t word) const {
    const std::uint32_t* first = node_word.data + node_child[node];
    const std::uint32_t* last = node_word.data + node_child[node + 1];
    const std::uint32_t* found = std::lower_bound(first, last, word);
    return found != last && *found == word ? static_cast<std::uint32_t>(found - node_word.data) : kNoNode;
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

}  // namespace tesla
