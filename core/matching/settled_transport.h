// Exact transport in two steps, for small problems with many gains: first the arcs that an exchange argument settles,
// then Transport for what remains.
//
// An arc from x to y may carry all it can if it gains at least as much as every other arc of x and of y, and if for
// every other buyer y' of x and seller x' to y: gain(x, y) + gain(x', y') >= gain(x, y') + gain(x', y). For take an
// optimum in which the arc carries the most it can: if x and y had anything left or traded with others, exchanging
// partners would lose nothing and fill the arc further. What remains is a smaller problem of the same kind. Whichever of
// such arcs are settled, the result is exact: there is a limit to how many exchanges are looked at.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/rounding.h"
#include "matching/transport.h"

namespace tesla {

inline constexpr std::int32_t kGainUnit = 16;  // similarities are rescaled to 16ths for a flow

class SettledTransport {
   public:
    template <class Weights>
    void reset(const Weights& of_suppliers, const Weights& of_consumers) {
        supply.assign(of_suppliers.begin(), of_suppliers.end());
        demand.assign(of_consumers.begin(), of_consumers.end());
        arcs.clear();
    }
    // Arcs come in ascending order of x; gains are at most kLargestGain.
    static constexpr std::int32_t kLargestGain = 2 * kGainUnit;
    void add_arc(std::uint32_t x, std::uint32_t y, std::int32_t gain) { arcs.push_back({x, y, gain}); }

    // Solves; afterwards `flow[k]` is what arc k carries. Returns the sum of gain * flow.
    std::int64_t solve() {
        flow.assign(arcs.size(), 0);
        if (arcs.empty()) return 0;
        const bool small = supply.size() * demand.size() <= kMostCells;
        if (!small || !settle()) solve_rest();
        std::int64_t objective = 0;
        for (std::size_t k = 0; k < arcs.size(); ++k) objective += flow[k] * arcs[k].gain;
        return objective;
    }

    std::vector<std::int64_t> supply, demand;  // filled in by the caller; solve() uses them up
    struct SettledArc {
        std::uint32_t x, y;
        std::int32_t gain;
    };
    std::vector<SettledArc> arcs;
    std::vector<std::int64_t> flow;

   private:
    static constexpr std::size_t kMostCells = std::size_t{1} << 14;  // above, Transport is faster
    static constexpr std::size_t kMostLooks = 8;  // at partners and exchanges, for each arc: more take longer than Transport

    static constexpr std::uint32_t kNoNode = 0xFFFFFFFF;

    // Gains of eight arcs in the bytes of a word: sums and differences of them stay within their bytes.
    static constexpr std::size_t kCells = 8;
    static constexpr std::uint64_t kOnes = 0x0101010101010101, kTops = 0x80 * kOnes;
    static_assert(2 * kLargestGain < 0x80);
    static std::uint64_t all_cells(std::int32_t gain) { return kOnes * static_cast<std::uint64_t>(gain); }
    // The highest bit of each byte where a is larger.
    static std::uint64_t larger(std::uint64_t a, std::uint64_t b) { return (a + (kTops - kOnes) - b) & kTops; }
    static int shift(std::uint32_t y) { return static_cast<int>(8 * (y % kCells)); }

    bool is_open(const SettledArc& arc) const { return std::min(supply[arc.x], demand[arc.y]) != 0; }

    // Whether nothing remains.
    bool settle() {
        index();
        looks_ = 0;
        const std::size_t most_looks = kMostLooks * arcs.size();
        for (std::size_t before = 0; before != open_.size();) {
            before = open_.size();
            std::size_t left = 0;
            for (std::uint32_t k : open_) {
                const auto [x, y, gain] = arcs[k];
                if (!is_open(arcs[k])) continue;
                if (looks_ > most_looks || !settles(arcs[k])) {
                    open_[left++] = k;
                    continue;
                }
                const std::int64_t amount = std::min(supply[x], demand[y]);
                flow[k] += amount;
                if ((supply[x] -= amount) == 0) std::fill_n(gains_.begin() + x * width_, width_, 0);
                if ((demand[y] -= amount) == 0)
                    for (std::uint32_t to_y = in_[y]; to_y < in_[y + 1]; ++to_y)
                        cells(sellers_[to_y], y) &= ~(std::uint64_t{0xFF} << shift(y));
            }
            open_.resize(left);
        }
        return open_.empty();
    }

    bool settles(const SettledArc& arc) {
        const std::uint64_t* const gains = gains_.data() + arc.x * width_;
        const std::uint64_t gain = all_cells(arc.gain);
        looks_ += out_[arc.x + 1] - out_[arc.x];
        std::uint64_t better = 0;
        std::size_t buyers = 0;  // with y itself
        for (std::size_t i = 0; i < width_; ++i) {
            better |= larger(gains[i], gain);
            buyers += (larger(gains[i], 0) >> 7) * kOnes >> 56;
        }
        if (better) return false;
        const std::uint32_t first = in_[arc.y], end = in_[arc.y + 1];
        std::uint32_t k = first;
        while (k < end && !hinders(sellers_[k], arc, gains)) ++k;
        looks_ += (k - first + 1) * buyers;
        return k == end;
    }

    // Whether what a seller gains from the same consumer, or an exchange with it, keeps `arc` from being settled. Without a
    // branch: one that is used up, and x itself, have nothing better.
    bool hinders(std::uint32_t seller, const SettledArc& arc, const std::uint64_t* gains) const {
        const auto gain = static_cast<std::int32_t>(cells(seller, arc.y) >> shift(arc.y) & 0xFF);
        const std::uint64_t* const others = gains_.data() + seller * width_;
        const std::uint64_t ours = all_cells(gain), theirs = all_cells(arc.gain);
        std::uint64_t better = 0;
        for (std::size_t i = 0; i < width_; ++i) better |= larger(gains[i] + ours, others[i] + theirs);
        return (gain > arc.gain) | (better != 0);
    }

    std::uint64_t& cells(std::uint32_t x, std::uint32_t y) { return gains_[x * width_ + y / kCells]; }
    const std::uint64_t& cells(std::uint32_t x, std::uint32_t y) const { return gains_[x * width_ + y / kCells]; }

    void index() {
        const std::size_t nx = supply.size(), ny = demand.size();
        width_ = units_of(ny, kCells);
        gains_.assign(nx * width_, 0);
        out_.assign(nx + 1, 0);
        in_.assign(ny + 1, 0);
        std::uint32_t place[kLargestGain + 1] = {};  // by gain: how many arcs, then where the next one goes
        std::int32_t highest = 0;
        for (const SettledArc& arc : arcs) {
            const auto [x, y, gain] = arc;
            if (is_open(arc)) cells(x, y) |= static_cast<std::uint64_t>(gain) << shift(y);
            ++out_[x + 1];
            ++in_[y + 1];
            ++place[gain];
            highest = std::max(highest, gain);
        }
        for (std::size_t x = 0; x < nx; ++x) out_[x + 1] += out_[x];
        for (std::size_t y = 0; y < ny; ++y) in_[y + 1] += in_[y];
        std::uint32_t before = 0;  // arcs with higher gains
        for (std::int32_t gain = highest; gain >= 0; --gain) before += std::exchange(place[gain], before);
        next_.assign(in_.begin(), in_.end());
        sellers_.resize(arcs.size());
        open_.resize(arcs.size());
        for (std::uint32_t k = 0; k < arcs.size(); ++k) {
            sellers_[next_[arcs[k].y]++] = arcs[k].x;
            open_[place[arcs[k].gain]++] = k;
        }
    }

    void solve_rest() {
        open_.resize(arcs.size());
        std::size_t count = 0;
        for (std::uint32_t k = 0; k < arcs.size(); ++k) {  // without a branch
            open_[count] = k;
            count += is_open(arcs[k]);
        }
        open_.resize(count);
        if (open_.empty()) return;
        // Nodes without such an arc are passed over.
        new_x_.assign(supply.size(), kNoNode);
        new_y_.assign(demand.size(), kNoNode);
        for (std::uint32_t k : open_) new_x_[arcs[k].x] = new_y_[arcs[k].y] = 0;
        std::uint32_t nx = 0, ny = 0;
        for (std::uint32_t& x : new_x_)
            if (x != kNoNode) x = nx++;
        for (std::uint32_t& y : new_y_)
            if (y != kNoNode) y = ny++;
        transport_.reset(nx, ny);
        for (std::size_t x = 0; x < supply.size(); ++x)
            if (new_x_[x] != kNoNode) transport_.supply[new_x_[x]] = supply[x];
        for (std::size_t y = 0; y < demand.size(); ++y)
            if (new_y_[y] != kNoNode) transport_.demand[new_y_[y]] = demand[y];
        for (std::uint32_t k : open_)
            transport_.add_arc(new_x_[arcs[k].x], transport_.consumer(new_y_[arcs[k].y]), arcs[k].gain);
        transport_.solve();
        for (std::size_t k = 0; k < open_.size(); ++k) flow[open_[k]] += transport_.flow[k];
    }

    std::vector<std::uint64_t> gains_;  // of all pairs, a byte each; 0 where there is no arc or one of the two is used up
    std::size_t width_ = 0;             // words of a row of them
    std::vector<std::uint32_t> out_, in_, sellers_, next_, new_x_, new_y_;
    std::vector<std::uint32_t> open_;  // arcs that may still carry more: while they are settled those of the highest gain first
    std::size_t looks_ = 0;  // so far
    Transport<std::int64_t> transport_;
};

}  // namespace tesla
