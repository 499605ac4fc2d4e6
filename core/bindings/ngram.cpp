#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/checks.h"
#include "bindings/arrays.h"
#include "bindings/bindings.h"
#include "language/lm/ngram_model.h"
#include "training/ngram_estimator.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tesla {
namespace {

// Sentence i is words[offsets[i]] .. words[offsets[i + 1]], every word below `vocabulary`.
struct Sentences {
    Sentences(const Array<std::int64_t>& given_offsets, const Array<std::uint32_t>& given_words, std::size_t vocabulary)
        : offsets(copied(given_offsets)), words(copied(given_words)) {
        check_csr(offsets, words.size());
        require(std::all_of(words.begin(), words.end(), [&](std::uint32_t w) { return w < vocabulary; }),
                "a word number is beyond the vocabulary");
    }
    std::vector<std::int64_t> offsets;
    std::vector<std::uint32_t> words;
};

// Python is told from inside long work; it may raise, for instance because the user interrupts.
NgramEstimator::Progress reporter(const nb::callable& progress) {
    return [&progress](std::uint64_t done) {
        nb::gil_scoped_acquire acquire;
        progress(done);
    };
}

nb::tuple read_results(const NgramEstimator& estimator, unsigned n, std::uint64_t start, std::uint64_t count) {
    EstimatedNgrams ngrams = without_gil([&] { return estimator.read(n, start, count); });
    return nb::make_tuple(to_numpy(std::move(ngrams.words), n), to_numpy(std::move(ngrams.parents)),
                          to_numpy(std::move(ngrams.probability)), to_numpy(std::move(ngrams.backoff)));
}

template <class T>
std::vector<std::vector<T>> copies(const std::vector<Array<T>>& arrays) {
    std::vector<std::vector<T>> result;
    for (const Array<T>& array : arrays) result.push_back(copied(array));
    return result;
}

using Score = std::vector<double> (NgramModel::*)(const ArrayView<std::int64_t>&, const ArrayView<std::uint32_t>&) const;

auto scored_by(Score score) {
    return [score](const NgramModel& model, const Array<std::int64_t>& offsets, const Array<std::uint32_t>& words) {
        const Sentences sentences(offsets, words, model.vocabulary());
        return to_numpy(without_gil([&] { return (model.*score)(sentences.offsets, sentences.words); }));
    };
}

}  // namespace

void bind_ngram_models(nb::module_& m) {
    nb::class_<NgramEstimator>(m, "NgramEstimator", "Modified Kneser-Ney from sentences of word numbers.")
        .def(nb::init<unsigned, std::uint32_t, std::vector<std::uint64_t>, std::string, std::size_t>(), "order"_a,
             "vocabulary"_a, "thresholds"_a, "folder"_a, "memory"_a)
        .def(
            "add",
            [](NgramEstimator& estimator, const Array<std::int64_t>& offsets, const Array<std::uint32_t>& words) {
                const Sentences given(offsets, words, UINT32_MAX);
                nb::gil_scoped_release release;
                for (std::size_t i = 0; i + 1 < given.offsets.size(); ++i)
                    estimator.add_sentence(given.words.data() + given.offsets[i],
                                           static_cast<std::size_t>(given.offsets[i + 1] - given.offsets[i]));
            },
            "offsets"_a, "words"_a)
        .def(
            "adjust_counts",
            [](NgramEstimator& estimator, const nb::callable& progress) {
                nb::gil_scoped_release release;
                estimator.adjust_counts(reporter(progress));
            },
            "progress"_a)
        .def("count_of_counts", &NgramEstimator::count_of_counts, "n"_a)
        .def("ngrams", &NgramEstimator::ngrams, "n"_a)
        .def(
            "estimate",
            [](NgramEstimator& estimator, unsigned n, const std::array<double, 3>& discounts,
               const nb::callable& progress) {
                nb::gil_scoped_release release;
                estimator.estimate(n, discounts, reporter(progress));
            },
            "n"_a, "discounts"_a, "progress"_a)
        .def(
            "join_backoffs",
            [](NgramEstimator& estimator, const nb::callable& progress) {
                nb::gil_scoped_release release;
                estimator.join_backoffs(reporter(progress));
            },
            "progress"_a)
        .def("kept", &NgramEstimator::kept, "n"_a)
        .def("read", &read_results, "n"_a, "start"_a, "count"_a,
             "Some n-grams of the model: words (last first), line of the shorter one, probability, backoff weight.");

    nb::class_<NgramModel>(m, "NgramModel", "A language model to ask.")
        .def(
            "__init__",
            [](NgramModel* self, const std::vector<Array<std::uint32_t>>& words,
               const std::vector<Array<float>>& log_probabilities, const std::vector<Array<std::uint32_t>>& children,
               double least_left) {
                nb::gil_scoped_release release;
                new (self) NgramModel(copies(words), copies(log_probabilities), copies(children), least_left);
            },
            "words"_a, "log_probabilities"_a, "children"_a, "least_left"_a)
        .def_prop_ro("order", &NgramModel::order)
        .def_prop_ro("vocabulary", &NgramModel::vocabulary)
        .def("score_words", scored_by(&NgramModel::score_words), "offsets"_a, "words"_a,
             "ln P of every word, and after each sentence's words of its end.")
        .def("score", scored_by(&NgramModel::score_sentences), "offsets"_a, "words"_a, "ln P of every sentence, its end included.")
        .def(
            "distribution",
            [](const NgramModel& model, const std::vector<std::uint32_t>& context) {
                for (std::uint32_t word : context)
                    require(word < model.vocabulary(), "a word number is beyond the vocabulary");
                return to_numpy(model.distribution(context));
            },
            "context"_a, "P(word | context) of every word.");
}

}  // namespace tesla
