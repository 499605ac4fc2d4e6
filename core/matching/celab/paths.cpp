#include "matching/celab/paths.h"

#include <algorithm>
#include <numeric>

#include "matching/celab/index.h"
#include "matching/celab/simplex.h"

namespace tesla::celab {
namespace {

std::vector<Part> connected_parts(const BudgetProgram& program) {
    std::vector<std::int32_t> leader(program.budgets.size());
    std::iota(leader.begin(), leader.end(), 0);
    auto find = [&](std::int32_t i) {
        while (leader[index(i)] != i) i = leader[index(i)] = leader[index(leader[index(i)])];
        return i;
    };
    auto join = [&](std::int32_t i, std::int32_t j) { leader[index(find(i))] = find(j); };
    for (const auto& budgets : program.kinds)
        for (std::int32_t budget : budgets) join(budget, budgets[0]);
    auto some_budget = [&](std::int32_t kind) { return program.kinds[index(kind)][0]; };
    for (const Stretch& stretch : program.stretches) {
        std::int32_t first = -1;
        for (std::int32_t kind : stretch.kind) {
            if (kind < 0) continue;
            if (first >= 0) join(some_budget(kind), some_budget(first));
            first = kind;
        }
    }

    std::vector<Part> parts;
    std::vector<std::int32_t> part_of(program.budgets.size(), -1);
    for (std::int32_t i = 0; i < number(leader.size()); ++i) {
        std::int32_t& part = part_of[index(find(i))];
        if (part < 0) {
            part = number(parts.size());
            parts.emplace_back();
        }
        parts[index(part)].budgets.push_back(i);
    }
    auto part_with = [&](std::int32_t kind) -> Part& { return parts[index(part_of[index(find(some_budget(kind)))])]; };
    for (std::size_t k = 0; k < program.kinds.size(); ++k)
        part_with(number(k)).kinds.push_back(number(k));
    for (std::size_t s = 0; s < program.stretches.size(); ++s) {
        const auto& kinds = program.stretches[s].kind;
        part_with(*std::max_element(kinds.begin(), kinds.end())).stretches.push_back(number(s));
    }
    return parts;
}

}  // namespace

double maximise(const BudgetProgram& program, std::size_t limit, std::vector<Use>* uses) {
    double worth = 0;
    std::vector<std::int32_t> local(program.budgets.size());
    for (const Part& part : connected_parts(program)) {
        if (part.budgets.size() + part.stretches.size() > limit) throw TooLarge();
        Simplex simplex(program, part, local);
        worth += simplex.solve();
        if (uses) simplex.report(*uses);
    }
    return worth;
}

}  // namespace tesla::celab
