// SettledTransport and SmallTransport against Transport: the same optimum, and flows that respect supply and demand.
#include "matching/settled_transport.h"
#include "matching/small_transport.h"

#include <cstdio>
#include <functional>
#include <random>
#include <vector>

using namespace tesla;

namespace {

using Weights = std::vector<std::int64_t>;
using Gain = std::function<std::int32_t(std::uint32_t, std::uint32_t)>;  // 0: no arc

template <class Add>
void add_arcs(const Weights& supply, const Weights& demand, const Gain& gain, Add add) {
    for (std::uint32_t x = 0; x < supply.size(); ++x)
        for (std::uint32_t y = 0; y < demand.size(); ++y)
            if (const std::int32_t g = gain(x, y)) add(x, y, g);
}

bool is_large(const Weights& supply, const Weights& demand) {
    return std::max(supply.size(), demand.size()) > SmallTransport::kMost;
}

std::int64_t small_optimum(const Weights& supply, const Weights& demand, const Gain& gain) {
    static SmallTransport small;
    const std::size_t width = SmallTransport::row_width(demand.size());
    std::vector<std::uint8_t> gains(supply.size() * width);
    add_arcs(supply, demand, gain, [&](std::uint32_t x, std::uint32_t y, std::int32_t g) {
        gains[x * width + y] = static_cast<std::uint8_t>(g);
    });
    return small.solve(gains.data(), supply.data(), supply.size(), demand.data(), demand.size());
}

bool agrees(const Weights& supply, const Weights& demand, const Gain& gain) {
    static Transport<std::int64_t> plain;
    plain.reset(supply.size(), demand.size());
    std::copy(supply.begin(), supply.end(), plain.supply.begin());
    std::copy(demand.begin(), demand.end(), plain.demand.begin());
    add_arcs(supply, demand, gain, [](std::uint32_t x, std::uint32_t y, std::int32_t g) { plain.add_arc(x, plain.consumer(y), g); });
    static SettledTransport settled;
    settled.reset(supply, demand);
    add_arcs(supply, demand, gain, [](std::uint32_t x, std::uint32_t y, std::int32_t g) { settled.add_arc(x, y, g); });
    const std::int64_t objective = settled.solve();
    Weights sold = supply, bought = demand;
    std::int64_t sum = 0;
    for (std::size_t k = 0; k < settled.arcs.size(); ++k) {
        const auto& arc = settled.arcs[k];
        if (settled.flow[k] < 0) return false;
        sum += settled.flow[k] * arc.gain;
        if ((sold[arc.x] -= settled.flow[k]) < 0 || (bought[arc.y] -= settled.flow[k]) < 0) return false;
    }
    if (!is_large(supply, demand) && objective != small_optimum(supply, demand, gain)) return false;
    return sum == objective && objective == plain.solve();
}

}  // namespace

int main() {
    std::mt19937 random(7);
    const auto below = [&random](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
    for (int k = 0; k < 20000; ++k) {
        Weights supply(below(7)), demand(below(7));
        for (auto* weights : {&supply, &demand})
            for (auto& weight : *weights) weight = below(4);
        const std::uint32_t quarters_without = below(4), highest = 1 + below(6);
        std::vector<std::int32_t> gains(supply.size() * demand.size());
        for (auto& gain : gains) gain = below(4) < quarters_without ? 0 : static_cast<std::int32_t>(1 + below(highest));
        if (!agrees(supply, demand, [&](std::uint32_t x, std::uint32_t y) { return gains[x * demand.size() + y]; })) {
            std::printf("small problem %d\n", k);
            return 1;
        }
    }
    // Up to the largest that SmallTransport solves, with words that have themselves as partners, and gains up to the highest.
    for (int k = 0; k < 2000; ++k) {
        Weights supply(below(65)), demand(below(65));
        for (auto* weights : {&supply, &demand})
            for (auto& weight : *weights) weight = below(k % 2 ? 400 : 3);
        const std::uint32_t percent = below(100), same = below(100);
        std::vector<std::int32_t> gains(supply.size() * demand.size());
        for (std::size_t cell = 0; cell < gains.size(); ++cell) {
            const bool may_be_same = cell / demand.size() == cell % demand.size();
            const bool is_same = may_be_same && below(100) < same;
            gains[cell] = is_same ? 32 : below(100) < percent ? static_cast<std::int32_t>(1 + below(32)) : 0;
        }
        if (!agrees(supply, demand, [&](std::uint32_t x, std::uint32_t y) { return gains[x * demand.size() + y]; })) {
            std::printf("problem of words %d\n", k);
            return 1;
        }
    }
    // Large ones, for which not all exchanges are looked at, up to one too large to be settled at all.
    for (std::uint32_t size : {40U, 90U, 128U, 129U}) {
        const Weights ones(size, 1);
        Weights several(size);
        for (auto& weight : several) weight = below(4);
        std::vector<std::int32_t> gains(size * size);
        for (std::uint32_t percent : {2U, 10U, 50U, 90U}) {
            for (auto& gain : gains) gain = below(100) < percent ? 2 : 1;
            const Gain gain = [&](std::uint32_t x, std::uint32_t y) { return gains[x * size + y]; };
            if (!agrees(ones, ones, gain) || !agrees(several, ones, gain) || !agrees(ones, several, gain)) {
                std::printf("%u nodes, %u percent\n", size, percent);
                return 1;
            }
        }
        const Gain shapes[] = {
            [&](std::uint32_t x, std::uint32_t y) { return x + y < size ? 1 : 2; },
            [&](std::uint32_t x, std::uint32_t y) { return x + y > size ? 1 : 2; },
            [&](std::uint32_t x, std::uint32_t y) { return y == x || y == x + 1 ? 2 : 1; },
            [&](std::uint32_t x, std::uint32_t y) { return 2 * (x + y) > 3 * size ? 0 : 1; },
        };
        for (const Gain& shape : shapes)
            if (!agrees(ones, ones, shape) || !agrees(several, several, shape)) {
                std::printf("%u nodes in a shape\n", size);
                return 1;
            }
    }
    return 0;
}
