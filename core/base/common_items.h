// What two ascending lists have in common.
#pragma once

#include <cstddef>

namespace tesla {

// How many items; equal ones of one list are paired with as many of the other. No branch depends on the items.
template <class List>
std::size_t count_common(const List& x, const List& y) {
    std::size_t common = 0;
    for (std::size_t i = 0, j = 0; i < x.size() && j < y.size();) {
        const auto a = x[i], b = y[j];
        const bool step_x = !(b < a), step_y = !(a < b);
        common += step_x & step_y;
        i += step_x;
        j += step_y;
    }
    return common;
}

}  // namespace tesla
