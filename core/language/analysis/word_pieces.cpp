#include "language/analysis/word_pieces.h"

#include <algorithm>

#include "base/unicode.h"

namespace tesla {

bool WordPieces::add(std::string_view piece, std::uint32_t number) {
    const bool continues =
        !prefix_.empty() && piece.size() > prefix_.size() && piece.substr(0, prefix_.size()) == prefix_;
    if (continues) piece.remove_prefix(prefix_.size());
    return (continues ? continuations_ : beginnings_).add(piece, number);
}

bool WordPieces::cut(std::string_view word, std::size_t longest, std::vector<std::uint32_t>& pieces) const {
    const std::size_t before = pieces.size();
    if (word.size() > longest && count_characters(word) > longest) return false;
    for (std::size_t begin = 0; begin < word.size();) {
        std::uint32_t number = 0;
        const Entries& entries = begin == 0 || prefix_.empty() ? beginnings_ : continuations_;
        const std::size_t length = entries.longest_beginning(word.substr(begin), number);
        if (length == 0) {
            pieces.resize(before);
            return false;
        }
        pieces.push_back(number);
        begin += length;
    }
    return true;
}

bool WordPieces::Entries::add(std::string_view entry, std::uint32_t number) {
    longest_ = std::max(longest_, entry.size());
    notes_.add(entry);
    return numbers_.add(entry, number).second;
}

std::size_t WordPieces::Entries::longest_beginning(std::string_view text, std::uint32_t& number) const {
    const std::uint64_t first = TextNotes::first_bytes(text);
    for (std::size_t length = std::min(longest_, text.size()); length > 0; --length) {
        if (!notes_.may_have(first, length)) continue;
        if (const std::uint32_t* known = find(text.substr(0, length))) {
            number = *known;
            return length;
        }
    }
    return 0;
}

}  // namespace tesla
