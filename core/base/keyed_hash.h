// A hash of text under a key drawn anew by each process (SipHash-1-3, Aumasson & Bernstein 2012; Python and Rust use the
// same): nobody can prepare words that all fall into one slot of a table. No result may depend on its values.
#pragma once

#include <cstdint>
#include <string_view>

namespace tesla {

struct HashKey {
    std::uint64_t first, second;
};
const HashKey& process_hash_key();
std::uint64_t sip_hash(std::string_view text, const HashKey& key);

inline std::uint64_t keyed_hash(std::string_view text) { return sip_hash(text, process_hash_key()); }

}  // namespace tesla
