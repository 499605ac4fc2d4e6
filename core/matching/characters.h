// Bags of character n-grams (specification §8b): raw text without white space, n = 1 .. 6, identity, closed form.
//
// Where one of two texts is short, its n-grams are numbered in tables, one for each order: an n-gram is the pair of the (n - 1)-grams
// that it begins and ends with, so that two numbers of eight bits tell the place of the next one. No branch depends on what the
// texts are like. For two long texts one sort serves all orders: the suffixes of a text, each cut after six characters and packed
// into 64 bits (of a text of ASCII alone) or 128, are sorted; n-grams of any order are prefixes of these, and so sorted already.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <string>
#include <string_view>
#include <vector>

#include "base/pairs.h"
#include "base/recycled_memory.h"
#include "matching/bags.h"
#include "matching/measures.h"

namespace tesla {

inline constexpr int kMaxCharacterOrder = 6;
void check_character_order(int max_order);

using NarrowKey = std::uint64_t;

// Memory for making bags, which serves all texts of a batch one after the other.
struct CharacterScratch {
    template <class Key>
    struct Keys {
        std::vector<Key> suffixes, ordered;
    };
    std::u32string decoded;
    Keys<NarrowKey> narrow;
    Keys<WideKey> wide;
};

class CharacterBag {
   public:
    CharacterBag(std::string_view utf8, CharacterScratch& scratch,
                 std::pmr::memory_resource* memory = std::pmr::get_default_resource());

    std::size_t length() const { return ascii_.size() + text_.size(); }  // characters that are not white space
    std::int64_t total(int n) const;                                      // n-grams of the text
    // matches[n - 1]: the n-grams that both texts have, each as often as in the text that has it less often.
    static void overlap(const CharacterBag& a, const CharacterBag& b, int max_order, std::int64_t* matches);

   private:
    bool is_short() const;

    // The characters that are not white space. One of the two is empty.
    std::pmr::string ascii_;
    std::pmr::u32string text_;
    // The suffixes of a long text, ascending; one that is too short ends in zeros. One of the two is empty.
    std::pmr::vector<NarrowKey> narrow_;
    std::pmr::vector<WideKey> wide_;
};

// The character bags of every text of a batch; made once, matched as often as one likes.
class CharacterBags {
   public:
    explicit CharacterBags(const std::vector<std::string_view>& texts);
    std::size_t size() const { return texts_.size(); }

    // One row per pair, one column per order.
    static Measures match(const CharacterBags& reference, const CharacterBags& hypothesis, const TextPairs& pairs, int max_order,
                          double alpha, bool both_ways);
    // Of every pair and order: n-grams of the hypothesis, of the reference, and those that both have.
    static std::vector<std::int64_t> count(const CharacterBags& reference, const CharacterBags& hypothesis,
                                           const TextPairs& pairs, int max_order);

   private:
    Arena memory_;  // before the bags that live in it
    std::vector<CharacterBag> texts_;
};

}  // namespace tesla
