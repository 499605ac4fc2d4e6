// What compilers without builtins get (-DTESLA_PORTABLE), against plain definitions.
#include "base/portable.h"

#include <cstdio>
#include <set>
#include <string>

#include "base/keyed_hash.h"
#include "base/lanes.h"
#include "base/small_sort.h"

int main() {
    using namespace tesla;
    for (int low = 0; low < 64; ++low)
        for (int high = low; high < 64; ++high)
            if (const std::uint64_t bits = std::uint64_t{1} << low | std::uint64_t{1} << high;
                lowest_bit(bits) != low || count_bits(bits) != 1 + (low != high) || count_bits(~bits) != 63 - (low != high))
                return 1;
    if (count_bits(0) != 0 || count_bits(~std::uint64_t{0}) != 64) return 10;
    const std::uint8_t bytes[] = {1, 2, 3, 4, 5, 6, 7, 0x80};
    if (eight_bytes(bytes) != 0x8007060504030201ULL) return 3;
    for (std::size_t count = 0; count < 8; ++count)
        if (few_bytes(bytes, count) != (0x0007060504030201ULL & ((std::uint64_t{1} << 8 * count) - 1))) return 7;
    std::vector<std::string> texts{""};  // all of up to seven bytes, of these four
    std::set<std::uint64_t> numbers{short_text("")};
    for (std::size_t i = 0; i < texts.size(); ++i) {
        if (texts[i].size() == kShortText) continue;
        for (char c : {'a', 'b', '\0', '\xFF'}) numbers.insert(short_text(texts.emplace_back(texts[i] + c)));
    }
    if (texts.size() != 21845 || numbers.size() != texts.size()) return 8;
    for (std::size_t best = 0; best < kLanes; ++best) {
        Lanes lanes = first_lanes(kLanes, -5), places{};
        for (std::size_t i = 0; i < kLanes; ++i) places[i] = static_cast<std::int16_t>(i + 1);
        lanes[best] = 7;
        const Lanes found = highest(lanes), place = highest(where_equal(lanes, found, places));
        for (std::size_t i = 0; i < kLanes; ++i)
            if (found[i] != 7 || place[i] != static_cast<std::int16_t>(best + 1) || higher(lanes, found)[i] != 7 ||
                lower(lanes, found)[i] != lanes[i])
                return 4;
    }
    UnsignedLanes sum{}, one{};
    for (std::size_t i = 0; i < kLanes; ++i) one[i] = static_cast<std::uint16_t>(0xFF00 + i);
    for (int k = 0; k < 3; ++k) sum += one;
    if (as_signed(sum - (one >> 8))[7] != static_cast<std::int16_t>(3 * 0xFF07 - 0xFF)) return 5;
    BucketSorter sorter;
    for (std::size_t size : {0, 1, 5, 63, 64, 65, 200}) {  // both ways to sort, numbers that come again
        std::vector<std::uint64_t> numbers;
        for (std::size_t i = 0; i < size; ++i) numbers.push_back(i * 7919 % 53 << 8 | i * 31 % 7);
        std::vector<std::uint64_t> wanted = numbers;
        std::sort(wanted.begin(), wanted.end());
        sorter.sort(numbers, 8, 53);
        if (numbers != wanted) return 6;
    }
    std::FILE* file = std::tmpfile();
    if (!file || std::fputs("0123456789", file) < 0 || !seek_to(file, 7) || std::fgetc(file) != '7') return 2;
    // SipHash-1-3 of 0, 1, ..., 14 under the key 0, 1, ..., 15, as its paper describes it.
    std::string_view text("\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e", 15);
    const HashKey key{0x0706050403020100ULL, 0x0F0E0D0C0B0A0908ULL};
    if (sip_hash(text, key) != 0xD320D86D2A519956ULL) return 9;
    return 0;
}
