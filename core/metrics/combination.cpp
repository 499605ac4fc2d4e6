#include "metrics/combination.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/checks.h"
#include "base/share.h"

namespace tesla {

double MeanCombination::score(const double* row, std::size_t columns) const {
    double sum = 0;
    std::size_t count = 0;
    for (std::size_t k = 0; k < columns; ++k) {
        if (std::isnan(row[k])) continue;
        sum += row[k];
        ++count;
    }
    return count ? sum / static_cast<double>(count) : kNoValue;
}

SignedCombination::SignedCombination(std::vector<double> weights, const std::vector<std::int64_t>& families, bool clipped)
    : weights_(std::move(weights)), relatives_(weights_.size()), clipped_(clipped) {
    require(families.size() == weights_.size(), "weights and families differ in length");
    for (std::size_t k = 0; k < weights_.size(); ++k)
        for (std::size_t other = 0; other < weights_.size(); ++other)
            if (families[other] == families[k]) relatives_[k].push_back(other);
}

double SignedCombination::score(const double* row, std::size_t columns) const {
    require(columns == weights_.size(), "another number of features");
    double sum = 0, possible = 0;  // the weight of all agreement that could be, summed as the products are
    for (std::size_t k = 0; k < columns; ++k) {
        double value = row[k];
        if (std::isnan(value)) {
            double relatives = 0;
            std::size_t count = 0;
            for (std::size_t other : relatives_[k]) {
                if (std::isnan(row[other])) continue;
                relatives += row[other];
                ++count;
            }
            if (count == 0) continue;
            value = relatives / static_cast<double>(count);
        }
        sum += weights_[k] * value;
        possible += std::max(weights_[k], 0.0);
    }
    const double score = sum / (possible > 0 ? possible : 1.0);
    return clipped_ ? std::clamp(score, 0.0, 1.0) : score;
}

std::vector<double> mean_of_rows(const double* rows, std::size_t count, std::size_t columns) {
    std::vector<double> means(columns, kNoValue), ordered;
    for (std::size_t k = 0; k < columns; ++k) {
        ordered.clear();
        for (std::size_t row = 0; row < count; ++row)
            if (const double value = rows[row * columns + k]; !std::isnan(value)) ordered.push_back(value);
        if (ordered.empty()) continue;
        std::sort(ordered.begin(), ordered.end());
        means[k] = std::accumulate(ordered.begin(), ordered.end(), 0.0) / static_cast<double>(ordered.size());
    }
    return means;
}

}  // namespace tesla
