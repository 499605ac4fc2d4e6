// The longest common subsequence of two sequences, 64 places of one at once (Hyyrö 2004).
#pragma once

#include <cstdint>

namespace tesla {

// A bit of a row is 0 where the subsequence grows with that place. Returns the row after one more symbol of the other sequence, which
// stands at `places`. `carry` goes from block to block: such a place moves to the left by the carries of a sum.
inline std::uint64_t next_subsequence_row(std::uint64_t row, std::uint64_t places, std::uint64_t& carry) {
    const std::uint64_t matches = row & places, sum = row + matches, carried = sum + carry;
    carry = (sum < row) | (carried < sum);
    return carried | (row & ~matches);
}

}  // namespace tesla
