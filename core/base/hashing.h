// Hashing: strings to 32 bits, an immutable table from such hashes to numbers, and how hashes are stored.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "base/array_view.h"
#include "base/portable.h"

namespace tesla {

// The hash of a sequence of characters, which may be asked for after each of them.
class Hasher {
   public:
    void add(char32_t c) { state_ = (state_ ^ c) * 0x100000001B3ull; }
    std::uint32_t value() const {
        std::uint64_t x = (state_ ^ (state_ >> 32)) * 0xD6E8FEB86659FD93ull;
        const auto hash = static_cast<std::uint32_t>(x >> 32);
        return hash == 0 ? 1 : hash;  // 0 means: nothing
    }

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

// Open addressing; 0 for a key that is not there.
class HashTable {
   public:
    void build(const std::vector<std::uint32_t>& keys, const std::vector<std::uint32_t>& values) {
        std::size_t capacity = 1;
        while (capacity < 2 * keys.size() + 1) capacity *= 2;
        slots_.assign(capacity, Slot{});
        mask_ = capacity - 1;
        for (std::size_t i = 0; i < keys.size(); ++i) {
            std::size_t slot = keys[i] & mask_;
            while (slots_[slot].key != 0) slot = (slot + 1) & mask_;
            slots_[slot] = {keys[i], values[i]};
        }
    }
    std::uint32_t find(std::uint32_t key) const {
        for (std::size_t slot = key & mask_;; slot = (slot + 1) & mask_) {
            if (slots_[slot].key == key) return slots_[slot].value;
            if (slots_[slot].key == 0) return 0;
        }
    }
    void prefetch(std::uint32_t key) const { prefetch_memory(&slots_[key & mask_]); }

   private:
    struct Slot {
        std::uint32_t key = 0, value = 0;
    };
    std::vector<Slot> slots_{1};
    std::size_t mask_ = 0;
};

}  // namespace tesla
