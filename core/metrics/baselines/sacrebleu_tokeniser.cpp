#include "metrics/baselines/sacrebleu_tokeniser.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/checks.h"
#include "base/unicode.h"
#include "metrics/baselines/mteval_categories.h"

namespace tesla {
namespace {

// What the expressions ask of a byte.
enum ByteKind : std::uint8_t { kDigit = 1, kStopOrComma = 2, kSeparated = 4, kBlank = 8, kMayBeginBlank = 16 };

// `kSeparated` is sacreBLEU's [\{-\~\[-\` -\&\(-\+\:-\@\/].
constexpr std::array<std::uint8_t, 256> byte_kinds() {
    std::array<std::uint8_t, 256> kinds{};
    for (int c = 0; c < 256; ++c) {
        const auto within = [c](int first, int last) { return c >= first && c <= last; };
        unsigned kind = 0;
        if (within('0', '9')) kind |= kDigit;
        if (c == '.' || c == ',') kind |= kStopOrComma;
        if (within('{', '~') || within('[', '`') || within(' ', '&') || within('(', '+') || within(':', '@') || c == '/')
            kind |= kSeparated;
        if (within('\t', '\r') || within(0x1C, ' ')) kind |= kBlank;
        if (c == 0xC2 || within(0xE1, 0xE3)) kind |= kMayBeginBlank;  // U+0085, U+00A0, U+1680, U+2000 to U+3000
        kinds[static_cast<std::size_t>(c)] = static_cast<std::uint8_t>(kind);
    }
    return kinds;
}
constexpr std::array<std::uint8_t, 256> kByteKinds = byte_kinds();

bool is(char c, ByteKind kind) { return (kByteKinds[static_cast<unsigned char>(c)] & kind) != 0; }

// The bytes of white space at a place, as Python's str.split() knows it; 0 where another character stands.
std::size_t blank_at(std::string_view text, std::size_t at) {
    if (is(text[at], kBlank)) return 1;
    if (!is(text[at], kMayBeginBlank)) return 0;
    std::size_t next = at;
    return is_space(next_character(text, next)) ? next - at : 0;
}

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

std::string_view without_blanks_at_end(std::string_view text) {
    while (!text.empty()) {
        std::size_t last = text.size() - 1;
        while (last > 0 && is_continuation(text[last])) --last;
        if (blank_at(text, last) == 0) break;
        text.remove_suffix(text.size() - last);
    }
    return text;
}
std::string_view without_blanks_at_start(std::string_view text) {
    while (!text.empty()) {
        const std::size_t blank = blank_at(text, 0);
        if (blank == 0) break;
        text.remove_prefix(blank);
    }
    return text;
}

void split(std::string_view text, std::vector<std::string_view>& tokens) {
    std::size_t start = 0;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t blank = blank_at(text, at);
        if (blank == 0) {
            ++at;
            continue;
        }
        if (at > start) tokens.push_back(text.substr(start, at - start));
        at += blank;
        start = at;
    }
    if (start < text.size()) tokens.push_back(text.substr(start));
}

void split_characters(std::string_view text, std::vector<std::string_view>& tokens) {
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t start = at;
        const char32_t c = next_character(text, at);
        if (!is_space(c)) tokens.push_back(text.substr(start, at - start));
    }
}

// Python's str.replace. No replacement is longer than what it replaces.
void replace_all(std::string& text, std::string_view old, std::string_view replacement) {
    std::size_t match = text.find(old);
    if (match == std::string::npos) return;
    std::size_t kept = match, at = match;
    while (match != std::string::npos) {
        for (; at < match; ++at, ++kept) text[kept] = text[at];
        for (char c : replacement) text[kept++] = c;
        at = match + old.size();
        match = text.find(old, at);
    }
    for (; at < text.size(); ++at, ++kept) text[kept] = text[at];
    text.resize(kept);
}

// What sacreBLEU takes for a Chinese character. It writes two of the ranges with five hexadecimal digits after \u, which
// Python reads as two characters each: they become U+2001 to U+2A6D and U+2F81 to U+2FA1.
bool is_chinese(char32_t c) {
    constexpr std::pair<char32_t, char32_t> kRanges[] = {
        {0x2001, 0x2A6D}, {0x2E80, 0x2EFF}, {0x2F00, 0x2FDF}, {0x2FF0, 0x303F}, {0x3100, 0x312F}, {0x31A0, 0x31BF},
        {0x31C0, 0x31EF}, {0x3200, 0x33FF}, {0x3400, 0x4DB5}, {0x4E00, 0x9FBB}, {0xF900, 0xFA2D}, {0xFA30, 0xFA6A},
        {0xFA70, 0xFAD9}, {0xFE10, 0xFE1F}, {0xFE30, 0xFE4F}, {0xFF00, 0xFFEF},
    };
    const auto* range = std::lower_bound(std::begin(kRanges), std::end(kRanges), c,
                                         [](const auto& known, char32_t value) { return known.second < value; });
    return range != std::end(kRanges) && range->first <= c;
}

}  // namespace

SacrebleuTokeniser::SacrebleuTokeniser(std::string_view name) {
    constexpr std::pair<std::string_view, Kind> kNames[] = {
        {"none", Kind::None}, {"char", Kind::Characters}, {"13a", Kind::V13a}, {"intl", Kind::International},
        {"zh", Kind::Chinese},
    };
    const auto* known = std::find_if(std::begin(kNames), std::end(kNames), [name](const auto& pair) { return pair.first == name; });
    require(known != std::end(kNames), "the core has no such tokeniser");
    kind_ = known->second;
}

const std::vector<std::string_view>& SacrebleuTokeniser::tokens(std::string_view text) {
    tokens_.clear();
    switch (kind_) {
        case Kind::None: split(text, tokens_); return tokens_;
        case Kind::Characters: split_characters(text, tokens_); return tokens_;
        case Kind::V13a: cut_13a(without_blanks_at_end(text)); break;
        case Kind::International: cut_international(without_blanks_at_end(text)); break;
        case Kind::Chinese: cut_chinese(without_blanks_at_start(without_blanks_at_end(text))); break;
    }
    split(line_, tokens_);
    return tokens_;
}

template <class Rewrite>
void SacrebleuTokeniser::rewrite_line(std::size_t most, Rewrite&& rewrite) {
    if (rewritten_.size() < most) rewritten_.resize(most);
    const char* const from = line_.data();
    char* const to = &rewritten_[0];
    const auto size = static_cast<std::size_t>(rewrite(from, from + line_.size(), to) - to);
    line_.assign(to, size);
}

void SacrebleuTokeniser::cut_13a(std::string_view text) {
    line_.assign(text);
    replace_all(line_, "<skipped>", "");
    replace_all(line_, "-\n", "");
    replace_all(line_, "\n", " ");
    replace_all(line_, "&quot;", "\"");
    replace_all(line_, "&amp;", "&");
    replace_all(line_, "&lt;", "<");
    replace_all(line_, "&gt;", ">");
    line_.insert(0, 1, ' ');
    line_.push_back(' ');
    separate_western_punctuation();
}

void SacrebleuTokeniser::cut_chinese(std::string_view text) {
    line_.clear();
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t start = at;
        const bool separate = is_chinese(next_character(text, at));
        if (separate) line_.push_back(' ');
        line_.append(text, start, at - start);
        if (separate) line_.push_back(' ');
    }
    separate_western_punctuation();
}

void SacrebleuTokeniser::separate_western_punctuation() {
    // ([\{-\~\[-\` -\&\(-\+\:-\@\/]) becomes ` \1 `; blanks stay as they are, because one is as good as three.
    rewrite_line(3 * line_.size(), [](const char* at, const char* end, char* to) {
        for (; at != end; ++at) {
            const bool separate = is(*at, kSeparated) && *at != ' ';
            *to = ' ';
            to += separate;
            *to++ = *at;
            *to = ' ';
            to += separate;
        }
        return to;
    });
    // ([^0-9])([\.,]) becomes `\1 \2 `
    rewrite_line(2 * line_.size(), [](const char* at, const char* end, char* to) {
        for (; at != end; ++at) {
            *to++ = *at;
            if (end - at > 1 && is(at[1], kStopOrComma) && !is(*at, kDigit)) {
                *to++ = ' ';
                *to++ = *++at;
                *to++ = ' ';
            }
        }
        return to;
    });
    // ([\.,])([^0-9]) becomes ` \1 \2`
    rewrite_line(2 * line_.size(), [](const char* at, const char* end, char* to) {
        for (; at != end; ++at) {
            if (is(*at, kStopOrComma) && end - at > 1 && !is(at[1], kDigit)) {
                *to++ = ' ';
                *to++ = *at++;
                *to++ = ' ';
            }
            *to++ = *at;
        }
        return to;
    });
    // ([0-9])(-) becomes `\1 \2 `
    if (line_.find('-') == std::string::npos) return;
    rewrite_line(2 * line_.size(), [](const char* at, const char* end, char* to) {
        for (; at != end; ++at) {
            *to++ = *at;
            if (is(*at, kDigit) && end - at > 1 && at[1] == '-') {
                *to++ = ' ';
                *to++ = *++at;
                *to++ = ' ';
            }
        }
        return to;
    });
}

void SacrebleuTokeniser::cut_international(std::string_view text) {
    line_.assign(text);
    // The character at `at`, which moves on, and its category.
    const auto next = [](const char*& at, const char* end) {
        std::size_t size = 0;
        const char32_t c = next_character({at, static_cast<std::size_t>(end - at)}, size);
        at += size;
        return mteval_category(c);
    };
    // (\P{N})(\p{P}) becomes `\1 \2 `
    rewrite_line(3 * line_.size(), [&](const char* at, const char* end, char* to) {
        while (at != end) {
            const char* const first = at;
            const MtevalCategory category = next(at, end);
            to = std::copy(first, at, to);
            if (category == MtevalCategory::Number || at == end) continue;
            const char* second_end = at;
            if (next(second_end, end) != MtevalCategory::Punctuation) continue;
            *to++ = ' ';
            to = std::copy(at, second_end, to);
            *to++ = ' ';
            at = second_end;
        }
        return to;
    });
    // (\p{P})(\P{N}) becomes ` \1 \2`
    rewrite_line(3 * line_.size(), [&](const char* at, const char* end, char* to) {
        while (at != end) {
            const char* const first = at;
            const MtevalCategory category = next(at, end);
            const char* second_end = at;
            if (category == MtevalCategory::Punctuation && at != end && next(second_end, end) != MtevalCategory::Number) {
                *to++ = ' ';
                to = std::copy(first, at, to);
                *to++ = ' ';
                to = std::copy(at, second_end, to);
                at = second_end;
            } else {
                to = std::copy(first, at, to);
            }
        }
        return to;
    });
    // (\p{S}) becomes ` \1 `
    rewrite_line(3 * line_.size(), [&](const char* at, const char* end, char* to) {
        while (at != end) {
            const char* const first = at;
            const bool separate = next(at, end) == MtevalCategory::Symbol;
            if (separate) *to++ = ' ';
            to = std::copy(first, at, to);
            if (separate) *to++ = ' ';
        }
        return to;
    });
}

}  // namespace tesla
