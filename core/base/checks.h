// Checks of what callers hand over: what fails is an invalid argument or, where a number is beyond what it counts, out of
// range. Python sees them as ValueError and IndexError.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <string>

#include "base/array_view.h"

namespace tesla {

// A text with more words than there is room for.
struct TextTooLong : std::length_error {
    using std::length_error::length_error;
};

// Of a text whose words are matched by MaxSim's similarity, or edited for TER.
inline constexpr std::size_t kMostWords = 50000;
inline void check_word_count(std::size_t words) {
    if (words > kMostWords) throw TextTooLong("a text is too long: it has more than 50,000 words: split it into segments");
}

inline void require(bool holds, const char* otherwise) {
    if (!holds) throw std::invalid_argument(otherwise);
}
// For messages that say what is wrong; not for hot paths: the message is put together before it is known whether it is needed.
inline void require(bool holds, const std::string& otherwise) { require(holds, otherwise.c_str()); }
inline void require_in_range(bool holds, const char* otherwise) {
    if (!holds) throw std::out_of_range(otherwise);
}

// Offsets and indices have 64 bits and are compared as such: std::size_t may have fewer.

// Refuses offsets that do not cut `items` items into `rows` rows: row i has the items offsets[i] .. offsets[i + 1].
inline void check_csr(const ArrayView<std::int64_t>& offsets, std::size_t rows, std::size_t items) {
    bool good = offsets.size == rows + 1 && offsets[0] == 0 && static_cast<std::uint64_t>(offsets[rows]) == items;
    for (std::size_t i = 0; good && i < rows; ++i) good = offsets[i] <= offsets[i + 1];
    require(good, "offsets do not fit the arrays");
}
// The same for any number of rows.
inline void check_csr(const ArrayView<std::int64_t>& offsets, std::size_t items) {
    require(offsets.size > 0, "offsets do not fit the arrays");
    check_csr(offsets, offsets.size - 1, items);
}

// Refuses columns that are not as long as the first one.
inline void check_columns(std::size_t rows, std::initializer_list<std::size_t> sizes) {
    for (std::size_t size : sizes) require(size == rows, "the arrays do not fit together");
}

// Refuses numbers that count or more: each must be one of `count` things.
inline void check_below(const ArrayView<std::uint32_t>& numbers, std::size_t count, const char* otherwise) {
    std::uint32_t highest = 0;
    for (std::uint32_t number : numbers) highest = std::max(highest, number);
    require_in_range(numbers.size == 0 || highest < count, otherwise);
}

// Refuses an index that is not of ascending numbers of texts.
inline void check_ascending(const ArrayView<std::int64_t>& index, std::size_t size) {
    for (std::size_t k = 0; k < index.size; ++k) {
        require_in_range(static_cast<std::uint64_t>(index[k]) < size, "no such text");
        require(k == 0 || index[k] > index[k - 1], "the indices do not ascend");
    }
}

}  // namespace tesla
