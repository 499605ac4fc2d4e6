#include "language/analysis/word_piece_cutter.h"

#include <algorithm>
#include <utility>

namespace tesla {

WordPieceCutter::WordPieceCutter(std::string vocabulary, std::uint32_t unknown, std::string_view prefix, std::size_t longest_word,
                                 CharacterMap& characters)
    : vocabulary_(std::move(vocabulary)), pieces_(prefix), unknown_(unknown), longest_word_(longest_word), characters_(characters) {
    std::vector<std::string_view> lines;
    for (std::size_t begin = 0; begin <= vocabulary_.size(); begin += lines.back().size() + 1)
        lines.push_back(std::string_view(vocabulary_).substr(begin, vocabulary_.find('\n', begin) - begin));
    pieces_.reserve(lines.size());
    for (std::size_t i = lines.size(); i-- > 0;)  // of equal pieces the last one counts, as in BERT
        pieces_.add(lines[i], static_cast<std::uint32_t>(i));
}

CutTexts WordPieceCutter::cut(const std::vector<std::string_view>& texts) const {
    CutTexts cut;
    std::string read;
    for (std::string_view text : texts) {
        characters_.apply(text, read);
        cut_words(read, cut);
        cut.offsets.push_back(static_cast<std::int64_t>(cut.pieces.size()));
    }
    return cut;
}

void WordPieceCutter::cut_words(std::string_view text, CutTexts& cut) const {
    std::uint32_t word = 0;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(' '), text.size());
        if (end > 0) {
            if (!pieces_.cut(text.substr(0, end), longest_word_, cut.pieces)) cut.pieces.push_back(unknown_);
            cut.words.resize(cut.pieces.size(), word++);
        }
        text.remove_prefix(std::min(end + 1, text.size()));
    }
}

}  // namespace tesla
