// Characters as the tokeniser sees them.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/unicode.h"

namespace tesla {

// Letter includes marks: a combining mark belongs to what it stands on.
enum class CharKind : std::uint8_t { Separator, Letter, Digit, Joiner, Unspaced, Apostrophe, Hyphen, Dot, At, Symbol };

inline constexpr std::array<CharKind, 128> kAsciiKinds = [] {
    std::array<CharKind, 128> kinds{};  // control characters separate
    for (int c = 33; c < 127; ++c) kinds[c] = CharKind::Symbol;
    for (int c = '0'; c <= '9'; ++c) kinds[c] = CharKind::Digit;
    for (int c = 'a'; c <= 'z'; ++c) kinds[c] = kinds[c - 32] = CharKind::Letter;
    kinds['\''] = kinds['`'] = CharKind::Apostrophe;
    kinds['-'] = CharKind::Hyphen;
    kinds['.'] = CharKind::Dot;
    kinds['@'] = CharKind::At;
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

inline CharKind kind_of(char32_t c) {
    if (c < 128) return kAsciiKinds[c];
    if (c == U'’' || c == U'ʼ' || c == U'＇') return CharKind::Apostrophe;
    if (c == U'‐' || c == U'‑') return CharKind::Hyphen;
    switch (char_class(c)) {
        case CharClass::Letter: return is_unspaced(c) ? CharKind::Unspaced : CharKind::Letter;
        case CharClass::Mark: return CharKind::Letter;
        case CharClass::Number: return is_unspaced(c) ? CharKind::Unspaced : CharKind::Digit;
        case CharClass::Space: return CharKind::Separator;
        case CharClass::Other: return is_joiner(c) ? CharKind::Joiner : is_layout(c) ? CharKind::Separator : CharKind::Symbol;
        default: return CharKind::Symbol;
    }
}

inline bool is_visible(CharKind kind) { return kind == CharKind::Letter || kind == CharKind::Digit; }
inline bool in_word(CharKind kind) { return is_visible(kind) || kind == CharKind::Joiner; }

inline bool is_regional_indicator(char32_t c) { return c >= 0x1F1E6 && c <= 0x1F1FF; }
inline bool is_skin_tone(char32_t c) { return c >= 0x1F3FB && c <= 0x1F3FF; }

inline bool contains(std::u32string_view set, char32_t c) { return set.find(c) != set.npos; }
// The same for a literal, whose length the compiler knows.
template <std::size_t size>
bool contains(const char32_t (&set)[size], char32_t c) {
    return contains(std::u32string_view(set, size - 1), c);
}

}  // namespace tesla
