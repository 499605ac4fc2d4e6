#include <nanobind/nanobind.h>

#include "bindings/arrays.h"
#include "bindings/bindings.h"
#include "bindings/texts.h"
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
            [](Surfaces* self, const nb::list& texts, const Array<std::int64_t>& offsets, const Array<std::uint32_t>& word,
               const Array<std::uint32_t>& lemma, const Array<std::uint8_t>& function, const Array<std::uint32_t>& folded,
               const Array<std::uint8_t>& shape, const Array<double>& word_weight, const Array<double>& lemma_weight,
               double unlisted) {
                const HeldTexts held(texts);
                const SurfaceColumns columns{view_of(offsets), view_of(word),   view_of(lemma),
                                             view_of(function), view_of(folded), view_of(shape),
                                             view_of(word_weight), view_of(lemma_weight), unlisted};
                without_gil([&] { new (self) Surfaces(held.views(), columns); });
            },
            "texts"_a, "offsets"_a, "word"_a, "lemma"_a, "function"_a, "folded"_a, "shape"_a, "word_weight"_a,
            "lemma_weight"_a, "unlisted"_a,
            "The tokens, then what is known of words and lemmas by number; `unlisted` is the weight of unknown words.")
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
