// Eight 16-bit numbers that are added and compared at once, whatever the machine calls its vectors.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace tesla {

inline constexpr std::size_t kLanes = 8;

#if defined(__GNUC__)
using Lanes = std::int16_t __attribute__((vector_size(2 * kLanes)));
inline Lanes higher(Lanes a, Lanes b) { return a > b ? a : b; }
#else
struct Lanes {
    std::int16_t values[kLanes];
    std::int16_t& operator[](std::size_t i) { return values[i]; }
    const std::int16_t& operator[](std::size_t i) const { return values[i]; }
    Lanes& operator+=(const Lanes& other) {
        for (std::size_t i = 0; i < kLanes; ++i) values[i] = static_cast<std::int16_t>(values[i] + other[i]);
        return *this;
    }
};
inline Lanes higher(Lanes a, const Lanes& b) {
    for (std::size_t i = 0; i < kLanes; ++i) a[i] = std::max(a[i], b[i]);
    return a;
}
#endif

inline std::int16_t highest(const Lanes& lanes) {
    std::int16_t found = lanes[0];
    for (std::size_t i = 1; i < kLanes; ++i) found = std::max<std::int16_t>(found, lanes[i]);
    return found;
}

}  // namespace tesla
