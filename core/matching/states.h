// Pieces of words in their context (specification §8c): similarity of two pieces by the states that an encoder gave them,
// and what two texts share.
//
// States are rows of 8-bit numbers, of which only the directions count. The cosine of two rows is rounded down to
// 65,536ths; square root and division are correctly rounded everywhere, and all sums are those of whole numbers. So the
// same states give the same features on every machine.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/interrupt.h"
#include "encoder/model.h"
#include "matching/settled_transport.h"

namespace tesla {

inline constexpr std::size_t kMostPieces = std::size_t{1} << 14;  // of one text: time grows with the square
inline constexpr std::size_t kMostPieceKinds = 64;
inline constexpr std::uint32_t kLargestPieceWeight = 1 << 16;

// The rows of all texts of a batch, widened so that products need no more than a multiplication.
class StateRows {
   public:
    StateRows(const std::int8_t* states, std::size_t rows, std::size_t dimensions);
    const std::int16_t* row(std::size_t i) const { return values_.data() + i * width_; }
    const double* squares() const { return squares_.data(); }  // of the lengths, whole numbers
    std::size_t width() const { return width_; }

   private:
    std::size_t width_;  // the dimensions rounded up to whole lanes
    std::vector<std::int16_t> values_;
    std::vector<double> squares_;
};

// A side of a comparison: the rows of one text, and the kind of each piece.
struct StateSide {
    const StateRows* rows;
    const std::uint8_t* kinds;
    std::size_t first, size;
};

// The problems that StateMatcher solves, in order.
enum StateProblem : std::size_t { kBest, kEven, kPair, kFlow, kStateProblems };
inline constexpr const char* kStateProblemNames[kStateProblems] = {"ctx.best", "ctx.even", "ctx.pair", "ctx.flow"};
inline constexpr std::size_t kGainsByKind = 8;  // numbers per kind of piece

// Shares of the weight of either side that have a counterpart; NaN where the problem does not exist.
struct SharedStates {
    double precision, recall;
};

// A piece of the reference that the flow joins with one of the hypothesis; every piece has the weight 1.
struct StateFlowEntry {
    std::uint32_t reference, hypothesis;
    std::int32_t similarity;  // in 65,536ths
    std::int32_t gain;        // in 16ths
};

// One object serves one thread and keeps its memory.
class StateMatcher {
   public:
    using Problems = std::array<SharedStates, kStateProblems>;

    // `weights`: of a piece of each kind, for kBest and kPair. `threshold`: similarities up to it, in 65,536ths, are worth nothing
    // to a flow.
    StateMatcher(std::vector<std::uint32_t> weights, std::int32_t threshold)
        : weights_(std::move(weights)), threshold_(threshold) {}

    Problems match(const StateSide& x, const StateSide& y);
    std::vector<StateFlowEntry> flow(const StateSide& x, const StateSide& y);
    // For every kind: pieces and the sum of their best similarities in x, then in y; then the same for pairs of neighbours,
    // where each piece of a pair counts.
    void gains_by_kind(const StateSide& x, const StateSide& y, std::size_t kinds, double* gains);

   private:
    struct Link {
        std::uint32_t x, y;
        std::int32_t similarity;
    };
    void compare(const StateSide& x, const StateSide& y, bool links);
    std::int64_t solve_flow(const StateSide& x, const StateSide& y);
    std::int64_t weight_of(const StateSide& side, std::size_t i) const { return weights_[side.kinds[side.first + i]]; }
    std::int64_t pair_weight(const StateSide& side, std::size_t i) const { return weight_of(side, i) + weight_of(side, i + 1); }
    std::int32_t gain(std::int32_t similarity) const;

    std::vector<std::uint32_t> weights_;
    std::int32_t threshold_;
    std::vector<std::int32_t> products_, similarities_, previous_, best_x_, best_y_;
    std::vector<std::int32_t> best_pair_x_, best_pair_y_;  // sums of two similarities
    std::vector<Link> links_;
    SettledTransport transport_;
    Interrupt interrupt_;
};

// max(0, cosine) of two mean states, in [0, 1].
double mean_cosine(const std::int16_t* x, const std::int16_t* y, std::size_t dimensions);

}  // namespace tesla
