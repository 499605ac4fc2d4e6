#include "matching/celab/reasons.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <tuple>

#include "base/share.h"

namespace tesla::celab {
namespace {

constexpr double kRounding = 1e-9;

bool share_category(const Vocabulary& vocabulary, std::uint32_t x, std::uint32_t y) {
    const auto &a = vocabulary.categories(x), &b = vocabulary.categories(y);
    return std::find_first_of(a.begin(), a.end(), b.begin(), b.end()) != a.end();
}

// The finest cut of two linked n-grams, with as many equal units as possible.
class Cutter {
   public:
    Cutter(const Vocabulary& vocabulary, const Text& x, const Text& y) : vocabulary_(vocabulary), x_(x), y_(y) {}

    void append(const MatchedPair& match, std::vector<std::int32_t>& parts) {
        const int rows = match.reference_length, columns = match.hypothesis_length;
        for (auto& row : best_) row.fill({});
        at(rows, columns).reachable = true;
        for (int i = rows - 1; i >= 0; --i)
            for (int j = columns - 1; j >= 0; --j) find_first_part(match, i, j);
        for (int i = 0, j = 0; i < rows;) {
            const Rest& rest = at(i, j);
            const int x = match.reference_start + i, y = match.hypothesis_start + j;
            parts.insert(parts.end(), {x, x + rest.x_length, y, y + rest.y_length, rest.equal ? 1 : 0});
            i += rest.x_length;
            j += rest.y_length;
        }
    }

   private:
    // The best way to cut what begins at two places: its first part, and what all parts are worth.
    struct Rest {
        bool reachable = false, equal = false;
        int x_length = 0, y_length = 0, equal_units = 0, pieces = 0;
    };

    Rest& at(int i, int j) { return best_[index(i)][index(j)]; }

    void find_first_part(const MatchedPair& match, int i, int j) {
        Rest& best = at(i, j);
        for (int m = 1; m <= match.reference_length - i; ++m)
            for (int n = 1; n <= match.hypothesis_length - j; ++n) {
                const Rest& rest = at(i + m, j + n);
                if (!rest.reachable) continue;
                const std::uint32_t x = x_.joined()[x_.span(match.reference_start + i, m)];
                const std::uint32_t y = y_.joined()[y_.span(match.hypothesis_start + j, n)];
                const bool equal = x == y;
                if (!equal && !share_category(vocabulary_, x, y)) continue;
                const Rest cut{true, equal, m, n, rest.equal_units + (equal ? m : 0), rest.pieces + 1};
                if (!best.reachable || std::tie(best.equal_units, best.pieces) < std::tie(cut.equal_units, cut.pieces))
                    best = cut;
            }
    }

    const Vocabulary& vocabulary_;
    const Text &x_, &y_;
    std::array<std::array<Rest, kMaxOrder + 1>, kMaxOrder + 1> best_;
};

template <class Visit>
void for_each_within(const Text& text, int start, int length, const Visit& visit) {
    for (int inner = start; inner < start + length; ++inner)
        for (int n = 1; n <= start + length - inner; ++n) visit(text.span(inner, n));
}

// How much weight covers each span, more than enough included.
class Sums {
   public:
    explicit Sums(const Text& text) : text_(text), sums_(text.joined().size(), kNoValue) {
        for (int start = 0; start < text.units(); ++start)
            for (int length = 1; length <= text.longest(start); ++length) sums_[text.span(start, length)] = 0;
    }
    void add(int start, int length, double weight) {
        for_each_within(text_, start, length, [&](std::size_t span) { sums_[span] += weight; });
    }
    bool can_spare(int start, int length, double weight, const std::vector<double>& needed) const {
        bool can = true;
        for_each_within(text_, start, length,
                        [&](std::size_t span) { can = can && sums_[span] - weight >= needed[span] - kRounding; });
        return can;
    }
    std::vector<double> covered() const {
        std::vector<double> values = sums_;
        for (double& value : values) value = value > 1 ? 1 : value;
        return values;
    }

   private:
    const Text& text_;
    std::vector<double> sums_;
};

}  // namespace

Reasons reasons(const Vocabulary& vocabulary, const Text& reference, const Text& hypothesis,
                const std::vector<MatchedPair>& matches) {
    Reasons result;
    Cutter cutter(vocabulary, reference, hypothesis);
    Sums x(reference), y(hypothesis);
    for (const MatchedPair& match : matches) {
        cutter.append(match, result.parts);
        result.part_ends.push_back(static_cast<std::int64_t>(result.parts.size() / Reasons::kColumns));
        x.add(match.reference_start, match.reference_length, match.weight);
        y.add(match.hypothesis_start, match.hypothesis_length, match.weight);
    }
    result.reference_covered = x.covered();
    result.hypothesis_covered = y.covered();

    // The shortest links go first: what they cover, longer ones often cover as well.
    std::vector<std::size_t> shortest_first(matches.size());
    std::iota(shortest_first.begin(), shortest_first.end(), std::size_t{0});
    const auto length = [&](std::size_t k) { return matches[k].reference_length + matches[k].hypothesis_length; };
    std::stable_sort(shortest_first.begin(), shortest_first.end(), [&](auto a, auto b) { return length(a) < length(b); });
    result.essential.assign(matches.size(), 1);
    for (std::size_t k : shortest_first) {
        const MatchedPair& m = matches[k];
        if (!x.can_spare(m.reference_start, m.reference_length, m.weight, result.reference_covered) ||
            !y.can_spare(m.hypothesis_start, m.hypothesis_length, m.weight, result.hypothesis_covered))
            continue;
        result.essential[k] = 0;
        x.add(m.reference_start, m.reference_length, -m.weight);
        y.add(m.hypothesis_start, m.hypothesis_length, -m.weight);
    }
    return result;
}

}  // namespace tesla::celab
