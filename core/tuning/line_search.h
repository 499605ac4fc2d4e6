// core/tuning: the inner loop of MERT (specification §15).
//
// Och's exact line search: along a line in the space of weights, which candidate of each segment wins where.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tesla {

// The candidates of all segments. Features lie one row per feature, statistics one row per candidate.
struct CandidateView {
    const std::int64_t* offsets;     // segments + 1
    std::size_t segments;
    const double* features;          // feature_count × candidates
    std::size_t feature_count, candidates;
    const std::int64_t* statistics;  // candidates × columns
    std::size_t columns;
};

// The sum over features of weight * feature, always added in the order of the features: every machine rounds alike.
void model_scores(const CandidateView& view, const double* weights, double* scores);

// For each segment the candidate with the highest score; of equals the first.
std::vector<std::int64_t> best_candidates(const CandidateView& view, const double* scores);

// The line cut at every point where the winner of some segment changes.
struct CutLine {
    std::vector<double> bounds;        // ascending, within (low, high)
    std::vector<std::int64_t> sums;    // (bounds + 1) × columns: statistics of the winners in each interval
};

// Candidate c scores intercepts[c] + t * slopes[c] at point t of the line.
class LineSearch {
   public:
    CutLine cut(const CandidateView& view, const double* intercepts, const double* slopes, double low, double high);

   private:
    struct Line {
        double slope, intercept;
        std::int64_t candidate;
    };
    struct Piece {
        Line line;
        double from;  // where the line takes over from the piece before
    };
    struct Change {
        double at;
        std::int64_t before, after;  // candidates
    };
    void upper_envelope(const double* intercepts, const double* slopes, std::int64_t begin, std::int64_t end);

    std::vector<Line> lines_;
    std::vector<Piece> envelope_;
    std::vector<Change> changes_;
};

}  // namespace tesla
