#include "metrics/baselines/subsequence.h"

#include <algorithm>

#include "base/portable.h"
#include "base/rounding.h"
#include "base/subsequence.h"

namespace tesla {

void CommonSubsequence::begin(const WordSequence& reference, const WordSequence& hypothesis) {
    blocks_ = units_of(hypothesis.size, kBits);
    numbers_.reset(hypothesis.size + reference.size);
    places_.clear();
    words_ = 0;
    for (std::size_t j = 0; j < hypothesis.size; ++j) {
        const std::uint32_t number = numbers_.number_of(hypothesis[j]);
        if (number == words_) {
            ++words_;
            places_.resize(words_ * blocks_);
        }
        places_[number * blocks_ + j / kBits] |= std::uint64_t{1} << j % kBits;
    }
    rows_.assign(blocks_, ~std::uint64_t{0});
}

void CommonSubsequence::advance(std::uint32_t reference_word, const std::uint64_t* row, std::uint64_t* next) {
    const std::uint32_t number = numbers_.number_of(reference_word);
    if (number >= words_) {  // not in the hypothesis
        std::copy(row, row + blocks_, next);
        return;
    }
    interrupt_.step(blocks_);
    const std::uint64_t* const places = places_.data() + number * blocks_;
    std::uint64_t carry = 0;
    for (std::size_t block = 0; block < blocks_; ++block) next[block] = next_subsequence_row(row[block], places[block], carry);
}

std::size_t CommonSubsequence::length_in(const std::uint64_t* row, std::size_t width) {
    int ones = 0;
    for (std::size_t block = 0; block < width / kBits; ++block) ones += count_bits(row[block]);
    if (width % kBits != 0) ones += count_bits(row[width / kBits] & ((std::uint64_t{1} << width % kBits) - 1));
    return width - static_cast<std::size_t>(ones);
}

std::size_t CommonSubsequence::length(const WordSequence& reference, const WordSequence& hypothesis) {
    begin(reference, hypothesis);
    for (std::uint32_t word : reference) advance(word, rows_.data(), rows_.data());
    return length_in(rows_.data(), hypothesis.size);
}

void CommonSubsequence::mark(const WordSequence& reference, const WordSequence& hypothesis, std::vector<char>& marked) {
    begin(reference, hypothesis);
    rows_.resize((reference.size + 1) * blocks_);
    const auto row = [this](std::size_t i) { return rows_.data() + i * blocks_; };
    for (std::size_t i = 0; i < reference.size; ++i) advance(reference[i], row(i), row(i + 1));
    std::size_t i = reference.size, j = hypothesis.size;
    while (i > 0 && j > 0) {
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
}

}  // namespace tesla
