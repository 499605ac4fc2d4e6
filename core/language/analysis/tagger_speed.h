// How many words a tagger tags a second.
#pragma once

#include <string>
#include <vector>

#include "language/analysis/tagger.h"

namespace tesla {

// Words a second, the best of several passes.
struct TaggerSpeed {
    double warm;  // with the features of each type computed once
    double cold;  // with those of each word computed anew
};
TaggerSpeed measure_tagger(const Tagger& tagger, const std::vector<std::vector<std::string>>& sentences, int repeats);

}  // namespace tesla
