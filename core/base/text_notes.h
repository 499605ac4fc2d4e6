// Which texts there may be in a table: a few bits tell faster than the table that a text is not there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/hashing.h"
#include "base/portable.h"

namespace tesla {

class TextNotes {
   public:
    // A power of two, many times the number of texts.
    explicit TextNotes(std::size_t bits) : noted_(bits) {}

    void add(std::string_view text) { noted_[place_of(first_bytes(text), text.size())] = true; }
    bool may_have(std::string_view text) const { return may_have(first_bytes(text), text.size()); }
    // The same for the beginning, so many bytes long, of a text with these first bytes.
    bool may_have(std::uint64_t first, std::size_t length) const { return noted_[place_of(first, length)]; }

    static std::uint64_t first_bytes(std::string_view text) {
        const auto* bytes = reinterpret_cast<const std::uint8_t*>(text.data());
        return text.size() >= kFirst ? eight_bytes(bytes) : few_bytes(bytes, text.size());
    }

   private:
    static constexpr std::size_t kFirst = 8;

    std::size_t place_of(std::uint64_t first, std::size_t length) const {
        if (length < kFirst) first &= (std::uint64_t{1} << 8 * length) - 1;
        return mixed(first + length * kScramble) & (noted_.size() - 1);
    }

    std::vector<bool> noted_;
};

}  // namespace tesla
