// What becomes of words, character by character: Python is asked about each character once, whatever its script, and about
// whole words only where a character depends on its neighbours.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/fork_safe.h"

namespace tesla {

struct CharacterChange {
    std::string text;         // UTF-8
    std::uint8_t traits = 0;  // bits that mean something to the caller
    bool alone = true;        // false: it depends on its neighbours
};

// The traits of the characters of a word; all 0 for a word without any.
struct WordTraits {
    std::uint8_t first = 0, any = 0, all = 0;
};

// Many threads may use one map. No lock is held while Python is asked, and what Python does then may use the map again.
class CharacterMap {
   public:
    using OfCharacter = std::function<CharacterChange(char32_t)>;
    using OfWord = std::function<std::string(std::string_view)>;

    CharacterMap(OfCharacter of_character, OfWord of_word)
        : of_character_(std::move(of_character)), of_word_(std::move(of_word)) {}

    WordTraits apply(std::string_view word, std::string& changed);

   private:
    static constexpr std::size_t kPage = 256;
    static constexpr char32_t kLast = 0x10FFFF, kAscii = 0x80;
    using Page = std::array<std::atomic<const CharacterChange*>, kPage>;
    // What is known of the characters of ASCII that become one byte: most words have no others, and take a fraction of the time.
    struct alignas(4) PlainChange {  // loaded at once
        bool known = false;
        char text = 0;
        std::uint8_t traits = 0;
    };

    const CharacterChange& change_of(char32_t c) {
        const Page* page = pages_[c / kPage].load(std::memory_order_acquire);
        const CharacterChange* known = page ? (*page)[c % kPage].load(std::memory_order_acquire) : nullptr;
        return known ? *known : ask(c);
    }
    const CharacterChange& ask(char32_t c);
    PlainChange plain_of(char byte) const {
        return plain_[static_cast<unsigned char>(byte)].load(std::memory_order_relaxed);
    }
    bool apply_to_plain(std::string_view word, std::string& changed, WordTraits& traits) const;

    OfCharacter of_character_;
    OfWord of_word_;
    std::array<std::atomic<Page*>, kLast / kPage + 1> pages_{};
    std::array<std::atomic<PlainChange>, 256> plain_{};  // by byte
    ForkSafe<std::mutex> adding_;
    std::deque<CharacterChange> changes_;
    std::vector<std::unique_ptr<Page>> owned_;
};

}  // namespace tesla
