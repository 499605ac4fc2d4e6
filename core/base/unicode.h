// Characters: decoding UTF-8, and the classes that the tokeniser and the tagger ask for.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>

#include "base/unicode_tables.h"

namespace tesla {

enum class CharClass : std::uint8_t { Letter, Mark, Number, Punctuation, Symbol, Space, Other };

inline std::uint8_t char_properties(char32_t c) {
    unsigned block = c >> 8;
    if (block > tables::kLastBlock) block = tables::kLastBlock;
    return tables::kProperties[tables::kBlockOf[block]][c & 255];
}
inline CharClass char_class(char32_t c) { return static_cast<CharClass>(char_properties(c) & 7); }
inline bool is_letter(char32_t c) { return char_class(c) == CharClass::Letter; }
inline bool is_number(char32_t c) { return char_class(c) == CharClass::Number; }
inline bool is_mark(char32_t c) { return char_class(c) == CharClass::Mark; }
inline bool is_space(char32_t c) { return char_class(c) == CharClass::Space; }
inline bool is_alnum(char32_t c) { return is_letter(c) || is_number(c); }
inline bool is_upper(char32_t c) { return (char_properties(c) & 8) != 0; }
// Letters, marks and digits of scripts that put no spaces between words (Han, Kana, Thai, ...).
inline bool is_unspaced(char32_t c) { return (char_properties(c) & 16) != 0; }

inline char32_t to_lower(char32_t c) {
    if (c < 128) return c >= 'A' && c <= 'Z' ? c + 32 : c;
    const auto* end = std::end(tables::kLower);
    const auto* run = std::lower_bound(std::begin(tables::kLower), end, c,
                                       [](const tables::CaseRun& r, char32_t v) { return r.last < v; });
    if (run == end || c < run->first || (c - run->first) % run->stride != 0) return c;
    return static_cast<char32_t>(static_cast<std::int32_t>(c) + run->difference);
}

// The letter that `to_lower` turns into `c`, or `c` itself; the first one where there are several.
inline char32_t to_upper(char32_t c) {
    if (c < 128) return c >= 'a' && c <= 'z' ? c - 32 : c;
    for (const tables::CaseRun& run : tables::kLower) {
        const auto upper = static_cast<char32_t>(static_cast<std::int32_t>(c) - run.difference);
        if (upper >= run.first && upper <= run.last && (upper - run.first) % run.stride == 0) return upper;
    }
    return c;
}

inline bool is_ascii(std::string_view text) {
    unsigned char bits = 0;  // no way out before the end: so it is done with many bytes at once
    for (char c : text) bits |= static_cast<unsigned char>(c);
    return bits < 0x80;
}

inline bool ends_with(std::string_view text, std::string_view end) {
    return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

// The code point at byte `at`, which moves on to the next one. Python hands over nothing but valid UTF-8; in bytes of a
// damaged file a character that is cut off at the end becomes U+FFFD, and nothing is read past the end.
inline char32_t next_character(std::string_view text, std::size_t& at) {
    const auto byte = [text, i = at](std::size_t k) { return static_cast<char32_t>(static_cast<unsigned char>(text[i + k])); };
    const auto tail = [byte](std::size_t k) { return byte(k) & 0x3F; };
    const char32_t lead = byte(0);
    if (lead < 0x80) {
        at += 1;
        return lead;
    }
    const std::size_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    if (text.size() - at < length) {
        at = text.size();
        return 0xFFFD;
    }
    at += length;
    if (length == 2) return (lead & 0x1F) << 6 | tail(1);
    if (length == 3) return (lead & 0x0F) << 12 | tail(1) << 6 | tail(2);
    return (lead & 0x07) << 18 | tail(1) << 12 | tail(2) << 6 | tail(3);
}

// The bytes of a character in UTF-8.
inline std::uint32_t utf8_length(char32_t c) { return c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4; }

// Of a text in UTF-8.
inline std::size_t count_characters(std::string_view text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

// Decodes UTF-8 into code points.
inline void decode_utf8(std::string_view text, std::u32string& out) {
    if (is_ascii(text)) {
        out.resize(text.size());
        std::transform(text.begin(), text.end(), out.begin(), [](char c) { return static_cast<unsigned char>(c); });
        return;
    }
    out.clear();
    out.reserve(text.size());
    for (std::size_t at = 0; at < text.size();) out.push_back(next_character(text, at));
}

// Whether bytes are UTF-8 as Python has it: no overlong forms, no surrogates, nothing above U+10FFFF.
inline bool is_utf8(std::string_view text) {
    if (is_ascii(text)) return true;
    for (std::size_t i = 0; i < text.size();) {
        const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(text[i + k]); };
        const unsigned char lead = byte(0);
        if (lead < 0x80) {
            ++i;
            continue;
        }
        const std::size_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
        if (lead < 0xC2 || lead > 0xF4 || text.size() - i < length) return false;
        for (std::size_t k = 1; k < length; ++k)
            if ((byte(k) & 0xC0) != 0x80) return false;
        const unsigned char second = byte(1);
        if ((lead == 0xE0 && second < 0xA0) || (lead == 0xED && second >= 0xA0) || (lead == 0xF0 && second < 0x90) ||
            (lead == 0xF4 && second >= 0x90))
            return false;
        i += length;
    }
    return true;
}

// Whether NFC may change a text, which is valid UTF-8: whether it has a character from U+0300 on but quotes, dashes and the like
// (U+2002 to U+203F).
inline bool may_compose(std::string_view text) {
    constexpr unsigned char kFirstCombining = 0xCC;  // U+0300 begins with this byte
    const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    unsigned char highest = 0;
    for (std::size_t i = 0; i < text.size(); ++i) highest = std::max(highest, byte(i));
    if (highest < kFirstCombining) return false;
    for (std::size_t i = 0; i < text.size(); ++i)
        if (byte(i) >= kFirstCombining && !(byte(i) == 0xE2 && byte(i + 1) == 0x80 && byte(i + 2) >= 0x82)) return true;
    return false;
}

inline void append_utf8(char32_t c, std::string& out) {
    if (c < 0x80) {
        out.push_back(static_cast<char>(c));
    } else if (c < 0x800) {
        out.push_back(static_cast<char>(0xC0 | (c >> 6)));
        out.push_back(static_cast<char>(0x80 | (c & 0x3F)));
    } else if (c < 0x10000) {
        out.push_back(static_cast<char>(0xE0 | (c >> 12)));
        out.push_back(static_cast<char>(0x80 | ((c >> 6) & 0x3F)));
        out.push_back(static_cast<char>(0x80 | (c & 0x3F)));
    } else {
        out.push_back(static_cast<char>(0xF0 | (c >> 18)));
        out.push_back(static_cast<char>(0x80 | ((c >> 12) & 0x3F)));
        out.push_back(static_cast<char>(0x80 | ((c >> 6) & 0x3F)));
        out.push_back(static_cast<char>(0x80 | (c & 0x3F)));
    }
}

// Writes UTF-8 in small letters; whether it is ASCII.
inline bool write_lower(std::string_view text, std::string& out) {
    out.assign(text);
    unsigned char bits = 0;
    for (char& c : out) {  // as if all were ASCII
        bits |= static_cast<unsigned char>(c);
        if (c >= 'A' && c <= 'Z') c += 'a' - 'A';
    }
    if (bits < 0x80) return true;
    out.clear();
    for (std::size_t at = 0; at < text.size();) append_utf8(to_lower(next_character(text, at)), out);
    return false;
}

}  // namespace tesla
