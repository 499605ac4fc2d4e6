// The optimum of a transport problem (matching/transport.h) without its flow, where a table holds the gains of up to 64
// suppliers and consumers: successive shortest paths.
//
// Every supplier and every consumer has a price, at least 0. The two prices of a pair add up to its gain or more, and just to
// its gain where the one sells to the other; a consumer that still buys has the price 0. Suppliers start at their largest
// gains. What one has left takes the path that loses least: to a consumer that still buys, by way of others that leave theirs
// to the one before, or to a supplier that gives up. All prices that the search has passed follow. A supplier has given up
// when its price is 0, so that in the end the prices prove the flow to be the best.
//
// Searches look at whole rows of gains, in loops that compilers make vectors of. Pairs without a gain need no care: to sell to
// them loses no less than to give up.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <utility>

#include "base/portable.h"
#include "base/rounding.h"

namespace tesla {

class SmallTransport {
   public:
    static constexpr std::size_t kMost = 64;            // suppliers, consumers
    static constexpr std::int32_t kLargestGain = 32;
    static constexpr std::size_t kBlock = 16;
    // Rows of gains are whole blocks; those of no consumer are 0.
    static constexpr std::size_t row_width(std::size_t consumers) { return rounded_up(consumers, kBlock); }

    // The largest sum of gain * flow.
    std::int64_t solve(const std::uint8_t* gains, const std::int64_t* supply, std::size_t suppliers, const std::int64_t* demand,
                       std::size_t consumers) {
        gains_ = gains;
        suppliers_ = suppliers;
        std::copy_n(supply, suppliers, supply_);
        std::copy_n(demand, consumers, demand_);
        std::fill(demand_ + consumers, demand_ + row_width(consumers), 0);
        objective_ = 0;
        switch (row_width(consumers) / kBlock) {
            case 0: break;
            case 1: sell_all<kBlock>(); break;
            case 2: sell_all<2 * kBlock>(); break;
            case 3: sell_all<3 * kBlock>(); break;
            default: sell_all<4 * kBlock>();
        }
        return objective_;
    }

   private:
    // A consumer as a search sees it: the loss up to there, whether it has bought all it can, and its number. The search goes
    // on with the least one.
    static constexpr std::int16_t kFull = kMost, kLossUnit = 2 * kMost;
    static constexpr std::int16_t kTooFar = kLargestGain * kLossUnit;  // to give up loses no more
    static constexpr std::int16_t kPassed = 4 * kTooFar;               // too far, whatever is gained there

    template <std::size_t kWidth>
    void sell_all() {
        for (std::size_t y = 0; y < kWidth; ++y) {
            entry_[y] = static_cast<std::int16_t>(y | (demand_[y] == 0 ? kFull : 0));
            sellers_[y] = 0;
        }
        std::uint32_t best[kMost], order[kMost];
        for (std::uint32_t x = 0; x < suppliers_; ++x) best[x] = best_partner<kWidth>(x);
        const std::size_t sellers = sort_sellers(order);
        for (std::size_t k = 0; k < sellers; ++k) sell_directly(order[k], best[order[k]]);
        for (std::size_t k = 0; k < sellers; ++k)
            while (supply_[order[k]] > 0 && price_[order[k]] > 0) sell_along_path<kWidth>(order[k]);
    }

    // The suppliers that gain something, those with the highest prices first: they rarely have to leave their partners again.
    // Returns how many they are.
    std::size_t sort_sellers(std::uint32_t* order) const {
        std::uint8_t ends[kLargestGain + 1] = {};  // by price, the highest first
        for (std::size_t x = 0; x < suppliers_; ++x) ++ends[kLargestGain - price_[x]];
        std::partial_sum(std::begin(ends), std::end(ends), std::begin(ends));
        const std::size_t sellers = ends[kLargestGain - 1];
        for (std::uint32_t x = static_cast<std::uint32_t>(suppliers_); x-- > 0;) order[--ends[kLargestGain - price_[x]]] = x;
        return sellers;
    }

    // The consumer with which x gains most, which is its price.
    template <std::size_t kWidth>
    std::uint32_t best_partner(std::uint32_t x) {
        const std::uint8_t* const gains = gains_ + x * kWidth;
        std::int16_t best = 0;
        for (std::size_t y = 0; y < kWidth; ++y) best = std::max(best, static_cast<std::int16_t>(gains[y] * kMost + y));
        price_[x] = best / static_cast<std::int32_t>(kMost);
        return static_cast<std::uint32_t>(best) % kMost;
    }

    void sell_directly(std::uint32_t x, std::uint32_t y) {
        const std::int64_t amount = std::min(supply_[x], demand_[y]);
        if (amount > 0) sell(x, x, y, amount);
    }

    // The source has sold so much more; at the end of its path x sells to y.
    void sell(std::uint32_t source, std::uint32_t x, std::uint32_t y, std::int64_t amount) {
        carry(x, y, amount);
        supply_[source] -= amount;
        objective_ += amount * price_[source];
        if ((demand_[y] -= amount) == 0) entry_[y] |= kFull;
    }

    void carry(std::uint32_t x, std::uint32_t y, std::int64_t amount) {
        const std::uint64_t seller = std::uint64_t{1} << x;
        flow_[x][y] = (sellers_[y] & seller ? flow_[x][y] : 0) + amount;
        sellers_[y] |= seller;
    }

    template <std::size_t kWidth>
    void sell_along_path(std::uint32_t source) {
        const std::uint32_t end = search<kWidth>(source);
        for_each_bit(reached_, [&](std::uint32_t x) { price_[x] -= least_loss_ - loss_[x]; });
        for_each_bit(passed_, [&](std::uint32_t y) {
            entry_[y] = static_cast<std::int16_t>(unpassed_[y] + (least_loss_ - loss_up_to_[y]) * kLossUnit);
        });
        const bool sells = end != kMost;
        const std::uint32_t last = sells ? seller_before(end) : gives_up_;
        std::int64_t amount = sells ? std::min(supply_[source], demand_[end]) : supply_[source];
        for (std::uint32_t x = last; x != source; x = seller_before(leaves_[x])) amount = std::min(amount, flow_[x][leaves_[x]]);
        for (std::uint32_t x = last; x != source;) {
            const std::uint32_t y = leaves_[x];
            if ((flow_[x][y] -= amount) == 0) sellers_[y] &= ~(std::uint64_t{1} << x);
            x = seller_before(y);
            carry(x, y, amount);
        }
        if (sells) return sell(source, last, end, amount);
        supply_[source] -= amount;
        supply_[last] += amount;
        objective_ += amount * price_[source];
    }

    std::uint32_t seller_before(std::uint32_t y) const { return static_cast<std::uint32_t>(seller_before_[y]); }

    // Finds the path that loses least, and returns the consumer at its end. If the path ends with a supplier that gives up, that
    // is `gives_up_`, and kMost is returned.
    template <std::size_t kWidth>
    std::uint32_t search(std::uint32_t source) {
        reached_ = passed_ = 0;
        least_loss_ = kLargestGain + 1;
        std::fill_n(nearest_, kWidth, kTooFar);
        reach<kWidth>(source, 0);
        for (;;) {
            std::int16_t entry = kTooFar;
            for (std::size_t y = 0; y < kWidth; ++y) entry = std::min(entry, nearest_[y]);
            const std::int32_t loss = entry / kLossUnit;
            if (loss >= least_loss_) return kMost;
            const std::uint32_t y = static_cast<std::uint32_t>(entry) % kMost;
            if (!(entry & kFull)) {
                least_loss_ = loss;
                return y;
            }
            passed_ |= std::uint64_t{1} << y;
            loss_up_to_[y] = loss;
            unpassed_[y] = std::exchange(entry_[y], kPassed);
            nearest_[y] = kTooFar;
            for_each_bit(sellers_[y] & ~reached_, [&](std::uint32_t x) {
                leaves_[x] = y;
                reach<kWidth>(x, loss);
            });
        }
    }

    // What x could do with its gains, where so much is lost up to it.
    template <std::size_t kWidth>
    void reach(std::uint32_t x, std::int32_t loss) {
        reached_ |= std::uint64_t{1} << x;
        loss_[x] = loss;
        const std::int32_t without_gain = loss + price_[x];
        if (without_gain < least_loss_) {
            least_loss_ = without_gain;
            gives_up_ = x;
        }
        const std::uint8_t* const __restrict gains = gains_ + x * kWidth;
        const auto seller = static_cast<std::int16_t>(x), lost = static_cast<std::int16_t>(without_gain * kLossUnit);
        for (std::size_t y = 0; y < kWidth; ++y) {
            const auto entry = static_cast<std::int16_t>(entry_[y] + lost - gains[y] * kLossUnit);
            seller_before_[y] = entry < nearest_[y] ? seller : seller_before_[y];
            nearest_[y] = std::min(nearest_[y], entry);
        }
    }

    template <class Use>
    static void for_each_bit(std::uint64_t bits, Use&& use) {
        for (; bits != 0; bits &= bits - 1) use(static_cast<std::uint32_t>(lowest_bit(bits)));
    }

    const std::uint8_t* gains_ = nullptr;
    std::size_t suppliers_ = 0;
    std::int64_t supply_[kMost], demand_[kMost];  // what is left of them
    std::int64_t objective_ = 0;
    std::int32_t price_[kMost];                   // of suppliers
    std::int16_t entry_[kMost];                   // of consumers: their prices are losses
    std::uint64_t sellers_[kMost];                // by consumer: a bit for each supplier that sells to it
    std::int64_t flow_[kMost][kMost];             // from these
    // Of the last search.
    std::int16_t unpassed_[kMost];                       // the entries of consumers that were passed, before that
    std::int16_t nearest_[kMost], seller_before_[kMost];  // the least entry of each consumer, and who sells to it then
    std::uint32_t leaves_[kMost];                        // by supplier: the consumer that it leaves to the one before
    std::int32_t loss_[kMost], loss_up_to_[kMost];       // by supplier and by consumer
    std::uint64_t reached_ = 0, passed_ = 0;             // suppliers, consumers: a bit each
    std::int32_t least_loss_ = 0;
    std::uint32_t gives_up_ = 0;  // the supplier that loses least by that
};

// The gains of n-grams. An n-gram is a first word and the (n - 1)-gram behind it: its gain is the sum of both gains, and 0 if one
// of them is 0. The tables have the form that SmallTransport reads. One byte behind the table `rest` is read too.
inline void join_gains(const std::uint8_t* words, std::size_t words_width, const std::uint8_t* rest, std::size_t suppliers,
                       std::size_t consumers, std::uint8_t* joined) {
    const std::size_t width = SmallTransport::row_width(consumers), rest_width = SmallTransport::row_width(consumers + 1);
    for (std::size_t i = 0; i < suppliers; ++i) {
        const std::uint8_t *const first = words + i * words_width, *const second = rest + (i + 1) * rest_width + 1;
        std::uint8_t* const __restrict both = joined + i * width;
        for (std::size_t j = 0; j < width; ++j) {
            const auto sum = static_cast<std::uint8_t>(first[j] + second[j]);
            both[j] = ((first[j] != 0) & (second[j] != 0)) ? sum : 0;
        }
        std::fill(both + consumers, both + width, 0);  // there `second` is another row
    }
}

}  // namespace tesla
