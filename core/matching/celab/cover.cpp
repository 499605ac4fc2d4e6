#include "matching/celab/cover.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <string>

#include "matching/celab/flow.h"
#include "matching/celab/index.h"
#include "matching/celab/paths.h"

namespace tesla::celab {
namespace {

// Types linked with each other, directly or through others.
struct Group {
    std::size_t begin, end;  // in `types_`: types of this side that are still to be decided
    double offered;          // occurrences of the other side's types
    bool complete;           // every own type is linked with every other one
};

class CoverProgram {
   public:
    CoverProgram(const Text& own, const Text& other, const Adjacency& from_own, const Adjacency& from_other,
                 std::size_t limit, bool want_used)
        : own_(own), other_(other), from_own_(from_own), from_other_(from_other), limit_(limit),
          reach_(index(own.units())), left_(own.types().size(), 0), contested_(own.types().size(), false) {
        std::iota(reach_.begin(), reach_.end(), 0);
        if (want_used) used_.assign(index(own.units() * own.order()), 0.0);
    }

    Cover solve() {
        find_groups();
        while (settle_groups()) {
        }
        Cover result;
        for (int start = 0; start < own_.units(); ++start)
            for (int length = 1; length <= own_.longest(start); ++length) {
                double weight = own_.weight(start, length);
                result.total += weight;
                if (start + length <= reach_[index(start)]) result.covered += weight;
            }
        if (!groups_.empty()) result.covered += solve_rest();
        result.used = std::move(used_);
        return result;
    }

   private:
    void find_groups() {
        std::vector<bool> seen(own_.types().size()), other_seen(other_.types().size());
        for (std::int32_t first = 0; first < number(seen.size()); ++first) {
            if (seen[index(first)] || from_own_.of(first).size() == 0) continue;
            Group group{types_.size(), 0, 0.0, false};
            std::size_t links = 0, others = 0;
            types_.push_back(first);
            seen[index(first)] = true;
            for (std::size_t next = group.begin; next < types_.size(); ++next) {
                links += from_own_.of(types_[next]).size();
                for (const Neighbour& y : from_own_.of(types_[next])) {
                    if (other_seen[index(y.type)]) continue;
                    other_seen[index(y.type)] = true;
                    ++others;
                    group.offered += other_.type(y.type).count();
                    for (const Neighbour& x : from_other_.of(y.type)) {
                        if (!seen[index(x.type)]) types_.push_back(x.type);
                        seen[index(x.type)] = true;
                    }
                }
            }
            group.end = types_.size();
            group.complete = links == others * (group.end - group.begin);
            groups_.push_back(group);
        }
    }

    // N-grams that compete with none for their partners are matched; what they cover need not be covered by others, and
    // n-grams that cover nothing more drop out, which leaves more room for the rest. False when nothing changed.
    bool settle_groups() {
        std::vector<std::int32_t> reach = reach_;
        bool changed = false;
        for (Group& group : groups_) {
            keep_if(group, [&](std::int32_t x) { return (left_[index(x)] = count_useful(x)) > 0; });
            find_contested(group);
            changed |= keep_if(group, [&](std::int32_t x) {
                if (!contested_[index(x)]) match_all(x, reach);
                return contested_[index(x)];
            });
        }
        groups_.erase(std::remove_if(groups_.begin(), groups_.end(), [](const Group& g) { return g.begin == g.end; }),
                      groups_.end());
        for (std::size_t i = 0; i < reach.size(); ++i)
            reach_[i] = i > 0 ? std::max(reach_[i - 1], reach[i]) : reach[i];
        return changed && !groups_.empty();
    }

    template <class Predicate>
    bool keep_if(Group& group, Predicate keep) {
        std::size_t kept = group.begin;
        for (std::size_t k = group.begin; k < group.end; ++k)
            if (keep(types_[k])) types_[kept++] = types_[k];
        bool changed = kept < group.end;
        group.end = kept;
        return changed;
    }

    bool useful(std::int32_t start, std::int32_t length) const { return reach_[index(start)] < start + length; }

    double count_useful(std::int32_t x) const {
        const Text::Type& type = own_.type(x);
        int count = 0;
        for (std::int32_t start : own_.starts(type)) count += useful(start, type.length);
        return count;
    }

    // Marks those of the group's types whose occurrences cannot all be matched together with whatever else is.
    void find_contested(const Group& group) {
        double wanted = 0;
        for (std::size_t k = group.begin; k < group.end; ++k) wanted += left_[index(types_[k])];
        bool all = group.complete && wanted > group.offered;
        for (std::size_t k = group.begin; k < group.end; ++k) contested_[index(types_[k])] = all;
        if (group.complete || group.begin == group.end) return;
        clear_flow(group);
        std::vector<std::int32_t> wanting;
        for (std::size_t k = group.begin; k < group.end; ++k)
            if (matching_->send(types_[k], left_[index(types_[k])], room_) > 0) wanting.push_back(types_[k]);
        if (wanting.empty()) return;
        for (std::int32_t x : matching_->rivals(wanting)) contested_[index(x)] = true;
    }

    void clear_flow(const Group& group) {
        if (!matching_) {
            flow_.assign(from_own_.links(), 0.0);
            room_.assign(other_.types().size(), 0.0);
            matching_.emplace(from_own_, from_other_, flow_);
        }
        for (std::size_t k = group.begin; k < group.end; ++k)
            for (const Neighbour& y : from_own_.of(types_[k])) {
                room_[index(y.type)] = other_.type(y.type).count();
                for (const Neighbour& x : from_other_.of(y.type)) flow_[index(x.link)] = 0;
            }
    }

    void match_all(std::int32_t x, std::vector<std::int32_t>& reach) {
        const Text::Type& type = own_.type(x);
        for (std::int32_t start : own_.starts(type)) {
            if (!useful(start, type.length)) continue;
            reach[index(start)] = std::max(reach[index(start)], start + type.length);
            if (!used_.empty()) used_[own_.span(start, type.length)] = 1;
        }
    }

    double solve_rest() {
        BudgetProgram program;
        program.order = own_.order();
        std::vector<std::int32_t> kind(own_.types().size(), -1);
        for (const Group& group : groups_) add_budgets(group, program, kind);
        add_stretches(program, kind);
        std::vector<Use> uses;
        double worth = maximise(program, limit_, used_.empty() ? nullptr : &uses);
        for (const Use& use : uses) used_[own_.span(use.start, use.length)] += use.weight;
        return worth;
    }

    // Types with the same partners are of one kind, and partners of the same kinds offer one budget.
    void add_budgets(const Group& group, BudgetProgram& program, std::vector<std::int32_t>& kind) {
        if (group.complete) {
            for (std::size_t k = group.begin; k < group.end; ++k) kind[index(types_[k])] = number(program.kinds.size());
            program.kinds.push_back({number(program.budgets.size())});
            program.budgets.push_back(group.offered);
            return;
        }
        std::map<std::vector<std::int32_t>, std::int32_t> kinds;       // by their partners
        std::map<std::int32_t, std::vector<std::int32_t>> wanted_by;   // partner -> kinds
        for (std::size_t k = group.begin; k < group.end; ++k) {
            std::vector<std::int32_t> partners;
            for (const Neighbour& y : from_own_.of(types_[k])) partners.push_back(y.type);
            const auto [entry, is_new] = kinds.try_emplace(partners, number(program.kinds.size()));
            kind[index(types_[k])] = entry->second;
            if (!is_new) continue;
            program.kinds.emplace_back();
            for (std::int32_t y : partners) wanted_by[y].push_back(entry->second);
        }
        std::map<std::vector<std::int32_t>, std::int32_t> budgets;  // by the kinds that may draw on them
        for (const auto& [y, drawing] : wanted_by) {
            const auto [entry, is_new] = budgets.try_emplace(drawing, number(program.budgets.size()));
            if (is_new) {
                program.budgets.push_back(0);
                for (std::int32_t k : drawing) program.kinds[index(k)].push_back(entry->second);
            }
            program.budgets[index(entry->second)] += other_.type(y).count();
        }
    }

    // Cuts the text where nothing left to be covered lies under n-grams of both sides of the cut.
    void add_stretches(BudgetProgram& program, const std::vector<std::int32_t>& kind) {
        std::map<std::string, std::size_t> known;
        for (int start = 0; start < own_.units();) {
            int end = start, furthest = start;
            for (; end < own_.units() && (end == start || reach_[index(end)] < furthest); ++end)
                for (int length = 1; length <= own_.longest(end); ++length)
                    if (kind[index(own_.type_of(end, length))] >= 0 && useful(end, length))
                        furthest = std::max(furthest, end + length);
            if (furthest > start) add_stretch(start, end, program, kind, known);
            start = furthest > start ? end : start + 1;
        }
    }

    void add_stretch(int start, int end, BudgetProgram& program, const std::vector<std::int32_t>& kind,
                     std::map<std::string, std::size_t>& known) {
        Stretch stretch;
        const int order = own_.order();
        for (int at = start; at < end; ++at) {
            int longest = own_.longest(at), floor = reach_[index(at)] - at;
            stretch.floor.push_back(floor);
            for (int length = 1; length <= order; ++length) {
                const bool counts = length <= longest && useful(at, length);
                stretch.kind.push_back(counts ? kind[index(own_.type_of(at, length))] : -1);
            }
            double gain = 0;
            stretch.gain.push_back(0);
            for (int length = 1; length <= order; ++length) {
                if (length > floor && length <= longest) gain += own_.weight(at, length);
                stretch.gain.push_back(gain);
            }
        }
        std::string key;
        auto append = [&](const auto& values) {
            key.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(values[0]));
        };
        append(stretch.kind);
        append(stretch.floor);
        append(stretch.gain);
        const auto [entry, is_new] = known.try_emplace(std::move(key), program.stretches.size());
        if (is_new) program.stretches.push_back(std::move(stretch));
        program.stretches[entry->second].copies.push_back(start);
    }

    const Text &own_, &other_;
    const Adjacency &from_own_, &from_other_;
    std::size_t limit_;
    std::vector<std::int32_t> reach_;  // by place: the end of the longest n-gram from there that is covered in any case
    std::vector<double> left_;         // by type: occurrences that would cover something more
    std::vector<bool> contested_;      // by type
    std::vector<std::int32_t> types_;  // group by group
    std::vector<Group> groups_;
    std::vector<double> flow_, room_, used_;
    std::optional<TypeFlow> matching_;
};

}  // namespace

Cover cover(const Text& own, const Text& other, const Adjacency& from_own, const Adjacency& from_other,
            std::size_t limit, bool want_used) {
    return CoverProgram(own, other, from_own, from_other, limit, want_used).solve();
}

}  // namespace tesla::celab
