// Texts to values, for tables that are read much more often than changed. Whoever makes the table keeps the texts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "base/flat_table.h"
#include "base/keyed_hash.h"

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
    const Value* find(std::string_view text) const {
        const std::uint32_t place = places_.find(table_hash(text), is(text));
        return place == FlatTable<>::kMissing ? nullptr : &entries_[place].value;
    }

   private:
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
