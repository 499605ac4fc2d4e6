// Texts to values, for tables that are read much more often than changed. Whoever makes the table keeps the texts, one after
// the other; a search mostly touches one slot, and the text itself where the hashes are equal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "base/keyed_hash.h"

namespace tesla {

template <class Value>
class TextTable {
   public:
    // The texts that are added lie within `texts`, which outlives the table. Throws std::invalid_argument if it is too long.
    explicit TextTable(std::string_view texts) : texts_(texts.data()) {
        if (texts.size() > UINT32_MAX) throw std::invalid_argument("more than 4 GB of words");
    }

    void reserve(std::size_t count) {
        std::size_t capacity = slots_.size();
        while (capacity < 2 * count) capacity *= 2;
        if (capacity > slots_.size()) grow_to(capacity);
    }
    // The value of a text and whether it is new: then it has the value that is given.
    std::pair<Value*, bool> add(std::string_view text, Value value) {
        if (2 * (count_ + 1) > slots_.size()) grow_to(2 * slots_.size());
        const std::uint32_t hash = hash_of(text);
        Slot& slot = slots_[place_of(text, hash)];
        if (slot.hash != kFree) return {&slot.value, false};
        slot = {hash, static_cast<std::uint32_t>(text.data() - texts_), static_cast<std::uint32_t>(text.size()), value};
        ++count_;
        return {&slot.value, true};
    }
    const Value* find(std::string_view text) const {
        const Slot& slot = slots_[place_of(text, hash_of(text))];
        return slot.hash == kFree ? nullptr : &slot.value;
    }

   private:
    static constexpr std::uint32_t kFree = 0;
    struct Slot {
        std::uint32_t hash = kFree, begin = 0, size = 0;
        Value value{};
    };
    static std::uint32_t hash_of(std::string_view text) {
        const auto hash = static_cast<std::uint32_t>(keyed_hash(text));
        return hash == kFree ? 1 : hash;
    }
    std::size_t place_of(std::string_view text, std::uint32_t hash) const {
        const std::size_t mask = slots_.size() - 1;
        for (std::size_t place = hash & mask;; place = (place + 1) & mask) {
            const Slot& slot = slots_[place];
            if (slot.hash == kFree || (slot.hash == hash && std::string_view(texts_ + slot.begin, slot.size) == text)) return place;
        }
    }
    void grow_to(std::size_t capacity) {
        std::vector<Slot> old(capacity);
        old.swap(slots_);
        const std::size_t mask = slots_.size() - 1;
        for (const Slot& slot : old) {
            if (slot.hash == kFree) continue;
            std::size_t place = slot.hash & mask;
            while (slots_[place].hash != kFree) place = (place + 1) & mask;
            slots_[place] = slot;
        }
    }

    const char* texts_;
    std::vector<Slot> slots_ = std::vector<Slot>(16);
    std::size_t count_ = 0;
};

}  // namespace tesla
