// Precision, recall and F on their way to NumPy.
#pragma once

#include <nanobind/nanobind.h>

#include <utility>

#include "bindings/arrays.h"
#include "matching/measures.h"

namespace tesla {

inline nanobind::tuple to_python(Measures&& measures) {
    const std::size_t columns = measures.columns;
    return nanobind::make_tuple(to_numpy(std::move(measures.precision), columns), to_numpy(std::move(measures.recall), columns),
                                to_numpy(std::move(measures.f), columns));
}

// `match` of a kind of bags.
template <class Bags>
void bind_match(nanobind::module_& m, const char* what) {
    using namespace nanobind::literals;
    m.def(
        "match",
        [](const Bags& reference, const Bags& hypothesis, const Array<std::int64_t>& i, const Array<std::int64_t>& j,
           double alpha) {
            return to_python(without_gil(
                [&] { return Bags::match(reference, hypothesis, {copied(i), copied(j)}, alpha, false); }));
        },
        "reference"_a, "hypothesis"_a, "reference_index"_a, "hypothesis_index"_a, "alpha"_a, what);
}

}  // namespace tesla
