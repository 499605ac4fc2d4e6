#include "language/analysis/english_lemmas.h"

#include <algorithm>

#include "base/unicode.h"

namespace tesla {
namespace {

constexpr std::string_view kOtherApostrophes[] = {"\xE2\x80\x99", "\xCA\xBC"};  // U+2019, U+02BC
constexpr std::string_view kClitics[] = {"n't", "'re", "'ve", "'ll", "'m", "'s", "'d"};
constexpr std::string_view kIrregular[] = {"can't", "won't", "shan't"};
constexpr int kMostClitics = 2;
constexpr std::size_t kShortestInCies = 8;  // code points
constexpr std::string_view kLoseLastLetter[] = {"doms",  "isms",  "ists", "ments", "nces",
                                                "ships", "tions", "ums",  "ized",  "erves"};

char32_t first_character(std::string_view word) {
    std::size_t at = 0;
    return next_character(word, at);
}
std::string lowered(std::string_view word) {
    std::string lower;
    write_lower(word, lower);
    return lower;
}
std::string capitalised(std::string_view word) {
    std::string capital;
    for (std::size_t at = 0; at < word.size();) {
        const bool first = at == 0;
        const char32_t c = to_lower(next_character(word, at));
        append_utf8(first ? to_upper(c) : c, capital);
    }
    return capital;
}

const std::string_view* clitic_of(std::string_view word) {
    const auto* clitic = std::find_if(std::begin(kClitics), std::end(kClitics), [&](std::string_view end) {
        return word.size() > end.size() && ends_with(word, end);
    });
    return clitic == std::end(kClitics) ? nullptr : clitic;
}

}  // namespace

bool EnglishLemmas::has_clitic(std::string_view word) { return clitic_of(word) != nullptr; }

bool EnglishLemmas::listed(std::string_view word, std::string& lemma) const {
    if (listed_in_either_case(std::string(word), lemma)) return true;
    if (word.find('\'') == std::string_view::npos) return false;
    for (std::string_view apostrophe : kOtherApostrophes) {
        std::string variant;
        for (char c : word) c == '\'' ? variant.append(apostrophe) : variant.append(1, c);
        if (listed_in_either_case(variant, lemma)) return true;
    }
    return false;
}

bool EnglishLemmas::listed_in_either_case(const std::string& word, std::string& lemma) const {
    return dictionary_.find(word, lemma) ||
           dictionary_.find(is_upper(first_character(word)) ? lowered(word) : capitalised(word), lemma);
}

bool EnglishLemmas::without_clitics(std::string_view word, std::string& lemma) const {
    if (std::count(std::begin(kIrregular), std::end(kIrregular), lowered(word))) return false;
    for (int k = 0; k < kMostClitics; ++k) {
        const std::string_view* clitic = clitic_of(word);
        if (!clitic) return false;
        word.remove_suffix(clitic->size());
        if (listed(word, lemma)) return true;
    }
    return false;
}

bool EnglishLemmas::hyphenated(std::string_view word, std::string& lemma) const {
    const std::size_t hyphen = word.find_last_of("-_");
    if (hyphen == std::string_view::npos || hyphen + 1 == word.size()) return false;
    std::string joined = lowered(word);
    joined.erase(std::remove_if(joined.begin(), joined.end(), [](char c) { return c == '-' || c == '_'; }), joined.end());
    if (listed(is_upper(first_character(word)) ? capitalised(joined) : joined, lemma)) return true;
    if (!listed(word.substr(hyphen + 1), lemma)) return false;
    lemma.insert(0, word.substr(0, hyphen + 1));
    return true;
}

bool EnglishLemmas::by_ending(std::string_view word, std::string& lemma) {
    if (count_characters(word) >= kShortestInCies && ends_with(word, "cies")) {
        lemma.assign(word.substr(0, word.size() - 3)).push_back('y');
        return true;
    }
    if (std::none_of(std::begin(kLoseLastLetter), std::end(kLoseLastLetter), [&](auto end) { return ends_with(word, end); }))
        return false;
    lemma.assign(word.substr(0, word.size() - 1));
    return true;
}

}  // namespace tesla
