#include "metrics/baselines/bleu.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "base/interrupt.h"

namespace tesla {
namespace {

constexpr int kHighestOrder = 32;

// The length of the reference that comes closest, of two that come equally close the shorter one.
std::size_t closest_length(std::size_t length, const std::vector<WordSequence>& references) {
    const auto difference = [length](std::size_t other) { return length > other ? length - other : other - length; };
    std::size_t closest = references.front().size;
    for (const WordSequence& reference : references) {
        const std::pair candidate{difference(reference.size), reference.size};
        if (candidate < std::pair{difference(closest), closest}) closest = reference.size;
    }
    return closest;
}

double log_precision(double precision) { return precision == 0.0 ? -9999999999.0 : std::log(precision); }

class FloatSum {
   public:
    explicit FloatSum(bool corrected) : corrected_(corrected) {}
    void add(double term) {
        const double sum = sum_ + term;
        if (corrected_) correction_ += std::fabs(sum_) >= std::fabs(term) ? (sum_ - sum) + term : (term - sum) + sum_;
        sum_ = sum;
    }
    double value() const { return sum_ + correction_; }

   private:
    bool corrected_;
    double sum_ = 0.0, correction_ = 0.0;
};

}  // namespace

std::size_t bleu_order(std::size_t columns) {
    require(columns >= bleu_columns(1) && columns % 2 == 0, "BLEU's statistics have another shape");
    return (columns - 2) / 2;
}

void BleuCounter::count(const WordSequence& hypothesis, const std::vector<WordSequence>& references, double* row) {
    row[0] = static_cast<double>(hypothesis.size);
    row[1] = static_cast<double>(closest_length(hypothesis.size, references));
    double* const matches = row + 2;
    double* const totals = matches + max_order_;
    overlap_.count(hypothesis, references, max_order_, matches);
    for (std::size_t n = 1; n <= max_order_; ++n)
        totals[n - 1] = static_cast<double>(hypothesis.size >= n ? hypothesis.size - n + 1 : 0);
}

std::vector<double> count_bleu(const WordTexts& texts, const ArrayView<std::int64_t>& hypotheses, const ReferenceIndex& references,
                               int max_order) {
    require(max_order >= 1 && max_order <= kHighestOrder, "n-grams have 1 to 32 words");
    references.check(hypotheses, texts.size());
    const auto orders = static_cast<std::size_t>(max_order), columns = bleu_columns(orders);
    std::vector<double> rows(hypotheses.size * columns);
    Interrupt interrupt;
    BleuCounter counter(orders);
    std::vector<WordSequence> given;
    for (std::size_t pair = 0; pair < hypotheses.size; ++pair) {
        given.clear();
        references.for_each(pair, [&](std::size_t text) { given.push_back(texts[text]); });
        const WordSequence hypothesis = texts[static_cast<std::size_t>(hypotheses[pair])];
        counter.count(hypothesis, given, rows.data() + pair * columns);
        interrupt.step(100 * hypothesis.size * (given.size() + 1));
    }
    return rows;
}

BleuSmoothing bleu_smoothing(std::string_view name) {
    if (name == "none") return BleuSmoothing::None;
    if (name == "floor") return BleuSmoothing::Floor;
    if (name == "add-k") return BleuSmoothing::AddK;
    if (name == "exp") return BleuSmoothing::Exponential;
    throw std::invalid_argument("the core has no such smoothing");
}

double BleuFormula::score(const double* row) const {
    const double system_length = row[0], reference_length = row[1];
    const double *const matches = row + 2, *const totals = matches + max_order;
    if (std::none_of(matches, totals, [](double count) { return count > 0; })) return 0.0;
    double brevity_penalty = 1.0;
    if (system_length < reference_length)
        brevity_penalty = system_length > 0 ? std::exp(1 - reference_length / system_length) : 0.0;
    double halving = 1.0;
    FloatSum logs(corrected_sum);
    std::size_t counted = 0;  // orders that have n-grams
    for (std::size_t n = 1; n <= max_order; ++n) {
        const double added = smoothing == BleuSmoothing::AddK && n > 1 ? smoothing_value : 0.0;
        const double correct = matches[n - 1] + added, total = totals[n - 1] + added;
        if (total == 0) break;
        counted = n;
        double precision = 0.0;
        if (correct != 0) {
            precision = 100.0 * correct / total;
        } else if (smoothing == BleuSmoothing::Exponential) {
            halving *= 2;
            precision = 100.0 / (halving * total);
        } else if (smoothing == BleuSmoothing::Floor) {
            precision = 100.0 * smoothing_value / total;
        }
        logs.add(log_precision(precision));
    }
    const std::size_t orders = effective_order && counted > 0 ? counted : max_order;
    for (std::size_t n = counted; n < orders; ++n) logs.add(log_precision(0.0));
    return brevity_penalty * std::exp(logs.value() / static_cast<double>(orders));
}

std::vector<double> score_bleu(const BleuFormula& formula, const ArrayView<double>& rows) {
    const std::size_t columns = bleu_columns(formula.max_order);
    std::vector<double> scores(rows.size / columns);
    for (std::size_t i = 0; i < scores.size(); ++i) scores[i] = formula.score(rows.data + i * columns);
    return scores;
}

}  // namespace tesla
