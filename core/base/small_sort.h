// Sorting the few numbers that a sentence has. Which of two comes first a machine cannot foresee, and wrong guesses take
// most of the time of std::sort: numbers are put into buckets first, and then few comparisons are left.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tesla {

inline constexpr std::size_t kFewNumbers = 64;

// Sorts what is nearly sorted: by insertion as long as few keys have to move, by std::sort where many do.
template <class Key>
void sort_nearly_sorted(Key* first, Key* last) {
    constexpr std::ptrdiff_t kMovesPerKey = 4;
    std::ptrdiff_t moves_left = kMovesPerKey * (last - first);
    for (Key* next = first; next != last; ++next) {
        const Key key = *next;
        Key* at = next;
        for (; at != first && key < at[-1]; --at) *at = at[-1];
        *at = key;
        moves_left -= next - at;
        if (moves_left < 0) return std::sort(first, last);
    }
}

// Sorts numbers whose upper parts (above `shift` bits) are below `buckets`, which had better be few.
class BucketSorter {
   public:
    void sort(std::vector<std::uint64_t>& numbers, int shift, std::size_t buckets) {
        if (numbers.size() > kFewNumbers || buckets > 4 * kFewNumbers) return std::sort(numbers.begin(), numbers.end());
        starts_.assign(buckets + 1, 0);
        for (std::uint64_t number : numbers) ++starts_[(number >> shift) + 1];
        for (std::size_t b = 0; b < buckets; ++b) starts_[b + 1] += starts_[b];
        sorted_.resize(numbers.size());
        for (std::uint64_t number : numbers) sorted_[starts_[number >> shift]++] = number;
        numbers.swap(sorted_);
        sort_nearly_sorted(numbers.data(), numbers.data() + numbers.size());
    }

   private:
    std::vector<std::uint32_t> starts_;  // of the buckets
    std::vector<std::uint64_t> sorted_;
};

}  // namespace tesla
