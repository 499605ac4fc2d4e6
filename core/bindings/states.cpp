#include <nanobind/nanobind.h>

#include <limits>
#include <vector>

#include "base/checks.h"
#include "base/pairs.h"
#include "bindings/arrays.h"
#include "bindings/bindings.h"
#include "matching/bags.h"
#include "matching/states.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tesla {
namespace {

// The texts of a batch with the states of their pieces; made once, compared as often as one likes.
class StateTexts {
   public:
    StateTexts(const Array<std::int64_t>& offsets, const Array<std::uint8_t>& kinds, const Array<std::int8_t>& states,
               const Array<std::int16_t>& means, std::size_t dimensions)
        : offsets_(copied(offsets)),
          kinds_(copied(kinds)),
          means_(copied(means)),
          dimensions_(dimensions),
          rows_(states.data(), checked_rows(offsets, kinds, states, means, dimensions), dimensions) {}
    std::size_t size() const { return offsets_.size() - 1; }

    // Precision and recall of every problem, and the cosine of the means: one row per pair.
    static nb::tuple match(const StateTexts& reference, const StateTexts& hypothesis,
                           const Array<std::int64_t>& reference_index, const Array<std::int64_t>& hypothesis_index,
                           const Array<std::uint32_t>& weights, double threshold) {
        check_together(reference, hypothesis);
        TextPairs{view_of(reference_index), view_of(hypothesis_index)}.check(reference.size(), hypothesis.size());
        StateMatcher matcher = matcher_for(reference, hypothesis, weights, threshold);
        const std::size_t pairs = reference_index.size();
        std::vector<double> precision(pairs * kStateProblems), recall(precision), cosine(pairs);
        {
            nb::gil_scoped_release release;
            for (std::size_t k = 0, at = 0; k < pairs; ++k) {
                const auto i = static_cast<std::size_t>(reference_index(k)), j = static_cast<std::size_t>(hypothesis_index(k));
                for (const SharedStates& shared : matcher.match(reference.side(i), hypothesis.side(j))) {
                    precision[at] = shared.precision;
                    recall[at++] = shared.recall;
                }
                const bool exists = reference.side(i).size > 0 || hypothesis.side(j).size > 0;
                cosine[k] = exists ? mean_cosine(reference.mean(i), hypothesis.mean(j), reference.dimensions_)
                                   : std::numeric_limits<double>::quiet_NaN();
            }
        }
        return nb::make_tuple(to_numpy(std::move(precision), kStateProblems),
                              to_numpy(std::move(recall), kStateProblems), to_numpy(std::move(cosine)));
    }

    static nb::object gains_by_kind(const StateTexts& reference, const StateTexts& hypothesis,
                                    const Array<std::int64_t>& reference_index,
                                    const Array<std::int64_t>& hypothesis_index, std::size_t kinds) {
        check_together(reference, hypothesis);
        TextPairs{view_of(reference_index), view_of(hypothesis_index)}.check(reference.size(), hypothesis.size());
        for (const StateTexts* side : {&reference, &hypothesis}) side->check_kinds(kinds);
        const std::size_t pairs = reference_index.size();
        std::vector<double> gains(pairs * kGainsByKind * kinds);
        {
            nb::gil_scoped_release release;
            StateMatcher matcher({}, 0);
            for (std::size_t k = 0; k < pairs; ++k)
                matcher.gains_by_kind(reference.side(static_cast<std::size_t>(reference_index(k))),
                                      hypothesis.side(static_cast<std::size_t>(hypothesis_index(k))), kinds,
                                      gains.data() + k * kGainsByKind * kinds);
        }
        return to_numpy(std::move(gains), kGainsByKind * kinds);
    }

    // One pair of texts (both batches hold one): who sends how much to whom.
    static nb::object explain(const StateTexts& reference, const StateTexts& hypothesis, double threshold) {
        check_together(reference, hypothesis);
        require(reference.size() == 1 && hypothesis.size() == 1, "one text on either side");
        StateMatcher matcher({}, checked_threshold(threshold));
        std::vector<std::int64_t> entries;
        {
            nb::gil_scoped_release release;
            for (const StateFlowEntry& e : matcher.flow(reference.side(0), hypothesis.side(0)))
                entries.insert(entries.end(), {e.reference, e.hypothesis, e.similarity, e.gain});
        }
        return to_numpy(std::move(entries), 4);
    }

   private:
    static std::size_t checked_rows(const Array<std::int64_t>& offsets, const Array<std::uint8_t>& kinds,
                                    const Array<std::int8_t>& states, const Array<std::int16_t>& means,
                                    std::size_t dimensions) {
        check_csr(view_of(offsets), kinds.size());
        require(dimensions != 0 && dimensions <= kMostStateDimensions, "the states have an invalid number of dimensions");
        check_columns(kinds.size() * dimensions, {states.size()});
        check_columns((offsets.size() - 1) * dimensions, {means.size()});
        for (std::size_t i = 0; i + 1 < offsets.size(); ++i)
            if (static_cast<std::size_t>(offsets(i + 1) - offsets(i)) > kMostPieces)
                throw TextTooLong("a text has more than 16,384 pieces of words: split it into segments");
        for (std::size_t i = 0; i < means.size(); ++i)
            require(means(i) <= kLargestMean && means(i) >= -kLargestMean, "a mean is too large");
        return kinds.size();
    }
    static void check_together(const StateTexts& reference, const StateTexts& hypothesis) {
        require(reference.dimensions_ == hypothesis.dimensions_, "the states do not belong together");
    }
    void check_kinds(std::size_t count) const {
        require(count != 0 && count <= kMostPieceKinds, "too many kinds of pieces, or none");
        for (std::uint8_t kind : kinds_)
            require_in_range(kind < count, "no such kind of piece");
    }
    static StateMatcher matcher_for(const StateTexts& reference, const StateTexts& hypothesis,
                                    const Array<std::uint32_t>& weights, double threshold) {
        for (const StateTexts* side : {&reference, &hypothesis}) side->check_kinds(weights.size());
        for (std::size_t i = 0; i < weights.size(); ++i)
            require(weights(i) != 0 && weights(i) <= kLargestPieceWeight, "a weight is 0 or too large");
        return {copied(weights), checked_threshold(threshold)};
    }
    static std::int32_t checked_threshold(double threshold) {
        require(threshold >= 0 && threshold < 1, "a threshold lies from 0 to below 1");
        return static_cast<std::int32_t>(threshold * 65536);
    }
    StateSide side(std::size_t i) const {
        const auto first = static_cast<std::size_t>(offsets_[i]);
        return {&rows_, kinds_.data(), first, static_cast<std::size_t>(offsets_[i + 1]) - first};
    }
    const std::int16_t* mean(std::size_t i) const { return means_.data() + i * dimensions_; }

    std::vector<std::int64_t> offsets_;
    std::vector<std::uint8_t> kinds_;
    std::vector<std::int16_t> means_;
    std::size_t dimensions_;
    StateRows rows_;
};

}  // namespace

void bind_states(nb::module_& m) {
    m.attr("STATE_PROBLEMS") = to_tuple(kStateProblemNames);
    m.attr("LARGEST_MEAN") = kLargestMean;
    m.attr("MOST_PIECES") = kMostPieces;
    nb::class_<StateTexts>(m, "StateTexts", "The texts of a batch with the states of their pieces of words.")
        .def(nb::init<const Array<std::int64_t>&, const Array<std::uint8_t>&, const Array<std::int8_t>&,
                      const Array<std::int16_t>&, std::size_t>(),
             "offsets"_a, "kinds"_a, "states"_a, "means"_a, "dimensions"_a)
        .def("__len__", &StateTexts::size);
    m.def("match_states", &StateTexts::match, "reference"_a, "hypothesis"_a, "reference_index"_a, "hypothesis_index"_a,
          "weights"_a, "threshold"_a,
          "Precision and recall, one row per pair, the columns are STATE_PROBLEMS; then the cosines of the means.");
    m.def("state_gains_by_kind", &StateTexts::gains_by_kind, "reference"_a, "hypothesis"_a, "reference_index"_a,
          "hypothesis_index"_a, "kinds"_a,
          "For every pair and kind of piece: pieces and their best similarities in the reference, then in the hypothesis; "
          "then the same for pairs of neighbouring pieces.");
    m.def("explain_states", &StateTexts::explain, "reference"_a, "hypothesis"_a, "threshold"_a,
          "The flow between pieces: reference, hypothesis, similarity in 65,536ths, gain in 16ths.");
}

}  // namespace tesla
