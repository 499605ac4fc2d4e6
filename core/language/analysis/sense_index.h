// Which synonym sets a lemma belongs to, by the checksums of a sense table (analysis/senses.py).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/array_view.h"

namespace tesla {

class SenseIndex {
   public:
    // Row i has the checksum keys[i] (ascending), the bytes text[text_ends[i] .. text_ends[i + 1]] and the senses
    // ids[id_ends[i] .. id_ends[i + 1]]. Throws std::invalid_argument where the arrays do not fit each other.
    SenseIndex(const ArrayView<std::uint32_t>& keys, std::vector<char> text, const ArrayView<std::int64_t>& text_ends,
               const ArrayView<std::int64_t>& id_ends, std::vector<std::uint32_t> ids);

    struct Senses {
        const std::uint32_t* data = nullptr;
        std::size_t size = 0;
    };
    std::vector<Senses> find(const std::vector<std::string_view>& lemmas) const;

   private:
    // What is asked for together lies together.
    struct Row {
        std::uint32_t key, text, ids;  // where text and ids begin; they end where those of the next row begin
    };

    std::size_t bucket_of(std::uint32_t key) const { return key >> (32 - bucket_bits_); }
    const Row* row_of(std::uint32_t key, std::string_view lemma) const;  // null: it has no senses

    std::vector<Row> rows_;                     // and one more, where all end
    std::vector<std::uint32_t> bucket_starts_;  // by the first bits of a key: where such keys begin
    int bucket_bits_ = 1;
    std::vector<char> text_;
    std::vector<std::uint32_t> ids_;
};

}  // namespace tesla
