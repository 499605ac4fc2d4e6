#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <utility>
#include <vector>

#include "bindings/arrays.h"
#include "bindings/bindings.h"
#include "language/analysis/tagger.h"
#include "language/analysis/tagger_speed.h"
#include "training/tagger_trainer.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tesla {
namespace {

nb::dict to_dict(TrainedArrays&& arrays) {
    nb::dict result;
    result["feature_deltas"] = to_numpy(std::move(arrays.feature_deltas));
    result["row_lengths"] = to_numpy(std::move(arrays.row_lengths));
    result["row_labels"] = to_numpy(std::move(arrays.row_labels));
    result["row_weights"] = to_numpy(std::move(arrays.row_weights));
    result["suffix_deltas"] = to_numpy(std::move(arrays.suffix_deltas));
    result["suffix_classes"] = to_numpy(std::move(arrays.suffix_classes));
    return result;
}

}  // namespace

void bind_tagger(nb::module_& m) {
    m.attr("TAGGER_FEATURES") = kTaggerFeatures;
    m.attr("MAX_LABELS") = kMaxLabels;

    nb::class_<Tagger>(m, "Tagger")
        .def(
            "__init__",
            [](Tagger* self, std::size_t labels, Array<std::uint32_t> feature_deltas, Array<std::uint8_t> row_lengths,
               Array<std::uint8_t> row_labels, Array<std::int8_t> row_weights, Array<std::uint32_t> suffix_deltas,
               Array<std::uint8_t> suffix_classes) {
                new (self) Tagger({labels, view_of(feature_deltas), view_of(row_lengths), view_of(row_labels),
                                   view_of(row_weights), view_of(suffix_deltas), view_of(suffix_classes)});
            },
            "labels"_a, "feature_deltas"_a, "row_lengths"_a, "row_labels"_a, "row_weights"_a, "suffix_deltas"_a,
            "suffix_classes"_a)
        .def(
            "tag",
            [](const Tagger& tagger, const std::vector<std::string>& forms) {
                return without_gil([&] { return tagger.tag_forms(forms); });
            },
            "forms"_a, "The label numbers of the words of one text.")
        .def(
            "measure_speed",
            [](const Tagger& tagger, const std::vector<std::vector<std::string>>& sentences, int repeats) {
                const TaggerSpeed speed = without_gil([&] { return measure_tagger(tagger, sentences, repeats); });
                return nb::make_tuple(speed.warm, speed.cold);
            },
            "sentences"_a, "repeats"_a = 1, "Words tagged a second: with features cached per word type, and without.");

    nb::class_<TaggerTrainer>(m, "TaggerTrainer")
        .def(nb::init<std::vector<int>>(), "universal_of"_a)
        .def("set_lexicon", &TaggerTrainer::set_lexicon, "suffixes"_a, "classes"_a)
        .def("add_sentence", &TaggerTrainer::add_sentence, "forms"_a, "gold"_a)
        .def("prepare", &TaggerTrainer::prepare, "min_count"_a)
        .def("run_epoch", &TaggerTrainer::run_epoch, "seed"_a, "margin"_a, nb::call_guard<nb::gil_scoped_release>())
        .def(
            "quantised",
            [](const TaggerTrainer& trainer, double scale, int min_weight) {
                return to_dict(trainer.quantised(scale, min_weight));
            },
            "scale"_a, "min_weight"_a);
}

}  // namespace tesla
