#include "metrics/baselines/edit_rate.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/checks.h"

namespace tesla {

std::size_t EditCounter::count(ArrayView<std::uint32_t> hypothesis, ArrayView<std::uint32_t> reference) {
    check_word_count(std::max(hypothesis.size, reference.size));
    if (reference.size == 0) return hypothesis.size;
    words_.assign(hypothesis.begin(), hypothesis.end());
    reference_.assign(reference.begin(), reference.end());
    set_beam();
    candidates_ = 0;
    for (std::size_t shifts = 0;; ++shifts) {
        fill_table();
        align();
        Shift best;
        const bool has_shift = find_shift(best);
        if (!has_shift || candidates_ >= kMostCandidates || std::get<0>(best) <= 0)
            return shifts + static_cast<std::size_t>(cell(words_.size(), reference_.size()));
        const auto [gain, length, from, to] = best;
        shift(words_, static_cast<std::size_t>(-from), length, static_cast<std::size_t>(-to));
    }
}

void EditCounter::set_beam() {
    const std::size_t rows = words_.size(), columns = reference_.size() + 1;
    const double ratio = rows == 0 ? 1.0 : static_cast<double>(reference_.size()) / static_cast<double>(rows);
    const double beam = kBeam < ratio / 2 ? std::ceil(ratio / 2 + kBeam) : kBeam;
    first_.assign(1, 0);
    last_.assign(1, columns);
    place_.assign(1, 0);
    for (std::size_t i = 1; i <= rows; ++i) {
        const double diagonal = std::floor(static_cast<double>(i) * ratio);
        place_.push_back(place_.back() + last_.back() - first_.back());
        first_.push_back(static_cast<std::size_t>(std::max(0.0, diagonal - beam)));
        last_.push_back(i == rows ? columns : std::min(columns, static_cast<std::size_t>(diagonal + beam)));
    }
    table_.resize(place_.back() + last_.back() - first_.back());
    above_.resize(columns);
    row_.resize(columns);
}

void EditCounter::fill_table() {
    std::iota(row_.begin(), row_.end(), 0);
    for (std::size_t i = 0;; ++i) {
        std::copy(row_.begin() + static_cast<std::ptrdiff_t>(first_[i]), row_.begin() + static_cast<std::ptrdiff_t>(last_[i]),
                  table_.begin() + static_cast<std::ptrdiff_t>(place_[i]));
        if (i == words_.size()) return;
        next_row(i + 1, words_[i]);
    }
}

void EditCounter::next_row(std::size_t i, std::uint32_t word) {
    interrupt_.step(last_[i] - first_[i]);
    std::swap(above_, row_);
    // What the beam of this row reads outside of the row above.
    if (first_[i - 1] > 0) above_[first_[i - 1] - 1] = kUnreached;
    for (std::size_t j = last_[i - 1]; j < last_[i]; ++j) above_[j] = kUnreached;
    std::size_t j = first_[i];
    std::int32_t left = kUnreached;
    if (j == 0) left = row_[j++] = above_[0] + 1;
    for (; j < last_[i]; ++j) {
        const std::int32_t kept = above_[j - 1] + (reference_[j - 1] != word);
        left = std::min(std::min(kept, std::min(above_[j], left) + 1), kUnreached);
        row_[j] = left;
    }
}

void EditCounter::align() {
    partner_.assign(reference_.size(), -1);
    wrong_hypothesis_.assign(words_.size() + 1, 0);
    wrong_reference_.assign(reference_.size() + 1, 0);
    std::size_t i = words_.size(), j = reference_.size();
    while (i > 0 || j > 0) {
        const std::int32_t here = cell(i, j);
        if (here >= kUnreached) throw std::logic_error("TER: a cell outside of the beam");
        if (j > 0) partner_[j - 1] = static_cast<std::ptrdiff_t>(i) - 1;
        const bool differ = i == 0 || j == 0 || words_[i - 1] != reference_[j - 1];
        if (i > 0 && j > 0 && cell(i - 1, j - 1) + differ == here) {
            wrong_hypothesis_[i--] = differ;
            wrong_reference_[j--] = differ;
        } else if (i > 0 && cell(i - 1, j) + 1 == here) {
            wrong_hypothesis_[i--] = 1;
        } else {
            wrong_reference_[j--] = 1;
        }
    }
    std::partial_sum(wrong_hypothesis_.begin(), wrong_hypothesis_.end(), wrong_hypothesis_.begin());
    std::partial_sum(wrong_reference_.begin(), wrong_reference_.end(), wrong_reference_.begin());
}

bool EditCounter::find_shift(Shift& best) {
    const std::int32_t before = cell(words_.size(), reference_.size());
    bool any = false;
    for (std::size_t h = 0; h < words_.size(); ++h) {
        interrupt_.step(2 * kFarthest);
        for (std::size_t r = h > kFarthest ? h - kFarthest : 0; r < reference_.size() && r <= h + kFarthest; ++r) {
            const std::size_t most = std::min({kMostShifted, words_.size() - h, reference_.size() - r});
            for (std::size_t length = 1; length <= most && words_[h + length - 1] == reference_[r + length - 1]; ++length) {
                // Both the words and their place must be wrong, and the place must lie elsewhere.
                if (wrong_hypothesis_[h + length] == wrong_hypothesis_[h]) continue;
                if (wrong_reference_[r + length] == wrong_reference_[r]) continue;
                const std::ptrdiff_t partner = partner_[r], from = static_cast<std::ptrdiff_t>(h);
                if (from <= partner && partner < from + static_cast<std::ptrdiff_t>(length)) continue;
                std::ptrdiff_t tried = -1;
                for (std::size_t k = r; k <= r + length && k <= reference_.size(); ++k) {
                    const std::ptrdiff_t to = k == 0 ? 0 : partner_[k - 1] + 1;
                    if (to == tried) continue;
                    tried = to;
                    const std::int32_t after = distance_after(h, length, static_cast<std::size_t>(to));
                    const Shift candidate{before - after, length, -from, -to};
                    ++candidates_;
                    if (!any || candidate > best) best = candidate;
                    any = true;
                }
                if (candidates_ >= kMostCandidates) return any;
            }
        }
    }
    return any;
}

// The rows before the shift are those of the table. Behind it, rows that differ from those of the table by the same amount
// everywhere will do so to the end.
std::int32_t EditCounter::distance_after(std::size_t from, std::size_t words, std::size_t to) {
    shifted_ = words_;
    const auto [start, end] = shift(shifted_, from, words, to);
    const auto stored = [&](std::size_t i) { return table_.begin() + static_cast<std::ptrdiff_t>(place_[i]); };
    std::copy(stored(start), stored(start) + static_cast<std::ptrdiff_t>(last_[start] - first_[start]),
              row_.begin() + static_cast<std::ptrdiff_t>(first_[start]));
    for (std::size_t i = start + 1; i <= words_.size(); ++i) {
        next_row(i, shifted_[i - 1]);
        if (i < end) continue;
        const auto row = row_.begin() + static_cast<std::ptrdiff_t>(first_[i]);
        const std::int32_t change = *row - *stored(i);
        const std::size_t width = last_[i] - first_[i];
        std::size_t same = 0;
        while (same < width && row[static_cast<std::ptrdiff_t>(same)] - stored(i)[static_cast<std::ptrdiff_t>(same)] == change)
            ++same;
        if (same == width) return cell(words_.size(), reference_.size()) + change;
    }
    return row_[reference_.size()];
}

std::pair<std::size_t, std::size_t> EditCounter::shift(std::vector<std::uint32_t>& words, std::size_t from, std::size_t count,
                                                       std::size_t to) const {
    const auto at = [&](std::size_t place) { return words.begin() + static_cast<std::ptrdiff_t>(place); };
    if (to < from) {
        std::rotate(at(to), at(from), at(from + count));
        return {to, from + count};
    }
    const std::size_t end = to > from + count ? to : std::min(words.size(), count + to);
    std::rotate(at(from), at(from + count), at(end));
    return {from, end};
}

}  // namespace tesla
