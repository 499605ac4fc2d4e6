// The longest common subsequence of two sequences, 64 places of one at once (Hyyrö 2004).
#pragma once

#include <cstddef>
#include <cstdint>

namespace tesla {

// A bit of a row is 0 where the subsequence grows with that place. Returns the row after one more symbol of the other sequence, which
// stands at `places`. `carry` goes from block to block: such a place moves to the left by the carries of a sum.
inline std::uint64_t next_subsequence_row(std::uint64_t row, std::uint64_t places, std::uint64_t& carry) {
    const std::uint64_t matches = row & places, sum = row + matches, carried = sum + carry;
    carry = (sum < row) | (carried < sum);
    return carried | (row & ~matches);
}

// The places of one symbol within 64 places of a sequence.
struct SymbolBlock {
    std::uint32_t block;
    std::uint64_t places;
};
// The same for a row of many blocks. The symbol stands in the blocks from `next` to `end`, which ascend; blocks without it and
// without a carry stay as they are.
inline void advance_subsequence_row(std::uint64_t* row, std::size_t size, const SymbolBlock* next, const SymbolBlock* end) {
    std::uint64_t carry = 0;
    for (std::size_t at = 0; at < size && (carry != 0 || next != end); ++at) {
        if (carry == 0) at = next->block;
        const bool here = next != end && next->block == at;
        row[at] = next_subsequence_row(row[at], here ? (next++)->places : 0, carry);
    }
}

}  // namespace tesla
