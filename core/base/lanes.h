// Eight 16-bit or four 32-bit numbers that are added and compared at once, with the instructions that every CPU of the
// architecture has. Loops over whole rows take larger vectors where there are any (simd/kernels.h).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace tesla {

inline constexpr std::size_t kLanes = 8, kWideLanes = 4;

#if !defined(TESLA_PORTABLE) && defined(__GNUC__)
using Lanes = std::int16_t __attribute__((vector_size(2 * kLanes)));
using UnsignedLanes = std::uint16_t __attribute__((vector_size(2 * kLanes)));  // sums wrap around
using WideLanes = std::uint32_t __attribute__((vector_size(4 * kWideLanes)));
inline Lanes as_signed(const UnsignedLanes& a) { return reinterpret_cast<Lanes>(a); }
inline UnsignedLanes as_unsigned(const Lanes& a) { return reinterpret_cast<UnsignedLanes>(a); }
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
// The bits of all values whose key is `key`, joined: the value of the one key that is, or else 0.
inline std::uint32_t value_of(const WideLanes& keys, std::uint32_t key, const WideLanes& values) {
    using Halves = std::uint64_t __attribute__((vector_size(4 * kWideLanes)));
    const auto halves = reinterpret_cast<Halves>((keys == WideLanes{key, key, key, key}) & values);
    const std::uint64_t joined = halves[0] | halves[1];
    return static_cast<std::uint32_t>(joined | joined >> 32);
}
#else
template <class Number, std::size_t kCount = kLanes>
struct LaneArray {
    Number values[kCount];
    Number& operator[](std::size_t i) { return values[i]; }
    const Number& operator[](std::size_t i) const { return values[i]; }
    template <class Of>
    static LaneArray each(Of of) {
        LaneArray lanes{};
        for (std::size_t i = 0; i < kCount; ++i) lanes[i] = static_cast<Number>(of(i));
        return lanes;
    }
    LaneArray operator-(const LaneArray& b) const { return each([&](std::size_t i) { return values[i] - b[i]; }); }
    LaneArray operator&(const LaneArray& b) const { return each([&](std::size_t i) { return values[i] & b[i]; }); }
    LaneArray operator~() const { return each([&](std::size_t i) { return ~values[i]; }); }
    LaneArray operator>>(int bits) const { return each([&](std::size_t i) { return values[i] >> bits; }); }
    LaneArray operator<<(int bits) const { return each([&](std::size_t i) { return values[i] << bits; }); }
    LaneArray& operator+=(const LaneArray& b) { return *this = each([&](std::size_t i) { return values[i] + b[i]; }); }
};
using Lanes = LaneArray<std::int16_t>;
using UnsignedLanes = LaneArray<std::uint16_t>;
using WideLanes = LaneArray<std::uint32_t, kWideLanes>;
inline Lanes as_signed(const UnsignedLanes& a) { return Lanes::each([&](std::size_t i) { return a[i]; }); }
inline UnsignedLanes as_unsigned(const Lanes& a) { return UnsignedLanes::each([&](std::size_t i) { return a[i]; }); }
inline Lanes lower(const Lanes& a, const Lanes& b) { return Lanes::each([&](std::size_t i) { return std::min(a[i], b[i]); }); }
inline Lanes higher(const Lanes& a, const Lanes& b) { return Lanes::each([&](std::size_t i) { return std::max(a[i], b[i]); }); }
inline Lanes where_equal(const Lanes& a, const Lanes& b, const Lanes& value) {
    return Lanes::each([&](std::size_t i) { return a[i] == b[i] ? value[i] : 0; });
}
inline Lanes highest(Lanes a) {
    std::fill(a.values, a.values + kLanes, *std::max_element(a.values, a.values + kLanes));
    return a;
}
inline std::uint32_t value_of(const WideLanes& keys, std::uint32_t key, const WideLanes& values) {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < kWideLanes; ++i) value |= keys[i] == key ? values[i] : 0;
    return value;
}
#endif

// `value` in the first `count` lanes, 0 in the others.
inline Lanes first_lanes(std::size_t count, std::int16_t value) {
    Lanes lanes{};
    for (std::size_t i = 0; i < count; ++i) lanes[i] = value;
    return lanes;
}

}  // namespace tesla
