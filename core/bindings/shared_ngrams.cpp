#include <nanobind/nanobind.h>

#include "bindings/arrays.h"
#include "bindings/bindings.h"
#include "bindings/texts.h"
#include "matching/characters.h"
#include "matching/ngram_overlap.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tesla {
namespace {

using Index = Array<std::int64_t>;

}  // namespace

void bind_characters(nb::module_& m) {
    nb::class_<CharacterBags>(m, "CharacterBags", "The character n-grams of all texts of a batch.")
        .def(
            "__init__",
            [](CharacterBags* self, const nb::list& texts) {
                const HeldTexts held(texts);
                without_gil([&] { new (self) CharacterBags(held.views()); });
            },
            "texts"_a)
        .def("__len__", &CharacterBags::size);
    m.def(
        "count_characters",
        [](const CharacterBags& reference, const CharacterBags& hypothesis, const Index& i, const Index& j, int max_order) {
            return to_numpy(without_gil([&] {
                                return CharacterBags::count(reference, hypothesis, {copied(i), copied(j)}, max_order);
                            }),
                            3 * static_cast<std::size_t>(max_order));
        },
        "reference"_a, "hypothesis"_a, "reference_index"_a, "hypothesis_index"_a, "max_order"_a,
        "One row per pair; for each order the n-grams of the hypothesis, of the reference, and those of both.");
}

void bind_ngram_overlap(nb::module_& m) {
    m.def(
        "ngram_overlap",
        [](const Index& x_offsets, const Array<std::uint32_t>& x_words, const Index& y_offsets,
           const Array<std::uint32_t>& y_words, const Index& x_index, const Index& y_index, int longest) {
            return to_numpy(without_gil([&] {
                return ngram_overlaps({copied(x_offsets), view_of(x_words)}, {copied(y_offsets), view_of(y_words)},
                                      {copied(x_index), copied(y_index)}, longest);
            }));
        },
        "x_offsets"_a, "x_words"_a, "y_offsets"_a, "y_words"_a, "x_index"_a, "y_index"_a, "longest"_a,
        "The number of n-grams, n = 1 .. longest, that text x_index[k] and text y_index[k] share, for every k.");
}

}  // namespace tesla
