#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "bindings/arrays.h"
#include "bindings/bindings.h"
#include "language/analysis/segmenter.h"
#include "training/segmenter_trainer.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tesla {
namespace {

nb::dict to_dict(SegmenterArrays&& arrays) {
    nb::dict result;
    result["feature_deltas"] = to_numpy(std::move(arrays.feature_deltas));
    result["feature_places"] = to_numpy(std::move(arrays.feature_places));
    result["weights"] = to_numpy(std::move(arrays.weights));
    result["transitions"] = to_numpy(std::move(arrays.transitions));
    result["word_deltas"] = to_numpy(std::move(arrays.word_deltas));
    return result;
}

}  // namespace

void bind_segmenter(nb::module_& m) {
    nb::class_<Segmenter>(m, "Segmenter", "Finds the words in scripts without spaces.")
        .def(
            "__init__",
            [](Segmenter* self, Array<std::uint32_t> feature_deltas, Array<std::uint8_t> feature_places,
               Array<std::int8_t> weights, Array<std::int16_t> transitions, Array<std::uint32_t> word_deltas,
               Array<std::uint32_t> variants) {
                new (self) Segmenter({copied(feature_deltas), copied(feature_places), copied(weights),
                                      copied(transitions), copied(word_deltas), copied(variants)});
            },
            "feature_deltas"_a, "feature_places"_a, "weights"_a, "transitions"_a, "word_deltas"_a, "variants"_a);
    nb::class_<SegmenterTrainer>(m, "SegmenterTrainer", "Learns a segmenter from texts whose words are known.")
        .def(nb::init<>())
        .def("add_word", &SegmenterTrainer::add_word, "word"_a)
        .def("add_text", &SegmenterTrainer::add_text, "text"_a, "words"_a)
        .def("prepare", &SegmenterTrainer::prepare, "min_count"_a)
        .def("run_epoch", &SegmenterTrainer::run_epoch, "seed"_a, "margin"_a, nb::call_guard<nb::gil_scoped_release>())
        .def(
            "quantised",
            [](const SegmenterTrainer& self, double scale, int min_weight) {
                return to_dict(self.quantised(scale, min_weight));
            },
            "scale"_a, "min_weight"_a);
}

}  // namespace tesla
