// Bags of character n-grams (specification §8b): raw text without white space, n = 1 .. 6, identity, closed form.
//
// One sort serves all orders. A text's bag is its sorted suffixes, each cut after six characters and packed into 128
// bits; the n-grams of any order are prefixes of these, and so are sorted already.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <string>
#include <string_view>
#include <vector>

#include "matching/bags.h"

namespace tesla {

inline constexpr int kMaxCharacterOrder = 6;

// Memory for making bags, which serves all texts of a batch one after the other.
struct CharacterScratch {
    std::u32string text;
    std::vector<WideKey> suffix_at;
    std::vector<std::uint8_t> bucket_at;  // of every character; 0 for the end
    std::vector<std::uint32_t> by_second;
};

class CharacterBag {
   public:
    CharacterBag(std::string_view utf8, CharacterScratch& scratch,
                 std::pmr::memory_resource* memory = std::pmr::get_default_resource());

    std::size_t length() const { return suffixes_.size(); }  // characters that are not white space
    std::int64_t total(int n) const;                         // n-grams of the text
    // matches[n - 1]: the n-grams that both texts have, each as often as in the text that has it less often.
    static void overlap(const CharacterBag& a, const CharacterBag& b, int max_order, std::int64_t* matches);

   private:
    static void overlap_of_long_texts(const CharacterBag& a, const CharacterBag& b, int max_order, std::int64_t* matches);

    std::pmr::vector<WideKey> suffixes_;  // ascending; a suffix that is too short ends in zeros
};

}  // namespace tesla
