// Hashing: the mixer, strings to 32 bits, and how hashes are stored. Files hold values of `Hasher` and of the features that
// are made with `scrambled`: neither may change.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "base/array_view.h"

namespace tesla {

// One step of the mixer: the upper half of the result depends on all bits of the number.
inline constexpr std::uint64_t kScramble = 0xD6E8FEB86659FD93ull;
inline std::uint64_t scrambled(std::uint64_t x) { return (x ^ x >> 32) * kScramble; }
// Two steps: every bit of the result depends on all bits of the number.
inline std::uint32_t mixed(std::uint64_t x) { return static_cast<std::uint32_t>(scrambled(scrambled(x)) >> 32); }
// Features are hashes that are never 0, which means: nothing.
inline std::uint32_t never_zero(std::uint32_t hash) { return hash == 0 ? 1 : hash; }

// The hash of a sequence of characters, which may be asked for after each of them.
class Hasher {
   public:
    void add(char32_t c) { state_ = (state_ ^ c) * 0x100000001B3ull; }
    std::uint32_t value() const { return never_zero(static_cast<std::uint32_t>(scrambled(state_) >> 32)); }

   private:
    std::uint64_t state_ = 0xCBF29CE484222325ull;
};

// Files hold hashes as differences between sorted neighbours: small numbers deflate better.
inline std::vector<std::uint32_t> hash_differences(std::vector<std::uint32_t> hashes) {
    std::sort(hashes.begin(), hashes.end());
    std::adjacent_difference(hashes.begin(), hashes.end(), hashes.begin());
    return hashes;
}
// Throws std::invalid_argument where they are not those of different hashes, none of them 0.
inline std::vector<std::uint32_t> hashes_of_differences(const ArrayView<std::uint32_t>& differences) {
    std::vector<std::uint32_t> hashes;
    hashes.reserve(differences.size);
    std::uint64_t hash = 0;
    for (std::uint32_t difference : differences) {
        hash += difference;
        if (difference == 0 || hash > UINT32_MAX) throw std::invalid_argument("the hashes do not ascend");
        hashes.push_back(static_cast<std::uint32_t>(hash));
    }
    return hashes;
}

}  // namespace tesla
