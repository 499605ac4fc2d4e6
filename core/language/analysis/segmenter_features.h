// What the segmenter looks at: one place that says which features a character has, used by training and segmenting.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/hashing.h"
#include "base/unicode.h"

namespace tesla {

// The place of a character in its word: first of several, inner, last of several, alone.
enum class Place : std::uint8_t { Begin, Middle, End, Single };
inline constexpr std::size_t kPlaces = 4;

// Scripts whose letters are not parted into words by the spaces between them. Arabic is one of them because its
// particles and pronouns are written together with the word they belong to.
inline bool is_segmented(char32_t c) {
    return is_unspaced(c) || (c >= 0x620 && c <= 0x6FF && (is_letter(c) || is_mark(c)));
}

inline constexpr std::size_t kLongestWord = 6;  // words of the lexicon are looked for up to this length
inline constexpr std::size_t kNeighbours = 3;   // characters on either side that are looked at
inline constexpr std::size_t kFeatures = 25;

// The longest words of the lexicon that begin and end at a character, and that go on across it; 0 for none.
struct WordsAt {
    std::uint8_t begin = 0, end = 0, across = 0;
};

// A character as features see it: any digit is one digit, any letter of another script one letter.
inline char32_t seen_character(char32_t c) {
    if (is_segmented(c)) return c;
    return is_number(c) ? U'0' : is_letter(c) ? U'a' : is_space(c) ? U' ' : c;
}

inline std::uint32_t script_kind(char32_t c) {
    if (c >= 0x3040 && c <= 0x309F) return 1;  // Hiragana
    if (c >= 0x30A0 && c <= 0x30FF) return 2;  // Katakana
    if (is_mark(c)) return 3;
    if (is_segmented(c)) return 4;
    return c == 0 ? 0 : c == U' ' ? 5 : c == U'0' ? 6 : c == U'a' ? 7 : 8;
}

// Marks, for every place from `start` to `end`, the words that `contains(hash)` knows.
template <class Contains>
void find_words(const char32_t* text, std::size_t start, std::size_t end, Contains&& contains, WordsAt* at) {
    std::fill_n(at, end - start, WordsAt{});
    for (std::size_t first = start; first < end; ++first) {
        Hasher hash;
        hash.add(text[first]);
        for (std::size_t last = first + 1; last < std::min(end, first + kLongestWord); ++last) {
            hash.add(text[last]);
            if (!contains(hash.value())) continue;
            auto length = static_cast<std::uint8_t>(last - first + 1);
            at[first - start].begin = std::max(at[first - start].begin, length);
            at[last - start].end = std::max(at[last - start].end, length);
            for (std::size_t i = first + 1; i < last; ++i) {
                at[i - start].across = std::max(at[i - start].across, length);
            }
        }
    }
}

// The features of the character at `at`, which has kNeighbours characters on either side (0 beyond the text).
inline std::array<std::uint32_t, kFeatures> character_features(const char32_t* at, WordsAt words) {
    const char32_t x3 = at[-3], x2 = at[-2], x1 = at[-1], c = at[0], y1 = at[1], y2 = at[2], y3 = at[3];
    const std::uint32_t before = script_kind(x1), here = script_kind(c), after = script_kind(y1);
    const auto feature = [](auto... parts) { return segmenter_feature(parts...); };
    return {
        feature(1, x2), feature(2, x1), feature(3, c), feature(4, y1), feature(5, y2),
        feature(6, x2, x1), feature(7, x1, c), feature(8, c, y1), feature(9, y1, y2),
        feature(10, x1, y1),
        feature(11, x2, x1, c), feature(12, x1, c, y1), feature(13, c, y1, y2),
        feature(14, x3, x2, x1, c), feature(15, x2, x1, c, y1), feature(16, x1, c, y1, y2),
        feature(17, c, y1, y2, y3),
        feature(18, before, here, after),
        feature(19, script_kind(x2), before << 8 | here, after, script_kind(y2)),
        feature(20, c == x1, c == x2, c == y1, c == y2),
        feature(21, words.begin, c), feature(22, words.end, c), feature(23, words.begin, words.end),
        feature(24, words.across), feature(25, words.begin, words.end, words.across),
    };
}

using PlaceScores = std::array<std::int32_t, kPlaces>;
using Transitions = std::array<PlaceScores, kPlaces + 1>;  // [previous place][place]; the last row: at the start

}  // namespace tesla
