// Words to vectors: a table of whole words or of WordPieces, each with a vector of 8-bit numbers (analysis/vectors.py).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/text_table.h"

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
    // Entries by their text. How long those are that begin alike is known, so that no other lengths are tried.
    class Entries {
       public:
        bool add(std::string_view entry, std::uint32_t number);  // false where it is there already
        void reserve(std::size_t count) { numbers_.reserve(count); }
        const std::uint32_t* find(std::string_view entry) const { return numbers_.find(entry); }
        // The longest entry that `text` begins with: its length in bytes, or 0 if `text` begins with no entry.
        std::size_t longest_beginning(std::string_view text, std::uint32_t& number) const;

       private:
        static constexpr std::size_t kLongestNoted = 64, kBuckets = 4096;
        static std::size_t bucket_of(std::string_view text);

        TextTable<std::uint32_t> numbers_;
        std::vector<std::uint64_t> lengths_ = std::vector<std::uint64_t>(kBuckets);  // bit k: of k + 1 bytes
        std::size_t longest_ = 0;
    };
    void add(std::string_view entry, std::uint32_t number);
    void segment_part(std::string_view part, std::vector<std::uint32_t>& entries) const;

    std::string text_;
    std::vector<std::int8_t> vectors_;
    std::size_t dimensions_;
    bool pieces_;
    Entries beginnings_, continuations_;
    std::vector<double> inverse_norms_;  // of the entries; 0 for a vector of zeros
};

}  // namespace tesla
