// Shares of a whole.
#pragma once

namespace tesla {

// Of nothing 0.
template <class Number>
double share_of(Number part, Number whole) {
    return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace tesla
