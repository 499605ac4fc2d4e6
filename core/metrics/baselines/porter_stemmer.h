// The Porter stemmer (Porter 1980) for English, by the rules of the paper or by those of NLTK, which rouge-score uses: some
// irregular words, and gentler rules for `-y`, `-ies` and `-ied`.
#pragma once

#include <string>
#include <string_view>

namespace tesla {

enum class PorterRules { Paper, Nltk };

// The stem of a word of small letters a to z; other characters count as consonants. Words of up to two letters (three for
// NLTK's rules, as in rouge-score) are their own stems.
std::string porter_stem(std::string_view word, PorterRules rules);

}  // namespace tesla
