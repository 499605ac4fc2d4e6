// An analysed batch on its way to Python and back: its texts in NFC, and its arrays, which become NumPy's only where somebody
// asks for them.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <utility>
#include <vector>

#include "base/checks.h"
#include "bindings/texts.h"
#include "language/analysis/analysis.h"
#include "metrics/feature_group.h"

namespace tesla {

class TokenBatch {
   public:
    TokenBatch(TokenArrays&& arrays, HeldTexts&& texts) : arrays_(std::move(arrays)), texts_(std::move(texts)) {
        require(texts_.views().size() + 1 == arrays_.offsets.size(), "texts and tokens do not belong together");
    }

    const TokenArrays& arrays() const { return arrays_; }
    const HeldTexts& texts() const { return texts_; }
    AnalysedTexts analysed() const { return {arrays_, texts_.views()}; }
    bool has_empty_text() const {
        for (std::size_t i = 0; i + 1 < arrays_.offsets.size(); ++i)
            if (arrays_.offsets[i] == arrays_.offsets[i + 1]) return true;
        return false;
    }
    // One of the arrays, as long as anyone looks at it; `self` is this object as Python knows it. Read-only: the core has checked
    // the arrays once.
    template <class T>
    static nanobind::object view(nanobind::handle self, BatchArray<T> TokenArrays::* column) {
        const BatchArray<T>& values = nanobind::cast<const TokenBatch&>(self).arrays_.*column;
        return nanobind::cast(nanobind::ndarray<nanobind::numpy, const T>(values.data(), {values.size()}, self));
    }

   private:
    TokenArrays arrays_;
    HeldTexts texts_;
};

}  // namespace tesla
