#include "matching/characters.h"

#include <algorithm>
#include <numeric>
#include <string>

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
    const std::uint64_t high = a.high ^ b.high, low = a.low ^ b.low;
    int equal = 0;
    for (int n = 0; n < kMaxCharacterOrder; ++n)
        equal += (shift_of(n) >= 64 ? high >> (shift_of(n) - 64) : high | low >> shift_of(n)) == 0;
    return std::min(equal, length_of(a));
}

constexpr std::size_t kBuckets = 256;
std::size_t bucket_of(char32_t c) { return std::min<std::size_t>(c, kBuckets - 1); }

}  // namespace

CharacterBag::CharacterBag(std::string_view utf8) {
    std::u32string text;
    decode_utf8(utf8, text);
    text.erase(std::remove_if(text.begin(), text.end(), [](char32_t c) { return c == 0 || is_space(c); }), text.end());
    // Suffixes go to the bucket of their first character at once; what is left to sort are a few in each.
    std::size_t ends[kBuckets] = {};
    for (char32_t c : text) ++ends[bucket_of(c)];
    std::partial_sum(ends, ends + kBuckets, ends);
    std::size_t starts[kBuckets + 1] = {};
    std::copy_n(ends, kBuckets, starts + 1);
    suffixes_.resize(text.size());
    WideKey key;
    for (std::size_t i = text.size(); i-- > 0;) {  // the suffix at i: its first character before that of i + 1
        constexpr int top = kCharacterBits * (kMaxCharacterOrder - 1) - 64;
        key = {key.high >> kCharacterBits, (key.low >> kCharacterBits) | (key.high << (64 - kCharacterBits))};
        key.high |= static_cast<std::uint64_t>(text[i]) << top;
        suffixes_[--ends[bucket_of(text[i])]] = key;
    }
    for (std::size_t bucket = 0; bucket < kBuckets; ++bucket)
        if (starts[bucket + 1] - starts[bucket] > 1)
            std::sort(suffixes_.data() + starts[bucket], suffixes_.data() + starts[bucket + 1]);
}

std::int64_t CharacterBag::total(int n) const {
    return std::max<std::int64_t>(0, static_cast<std::int64_t>(suffixes_.size()) - n + 1);
}

// Walks through the suffixes of both texts in one sorted order. For every order there is a group of suffixes that begin
// alike; where the common prefix with the next suffix is shorter than n, the group of order n ends and is counted.
void CharacterBag::overlap(const CharacterBag& a, const CharacterBag& b, int max_order, std::int64_t* matches) {
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

}  // namespace tesla
