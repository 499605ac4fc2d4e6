// BLEU (Papineni et al. 2002) as sacreBLEU 2 computes it: the statistics of segments, and scores of sums of statistics.
//
// A row of statistics holds the lengths of the hypothesis and of its closest reference, the matching n-grams of each order,
// and the n-grams of each order in the hypothesis.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "metrics/baselines/bag_overlap.h"
#include "metrics/baselines/references.h"
#include "metrics/baselines/word_texts.h"

namespace tesla {

constexpr std::size_t bleu_columns(std::size_t max_order) { return 2 + 2 * max_order; }
// The highest order of rows with so many columns. Throws std::invalid_argument if no rows have so many.
std::size_t bleu_order(std::size_t columns);

class BleuCounter {
   public:
    explicit BleuCounter(std::size_t max_order) : max_order_(max_order) {}

    // Writes the row of a segment, which has at least one reference.
    void count(const WordSequence& hypothesis, const std::vector<WordSequence>& references, double* row);

   private:
    std::size_t max_order_;
    NgramOverlap overlap_;
};

// One row per pair.
std::vector<double> count_bleu(const WordTexts& texts, const ArrayView<std::int64_t>& hypotheses, const ReferenceIndex& references,
                               int max_order);

enum class BleuSmoothing { None, Floor, AddK, Exponential };
// By sacreBLEU's names: none, floor, add-k, exp. Throws std::invalid_argument for another one.
BleuSmoothing bleu_smoothing(std::string_view name);

struct BleuFormula {
    std::size_t max_order;
    BleuSmoothing smoothing;
    double smoothing_value;  // of Floor and AddK
    bool effective_order;    // only orders that the hypothesis is long enough for count
    // Python's sum() of floats corrects rounding errors from 3.12 on (Neumaier 1974). sacreBLEU sums logarithms with it.
    bool corrected_sum;

    // Every step is sacreBLEU's, in its order.
    double score(const double* row) const;
};

// One score per row; the rows lie one after the other.
std::vector<double> score_bleu(const BleuFormula& formula, const ArrayView<double>& rows);

}  // namespace tesla
