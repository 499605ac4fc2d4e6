// Hashes under a key drawn anew by each process: nobody can prepare words that all fall into one slot of a table. No result
// may depend on their values. Text takes SipHash-1-3 (Aumasson & Bernstein 2012), as in Python and Rust; numbers of words,
// which nobody outside can choose freely, take the mixer of base/hashing.h.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/hashing.h"

namespace tesla {

struct HashKey {
    std::uint64_t first, second;
};

const HashKey& process_hash_key();
std::uint64_t sip_hash(std::string_view text, const HashKey& key);

inline std::uint32_t table_hash(std::string_view text) {
    return static_cast<std::uint32_t>(sip_hash(text, process_hash_key()));
}
template <class... More>
std::uint32_t table_hash(std::uint64_t number, More... more) {
    std::uint64_t state = number ^ process_hash_key().first;
    std::uint64_t factor = 1;
    ((state += more * (factor *= kScramble)), ...);  // products that do not wait for each other
    return static_cast<std::uint32_t>(scrambled(state) >> 32);
}

}  // namespace tesla
