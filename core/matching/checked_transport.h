// The transport problem itself, for callers that are not trusted: every number is checked before it is used.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "base/array_view.h"
#include "base/checks.h"
#include "matching/transport.h"

namespace tesla {

// What can be sold in all, times the largest gain, must be a number of its kind, and so must every sum on the way.
template <class Capacity>
void check_capacities(const ArrayView<Capacity>& capacities, Capacity most) {
    Capacity left = most;
    for (const Capacity capacity : capacities) {
        require(capacity >= 0 && capacity <= left, "the weights are negative or too large");
        left -= capacity;
    }
}

// Arc k leads from supplier rows[k] to consumer columns[k]; arcs ascend by row. The objective, and the flow of every arc.
template <class Capacity>
std::pair<Capacity, std::vector<Capacity>> solve_checked_transport(
    const ArrayView<Capacity>& supply, const ArrayView<Capacity>& demand, const ArrayView<std::int64_t>& rows,
    const ArrayView<std::int64_t>& columns, const ArrayView<std::int64_t>& gains) {
    require(rows.size == columns.size && rows.size == gains.size, "rows, columns and gains differ in length");
    std::int64_t largest_gain = 1;
    for (const std::int64_t gain : gains) {
        require(gain >= 0 && gain <= kLargestGain, "a gain is negative or too large");
        largest_gain = std::max(largest_gain, gain);
    }
    const Capacity most = std::numeric_limits<Capacity>::max() / static_cast<Capacity>(largest_gain);
    check_capacities(supply, most);
    check_capacities(demand, most);
    Transport<Capacity> transport;
    transport.reset(supply.size, demand.size);
    std::copy(supply.begin(), supply.end(), transport.supply.begin());
    std::copy(demand.begin(), demand.end(), transport.demand.begin());
    for (std::size_t k = 0; k < rows.size; ++k) {
        const auto row = static_cast<std::size_t>(rows[k]), column = static_cast<std::size_t>(columns[k]);
        require_in_range(row < supply.size && column < demand.size, "an arc leads nowhere");
        transport.add_arc(static_cast<std::uint32_t>(row), transport.consumer(column), static_cast<std::int32_t>(gains[k]));
    }
    const Capacity objective = transport.solve();
    return {objective, std::move(transport.flow)};
}

}  // namespace tesla
