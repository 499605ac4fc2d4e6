// Ascending numbers to search in. A binary search waits for memory at every step or guesses wrong at every other one; here
// every eighth number is kept again in the level above, so that each level costs one line of the cache and no guess.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace tesla {

class AscendingNumbers {
   public:
    explicit AscendingNumbers(std::vector<std::uint64_t> numbers = {}) : size_(numbers.size()) {
        while (true) {
            std::vector<std::uint64_t> firsts;  // of the groups
            for (std::size_t i = 0; i < numbers.size(); i += kGroup) firsts.push_back(numbers[i]);
            numbers.resize(firsts.size() * kGroup, UINT64_MAX);
            levels_.push_back(std::move(numbers));
            if (firsts.size() <= 1) break;
            numbers = std::move(firsts);
        }
    }

    std::uint64_t operator[](std::size_t i) const { return levels_[0][i]; }
    // How many of them are not above `most`.
    std::size_t count_up_to(std::uint64_t most) const {
        if (size_ == 0 || levels_[0][0] > most) return 0;
        std::size_t last = 0;  // in its level, of those that are not above it
        for (auto level = levels_.rbegin(); level != levels_.rend(); ++level) {
            const std::size_t start = std::min(last * kGroup, level->size() - kGroup);  // UINT64_MAX counts what fills up, too
            last = start - 1;
            for (std::size_t i = start; i < start + kGroup; ++i) last += (*level)[i] <= most;
        }
        return std::min(last + 1, size_);
    }

   private:
    static constexpr std::size_t kGroup = 8;

    std::vector<std::vector<std::uint64_t>> levels_;  // from the numbers up to one group; groups are filled up
    std::size_t size_;
};

}  // namespace tesla
