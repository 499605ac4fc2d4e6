#include "metrics/baselines/porter_stemmer.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace tesla {
namespace {

using Replacement = std::pair<std::string_view, std::string_view>;

constexpr Replacement kStep2[] = {
    {"ational", "ate"}, {"tional", "tion"}, {"enci", "ence"},   {"anci", "ance"}, {"izer", "ize"},
    {"entli", "ent"},   {"eli", "e"},       {"ousli", "ous"},   {"ization", "ize"}, {"ation", "ate"},
    {"ator", "ate"},    {"alism", "al"},    {"iveness", "ive"}, {"fulness", "ful"}, {"ousness", "ous"},
    {"aliti", "al"},    {"iviti", "ive"},   {"biliti", "ble"},
};
constexpr Replacement kStep2OfPaper[] = {{"abli", "able"}, {"alli", "al"}};
constexpr Replacement kStep2OfNltk[] = {{"bli", "ble"}, {"fulli", "ful"}};
constexpr Replacement kStep3[] = {
    {"icate", "ic"}, {"ative", ""}, {"alize", "al"}, {"iciti", "ic"}, {"ical", "ic"}, {"ful", ""}, {"ness", ""},
};
constexpr std::string_view kStep4[] = {
    "al",  "ance", "ence", "er",  "ic",  "able", "ible", "ant", "ement", "ment",
    "ent", "ion",  "ou",   "ism", "ate", "iti",  "ous",  "ive", "ize",
};
constexpr Replacement kIrregular[] = {
    {"skies", "sky"},      {"sky", "sky"},         {"dying", "die"},       {"lying", "lie"},     {"tying", "tie"},
    {"news", "news"},      {"innings", "inning"},  {"inning", "inning"},   {"outings", "outing"}, {"outing", "outing"},
    {"cannings", "canning"}, {"canning", "canning"}, {"howe", "howe"},     {"proceed", "proceed"}, {"exceed", "exceed"},
    {"succeed", "succeed"},
};

bool is_vowel(char c) { return c == 'a' || c == 'e' || c == 'i' || c == 'o' || c == 'u'; }

// A word on its way to its stem. Conditions look at the word without its last letters, which are given by their number.
class Stemmer {
   public:
    Stemmer(std::string_view word, PorterRules rules) : word_(word), nltk_(rules == PorterRules::Nltk) { note_consonants(0); }

    std::string stem() && {
        step1a();
        step1b();
        step1c();
        step2();
        replace_longest(std::begin(kStep3), std::end(kStep3));
        step4();
        step5();
        return std::move(word_);
    }

   private:
    std::size_t size() const { return word_.size(); }
    bool ends_with(std::string_view suffix) const {
        return size() >= suffix.size() && std::string_view(word_).substr(size() - suffix.size()) == suffix;
    }
    // Takes letters from the end and puts others there.
    void replace_end(std::size_t count, std::string_view letters = {}) {
        word_.resize(size() - count);
        const std::size_t kept = size();
        word_ += letters;
        note_consonants(kept);
    }
    // A letter is a consonant by what comes before it: y is one unless it follows a consonant.
    void note_consonants(std::size_t from) {
        consonant_.resize(size());
        for (std::size_t i = from; i < size(); ++i)
            consonant_[i] = !is_vowel(word_[i]) && !(word_[i] == 'y' && i > 0 && consonant_[i - 1]);
    }
    // m: how often a consonant follows a vowel in the first `length` letters.
    std::size_t measure(std::size_t length) const {
        std::size_t m = 0;
        for (std::size_t i = 1; i < length; ++i) m += !consonant_[i - 1] && consonant_[i];
        return m;
    }
    bool has_vowel(std::size_t length) const {
        return std::find(consonant_.begin(), consonant_.begin() + static_cast<std::ptrdiff_t>(length), 0) !=
               consonant_.begin() + static_cast<std::ptrdiff_t>(length);
    }
    bool ends_double() const { return size() > 1 && word_[size() - 1] == word_[size() - 2] && consonant_.back(); }
    // *o: consonant, vowel, consonant, and the last is not w, x or y; for NLTK also a word of vowel and consonant.
    bool ends_consonant_vowel_consonant(std::size_t length) const {
        if (nltk_ && length == 2 && !consonant_[0] && consonant_[1]) return true;
        if (length < 3) return false;
        const char last = word_[length - 1];
        return consonant_[length - 3] && !consonant_[length - 2] && consonant_[length - 1] && last != 'w' && last != 'x' &&
               last != 'y';
    }

    void step1a() {
        if (nltk_ && size() == 4 && ends_with("ies")) return replace_end(1);
        if (ends_with("sses") || ends_with("ies")) return replace_end(2);
        if (ends_with("s") && !ends_with("ss")) replace_end(1);
    }
    void step1b() {
        if (nltk_ && ends_with("ied")) return replace_end(size() == 4 ? 1 : 2);
        if (ends_with("eed")) {
            if (measure(size() - 3) > 0) replace_end(1);
            return;
        }
        const std::size_t suffix = ends_with("ed") ? 2 : ends_with("ing") ? 3 : 0;
        if (suffix == 0 || !has_vowel(size() - suffix)) return;
        replace_end(suffix);
        if (ends_with("at") || ends_with("bl") || ends_with("iz")) return replace_end(0, "e");
        const char last = word_.back();
        if (ends_double() && last != 'l' && last != 's' && last != 'z') return replace_end(1);
        if (measure(size()) == 1 && ends_consonant_vowel_consonant(size())) replace_end(0, "e");
    }
    void step1c() {
        if (!ends_with("y")) return;
        const bool fits = nltk_ ? size() > 2 && consonant_[size() - 2] : has_vowel(size() - 1);
        if (fits) replace_end(1, "i");
    }
    void step2() {
        if (!nltk_) return replace_longest(std::begin(kStep2), std::end(kStep2), std::begin(kStep2OfPaper), std::end(kStep2OfPaper));
        while (ends_with("alli") && measure(size() - 4) > 0) replace_end(2);
        if (ends_with("logi")) {  // the l belongs to the stem, so that "geo" is long enough
            if (measure(size() - 3) > 0) replace_end(1);
            return;
        }
        replace_longest(std::begin(kStep2), std::end(kStep2), std::begin(kStep2OfNltk), std::end(kStep2OfNltk));
    }
    void step4() {
        std::string_view suffix;
        for (std::string_view candidate : kStep4)
            if (candidate.size() > suffix.size() && ends_with(candidate)) suffix = candidate;
        const std::size_t stem = size() - suffix.size();
        if (suffix.empty() || measure(stem) <= 1) return;
        if (suffix == "ion" && word_[stem - 1] != 's' && word_[stem - 1] != 't') return;
        replace_end(suffix.size());
    }
    void step5() {
        if (ends_with("e")) {
            const std::size_t m = measure(size() - 1);
            if (m > 1 || (m == 1 && !ends_consonant_vowel_consonant(size() - 1))) replace_end(1);
        }
        if (ends_with("l") && ends_double() && measure(size()) > 1) replace_end(1);
    }
    // The longest suffix that fits decides, whether its condition holds or not.
    void replace_longest(const Replacement* first, const Replacement* last, const Replacement* more = nullptr,
                         const Replacement* more_end = nullptr) {
        const Replacement* longest = nullptr;
        const auto look = [&](const Replacement* rule) {
            if ((!longest || rule->first.size() > longest->first.size()) && ends_with(rule->first)) longest = rule;
        };
        for (; first != last; ++first) look(first);
        for (; more != more_end; ++more) look(more);
        if (longest && measure(size() - longest->first.size()) > 0) replace_end(longest->first.size(), longest->second);
    }

    std::string word_;
    std::vector<char> consonant_;  // for each letter
    bool nltk_;
};

}  // namespace

std::string porter_stem(std::string_view word, PorterRules rules) {
    const bool nltk = rules == PorterRules::Nltk;
    if (word.size() <= (nltk ? 3 : 2)) return std::string(word);
    if (nltk)
        for (const Replacement& irregular : kIrregular)
            if (word == irregular.first) return std::string(irregular.second);
    return Stemmer(word, rules).stem();
}

}  // namespace tesla
