// CRC-32 as zlib computes it, which made the keys of sense tables.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace tesla {

inline constexpr std::array<std::uint32_t, 256> kCrc32Table = [] {
    constexpr std::uint32_t kPolynomial = 0xEDB88320U;  // its bits reversed
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t i = 0; i < 256; ++i) {
        std::uint32_t c = i;
        for (int bit = 0; bit < 8; ++bit) c = (c & 1) != 0 ? kPolynomial ^ (c >> 1) : c >> 1;
        table[i] = c;
    }
    return table;
}();

inline std::uint32_t crc32(std::string_view bytes) {
    std::uint32_t crc = 0xFFFFFFFFU;
    for (char byte : bytes) crc = kCrc32Table[(crc ^ static_cast<unsigned char>(byte)) & 255] ^ (crc >> 8);
    return ~crc;
}

}  // namespace tesla
