// Hashes that never change: model files hold values of most of these functions.
//
// - `scrambled` and `mixed` hash one number: tables of numbers, signatures of senses, checksums of records;
// - Hasher hashes characters: forms, their beginnings and ends, words of lists;
// - tagger_feature, segmenter_feature and parser_feature hash the features of models, each in a way of its own;
// - differences of neighbours are how files hold them.
//
// Tables of texts take keyed_hash.h, whose hashes differ from process to process.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "base/array_view.h"
#include "base/checks.h"

namespace tesla {

// One step of the mixer: the upper half of the result depends on all bits of the number.
inline constexpr std::uint64_t kScramble = 0xD6E8FEB86659FD93ull;
inline std::uint64_t scrambled(std::uint64_t x, int shift = 32) { return (x ^ x >> shift) * kScramble; }
// Two steps: every bit of the result depends on all bits of the number.
inline std::uint32_t mixed(std::uint64_t x) { return static_cast<std::uint32_t>(scrambled(scrambled(x)) >> 32); }
// Features are hashes that are never 0, which means: nothing.
inline std::uint32_t never_zero(std::uint32_t hash) { return hash == 0 ? 1 : hash; }

// 2^64 divided by the golden ratio: its multiples lie far apart.
inline constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15ull;
// The first factor of splitmix64 (Steele et al. 2014).
inline constexpr std::uint64_t kSplitMix = 0xBF58476D1CE4E5B9ull;
// What FNV-1a of 64 bits begins with, and multiplies by.
inline constexpr std::uint64_t kFnvStart = 0xCBF29CE484222325ull, kFnvPrime = 0x100000001B3ull;

// A feature of the tagger: its kind and up to two numbers.
inline std::uint32_t tagger_feature(std::uint32_t kind, std::uint32_t a, std::uint32_t b = 0) {
    return never_zero(mixed((std::uint64_t{a} << 32 | b) + kGolden * (kind + 1)));
}
// A feature of the segmenter: its kind and up to four numbers.
inline std::uint32_t segmenter_feature(std::uint32_t kind, std::uint32_t a, std::uint32_t b = 0, std::uint32_t c = 0,
                                       std::uint32_t d = 0) {
    std::uint64_t x = scrambled((std::uint64_t{a} << 32 | b) + kGolden * (kind + 1));
    x = (x ^ (std::uint64_t{c} << 32 | d) ^ x >> 29) * kScramble;
    return never_zero(static_cast<std::uint32_t>(scrambled(x) >> 32));
}
// A feature of the parser: its number and its parts.
template <class... Parts>
std::uint32_t parser_feature(std::uint32_t number, Parts... parts) {
    std::uint64_t state = kFnvStart ^ number;
    const auto add = [&](std::uint64_t part) {
        state = (state ^ part) * kGolden;
        state ^= state >> 29;
    };
    (add(static_cast<std::uint64_t>(parts)), ...);
    return never_zero(static_cast<std::uint32_t>(state * kSplitMix >> 32));
}

// The hash of a sequence of characters, which may be asked for after each of them.
class Hasher {
   public:
    void add(char32_t c) { state_ = (state_ ^ c) * kFnvPrime; }
    std::uint32_t value() const { return never_zero(static_cast<std::uint32_t>(scrambled(state_) >> 32)); }

   private:
    std::uint64_t state_ = kFnvStart;
};

// Files hold hashes as differences between sorted neighbours: small numbers deflate better.
inline std::vector<std::uint32_t> hash_differences(std::vector<std::uint32_t> hashes) {
    std::sort(hashes.begin(), hashes.end());
    std::adjacent_difference(hashes.begin(), hashes.end(), hashes.begin());
    return hashes;
}
// Refuses differences that do not belong to different hashes, none of them 0.
inline std::vector<std::uint32_t> hashes_of_differences(const ArrayView<std::uint32_t>& differences) {
    std::vector<std::uint32_t> hashes;
    hashes.reserve(differences.size);
    std::uint64_t hash = 0;
    for (std::uint32_t difference : differences) {
        hash += difference;
        require(difference != 0 && hash <= UINT32_MAX, "the hashes do not ascend");
        hashes.push_back(static_cast<std::uint32_t>(hash));
    }
    return hashes;
}

}  // namespace tesla
