// What simplemma 2.0.0 does with English words, step by step: clitics and hyphens are taken off, some word ends are cut. A
// test compares both on many words.
#pragma once

#include <string>
#include <string_view>

#include "base/front_coded.h"

namespace tesla {

class EnglishLemmas {
   public:
    explicit EnglishLemmas(const FrontCodedDictionary& dictionary) : dictionary_(dictionary) {}

    // Whether a step knows the lemma of a word; then it is written. Each step is tried where those before it find nothing.
    // The word's letters must have at most one small and one large form, as ASCII has.
    bool find(std::string_view word, std::string& lemma) const {
        return listed(word, lemma) || without_clitics(word, lemma) || hyphenated(word, lemma) || by_ending(word, lemma);
    }
    // The last step, for any word that is not listed and has neither clitics nor hyphens.
    static bool by_ending(std::string_view word, std::string& lemma);
    // simplemma also looks for words with a clitic without their accents; that is not done here.
    static bool has_clitic(std::string_view word);

   private:
    // What the dictionary says of the word, in either case and with any apostrophe.
    bool listed(std::string_view word, std::string& lemma) const;
    bool listed_in_either_case(const std::string& word, std::string& lemma) const;
    bool without_clitics(std::string_view word, std::string& lemma) const;
    // The lemma of the word without its hyphens, else the word with the lemma of its last part.
    bool hyphenated(std::string_view word, std::string& lemma) const;

    const FrontCodedDictionary& dictionary_;
};

}  // namespace tesla
