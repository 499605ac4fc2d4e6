#include "language/analysis/feature_store.h"

#include <algorithm>

namespace tesla {
namespace {

constexpr std::size_t kLookedAt = 32;  // words that are looked at while memory is asked for the rows of the others

// Features differ where the forms or the ends of words do, so that little else need be looked at.
std::uint32_t hash_of(const WordFeatures& features) {
    std::uint64_t first[2];
    std::memcpy(first, features.own.lanes, sizeof first);
    return table_hash(std::uint64_t{features.parts.form} << 32 | features.parts.suffix, first[0], first[1]);
}

std::uint32_t hash_of(const NeighbourRows& rows) {
    std::uint64_t pairs[2];
    static_assert(sizeof pairs == sizeof rows);
    std::memcpy(pairs, rows.data(), sizeof pairs);
    return table_hash(pairs[0], pairs[1]);
}

}  // namespace

void FeatureStore::find(const std::u32string* forms, std::size_t count, const WordFeatures** features) {
    WordLook looks[kLookedAt];
    WordFeatures fresh[kLookedAt];
    for (std::size_t start = 0; start < count; start += kLookedAt) {
        const std::size_t some = std::min(kLookedAt, count - start);
        tagger_.look_at(forms + start, some, looks);
        for (std::size_t k = 0; k < some; ++k) fresh[k] = tagger_.own_features(looks[k]);
        std::lock_guard lock(mutex_);
        for (std::size_t k = 0; k < some; ++k) {
            const std::uint32_t previous = sum_of(looks[k].as_previous), next = sum_of(looks[k].as_next);
            fresh[k].as_previous = &sums_[previous];
            fresh[k].as_next = &sums_[next];
            fresh[k].previous_rows = Tagger::rows_beside(sums_[previous], sum_rows_[previous]);
            fresh[k].next_rows = Tagger::rows_beside(sums_[next], sum_rows_[next]);
            features[start + k] = keep(fresh[k]);
        }
    }
}

const WordFeatures* FeatureStore::keep(const WordFeatures& features) {
    if (!features.parts.has_digit()) return append(features);
    const std::uint32_t hash = hash_of(features);
    std::size_t alike = 0;
    const std::uint32_t known =
        words_with_digits_.find(hash, [&](std::uint32_t number) { return words_[number] == features || ++alike == kMostAlike; });
    if (known != FlatTable<>::kMissing && alike < kMostAlike) return &words_[known];
    words_with_digits_.reserve(words_with_digits_.size() + 1);
    const WordFeatures* const kept = append(features);
    if (alike < kMostAlike) words_with_digits_.add(hash, static_cast<std::uint32_t>(words_.size() - 1));
    return kept;
}

const WordFeatures* FeatureStore::append(const WordFeatures& features) {
    words_.prepare();
    if (features.own_rows) {
        own_rows_.prepare();
        own_rows_.append([&](OwnRows& place) noexcept { place = *features.own_rows; });
    }
    words_.append([&](WordFeatures& place) noexcept {
        place = features;
        if (place.own_rows) place.own_rows = &own_rows_[own_rows_.size() - 1];
    });
    return &words_[words_.size() - 1];
}

std::uint32_t FeatureStore::sum_of(const NeighbourRows& rows) {
    sums_.prepare();
    sum_rows_.prepare();
    const auto fresh = static_cast<std::uint32_t>(sums_.size());
    const std::uint32_t number = sum_numbers_.find_or_add(
        hash_of(rows), fresh, [&](std::uint32_t known) { return sum_rows_[known] == rows; });
    if (number == fresh) {
        sum_rows_.append([&](NeighbourRows& place) noexcept { place = rows; });
        sums_.append([&](PackedScores& sum) noexcept { sum = tagger_.sum_of(rows); });
    }
    return number;
}

}  // namespace tesla
