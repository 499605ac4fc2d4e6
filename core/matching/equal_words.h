// Which words of two sentences are equal, as bits: nothing is hashed, sorted or counted, and no branch depends on the words.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "language/analysis/lexicon.h"
#include "simd/kernels.h"

namespace tesla {

// The first `count` bits.
inline std::uint64_t first_bits(std::size_t count) {
    return count < 64 ? (std::uint64_t{1} << count) - 1 : ~std::uint64_t{0};
}

// A bit for every flag that is set; there are at most 64.
inline std::uint64_t bits_of_flags(const std::uint8_t* flags, std::size_t size) {
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < size; ++i) bits |= std::uint64_t{flags[i] != 0} << i;
    return bits;
}

// One object serves one thread.
class EqualWords {
   public:
    static constexpr std::size_t kMost = 64;  // words of a sentence
    static bool are_sentences(std::size_t of_x, std::size_t of_y) { return std::max(of_x, of_y) <= kMost; }

    void find(const std::uint32_t* x, std::size_t of_x, const std::uint32_t* y, std::size_t of_y) {
        const std::size_t room_x = fill(x, of_x, x_), room_y = fill(y, of_y, y_);
        kernels_.find_places(x_, room_x, y, of_y, in_x_);
        kernels_.find_places(y_, room_y, y, of_y, in_y_);
    }

    // The places of x, or of y, with the same word as y has at `place`.
    std::uint64_t in_x(std::size_t place) const { return in_x_[place]; }
    std::uint64_t in_y(std::size_t place) const { return in_y_[place]; }

   private:
    // Copies words into whole blocks.
    static std::size_t fill(const std::uint32_t* words, std::size_t size, std::uint32_t* blocks) {
        const std::size_t room = whole_blocks(size);
        std::fill(std::copy_n(words, size, blocks), blocks + room, kNoWord);
        return room;
    }

    const Kernels& kernels_ = chosen_kernels();
    std::uint32_t x_[kMost], y_[kMost];
    std::uint64_t in_x_[kMost], in_y_[kMost];
};

}  // namespace tesla
