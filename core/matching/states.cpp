#include "matching/states.h"

#include <algorithm>
#include <cmath>

#include "base/rounding.h"
#include "base/share.h"
#include "simd/kernels.h"

namespace tesla {
namespace {

constexpr std::int32_t kUnit = kStateUnit;
constexpr std::size_t kMostPiecePairs = std::size_t{1} << 22;  // pairs of pieces; longer texts have no flow
constexpr std::size_t kLaneNumbers = 16;

// Of `gains_by_kind`: how many there are; the column behind it has the sum of their gains.
enum GainColumn : std::size_t { kPiecesOfX = 0, kPiecesOfY = 2, kNeighboursOfX = 4, kNeighboursOfY = 6 };
static_assert(kNeighboursOfY + 2 == kGainsByKind);

double ratio(std::int64_t part, std::int64_t whole, std::int64_t unit) {
    return whole == 0 ? 0.0 : static_cast<double>(part) / (static_cast<double>(whole) * static_cast<double>(unit));
}

}  // namespace

StateRows::StateRows(const std::int8_t* states, std::size_t rows, std::size_t dimensions)
    : width_(rounded_up(dimensions, kLaneNumbers)), values_(rows * width_), squares_(rows) {
    for (std::size_t i = 0; i < rows; ++i) {
        std::copy_n(states + i * dimensions, dimensions, values_.begin() + static_cast<std::ptrdiff_t>(i * width_));
        std::int32_t square = 0;
        chosen_kernels().multiply(row(i), row(i), 1, width_, &square);
        squares_[i] = square;
    }
}

std::int32_t StateMatcher::gain(std::int32_t similarity) const {
    if (similarity <= threshold_) return 0;
    return static_cast<std::int32_t>(std::int64_t{kGainUnit} * (similarity - threshold_) / (kUnit - threshold_));
}

void StateMatcher::compare(const StateSide& x, const StateSide& y, bool links) {
    products_.resize(y.size);
    similarities_.resize(y.size);
    previous_.resize(y.size);
    best_x_.assign(x.size, 0);
    best_y_.assign(y.size, 0);
    best_pair_x_.assign(x.size > 0 ? x.size - 1 : 0, 0);
    best_pair_y_.assign(y.size > 0 ? y.size - 1 : 0, 0);
    links_.clear();
    // The least similarity that is worth something to a flow.
    const std::int32_t least = threshold_ + (kUnit - threshold_ + kGainUnit - 1) / kGainUnit;
    const Kernels& kernels = chosen_kernels();
    for (std::uint32_t a = 0; a < x.size; ++a) {
        kernels.multiply(x.rows->row(x.first + a), y.rows->row(y.first), y.size, y.rows->width(), products_.data());
        best_x_[a] = kernels.finish_cosines(products_.data(), x.rows->squares()[x.first + a], y.rows->squares() + y.first,
                                            y.size, similarities_.data(), best_y_.data());
        if (links && best_x_[a] >= least)
            for (std::uint32_t b = 0; b < y.size; ++b)
                if (similarities_[b] >= least) links_.push_back({a, b, similarities_[b]});
        if (a > 0)
            best_pair_x_[a - 1] = kernels.join_neighbours(previous_.data(), similarities_.data(), best_pair_y_.size(),
                                                          best_pair_y_.data());
        previous_.swap(similarities_);
        interrupt_.look();
    }
}

std::int64_t StateMatcher::solve_flow(const StateSide& x, const StateSide& y) {
    transport_.supply.assign(x.size, 1);
    transport_.demand.assign(y.size, 1);
    transport_.arcs.clear();
    for (const Link& link : links_) transport_.add_arc(link.x, link.y, gain(link.similarity));
    return transport_.solve();
}

StateMatcher::Problems StateMatcher::match(const StateSide& x, const StateSide& y) {
    Problems problems;
    problems.fill({kNoValue, kNoValue});
    if (x.size == 0 && y.size == 0) return problems;
    const bool has_flow = x.size * y.size <= kMostPiecePairs;
    compare(x, y, has_flow);
    std::int64_t best_x = 0, best_y = 0, even_x = 0, even_y = 0, total_x = 0, total_y = 0;
    for (std::size_t a = 0; a < x.size; ++a) {
        best_x += weight_of(x, a) * best_x_[a];
        even_x += best_x_[a];
        total_x += weight_of(x, a);
    }
    for (std::size_t b = 0; b < y.size; ++b) {
        best_y += weight_of(y, b) * best_y_[b];
        even_y += best_y_[b];
        total_y += weight_of(y, b);
    }
    problems[kBest] = {ratio(best_y, total_y, kUnit), ratio(best_x, total_x, kUnit)};
    problems[kEven] = {ratio(even_y, static_cast<std::int64_t>(y.size), kUnit),
                    ratio(even_x, static_cast<std::int64_t>(x.size), kUnit)};
    if (x.size > 1 && y.size > 1) {
        std::int64_t pair_x = 0, pair_y = 0, pairs_x = 0, pairs_y = 0;
        for (std::size_t a = 0; a + 1 < x.size; ++a) {
            pair_x += pair_weight(x, a) * best_pair_x_[a];
            pairs_x += pair_weight(x, a);
        }
        for (std::size_t b = 0; b + 1 < y.size; ++b) {
            pair_y += pair_weight(y, b) * best_pair_y_[b];
            pairs_y += pair_weight(y, b);
        }
        problems[kPair] = {ratio(pair_y, pairs_y, 2 * kUnit), ratio(pair_x, pairs_x, 2 * kUnit)};
    }
    if (has_flow) {
        const std::int64_t flow = solve_flow(x, y);
        problems[kFlow] = {ratio(flow, static_cast<std::int64_t>(y.size), kGainUnit),
                        ratio(flow, static_cast<std::int64_t>(x.size), kGainUnit)};
    }
    return problems;
}

std::vector<StateFlowEntry> StateMatcher::flow(const StateSide& x, const StateSide& y) {
    std::vector<StateFlowEntry> entries;
    if (x.size * y.size > kMostPiecePairs) return entries;
    compare(x, y, true);
    solve_flow(x, y);
    for (std::size_t k = 0; k < transport_.arcs.size(); ++k)
        if (transport_.flow[k] > 0)
            entries.push_back({links_[k].x, links_[k].y, links_[k].similarity, transport_.arcs[k].gain});
    return entries;
}

void StateMatcher::gains_by_kind(const StateSide& x, const StateSide& y, std::size_t kinds, double* gains) {
    compare(x, y, false);
    std::fill_n(gains, kGainsByKind * kinds, 0.0);
    const auto add = [&](GainColumn column, const StateSide& side, std::size_t i, double gain) {
        gains[column * kinds + side.kinds[side.first + i]] += 1;
        gains[(column + 1) * kinds + side.kinds[side.first + i]] += gain;
    };
    // Gains have 17 bits behind the point: sums are exact.
    for (std::size_t a = 0; a < x.size; ++a) add(kPiecesOfX, x, a, static_cast<double>(best_x_[a]) / kUnit);
    for (std::size_t b = 0; b < y.size; ++b) add(kPiecesOfY, y, b, static_cast<double>(best_y_[b]) / kUnit);
    if (x.size < 2 || y.size < 2) return;
    for (std::size_t a = 0; a + 1 < x.size; ++a)
        for (const std::size_t i : {a, a + 1}) add(kNeighboursOfX, x, i, static_cast<double>(best_pair_x_[a]) / (2 * kUnit));
    for (std::size_t b = 0; b + 1 < y.size; ++b)
        for (const std::size_t i : {b, b + 1}) add(kNeighboursOfY, y, i, static_cast<double>(best_pair_y_[b]) / (2 * kUnit));
}

double mean_cosine(const std::int16_t* x, const std::int16_t* y, std::size_t dimensions) {
    std::int64_t product = 0, square_x = 0, square_y = 0;
    for (std::size_t d = 0; d < dimensions; ++d) {
        product += std::int32_t{x[d]} * y[d];
        square_x += std::int32_t{x[d]} * x[d];
        square_y += std::int32_t{y[d]} * y[d];
    }
    if (product <= 0) return 0.0;
    // Squares stay below 2^31, so that their product may be rounded, but the root of a square is exact again.
    const double cosine = static_cast<double>(product) / std::sqrt(static_cast<double>(square_x) * static_cast<double>(square_y));
    return std::min(cosine, 1.0);
}

}  // namespace tesla
