#include "matching/guards.h"

#include <nanobind/nanobind.h>

#include "bindings/arrays.h"
#include "bindings/bindings.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tesla {

void bind_guards(nb::module_& m) {
    nb::list names;
    for (const char* name : kGuardFeatures) names.append(name);
    m.attr("GUARD_FEATURES") = nb::tuple(names);
    nb::class_<Guards>(m, "Guards", "The words, numbers and negations of all texts of a batch.")
        .def(
            "__init__",
            [](Guards* self, const Array<std::int64_t>& offsets, const Array<std::uint32_t>& lemma,
               const Array<std::uint8_t>& function, const Array<std::uint32_t>& number,
               const Array<std::uint8_t>& negation, const Array<std::uint8_t>& starts) {
                const GuardTokens tokens{view_of(offsets), view_of(lemma), view_of(function), view_of(number),
                                         view_of(negation), view_of(starts)};
                without_gil([&] { new (self) Guards(tokens); });
            },
            "offsets"_a, "lemma"_a, "function"_a, "number"_a, "negation"_a, "starts"_a,
            "`number` is 0 for words that are no number; `negation` is 1 for particles, 2 for negative words; `starts` is 1 "
            "for the first word of a sentence.")
        .def("__len__", &Guards::size);
    m.def(
        "compare_guards",
        [](const Guards& reference, const Guards& hypothesis, const Array<std::int64_t>& i, const Array<std::int64_t>& j) {
            return to_numpy(without_gil([&] { return Guards::compare(reference, hypothesis, {view_of(i), view_of(j)}); }),
                            kGuardColumns);
        },
        "reference"_a, "hypothesis"_a, "reference_index"_a, "hypothesis_index"_a,
        "One row per pair, the columns are GUARD_FEATURES.");
}

}  // namespace tesla
