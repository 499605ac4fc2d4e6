// Eight 16-bit numbers that are added and compared at once, whatever the machine calls its vectors.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace tesla {

inline constexpr std::size_t kLanes = 8;

#if defined(__GNUC__)
using Lanes = std::int16_t __attribute__((vector_size(2 * kLanes)));
// In every lane where `candidate` is higher than `best`, this becomes `best` and `number` becomes its `mark`.
inline void raise(Lanes& best, Lanes& mark, const Lanes& candidate, std::int16_t number) {
    const Lanes is_higher = candidate > best;
    best = is_higher ? candidate : best;
    mark = is_higher ? Lanes{} + number : mark;
}
inline Lanes lower(const Lanes& a, const Lanes& b) { return a < b ? a : b; }
#else
struct Lanes {
    std::int16_t values[kLanes];
    std::int16_t& operator[](std::size_t i) { return values[i]; }
    const std::int16_t& operator[](std::size_t i) const { return values[i]; }
    Lanes& operator+=(const Lanes& other) {
        for (std::size_t i = 0; i < kLanes; ++i) values[i] = static_cast<std::int16_t>(values[i] + other[i]);
        return *this;
    }
    Lanes operator&(const Lanes& other) const {
        Lanes both{};
        for (std::size_t i = 0; i < kLanes; ++i) both[i] = static_cast<std::int16_t>(values[i] & other[i]);
        return both;
    }
    Lanes operator~() const {
        Lanes others{};
        for (std::size_t i = 0; i < kLanes; ++i) others[i] = static_cast<std::int16_t>(~values[i]);
        return others;
    }
};
inline Lanes lower(Lanes a, const Lanes& b) {
    for (std::size_t i = 0; i < kLanes; ++i) a[i] = std::min(a[i], b[i]);
    return a;
}
inline void raise(Lanes& best, Lanes& mark, const Lanes& candidate, std::int16_t number) {
    for (std::size_t i = 0; i < kLanes; ++i) {
        if (candidate[i] <= best[i]) continue;
        best[i] = candidate[i];
        mark[i] = number;
    }
}
#endif

// `value` in the first `count` lanes, 0 in the others.
inline Lanes first_lanes(std::size_t count, std::int16_t value) {
    Lanes lanes{};
    for (std::size_t i = 0; i < count; ++i) lanes[i] = value;
    return lanes;
}

}  // namespace tesla
