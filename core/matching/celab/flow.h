// Flow between linked types: how much of the occurrences of one is matched with those of another.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/interrupt.h"
#include "matching/celab/index.h"
#include "matching/celab/links.h"

namespace tesla::celab {

// One side's view of the flow: its "own" types send, the "other" types receive. Two views may share one flow.
class TypeFlow {
   public:
    static constexpr double kNothing = 1e-12;

    TypeFlow(const Adjacency& own, const Adjacency& other, std::vector<double>& flow)
        : own_(own), other_(other), flow_(flow), own_seen_(own.types()), other_seen_(other.types()),
          reached_(own.types()) {}

    // Sends up to `amount` more from own type x along shortest paths that alternate between sending and taking back.
    // A path ends at an other type with `room`, or at an own type that can spare flow. Returns what found no place.
    double send(std::int32_t x, double amount, std::vector<double>& room, std::vector<double>* spare = nullptr) {
        while (amount > kNothing && find_path(x, room, spare)) {
            double& at_end = end_.receiver >= 0 ? room[index(end_.receiver)] : (*spare)[index(end_.sender)];
            double step = std::min(amount, at_end);
            for (std::int32_t own = end_.sender; own != x; own = reached_[index(own)].from)
                step = std::min(step, flow_[index(reached_[index(own)].taken)]);
            at_end -= step;
            amount -= step;
            if (end_.receiver >= 0) flow_[index(end_.link)] += step;
            for (std::int32_t own = end_.sender; own != x; own = reached_[index(own)].from) {
                flow_[index(reached_[index(own)].taken)] -= step;
                flow_[index(reached_[index(own)].sent)] += step;
            }
        }
        return amount;
    }

    // When nothing more can be sent: the own types whose flow those in `wanting` could take over, and these themselves.
    const std::vector<std::int32_t>& rivals(const std::vector<std::int32_t>& wanting) {
        begin_search();
        for (std::int32_t x : wanting) visit(x, {});
        for (std::size_t next = 0; next < queue_.size(); ++next) expand(queue_[next], nullptr, nullptr);
        return queue_;
    }

   private:
    static constexpr std::int32_t kNone = -1;
    struct Step {  // `from` sends over link `sent`, and the type reached takes back what it sent over link `taken`
        std::int32_t from = kNone, sent = kNone, taken = kNone;
    };
    struct End {
        // Without a receiver, the sender spares what it takes back.
        std::int32_t sender = kNone, link = kNone, receiver = kNone;
    };

    void begin_search() {
        ++stamp_;
        queue_.clear();
    }

    void visit(std::int32_t own, Step step) {
        own_seen_[index(own)] = stamp_;
        reached_[index(own)] = step;
        queue_.push_back(own);
    }

    bool find_path(std::int32_t x, const std::vector<double>& room, const std::vector<double>* spare) {
        begin_search();
        visit(x, {});
        for (std::size_t next = 0; next < queue_.size(); ++next)
            if (expand(queue_[next], &room, spare)) return true;
        return false;
    }

    bool expand(std::int32_t x, const std::vector<double>* room, const std::vector<double>* spare) {
        interrupt_.step(4 * own_.of(x).size());
        for (const Neighbour& y : own_.of(x)) {
            if (other_seen_[index(y.type)] == stamp_) continue;
            other_seen_[index(y.type)] = stamp_;
            if (room && (*room)[index(y.type)] > kNothing) {
                end_ = {x, y.link, y.type};
                return true;
            }
            for (const Neighbour& rival : other_.of(y.type)) {
                if (own_seen_[index(rival.type)] == stamp_ || flow_[index(rival.link)] <= kNothing) continue;
                visit(rival.type, {x, y.link, rival.link});
                if (spare && (*spare)[index(rival.type)] > kNothing) {
                    end_ = {rival.type, kNone, kNone};
                    return true;
                }
            }
        }
        return false;
    }

    const Adjacency &own_, &other_;
    std::vector<double>& flow_;
    int stamp_ = 0;
    std::vector<int> own_seen_, other_seen_;
    std::vector<Step> reached_;
    std::vector<std::int32_t> queue_;
    End end_;
    Interrupt interrupt_;
};

}  // namespace tesla::celab
