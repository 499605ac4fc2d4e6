// What the languages differ in when text is cut into tokens: word lists and a few switches, no code.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace tesla {

// A set of short words with a small number each, found by their lower-cased characters (’ counts as ').
class WordTable {
 public:
    // Words separated by spaces. The number of a word is the place of its `|`, 0 without one: "can|not" -> 3.
    explicit WordTable(std::string_view words);

    // The number of the word, or -1.
    int find(const char32_t* word, std::size_t length) const;

 private:
    struct Slot {
        std::uint64_t hash;
        int number;
    };
    std::vector<Slot> slots_;  // open addressing, a power of two; hash 0 is a free slot
    std::size_t longest_ = 0;
};

enum class Hyphens { Keep, Split };  // is "long-term" one token or three?

struct LanguageTable {
    std::string_view language;
    Hyphens hyphens;
    std::string_view abbreviations;   // keep their full stop: "dr" "etc"
    std::string_view cut_words;       // "can|not"
    std::string_view clitic_tails;    // split off the end of a word: "'ll" "n't"
    std::string_view apostrophe_words;  // whole although they begin with an apostrophe: "'em"
    std::string_view kept_prefixes;   // hyphen stays after them even where hyphens split: "non" "co"
    std::string_view kept_suffixes;   // ... and before these: "like"
    std::string_view units;           // split off the number they are glued to: "5|km"
    std::string_view number_endings;  // stay with the number: "5th"
};

// The tables of one language, ready for look-up.
struct TokeniserRules {
    explicit TokeniserRules(const LanguageTable& table);

    Hyphens hyphens;
    WordTable abbreviations, cut_words, clitic_tails, apostrophe_words, kept_prefixes, kept_suffixes, units,
        number_endings;
    WordTable internet_endings, emoticons;  // the same for all languages
};

const LanguageTable* find_language_table(std::string_view language);
std::vector<std::string_view> table_languages();

}  // namespace tesla
