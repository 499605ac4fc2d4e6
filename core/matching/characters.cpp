#include "matching/characters.h"

#include <algorithm>
#include <numeric>

#include "base/lanes.h"
#include "base/portable.h"
#include "base/small_sort.h"
#include "base/unicode.h"

namespace tesla {
namespace {

constexpr int kCharacterBits = 21;  // a code point; six of them fill 126 of 128 bits

constexpr int shift_of(int n) { return kCharacterBits * (kMaxCharacterOrder - 1 - n); }  // of the n-th character

std::uint64_t character(const WideKey& key, int n) {
    const int shift = shift_of(n);
    const std::uint64_t value = shift >= 64  ? key.high >> (shift - 64)
                                : shift == 0 ? key.low
                                             : (key.low >> shift) | (key.high << (64 - shift));
    return value & ((std::uint64_t{1} << kCharacterBits) - 1);
}

// Without the zeros that fill up suffixes at the end of a text.
int length_of(const WideKey& suffix) {
    int length = kMaxCharacterOrder;
    while (length > 0 && character(suffix, length - 1) == 0) --length;
    return length;
}

// How many characters two suffixes have in common at their beginnings; the padding of short ones does not count.
int common_prefix(const WideKey& a, const WideKey& b) {
    constexpr int kUnused = 128 - kCharacterBits * kMaxCharacterOrder;  // bits above the first character
    const std::uint64_t high = a.high ^ b.high, low = a.low ^ b.low;
    if (high != 0) return (leading_zeros(high) - kUnused) / kCharacterBits;
    if (low != 0) return (leading_zeros(low) + 64 - kUnused) / kCharacterBits;
    return length_of(a);
}

// Counts of n-grams stand in 16-bit lanes, one for each order.
constexpr std::size_t kMostInLanes = 0x7FFF;

struct OrderLanes {
    OrderLanes() {
        for (std::size_t count = 0; count <= kMaxCharacterOrder; ++count) {
            below[count] = first_lanes(count, -1);
            once[count] = first_lanes(count, 1);
        }
    }
    Lanes below[kMaxCharacterOrder + 1];  // all bits of the orders up to this one
    Lanes once[kMaxCharacterOrder + 1];   // one more of each of them
};

constexpr std::size_t kBuckets = 128;  // one for each character of ASCII; the last also for all beyond

}  // namespace

CharacterBag::CharacterBag(std::string_view utf8, CharacterScratch& scratch, std::pmr::memory_resource* memory)
    : suffixes_(memory) {
    auto& [text, suffix_at, bucket_at, by_second] = scratch;
    decode_utf8(utf8, text);
    text.erase(std::remove_if(text.begin(), text.end(), [](char32_t c) { return c == 0 || is_space(c); }), text.end());
    suffix_at.resize(text.size());
    bucket_at.assign(text.size() + 1, 0);
    std::size_t ends[kBuckets] = {}, second_starts[kBuckets + 1] = {};
    WideKey key;
    for (std::size_t i = text.size(); i-- > 0;) {  // the suffix at i: its first character before that of i + 1
        constexpr int top = kCharacterBits * (kMaxCharacterOrder - 1) - 64;
        key = {key.high >> kCharacterBits, (key.low >> kCharacterBits) | (key.high << (64 - kCharacterBits))};
        key.high |= static_cast<std::uint64_t>(text[i]) << top;
        suffix_at[i] = key;
        bucket_at[i] = static_cast<std::uint8_t>(std::min<std::size_t>(text[i], kBuckets - 1));
        ++ends[bucket_at[i]];
        ++second_starts[bucket_at[i + 1] + 1];
    }
    // In the order of their second characters suffixes go to the buckets of their first ones: then little is left to sort.
    std::partial_sum(ends, ends + kBuckets, ends);
    std::partial_sum(second_starts, second_starts + kBuckets, second_starts);
    by_second.resize(text.size());
    for (std::uint32_t i = 0; i < text.size(); ++i) by_second[second_starts[bucket_at[i + 1]]++] = i;
    suffixes_.resize(text.size());
    for (std::size_t k = text.size(); k-- > 0;) suffixes_[--ends[bucket_at[by_second[k]]]] = suffix_at[by_second[k]];
    const auto end_of = [&](std::size_t bucket) { return bucket + 1 < kBuckets ? ends[bucket + 1] : suffixes_.size(); };
    for (std::size_t bucket = 0; bucket < kBuckets; ++bucket)
        sort_run(suffixes_.data() + ends[bucket], suffixes_.data() + end_of(bucket));
}

std::int64_t CharacterBag::total(int n) const {
    return std::max<std::int64_t>(0, static_cast<std::int64_t>(suffixes_.size()) - n + 1);
}

// Walks through the suffixes of both texts in one sorted order. For every order there is a group of suffixes that begin
// alike; where the common prefix with the next suffix is shorter than n, the group of order n ends and is counted.
void CharacterBag::overlap_of_long_texts(const CharacterBag& a, const CharacterBag& b, int max_order, std::int64_t* matches) {
    std::fill(matches, matches + max_order, 0);
    std::int64_t in_a[kMaxCharacterOrder] = {}, in_b[kMaxCharacterOrder] = {};
    const std::size_t total = a.suffixes_.size() + b.suffixes_.size();
    std::size_t i = 0, j = 0;
    const WideKey* last = nullptr;
    for (std::size_t k = 0; k <= total; ++k) {
        const bool end = k == total;
        const bool from_a =
            !end && (j == b.suffixes_.size() || (i < a.suffixes_.size() && !(b.suffixes_[j] < a.suffixes_[i])));
        const WideKey* next = end ? nullptr : from_a ? &a.suffixes_[i] : &b.suffixes_[j];
        const int kept = last && next ? std::min(common_prefix(*last, *next), max_order) : 0;
        for (int n = kept; n < max_order; ++n) {
            matches[n] += std::min(in_a[n], in_b[n]);
            in_a[n] = in_b[n] = 0;
        }
        if (end) break;
        const int length = std::min(length_of(*next), max_order);
        for (int n = 0; n < length; ++n) ++(from_a ? in_a[n] : in_b[n]);
        ++(from_a ? i : j);
        last = next;
    }
}

// The same, all orders at once: a lane for each. No branch depends on what the texts are like but the choice of the next
// suffix.
void CharacterBag::overlap(const CharacterBag& a, const CharacterBag& b, int max_order, std::int64_t* matches) {
    if (a.length() + b.length() > kMostInLanes) return overlap_of_long_texts(a, b, max_order, matches);
    static const OrderLanes lanes;
    Lanes in_a{}, in_b{}, sum{};
    WideKey last{};  // has nothing in common with any suffix
    const auto take = [&](const WideKey& next, bool from_a) {
        const Lanes& kept = lanes.below[common_prefix(last, next)];
        sum += lower(in_a, in_b) & ~kept;
        const Lanes& added = lanes.once[length_of(next)];
        const Lanes& chosen = lanes.below[from_a ? kMaxCharacterOrder : 0];
        in_a = in_a & kept;
        in_b = in_b & kept;
        in_a += added & chosen;
        in_b += added & ~chosen;
        last = next;
    };
    const WideKey *i = a.suffixes_.data(), *const i_end = i + a.length(), *j = b.suffixes_.data(), *const j_end = j + b.length();
    while (i != i_end && j != j_end) {
        const bool from_a = !(*j < *i);
        take(from_a ? *i : *j, from_a);
        i += from_a;
        j += !from_a;
    }
    for (; i != i_end; ++i) take(*i, true);
    for (; j != j_end; ++j) take(*j, false);
    sum += lower(in_a, in_b);
    for (int n = 0; n < max_order; ++n) matches[n] = sum[static_cast<std::size_t>(n)];
}

}  // namespace tesla
