#include "tuning/line_search.h"

#include <algorithm>
#include <limits>

#include "base/interrupt.h"

namespace tesla {

void model_scores(const CandidateView& view, const double* weights, double* scores) {
    constexpr std::size_t kBlock = 2048;  // candidates whose partial sums stay in the cache
    Interrupt interrupt;
    for (std::size_t begin = 0; begin < view.candidates; begin += kBlock) {
        const std::size_t end = std::min(begin + kBlock, view.candidates);
        interrupt.step(kBlock * view.feature_count);
        std::fill(scores + begin, scores + end, 0.0);
        for (std::size_t f = 0; f < view.feature_count; ++f) {
            const double weight = weights[f];
            if (weight == 0) continue;
            const double* row = view.features + f * view.candidates;
            for (std::size_t c = begin; c < end; ++c) scores[c] += weight * row[c];
        }
    }
}

std::vector<std::int64_t> best_candidates(const CandidateView& view, const double* scores) {
    std::vector<std::int64_t> best(view.segments);
    for (std::size_t s = 0; s < view.segments; ++s) {
        std::int64_t winner = view.offsets[s];
        for (std::int64_t c = winner + 1; c < view.offsets[s + 1]; ++c)
            if (scores[c] > scores[winner]) winner = c;
        best[s] = winner;
    }
    return best;
}

// The lines that are highest somewhere, from the smallest slope to the largest. Of equal lines the first wins.
void LineSearch::upper_envelope(const double* intercepts, const double* slopes, std::int64_t begin, std::int64_t end) {
    std::int64_t left = begin, right = begin, top = begin;
    for (std::int64_t c = begin + 1; c < end; ++c) {
        const double a = intercepts[c], b = slopes[c];
        if (b < slopes[left] || (b == slopes[left] && a > intercepts[left])) left = c;
        if (b > slopes[right] || (b == slopes[right] && a > intercepts[right])) right = c;
        if (a > intercepts[top]) top = c;
    }
    // Lines are points (slope, intercept), the envelope is their upper hull. Most points lie below the two chords
    // between the extreme points, and cannot be on it.
    const double bl = slopes[left], al = intercepts[left], br = slopes[right], ar = intercepts[right];
    const double bt = slopes[top], at = intercepts[top];
    const double left_rise = at - al, left_run = bt - bl, right_rise = ar - at, right_run = br - bt;
    lines_.clear();
    for (std::int64_t c = begin; c < end; ++c) {
        const double a = intercepts[c], b = slopes[c];
        const bool above = b < bt ? (a - al) * left_run > left_rise * (b - bl) : (a - at) * right_run > right_rise * (b - bt);
        if (above || c == left || c == right || c == top) lines_.push_back({b, a, c});
    }
    std::sort(lines_.begin(), lines_.end(), [](const Line& x, const Line& y) {
        if (x.slope != y.slope) return x.slope < y.slope;
        if (x.intercept != y.intercept) return x.intercept > y.intercept;
        return x.candidate < y.candidate;
    });
    envelope_.clear();
    for (const Line& line : lines_) {
        double from = -std::numeric_limits<double>::infinity();
        if (!envelope_.empty() && envelope_.back().line.slope == line.slope) continue;
        while (!envelope_.empty()) {
            const Line& last = envelope_.back().line;
            from = (last.intercept - line.intercept) / (line.slope - last.slope);
            if (from > envelope_.back().from) break;
            envelope_.pop_back();
            from = -std::numeric_limits<double>::infinity();
        }
        envelope_.push_back({line, from});
    }
}

CutLine LineSearch::cut(const CandidateView& view, const double* intercepts, const double* slopes, double low, double high) {
    CutLine cut;
    std::vector<std::int64_t> sums(view.columns, 0);
    changes_.clear();
    Interrupt interrupt;
    for (std::size_t s = 0; s < view.segments; ++s) {
        interrupt.step(10 * static_cast<std::size_t>(view.offsets[s + 1] - view.offsets[s]));
        upper_envelope(intercepts, slopes, view.offsets[s], view.offsets[s + 1]);
        std::size_t first = 0;  // the winner just above `low`
        while (first + 1 < envelope_.size() && envelope_[first + 1].from <= low) ++first;
        const std::int64_t* row = view.statistics + static_cast<std::size_t>(envelope_[first].line.candidate) * view.columns;
        for (std::size_t k = 0; k < view.columns; ++k) sums[k] += row[k];
        for (std::size_t p = first + 1; p < envelope_.size() && envelope_[p].from < high; ++p)
            changes_.push_back({envelope_[p].from, envelope_[p - 1].line.candidate, envelope_[p].line.candidate});
    }
    std::sort(changes_.begin(), changes_.end(), [](const Change& x, const Change& y) { return x.at < y.at; });
    cut.bounds.reserve(changes_.size());
    cut.sums.reserve((changes_.size() + 1) * view.columns);
    cut.sums.insert(cut.sums.end(), sums.begin(), sums.end());
    for (std::size_t i = 0; i < changes_.size();) {
        const double at = changes_[i].at;
        for (; i < changes_.size() && changes_[i].at == at; ++i) {
            const std::int64_t* out = view.statistics + static_cast<std::size_t>(changes_[i].before) * view.columns;
            const std::int64_t* in = view.statistics + static_cast<std::size_t>(changes_[i].after) * view.columns;
            for (std::size_t k = 0; k < view.columns; ++k) sums[k] += in[k] - out[k];
        }
        cut.bounds.push_back(at);
        cut.sums.insert(cut.sums.end(), sums.begin(), sums.end());
    }
    return cut;
}

}  // namespace tesla
