// core/language: what is known of texts before they are compared.
//
// - analysis/ cuts texts into tokens with lemmas, tags and senses (here), detects languages and looks up vectors;
// - syntax/ parses tagged words (span_parser.h);
// - lm/ has language models (ngram_model.h);
// - pivot/ has phrase tables (phrase_table.h).
//
// core/language/analysis: text to tokens (specification §1), a batch at a time.
//
// A Draft (here) takes texts through the tokeniser (tokeniser.h, its rules per language, segmenter.h for scripts without
// spaces) into the lexicon (lexicon.h), where every word type is looked at once and every later token is an integer. Words
// get their lemmas and senses from plain_lemmas.h and sense_index.h, or from Python, once per new word type. Then the tagger
// (tagger.h) tags, and the batch is flat arrays. text_analyser.h does all this in one call. word_facts.h and word_vectors.h
// tell more of words without their context, word_marks.h which of them are numbers or negations. The trainers of tagger and
// segmenter are in core/training.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/array_view.h"
#include "base/recycled_memory.h"
#include "language/analysis/lexicon.h"
#include "language/analysis/plain_lemmas.h"
#include "language/analysis/sense_index.h"
#include "language/analysis/tokeniser.h"

namespace tesla {

// The flat arrays of an analysed batch; text i has the tokens offsets[i] .. offsets[i + 1].
struct TokenArrays {
    BatchArray<std::int64_t> offsets{0};
    BatchArray<std::uint32_t> word, lemma, start, end;
    BatchArray<std::uint16_t> tag;
    BatchArray<std::uint8_t> universal, function;

    void resize(std::size_t tokens);
};

// What a label of the tagger means.
struct LabelMeaning {
    std::uint16_t tag;
    std::uint8_t universal;
    bool function, noun;
};

// Groups of texts between tokenising and tagging.
class Draft {
   public:
    using Texts = std::vector<std::string_view>;

    Draft(Lexicon& lexicon, const Tokeniser& tokeniser, const std::vector<const Texts*>& groups);

    // The word types of these texts that have no lemma yet, each once, in order of appearance.
    const std::vector<std::uint32_t>& undefined_words() const { return undefined_; }
    // Defines those of them whose lemmas are known without Python.
    void define_plain(const PlainLemmas& lemmas, const SenseIndex* senses);
    // Tags, splits compounds (German: the nouns; then tags again), drops tokens without a letter or a digit: one batch for each
    // group.
    std::vector<TokenArrays> finish(const std::vector<LabelMeaning>& labels, bool keep_punctuation) const;

   private:
    struct Token {
        std::uint32_t word, start, end;
    };
    class Reader;
    class Tagging;
    void find_undefined(const std::vector<std::uint32_t>& words);
    ArrayView<Token> tokens(std::size_t text) const {
        return {tokens_.data() + offsets_[text], offsets_[text + 1] - offsets_[text]};
    }
    void append_text(std::size_t text, const Tagging& block, std::size_t in_block, Tagging& again, bool keep_punctuation,
                     TokenArrays& out, std::size_t& count) const;
    template <class Labels>
    void append_tokens(const ArrayView<Token>& tokens, const Labels& labels, bool keep_punctuation, TokenArrays& out,
                       std::size_t& count) const;

    Lexicon& lexicon_;
    std::pmr::vector<Token> tokens_{&RecycledMemory::shared()};
    std::vector<std::size_t> offsets_{0};  // of the texts of all groups
    std::vector<std::size_t> groups_{0};   // the text that each begins with, and the end
    std::vector<std::uint32_t> undefined_;
};

}  // namespace tesla
