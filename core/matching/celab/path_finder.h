// The longest-path search of paths.h.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "matching/celab/index.h"
#include "matching/celab/paths.h"

namespace tesla::celab {

struct Choice {
    std::int32_t place, length;
};

// The choice along a stretch that is worth most after paying for its n-grams, each kind at its price.
class PathFinder {
   public:
    explicit PathFinder(int order) : order_(order) {}

    double best(const Stretch& stretch, const std::vector<double>& prices, std::vector<Choice>& choices) {
        const std::size_t states = index(order_) + 1;
        steps_.assign(stretch.places() * states, {});
        value_.assign(states, kImpossible);
        value_[0] = 0;
        for (std::size_t place = 0; place < stretch.places(); ++place) {
            next_.assign(states, kImpossible);
            for (std::size_t before = 0; before < states; ++before) {
                if (value_[before] == kImpossible) continue;
                int reach = std::max(static_cast<int>(before) - (place > 0), stretch.floor[place]);
                take(place, before, reach, 0, value_[before]);
                for (int length = 1; length <= order_; ++length) {
                    std::int32_t kind = stretch.kind[place * index(order_) + index(length) - 1];
                    if (kind < 0) continue;
                    take(place, before, std::max(reach, length), length, value_[before] - prices[index(kind)]);
                }
            }
            for (std::size_t reach = 0; reach < states; ++reach) next_[reach] += stretch.gain[place * states + reach];
            value_.swap(next_);
        }
        std::size_t state = static_cast<std::size_t>(std::max_element(value_.begin(), value_.end()) - value_.begin());
        double worth = value_[state];
        choices.clear();
        for (std::size_t place = stretch.places(); place-- > 0;) {
            const Step& step = steps_[place * states + state];
            if (step.length > 0) choices.push_back({number(place), step.length});
            state = step.before;
        }
        return worth;
    }

   private:
    static constexpr double kImpossible = -1e300;
    struct Step {
        std::uint8_t before = 0, length = 0;
    };

    void take(std::size_t place, std::size_t before, int reach, int length, double worth) {
        if (worth <= next_[index(reach)]) return;
        next_[index(reach)] = worth;
        Step& step = steps_[place * next_.size() + index(reach)];
        step.before = static_cast<std::uint8_t>(before);
        step.length = static_cast<std::uint8_t>(length);
    }

    int order_;
    std::vector<double> value_, next_;
    std::vector<Step> steps_;
};

}  // namespace tesla::celab
