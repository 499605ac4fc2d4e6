// Exact transport (specification §4): maximise the gain of a flow from suppliers to consumers, no one has to trade.
//
// The Hungarian method for transportation problems. Every node has a price; an arc may carry flow only while it is
// tight (price[tail] - price[head] == gain). All suppliers start at the largest gain and, together with whatever they
// can reach over tight arcs, come down until they have sold everything or their price is zero. Gains are small
// integers (at most 2n for n-grams), so there are at most that many rounds, and no tolerance anywhere: capacities
// may be integers or doubles, for an augmentation always empties something exactly.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "base/interrupt.h"

namespace tesla {

struct Arc {
    std::uint32_t tail, head;
    std::int32_t gain;
};
inline constexpr std::int32_t kLargestGain = 1 << 30;  // prices lie between it and its negative: differences must fit

// Nodes are numbered: suppliers, then consumers, then hubs (pass-through nodes that stand for many equal arcs).
template <class Capacity>
class Transport {
   public:
    void reset(std::size_t suppliers, std::size_t consumers) {
        supply.assign(suppliers, Capacity{});
        demand.assign(consumers, Capacity{});
        arcs.clear();
        hubs_ = 0;
    }
    std::uint32_t consumer(std::size_t index) const { return static_cast<std::uint32_t>(supply.size() + index); }
    std::uint32_t add_hub() { return static_cast<std::uint32_t>(supply.size() + demand.size() + hubs_++); }
    // Arcs come in ascending order of their tails.
    void add_arc(std::uint32_t tail, std::uint32_t head, std::int32_t gain) { arcs.push_back({tail, head, gain}); }

    // Solves; afterwards `flow[k]` is what arc k carries. Returns the objective: the sum of gain * flow.
    Capacity solve();

    std::vector<Capacity> supply, demand;  // filled in by the caller; solve() leaves what remains unsold, unbought
    std::vector<Arc> arcs;
    std::vector<Capacity> flow;

   private:
    static constexpr std::int32_t kUnreached = -1;

    void index_arcs();
    void sell_directly(std::int32_t gain);
    bool reach();             // levels of all nodes reachable from open suppliers; is there an open consumer?
    void reach_from(std::uint32_t node);
    void augment_from(std::uint32_t source);
    void push(std::uint32_t source, std::uint32_t sink);
    std::int32_t lower_prices(std::int32_t most);

    bool is_consumer(std::uint32_t node) const {
        return node >= supply.size() && node < supply.size() + demand.size();
    }
    Capacity& room(std::uint32_t consumer_node) { return demand[consumer_node - supply.size()]; }
    bool tight(const Arc& a) const { return price_[a.tail] - price_[a.head] == a.gain; }
    std::uint32_t degree(std::uint32_t node) const {
        return out_[node + 1] - out_[node] + in_[node + 1] - in_[node];
    }
    // The k-th residual step out of a node: forwards over a tight arc, or backwards over one that carries flow.
    struct Step {
        std::uint32_t arc;
        bool forward;
    };
    Step step(std::uint32_t node, std::uint32_t k) const {
        std::uint32_t outgoing = out_[node + 1] - out_[node];
        if (k < outgoing) return {out_[node] + k, true};
        return {incoming_[in_[node] + k - outgoing], false};
    }
    // Where the step leads, or the node itself if it cannot be taken now.
    std::uint32_t target(std::uint32_t node, Step s) const {
        const Arc& a = arcs[s.arc];
        if (s.forward) return tight(a) ? a.head : node;
        return flow[s.arc] > Capacity{} ? a.tail : node;
    }

    std::size_t hubs_ = 0;
    std::vector<std::uint32_t> out_, in_, incoming_, next_, queue_;
    std::vector<std::int32_t> price_, level_;
    std::vector<Step> path_;
    Interrupt interrupt_;
};

template <class Capacity>
Capacity Transport<Capacity>::solve() {
    index_arcs();
    std::int32_t ceiling = 0;
    for (const Arc& a : arcs) ceiling = std::max(ceiling, a.gain);
    flow.assign(arcs.size(), Capacity{});
    price_.assign(supply.size() + demand.size() + hubs_, 0);
    std::fill_n(price_.begin(), supply.size(), ceiling);

    if (hubs_ == 0) sell_directly(ceiling);
    for (std::int32_t left = ceiling; left > 0;) {
        interrupt_.step(arcs.size());
        while (reach()) {
            interrupt_.step(2 * arcs.size());  // a round looks at each arc a few times, and at paths as it pushes
            std::fill(next_.begin(), next_.end(), 0);
            for (std::uint32_t x = 0; x < supply.size(); ++x)
                if (level_[x] == 0) augment_from(x);
        }
        if (queue_.empty()) break;  // every supplier that has a buyer is sold out
        left -= lower_prices(left);
    }
    Capacity objective{};
    for (std::size_t k = 0; k < arcs.size(); ++k) objective += flow[k] * static_cast<Capacity>(arcs[k].gain);
    return objective;
}

template <class Capacity>
void Transport<Capacity>::index_arcs() {
    std::size_t nodes = supply.size() + demand.size() + hubs_;
    out_.assign(nodes + 1, 0);
    in_.assign(nodes + 1, 0);
    for (std::size_t k = 0; k < arcs.size(); ++k) {
        if (k > 0 && arcs[k].tail < arcs[k - 1].tail) throw std::logic_error("transport: arcs out of order");
        ++out_[arcs[k].tail + 1];
        ++in_[arcs[k].head + 1];
    }
    for (std::size_t v = 0; v < nodes; ++v) {
        out_[v + 1] += out_[v];
        in_[v + 1] += in_[v];
    }
    incoming_.resize(arcs.size());
    next_.assign(in_.begin(), in_.end());
    for (std::uint32_t k = 0; k < arcs.size(); ++k) incoming_[next_[arcs[k].head]++] = k;
    next_.assign(nodes, 0);
}

// What the first round of paths comes to where there are no hubs: suppliers in turn sell over arcs of the largest gain.
template <class Capacity>
void Transport<Capacity>::sell_directly(std::int32_t gain) {
    for (std::uint32_t k = 0; k < arcs.size(); ++k) {
        const Arc& a = arcs[k];
        if (a.gain != gain) continue;
        const Capacity amount = std::min(supply[a.tail], room(a.head));
        flow[k] = amount;
        supply[a.tail] -= amount;
        room(a.head) -= amount;
    }
}

template <class Capacity>
bool Transport<Capacity>::reach() {
    level_.assign(price_.size(), kUnreached);
    queue_.clear();
    for (std::uint32_t x = 0; x < supply.size(); ++x) {
        if (supply[x] > Capacity{} && out_[x + 1] > out_[x]) {
            level_[x] = 0;
            queue_.push_back(x);
        }
    }
    bool open = false;
    for (std::size_t i = 0; i < queue_.size(); ++i) {
        if (is_consumer(queue_[i]) && room(queue_[i]) > Capacity{})
            open = true;  // a path may end here: no need to look behind it in this round
        else
            reach_from(queue_[i]);
    }
    return open;
}

template <class Capacity>
void Transport<Capacity>::reach_from(std::uint32_t node) {
    const std::int32_t next_level = level_[node] + 1;
    auto visit = [&](std::uint32_t w) {
        if (level_[w] != kUnreached) return;
        level_[w] = next_level;
        queue_.push_back(w);
    };
    for (std::uint32_t k = out_[node]; k < out_[node + 1]; ++k)
        if (tight(arcs[k])) visit(arcs[k].head);
    for (std::uint32_t k = in_[node]; k < in_[node + 1]; ++k)
        if (flow[incoming_[k]] > Capacity{}) visit(arcs[incoming_[k]].tail);
}

// Depth-first along ascending levels; `next_` remembers for each node which steps are used up in this round.
template <class Capacity>
void Transport<Capacity>::augment_from(std::uint32_t source) {
    std::uint32_t v = source;
    path_.clear();
    while (supply[source] > Capacity{}) {
        if (is_consumer(v) && room(v) > Capacity{}) {
            push(source, v);
            interrupt_.step(path_.size());
            path_.clear();
            v = source;
            continue;
        }
        bool advanced = false;
        for (; next_[v] < degree(v); ++next_[v]) {
            Step s = step(v, next_[v]);
            std::uint32_t w = target(v, s);
            if (level_[w] == level_[v] + 1) {
                path_.push_back(s);
                v = w;
                advanced = true;
                break;
            }
        }
        if (advanced) continue;
        if (path_.empty()) return;
        const Arc& a = arcs[path_.back().arc];
        v = path_.back().forward ? a.tail : a.head;
        path_.pop_back();
        ++next_[v];
    }
}

template <class Capacity>
void Transport<Capacity>::push(std::uint32_t source, std::uint32_t sink) {
    Capacity amount = std::min(supply[source], room(sink));
    for (Step s : path_)
        if (!s.forward) amount = std::min(amount, flow[s.arc]);
    for (Step s : path_) {
        if (s.forward)
            flow[s.arc] += amount;
        else
            flow[s.arc] -= amount;
    }
    supply[source] -= amount;
    room(sink) -= amount;
}

// The reached nodes come down together until another arc becomes tight, or by `most`.
template <class Capacity>
std::int32_t Transport<Capacity>::lower_prices(std::int32_t most) {
    std::int32_t drop = most;
    for (std::uint32_t v : queue_) {
        for (std::uint32_t k = out_[v]; k < out_[v + 1]; ++k) {
            const Arc& a = arcs[k];
            if (level_[a.head] == kUnreached) drop = std::min(drop, price_[a.tail] - price_[a.head] - a.gain);
        }
    }
    for (std::uint32_t v : queue_) price_[v] -= drop;
    return drop;
}

}  // namespace tesla
