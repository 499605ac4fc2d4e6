// BERT's tokeniser: characters as Python reads them, words between spaces, their pieces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "language/analysis/character_map.h"
#include "language/analysis/word_pieces.h"

namespace tesla {

struct CutTexts {
    std::vector<std::int64_t> offsets{0};  // text i has the pieces from offsets[i] to offsets[i + 1]
    std::vector<std::uint32_t> pieces;
    std::vector<std::uint32_t> words;  // of each piece: the number of its word in the text
};

class WordPieceCutter {
   public:
    // One piece per line. A word that cannot be covered, or has more than `longest_word` characters, is `unknown`. The characters
    // must outlive this.
    WordPieceCutter(std::string vocabulary, std::uint32_t unknown, std::string_view prefix, std::size_t longest_word,
                    CharacterMap& characters);
    WordPieceCutter(const WordPieceCutter&) = delete;  // the keys point into vocabulary_
    WordPieceCutter& operator=(const WordPieceCutter&) = delete;

    CutTexts cut(const std::vector<std::string_view>& texts) const;

   private:
    void cut_words(std::string_view text, CutTexts& cut) const;

    std::string vocabulary_;
    WordPieces pieces_;
    std::uint32_t unknown_;
    std::size_t longest_word_;
    CharacterMap& characters_;
};

}  // namespace tesla
