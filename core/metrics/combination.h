// From the features of a pair to its score; what a combination means stands in tesla_eval.metrics.combinations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace tesla {

// Scores are the same to the last bit on every machine and in every batch: sums run over the columns in their order.
class Combination {
   public:
    virtual ~Combination() = default;
    virtual double score(const double* row, std::size_t columns) const = 0;
};

// The mean of the features that exist.
class MeanCombination : public Combination {
   public:
    double score(const double* row, std::size_t columns) const override;
};

// Weights of a sign over features, clipped to [0, 1]: a copy of the reference scores exactly 1 (specification §8b). A feature
// that does not exist is the mean of its family, and counts nothing where the whole family does not.
class SignedCombination : public Combination {
   public:
    // `families` has for every feature the number of its family.
    SignedCombination(std::vector<double> weights, const std::vector<std::int64_t>& families, bool clipped);
    std::size_t columns() const { return weights_.size(); }
    double score(const double* row, std::size_t columns) const override;

   private:
    std::vector<double> weights_;
    std::vector<std::vector<std::size_t>> relatives_;  // for every feature the columns of its family
    bool clipped_;
};

// By column the mean of the rows that have a number there, the same to the last bit for any order of them.
std::vector<double> mean_of_rows(const double* rows, std::size_t count, std::size_t columns);

}  // namespace tesla
