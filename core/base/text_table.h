// Texts to values, for tables that are read much more often than changed. Whoever makes the table keeps the texts.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "base/flat_table.h"
#include "base/keyed_hash.h"
#include "base/portable.h"

namespace tesla {

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
        if (place == fresh) entries_.push_back({text, value});
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
    // Asks for the memory that finding up to kAtOnce texts will need, which is slow: for the slots, then for the entries in them,
    // then for the texts of these. Returns the hashes.
    static constexpr std::size_t kAtOnce = 16;
    using Hashes = std::array<std::uint32_t, kAtOnce>;
    Hashes prefetch(const std::string_view* texts, std::size_t count) const {
        Hashes hashes;
        for (std::size_t k = 0; k < count; ++k) places_.prefetch(hashes[k] = table_hash(texts[k]));
        const auto for_each_likely = [&](auto&& see) {
            for (std::size_t k = 0; k < count; ++k)
                if (const std::uint32_t place = places_.likely(hashes[k]); place != FlatTable<>::kMissing) see(entries_[place]);
        };
        for_each_likely([](const Entry& entry) { prefetch_memory(&entry); });
        for_each_likely([](const Entry& entry) { prefetch_memory(entry.text.data()); });
        return hashes;
    }

   private:
    const Value* find(std::string_view text, std::uint32_t hash) const {
        const std::uint32_t place = places_.find(hash, is(text));
        return place == FlatTable<>::kMissing ? nullptr : &entries_[place].value;
    }
    struct Entry {
        std::string_view text;
        Value value;
    };
    auto is(std::string_view text) const {
        return [this, text](std::uint32_t place) { return entries_[place].text == text; };
    }

    std::vector<Entry> entries_;
    FlatTable<> places_;  // of the entries
};

}  // namespace tesla
