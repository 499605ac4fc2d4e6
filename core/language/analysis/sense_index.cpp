#include "language/analysis/sense_index.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "base/checks.h"
#include "base/crc32.h"
#include "base/portable.h"

namespace tesla {
namespace {

bool ends_fit(const ArrayView<std::int64_t>& ends, std::size_t rows, std::size_t items) {
    return ends.size == rows + 1 && ends[0] == 0 && static_cast<std::uint64_t>(ends[rows]) == items && items <= UINT32_MAX &&
           std::is_sorted(ends.begin(), ends.end());
}

}  // namespace

SenseIndex::SenseIndex(const ArrayView<std::uint32_t>& keys, std::vector<char> text, const ArrayView<std::int64_t>& text_ends,
                       const ArrayView<std::int64_t>& id_ends, std::vector<std::uint32_t> ids)
    : text_(std::move(text)), ids_(std::move(ids)) {
    require(ends_fit(text_ends, keys.size, text_.size()) && ends_fit(id_ends, keys.size, ids_.size()),
            "the arrays of the table do not fit each other");
    rows_.reserve(keys.size + 1);
    for (std::size_t i = 0; i <= keys.size; ++i)
        rows_.push_back({i < keys.size ? keys[i] : 0, static_cast<std::uint32_t>(text_ends[i]),
                         static_cast<std::uint32_t>(id_ends[i])});
    while (bucket_bits_ < 31 && std::size_t{1} << bucket_bits_ < keys.size) ++bucket_bits_;
    bucket_starts_.assign((std::size_t{1} << bucket_bits_) + 1, 0);
    for (std::uint32_t key : keys) ++bucket_starts_[(key >> (32 - bucket_bits_)) + 1];
    std::partial_sum(bucket_starts_.begin(), bucket_starts_.end(), bucket_starts_.begin());
}

// Memory is slow: it is asked for the buckets of some lemmas, then for their rows, then for the text there.
std::vector<SenseIndex::Senses> SenseIndex::find(const std::vector<std::string_view>& lemmas) const {
    constexpr std::size_t kAtOnce = 16;
    std::vector<Senses> senses(lemmas.size());
    std::array<std::uint32_t, kAtOnce> keys{};
    for (std::size_t start = 0; start < lemmas.size(); start += kAtOnce) {
        const std::size_t count = std::min(kAtOnce, lemmas.size() - start);
        for (std::size_t k = 0; k < count; ++k) {
            keys[k] = crc32(lemmas[start + k]);
            prefetch_memory(&bucket_starts_[bucket_of(keys[k])]);
        }
        const auto first_row = [&](std::size_t k) { return &rows_[bucket_starts_[bucket_of(keys[k])]]; };
        for (std::size_t k = 0; k < count; ++k) prefetch_memory(first_row(k));
        for (std::size_t k = 0; k < count; ++k) prefetch_memory(text_.data() + first_row(k)->text);
        for (std::size_t k = 0; k < count; ++k)
            if (const Row* row = row_of(keys[k], lemmas[start + k]))
                senses[start + k] = {ids_.data() + row->ids, row[1].ids - row->ids};
    }
    return senses;
}

const SenseIndex::Row* SenseIndex::row_of(std::uint32_t key, std::string_view lemma) const {
    const std::size_t bucket = bucket_of(key);
    const Row *row = &rows_[bucket_starts_[bucket]], *const end = &rows_[bucket_starts_[bucket + 1]];
    for (; row != end; ++row)
        if (row->key == key && lemma == std::string_view(text_.data() + row->text, row[1].text - row->text)) return row;
    return nullptr;
}

}  // namespace tesla
