// Rounding up to whole units.
#pragma once

#include <cstddef>

namespace tesla {

// How many units hold `size`.
inline constexpr std::size_t units_of(std::size_t size, std::size_t unit) { return (size + unit - 1) / unit; }
inline constexpr std::size_t rounded_up(std::size_t size, std::size_t unit) { return units_of(size, unit) * unit; }

}  // namespace tesla
