// What language detection looks at: the letters of texts, their scripts, and hashes of their n-grams (analysis/detection.py).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/array_view.h"

namespace tesla {

enum class Script : std::uint8_t {
    None, Latin, Greek, Cyrillic, Armenian, Hebrew, Arabic, Devanagari, Thai, Georgian, Hangul, Han, Kana, Other
};
inline constexpr const char* kScriptNames[] = {"",           "Latin", "Greek",    "Cyrillic", "Armenian", "Hebrew", "Arabic",
                                               "Devanagari", "Thai",  "Georgian", "Hangul",   "Han",      "Kana",   "other"};
inline constexpr std::size_t kScripts = sizeof(kScriptNames) / sizeof(kScriptNames[0]);

// None for what is no letter, Other for a letter of a script that no supported language is written in.
Script script_of(char32_t letter);

// The words of some texts. What is no letter separates words.
class SpelledTexts {
   public:
    // `utf8` holds the texts, one line each, in small letters.
    explicit SpelledTexts(std::string_view utf8);

    // The same with the letters of one script alone; all others separate words.
    SpelledTexts of_script(Script script) const;

    std::vector<std::size_t> letters_by_script() const;
    std::vector<std::pair<char32_t, std::int64_t>> letters() const;  // ascending, with their numbers
    std::vector<std::uint16_t> word_hashes() const;

    struct Bucket {
        std::uint32_t bucket, text;
    };
    // The buckets, 2^bits in all, of all n-grams of one to four letters and of longer words; a word has a gap on either side,
    // which is no n-gram by itself. Texts come in order.
    std::vector<Bucket> ngram_buckets(int bits) const;

    struct WeightedTexts {
        std::vector<std::int64_t> sums;   // of the weights of a text's n-grams: one row per text, one column per language
        std::vector<std::int64_t> sizes;  // how many n-grams it has; texts without any are left out
    };
    // `weights` has one row per bucket; throws std::invalid_argument where the number of rows is not a power of 2.
    WeightedTexts weigh(const ArrayView<std::int8_t>& weights, std::size_t languages) const;

   private:
    SpelledTexts() = default;
    struct Word {
        std::size_t begin, end;  // in letters_
        std::uint32_t text;
    };
    void add_letter(char32_t letter, std::uint32_t text, bool begins_word);

    std::u32string letters_;
    std::vector<Word> words_;
};

}  // namespace tesla
