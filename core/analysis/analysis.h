// Text to tokens (specification §1), a batch at a time: tokenise, intern, tag. Python (lemmas, senses,
// compounds) is called once per new word type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "analysis/lexicon.h"
#include "analysis/plain_lemmas.h"
#include "analysis/sense_index.h"
#include "analysis/tokeniser.h"

namespace tesla {

// The flat arrays of an analysed batch; text i has the tokens offsets[i] .. offsets[i + 1].
struct TokenArrays {
    std::vector<std::int64_t> offsets{0};
    std::vector<std::uint32_t> word, lemma, start, end;
    std::vector<std::uint16_t> tag;
    std::vector<std::uint8_t> universal, function;

    void reserve(std::size_t texts, std::size_t tokens);
};

// What a label of the tagger means.
struct LabelMeaning {
    std::uint16_t tag;
    std::uint8_t universal;
    bool function, noun;
};

// A batch between tokenising and tagging.
class Draft {
   public:
    Draft(Lexicon& lexicon, const Tokeniser& tokeniser, const std::vector<std::string_view>& texts);

    // The word types of this batch that have no lemma yet, each once, in order of appearance.
    const std::vector<std::uint32_t>& undefined_words() const { return undefined_; }
    // Defines those of them whose lemmas are known without Python.
    void define_plain(const PlainLemmas& lemmas, const SenseIndex* senses);
    // Tags, splits compounds (German: the nouns; then tags again), drops tokens without a letter or a digit.
    TokenArrays finish(const std::vector<LabelMeaning>& labels, bool keep_punctuation) const;

   private:
    struct Token {
        std::uint32_t word, start, end;
    };
    void find_undefined();

    Lexicon& lexicon_;
    std::vector<Token> tokens_;
    std::vector<std::size_t> offsets_{0};
    std::vector<std::uint32_t> undefined_;
};

}  // namespace tesla
