// Which synonym sets a lemma belongs to: binary search over the checksums of a sense table (analysis/senses.py).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace tesla {

class SenseIndex {
   public:
    // Row i has the checksum keys[i] (ascending), the bytes text[text_ends[i] .. text_ends[i + 1]] and the senses
    // ids[id_ends[i] .. id_ends[i + 1]]. Throws std::invalid_argument where the arrays do not fit each other.
    SenseIndex(std::vector<std::uint32_t> keys, std::vector<char> text, std::vector<std::int64_t> text_ends,
               std::vector<std::int64_t> id_ends, std::vector<std::uint32_t> ids);

    struct Senses {
        const std::uint32_t* data = nullptr;
        std::size_t size = 0;
    };
    Senses find(std::string_view lemma) const;

   private:
    static constexpr unsigned kBucketBits = 12;

    std::vector<std::uint32_t> keys_;
    std::vector<std::uint32_t> bucket_starts_;  // by the first bits of a key: where such keys begin
    std::vector<char> text_;
    std::vector<std::int64_t> text_ends_, id_ends_;
    std::vector<std::uint32_t> ids_;
};

}  // namespace tesla
