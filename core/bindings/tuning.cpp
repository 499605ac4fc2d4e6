#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "base/checks.h"
#include "bindings/arrays.h"
#include "bindings/bindings.h"
#include "tuning/line_search.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tesla {
namespace {

template <class T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// The candidates of all segments. Python owns their features and statistics, and this object keeps them alive; their places are
// a copy, so that whatever Python does to the arrays nothing outside them is read.
class CandidateTable {
   public:
    CandidateTable(const Array<std::int64_t>& offsets, Matrix<double> features, Matrix<std::int64_t> statistics)
        : offsets_(copied(offsets)), features_(features), statistics_(statistics) {
        check_csr(offsets_, features.shape(1));
        require(statistics.shape(0) == features.shape(1), "the arrays do not fit together");
        for (std::size_t s = 0; s + 1 < offsets_.size(); ++s)
            require(offsets_[s] != offsets_[s + 1], "a segment has no candidates");
        // So that the sums of all segments, and their differences, are numbers.
        const std::int64_t most = std::numeric_limits<std::int64_t>::max() / (4 * static_cast<std::int64_t>(offsets_.size()));
        for (std::size_t i = 0; i < statistics.size(); ++i)
            require(statistics.data()[i] <= most && statistics.data()[i] >= -most, "a statistic is too large");
        view_ = {offsets_.data(), offsets_.size() - 1, features.data(), features.shape(0), features.shape(1),
                 statistics.data(), statistics.shape(1)};
    }

    nb::object scores(const Array<double>& weights) const {
        check_weights(weights);
        return to_numpy(without_gil([&] { return scores_of(weights); }));
    }
    nb::object best(const Array<double>& weights) const {
        check_weights(weights);
        return to_numpy(without_gil([&] { return best_candidates(view_, scores_of(weights).data()); }));
    }
    nb::tuple cut(const Array<double>& intercepts, const Array<double>& direction, double low, double high) const {
        check_weights(direction);
        require(intercepts.size() == view_.candidates, "the arrays do not fit together");
        require(low < high, "an empty part of the line");
        CutLine cut = without_gil(
            [&] { return LineSearch().cut(view_, intercepts.data(), scores_of(direction).data(), low, high); });
        return nb::make_tuple(to_numpy(std::move(cut.bounds)), to_numpy(std::move(cut.sums), view_.columns));
    }

   private:
    std::vector<double> scores_of(const Array<double>& weights) const {
        std::vector<double> scores(view_.candidates);
        model_scores(view_, weights.data(), scores.data());
        return scores;
    }
    void check_weights(const Array<double>& weights) const {
        require(weights.size() == view_.feature_count, "one weight per feature");
        for (std::size_t f = 0; f < weights.size(); ++f)
            require(std::isfinite(weights(f)), "a weight is not a number");
    }

    std::vector<std::int64_t> offsets_;
    Matrix<double> features_;
    Matrix<std::int64_t> statistics_;
    CandidateView view_{};
};

}  // namespace

void bind_tuning(nb::module_& m) {
    nb::class_<CandidateTable>(m, "CandidateTable", "The candidates of all segments: features by row, statistics by column.")
        .def(nb::init<const Array<std::int64_t>&, Matrix<double>, Matrix<std::int64_t>>(), "offsets"_a, "features"_a, "statistics"_a)
        .def("scores", &CandidateTable::scores, "weights"_a, "The model score of every candidate.")
        .def("best", &CandidateTable::best, "weights"_a, "The best candidate of every segment; of equals the first.")
        .def("cut", &CandidateTable::cut, "intercepts"_a, "direction"_a, "low"_a, "high"_a,
             "Where along a line the winners change, and the summed statistics of the winners in each interval.");
}

}  // namespace tesla
