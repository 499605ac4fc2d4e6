// Where sentences begin, by punctuation alone: enough to count them and to tell an added one (specification §8b).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "language/analysis/analysis.h"

namespace tesla {

// For every token 1 if a sentence ended before it: a full stop and white space, an ideographic full stop, or a new line.
std::vector<std::uint8_t> sentence_starts(const TokenArrays& tokens, const std::vector<std::string_view>& texts);

}  // namespace tesla
