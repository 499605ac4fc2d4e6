#include "tokeniser.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "tokeniser_characters.h"
#include "tokeniser_rules.h"

namespace tesla {
namespace {

// Limits that keep look-ahead, and so the whole, linear. Local part and domain are those of RFC 5321.
constexpr std::size_t kLongestLocalPart = 64, kLongestDomain = 255, kLongestEmoticon = 4, kLongestEntity = 10,
                      kLongestPart = 12;

// Groups of digits that make one token with their hyphens: telephone numbers, postal codes, dates.
constexpr unsigned kDigitShapes[] = {34, 334, 1334, 54, 222, 224, 422};

// One pass over one text. Functions called ..._end take the place where something may begin and return where it ends,
// or the place itself if it is not there.
class Scanner {
 public:
    Scanner(const TokeniserRules& rules, const char32_t* text, std::size_t length, std::vector<Span>& out)
        : rules_(rules), style_(rules.style), text_(text), length_(length), out_(out) {}

    void run() {
        find_final_stop();
        for (std::size_t i = 0; i < length_; i = end_ + 1) {
            seen_ = 0;
            for (end_ = i; end_ < length_; ++end_) {
                Kind k = kind_of(text_[end_]);
                if (k == Kind::Separator) break;
                seen_ |= bit(k);
            }
            if (seen_ == bit(Kind::Letter)) {
                emit_word(i, end_);
            } else {
                scan_chunk(i);
            }
        }
    }

 private:
    static constexpr unsigned bit(Kind kind) { return 1u << static_cast<unsigned>(kind); }

    Kind kind(std::size_t i) const { return i < end_ ? kind_of(text_[i]) : Kind::Separator; }
    char32_t at(std::size_t i) const { return i < end_ ? text_[i] : U' '; }
    int look_up(const WordTable& table, std::size_t start, std::size_t end) const {
        return table.find(text_ + start, end - start);
    }
    void emit(std::size_t start, std::size_t end) {
        out_.push_back({static_cast<std::uint32_t>(start), static_cast<std::uint32_t>(end)});
    }

    // The full stop that ends the text is no part of an abbreviation; quotes and brackets may follow it.
    void find_final_stop() {
        std::size_t i = length_;
        if (style_.keep_final_stop) i = 0;
        while (i > 0 && (kind_of(text_[i - 1]) == Kind::Separator || contains(U"\"'’”»)]", text_[i - 1]))) --i;
        final_stop_ = i > 0 && text_[i - 1] == U'.' ? i - 1 : length_;
    }

    void scan_chunk(std::size_t i) {
        while (i < end_) {
            switch (kind(i)) {
                case Kind::Joiner: ++i; break;
                case Kind::Letter: i = scan_word(i); break;
                case Kind::Digit: i = scan_number(i); break;
                case Kind::Unspaced: i = scan_unspaced(i); break;
                default: i = scan_symbol(i);
            }
        }
    }

    // Scripts without spaces: a character and its marks, or a run of them where the language takes it for a word.
    std::size_t scan_unspaced(std::size_t start) {
        std::size_t i = after_marks(start + 1);
        while (style_.han_words && kind(i) == Kind::Unspaced) ++i;
        emit(start, i);
        return i;
    }

    std::size_t scan_word(std::size_t start) {
        if (std::size_t end = address_end(start); end != start) {
            emit(start, end);
            return end;
        }
        if (std::size_t end = currency_end(start); end != start) {
            emit(start, end);
            return end;
        }
        return finish_word(start, start);
    }

    std::size_t currency_end(std::size_t start) const {
        std::size_t i = start;
        while (i - start <= rules_.currencies.longest() && kind(i) == Kind::Letter) ++i;
        return kind(i) == Kind::Digit && look_up(rules_.currencies, start, i) >= 0 ? i : start;
    }

    // Grows the word that reaches to `i` over its inner punctuation, emits it and returns its end.
    std::size_t finish_word(std::size_t start, std::size_t i) {
        std::size_t part = start, piece = start;  // begin after the last hyphen, the last full stop
        bool dotted = false;
        for (;; ++i) {
            while (in_word(kind(i))) ++i;
            Kind here = kind(i), next = kind(i + 1);
            if ((here == Kind::Apostrophe || here == Kind::Hyphen) && look_up(rules_.heads, start, i + 1) >= 0) {
                emit(start, i + 1);
                return i + 1;
            }
            if (here == Kind::Apostrophe && next == Kind::Letter) continue;
            if (here == Kind::Hyphen && is_visible(next) && hyphen_stays(part, i)) {
                part = piece = i + 1;
                continue;
            }
            if (here == Kind::Symbol && joins(i)) continue;
            if (here == Kind::Dot && is_visible(next)) {
                if (std::size_t end = dotted_end(start, piece, i); end > i) {
                    dotted = true;
                    piece = i + 1;
                    i = end - 1;
                    continue;
                }
            }
            break;
        }
        i = word_closing_end(start, part, i, dotted);
        emit_word(start, i);
        return i;
    }

    // What follows a word and still belongs to it: full stop, apostrophe, hyphen, the rest of a listed word (km/h).
    std::size_t word_closing_end(std::size_t start, std::size_t part, std::size_t i, bool dotted) const {
        Kind here = kind(i), next = kind(i + 1);
        bool last = !is_visible(next) && next != here;
        if (here == Kind::Dot && keeps_full_stop(start, part, i, dotted)) return i + 1;
        if (here == Kind::Apostrophe && style_.final_apostrophes && last) return i + 1;
        if (here == Kind::Hyphen && style_.open_hyphens && last) return i + 1;
        if (here != Kind::Symbol || rules_.whole.longest() == 0) return i;
        std::size_t end = i + 1;
        if (look_up(rules_.whole, start, end) >= 0) return end;
        while (end - i < kLongestPart && in_word(kind(end))) ++end;
        return look_up(rules_.whole, start, end) >= 0 ? end : i;
    }

    // Does the symbol at `i` join what stands before and behind it?
    bool joins(std::size_t i) const {
        char32_t c = text_[i];
        Kind before = kind_of(text_[i - 1]), after = kind(i + 1);
        if (contains(rules_.attached, c)) return true;
        if (contains(rules_.inner, c)) return before == Kind::Letter && after == Kind::Letter;
        switch (c) {
            case U'_': return is_visible(before) && is_visible(after);
            case U'&': return before == Kind::Letter && after == Kind::Letter;
            case U',': return before == Kind::Digit && after == Kind::Digit;
            default: return false;
        }
    }

    // How far the full stop at `dot`, with a word character on both sides, carries the word on.
    std::size_t dotted_end(std::size_t start, std::size_t piece, std::size_t dot) const {
        bool digits = kind_of(text_[dot - 1]) == Kind::Digit && kind(dot + 1) == Kind::Digit;
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
            Kind k = kind_of(text_[i]);
            if (k == Kind::Dot && in_word(kind(i + 1))) {
                plain = plain && i - piece > 1;
                piece = i + 1;
                ++pieces;
            } else if (k == Kind::Letter) {
                plain = plain && !is_upper(text_[i]);
            } else if (k != Kind::Digit && k != Kind::Hyphen && text_[i] != U'_') {
                break;
            }
        }
        if (look_up(rules_.abbreviations, start, i) >= 0) return i;
        bool known = look_up(rules_.internet, piece, i) >= 0;
        if (!known && !(plain && pieces >= 2)) return dot;
        return at(i) == U'/' && known ? trimmed(start, url_end(i)) : i;
    }

    bool keeps_full_stop(std::size_t start, std::size_t part, std::size_t dot, bool dotted) const {
        if (dot == final_stop_ || kind(dot + 1) == Kind::Dot || kind_of(text_[dot - 1]) != Kind::Letter) return false;
        if (look_up(rules_.abbreviations, start, dot) >= 0) return true;
        bool initial = dot - part == 1 || (dotted && kind_of(text_[dot - 2]) == Kind::Dot);
        return initial && !style_.split_initials;
    }

    bool hyphen_stays(std::size_t part, std::size_t hyphen) const {
        if (!style_.split_hyphens || look_up(rules_.prefixes, part, hyphen) >= 0) return true;
        std::size_t i = hyphen + 1;
        while (i - hyphen < kLongestPart && in_word(kind(i))) ++i;
        return look_up(rules_.suffixes, hyphen + 1, i) >= 0;
    }

    // Emits a word, cut where the language cuts it: can|not, do|n't, I|'d|'ve.
    void emit_word(std::size_t start, std::size_t end) {
        while (end - start > 1 && kind_of(text_[end - 1]) == Kind::Joiner) --end;
        if (int cut = look_up(rules_.cut, start, end); cut > 0) {
            emit(start, start + cut);
            emit(start + cut, end);
            return;
        }
        std::size_t tail = end;
        bool may_have_tail = (seen_ & (bit(Kind::Apostrophe) | bit(Kind::Hyphen))) != 0;
        if (may_have_tail && look_up(rules_.whole, start, end) < 0) tail = tail_start(start, end);
        std::size_t before = tail < end ? tail_start(start, tail) : tail;
        emit(start, before);
        if (before < tail) emit(before, tail);
        if (tail < end) emit(tail, end);
    }

    std::size_t tail_start(std::size_t start, std::size_t end) const {
        for (std::size_t length = std::min(rules_.tails.longest(), end - start - 1); length >= 2; --length) {
            if (look_up(rules_.tails, end - length, end) >= 0) return end - length;
        }
        return end;
    }

    std::size_t scan_number(std::size_t start) {
        if (std::size_t end = address_end(start); end != start) {
            emit(start, end);
            return end;
        }
        std::size_t i = digit_groups_end(start);
        if (i == start) i = number_end(start);
        while (style_.keep_ranges && kind(i) == Kind::Hyphen && kind(i + 1) == Kind::Digit) i = number_end(i + 1);
        if (continues_as_word(start, i)) return finish_word(start, i);
        if (keeps_ordinal_stop(start, i)) {
            ++i;
        } else if (kind(i) == Kind::Letter || kind(i) == Kind::Apostrophe) {
            std::size_t ending = i + 1;
            while (kind(ending) == Kind::Letter) ++ending;
            if (in_word(kind(ending))) return finish_word(start, i);
            if (look_up(rules_.endings, i, ending) >= 0) {
                i = ending;
            } else if (look_up(rules_.units, i, ending) < 0) {
                return finish_word(start, i);
            }
        }
        emit(start, i);
        return i;
    }

    // Is the number that ends at `i` the beginning of a word such as 1_000, 01.doc, 30-jährig?
    bool continues_as_word(std::size_t start, std::size_t i) const {
        Kind here = kind(i), next = kind(i + 1);
        if (at(i) == U'_' || here == Kind::Joiner) return true;
        if (here == Kind::Hyphen) return next == Kind::Letter && !style_.split_hyphens;
        return here == Kind::Dot && next == Kind::Letter && name_end(start, i) > i;
    }

    bool keeps_ordinal_stop(std::size_t start, std::size_t i) const {
        std::size_t digits = style_.year_ordinals ? 4 : style_.ordinals ? 2 : 0;
        if (kind(i) != Kind::Dot || i == final_stop_ || i - start > digits) return false;
        return kind(i + 1) != Kind::Dot && std::all_of(text_ + start, text_ + i, is_number);
    }

    // Digits with single . , : / between them, or apostrophes before groups of three.
    std::size_t number_end(std::size_t i) const {
        while (kind(i) == Kind::Digit) {
            ++i;
            bool thousands = kind(i) == Kind::Apostrophe && kind(i + 2) == Kind::Digit && kind(i + 3) == Kind::Digit;
            if ((thousands || contains(U".,:/", at(i))) && kind(i + 1) == Kind::Digit) ++i;
        }
        return i;
    }

    std::size_t digit_groups_end(std::size_t start) const {
        std::size_t i = start;
        for (unsigned shape = 0; shape < 1000;) {
            std::size_t group = i;
            while (kind(i) == Kind::Digit && i - group < 6) ++i;
            shape = shape * 10 + static_cast<unsigned>(i - group);
            if (kind(i) == Kind::Hyphen && kind(i + 1) == Kind::Digit) {
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
        for (std::u32string_view scheme : {U"http://", U"https://", U"ftp://", U"www.", U"mailto:"}) {
            if (begins_with(start, scheme) && in_word(kind(start + scheme.size()))) {
                return trimmed(start, url_end(start));
            }
        }
        return seen_ & bit(Kind::At) ? email_end(start) : start;
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

    std::size_t scan_symbol(std::size_t start) {
        Kind next = kind(start + 1);
        bool opens = start == 0 || kind_of(text_[start - 1]) == Kind::Separator || text_[start - 1] == U'(';
        if (style_.leading_hyphens && opens && kind(start) == Kind::Hyphen && next == Kind::Letter) {
            return finish_word(start, start + 1);
        }
        std::size_t end = symbol_end(start);
        emit(start, end);
        return end;
    }

    std::size_t symbol_end(std::size_t start) const {
        char32_t c = text_[start];
        Kind next = kind(start + 1);
        if (c == U'.' && next == Kind::Digit) return number_end(start + 1);
        if ((c == U'@' || c == U'#') && next == Kind::Letter) return tag_end(start + 1);
        if (kind_of(c) == Kind::Apostrophe && is_visible(next)) return apostrophe_word_end(start);
        if (std::size_t end = emoticon_end(start); end != start) return end;
        if (std::size_t end = entities_end(start); end != start) return end;
        if (std::size_t end = markup_end(start); end != start) return end;
        if (style_.split_runs && contains(U".!?", c)) return after_marks(start + 1);
        if (contains(U"!?", c)) return run_end(start, U"!?");
        if (contains(U".-–—*=+~#_<>'’`,", c)) return after_marks(run_end(start, std::u32string_view(&c, 1)));
        return c < 128 ? after_marks(start + 1) : emoji_end(start);
    }

    std::size_t tag_end(std::size_t i) const {
        while (in_word(kind(i)) || ((at(i) == U'_' || kind(i) == Kind::Dot) && in_word(kind(i + 1)))) ++i;
        return i;
    }

    // 'em, '60s; a quotation mark alone otherwise.
    std::size_t apostrophe_word_end(std::size_t start) const {
        std::size_t i = start + 1;
        if (kind(i) == Kind::Digit) {
            bool decade = kind(i + 1) == Kind::Digit && kind(i + 2) != Kind::Digit;
            if (decade && !in_word(kind(i + 2))) return i + 2;
            return decade && at(i + 2) == U's' && !in_word(kind(i + 3)) ? i + 3 : start + 1;
        }
        while (i - start < kLongestPart && in_word(kind(i))) ++i;
        return look_up(rules_.apostrophes, start, i) >= 0 ? i : start + 1;
    }

    // :) and with its last character repeated :)))
    std::size_t emoticon_end(std::size_t start) const {
        if (start > 0 && kind_of(text_[start - 1]) == Kind::Digit) return start;
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
            if (i >= end_ || text_[i - 1] != kZeroWidthJoiner || kind_of(text_[i]) != Kind::Symbol) return i;
        }
    }

    const TokeniserRules& rules_;
    const TokeniserStyle& style_;
    const char32_t* text_;
    std::size_t length_;
    std::vector<Span>& out_;
    std::size_t end_ = 0;         // of the chunk between separators that is being scanned
    unsigned seen_ = 0;           // the kinds of characters in it
    std::size_t final_stop_ = 0;  // where the full stop is that ends the text
};

}  // namespace

Tokeniser::Tokeniser(std::string_view language)
    : rules_(std::make_unique<const TokeniserRules>(language_table(language))) {}
Tokeniser::Tokeniser(std::unique_ptr<const TokeniserRules> rules) : rules_(std::move(rules)) {}
Tokeniser::Tokeniser(Tokeniser&&) noexcept = default;
Tokeniser::~Tokeniser() = default;

Tokeniser Tokeniser::from_table(std::string_view table) {
    return Tokeniser(std::make_unique<const TokeniserRules>(table));
}

void Tokeniser::tokenise(const char32_t* text, std::size_t length, std::vector<Span>& out) const {
    out.clear();
    Scanner(*rules_, text, length, out).run();
}

std::vector<std::string_view> Tokeniser::languages() { return table_languages(); }

}  // namespace tesla
