// All segments of a batch under one metric: the features of all groups side by side, and the score of each pair.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "metrics/combination.h"
#include "metrics/feature_group.h"

namespace tesla {

// The scores and features of the segments against one stream of references; NaN where a segment has no reference there.
struct StreamScores {
    std::vector<double> scores;
    Rows features;
};

// The scores where a text has no tokens (specification §5).
struct EmptyTexts {
    double lowest, equal;
    // Whether two texts without tokens are equal.
    std::function<bool(std::string_view, std::string_view)> same;
};

class Scorer {
   public:
    // `columns`: which columns of the groups, side by side, are the features; none: all of them.
    Scorer(std::vector<const FeatureGroup*> groups, std::vector<std::int64_t> columns, const Combination* combination,
           EmptyTexts empty);

    std::size_t features() const { return features_; }
    std::vector<StreamScores> score(const std::vector<AnalysedStream>& references, const AnalysedTexts& hypothesis) const;
    // One text against its references: the means of the scores and of the features over them.
    StreamScores score_one(const std::vector<AnalysedTexts>& references, const AnalysedTexts& hypothesis) const;

   private:
    // A column of a group that is a feature.
    struct Column {
        std::size_t feature, place;
    };
    double score_of(const double* row, const AnalysedTexts& reference, const AnalysedTexts& hypothesis, std::size_t i) const;

    std::vector<const FeatureGroup*> groups_;
    std::vector<std::vector<Column>> columns_;  // by group
    std::vector<std::vector<bool>> read_;       // by group: which of its columns are features
    std::size_t features_ = 0;
    const Combination* combination_;
    EmptyTexts empty_;
};

}  // namespace tesla
