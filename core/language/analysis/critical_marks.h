// What words are marked with of which a single one changes the meaning of a text.
#pragma once

#include <cstdint>

namespace tesla {

// What denies. A text's particles and its negative words are counted apart, and the larger number counts: in many languages they
// go together in one clause.
enum NegationKind : std::uint32_t {
    kNoNegation = 0,
    kParticle = 1,      // not, ne
    kNegativeWord = 2,  // rien, nikdo
    // Before the context of the word counts:
    kNegatedVerb = 3,  // a particle if the word is tagged as a verb
    kTakesBack = 4,    // after a negation: `not only` denies nothing
};

// The number of a token that is an XML entity: no word.
inline constexpr std::uint32_t kMarkup = 1;

}  // namespace tesla
