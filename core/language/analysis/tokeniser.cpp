#include "language/analysis/tokeniser.h"

#include <algorithm>
#include <utility>

#include "language/analysis/segmenter.h"
#include "language/analysis/tokeniser_rules.h"
#include "language/analysis/tokeniser_shapes.h"

namespace tesla {
namespace {

// One pass over one text.
class Scanner : private TextShapes {
   public:
    Scanner(const TokeniserRules& rules, const Segmenter* segmenter, const char32_t* text, std::size_t length,
            std::vector<Span>& out)
        : TextShapes(rules, text), segmenter_(segmenter), length_(length), out_(out) {}

    void run() {
        find_final_stop();
        for (std::size_t i = 0; i < length_; i = end_ + 1) {
            seen_ = 0;
            for (end_ = i; end_ < length_; ++end_) {
                CharKind k = kind_of(text_[end_]);
                if (k == CharKind::Separator) break;
                seen_ |= bit(k);
            }
            if (seen_ == bit(CharKind::Letter)) {
                emit_word(i, end_);
            } else {
                scan_chunk(i);
            }
        }
    }

   private:
    void emit(std::size_t start, std::size_t end) {
        out_.push_back({static_cast<std::uint32_t>(start), static_cast<std::uint32_t>(end)});
    }

    // The full stop that ends the text is no part of an abbreviation; quotes and brackets may follow it.
    void find_final_stop() {
        final_stop_ = length_;
        if (style_.keep_final_stop) return;
        std::size_t i = length_;
        while (i > 0 && (kind_of(text_[i - 1]) == CharKind::Separator || contains(U"\"'’”»)]", text_[i - 1]))) --i;
        if (i > 0 && text_[i - 1] == U'.') final_stop_ = i - 1;
    }

    void scan_chunk(std::size_t i) {
        while (i < end_) {
            switch (kind(i)) {
                case CharKind::Joiner: ++i; break;
                case CharKind::Letter: i = scan_word(i); break;
                case CharKind::Digit: i = scan_number(i); break;
                case CharKind::Unspaced: i = scan_unspaced(i); break;
                default: i = scan_symbol(i);
            }
        }
    }

    // Scripts without spaces: the words that the segmenter finds. Without one it is a character and its marks, or the
    // whole run where the language takes it for a word.
    std::size_t scan_unspaced(std::size_t start) {
        std::size_t i = after_marks(start + 1);
        while ((segmenter_ != nullptr || style_.han_words) && kind(i) == CharKind::Unspaced) i = after_marks(i + 1);
        if (segmenter_ != nullptr) {
            segment(start, i);
        } else {
            emit(start, i);
        }
        return i;
    }

    void segment(std::size_t start, std::size_t end) {
        auto word = [this](std::size_t first, std::size_t last) { emit(first, last); };
        segmenter_->segment(text_, length_, start, end, word);
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
        while (i - start <= rules_.currencies.longest() && kind(i) == CharKind::Letter) ++i;
        return kind(i) == CharKind::Digit && look_up(rules_.currencies, start, i) >= 0 ? i : start;
    }

    // Grows the word that reaches to `i` over its inner punctuation, emits it and returns its end.
    std::size_t finish_word(std::size_t start, std::size_t i) {
        std::size_t part = start, piece = start;  // begin after the last hyphen, the last full stop
        bool dotted = false;
        for (;; ++i) {
            while (in_word(kind(i))) ++i;
            CharKind here = kind(i), next = kind(i + 1);
            if ((here == CharKind::Apostrophe || here == CharKind::Hyphen) && look_up(rules_.heads, start, i + 1) >= 0) {
                emit(start, i + 1);
                return i + 1;
            }
            if (here == CharKind::Apostrophe && next == CharKind::Letter) continue;
            if (here == CharKind::Hyphen && is_visible(next) && hyphen_stays(part, i)) {
                part = piece = i + 1;
                continue;
            }
            if (here == CharKind::Symbol && joins(i)) continue;
            if (here == CharKind::Dot && is_visible(next)) {
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
        CharKind here = kind(i), next = kind(i + 1);
        bool last = !is_visible(next) && next != here;
        if (here == CharKind::Dot && keeps_full_stop(start, part, i, dotted)) return i + 1;
        if (here == CharKind::Apostrophe && style_.final_apostrophes && last) return i + 1;
        if (here == CharKind::Hyphen && style_.open_hyphens && last) return i + 1;
        if (here != CharKind::Symbol || rules_.whole.longest() == 0) return i;
        std::size_t end = i + 1;
        if (look_up(rules_.whole, start, end) >= 0) return end;
        while (end - i < kLongestPart && in_word(kind(end))) ++end;
        return look_up(rules_.whole, start, end) >= 0 ? end : i;
    }

    // Does the symbol at `i` join what stands before and behind it?
    bool joins(std::size_t i) const {
        char32_t c = text_[i];
        CharKind before = kind_of(text_[i - 1]), after = kind(i + 1);
        if (contains(rules_.attached, c)) return true;
        if (contains(rules_.inner, c)) return before == CharKind::Letter && after == CharKind::Letter;
        switch (c) {
            case U'_': return is_visible(before) && is_visible(after);
            case U'&': return before == CharKind::Letter && after == CharKind::Letter;
            case U',': return before == CharKind::Digit && after == CharKind::Digit;
            default: return false;
        }
    }

    bool keeps_full_stop(std::size_t start, std::size_t part, std::size_t dot, bool dotted) const {
        if (dot == final_stop_ || kind(dot + 1) == CharKind::Dot || kind_of(text_[dot - 1]) != CharKind::Letter) return false;
        if (look_up(rules_.abbreviations, start, dot) >= 0) return true;
        bool initial = dot - part == 1 || (dotted && kind_of(text_[dot - 2]) == CharKind::Dot);
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
        while (end - start > 1 && kind_of(text_[end - 1]) == CharKind::Joiner) --end;
        if (segmenter_ != nullptr && style_.segment_words && is_segmented(text_[start])) return segment(start, end);
        if (int cut = look_up(rules_.cut, start, end); cut > 0) {
            emit(start, start + cut);
            emit(start + cut, end);
            return;
        }
        std::size_t tail = end;
        bool may_have_tail = (seen_ & (bit(CharKind::Apostrophe) | bit(CharKind::Hyphen))) != 0;
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
        while (style_.keep_ranges && kind(i) == CharKind::Hyphen && kind(i + 1) == CharKind::Digit) i = number_end(i + 1);
        if (continues_as_word(start, i)) return finish_word(start, i);
        if (keeps_ordinal_stop(start, i)) {
            ++i;
        } else if (kind(i) == CharKind::Unspaced) {
            i = counter_end(i);
        } else if (kind(i) == CharKind::Letter || kind(i) == CharKind::Apostrophe) {
            std::size_t ending = i + 1;
            while (kind(ending) == CharKind::Letter) ++ending;
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

    // The endings of numbers in scripts without spaces: 20万
    std::size_t counter_end(std::size_t start) const {
        for (std::size_t end = std::min(end_, start + rules_.endings.longest()); end > start; --end) {
            if (look_up(rules_.endings, start, end) >= 0) return end;
        }
        return start;
    }

    // Is the number that ends at `i` the beginning of a word such as 1_000, 01.doc, 30-jährig?
    bool continues_as_word(std::size_t start, std::size_t i) const {
        CharKind here = kind(i), next = kind(i + 1);
        if (at(i) == U'_' || here == CharKind::Joiner) return true;
        if (here == CharKind::Hyphen) return next == CharKind::Letter && !style_.split_hyphens;
        return here == CharKind::Dot && next == CharKind::Letter && name_end(start, i) > i;
    }

    bool keeps_ordinal_stop(std::size_t start, std::size_t i) const {
        std::size_t digits = style_.year_ordinals ? 4 : style_.ordinals ? 2 : 0;
        if (kind(i) != CharKind::Dot || i == final_stop_ || i - start > digits) return false;
        return kind(i + 1) != CharKind::Dot && std::all_of(text_ + start, text_ + i, is_number);
    }

    std::size_t scan_symbol(std::size_t start) {
        CharKind next = kind(start + 1);
        bool opens = start == 0 || kind_of(text_[start - 1]) == CharKind::Separator || text_[start - 1] == U'(';
        if (style_.leading_hyphens && opens && kind(start) == CharKind::Hyphen && next == CharKind::Letter) {
            return finish_word(start, start + 1);
        }
        std::size_t end = symbol_end(start);
        emit(start, end);
        return end;
    }

    const Segmenter* segmenter_;
    std::size_t length_;
    std::vector<Span>& out_;
    std::size_t final_stop_ = 0;  // where the full stop is that ends the text
};

}  // namespace

Tokeniser::Tokeniser(std::string_view language, const Segmenter* segmenter)
    : rules_(std::make_unique<const TokeniserRules>(language_table(language))), segmenter_(segmenter) {}
Tokeniser::Tokeniser(std::unique_ptr<const TokeniserRules> rules) : rules_(std::move(rules)) {}
Tokeniser::Tokeniser(Tokeniser&&) noexcept = default;
Tokeniser::~Tokeniser() = default;

Tokeniser Tokeniser::from_table(std::string_view table) {
    return Tokeniser(std::make_unique<const TokeniserRules>(table));
}

void Tokeniser::tokenise(const char32_t* text, std::size_t length, std::vector<Span>& out) const {
    out.clear();
    Scanner(*rules_, segmenter_, text, length, out).run();
}

std::vector<std::string_view> Tokeniser::languages() { return table_languages(); }

}  // namespace tesla
