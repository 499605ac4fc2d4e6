#include "metrics/baselines/subsequence.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/portable.h"
#include "base/rounding.h"

namespace tesla {

void CommonSubsequence::begin(const WordSequence& reference, const WordSequence& hypothesis) {
    blocks_ = units_of(hypothesis.size, kBits);
    numbers_.reset(hypothesis.size + reference.size);
    words_.clear();
    next_.clear();  // one more than the last block with each word
    first_.assign(1, 0);
    for (std::size_t j = 0; j < hypothesis.size; ++j) {
        const std::uint32_t number = numbers_.number_of(hypothesis[j]);
        const auto block = static_cast<std::uint32_t>(j / kBits);
        if (number == next_.size()) {
            next_.push_back(0);
            first_.push_back(0);
        }
        first_[number + 1] += next_[number] != block + 1;
        next_[number] = block + 1;
        words_.push_back(number);
    }
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    places_.assign(first_.back(), {});
    next_.assign(first_.begin(), first_.end());
    for (std::size_t j = 0; j < words_.size(); ++j) {
        const auto block = static_cast<std::uint32_t>(j / kBits);
        std::uint32_t& next = next_[words_[j]];
        if (next == first_[words_[j]] || places_[next - 1].block != block) places_[next++].block = block;
        places_[next - 1].places |= std::uint64_t{1} << j % kBits;
    }
}

void CommonSubsequence::advance(std::uint64_t* row, std::uint32_t reference_word) {
    const std::uint32_t number = numbers_.number_of(reference_word);
    if (number + 1 >= first_.size()) return;  // not in the hypothesis
    interrupt_.step(blocks_);
    advance_subsequence_row(row, blocks_, places_.data() + first_[number], places_.data() + first_[number + 1]);
}

std::size_t CommonSubsequence::length_in(const std::uint64_t* row, std::size_t width) {
    int ones = 0;
    for (std::size_t block = 0; block < width / kBits; ++block) ones += count_bits(row[block]);
    if (width % kBits != 0) ones += count_bits(row[width / kBits] & ((std::uint64_t{1} << width % kBits) - 1));
    return width - static_cast<std::size_t>(ones);
}

std::size_t CommonSubsequence::length(const WordSequence& reference, const WordSequence& hypothesis) {
    begin(reference, hypothesis);
    rows_.assign(blocks_, ~std::uint64_t{0});
    for (std::uint32_t word : reference) advance(rows_.data(), word);
    return length_in(rows_.data(), hypothesis.size);
}

void CommonSubsequence::fill_rows(const std::uint64_t* before, const WordSequence& reference, std::size_t start, std::size_t end) {
    rows_.resize((end - start + 1) * blocks_);
    std::copy_n(before, blocks_, rows_.begin());
    for (std::size_t i = start; i < end; ++i) {
        std::uint64_t* const row = rows_.data() + (i - start) * blocks_;
        std::copy_n(row, blocks_, row + blocks_);
        advance(row + blocks_, reference[i]);
    }
}

// All rows of long texts would not fit into memory. So the first one of each stretch is kept, and the path is followed back from
// stretch to stretch.
void CommonSubsequence::mark(const WordSequence& reference, const WordSequence& hypothesis, std::vector<char>& marked) {
    begin(reference, hypothesis);
    const auto root = static_cast<std::size_t>(std::sqrt(static_cast<double>(reference.size)));
    const std::size_t stretch = std::max(kLeastStretch, root);
    std::size_t start = 0;
    kept_.assign(blocks_, ~std::uint64_t{0});
    for (; start + stretch < reference.size; start += stretch) {
        kept_.resize(kept_.size() + blocks_);
        std::uint64_t* const row = kept_.data() + kept_.size() - blocks_;
        std::copy_n(row - blocks_, blocks_, row);
        for (std::size_t i = start; i < start + stretch; ++i) advance(row, reference[i]);
    }
    std::size_t i = reference.size, j = hypothesis.size;
    for (;; start -= stretch) {
        fill_rows(kept_.data() + start / stretch * blocks_, reference, start, i);
        const auto row = [&](std::size_t words) { return rows_.data() + (words - start) * blocks_; };
        while (i > start && j > 0) {
            interrupt_.step(blocks_);
            if (reference[i - 1] == hypothesis[j - 1]) {
                marked[--i] = 1;
                --j;
            } else if (length_in(row(i), j - 1) > length_in(row(i - 1), j)) {
                --j;
            } else {
                --i;
            }
        }
        if (start == 0 || j == 0) return;
    }
}

}  // namespace tesla
