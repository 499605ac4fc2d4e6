// Words to vectors: a table of whole words or of WordPieces, each with a vector of 8-bit numbers (analysis/vectors.py).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/array_view.h"
#include "base/portable.h"
#include "base/recycled_memory.h"
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
    VectorTable(std::string text, const ArrayView<std::int8_t>& vectors, std::size_t dimensions, bool pieces);
    VectorTable(const VectorTable&) = delete;  // the keys point into text_
    VectorTable& operator=(const VectorTable&) = delete;

    std::size_t size() const { return vectors_.size() / dimensions_; }
    std::size_t dimensions() const { return dimensions_; }
    bool has_pieces() const { return pieces_; }
    // Calls use(k, vector) for the k-th of some words, whose parts are separated by spaces. The vector is that of an entry, which
    // stays where it is, or else the mean of those of several, which is written to `mean`.
    template <class Use>
    void find_all(const std::vector<std::string_view>& words, std::int8_t* mean, Use&& use) const {
        std::vector<std::uint32_t> entries;
        std::size_t ends[kAtOnce];
        for (std::size_t start = 0; start < words.size(); start += kAtOnce) {
            const std::size_t count = std::min(kAtOnce, words.size() - start);
            const auto hashes = entries_.prefetch(words.data() + start, count);
            entries.clear();
            for (std::size_t k = 0; k < count; ++k) {
                const std::string_view word = words[start + k];
                if (const std::uint32_t* whole = word.empty() ? nullptr : entries_.find(word, hashes[k])) {
                    entries.push_back(*whole);
                } else if (pieces_) {
                    append_pieces(word, entries);
                }
                ends[k] = entries.size();
            }
            for (std::uint32_t entry : entries) prefetch_entry(entry);
            for (std::size_t k = 0, from = 0; k < count; from = ends[k++])
                use(start + k, vector_of(entries.data() + from, ends[k] - from, mean));
        }
    }
    // The entries that the word is made of.
    std::vector<std::uint32_t> segment(std::string_view word) const;

   private:
    static constexpr std::size_t kAtOnce = WordPieces::kAtOnce;

    void append_pieces(std::string_view word, std::vector<std::uint32_t>& entries) const;
    WordVector vector_of(const std::uint32_t* entries, std::size_t count, std::int8_t* mean) const;
    void prefetch_entry(std::uint32_t entry) const {
        prefetch_memory(vectors_.data() + entry * dimensions_);
        prefetch_memory(&squares_[entry]);
        prefetch_memory(&inverse_norms_[entry]);
    }

    std::string text_;
    std::vector<std::int8_t, Recycled<std::int8_t>> vectors_;  // most have 64 numbers: one cache line
    std::size_t dimensions_;
    bool pieces_;
    WordPieces entries_;
    std::vector<std::uint32_t> squares_;  // of the lengths of the entries' vectors
    std::vector<double> inverse_norms_;   // of the entries; 0 for a vector of zeros
};

}  // namespace tesla
