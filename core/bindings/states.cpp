#include <nanobind/nanobind.h>

#include <utility>
#include <vector>

#include "bindings/arrays.h"
#include "bindings/bindings.h"
#include "bindings/texts.h"
#include "matching/state_texts.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tesla {
namespace {

nb::tuple match_states(const StateTexts& reference, const StateTexts& hypothesis, const Array<std::int64_t>& i,
                       const Array<std::int64_t>& j, const Array<std::uint32_t>& weights, double threshold) {
    StateMeasures measures = without_gil([&] {
        return StateTexts::match(reference, hypothesis, {copied(i), copied(j)}, copied(weights), threshold);
    });
    return nb::make_tuple(to_numpy(std::move(measures.precision), kStateProblems),
                          to_numpy(std::move(measures.recall), kStateProblems), to_numpy(std::move(measures.cosine)));
}

nb::object state_gains_by_kind(const StateTexts& reference, const StateTexts& hypothesis, const Array<std::int64_t>& i,
                               const Array<std::int64_t>& j, std::size_t kinds) {
    return to_numpy(without_gil([&] {
                        return StateTexts::gains_by_kind(reference, hypothesis, {copied(i), copied(j)}, kinds);
                    }),
                    kGainsByKind * kinds);
}

nb::object explain_states(const StateTexts& reference, const StateTexts& hypothesis, double threshold) {
    std::vector<std::int64_t> entries;
    for (const StateFlowEntry& e : without_gil([&] { return StateTexts::flow(reference, hypothesis, threshold); }))
        entries.insert(entries.end(), {e.reference, e.hypothesis, e.similarity, e.gain});
    return to_numpy(std::move(entries), 4);
}

}  // namespace

void bind_states(nb::module_& m) {
    m.attr("STATE_PROBLEMS") = to_tuple(kStateProblemNames);
    m.attr("LARGEST_MEAN") = kLargestMean;
    m.attr("MOST_PIECES") = kMostPieces;
    nb::class_<StateTexts>(m, "StateTexts", "The texts of a batch with the states of their pieces of words.")
        .def(
            "__init__",
            [](StateTexts* self, const Array<std::int64_t>& offsets, const Array<std::uint8_t>& kinds,
               const Array<std::int8_t>& states, const Array<std::int16_t>& means, std::size_t dimensions) {
                new (self) StateTexts(view_of(offsets), view_of(kinds), view_of(states), view_of(means), dimensions);
            },
            "offsets"_a, "kinds"_a, "states"_a, "means"_a, "dimensions"_a)
        .def("__len__", &StateTexts::size);
    m.def("match_states", &match_states, "reference"_a, "hypothesis"_a, "reference_index"_a, "hypothesis_index"_a, "weights"_a,
          "threshold"_a, "Precision and recall, one row per pair, the columns are STATE_PROBLEMS; then the cosines of the means.");
    m.def("state_gains_by_kind", &state_gains_by_kind, "reference"_a, "hypothesis"_a, "reference_index"_a,
          "hypothesis_index"_a, "kinds"_a,
          "For every pair and kind of piece: pieces and their best similarities in the reference, then in the hypothesis; "
          "then the same for pairs of neighbouring pieces.");
    m.def("explain_states", &explain_states, "reference"_a, "hypothesis"_a, "threshold"_a,
          "The flow between pieces: reference, hypothesis, similarity in 65,536ths, gain in 16ths.");
}

}  // namespace tesla
