// A read-only hash table from 32-bit hashes to numbers: it is filled once, and gives 0 for a hash that is not there.
//
// Whether a key is there, and in which slot, nobody can foresee. So slots lie in groups of four, and a search compares a whole
// group without a branch. Nearly all groups have free slots; what finds no room in a full one is in one of those after it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/lanes.h"
#include "base/portable.h"
#include "base/recycled_memory.h"

namespace tesla {

class FixedTable {
   public:
    FixedTable() : groups_(1) {}

    // Keys are not 0, and values that are 0 are left out. Of keys that come again the first counts.
    void build(const std::vector<std::uint32_t>& keys, const std::vector<std::uint32_t>& values) {
        std::size_t groups = 1;
        while (groups * kSlots < 2 * keys.size()) groups *= 2;
        groups_.assign(groups, Group{});
        mask_ = groups - 1;
        for (std::size_t i = 0; i < keys.size(); ++i)
            if (values[i] != 0 && find(keys[i]) == 0) add(keys[i], values[i]);
    }
    std::uint32_t find(std::uint32_t key) const {
        for (std::size_t place = key & mask_;; place = (place + 1) & mask_) {
            const std::uint32_t value = groups_[place].find(key);
            if (!groups_[place].is_full()) return value;  // asked first: it can be foreseen
            if (value != 0) return value;
        }
    }
    // Asks for the memory that `find` will need.
    void prefetch(std::uint32_t key) const { prefetch_memory(&groups_[key & mask_]); }

   private:
    static constexpr std::size_t kSlots = kWideLanes;
    struct alignas(8 * kSlots) Group {  // never in two cache lines
        WideLanes keys{}, values{};     // free slots are zeros, after all others

        std::uint32_t find(std::uint32_t key) const { return value_of(keys, key, values); }
        bool is_full() const { return keys[kSlots - 1] != 0; }
    };

    void add(std::uint32_t key, std::uint32_t value) {
        std::size_t place = key & mask_;
        while (groups_[place].is_full()) place = (place + 1) & mask_;
        std::size_t slot = 0;
        while (groups_[place].keys[slot] != 0) ++slot;
        groups_[place].keys[slot] = key;
        groups_[place].values[slot] = value;
    }

    std::vector<Group, Recycled<Group>> groups_;  // as many as a power of two
    std::size_t mask_ = 0;
};

}  // namespace tesla
