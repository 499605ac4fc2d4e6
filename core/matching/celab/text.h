// TESLA-CELAB (specification §9): a text as n-grams of units, and which of them are the same.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/fork_safe.h"
#include "language/analysis/lexicon.h"
#include "matching/celab/index.h"

namespace tesla::celab {

inline constexpr int kMaxOrder = 8;  // one bit for every pair of lengths in a 64-bit mask (links.cpp)

// The joined texts of n-grams as integers, with the synonym categories that a dictionary gives them.
class Vocabulary {
   public:
    std::unique_lock<ForkSafe<std::mutex>> lock() { return std::unique_lock(mutex_); }
    std::uint32_t intern(std::string_view joined);  // under the lock
    bool defined(std::uint32_t id) const { return entries_[id].defined.load(std::memory_order_acquire); }
    void define(std::uint32_t id, const std::uint32_t* categories, std::size_t count);

    const std::vector<std::uint32_t>& categories(std::uint32_t id) const;
    const std::string& text(std::uint32_t id) const { return ids_.key(id); }
    std::size_t size() const { return entries_.size(); }

   private:
    struct Entry {
        std::atomic<bool> defined{false};
        std::vector<std::uint32_t> categories;  // written before `defined` is
    };
    ForkSafe<std::mutex> mutex_;
    Interner ids_;
    StableArray<Entry> entries_;
};

// A span is an n-gram occurrence: start * order + length - 1. Occurrences of the same units are of one type, and
// whatever links one of them links all.
class Text {
   public:
    Text(Vocabulary& vocabulary, const std::vector<std::string_view>& units, int order, std::vector<double> weights);

    // Groups the spans into types; the vocabulary's categories must be there by now.
    void find_types(const Vocabulary& vocabulary);

    struct Type {
        std::uint32_t joined;       // id of the joined text
        std::int32_t length;        // in units
        std::int32_t begin, end;    // its occurrences in `starts_`
        std::int32_t count() const { return end - begin; }
    };

    using KeyedTypes = std::vector<std::pair<std::uint32_t, std::int32_t>>;  // (key, type), ascending

    int order() const { return order_; }
    int units() const { return units_; }
    std::size_t span(int start, int length) const { return index(start * order_ + length - 1); }
    int longest(int start) const { return std::min(order_, units_ - start); }
    double weight(int start, int length) const { return weights_.empty() ? 1.0 : weights_[span(start, length)]; }
    const std::vector<std::uint32_t>& joined() const { return joined_; }

    const std::vector<Type>& types() const { return types_; }  // in order of their first occurrences
    const KeyedTypes& by_joined() const { return by_joined_; }
    const Type& type(std::int32_t i) const { return types_[index(i)]; }
    std::int32_t type_of(int start, int length) const { return type_of_[span(start, length)]; }
    // Where the occurrences of a type start, ascending.
    Range<std::int32_t> starts(const Type& type) const { return {starts_.data() + type.begin, starts_.data() + type.end}; }
    bool is_first(int start, int length) const { return starts(type(type_of(start, length)))[0] == start; }
    const KeyedTypes& categories() const { return categories_; }

   private:
    void number_by_occurrence();
    bool same_units(std::size_t span_a, std::size_t span_b) const;

    int order_, units_;
    std::vector<std::uint32_t> joined_;  // by span; undefined past the end of the text
    std::vector<double> weights_;        // m(X) by span; empty: all 1
    std::vector<Type> types_;
    std::vector<std::int32_t> starts_;
    std::vector<std::int32_t> type_of_;
    KeyedTypes by_joined_, categories_;
};

// Units of a raw text as (start, end) in code points.
std::vector<std::pair<std::int32_t, std::int32_t>> split_units(std::u32string_view text);

}  // namespace tesla::celab
