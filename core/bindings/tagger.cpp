#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <ctime>
#include <limits>
#include <string>
#include <unordered_map>
#include <vector>

#include "bindings/arrays.h"
#include "bindings/bindings.h"
#include "language/analysis/feature_store.h"
#include "language/analysis/tagger.h"
#include "training/tagger_trainer.h"
#include "base/unicode.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tesla {
namespace {

using Sentence = std::vector<std::string>;

std::u32string decoded(const std::string& form) {
    std::u32string characters;
    decode_utf8(form, characters);
    return characters;
}

std::vector<std::uint16_t> tag_forms(const Tagger& tagger, const Sentence& forms) {
    std::vector<SingleWord> words(forms.size());
    WordRows rows(tagger);
    for (std::size_t i = 0; i < forms.size(); ++i) {
        tagger.find_features(decoded(forms[i]), words[i]);
        rows.push_back(words[i].features);
    }
    rows.end_text();
    std::vector<std::uint16_t> labels(rows.places());
    tagger.tag(rows, labels.data());
    return {labels.begin() + rows.start(0), labels.begin() + rows.start(0) + forms.size()};
}

template <class Work>
double shortest_time(int repeats, Work&& work) {
    double shortest = std::numeric_limits<double>::infinity();
    for (int i = 0; i < repeats; ++i) {
        const std::clock_t start = std::clock();  // processor time: other programs do not count
        work();
        shortest = std::min(shortest, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
    }
    return shortest;
}

// Words a second, the best of several passes: with the features of each type computed once, and of each word anew.
std::pair<double, double> measure_speed(const Tagger& tagger, const std::vector<Sentence>& sentences, int repeats) {
    FeatureStore store(tagger);
    std::unordered_map<std::string, const WordFeatures*> types;
    for (const Sentence& sentence : sentences)
        for (const std::string& form : sentence)
            if (const auto [type, is_new] = types.try_emplace(form); is_new) {
                const std::u32string characters = decoded(form);
                store.find(&characters, 1, &type->second);
            }
    WordRows rows(tagger);
    double words = 0;
    for (const Sentence& sentence : sentences) {
        for (const std::string& form : sentence) rows.push_back(*types.at(form));
        rows.end_text();
        words += static_cast<double>(sentence.size());
    }
    std::vector<std::uint16_t> labels(rows.places());
    const double warm = shortest_time(repeats, [&] { tagger.tag(rows, labels.data()); });
    const double cold = shortest_time(repeats, [&] {
        for (const Sentence& sentence : sentences) tag_forms(tagger, sentence);
    });
    return {words / warm, words / cold};
}

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
        .def("tag", &tag_forms, "forms"_a, "The label numbers of the words of one text.")
        .def(
            "measure_speed",
            [](const Tagger& tagger, const std::vector<Sentence>& sentences, int repeats) {
                const auto [warm, cold] = measure_speed(tagger, sentences, repeats);
                return nb::make_tuple(warm, cold);
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
