// What is known of words without their context: which of them differ in capitals alone, their shapes and their weights.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/character_map.h"
#include "analysis/lexicon.h"
#include "base/text_table.h"

namespace tesla {

enum WordShape : std::uint8_t { kHasDigit = 1, kCapitalised = 2 };
inline constexpr std::uint8_t kLetterTrait = 4;  // of characters, beside those of WordShape

// A list of words with their weights.
class WordWeights {
   public:
    // `text` holds the words, one line each; of a word that occurs twice the last counts. Throws std::invalid_argument
    // where lines and weights differ in number.
    WordWeights(std::string text, const std::vector<double>& weights, double unlisted);
    WordWeights(const WordWeights&) = delete;  // the keys point into text_
    WordWeights& operator=(const WordWeights&) = delete;

    double of(std::string_view word) const {
        const double* weight = weights_.find(word);
        return weight ? *weight : unlisted_;
    }

   private:
    std::string text_;
    TextTable<double> weights_;
    double unlisted_;
};

// Words are given in ascending order of their numbers, by one thread at a time.
class WordFacts {
   public:
    // `lowering` tells the traits of characters too. Without weights every word weighs 1.
    WordFacts(Lexicon& lexicon, CharacterMap& lowering, const WordWeights* weights)
        : lexicon_(lexicon), lowering_(lowering), weights_(weights) {}

    const Lexicon& lexicon() const { return lexicon_; }

    struct Words {
        std::vector<std::uint32_t> folded;  // the number of the first word that is the same but for capitals
        std::vector<std::uint8_t> shape;    // WordShape bits
        std::vector<double> weight;
    };
    // Of the words from `first` up to `end`, which the lexicon has.
    Words learn_words(std::uint32_t first, std::uint32_t end);
    std::vector<double> lemma_weights(std::uint32_t first, std::uint32_t end) const;

   private:
    double weight_of(std::string_view word) const { return weights_ ? weights_->of(word) : 1; }

    // The first word that came with capitals before it came as `small_form`, or else `otherwise`.
    std::uint32_t first_with_capitals(std::string_view small_form, std::uint32_t otherwise) const;
    void remember(std::string_view small_form, std::uint32_t word);

    Lexicon& lexicon_;
    CharacterMap& lowering_;
    const WordWeights* weights_;
    Interner small_forms_;  // of words that came with capitals first
    std::vector<std::uint32_t> first_with_capitals_;  // by the number of the small form
};

}  // namespace tesla
