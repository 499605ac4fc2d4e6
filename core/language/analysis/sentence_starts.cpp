#include "language/analysis/sentence_starts.h"

#include <cstddef>

#include "base/unicode.h"

namespace tesla {
namespace {

bool ends_sentence(char32_t c) {
    return c == U'.' || c == U'!' || c == U'?' || c == U'…' || c == U'।' || c == U'؟';
}

bool ends_sentence_alone(char32_t c) { return c == U'\n' || c == U'。' || c == U'！' || c == U'？'; }

}  // namespace

std::vector<std::uint8_t> sentence_starts(const TokenArrays& tokens, const std::vector<std::string_view>& texts) {
    std::vector<std::uint8_t> starts(tokens.start.size());
    for (std::size_t i = 0; i < texts.size(); ++i) {
        const auto first = static_cast<std::size_t>(tokens.offsets[i]), end = static_cast<std::size_t>(tokens.offsets[i + 1]);
        std::size_t at = 0;       // byte of the text
        std::uint32_t place = 0;  // character
        for (std::size_t k = first; k < end; ++k) {
            bool stop = false;
            for (; place < tokens.start[k] && at < texts[i].size(); ++place) {
                const char32_t c = next_character(texts[i], at);
                if (k == first || place < tokens.end[k - 1]) continue;  // within a token, or before the first one
                starts[k] |= ends_sentence_alone(c) || (stop && is_space(c));
                stop |= ends_sentence(c);
            }
        }
    }
    return starts;
}

}  // namespace tesla
