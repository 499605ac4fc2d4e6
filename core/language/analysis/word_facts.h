// What is known of words without their context: which of them differ in capitals alone, their shapes and their weights.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/array_view.h"
#include "base/portable.h"
#include "base/share.h"
#include "base/text_notes.h"
#include "base/text_table.h"
#include "language/analysis/character_map.h"
#include "language/analysis/learned_words.h"
#include "language/analysis/lexicon.h"

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
    // The same for many: calls use(k, weight) for the k-th.
    template <class Use>
    void of_all(const std::vector<std::string_view>& words, Use&& use) const {
        weights_.find_all(words, [&](std::size_t k, const double* weight) { use(k, weight ? *weight : unlisted_); });
    }
    double unlisted() const { return unlisted_; }

   private:
    std::string text_;
    TextTable<double> weights_;
    double unlisted_;
};

struct WordFact {
    std::uint32_t folded;  // the number of the first word that is the same but for capitals
    std::uint8_t shape;    // WordShape bits
    double weight;         // how much the word tells: rare ones more
};

// Many threads may learn and read at the same time. What was learned stays where it is.
class WordFacts {
   public:
    // `lowering` tells the traits of characters too. Without weights every word weighs 1.
    WordFacts(Lexicon& lexicon, CharacterMap& lowering, const WordWeights* weights)
        : lexicon_(lexicon), lowering_(lowering), weights_(weights) {}

    // Learns all words and lemmas of the lexicon up to the highest of these; throws std::out_of_range for one that it has not.
    void learn(const ArrayView<std::uint32_t>& words, const ArrayView<std::uint32_t>& lemmas);

    // Of what was learned.
    const WordFact& operator[](std::uint32_t word) const { return words_[word]; }
    void prefetch(std::uint32_t word) const { prefetch_memory(&words_[word]); }  // asks for the memory that a fact is in
    double lemma_weight(std::uint32_t lemma) const { return lemma_weights_[lemma]; }
    std::size_t word_count() const { return words_.size(); }
    std::size_t lemma_count() const { return lemma_weights_.size(); }

    const Lexicon& lexicon() const { return lexicon_; }
    bool weighted() const { return weights_ != nullptr; }
    // The weight of words that are not listed; no word has it where there is no list.
    double unlisted() const { return weights_ ? weights_->unlisted() : kNoValue; }

   private:
    // A word before it is compared with those that differ from it in capitals alone.
    struct Look {
        std::string small_form;
        std::uint32_t small_word;  // the number of the small form; Interner::kMissing: none yet
        std::uint8_t shape;
        double weight = 1;
    };
    std::vector<Look> look_at(std::uint32_t from, std::uint32_t to);
    WordFact conclude(std::uint32_t word, const Look& look);

    // The first word that came with capitals before it came as `small_form`, or else `otherwise`.
    std::uint32_t first_with_capitals(std::string_view small_form, std::uint32_t otherwise) const;
    void remember(std::string_view small_form, std::uint32_t word);

    Lexicon& lexicon_;
    CharacterMap& lowering_;
    const WordWeights* weights_;
    LearnedWords<WordFact, Look> words_;
    LearnedWords<double> lemma_weights_;
    // Under the lock of words_.
    Interner small_forms_;  // of words that came with capitals first
    TextNotes noted_{std::size_t{1} << 16};  // of them: most words are none
    std::vector<std::uint32_t> first_with_capitals_;  // by the number of the small form
};

}  // namespace tesla
