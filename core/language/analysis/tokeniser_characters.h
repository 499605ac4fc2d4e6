// Characters as the tokeniser sees them.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/unicode.h"

namespace tesla {

// Letter includes marks: a combining mark belongs to what it stands on.
enum class Kind : std::uint8_t { Separator, Letter, Digit, Joiner, Unspaced, Apostrophe, Hyphen, Dot, At, Symbol };

inline constexpr std::array<Kind, 128> kAsciiKinds = [] {
    std::array<Kind, 128> kinds{};  // control characters separate
    for (int c = 33; c < 127; ++c) kinds[c] = Kind::Symbol;
    for (int c = '0'; c <= '9'; ++c) kinds[c] = Kind::Digit;
    for (int c = 'a'; c <= 'z'; ++c) kinds[c] = kinds[c - 32] = Kind::Letter;
    kinds['\''] = kinds['`'] = Kind::Apostrophe;
    kinds['-'] = Kind::Hyphen;
    kinds['.'] = Kind::Dot;
    kinds['@'] = Kind::At;
    return kinds;
}();

inline constexpr char32_t kSoftHyphen = 0xAD, kZeroWidthNonJoiner = 0x200C, kZeroWidthJoiner = 0x200D,
                          kWordJoiner = 0x2060;

inline bool is_joiner(char32_t c) {
    return c == kSoftHyphen || c == kZeroWidthNonJoiner || c == kZeroWidthJoiner || c == kWordJoiner ||
           (c >= 0xE0020 && c <= 0xE007F);  // tags: the flags of Scotland and Wales
}

// Of the unprintable characters those that only lay text out separate; private and unassigned ones are symbols.
inline bool is_layout(char32_t c) {
    return c < 0xA0 || (c >= 0x200B && c <= 0x206F) || c == 0xFEFF || c == 0x61C || c == 0x180E ||
           (c >= 0xFFF9 && c <= 0xFFFB);
}

inline Kind kind_of(char32_t c) {
    if (c < 128) return kAsciiKinds[c];
    if (c == U'’' || c == U'ʼ' || c == U'＇') return Kind::Apostrophe;
    if (c == U'‐' || c == U'‑') return Kind::Hyphen;
    switch (char_class(c)) {
        case CharClass::Letter: return is_unspaced(c) ? Kind::Unspaced : Kind::Letter;
        case CharClass::Mark: return Kind::Letter;
        case CharClass::Number: return is_unspaced(c) ? Kind::Unspaced : Kind::Digit;
        case CharClass::Space: return Kind::Separator;
        case CharClass::Other: return is_joiner(c) ? Kind::Joiner : is_layout(c) ? Kind::Separator : Kind::Symbol;
        default: return Kind::Symbol;
    }
}

inline bool is_visible(Kind kind) { return kind == Kind::Letter || kind == Kind::Digit; }
inline bool in_word(Kind kind) { return is_visible(kind) || kind == Kind::Joiner; }

inline bool is_regional_indicator(char32_t c) { return c >= 0x1F1E6 && c <= 0x1F1FF; }
inline bool is_skin_tone(char32_t c) { return c >= 0x1F3FB && c <= 0x1F3FF; }

inline bool contains(std::u32string_view set, char32_t c) { return set.find(c) != set.npos; }
// The same for a literal, whose length the compiler knows.
template <std::size_t size>
bool contains(const char32_t (&set)[size], char32_t c) {
    return contains(std::u32string_view(set, size - 1), c);
}

}  // namespace tesla
