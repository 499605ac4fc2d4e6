#include <nanobind/nanobind.h>

#include "bindings/arrays.h"
#include "bindings/bindings.h"
#include "bindings/texts.h"
#include "bindings/token_batch.h"
#include "matching/surface.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tesla {

void bind_surface(nb::module_& m) {
    nb::list names;
    for (const char* name : kSurfaceFeatures) names.append(name);
    m.attr("SURFACE_FEATURES") = nb::tuple(names);
    nb::class_<Surfaces>(m, "Surfaces", "What can be seen of all texts of a batch without matching n-grams.")
        .def(
            "__init__",
            [](Surfaces* self, const nb::list& texts, const TokenBatch& batch, WordFacts& facts) {
                const HeldTexts held(texts);
                without_gil([&] { new (self) Surfaces(held.views(), batch.arrays(), facts); });
            },
            "texts"_a, "batch"_a, "facts"_a, "The facts learn the words of the batch.")
        .def("__len__", &Surfaces::size);
    m.def(
        "compare_surfaces",
        [](const Surfaces& reference, const Surfaces& hypothesis, const Array<std::int64_t>& i, const Array<std::int64_t>& j) {
            return to_numpy(
                without_gil([&] { return Surfaces::compare(reference, hypothesis, {view_of(i), view_of(j)}); }),
                kSurfaceColumns);
        },
        "reference"_a, "hypothesis"_a, "reference_index"_a, "hypothesis_index"_a,
        "One row per pair, the columns are SURFACE_FEATURES.");
}

}  // namespace tesla
