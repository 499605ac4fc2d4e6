// Things in a text that have a shape, whatever the words: numbers, addresses, emoticons, emoji, markup.
#pragma once

#include <algorithm>
#include <iterator>

#include "language/analysis/tokeniser_characters.h"
#include "language/analysis/tokeniser_rules.h"

namespace tesla {

// Limits that keep look-ahead, and so the whole, linear. Local part and domain are those of RFC 5321.
inline constexpr std::size_t kLongestLocalPart = 64, kLongestDomain = 255, kLongestEmoticon = 4, kLongestEntity = 10,
                             kLongestPart = 12;

// Groups of digits that make one token with their hyphens: telephone numbers, postal codes, dates.
inline constexpr unsigned kDigitShapes[] = {34, 334, 1334, 54, 222, 224, 422};

// What a URL begins with.
inline constexpr std::u32string_view kSchemes[] = {U"http://", U"https://", U"ftp://", U"www.", U"mailto:"};

// A text and the chunk of it, between separators, that is being read. Functions called ..._end take the place where
// something may begin and return where it ends, or the place itself if it is not there.
class TextShapes {
 protected:
    TextShapes(const TokeniserRules& rules, const char32_t* text) : rules_(rules), style_(rules.style), text_(text) {}

    static constexpr unsigned bit(CharKind kind) { return 1u << static_cast<unsigned>(kind); }

    CharKind kind(std::size_t i) const { return i < end_ ? kind_of(text_[i]) : CharKind::Separator; }
    char32_t at(std::size_t i) const { return i < end_ ? text_[i] : U' '; }
    int look_up(const WordTable& table, std::size_t start, std::size_t end) const {
        return table.find(text_ + start, end - start);
    }

    // Digits with single . , : / between them, or apostrophes before groups of three.
    std::size_t number_end(std::size_t i) const {
        while (kind(i) == CharKind::Digit) {
            ++i;
            bool thousands = kind(i) == CharKind::Apostrophe && kind(i + 2) == CharKind::Digit && kind(i + 3) == CharKind::Digit;
            if ((thousands || contains(U".,:/", at(i))) && kind(i + 1) == CharKind::Digit) ++i;
        }
        return i;
    }

    std::size_t digit_groups_end(std::size_t start) const {
        std::size_t i = start;
        for (unsigned shape = 0; shape < 1000;) {
            std::size_t group = i;
            while (kind(i) == CharKind::Digit && i - group < 6) ++i;
            shape = shape * 10 + static_cast<unsigned>(i - group);
            if (kind(i) == CharKind::Hyphen && kind(i + 1) == CharKind::Digit) {
                ++i;
                continue;
            }
            bool known = std::find(std::begin(kDigitShapes), std::end(kDigitShapes), shape) != std::end(kDigitShapes);
            return known && !in_word(kind(i)) ? i : start;
        }
        return start;
    }

    // A URL or e-mail address.
    std::size_t address_end(std::size_t start) const {
        for (std::u32string_view scheme : kSchemes) {
            if (begins_with(start, scheme) && in_word(kind(start + scheme.size()))) {
                return trimmed(start, url_end(start));
            }
        }
        return seen_ & bit(CharKind::At) ? email_end(start) : start;
    }

    bool begins_with(std::size_t start, std::u32string_view scheme) const {
        if (end_ - start < scheme.size()) return false;
        for (std::size_t i = 0; i < scheme.size(); ++i) {
            if (to_lower(text_[start + i]) != scheme[i]) return false;
        }
        return true;
    }

    std::size_t url_end(std::size_t i) const {
        while (i < end_ && !contains(U"<>\"“”«»", text_[i])) ++i;
        return i;
    }

    // Without the punctuation that belongs to the sentence around an address.
    std::size_t trimmed(std::size_t start, std::size_t end) const {
        bool bracketed = contains(std::u32string_view(text_ + start, end - start), U'(');
        std::u32string_view loose = bracketed ? U".,;:!?'’]}*" : U".,;:!?'’]}*)";
        while (end > start && contains(loose, text_[end - 1])) --end;
        return end;
    }

    std::size_t email_end(std::size_t start) const {
        std::size_t i = start, limit = std::min(end_, start + kLongestLocalPart);
        while (i < limit && (in_word(kind_of(text_[i])) || contains(U"._+-%=", text_[i]))) ++i;
        if (i == start || at(i) != U'@' || !is_visible(kind(i + 1))) return start;
        limit = std::min(end_, i + kLongestDomain);
        for (++i; i < limit && (in_word(kind_of(text_[i])) || contains(U"._-", text_[i]));) ++i;
        return trimmed(start, i);
    }

    // How far the full stop at `dot`, with a word character on both sides, carries the word on.
    std::size_t dotted_end(std::size_t start, std::size_t piece, std::size_t dot) const {
        bool digits = kind_of(text_[dot - 1]) == CharKind::Digit && kind(dot + 1) == CharKind::Digit;
        bool initials = dot - piece == 1 && !in_word(kind(dot + 2));  // U.S.A
        if (digits || initials) return dot + 1;
        return name_end(start, dot);
    }

    // The end of a host, file or group name (`example.com/path`, `notes.doc`, `comp.sources.unix`) or an abbreviation
    // (f.eks.) whose first full stop is at `dot`.
    std::size_t name_end(std::size_t start, std::size_t dot) const {
        std::size_t i = start, piece = start, pieces = 0, limit = std::min(end_, start + kLongestDomain);
        bool plain = true;
        for (; i < limit; ++i) {
            CharKind k = kind_of(text_[i]);
            if (k == CharKind::Dot && in_word(kind(i + 1))) {
                plain = plain && i - piece > 1;
                piece = i + 1;
                ++pieces;
            } else if (k == CharKind::Letter) {
                plain = plain && !is_upper(text_[i]);
            } else if (k != CharKind::Digit && k != CharKind::Hyphen && text_[i] != U'_') {
                break;
            }
        }
        if (look_up(rules_.abbreviations, start, i) >= 0) return i;
        bool known = look_up(rules_.internet, piece, i) >= 0;
        if (!known && !(plain && pieces >= 2)) return dot;
        return at(i) == U'/' && known ? trimmed(start, url_end(i)) : i;
    }

    std::size_t symbol_end(std::size_t start) const {
        char32_t c = text_[start];
        CharKind next = kind(start + 1);
        if (c == U'.' && next == CharKind::Digit) return number_end(start + 1);
        if ((c == U'@' || c == U'#') && next == CharKind::Letter) return tag_end(start + 1);
        if (kind_of(c) == CharKind::Apostrophe && is_visible(next)) return apostrophe_word_end(start);
        if (std::size_t end = emoticon_end(start); end != start) return end;
        if (std::size_t end = entities_end(start); end != start) return end;
        if (std::size_t end = markup_end(start); end != start) return end;
        if (style_.split_runs && contains(U".!?", c)) return after_marks(start + 1);
        if (contains(U"!?", c)) return run_end(start, U"!?");
        if (contains(U".-–—*=+~#_<>'’`,", c)) return after_marks(run_end(start, std::u32string_view(&c, 1)));
        return c < 128 ? after_marks(start + 1) : emoji_end(start);
    }

    std::size_t tag_end(std::size_t i) const {
        while (in_word(kind(i)) || ((at(i) == U'_' || kind(i) == CharKind::Dot) && in_word(kind(i + 1)))) ++i;
        return i;
    }

    // 'em, '60s; a quotation mark alone otherwise.
    std::size_t apostrophe_word_end(std::size_t start) const {
        std::size_t i = start + 1;
        if (kind(i) == CharKind::Digit) {
            bool decade = kind(i + 1) == CharKind::Digit && kind(i + 2) != CharKind::Digit;
            if (decade && !in_word(kind(i + 2))) return i + 2;
            return decade && at(i + 2) == U's' && !in_word(kind(i + 3)) ? i + 3 : start + 1;
        }
        while (i - start < kLongestPart && in_word(kind(i))) ++i;
        return look_up(rules_.apostrophes, start, i) >= 0 ? i : start + 1;
    }

    // :) and with its last character repeated :)))
    std::size_t emoticon_end(std::size_t start) const {
        if (start > 0 && kind_of(text_[start - 1]) == CharKind::Digit) return start;
        for (std::size_t length = std::min(kLongestEmoticon, end_ - start); length >= 2; --length) {
            if (look_up(rules_.emoticons, start, start + length) < 0) continue;
            std::size_t end = run_end(start + length, std::u32string_view(text_ + start + length - 1, 1));
            if (!in_word(kind(end))) return end;
        }
        return start;
    }

    // What a careless conversion from HTML leaves: &quot;
    std::size_t entities_end(std::size_t start) const {
        std::size_t i = start;
        while (at(i) == U'&') {
            std::size_t name = at(i + 1) == U'#' ? i + 2 : i + 1, end = name;
            while (end - i < kLongestEntity && end < end_ && text_[end] < 128 && is_visible(kind_of(text_[end]))) ++end;
            if (end == name || at(end) != U';') break;
            i = end + 1;
        }
        return i;
    }

    // An HTML tag: <br/>, </a>
    std::size_t markup_end(std::size_t start) const {
        if (text_[start] != U'<') return start;
        std::size_t i = at(start + 1) == U'/' ? start + 2 : start + 1, name = i;
        while (i - name < kLongestPart && at(i) >= U'a' && at(i) <= U'z') ++i;
        if (i == name || !contains(U">/_", at(i))) return start;
        for (std::size_t limit = std::min(end_, start + kLongestDomain); i < limit && text_[i] != U'<'; ++i) {
            if (text_[i] == U'>') return i + 1;
        }
        return start;
    }

    std::size_t run_end(std::size_t i, std::u32string_view characters) const {
        while (i < end_ && contains(characters, text_[i])) ++i;
        return i;
    }

    std::size_t after_marks(std::size_t i) const {
        while (i < end_ && is_mark(text_[i])) ++i;
        return i;
    }

    // A symbol with what modifies it: marks, skin tones, joined symbols, the second half of a flag.
    std::size_t emoji_end(std::size_t start) const {
        std::size_t i = start + 1;
        if (is_regional_indicator(text_[start]) && is_regional_indicator(at(i))) ++i;
        for (;; ++i) {
            while (i < end_ && (is_mark(text_[i]) || is_skin_tone(text_[i]) || is_joiner(text_[i]))) ++i;
            if (i >= end_ || text_[i - 1] != kZeroWidthJoiner || kind_of(text_[i]) != CharKind::Symbol) return i;
        }
    }

    const TokeniserRules& rules_;
    const TokeniserStyle& style_;
    const char32_t* text_;
    std::size_t end_ = 0;  // of the chunk
    unsigned seen_ = 0;    // the kinds of characters in it
};

}  // namespace tesla
