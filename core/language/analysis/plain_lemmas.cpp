#include "language/analysis/plain_lemmas.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/checks.h"
#include "base/unicode.h"

namespace tesla {
namespace {

constexpr std::size_t kLongestForm = 100;  // code points, as in lemmas.py
constexpr int kLongestSuffix = 5;

// Letters and signs of scripts without cases (of India and Thailand, Hangul) that no language takes off its words.
bool is_caseless(char32_t c) {
    return ((c >= 0x900 && c < 0xF00) || (c >= 0xAC00 && c < 0xD7A4)) && (is_letter(c) || is_mark(c));
}

// Kana and Han. simplemma takes some of them for numbers.
bool is_east_asian(char32_t c) { return c >= 0x3041 && c < 0xA000 && is_letter(c) && is_unspaced(c); }

bool is_ascii_letter(char c) { return (c | 32) >= 'a' && (c | 32) <= 'z'; }

// Letters whose case, if any, changes one to one and as in Python; no apostrophe or final sigma is among them.
bool is_plain(char32_t c) {
    if (c < 0x80) return is_ascii_letter(static_cast<char>(c));
    if (is_caseless(c)) return true;
    const bool alphabet = (c >= 0xC0 && c < 0x250) || (c >= 0x400 && c < 0x530) || (c >= 0x1EA0 && c < 0x1EFA);
    const bool odd = c == 0x130 || c == 0x149 || (c >= 0x1C4 && c <= 0x1CC) || (c >= 0x1F0 && c <= 0x1F3);
    return alphabet && !odd && is_letter(c);
}

bool is_apostrophe(char32_t c) { return c == 0x2018 || c == 0x2019 || c == 0x2BC; }

// A plain letter that has no case, or one small and one large form.
bool has_simple_case(char32_t c) {
    return is_plain(c) && (is_caseless(c) || to_lower(c) != c || to_upper(c) != c) && is_plain(to_upper(to_lower(c)));
}

// What belongs to no word and is taken off none.
bool is_sign(char32_t c) {
    if (c < 0x80) return !is_plain(c) && !(c >= '0' && c <= '9') && c != '_' && c != '-';
    return char_class(c) == CharClass::Punctuation || char_class(c) == CharClass::Symbol;
}

// A sign, or a character that is not seen, without any case. Some symbols look like letters and have one.
bool has_no_case(char32_t c) {
    return c < 0x10000 && (is_sign(c) || char_class(c) == CharClass::Other) && to_lower(c) == c && to_upper(c) == c;
}

void apply_edit(const std::u32string& edit, std::string_view lower, std::string& lemma) {
    thread_local std::u32string changed;
    decode_utf8(lower, changed);
    const char32_t cut = edit[0] - U'0';
    changed.resize(cut < changed.size() ? changed.size() - cut : 0);
    changed.append(edit, 1);
    lemma.clear();
    for (char32_t c : changed) append_utf8(c, lemma);
}

// Where the code point before the one at `at` begins.
std::size_t previous_character(std::string_view utf8, std::size_t at) {
    do --at;
    while ((static_cast<unsigned char>(utf8[at]) & 0xC0) == 0x80);
    return at;
}

}  // namespace

EditTable::EditTable(const std::vector<std::string>& keys, const std::vector<std::string>& edits) {
    require(keys.size() == edits.size(), "words and edits differ in length");
    std::u32string edit;
    for (std::size_t i = 0; i < keys.size(); ++i) {
        require(!edits[i].empty(), "an edit is empty");
        decode_utf8(edits[i], edit);
        edits_.set(keys[i], edit);
    }
}

PlainLemmas::PlainLemmas(EditTable forms, EditTable suffixes, const FrontCodedDictionary* dictionary,
                         std::optional<std::vector<std::string>> open_ends, bool numbers_are_lemmas, bool english)
    : forms_(std::move(forms)),
      suffixes_(std::move(suffixes)),
      dictionary_(dictionary),
      open_ends_(std::move(open_ends)),
      numbers_are_lemmas_(numbers_are_lemmas) {
    if (english && dictionary) english_.emplace(*dictionary);
}

bool PlainLemmas::find(std::string_view word, std::string& lemma) const {
    thread_local Spelling spelling;
    if (!read(word, spelling)) return false;
    const std::string& lower = spelling.lower;
    if (numbers_are_lemmas_ && spelling.kind != Spelling::Kind::Plain && spelling.has_digit()) {
        lemma = lower;
        return true;
    }
    const std::u32string* edit = forms_.find(spelling.word);
    if (!edit && lower != spelling.word) edit = forms_.find(lower);
    if (edit) {
        apply_edit(*edit, lower, lemma);
        return true;
    }
    return dictionary_ ? find_in_dictionary(spelling, lemma) : find_unknown(lower, lemma);
}

// False for a word that is left to the lemmatiser.
bool PlainLemmas::read(std::string_view word, Spelling& spelling) const {
    const bool is_ascii = std::all_of(word.begin(), word.end(), is_ascii_letter);
    if (word.empty() || (is_ascii && word.size() > kLongestForm)) return false;
    spelling.kind = Spelling::Kind::Plain;
    if (!is_ascii) {
        std::u32string& form = spelling.form;
        decode_utf8(word, form);
        if (form.size() > kLongestForm) return false;
        if (form.size() < word.size() && std::any_of(form.begin(), form.end(), is_apostrophe)) {
            std::replace_if(form.begin(), form.end(), is_apostrophe, U'\'');
            spelling.straight.clear();
            for (char32_t c : form) append_utf8(c, spelling.straight);
            word = spelling.straight;
        }
        const auto all = [&form](auto holds) { return std::all_of(form.begin(), form.end(), holds); };
        if (!all([this](char32_t c) { return is_plain(c) || (!dictionary_ && is_east_asian(c)); }))
            spelling.kind = all(is_sign) ? Spelling::Kind::Signs : Spelling::Kind::Mixed;
        if (spelling.kind == Spelling::Kind::Mixed && form.size() < word.size()) {
            const bool simple = all([](char32_t c) { return c < 0x80 || has_simple_case(c) || has_no_case(c); });
            if (!english_ || !simple || EnglishLemmas::has_clitic(word)) return false;
        }
    }
    spelling.word = word;
    write_lower(word, spelling.lower);
    return true;
}

bool PlainLemmas::find_in_dictionary(Spelling& spelling, std::string& lemma) const {
    std::string& listed = spelling.listed;
    bool is_listed = false;
    if (spelling.kind == Spelling::Kind::Plain) {
        const Answer answer = ask_in_either_case(spelling);
        if (answer == Answer::Unknown) return false;
        is_listed = answer == Answer::Listed || (english_ && EnglishLemmas::by_ending(spelling.word, listed));
        if (!is_listed) return find_unknown(spelling.lower, lemma);
    } else if (spelling.kind == Spelling::Kind::Signs) {
        is_listed = dictionary_->find(spelling.word, listed);
    } else if (english_) {
        is_listed = english_->find(spelling.word, listed);
    } else {
        return false;
    }
    if (!is_listed) {
        apply_rule(spelling.lower, lemma);
        return true;
    }
    if (listed.empty()) return false;
    if (write_lower(listed, lemma)) return true;
    decode_utf8(listed, spelling.form);
    return std::all_of(spelling.form.begin(), spelling.form.end(), [](char32_t c) { return c < 0x80 || is_plain(c); });
}

// The dictionary is asked for the other case too, as simplemma asks it.
PlainLemmas::Answer PlainLemmas::ask_in_either_case(Spelling& spelling) const {
    const auto ask = [&](std::string_view word) {
        return dictionary_->find(word, spelling.listed) ? Answer::Listed : Answer::Missing;
    };
    if (ask(spelling.word) == Answer::Listed) return Answer::Listed;
    std::size_t at = 0;
    const char32_t first = next_character(spelling.word, at);
    if (is_upper(first)) return ask(spelling.lower);
    if (is_caseless(first)) return Answer::Missing;
    if (!has_simple_case(first)) return Answer::Unknown;
    std::string& capitalised = spelling.capitalised;
    capitalised.clear();
    append_utf8(to_upper(next_character(spelling.lower, at = 0)), capitalised);
    capitalised.append(spelling.lower, at);
    return ask(capitalised);
}

bool PlainLemmas::find_unknown(std::string_view lower, std::string& lemma) const {
    if (!open_ends_) return false;
    for (const std::string& end : *open_ends_)
        if (ends_with(lower, end)) return false;
    apply_rule(lower, lemma);
    return true;
}

// The edit of the longest end that has one; the end is never the whole word.
void PlainLemmas::apply_rule(std::string_view lower, std::string& lemma) const {
    lemma = lower;
    if (suffixes_.empty()) return;
    std::size_t start = lower.size();
    for (int length = 0; length <= kLongestSuffix && start > 0; ++length, start = previous_character(lower, start)) {
        if (const std::u32string* edit = suffixes_.find(lower.substr(start))) apply_edit(*edit, lower, lemma);
    }
}

std::vector<std::uint32_t> define_plain(Lexicon& lexicon, const std::vector<std::uint32_t>& words,
                                        const PlainLemmas& lemmas, const SenseIndex* senses) {
    constexpr std::size_t kAhead = 16;  // words whose memory is asked for together: it is slow
    std::vector<std::uint32_t> rest, known;
    std::vector<std::string> memory;  // of the lemmas that are found, then some that are not in use
    std::vector<std::string_view> texts;
    lexicon.begin_defining().go(words.size(), [&](std::size_t from, std::size_t to) {
        known.clear();
        texts.clear();
        memory.resize(std::max(memory.size(), to - from));
        for (std::size_t i = from; i < to; ++i) {
            if ((i - from) % kAhead == 0)
                for (std::size_t k = i; k < std::min(i + kAhead, to); ++k) lemmas.prefetch(lexicon.form(words[k]));
            if (lexicon.is_defined(words[i])) continue;
            std::string& lemma = memory[known.size()];
            if (lemmas.find(lexicon.form(words[i]), lemma)) {
                known.push_back(words[i]);
                texts.push_back(lemma);
            } else {
                rest.push_back(words[i]);
            }
        }
        if (known.empty()) return;
        std::vector<LemmaSenses> with_senses;
        std::vector<SenseIndex::Senses> of(known.size());
        if (senses) of = senses->find(texts);
        for (std::size_t i = 0; i < known.size(); ++i) with_senses.push_back({texts[i], of[i].data, of[i].size});
        std::vector<std::uint32_t> ids = lexicon.intern_lemmas(with_senses);
        std::vector<WordDefinition> definitions;
        for (std::size_t i = 0; i < known.size(); ++i) definitions.push_back({known[i], ids[i], {}});
        lexicon.define_words(std::move(definitions));
    });
    return rest;
}

}  // namespace tesla
