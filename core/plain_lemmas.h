// The lemmas of plain words, without Python: those that the language's table or simplemma's dictionary holds.
//
// A shortcut of `Lemmatiser` (analysis/lemmas.py), which says what a lemma is and which finds all others: rules for
// word ends, signs of Arabic and Hebrew, words that no dictionary knows. Both must agree on every plain word.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "front_coded.h"
#include "lexicon.h"
#include "sense_index.h"

namespace tesla {

class PlainLemmas {
   public:
    // forms[i] becomes its lemma by edits[i] (`edit_between` of lemmas.py); `dictionary` may be null.
    PlainLemmas(const std::vector<std::string>& forms, const std::vector<std::string>& edits,
                const FrontCodedDictionary* dictionary, bool numbers_are_lemmas);

    // Whether the lemma of `word` is known here; then it is written to `lemma`.
    bool find(std::string_view word, std::string& lemma) const;

   private:
    std::unordered_map<std::string, std::u32string> edits_;
    const FrontCodedDictionary* dictionary_;
    bool numbers_are_lemmas_;
};

// Defines the words whose lemmas are known, with the senses of these lemmas; returns the other words.
std::vector<std::uint32_t> define_plain(Lexicon& lexicon, const std::vector<std::uint32_t>& words,
                                        const PlainLemmas& lemmas, const SenseIndex* senses);

}  // namespace tesla
