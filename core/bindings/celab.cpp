#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/checks.h"
#include "base/unicode.h"
#include "bindings/arrays.h"
#include "bindings/bindings.h"
#include "bindings/texts.h"
#include "matching/celab/batch.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tesla {
namespace {

using celab::Batch;
using celab::Vocabulary;

void init_batch(Batch* self, Vocabulary& vocabulary, const nb::list& texts, int order,
                const std::optional<nb::list>& weights) {
    // Held in tuples: another thread may change the lists, and so may Python code that runs when an array is read.
    const nb::tuple held(texts);
    const nb::object held_weights = weights ? nb::object(nb::tuple(*weights)) : nb::none();
    require(!weights || nb::len(held_weights) == held.size(), "as many weights as texts");
    Batch batch(vocabulary, order);
    for (std::size_t i = 0; i < held.size(); ++i) {
        std::optional<std::vector<double>> by_span;
        if (weights) by_span = copied(nb::cast<Array<double>>(held_weights[i]));
        batch.add(HeldTexts(held[i]).views(), std::move(by_span));
    }
    new (self) Batch(std::move(batch));
}

nb::tuple explain_pair(Batch& batch, std::int64_t reference, std::int64_t hypothesis, std::size_t limit) {
    auto [solution, why] = without_gil([&] { return batch.explain(reference, hypothesis, limit); });
    std::vector<std::int32_t> spans;
    std::vector<double> weights, totals;
    for (const celab::MatchedPair& m : solution.matches) {
        spans.insert(spans.end(), {m.reference_start, m.reference_start + m.reference_length, m.hypothesis_start,
                                   m.hypothesis_start + m.hypothesis_length});
        weights.push_back(m.weight);
    }
    Batch::append(solution, totals);
    return nb::make_tuple(to_numpy(std::move(totals)), to_numpy(std::move(spans), 4), to_numpy(std::move(weights)),
                          to_numpy(std::move(why.essential)), to_numpy(std::move(why.parts), celab::Reasons::kColumns),
                          to_numpy(std::move(why.part_ends)), to_numpy(std::move(why.reference_covered)),
                          to_numpy(std::move(why.hypothesis_covered)));
}

std::vector<std::pair<std::int32_t, std::int32_t>> split(std::string_view text) {
    std::u32string characters;
    decode_utf8(text, characters);
    return celab::split_units(characters);
}

}  // namespace

void bind_celab(nb::module_& m) {
    m.def(
        "unit_spans",
        [](std::string_view text) {
            nb::list result;
            for (const auto& [start, end] : split(text)) result.append(nb::make_tuple(start, end));
            return result;
        },
        "text"_a, "The units of a text (specification §9) as (start, end) in code points, end exclusive.");
    m.def(
        "unit_surfaces",
        [](const nb::str& text) {
            nb::list result;
            for (const auto& [start, end] : split(nb::cast<std::string_view>(text)))
                result.append(nb::steal(PyUnicode_Substring(text.ptr(), start, end)));
            return result;
        },
        "text"_a, "The units of a text as they stand there.");
    nb::class_<Vocabulary>(m, "NgramVocabulary", "Joined texts of n-grams with their synonym categories.")
        .def(nb::init<>())
        .def("__len__", &Vocabulary::size);
    nb::class_<Batch>(m, "CelabBatch", "Texts as n-grams of units, ready to be matched with each other.")
        .def("__init__", &init_batch, "vocabulary"_a, "texts"_a, "order"_a, "weights"_a = nb::none(), nb::keep_alive<1, 2>())
        .def("__len__", &Batch::size)
        .def("unknown", &Batch::unknown, "The joined texts whose categories are not known yet.")
        .def(
            "define",
            [](Batch& batch, const Array<std::int64_t>& offsets, const Array<std::int32_t>& categories) {
                batch.define(copied(offsets), copied(categories));
            },
            "offsets"_a, "categories"_a, "The categories of the texts that `unknown` gave.")
        .def(
            "solve",
            [](Batch& batch, const Array<std::int64_t>& reference, const Array<std::int64_t>& hypothesis, std::size_t limit) {
                return to_numpy(
                    without_gil([&] { return batch.solve({copied(reference), copied(hypothesis)}, limit); }),
                    Batch::kColumns);
            },
            "reference"_a, "hypothesis"_a, "limit"_a,
            "One row per pair: covered and total weight of the reference, and of the hypothesis.")
        .def("explain", &explain_pair, "reference"_a, "hypothesis"_a, "limit"_a,
             "One pair: that row; the links as (start, end) of both sides, their weights, whether they are essential; their "
             "parts, where those of each link end; what is covered of every span of both sides.");
}

}  // namespace tesla
