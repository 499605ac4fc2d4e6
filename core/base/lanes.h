// Eight 16-bit numbers that are added and compared at once, whatever the machine calls its vectors.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace tesla {

inline constexpr std::size_t kLanes = 8;

#if !defined(TESLA_PORTABLE) && defined(__GNUC__)
using Lanes = std::int16_t __attribute__((vector_size(2 * kLanes)));
using UnsignedLanes = std::uint16_t __attribute__((vector_size(2 * kLanes)));  // sums wrap around
inline Lanes as_signed(const UnsignedLanes& a) { return reinterpret_cast<Lanes>(a); }
inline Lanes lower(const Lanes& a, const Lanes& b) { return a < b ? a : b; }
inline Lanes higher(const Lanes& a, const Lanes& b) { return a > b ? a : b; }
// `value` in the lanes where `a` and `b` are equal, 0 in the others.
inline Lanes where_equal(const Lanes& a, const Lanes& b, const Lanes& value) { return (a == b) & value; }
// The highest number of all lanes, in every lane.
inline Lanes highest(Lanes a) {
    using Halves = std::uint64_t __attribute__((vector_size(2 * kLanes)));
    auto halves = reinterpret_cast<Halves>(a);
    a = higher(a, reinterpret_cast<Lanes>(Halves{halves[1], halves[0]}));
    for (int bits : {32, 16}) {  // turned around, each half meets itself
        halves = reinterpret_cast<Halves>(a);
        a = higher(a, reinterpret_cast<Lanes>(halves >> bits | halves << (64 - bits)));
    }
    return a;
}
#else
template <class Number>
struct LaneArray {
    Number values[kLanes];
    Number& operator[](std::size_t i) { return values[i]; }
    const Number& operator[](std::size_t i) const { return values[i]; }
    LaneArray& operator+=(const LaneArray& other) {
        for (std::size_t i = 0; i < kLanes; ++i) values[i] = static_cast<Number>(values[i] + other[i]);
        return *this;
    }
    LaneArray operator-(const LaneArray& other) const {
        LaneArray difference{};
        for (std::size_t i = 0; i < kLanes; ++i) difference[i] = static_cast<Number>(values[i] - other[i]);
        return difference;
    }
    LaneArray operator&(const LaneArray& other) const {
        LaneArray both{};
        for (std::size_t i = 0; i < kLanes; ++i) both[i] = static_cast<Number>(values[i] & other[i]);
        return both;
    }
    LaneArray operator~() const {
        LaneArray others{};
        for (std::size_t i = 0; i < kLanes; ++i) others[i] = static_cast<Number>(~values[i]);
        return others;
    }
    LaneArray operator>>(int bits) const {
        LaneArray shifted{};
        for (std::size_t i = 0; i < kLanes; ++i) shifted[i] = static_cast<Number>(values[i] >> bits);
        return shifted;
    }
    LaneArray operator<<(int bits) const {
        LaneArray shifted{};
        for (std::size_t i = 0; i < kLanes; ++i) shifted[i] = static_cast<Number>(values[i] << bits);
        return shifted;
    }
};
using Lanes = LaneArray<std::int16_t>;
using UnsignedLanes = LaneArray<std::uint16_t>;
inline Lanes as_signed(const UnsignedLanes& a) {
    Lanes same{};
    for (std::size_t i = 0; i < kLanes; ++i) same[i] = static_cast<std::int16_t>(a[i]);
    return same;
}
inline Lanes lower(Lanes a, const Lanes& b) {
    for (std::size_t i = 0; i < kLanes; ++i) a[i] = std::min(a[i], b[i]);
    return a;
}
inline Lanes higher(Lanes a, const Lanes& b) {
    for (std::size_t i = 0; i < kLanes; ++i) a[i] = std::max(a[i], b[i]);
    return a;
}
inline Lanes where_equal(Lanes a, const Lanes& b, const Lanes& value) {
    for (std::size_t i = 0; i < kLanes; ++i) a[i] = a[i] == b[i] ? value[i] : std::int16_t{0};
    return a;
}
inline Lanes highest(Lanes a) {
    std::fill(a.values, a.values + kLanes, *std::max_element(a.values, a.values + kLanes));
    return a;
}
#endif

// `value` in the first `count` lanes, 0 in the others.
inline Lanes first_lanes(std::size_t count, std::int16_t value) {
    Lanes lanes{};
    for (std::size_t i = 0; i < count; ++i) lanes[i] = value;
    return lanes;
}

}  // namespace tesla
