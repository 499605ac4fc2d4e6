// A hash of text under a key drawn anew by each process (SipHash-1-3, Aumasson & Bernstein 2012; Python and Rust use the
// same): nobody can prepare words that all fall into one slot of a table. No result may depend on its values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace tesla {

struct HashKey {
    std::uint64_t first, second;
};
const HashKey& process_hash_key();
std::uint64_t sip_hash(std::string_view text, const HashKey& key);

// Numbers as this machine stores them: values need not be the same on every machine.
template <class Number>
std::uint64_t load_number(const char* from) {
    Number number;
    std::memcpy(&number, from, sizeof number);
    return number;
}
// Up to seven bytes as one number, without a call for so little: halves that overlap agree where they do.
inline std::uint64_t load_rest(const char* from, std::size_t bytes) {
    if (bytes >= 4) return load_number<std::uint32_t>(from) | load_number<std::uint32_t>(from + bytes - 4) << 8 * (bytes - 4);
    if (bytes == 0) return 0;
    const auto at = [&](std::size_t i) { return load_number<std::uint8_t>(from + i) << 8 * i; };
    return at(0) | at(bytes / 2) | at(bytes - 1);
}
// A text of up to seven bytes and its length in one number, which no other text has.
inline constexpr std::size_t kShortText = 7;
inline std::uint64_t short_text(std::string_view text) {
    return load_rest(text.data(), text.size()) | static_cast<std::uint64_t>(text.size()) << 56;
}

inline std::uint64_t keyed_hash(std::string_view text) { return sip_hash(text, process_hash_key()); }

}  // namespace tesla
