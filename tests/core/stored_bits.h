// Hashes of what the tests of the kernels compute: the same with every compiler, on every CPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>

constexpr std::uint64_t kEncoderBits = 0x48e4a9fd3ce3ebd2;  // tests/test_state_encoder.py computes it from Python, too
constexpr std::uint64_t kMatchingBits = 0xd74d74460e21cdf0;

// The numbers that all tests draw.
class Drawn {
   public:
    std::uint32_t below(std::uint32_t limit) {
        state_ = state_ * 6364136223846793005u + 1442695040888963407u;
        return static_cast<std::uint32_t>(state_ >> 33) % limit;
    }
    int around_0(int largest) { return static_cast<int>(below(static_cast<std::uint32_t>(2 * largest + 1))) - largest; }

   private:
    std::uint64_t state_ = 1;
};

class Hash {
   public:
    void add(std::uint64_t value) { value_ = (value_ ^ value) * 1099511628211u; }
    // Prints the bits beside the stored ones; whether they are equal.
    bool is(const char* name, std::uint64_t stored) const {
        std::printf("%-12s %016llx %s\n", name, static_cast<unsigned long long>(value_), value_ == stored ? "as stored" : "DIFFERENT");
        return value_ == stored;
    }

   private:
    std::uint64_t value_ = 14695981039346656037u;
};
