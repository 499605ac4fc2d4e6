// core/analysis: text to tokens (specification §1), a batch at a time.
//
// A Draft (here) takes texts through the tokeniser (tokeniser.h, its rules per language, segmenter.h for scripts without
// spaces) into the lexicon (lexicon.h), where every word type is looked at once and every later token is an integer. Words
// get their lemmas and senses from plain_lemmas.h and sense_index.h, or from Python, once per new word type. Then the tagger
// (tagger.h) tags, and the batch is flat arrays. word_facts.h and word_vectors.h tell more of words without their context.
// The trainers of tagger and segmenter live beside them.
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
