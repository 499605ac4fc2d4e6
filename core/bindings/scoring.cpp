#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/checks.h"
#include "bindings/analyser.h"
#include "bindings/arrays.h"
#include "bindings/bindings.h"
#include "bindings/token_batch.h"
#include "matching/characters.h"
#include "matching/guards.h"
#include "matching/surface.h"
#include "metrics/groups.h"
#include "metrics/scorer.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tesla {
namespace {

// What a group has prepared, and the group.
struct PreparedTexts {
    const FeatureGroup* group;
    std::unique_ptr<FeatureGroup::Prepared> texts;
};

// A scorer with what it is made of.
struct HeldScorer {
    nb::tuple groups, names;
    nb::object combination;
    Scorer scorer;
};

ChosenMeasures measures_named(const std::vector<std::string>& names) {
    if (names.empty()) return {Measure::F};
    ChosenMeasures measures;
    for (const std::string& name : names) {
        require(name == "p" || name == "r" || name == "f", "no such measure");
        measures.push_back(name == "p" ? Measure::Precision : name == "r" ? Measure::Recall : Measure::F);
    }
    return measures;
}

WordForm form_named(const std::string& name) {
    require(name == "lemma" || name == "untagged" || name == "surface", "no such form of words");
    return name == "lemma" ? WordForm::Lemma : name == "untagged" ? WordForm::UntaggedLemma : WordForm::Surface;
}

nb::object compare(const PreparedTexts& x, const PreparedTexts& y, const Array<std::int64_t>& i, const Array<std::int64_t>& j) {
    require(x.group == y.group, "the texts were not prepared by one group");
    return to_numpy(without_gil([&] { return x.group->compare(*x.texts, *y.texts, {copied(i), copied(j)}); }),
                    x.group->columns());
}

nb::tuple compare_both_ways(const PreparedTexts& texts, const Array<std::int64_t>& i, const Array<std::int64_t>& j) {
    auto [forth, back] =
        without_gil([&] { return texts.group->compare_both_ways(*texts.texts, {copied(i), copied(j)}); });
    return nb::make_tuple(to_numpy(std::move(forth), texts.group->columns()), to_numpy(std::move(back), texts.group->columns()));
}

void make_scorer(HeldScorer* self, const nb::list& listed, const std::vector<std::int64_t>& columns, nb::tuple names,
                 nb::object combination, double lowest, double equal, nb::callable same) {
    nb::tuple groups(listed);
    std::vector<const FeatureGroup*> parts;
    for (nb::handle group : groups) parts.push_back(&nb::cast<const FeatureGroup&>(group));
    auto asks = [same = std::move(same)](std::string_view a, std::string_view b) {
        nb::gil_scoped_acquire acquire;
        return nb::cast<bool>(same(nb::str(a.data(), a.size()), nb::str(b.data(), b.size())));
    };
    const auto* how = nb::cast<const Combination*>(combination);
    Scorer scorer(std::move(parts), columns, how, {lowest, equal, std::move(asks)});
    require(nb::len(names) == scorer.features(), "names and features differ in number");
    new (self) HeldScorer{std::move(groups), std::move(names), std::move(combination), std::move(scorer)};
}

// Streams of references as the core reads them, and what keeps them alive while the GIL is released.
struct Streams {
    using Present = std::vector<std::optional<Array<std::int64_t>>>;

    Streams(const nb::list& references, const TokenBatch& hypothesis, const Present& present)
        : held(references), segments(present.size()) {
        require(held.size() == present.size(), "streams and their indices differ in number");
        std::vector<std::int64_t> everything(hypothesis.texts().views().size());
        std::iota(everything.begin(), everything.end(), 0);
        for (std::size_t s = 0; s < present.size(); ++s) {
            segments[s] = present[s] ? copied(*present[s]) : everything;
            streams.push_back({nb::cast<const TokenBatch&>(held[s]).analysed(), segments[s]});
        }
    }

    nb::tuple held;
    std::vector<std::vector<std::int64_t>> segments;  // those that have a reference in the stream
    std::vector<AnalysedStream> streams;
};

nb::list compare_segments(const FeatureGroup& group, const nb::list& references, const TokenBatch& hypothesis,
                          const Streams::Present& present) {
    const Streams given(references, hypothesis, present);
    const std::size_t columns = group.columns();
    std::vector<Rows> streams;
    without_gil([&] {
        std::vector<double*> next;
        for (const AnalysedStream& stream : given.streams) next.push_back(streams.emplace_back(stream.present.size * columns).data());
        group.compare_segments(given.streams, hypothesis.analysed(), std::vector<bool>(columns, true),
                               [&](std::size_t stream, std::size_t, const double* row) {
                                   next[stream] = std::copy_n(row, columns, next[stream]);
                               });
    });
    nb::list compared;
    for (Rows& rows : streams) compared.append(to_numpy(std::move(rows), columns));
    return compared;
}

nb::list score_streams(const HeldScorer& held, const nb::list& references, const TokenBatch& hypothesis,
                       const Streams::Present& present) {
    const Streams given(references, hypothesis, present);
    nb::list scored;
    for (StreamScores& stream : without_gil([&] { return held.scorer.score(given.streams, hypothesis.analysed()); }))
        scored.append(nb::make_tuple(to_numpy(std::move(stream.scores)),
                                     to_numpy(std::move(stream.features), held.scorer.features())));
    return scored;
}

nb::tuple score_one(const HeldScorer& held, Analyser& analyser, const nb::str& hypothesis, const nb::list& references) {
    const nb::object composed_hypothesis = composed_text(hypothesis, analyser.compose);
    const nb::tuple composed_references = composed(references, analyser.compose);
    TextAnalyser::Texts texts{utf8_of(composed_hypothesis)};
    for (nb::handle reference : composed_references) texts.push_back(utf8_of(reference));
    require(texts.size() > 1, "no reference");
    const StreamScores scored = without_gil([&] {
        const auto analysed = analyser.core.analyse_alone(texts);
        std::vector<AnalysedTexts> sides;
        for (const auto& text : analysed) sides.push_back({text->tokens, text->texts});
        return held.scorer.score_one({sides.begin() + 1, sides.end()}, sides.front());
    });
    nb::dict features;
    for (std::size_t k = 0; k < scored.features.size(); ++k) features[held.names[k]] = scored.features[k];
    return nb::make_tuple(scored.scores.front(), features);
}

nb::object mean_over_references(const nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>& rows) {
    return to_numpy(mean_of_rows(rows.data(), rows.shape(0), rows.shape(1)));
}

}  // namespace

void bind_scoring(nb::module_& m) {
    m.attr("SURFACE_FEATURES") = to_tuple(kSurfaceFeatures);
    m.attr("GUARD_FEATURES") = to_tuple(kGuardFeatures);
    nb::class_<PreparedTexts>(m, "PreparedTexts", "What a group of features needs of the texts of a batch.")
        .def("compare", &compare, "hypothesis"_a, "reference_index"_a, "hypothesis_index"_a,
             "With these texts as references: one row per pair, one column per feature.")
        .def("compare_both_ways", &compare_both_ways, "first"_a, "second"_a,
             "With the first text of each pair as the reference, and with the second.");
    nb::class_<FeatureGroup>(m, "FeatureGroup", "Features of pairs of texts.")
        .def(
            "prepare",
            [](const FeatureGroup& group, const TokenBatch& batch) {
                return new PreparedTexts{&group, without_gil([&] { return group.prepare(batch.analysed()); })};
            },
            "batch"_a, nb::rv_policy::take_ownership, nb::keep_alive<0, 1>())
        .def("compare_segments", &compare_segments, "references"_a, "hypothesis"_a, "present"_a,
             "For each stream of references one row per text that is present, None for all of them.");
    nb::class_<NgramGroup, FeatureGroup>(m, "NgramGroup", "N-grams of words.")
        .def(
            "__init__",
            [](NgramGroup* self, const Lexicon& lexicon, const std::string& form, WordFacts* facts, const BagRecipe& recipe,
               double alpha, const std::vector<std::string>& measures) {
                require(facts || form != "surface", "surface forms need facts");
                new (self) NgramGroup(lexicon, form_named(form), facts, recipe, alpha, measures_named(measures));
            },
            "lexicon"_a, "form"_a, "facts"_a.none(), "recipe"_a, "alpha"_a, "measures"_a, nb::keep_alive<1, 2>(),
            nb::keep_alive<1, 4>());
    nb::class_<CharacterGroup, FeatureGroup>(m, "CharacterGroup", "N-grams of characters.")
        .def(
            "__init__",
            [](CharacterGroup* self, int max_order, double alpha, const std::vector<std::string>& measures) {
                new (self) CharacterGroup(max_order, alpha, measures_named(measures));
            },
            "max_order"_a, "alpha"_a, "measures"_a);
    nb::class_<SlidingGroup, FeatureGroup>(m, "SlidingGroup", "N-grams of characters that grow with the reference.")
        .def(
            "__init__",
            [](SlidingGroup* self, int orders, int growth, std::int64_t shortest, std::int64_t longest, double alpha) {
                require(orders >= 1 && growth >= 0 && orders + growth <= kMaxCharacterOrder && shortest < longest, "no such n-grams");
                new (self) SlidingGroup(orders, growth, shortest, longest, alpha);
            },
            "orders"_a, "growth"_a, "shortest"_a, "longest"_a, "alpha"_a);
    nb::class_<SurfaceGroup, FeatureGroup>(m, "SurfaceGroup", "What two texts show without matching n-grams.")
        .def(nb::init<WordFacts&>(), "facts"_a, nb::keep_alive<1, 2>());
    nb::class_<VectorGroup, FeatureGroup>(m, "VectorGroup", "Words that mean nearly the same.")
        .def(
            "__init__",
            [](VectorGroup* self, WordVectors& vectors, double alpha, const std::vector<std::string>& measures) {
                new (self) VectorGroup(vectors, alpha, measures_named(measures));
            },
            "vectors"_a, "alpha"_a, "measures"_a, nb::keep_alive<1, 2>());
    nb::class_<GuardGroup, FeatureGroup>(m, "GuardGroup", "Evidence against texts that buy a score.")
        .def(nb::init<CriticalWords&>(), "words"_a, nb::keep_alive<1, 2>());

    nb::class_<Combination>(m, "Combination", "From the features of a pair to its score.");
    nb::class_<MeanCombination, Combination>(m, "MeanCombination", "The mean of the features that exist.").def(nb::init<>());
    nb::class_<SignedCombination, Combination>(m, "SignedCombination", "Weights of a sign.")
        .def(nb::init<std::vector<double>, const std::vector<std::int64_t>&, bool>(), "weights"_a, "families"_a, "clipped"_a);
    nb::class_<HeldScorer>(m, "Scorer", "All segments of a batch under one metric.")
        .def("__init__", &make_scorer, "groups"_a, "columns"_a, "names"_a, "combination"_a, "lowest"_a, "equal"_a, "same"_a,
             "`lowest` is the score where one side has no token, `equal` that of equal texts without tokens, which `same` tells.")
        .def("score", &score_streams, "references"_a, "hypothesis"_a, "present"_a,
             "For each stream of references the scores and the features; `present` are the numbers of the texts that are there, "
             "None for all.")
        .def("score_one", &score_one, "analyser"_a, "hypothesis"_a, "references"_a,
             "The score of one text, the mean over its references, and the features by name.");
    m.def("mean_over_references", &mean_over_references, "rows"_a,
          "By column the mean over the rows that have a number there, the same to the last bit for any order of them.");
}

}  // namespace tesla
