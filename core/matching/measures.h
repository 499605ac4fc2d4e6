// Precision, recall and F of many pairs of texts.
#pragma once

#include <cstddef>
#include <vector>

#include "base/share.h"
#include "matching/matching.h"

namespace tesla {

// One row per pair, one column per feature.
struct Measures {
    // With `both_ways` also F with the sides exchanged; precision and recall just change places.
    Measures(std::size_t pairs, std::size_t features, double f_alpha, bool both_ways = false)
        : columns(features),
          alpha(f_alpha),
          precision(pairs * features),
          recall(pairs * features),
          f(pairs * features),
          exchanged_f(both_ways ? pairs * features : 0) {}

    // kNoValue where the feature does not exist: neither text has an n-gram (specification §5).
    void set(std::size_t pair, std::size_t feature, const Match& match) {
        const bool exists = match.reference > 0 || match.hypothesis > 0;
        const std::size_t at = pair * columns + feature;
        precision[at] = exists ? match.precision() : kNoValue;
        recall[at] = exists ? match.recall() : kNoValue;
        f[at] = exists ? match.f(alpha) : kNoValue;
        if (!exchanged_f.empty())
            exchanged_f[at] = exists ? Match{match.objective, match.hypothesis, match.reference}.f(alpha) : kNoValue;
    }

    std::size_t columns;
    double alpha;
    std::vector<double> precision, recall, f, exchanged_f;
};

template <class Key>
Match match_keys(const KeyBag<Key>& x, const KeyBag<Key>& y) {
    return {x.overlap(y), x.total, y.total};
}

}  // namespace tesla
