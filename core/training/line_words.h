// The words of a line.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace tesla {

// Calls `visit` with every word of a line; several spaces in a row are as one.
template <class Visit>
void for_each_word(std::string_view line, Visit visit) {
    for (std::size_t start = 0; start < line.size();) {
        const std::size_t end = std::min(line.find(' ', start), line.size());
        if (end > start) visit(line.substr(start, end - start));
        start = end + 1;
    }
}

}  // namespace tesla
