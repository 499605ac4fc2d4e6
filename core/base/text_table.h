// Texts to values, for tables that are read much more often than changed. Whoever makes the table keeps the texts.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "base/flat_table.h"
#include "base/keyed_hash.h"
#include "base/portable.h"

namespace tesla {

// A text in sixteen bytes, all of it if it is short, as nearly all words are: to compare two asks for no other memory.
class TextKey {
   public:
    explicit TextKey(std::string_view text) {
        const auto* const bytes = reinterpret_cast<const std::uint8_t*>(text.data());
        if (text.size() > kShort) {
            first_ = reinterpret_cast<std::uintptr_t>(bytes);
            rest_ = kLong | text.size();
        } else {
            first_ = text.size() < kFirst ? few_bytes(bytes, text.size()) : eight_bytes(bytes);
            rest_ = text.size() < kFirst ? 0 : few_bytes(bytes + kFirst, text.size() - kFirst);
            rest_ |= std::uint64_t{text.size()} << 56;
        }
    }
    friend bool operator==(const TextKey& a, const TextKey& b) {
        return a.rest_ == b.rest_ && (a.first_ == b.first_ || (a.rest_ >= kLong && std::memcmp(a.text(), b.text(), a.size()) == 0));
    }

   private:
    static constexpr std::size_t kFirst = 8, kShort = 15;
    static constexpr std::uint64_t kLong = std::uint64_t{1} << 63;

    const void* text() const { return reinterpret_cast<const void*>(static_cast<std::uintptr_t>(first_)); }
    std::size_t size() const { return static_cast<std::size_t>(rest_ - kLong); }

    std::uint64_t first_, rest_;  // bytes of a short text, and its length in the last of them; or where a long one is, and kLong
};

template <class Value>
class TextTable {
   public:
    void reserve(std::size_t count) {
        entries_.reserve(count);
        places_.reserve(count);
    }
    // The value of a text and whether it is new: then it has the value that is given. Texts outlive the table.
    std::pair<Value*, bool> add(std::string_view text, Value value) {
        const auto fresh = static_cast<std::uint32_t>(entries_.size());
        const std::uint32_t place = places_.find_or_add(table_hash(text), fresh, is(text));
        if (place == fresh) entries_.push_back({TextKey(text), value});
        return {&entries_[place].value, place == fresh};
    }
    const Value* find(std::string_view text) const { return find(text, table_hash(text)); }
    // The same for many texts: calls use(k, value) for the k-th.
    template <class Use>
    void find_all(const std::vector<std::string_view>& texts, Use&& use) const {
        for (std::size_t start = 0; start < texts.size(); start += kAtOnce) {
            const std::size_t count = std::min(kAtOnce, texts.size() - start);
            const Hashes hashes = prefetch(texts.data() + start, count);
            for (std::size_t k = start; k < start + count; ++k) use(k, find(texts[k], hashes[k - start]));
        }
    }
    const Value* find(std::string_view text, std::uint32_t hash) const {
        const std::uint32_t place = places_.find(hash, is(text));
        return place == FlatTable<>::kMissing ? nullptr : &entries_[place].value;
    }
    // Asks for the memory that finding up to kAtOnce texts will need, which is slow: for the slots, then for the entries in them.
    // Returns the hashes.
    static constexpr std::size_t kAtOnce = 16;
    using Hashes = std::array<std::uint32_t, kAtOnce>;
    Hashes prefetch(const std::string_view* texts, std::size_t count) const {
        Hashes hashes;
        for (std::size_t k = 0; k < count; ++k) places_.prefetch(hashes[k] = table_hash(texts[k]));
        for (std::size_t k = 0; k < count; ++k)
            if (const std::uint32_t place = places_.likely(hashes[k]); place != FlatTable<>::kMissing) prefetch_memory(&entries_[place]);
        return hashes;
    }

   private:
    struct Entry {
        TextKey key;
        Value value;
    };
    auto is(std::string_view text) const {
        return [this, key = TextKey(text)](std::uint32_t place) { return entries_[place].key == key; };
    }

    std::vector<Entry> entries_;
    FlatTable<> places_;  // of the entries
};

}  // namespace tesla
