#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/checks.h"
#include "bindings/arrays.h"
#include "bindings/bindings.h"
#include "bindings/measures.h"
#include "bindings/token_batch.h"
#include "matching/checked_transport.h"
#include "matching/explanation.h"
#include "matching/text_bags.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tesla {
namespace {

using Named = std::vector<std::pair<std::string, int>>;  // (similarity, n), or ("skip", gap)

// The tokens of an analysed batch, as far as bags need them; `kept` are those of nobody else.
struct Tokens {
    Tokens(const Array<std::int64_t>& offsets, const Array<std::uint32_t>& lemma, const Array<std::uint16_t>& tag,
           const Array<std::uint8_t>& function)
        : kept{copied(offsets), copied(lemma), copied(tag), copied(function)},
          columns{std::get<0>(kept), std::get<1>(kept), std::get<2>(kept), std::get<3>(kept)} {}
    explicit Tokens(const TokenBatch& batch)  // which must outlive this
        : columns{batch.arrays().offsets, batch.arrays().lemma, batch.arrays().tag, batch.arrays().function} {}

    std::tuple<std::vector<std::int64_t>, std::vector<std::uint32_t>, std::vector<std::uint16_t>, std::vector<std::uint8_t>> kept;
    TokenColumns columns;
};

nb::dict explain_feature(const Lexicon& lexicon, const Tokens& reference, const Tokens& hypothesis,
                         const std::string& similarity, int n, Discount discount, double alpha, std::size_t dense_cells) {
    const Feature feature = feature_named(similarity, n);
    Explanation explanation = without_gil([&] {
        return explain_match(lexicon, reference.columns, hypothesis.columns, feature, discount, dense_cells);
    });
    Measures measures(1, 1, alpha);
    measures.set(0, 0, explanation.match(feature));
    std::vector<std::int64_t> flow;
    for (const FlowEntry& e : explanation.flow) flow.insert(flow.end(), {e.reference, e.hypothesis, e.gain, e.amount});
    nb::dict result;
    result["objective"] = explanation.objective;         // in units of 1 / (gain_unit * weight_unit)
    result["reference_weight"] = explanation.reference;  // in units of 1 / weight_unit
    result["hypothesis_weight"] = explanation.hypothesis;
    result["measures"] = nb::make_tuple(measures.precision[0], measures.recall[0], measures.f[0]);
    result["gain_unit"] = 2 * feature.n;
    result["weight_unit"] = discount.unit(feature.n);
    result["flow"] = to_numpy(std::move(flow), 4);  // reference row, hypothesis row, gain, amount
    return result;
}

template <class Capacity>
nb::tuple solve_transport(const Array<Capacity>& supply, const Array<Capacity>& demand, const Array<std::int64_t>& rows,
                          const Array<std::int64_t>& columns, const Array<std::int64_t>& gains) {
    auto [objective, flow] = without_gil([&] {
        return solve_checked_transport<Capacity>(copied(supply), copied(demand), copied(rows), copied(columns), copied(gains));
    });
    return nb::make_tuple(objective, to_numpy(std::move(flow)));
}

}  // namespace

void bind_matching(nb::module_& m) {
    nb::exception<TextTooLong>(m, "TextTooLongError", nb::module_::import_("tesla_eval.base.errors").attr("InputError"));
    nb::class_<Tokens>(m, "Tokens", "The token arrays of a batch, as far as bags need them.")
        .def(nb::init<const TokenBatch&>(), "batch"_a, nb::keep_alive<1, 2>())
        .def(nb::init<const Array<std::int64_t>&, const Array<std::uint32_t>&, const Array<std::uint16_t>&, const Array<std::uint8_t>&>(), "offsets"_a,
             "lemma"_a, "tag"_a, "function"_a);
    nb::class_<Discount>(m, "Discount", "What a function word is worth: the fraction p / q.")
        .def(
            "__init__",
            [](Discount* self, std::int64_t p, std::int64_t q) {
                require(p >= 1 && p <= q && q <= kLargestDenominator, "a discount is above 0 and at most 1");
                new (self) Discount{p, q};
            },
            "p"_a, "q"_a);
    nb::class_<BagRecipe>(m, "BagRecipe", "Which bags a metric needs: their features and the discount of function words.")
        .def(
            "__init__",
            [](BagRecipe* self, const Named& named, Discount discount) {
                std::vector<Feature> features;
                for (const auto& [similarity, n] : named) features.push_back(feature_named(similarity, n));
                new (self) BagRecipe{std::move(features), discount};
            },
            "features"_a, "discount"_a);
    nb::class_<BatchBags>(m, "Bags", "The bags of all texts of a batch.")
        .def(
            "__init__",
            [](BatchBags* self, const Lexicon& lexicon, const Tokens& tokens, const BagRecipe& recipe) {
                without_gil([&] { new (self) BatchBags(lexicon, tokens.columns, recipe); });
            },
            "lexicon"_a, "tokens"_a, "recipe"_a, nb::keep_alive<1, 2>())
        .def("__len__", &BatchBags::size);
    bind_match<BatchBags>(m, "Precision, recall and F: one row per pair, one column per feature.");
    m.def("explain", &explain_feature, "lexicon"_a, "reference"_a, "hypothesis"_a, "similarity"_a, "n"_a, "discount"_a,
          "alpha"_a, "dense_cells"_a = MaxSimMatcher::kDenseCells, "One feature of one pair, with its flow.");
    m.def("solve_transport", &solve_transport<std::int64_t>, "supply"_a, "demand"_a, "rows"_a, "columns"_a, "gains"_a,
          "The transport problem itself: arcs ascend by row; returns the objective and the flow of every arc.");
    m.def("solve_transport", &solve_transport<double>, "supply"_a, "demand"_a, "rows"_a, "columns"_a, "gains"_a);
}

}  // namespace tesla
