// Shares of a whole, and what stands in place of one that does not exist.
#pragma once

#include <limits>

namespace tesla {

// The value of what does not exist: the score, for example, of n-grams that neither of two texts has.
inline constexpr double kNoValue = std::numeric_limits<double>::quiet_NaN();

// Of nothing 0.
template <class Number>
double share_of(Number part, Number whole) {
    return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace tesla
