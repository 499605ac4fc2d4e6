// Numbers that stand for words: found in a list of small forms, or told by Python for the few words that need more.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/text_notes.h"
#include "language/analysis/analysis.h"
#include "language/analysis/character_map.h"
#include "language/analysis/critical_marks.h"
#include "language/analysis/learned_words.h"
#include "language/analysis/lexicon.h"

namespace tesla {

// A list of words with their marks, and which of the others Python is asked for.
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

    WordMarks(const std::unordered_map<std::string, std::uint32_t>& listed, Asked asked, Ask ask);

    // The mark of a listed word, by its small form; null if it is not listed.
    const std::uint32_t* find(std::string_view small) const { return listed_.find(small); }
    bool asks_for(std::string_view small, const WordTraits& traits) const;
    std::vector<std::uint32_t> ask(const std::vector<std::string_view>& forms) const;

   private:
    NotedTexts<std::uint32_t> listed_{std::size_t{1} << 13};
    Asked asked_;
    Ask ask_;
};

// Words of which a single one changes the meaning of a text: numbers and negations (tesla_eval.language.analysis.critical_words).
// Many threads may learn and read at the same time. What was learned stays where it is.
class CriticalWords {
   public:
    // `negations` marks words with a NegationKind, before their context counts.
    CriticalWords(const Lexicon& lexicon, CharacterMap& lowering, const WordMarks& numbers, const WordMarks& negations,
                  bool knows_negations, std::vector<std::uint8_t> verb_tags)
        : lexicon_(lexicon), lowering_(lowering), lists_{&numbers, &negations}, knows_negations_(knows_negations),
          verb_tags_(std::move(verb_tags)) {}

    bool knows_negations() const { return knows_negations_; }
    // Throws std::out_of_range for a word that the lexicon has not.
    void learn(const TokenArrays& tokens);

    // Of tokens that were learned: appends for every token of a text the id of the number that it is, or 0.
    void append_numbers(const TokenArrays& tokens, std::size_t text, std::vector<std::uint32_t>& ids) const;
    // The same with kParticle, kNegativeWord or kNoNegation.
    void append_negations(const TokenArrays& tokens, std::size_t text, std::vector<std::uint8_t>& kinds) const;

   private:
    enum List : std::size_t { kNumbers, kNegations, kLists };
    using Marks = std::array<std::uint32_t, kLists>;  // 0 for a word that is neither listed nor asked for
    std::vector<Marks> look_at(std::uint32_t from, std::uint32_t to) const;

    const Lexicon& lexicon_;
    CharacterMap& lowering_;
    const std::array<const WordMarks*, kLists> lists_;
    bool knows_negations_;
    std::vector<std::uint8_t> verb_tags_;
    LearnedWords<Marks> marks_;
};

}  // namespace tesla
