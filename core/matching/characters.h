// Bags of character n-grams (specification §8b): raw text without white space, n = 1 .. 6, identity, closed form.
//
// One sort serves all orders. A text's bag is its sorted suffixes, each cut after six characters and packed into 128
// bits; the n-grams of any order are prefixes of these, and so are sorted already.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <string_view>
#include <vector>

#include "matching/bags.h"

namespace tesla {

inline constexpr int kMaxCharacterOrder = 6;

class CharacterBag {
   public:
    explicit CharacterBag(std::string_view utf8, std::pmr::memory_resource* memory = std::pmr::get_default_resource());

    std::size_t length() const { return suffixes_.size(); }  // characters that are not white space
    std::int64_t total(int n) const;                         // n-grams of the text
    // matches[n - 1]: the n-grams that both texts have, each as often as in the text that has it less often.
    static void overlap(const CharacterBag& a, const CharacterBag& b, int max_order, std::int64_t* matches);

   private:
    static void overlap_of_long_texts(const CharacterBag& a, const CharacterBag& b, int max_order, std::int64_t* matches);

    std::pmr::vector<WideKey> suffixes_;  // ascending; a suffix that is too short ends in zeros
};

}  // namespace tesla
