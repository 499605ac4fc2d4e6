// Precision, recall and F of many pairs of texts, on their way to NumPy.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "base/arrays.h"
#include "matching/matching.h"

namespace tesla {

// Pairs that are matched before the clock is looked at: a pair takes microseconds, of long texts milliseconds.
inline constexpr std::size_t kPairsPerLook = 16;

class Measures {
   public:
    // With `both_ways` also F with the sides exchanged; precision and recall just change places.
    Measures(std::size_t pairs, std::size_t features, double alpha, bool both_ways = false)
        : columns_(features),
          alpha_(alpha),
          precision_(pairs * features),
          recall_(pairs * features),
          f_(pairs * features),
          exchanged_f_(both_ways ? pairs * features : 0) {}

    // NaN where the feature does not exist: neither text has an n-gram (specification §5).
    void set(std::size_t pair, std::size_t feature, const Match& match) {
        const bool exists = match.reference > 0 || match.hypothesis > 0;
        const double missing = std::numeric_limits<double>::quiet_NaN();
        const std::size_t at = pair * columns_ + feature;
        precision_[at] = exists ? match.precision() : missing;
        recall_[at] = exists ? match.recall() : missing;
        f_[at] = exists ? match.f(alpha_) : missing;
        if (!exchanged_f_.empty())
            exchanged_f_[at] = exists ? Match{match.objective, match.hypothesis, match.reference}.f(alpha_) : missing;
    }
    nanobind::tuple to_python() && {
        auto precision = to_numpy(std::move(precision_), columns_), recall = to_numpy(std::move(recall_), columns_),
             f = to_numpy(std::move(f_), columns_);
        if (exchanged_f_.empty()) return nanobind::make_tuple(precision, recall, f);
        return nanobind::make_tuple(precision, recall, f, to_numpy(std::move(exchanged_f_), columns_));
    }

   private:
    std::size_t columns_;
    double alpha_;
    std::vector<double> precision_, recall_, f_, exchanged_f_;
};

template <class Key>
Match match_keys(const KeyBag<Key>& x, const KeyBag<Key>& y) {
    return {x.overlap(y), x.total, y.total};
}

}  // namespace tesla
