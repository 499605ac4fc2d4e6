// A Bloom filter with one hash: it tells quickly that a text is not in a table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "base/hashing.h"
#include "base/portable.h"
#include "base/text_table.h"

namespace tesla {

class TextNotes {
   public:
    // A power of two, many times the number of texts.
    explicit TextNotes(std::size_t bits) : noted_(bits) {}

    void add(std::string_view text) { noted_[place_of(first_bytes(text), text.size())] = true; }
    bool may_have(std::string_view text) const { return may_have(first_bytes(text), text.size()); }
    // The same for the beginning, so many bytes long, of a text with these first bytes.
    bool may_have(std::uint64_t first, std::size_t length) const { return noted_[place_of(first, length)]; }

    static std::uint64_t first_bytes(std::string_view text) {
        const auto* bytes = reinterpret_cast<const std::uint8_t*>(text.data());
        return text.size() >= kFirst ? eight_bytes(bytes) : few_bytes(bytes, text.size());
    }

   private:
    static constexpr std::size_t kFirst = 8;

    std::size_t place_of(std::uint64_t first, std::size_t length) const {
        if (length < kFirst) first &= (std::uint64_t{1} << 8 * length) - 1;
        return mixed(first + length * kScramble) & (noted_.size() - 1);
    }

    std::vector<bool> noted_;
};

// A table that keeps its texts, for questions that are mostly about texts which it does not have.
template <class Value>
class NotedTexts {
   public:
    explicit NotedTexts(std::size_t bits) : notes_(bits) {}
    NotedTexts(NotedTexts&&) = default;  // the texts do not move
    NotedTexts(const NotedTexts&) = delete;

    bool empty() const { return texts_.empty(); }
    // A text that comes again has its last value.
    void set(std::string_view text, const Value& value) {
        notes_.add(text);
        *table_.add(texts_.emplace_back(text), value).first = value;
    }
    const Value* find(std::string_view text) const { return notes_.may_have(text) ? table_.find(text) : nullptr; }

   private:
    TextNotes notes_;
    std::deque<std::string> texts_;
    TextTable<Value> table_;
};

}  // namespace tesla
