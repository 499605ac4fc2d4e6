// What the languages differ in when text is cut into tokens: word lists and a few switches, no code.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/flat_table.h"

namespace tesla {

// A set of short words with a small number each, found by their lower-cased characters (’ counts as ').
class WordTable {
   public:
    // The number of a word is the place of its `|`, 0 without one: "can|not" -> 3.
    void add(std::u32string word);

    // The number of the word, or -1.
    int find(const char32_t* word, std::size_t length) const;

    std::size_t longest() const { return longest_; }

   private:
    struct Entry {
        std::u32string word;  // folded
        int number;
    };
    // One bit for a character, shared with others. Most words of a text are in no table: their length and first character
    // tell, without a hash.
    static std::uint64_t beginning(char32_t first) { return std::uint64_t{1} << first % 64; }

    std::vector<Entry> entries_;
    FlatTable<> places_;  // of the entries
    std::size_t longest_ = 0;
    std::vector<std::uint64_t> beginnings_;  // by length: of the words that have it
};

// The switches, by the words that set them in a table; without any, punctuation is cut off and words stay whole.
struct TokeniserStyle {
    bool split_hyphens = false;       // long|-|term
    bool open_hyphens = false;        // Haus- und Hofarzt: the hyphen stays with its word
    bool leading_hyphens = false;     // ... and in front: Erfahrung und -wissen
    bool keep_ranges = false;         // 6-4 is one token
    bool ordinals = false;            // 3. keeps its full stop
    bool year_ordinals = false;       // 2004. keeps it too
    bool split_initials = false;      // J|. Smith
    bool keep_final_stop = false;     // an abbreviation keeps its full stop even at the end of the text
    bool split_runs = false;          // .|.|. and !|!
    bool final_apostrophes = false;   // a word keeps the apostrophe at its end: ta'
    bool segment_words = false;       // particles are written together with their word: the segmenter parts them
    bool han_words = false;           // a run of Han characters is one word (in Korean, Vietnamese)
};

// The rules of one language, read from a table of lines "key word word ...".
struct TokeniserRules {
    // Throws std::invalid_argument for a key or switch that does not exist.
    explicit TokeniserRules(std::string_view table);

    TokeniserStyle style;
    WordTable abbreviations;  // keep their full stop: dr etc f.eks
    WordTable cut;            // can|not
    WordTable heads;          // split off the front of a word, by the apostrophe or hyphen they end in: l' s-
    WordTable tails;          // split off its end: 'll n't -t-il
    WordTable apostrophes;    // words that begin with an apostrophe: 'em
    WordTable whole;          // words with punctuation in them: km/h us$
    WordTable prefixes;       // where hyphens split, they stay after these: non co
    WordTable suffixes;       // ... and before these: like
    WordTable units;          // split off the number they are glued to: 5|km
    WordTable endings;        // stay with the number: 5th
    WordTable currencies;     // split off the number behind them: Rp|500
    std::u32string inner;     // punctuation that belongs to a word between two letters: EU:n
    std::u32string attached;  // punctuation that belongs to the word before it
    WordTable internet, emoticons;  // the same for all languages
};

// The built-in table of a language; throws std::invalid_argument if there is none.
std::string_view language_table(std::string_view language);
std::vector<std::string_view> table_languages();

}  // namespace tesla
