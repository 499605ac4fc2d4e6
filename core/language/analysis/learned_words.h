// What is known of the words, or the lemmas, of a lexicon without their context: each is looked at once, by whichever thread
// comes first.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "base/fork_safe.h"
#include "language/analysis/lexicon.h"

namespace tesla {

// Many threads may learn and read at the same time. What was learned stays where it is. Threads that meet the same new words
// share the work: each takes blocks that no other has taken, and none waits for another.
template <class Known, class Look = Known>
class LearnedWords {
   public:
    // Of what was learned.
    const Known& operator[](std::size_t number) const { return known_[number]; }
    std::size_t size() const { return known_.size(); }

    // Learns all numbers below `end`. look_at(from, to) gives a Look of each; no lock is held meanwhile. conclude(number, look)
    // makes a Known of it, under the lock and in the order of the numbers.
    template <class LookAt, class Conclude>
    void learn(std::uint64_t end, LookAt&& look_at, Conclude&& conclude) {
        if (size() >= end) return;
        std::unique_lock lock(mutex_);
        while (size() < end) {
            // Where all are taken, those that another thread has not finished yet are looked at once more.
            const std::size_t from = taken_ < end ? taken_ : size();
            const auto to = static_cast<std::size_t>(std::min<std::uint64_t>(from + kBlock, end));
            taken_ = std::max(taken_, to);
            lock.unlock();
            std::vector<Look> looks = look_at(static_cast<std::uint32_t>(from), static_cast<std::uint32_t>(to));
            lock.lock();
            waiting_.push_back({from, std::move(looks)});
            conclude_waiting(conclude);
        }
    }
    // Where what is seen of a number is all there is to know.
    template <class LookAt>
    void learn(std::uint64_t end, LookAt&& look_at) {
        learn(end, look_at, [](std::uint32_t, const Known& look) { return look; });
    }

   private:
    static constexpr std::size_t kBlock = 256;
    struct Block {
        std::size_t from;
        std::vector<Look> looks;
        std::size_t end() const { return from + looks.size(); }
    };

    template <class Conclude>
    void conclude_waiting(Conclude& conclude) {
        const auto find_next = [this] {
            return std::find_if(waiting_.begin(), waiting_.end(),
                                [this](const Block& block) { return block.from <= size() && size() < block.end(); });
        };
        for (auto next = find_next(); next != waiting_.end(); next = find_next()) {
            for (std::size_t number = size(); number < next->end(); ++number) {
                known_.prepare();
                const Known known = conclude(static_cast<std::uint32_t>(number), next->looks[number - next->from]);
                known_.append([&](Known& place) noexcept { place = known; });
            }
        }
        const auto is_done = [this](const Block& block) { return block.end() <= size(); };
        waiting_.erase(std::remove_if(waiting_.begin(), waiting_.end(), is_done), waiting_.end());
    }

    ForkSafe<std::mutex> mutex_;
    std::size_t taken_ = 0;       // numbers below it are known, or some thread looks at them
    std::vector<Block> waiting_;  // for those before them
    StableArray<Known> known_;
};

// The first number that none of these reaches: it may be 2^32, which not every std::size_t can hold.
inline std::uint64_t end_of(const ArrayView<std::uint32_t>& numbers) {
    std::uint32_t highest = 0;  // without a place, which many numbers at once would not tell
    for (std::uint32_t number : numbers) highest = std::max(highest, number);
    return numbers.size ? std::uint64_t{highest} + 1 : 0;
}

}  // namespace tesla
