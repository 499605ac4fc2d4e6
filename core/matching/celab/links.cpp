#include "matching/celab/links.h"

#include <algorithm>

#include "base/portable.h"
#include "matching/celab/index.h"

namespace tesla::celab {
namespace {

// A mask says for two places, one in each text, which lengths (a, b) that begin there are linked.
using Mask = std::uint64_t;

constexpr int bit_of(int a, int b) { return (a - 1) * kMaxOrder + (b - 1); }

// The lengths that still fit behind parts of length a and b.
struct Behind {
    Mask fits[kMaxOrder + 1][kMaxOrder + 1] = {};
    explicit Behind(int order) {
        for (int a = 1; a <= order; ++a)
            for (int b = 1; b <= order; ++b)
                for (int c = 1; a + c <= order; ++c)
                    for (int d = 1; b + d <= order; ++d) fits[a][b] |= Mask{1} << bit_of(c, d);
    }
};

Mask all_of_first_length(int a) { return Mask{0xFF} << bit_of(a, 1); }
Mask all_of_second_length(int b) { return Mask{0x0101010101010101} << (b - 1); }

void count_to_begin(std::vector<std::int32_t>& counts) {
    for (std::size_t i = 1; i < counts.size(); ++i) counts[i] += counts[i - 1];
}

Adjacency group_by_first(const std::vector<std::pair<std::int32_t, std::int32_t>>& sorted, std::size_t types) {
    Adjacency result;
    result.begin.assign(types + 1, 0);
    result.neighbours.reserve(sorted.size());
    for (const auto& [x, y] : sorted) {
        ++result.begin[index(x) + 1];
        result.neighbours.push_back({y, number(result.neighbours.size())});
    }
    count_to_begin(result.begin);
    return result;
}

Adjacency reversed(const Adjacency& forward, std::size_t types) {
    Adjacency result;
    result.begin.assign(types + 1, 0);
    for (const Neighbour& y : forward.neighbours) ++result.begin[index(y.type) + 1];
    count_to_begin(result.begin);
    result.neighbours.resize(forward.links());
    std::vector<std::int32_t> next(result.begin.begin(), result.begin.end() - 1);
    for (std::int32_t x = 0; x < number(forward.types()); ++x)
        for (const Neighbour& y : forward.of(x)) result.neighbours[index(next[index(y.type)]++)] = {x, y.link};
    return result;
}

}  // namespace

// Equal joined texts, and shared categories: two joins of sorted lists.
void Linker::find_direct(const Text& reference, const Text& hypothesis) {
    direct_.clear();
    join(reference.by_joined(), hypothesis.by_joined());
    join(reference.categories(), hypothesis.categories());
    std::sort(direct_.begin(), direct_.end());
    direct_.erase(std::unique(direct_.begin(), direct_.end()), direct_.end());
    direct_begin_.assign(reference.types().size() + 1, 0);
    for (const Pair& pair : direct_) ++direct_begin_[index(pair.first) + 1];
    count_to_begin(direct_begin_);
}

// Adds the types of both sides that have the same key.
void Linker::join(const Text::KeyedTypes& x, const Text::KeyedTypes& y) {
    for (std::size_t i = 0, j = 0; i < x.size() && j < y.size();) {
        if (x[i].first < y[j].first) {
            ++i;
        } else if (y[j].first < x[i].first) {
            ++j;
        } else {
            for (std::size_t k = j; k < y.size() && y[k].first == x[i].first; ++k)
                direct_.emplace_back(x[i].second, y[k].second);
            ++i;
        }
    }
}

// From the last place of the reference to the first: what begins here is a direct link, alone or with what follows it.
void Linker::concatenate(const Text& reference, const Text& hypothesis) {
    const int order = reference.order(), depth = order + 1;
    const Behind behind(order);
    const std::size_t width = index(hypothesis.units() + order);
    rows_.resize(index(depth));
    touched_.resize(index(depth));
    for (auto& row : rows_) row.assign(width, 0);
    for (auto& touched : touched_) touched.clear();
    first_in_hypothesis_.assign(index(hypothesis.units()), 0);
    for (int j = 0; j < hypothesis.units(); ++j)
        for (int b = 1; b <= hypothesis.longest(j); ++b)
            if (hypothesis.is_first(j, b)) first_in_hypothesis_[index(j)] |= all_of_second_length(b);

    found_.clear();
    for (int i = reference.units() - 1; i >= 0; --i) {
        auto& row = rows_[index(i % depth)];
        auto& touched = touched_[index(i % depth)];
        interrupt_.step(10 * touched.size());
        for (std::int32_t j : touched) row[index(j)] = 0;
        touched.clear();
        Mask first = 0;
        for (int a = 1; a <= reference.longest(i); ++a) {
            std::size_t x = index(reference.type_of(i, a));
            if (reference.is_first(i, a)) first |= all_of_first_length(a);
            for (std::int32_t e = direct_begin_[x]; e < direct_begin_[x + 1]; ++e) {
                const Text::Type& y = hypothesis.type(direct_[index(e)].second);
                for (std::int32_t j : hypothesis.starts(y)) {
                    if (row[index(j)] == 0) touched.push_back(j);
                    row[index(j)] |= Mask{1} << bit_of(a, y.length);
                }
            }
        }
        for (std::int32_t j : touched) {
            Mask& mask = row[index(j)];
            for (Mask rest = mask; rest != 0; rest &= rest - 1) {
                int bit = lowest_bit(rest), a = bit / kMaxOrder + 1, b = bit % kMaxOrder + 1;
                if (i + a >= reference.units()) continue;
                Mask next = rows_[index((i + a) % depth)][index(j + b)] & behind.fits[a][b];
                // Where nothing fits behind, a * kMaxOrder + b may be more than a shift can take.
                if (next != 0) mask |= next << (a * kMaxOrder + b);
            }
            // Every pair of types is met once: where both occur for the first time.
            for (Mask rest = mask & first & first_in_hypothesis_[index(j)]; rest != 0; rest &= rest - 1) {
                int bit = lowest_bit(rest);
                int a = bit / kMaxOrder + 1, b = bit % kMaxOrder + 1;
                found_.emplace_back(reference.type_of(i, a), hypothesis.type_of(j, b));
            }
        }
    }
    std::sort(found_.begin(), found_.end());
}

Links Linker::link(const Text& reference, const Text& hypothesis) {
    find_direct(reference, hypothesis);
    concatenate(reference, hypothesis);
    Links links;
    links.from_reference = group_by_first(found_, reference.types().size());
    links.from_hypothesis = reversed(links.from_reference, hypothesis.types().size());
    return links;
}

}  // namespace tesla::celab
