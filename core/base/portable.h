// What compilers and systems call by different names. -DTESLA_PORTABLE takes what every one of them has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string_view>

#if !defined(TESLA_PORTABLE) && defined(_MSC_VER)
#include <intrin.h>
#endif

namespace tesla {

// The place of the lowest bit that is set; `bits` is not 0.
inline int lowest_bit(std::uint64_t bits) {
#if !defined(TESLA_PORTABLE) && defined(__GNUC__)
    return __builtin_ctzll(bits);
#elif !defined(TESLA_PORTABLE) && defined(_MSC_VER) && defined(_WIN64)
    unsigned long place = 0;
    _BitScanForward64(&place, bits);
    return static_cast<int>(place);
#else
    int place = 0;
    for (int step = 32; step > 0; step /= 2) {
        if ((bits & ((std::uint64_t{1} << step) - 1)) != 0) continue;
        bits >>= step;
        place += step;
    }
    return place;
#endif
}

// How many bits lie above the highest that is set; `bits` is not 0.
inline int leading_zeros(std::uint64_t bits) {
#if !defined(TESLA_PORTABLE) && defined(__GNUC__)
    return __builtin_clzll(bits);
#elif !defined(TESLA_PORTABLE) && defined(_MSC_VER) && defined(_WIN64)
    unsigned long place = 0;
    _BitScanReverse64(&place, bits);
    return 63 - static_cast<int>(place);
#else
    int zeros = 0;
    for (int step = 32; step > 0; step /= 2) {
        if (bits >> (64 - step) != 0) continue;
        bits <<= step;
        zeros += step;
    }
    return zeros;
#endif
}

// How many bits are set. Without an instruction for it, sums of neighbours take less time than a call.
inline int count_bits(std::uint64_t bits) {
#if !defined(TESLA_PORTABLE) && defined(__GNUC__) && (defined(__POPCNT__) || defined(__aarch64__))
    return __builtin_popcountll(bits);
#else
    constexpr std::uint64_t kOnes = ~std::uint64_t{0};
    bits -= bits >> 1 & kOnes / 3;
    bits = (bits & kOnes / 5) + (bits >> 2 & kOnes / 5);
    bits = (bits + (bits >> 4)) & kOnes / 17;
    return static_cast<int>(bits * (kOnes / 255) >> 56);
#endif
}

// Bytes as one number, the first in its lowest bits whatever the machine; compilers make one load of four or eight.
inline std::uint64_t four_bytes(const std::uint8_t* from) {
    const auto at = [from](int i) { return std::uint32_t{from[i]} << (8 * i); };
    return at(0) | at(1) | at(2) | at(3);
}
inline std::uint64_t eight_bytes(const std::uint8_t* from) {
    const auto at = [from](int i) { return std::uint64_t{from[i]} << (8 * i); };
    return at(0) | at(1) | at(2) | at(3) | at(4) | at(5) | at(6) | at(7);
}
// Up to seven: those that are loaded twice have the same place both times.
inline std::uint64_t few_bytes(const std::uint8_t* from, std::size_t count) {
    if (count >= 4) return four_bytes(from) | four_bytes(from + count - 4) << (8 * (count - 4));
    if (count == 0) return 0;
    const auto at = [from](std::size_t i) { return std::uint64_t{from[i]} << (8 * i); };
    return at(0) | at(count / 2) | at(count - 1);
}

// A text of up to seven bytes and its length in one number, which no other text has.
inline constexpr std::size_t kShortText = 7;
inline std::uint64_t short_text(std::string_view text) {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(text.data());
    return few_bytes(bytes, text.size()) | std::uint64_t{text.size()} << 56;
}

inline constexpr std::size_t kCacheLine = 64;  // bytes

// Asks for memory that will be needed soon.
inline void prefetch_memory([[maybe_unused]] const void* at) {
#if !defined(TESLA_PORTABLE) && defined(__GNUC__)
    __builtin_prefetch(at);
#endif
}

// For a loop that waits for another thread: leaves the processor to others for some tens or hundreds of cycles, where it can.
inline void wait_a_moment() {
#if !defined(TESLA_PORTABLE) && defined(__GNUC__) && (defined(__x86_64__) || defined(__i386__))
    __builtin_ia32_pause();
#elif !defined(TESLA_PORTABLE) && defined(__GNUC__) && defined(__aarch64__)
    __asm__ __volatile__("isb");
#elif !defined(TESLA_PORTABLE) && defined(_MSC_VER) && defined(_M_X64)
    _mm_pause();
#endif
}

// Moves to a place of a file that may lie beyond what a `long` can count. False where that fails.
inline bool seek_to(std::FILE* file, std::uint64_t place) {
#if !defined(TESLA_PORTABLE) && defined(_WIN32)
    return _fseeki64(file, static_cast<long long>(place), SEEK_SET) == 0;
#elif !defined(TESLA_PORTABLE) && (defined(__unix__) || defined(__APPLE__))
    return fseeko(file, static_cast<off_t>(place), SEEK_SET) == 0;
#else
    constexpr std::uint64_t kStep = std::uint64_t{1} << 30;  // a `long` has 32 bits at least
    if (std::fseek(file, 0, SEEK_SET) != 0) return false;
    for (; place > kStep; place -= kStep)
        if (std::fseek(file, static_cast<long>(kStep), SEEK_CUR) != 0) return false;
    return std::fseek(file, static_cast<long>(place), SEEK_CUR) == 0;
#endif
}

}  // namespace tesla
