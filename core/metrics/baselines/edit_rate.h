// The edits of TER (Snover et al. 2006) as sacreBLEU counts them, which follows Tercom: blocks of words are shifted as long as
// that brings the hypothesis nearer to the reference; what then remains is an edit distance within a beam. One object serves
// one thread and keeps its memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "base/array_view.h"
#include "base/interrupt.h"

namespace tesla {

class EditCounter {
   public:
    // Shifts, insertions, deletions and substitutions. Words are numbers. Throws TextTooLong.
    std::size_t count(ArrayView<std::uint32_t> hypothesis, ArrayView<std::uint32_t> reference);

   private:
    // The limits of Tercom and sacreBLEU.
    static constexpr std::size_t kMostShifted = 10, kFarthest = 50, kMostCandidates = 1000;
    static constexpr double kBeam = 25;
    static constexpr std::int32_t kUnreached = 1 << 29;

    // Gain, words, and where from and where to, both negative: the greatest is the best.
    using Shift = std::tuple<std::int32_t, std::size_t, std::ptrdiff_t, std::ptrdiff_t>;

    void set_beam();
    void fill_table();
    // Row `i` of the table of distances, from the one before it; `above_` and `row_` have a place for each column.
    void next_row(std::size_t i, std::uint32_t word);
    void align();
    bool find_shift(Shift& best);
    std::int32_t distance_after(std::size_t from, std::size_t words, std::size_t to);
    // Gives back the first and the last place that changed.
    std::pair<std::size_t, std::size_t> shift(std::vector<std::uint32_t>& words, std::size_t from, std::size_t count,
                                              std::size_t to) const;
    std::int32_t cell(std::size_t i, std::size_t j) const {
        return j < first_[i] || j >= last_[i] ? kUnreached : table_[place_[i] + j - first_[i]];
    }

    std::vector<std::uint32_t> words_, shifted_, reference_;
    std::vector<std::size_t> first_, last_, place_;  // of each row: the columns within the beam, and where they lie in the table
    std::vector<std::int32_t> table_, above_, row_;
    std::vector<std::ptrdiff_t> partner_;            // of each word of the reference: the last word of the hypothesis up to it
    std::vector<std::size_t> wrong_hypothesis_, wrong_reference_;  // words that are edited, up to each place
    std::size_t candidates_ = 0;
    Interrupt interrupt_;
};

}  // namespace tesla
