// An analysed batch on its way to Python and back: its arrays become NumPy's only where somebody asks for them.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <utility>
#include <vector>

#include "analysis/analysis.h"

namespace tesla {

class TokenBatch {
   public:
    explicit TokenBatch(TokenArrays&& arrays) : arrays_(std::move(arrays)) {}

    const TokenArrays& arrays() const { return arrays_; }
    bool has_empty_text() const {
        for (std::size_t i = 0; i + 1 < arrays_.offsets.size(); ++i)
            if (arrays_.offsets[i] == arrays_.offsets[i + 1]) return true;
        return false;
    }
    // One of the arrays, as long as anyone looks at it; `self` is this object as Python knows it.
    template <class T>
    static nanobind::object view(nanobind::handle self, std::vector<T> TokenArrays::* column) {
        std::vector<T>& values = nanobind::cast<TokenBatch&>(self).arrays_.*column;
        return nanobind::cast(nanobind::ndarray<nanobind::numpy, T>(values.data(), {values.size()}, self));
    }

   private:
    TokenArrays arrays_;
};

}  // namespace tesla
