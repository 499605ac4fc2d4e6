// The hash table of the core that grows: 32-bit hashes to 32-bit numbers, by open addressing with linear probing.
//
// The table holds no keys. Callers keep keys and values in arrays of their own, by number, and say with `equal(number)`
// whether the key there is the one that is looked for. So a slot has eight bytes, keys may be of any kind, and a search
// mostly touches one slot, and one key where the hashes are equal. Where the hash itself is the key, nothing is asked.
//
// The capacity is a power of two and at least twice the number of entries. The lowest bits of a hash choose the slot as
// they are: hashes of untrusted keys that are stored come from base/keyed_hash.h, under a key that nobody outside the
// process knows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "base/keyed_hash.h"
#include "base/portable.h"
#include "base/recycled_memory.h"

namespace tesla {

// No entry has the number kNone: it marks free slots, and `find` returns it for what is not there.
template <std::uint32_t kNone = 0xFFFFFFFF>
class FlatTable {
   public:
    static constexpr std::uint32_t kMissing = kNone;

    explicit FlatTable(std::size_t entries = 0) { reset(entries); }

    std::size_t size() const { return size_; }
    // Removes all entries and makes room for others. This takes as long as filling the table, however large it was before.
    void reset(std::size_t entries) {
        const std::size_t capacity = capacity_for(entries);
        if (capacity > slots_.size()) slots_.resize(capacity);
        std::fill_n(slots_.data(), capacity, Slot{});
        mask_ = capacity - 1;
        size_ = 0;
    }
    // Where this returns, adding up to that many entries in all cannot fail; where it throws, nothing is changed.
    void reserve(std::size_t entries) {
        if (2 * entries > mask_ + 1) rebuild(capacity_for(entries));
    }

    template <class Equal>
    std::uint32_t find(std::uint32_t hash, Equal&& equal) const {
        return slots_[place_of(hash, equal)].number();
    }
    // For hashes that are keys themselves. Whether a slot is free or holds the key, the search ends: one branch, not two, of
    // which nobody could foresee one. Compilers make two of `|`, but none of a minimum.
    std::uint32_t find(std::uint32_t key) const {
        const Slot* const slots = slots_.data();
        const std::size_t mask = mask_;
        std::size_t place = key & mask;
        while (std::min(slots[place].hash ^ key, slots[place].marked) != 0) place = (place + 1) & mask;
        return slots[place].number();
    }

    // The number of the key, which is `fresh` if the key was not there.
    template <class Equal>
    std::uint32_t find_or_add(std::uint32_t hash, std::uint32_t fresh, Equal&& equal) {
        reserve(size_ + 1);
        Slot* const slots = slots_.data();
        const std::size_t mask = mask_;
        for (std::size_t place = hash & mask;; place = (place + 1) & mask) {
            Slot& slot = slots[place];
            if (slot.is_free()) {
                slot = Slot(hash, fresh);
                ++size_;
                return fresh;
            }
            if (slot.hash == hash && equal(slot.number())) return slot.number();
        }
    }
    // The same for a key that is known not to be there.
    void add(std::uint32_t hash, std::uint32_t number) {
        find_or_add(hash, number, [](std::uint32_t) { return false; });
    }
    // Gives another number to a key that is there and is its own hash.
    void renumber(std::uint32_t key, std::uint32_t number) { slots_[place_of(key, AnyNumber{})] = Slot(key, number); }

    // Asks for the memory that `find` will need.
    void prefetch(std::uint32_t hash) const { prefetch_memory(&slots_[hash & mask_]); }
    // The number in the first slot of a hash if it is most likely the one that `find` returns, else kMissing.
    std::uint32_t likely(std::uint32_t hash) const {
        const Slot& slot = slots_[hash & mask_];
        return slot.hash == hash ? slot.number() : kNone;
    }

   private:
    struct AnyNumber {
        bool operator()(std::uint32_t) const { return true; }
    };
    // A free slot is all zeros, whatever kNone is: memory is cleared fastest.
    struct Slot {
        Slot() = default;
        Slot(std::uint32_t of_hash, std::uint32_t number) : hash(of_hash), marked(number ^ kNone) {}
        bool is_free() const { return marked == 0; }
        std::uint32_t number() const { return marked ^ kNone; }

        std::uint32_t hash = 0, marked = 0;
    };

    static std::size_t capacity_for(std::size_t entries) {
        std::size_t capacity = 16;
        while (capacity < 2 * entries) capacity *= 2;
        return capacity;
    }
    // Where the key is, or the free slot where it belongs.
    template <class Equal>
    std::size_t place_of(std::uint32_t hash, Equal&& equal) const {
        const std::size_t mask = mask_;
        for (std::size_t place = hash & mask;; place = (place + 1) & mask) {
            const Slot& slot = slots_[place];
            if (slot.hash == hash && (slot.is_free() || equal(slot.number()))) return place;
            if (slot.is_free()) return place;
        }
    }
    void rebuild(std::size_t capacity) {
        Slots old(capacity);
        old.swap(slots_);
        old.resize(mask_ + 1);
        mask_ = capacity - 1;
        for (const Slot& slot : old)
            if (!slot.is_free()) slots_[place_of(slot.hash, [](std::uint32_t) { return false; })] = slot;
    }

    using Slots = std::vector<Slot, Recycled<Slot>>;

    Slots slots_;  // the first mask_ + 1 of them are in use
    std::size_t mask_ = 0, size_ = 0;
};

// Numbers for keys in the order in which they are first met. One object serves one thread and keeps its memory.
class FirstMet {
   public:
    void reset(std::size_t most_keys) {
        keys_.clear();
        numbers_.reset(most_keys);
    }
    std::uint32_t number_of(std::uint64_t key) {
        const auto fresh = static_cast<std::uint32_t>(keys_.size());
        const std::uint32_t number =
            numbers_.find_or_add(table_hash(key), fresh, [&](std::uint32_t known) { return keys_[known] == key; });
        if (number != fresh) return number;
        if (fresh == FlatTable<>::kMissing) throw std::length_error("too many different keys");
        keys_.push_back(key);
        return fresh;
    }
    const std::vector<std::uint64_t>& keys() const { return keys_; }  // by number

   private:
    std::vector<std::uint64_t> keys_;
    FlatTable<> numbers_;
};

}  // namespace tesla
