// Numbers that stand for words: found in a list of small forms, or told by Python for the few words that need more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "language/analysis/analysis.h"
#include "language/analysis/character_map.h"
#include "language/analysis/learned_words.h"
#include "language/analysis/lexicon.h"

namespace tesla {

// Many threads may learn and read at the same time. What was learned stays where it is.
class WordMarks {
   public:
    // Tells the marks of words. No lock is held meanwhile.
    using Ask = std::function<std::vector<std::uint32_t>(const std::vector<std::string_view>&)>;
    // Which words are asked for, if they are not listed: those with a character of these traits, or with this beginning, if it
    // is not empty, of their small form.
    struct Asked {
        std::uint8_t traits = 0;
        std::string beginning;
    };

    WordMarks(const Lexicon& lexicon, CharacterMap& lowering, std::unordered_map<std::string, std::uint32_t> listed, Asked asked,
              Ask ask)
        : lexicon_(lexicon), lowering_(lowering), listed_(std::move(listed)), asked_(std::move(asked)), ask_(std::move(ask)) {}

    // The mark of every word; 0 for one that is neither listed nor asked for.
    std::vector<std::uint32_t> of(const ArrayView<std::uint32_t>& words);

   private:
    std::vector<std::uint32_t> look_at(std::uint32_t from, std::uint32_t to);

    const Lexicon& lexicon_;
    CharacterMap& lowering_;
    std::unordered_map<std::string, std::uint32_t> listed_;
    Asked asked_;
    Ask ask_;
    LearnedWords<std::uint32_t> marks_;
};

// Words of which a single one changes the meaning of a text: numbers and negations (tesla_eval.language.analysis.critical_words).
class CriticalWords {
   public:
    // What `negations` marks words with, before their context counts.
    enum Mark : std::uint32_t {
        kNone = 0,
        kParticle = 1,
        kNegativeWord = 2,
        kNegatedVerb = 3,      // a particle if the word is tagged as a verb
        kTakesBack = 4,        // after a negation: `not only` denies nothing
    };

    CriticalWords(WordMarks& numbers, WordMarks& negations, bool knows_negations, std::vector<std::uint8_t> verb_tags)
        : numbers_(numbers), negations_(negations), knows_negations_(knows_negations), verb_tags_(std::move(verb_tags)) {}

    bool knows_negations() const { return knows_negations_; }
    // For every token the id of the number that it is, or 0.
    std::vector<std::uint32_t> numbers(const TokenArrays& tokens) { return numbers_.of(tokens.word); }
    // For every token kParticle, kNegativeWord or kNone.
    std::vector<std::uint8_t> negations(const TokenArrays& tokens);

   private:
    WordMarks& numbers_;
    WordMarks& negations_;
    bool knows_negations_;
    std::vector<std::uint8_t> verb_tags_;
};

}  // namespace tesla
