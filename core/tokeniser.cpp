#include "tokeniser.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string_view.h>

#include <array>
#include <stdexcept>
#include <string>

#include "bindings.h"
#include "tokeniser_rules.h"
#include "unicode.h"

namespace tesla {
namespace {

enum class Kind : std::uint8_t { Separator, Letter, Digit, Joiner, Unspaced, Apostrophe, Hyphen, Dot, At, Symbol };

constexpr std::array<Kind, 128> kAsciiKinds = [] {
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

constexpr char32_t kSoftHyphen = 0xAD, kZeroWidthNonJoiner = 0x200C, kZeroWidthJoiner = 0x200D, kWordJoiner = 0x2060;

bool is_joiner(char32_t c) {
    return c == kSoftHyphen || c == kZeroWidthNonJoiner || c == kZeroWidthJoiner || c == kWordJoiner ||
           (c >= 0xE0020 && c <= 0xE007F);  // tags: the flags of Scotland and Wales
}

// Of the unprintable characters those that only lay text out separate; private and unassigned ones are symbols.
bool is_layout(char32_t c) {
    return c < 0xA0 || (c >= 0x200B && c <= 0x206F) || c == 0xFEFF || c == 0x61C || c == 0x180E ||
           (c >= 0xFFF9 && c <= 0xFFFB);
}

Kind kind_of(char32_t c) {
    if (c < 128) return kAsciiKinds[c];
    if (c == U'’' || c == U'ʼ' || c == U'＇') return Kind::Apostrophe;
    if (c == 0x2010 || c == 0x2011) return Kind::Hyphen;
    switch (char_class(c)) {
        case CharClass::Letter:
        case CharClass::Mark: return is_unspaced(c) ? Kind::Unspaced : Kind::Letter;
        case CharClass::Number: return is_unspaced(c) ? Kind::Unspaced : Kind::Digit;
        case CharClass::Space: return Kind::Separator;
        case CharClass::Other: return is_joiner(c) ? Kind::Joiner : is_layout(c) ? Kind::Separator : Kind::Symbol;
        default: return Kind::Symbol;
    }
}

bool in_word(Kind kind) { return kind == Kind::Letter || kind == Kind::Digit || kind == Kind::Joiner; }
bool is_visible(Kind kind) { return kind == Kind::Letter || kind == Kind::Digit; }

bool is_regional_indicator(char32_t c) { return c >= 0x1F1E6 && c <= 0x1F1FF; }
bool is_skin_tone(char32_t c) { return c >= 0x1F3FB && c <= 0x1F3FF; }
bool contains(std::u32string_view set, char32_t c) { return set.find(c) != set.npos; }

// Limits that keep look-ahead, and so the whole, linear: the longest local part and domain of RFC 5321.
constexpr std::size_t kLongestLocalPart = 64, kLongestDomain = 255, kLongestEmoticon = 4, kLongestTail = 4;

// Groups of digits that make one token with their hyphens: telephone numbers, postal codes, dates.
constexpr unsigned kDigitShapes[] = {34, 334, 1334, 54, 222, 224, 422};

// One pass over one text.
class Scanner {
 public:
    Scanner(const TokeniserRules& rules, const char32_t* text, std::size_t length, std::vector<Span>& out)
        : rules_(rules), text_(text), length_(length), out_(out) {}

    void run() {
        find_final_stop();
        for (std::size_t i = 0; i < length_;) {
            unsigned seen = 0;
            std::size_t end = i;
            for (; end < length_; ++end) {
                Kind k = kind_of(text_[end]);
                if (k == Kind::Separator) break;
                seen |= 1u << static_cast<unsigned>(k);
            }
            end_ = end;
            seen_ = seen;
            if (seen == bit(Kind::Letter)) {
                emit_word(i, end);
            } else {
                scan_chunk(i);
            }
            i = end + 1;
        }
    }

 private:
    static constexpr unsigned bit(Kind kind) { return 1u << static_cast<unsigned>(kind); }

    Kind kind(std::size_t i) const { return i < end_ ? kind_of(text_[i]) : Kind::Separator; }
    char32_t at(std::size_t i) const { return i < end_ ? text_[i] : U' '; }
    void emit(std::size_t start, std::size_t end) {
        out_.push_back({static_cast<std::uint32_t>(start), static_cast<std::uint32_t>(end)});
    }

    // The full stop that ends the text is never part of an abbreviation; quotes and brackets may follow it.
    void find_final_stop() {
        std::size_t i = length_;
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

    // Scripts without spaces: a character and its marks.
    std::size_t scan_unspaced(std::size_t start) {
        std::size_t i = after_marks(start + 1);
        emit(start, i);
        return i;
    }

    std::size_t scan_word(std::size_t start) {
        std::size_t end = address_end(start);
        if (end != start) {
            emit(start, end);
            return end;
        }
        return finish_word(start, start);
    }

    // Grows the word that reaches to `i` over its inner punctuation, emits it and returns its end.
    std::size_t finish_word(std::size_t start, std::size_t i) {
        std::size_t part = start, piece = start;  // begin after the last hyphen, the last full stop
        bool dotted = false;
        for (;; ++i) {
            while (in_word(kind(i))) ++i;
            Kind here = kind(i), next = kind(i + 1);
            if (here == Kind::Apostrophe && next == Kind::Letter) continue;
            if (here == Kind::Hyphen && is_visible(next) && hyphen_stays(part, i)) {
                part = piece = i + 1;
                continue;
            }
            if (here == Kind::Symbol && joins(i)) continue;
            if (here == Kind::Dot) {
                if (is_visible(next)) {
                    std::size_t end = dotted_end(start, piece, i);
                    if (end > i) {
                        dotted = true;
                        piece = i + 1;
                        i = end - 1;
                        continue;
                    }
                } else if (keeps_full_stop(start, part, i, dotted)) {
                    ++i;
                }
            }
            break;
        }
        emit_word(start, i);
        return i;
    }

    // Does the underscore or ampersand at `i` join what stands before and behind it?
    bool joins(std::size_t i) const {
        char32_t c = text_[i];
        Kind before = kind_of(text_[i - 1]), after = kind(i + 1);
        if (c == U'_') return is_visible(before) && is_visible(after);
        return c == U'&' && before == Kind::Letter && after == Kind::Letter;
    }

    // How far the full stop at `dot`, with a word character on both sides, carries the word on: `dot` if not at all.
    std::size_t dotted_end(std::size_t start, std::size_t piece, std::size_t dot) const {
        bool digits = kind_of(text_[dot - 1]) == Kind::Digit && kind(dot + 1) == Kind::Digit;
        bool initials = dot - piece == 1 && !in_word(kind(dot + 2));  // U.S.A
        if (digits || initials) return dot + 1;
        return name_end(start, dot);
    }

    // The end of a host, file or group name such as `example.com/path`, `notes.doc`, `comp.sources.unix`.
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
        bool known = rules_.internet_endings.find(text_ + piece, i - piece) >= 0;
        if (!known && !(plain && pieces >= 2)) return dot;
        return at(i) == U'/' && known ? trimmed(start, url_end(i)) : i;
    }

    bool keeps_full_stop(std::size_t start, std::size_t part, std::size_t dot, bool dotted) const {
        if (dot == final_stop_ || kind(dot + 1) == Kind::Dot || kind_of(text_[dot - 1]) != Kind::Letter) return false;
        if (dotted && dot - start >= 2 && kind_of(text_[dot - 2]) == Kind::Dot) return true;
        return dot - part == 1 || rules_.abbreviations.find(text_ + start, dot - start) >= 0;
    }

    bool hyphen_stays(std::size_t part, std::size_t hyphen) const {
        if (rules_.hyphens == Hyphens::Keep) return true;
        if (rules_.kept_prefixes.find(text_ + part, hyphen - part) >= 0) return true;
        std::size_t i = hyphen + 1;
        while (i - hyphen < 12 && in_word(kind(i))) ++i;
        return rules_.kept_suffixes.find(text_ + hyphen + 1, i - hyphen - 1) >= 0;
    }

    // Emits a word, cut where the language cuts it: can|not, do|n't, I|'d|'ve.
    void emit_word(std::size_t start, std::size_t end) {
        while (end - start > 1 && kind_of(text_[end - 1]) == Kind::Joiner) --end;
        int cut = rules_.cut_words.find(text_ + start, end - start);
        if (cut > 0) {
            emit(start, start + cut);
            emit(start + cut, end);
            return;
        }
        std::array<std::size_t, 2> tails;
        std::size_t count = 0, rest = end;
        if (seen_ & bit(Kind::Apostrophe)) {
            for (std::size_t tail; count < tails.size() && (tail = tail_start(start, rest)) < rest; rest = tail) {
                tails[count++] = tail;
            }
        }
        emit(start, rest);
        while (count-- > 0) {
            emit(rest, count > 0 ? tails[count - 1] : end);
            if (count > 0) rest = tails[count - 1];
        }
    }

    std::size_t tail_start(std::size_t start, std::size_t end) const {
        for (std::size_t length = 2; length <= kLongestTail && start + length < end; ++length) {
            if (rules_.clitic_tails.find(text_ + end - length, length) >= 0) return end - length;
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
        if (at(i) == U'_' || kind(i) == Kind::Joiner || (kind(i) == Kind::Dot && kind(i + 1) == Kind::Letter)) {
            return finish_word(start, i);
        }
        if (kind(i) != Kind::Letter && kind(i) != Kind::Apostrophe) {
            emit(start, i);
            return i;
        }
        std::size_t ending = i + 1;
        while (kind(ending) == Kind::Letter) ++ending;
        if (!in_word(kind(ending))) {
            if (rules_.number_endings.find(text_ + i, ending - i) >= 0) {
                emit(start, ending);
                return ending;
            }
            if (rules_.units.find(text_ + i, ending - i) >= 0) {
                emit(start, i);
                return i;
            }
        }
        return finish_word(start, i);
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
            if (text_[i - 1] != U'-' && kind(i) == Kind::Hyphen && kind(i + 1) == Kind::Digit) {
                ++i;
                continue;
            }
            bool known = std::find(std::begin(kDigitShapes), std::end(kDigitShapes), shape) != std::end(kDigitShapes);
            return known && !in_word(kind(i)) ? i : start;
        }
        return start;
    }

    // The end of the URL or e-mail address that begins at `start`, or `start`.
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
        bool bracketed = std::u32string_view(text_ + start, end - start).find(U'(') != std::u32string_view::npos;
        while (end > start && (contains(U".,;:!?'’]}*", text_[end - 1]) || (text_[end - 1] == U')' && !bracketed))) --end;
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
        while (i - start < 12 && in_word(kind(i))) ++i;
        return rules_.apostrophe_words.find(text_ + start, i - start) >= 0 ? i : start + 1;
    }

    std::size_t emoticon_end(std::size_t start) const {
        if (start > 0 && is_visible(kind_of(text_[start - 1]))) return start;
        for (std::size_t length = std::min(kLongestEmoticon, end_ - start); length >= 2; --length) {
            bool alone = !in_word(kind(start + length)) && text_[start + length - 1] != at(start + length);
            if (alone && rules_.emoticons.find(text_ + start, length) >= 0) return start + length;
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
    const char32_t* text_;
    std::size_t length_;
    std::vector<Span>& out_;
    std::size_t end_ = 0;         // of the chunk between separators that is being scanned
    unsigned seen_ = 0;           // the kinds of characters in it
    std::size_t final_stop_ = 0;  // where the full stop is that ends the text
};

}  // namespace

Tokeniser::Tokeniser(std::string_view language) {
    const LanguageTable* table = find_language_table(language);
    if (table == nullptr) throw std::invalid_argument("no tokeniser rules for language " + std::string(language));
    rules_ = std::make_unique<const TokeniserRules>(*table);
}

Tokeniser::~Tokeniser() = default;

void Tokeniser::tokenise(const char32_t* text, std::size_t length, std::vector<Span>& out) const {
    out.clear();
    Scanner(*rules_, text, length, out).run();
}

std::vector<std::string_view> Tokeniser::languages() { return table_languages(); }

namespace {

std::vector<Span> tokenise_utf8(const Tokeniser& tokeniser, std::string_view text) {
    std::u32string characters;
    decode_utf8(text, characters);
    std::vector<Span> spans;
    spans.reserve(characters.size() / 4);
    tokeniser.tokenise(characters.data(), characters.size(), spans);
    return spans;
}

}  // namespace

void bind_tokeniser(nanobind::module_& m) {
    namespace nb = nanobind;
    nb::class_<Tokeniser>(m, "Tokeniser", "Cuts a text in NFC into tokens, by the rules of a language.")
        .def(nb::init<std::string_view>(), nb::arg("language"))
        .def(
            "spans",
            [](const Tokeniser& self, std::string_view text) {
                nb::list result;
                for (Span span : tokenise_utf8(self, text)) result.append(nb::make_tuple(span.start, span.end));
                return result;
            },
            nb::arg("text"), "The tokens as (start, end) in code points, end exclusive.")
        .def(
            "count", [](const Tokeniser& self, std::string_view text) { return tokenise_utf8(self, text).size(); },
            nb::arg("text"), "The number of tokens.")
        .def_static(
            "languages",
            [] {
                nb::list names;
                for (std::string_view name : Tokeniser::languages()) names.append(name);
                return names;
            },
            "The languages that have rules of their own, and `und`.");
}

}  // namespace tesla
