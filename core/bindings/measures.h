// Precision, recall and F on their way to NumPy.
#pragma once

#include <nanobind/nanobind.h>

#include <utility>

#include "base/pairs.h"
#include "bindings/arrays.h"
#include "matching/measures.h"

namespace tesla {

inline nanobind::tuple to_python(Measures&& measures) {
    const std::size_t columns = measures.columns;
    auto precision = to_numpy(std::move(measures.precision), columns), recall = to_numpy(std::move(measures.recall), columns),
         f = to_numpy(std::move(measures.f), columns);
    if (measures.exchanged_f.empty()) return nanobind::make_tuple(precision, recall, f);
    return nanobind::make_tuple(precision, recall, f, to_numpy(std::move(measures.exchanged_f), columns));
}

// `match` and `match_both_ways` of a kind of bags.
template <class Bags>
void bind_match(nanobind::module_& m, const char* one_way, const char* both_ways) {
    using namespace nanobind::literals;
    m.def(
        "match",
        [](const Bags& reference, const Bags& hypothesis, const Array<std::int64_t>& i, const Array<std::int64_t>& j,
           double alpha) {
            return to_python(without_gil(
                [&] { return Bags::match(reference, hypothesis, {view_of(i), view_of(j)}, alpha, false); }));
        },
        "reference"_a, "hypothesis"_a, "reference_index"_a, "hypothesis_index"_a, "alpha"_a, one_way);
    m.def(
        "match_both_ways",
        [](const Bags& texts, const Array<std::int64_t>& i, const Array<std::int64_t>& j, double alpha) {
            return to_python(without_gil([&] { return Bags::match(texts, texts, {view_of(i), view_of(j)}, alpha, true); }));
        },
        "texts"_a, "first"_a, "second"_a, "alpha"_a, both_ways);
}

}  // namespace tesla
