// Words to vectors: a table of whole words or of WordPieces, each with a vector of 8-bit numbers (analysis/vectors.py).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tesla {

inline constexpr std::size_t kMostDimensions = 256;

class VectorTable {
   public:
    // `text` holds the entries, one line each; entry i has the vector vectors[i * dimensions ...]. An entry that begins
    // with ## continues a word where `pieces` is true. Throws std::invalid_argument where the arrays do not fit.
    VectorTable(std::string text, std::vector<std::int8_t> vectors, std::size_t dimensions, bool pieces);
    VectorTable(const VectorTable&) = delete;  // the keys point into text_
    VectorTable& operator=(const VectorTable&) = delete;

    std::size_t size() const { return vectors_.size() / dimensions_; }
    std::size_t dimensions() const { return dimensions_; }
    // Writes the vector of a word; zeros if it has none. Parts of a word are separated by spaces.
    void look_up(std::string_view word, std::int8_t* vector) const;
    // The entries that the word is made of.
    void segment(std::string_view word, std::vector<std::uint32_t>& entries) const;

   private:
    using Entries = std::unordered_map<std::string_view, std::uint32_t>;
    void add(std::string_view entry, std::uint32_t number);
    void segment_part(std::string_view part, std::vector<std::uint32_t>& entries) const;

    std::string text_;
    std::vector<std::int8_t> vectors_;
    std::size_t dimensions_;
    bool pieces_;
    Entries beginnings_, continuations_;
    std::size_t longest_ = 0;           // bytes of the longest entry
    std::vector<double> inverse_norms_;  // of the entries; 0 for a vector of zeros
};

}  // namespace tesla
