// Words to vectors: a table of whole words or of WordPieces, each with a vector of 8-bit numbers (analysis/vectors.py).
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "language/analysis/word_pieces.h"

namespace tesla {

inline constexpr std::size_t kMostDimensions = 256;

// The vector of a word; null where it has none.
struct WordVector {
    WordVector() = default;
    WordVector(const std::int8_t* of_word, std::uint32_t of_length)
        : values(of_word), square(of_length), inverse(1.0F / std::sqrt(static_cast<float>(of_length))) {}

    const std::int8_t* values = nullptr;
    std::uint32_t square = 0;  // of its length
    float inverse = 0;         // of its length, roughly
};

class VectorTable {
   public:
    // `text` holds the entries, one line each; entry i has the vector vectors[i * dimensions ...]. An entry that begins
    // with ## continues a word where `pieces` is true. Throws std::invalid_argument where the arrays do not fit.
    VectorTable(std::string text, std::vector<std::int8_t> vectors, std::size_t dimensions, bool pieces);
    VectorTable(const VectorTable&) = delete;  // the keys point into text_
    VectorTable& operator=(const VectorTable&) = delete;

    std::size_t size() const { return vectors_.size() / dimensions_; }
    std::size_t dimensions() const { return dimensions_; }
    bool has_pieces() const { return pieces_; }
    // Asks for the memory that up to kAtOnce words need that are entries.
    static constexpr std::size_t kAtOnce = WordPieces::kAtOnce;
    void prefetch(const std::string_view* words, std::size_t count) const { entries_.prefetch(words, count); }
    // The vector of a word, whose parts are separated by spaces: that of an entry, which stays where it is, or else the mean of
    // those of several, which is written to `mean`.
    WordVector find(std::string_view word, std::int8_t* mean) const;
    // The entries that the word is made of.
    void segment(std::string_view word, std::vector<std::uint32_t>& entries) const;

   private:
    std::string text_;
    std::vector<std::int8_t> vectors_;
    std::size_t dimensions_;
    bool pieces_;
    WordPieces entries_;
    std::vector<std::uint32_t> squares_;  // of the lengths of the entries' vectors
    std::vector<double> inverse_norms_;   // of the entries; 0 for a vector of zeros
};

}  // namespace tesla
