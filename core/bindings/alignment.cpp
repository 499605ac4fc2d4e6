#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <string>
#include <vector>

#include "base/checks.h"
#include "bindings/arrays.h"
#include "bindings/bindings.h"
#include "bindings/texts.h"
#include "training/word_aligner.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tesla {
namespace {

AlignmentModel model_of(bool sequential) { return sequential ? AlignmentModel::Sequential : AlignmentModel::Lexical; }

void check_range(const WordAligner& aligner, std::size_t from, std::size_t to) {
    require_in_range(from <= to && to <= aligner.size(), "no such sentence pairs");
}

void construct(WordAligner* self, const nb::sequence& target, const nb::sequence& pivot) {
    const HeldTexts held[] = {HeldTexts(target), HeldTexts(pivot)};
    require(held[0].views().size() == held[1].views().size(), "the lists differ in length");
    nb::gil_scoped_release release;
    new (self) WordAligner(held[0].views(), held[1].views());
}

nb::tuple posteriors(const WordAligner& aligner, std::size_t pair, bool sequential) {
    check_range(aligner, pair, pair + 1);
    Posteriors probabilities = aligner.posteriors(model_of(sequential), pair);
    require(!probabilities.pivot_by_target.empty(), "a side of the sentence pair has no words");
    return nb::make_tuple(to_numpy(std::move(probabilities.pivot_by_target), aligner.target_size(pair)),
                          to_numpy(std::move(probabilities.target_by_pivot), aligner.pivot_size(pair)));
}

nb::tuple jump_weights(const WordAligner& aligner) {
    auto list = [&](std::size_t direction) {
        const JumpWeights& weights = aligner.jump_weights(direction);
        return std::vector<double>(weights.begin(), weights.end());
    };
    return nb::make_tuple(list(0), list(1));
}

}  // namespace

void bind_alignment(nb::module_& m) {
    nb::class_<WordAligner>(m, "WordAligner", "Two word alignment models, one in each direction, trained by agreement.")
        .def("__init__", &construct, "target"_a, "pivot"_a, "Sentences as words separated by spaces.")
        .def("__len__", &WordAligner::size)
        .def(
            "expect",
            [](WordAligner& aligner, std::size_t from, std::size_t to, bool sequential) {
                check_range(aligner, from, to);
                nb::gil_scoped_release release;
                aligner.expect(model_of(sequential), from, to);
            },
            "start"_a, "stop"_a, "sequential"_a, "Add the expectations of some sentence pairs; threads may share the work.")
        .def(
            "maximise", [](WordAligner& aligner, bool sequential) { aligner.maximise(model_of(sequential)); },
            "sequential"_a, nb::call_guard<nb::gil_scoped_release>(), "New parameters from all expectations.")
        .def("posteriors", &posteriors, "pair"_a, "sequential"_a,
             "Of one sentence pair: pivot words (rows) by target words, target words (rows) by pivot words.")
        .def(
            "directed_links",
            [](const WordAligner& aligner, std::size_t direction, std::size_t from, std::size_t to, double threshold) {
                check_range(aligner, from, to);
                require_in_range(direction <= 1, "there are two directions");
                require(std::isfinite(threshold), "the threshold is not a number");
                return without_gil([&] { return aligner.directed_links(direction, from, to, threshold); });
            },
            "direction"_a, "start"_a, "stop"_a, "threshold"_a,
            "Pharaoh links of each generated word (direction 0: pivot words, 1: target words) with its likeliest origin.")
        .def_prop_ro("jump_weights", &jump_weights, "Of both directions: jumps of -5 or less, -4, …, 4, 5 or more.");
}

}  // namespace tesla
