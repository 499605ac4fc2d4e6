// Random numbers for shuffling training data.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/hashing.h"

namespace tesla {

class Random {  // splitmix64: the same numbers on every platform, which std::shuffle does not promise
   public:
    explicit Random(std::uint64_t seed) : state_(seed) {}
    std::size_t below(std::size_t bound) { return static_cast<std::size_t>(next() % bound); }

   private:
    std::uint64_t next() {
        std::uint64_t x = state_ += kGolden;
        x = (x ^ (x >> 30)) * kSplitMix;
        x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
        return x ^ (x >> 31);
    }
    std::uint64_t state_;
};

}  // namespace tesla
