#include "matching/celab/batch.h"

#include <utility>

#include "base/checks.h"
#include "base/interrupt.h"
#include "base/share.h"
#include "matching/celab/paths.h"

namespace tesla::celab {

Batch::Batch(Vocabulary& vocabulary, int order) : vocabulary_(vocabulary), order_(order) {
    require(order >= 1 && order <= kMaxOrder, "n-grams have 1 to 8 units");
}

void Batch::add(const std::vector<std::string_view>& units, std::optional<std::vector<double>> weights) {
    require(!weights || weights->size() == units.size() * static_cast<std::size_t>(order_),
            "one weight for every unit and length");
    texts_.emplace_back(vocabulary_, units, order_, weights ? std::move(*weights) : std::vector<double>());
}

std::vector<std::string_view> Batch::unknown() {
    unknown_.clear();
    std::vector<std::string_view> texts;
    std::vector<bool> seen(vocabulary_.size());
    for (const Text& text : texts_)
        for (int start = 0; start < text.units(); ++start)
            for (int length = 1; length <= text.longest(start); ++length) {
                const std::uint32_t id = text.joined()[text.span(start, length)];
                if (seen[id] || vocabulary_.defined(id)) continue;
                seen[id] = true;
                unknown_.push_back(id);
                texts.push_back(vocabulary_.text(id));
            }
    return texts;
}

void Batch::define(const ArrayView<std::int64_t>& offsets, const ArrayView<std::int32_t>& categories) {
    check_csr(offsets, unknown_.size(), categories.size);
    const auto* ids = reinterpret_cast<const std::uint32_t*>(categories.data);
    for (std::size_t i = 0; i < unknown_.size(); ++i)
        vocabulary_.define(unknown_[i], ids + offsets[i], static_cast<std::size_t>(offsets[i + 1] - offsets[i]));
}

std::vector<double> Batch::solve(const TextPairs& pairs, std::size_t limit) {
    pairs.check(size(), size());
    find_types();
    std::vector<double> rows;
    Solver solver(limit);
    Interrupt interrupt;
    for_each_pair(pairs, texts_, texts_, [&](std::size_t, const Text& x, const Text& y) {
        interrupt.look();  // a pair may take long
        try {
            append(solver.solve(x, y), rows);
        } catch (const TooLarge&) {
            rows.insert(rows.end(), kColumns, kNoValue);
        }
    });
    return rows;
}

std::pair<Solution, Reasons> Batch::explain(std::int64_t reference, std::int64_t hypothesis, std::size_t limit) {
    const TextPairs pair{{&reference, 1}, {&hypothesis, 1}};
    pair.check(size(), size());
    find_types();
    const Text &x = texts_[static_cast<std::size_t>(reference)], &y = texts_[static_cast<std::size_t>(hypothesis)];
    Solution solution = Solver(limit).solve(x, y, true);
    Reasons why = reasons(vocabulary_, x, y, solution.matches);
    return {std::move(solution), std::move(why)};
}

void Batch::append(const Solution& s, std::vector<double>& rows) {
    rows.insert(rows.end(), {s.reference.covered, s.reference.total, s.hypothesis.covered, s.hypothesis.total});
}

void Batch::find_types() {
    std::call_once(*types_found_, [this] {
        for (Text& text : texts_) text.find_types(vocabulary_);
    });
}

}  // namespace tesla::celab
