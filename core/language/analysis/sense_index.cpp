#include "language/analysis/sense_index.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace tesla {
namespace {

// CRC-32 as zlib computes it, which made the keys of the tables.
std::uint32_t checksum(std::string_view bytes) {
    static const std::array<std::uint32_t, 256> kTable = [] {
        std::array<std::uint32_t, 256> table{};
        for (std::uint32_t i = 0; i < 256; ++i) {
            std::uint32_t c = i;
            for (int bit = 0; bit < 8; ++bit) c = (c & 1) != 0 ? 0xEDB88320U ^ (c >> 1) : c >> 1;
            table[i] = c;
        }
        return table;
    }();
    std::uint32_t crc = 0xFFFFFFFFU;
    for (char byte : bytes) crc = kTable[(crc ^ static_cast<unsigned char>(byte)) & 255] ^ (crc >> 8);
    return ~crc;
}

bool ends_fit(const std::vector<std::int64_t>& ends, std::size_t rows, std::size_t items) {
    return ends.size() == rows + 1 && ends.front() == 0 && static_cast<std::size_t>(ends.back()) == items &&
           std::is_sorted(ends.begin(), ends.end());
}

}  // namespace

SenseIndex::SenseIndex(std::vector<std::uint32_t> keys, std::vector<char> text, std::vector<std::int64_t> text_ends,
                       std::vector<std::int64_t> id_ends, std::vector<std::uint32_t> ids)
    : keys_(std::move(keys)),
      text_(std::move(text)),
      text_ends_(std::move(text_ends)),
      id_ends_(std::move(id_ends)),
      ids_(std::move(ids)) {
    if (!ends_fit(text_ends_, keys_.size(), text_.size()) || !ends_fit(id_ends_, keys_.size(), ids_.size()))
        throw std::invalid_argument("the arrays of the table do not fit each other");
    bucket_starts_.assign((std::size_t{1} << kBucketBits) + 1, 0);
    for (std::uint32_t key : keys_) ++bucket_starts_[(key >> (32 - kBucketBits)) + 1];
    std::partial_sum(bucket_starts_.begin(), bucket_starts_.end(), bucket_starts_.begin());
}

SenseIndex::Senses SenseIndex::find(std::string_view lemma) const {
    const std::uint32_t key = checksum(lemma), bucket = key >> (32 - kBucketBits);
    auto [first, last] = std::equal_range(keys_.begin() + bucket_starts_[bucket], keys_.begin() + bucket_starts_[bucket + 1], key);
    for (; first != last; ++first) {  // different words may have the same checksum
        auto row = static_cast<std::size_t>(first - keys_.begin());
        std::string_view stored(text_.data() + text_ends_[row], static_cast<std::size_t>(text_ends_[row + 1] - text_ends_[row]));
        if (stored == lemma) return {ids_.data() + id_ends_[row], static_cast<std::size_t>(id_ends_[row + 1] - id_ends_[row])};
    }
    return {};
}

}  // namespace tesla
