// What a word-form lexicon says of a word: the class of the longest suffix that has one.
//
// A lexicon of half a million forms shrinks to some ten thousand suffixes, and gives words that it does not hold the
// class of words that end like them. Case is ignored; a whole form is a suffix that begins with `kWordStart`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/hash_table.h"
#include "base/hashing.h"
#include "base/unicode.h"

namespace tesla {

class SuffixLexicon {
   public:
    static constexpr char32_t kWordStart = 0;

    static std::uint32_t key(const char32_t* suffix, std::size_t length) {
        Hasher hasher;
        for (std::size_t i = length; i-- > 0;) hasher.add(to_lower(suffix[i]));
        return hasher.value();
    }

    void build(const std::vector<std::uint32_t>& keys, const std::vector<std::uint32_t>& classes) {
        table_.build(keys, classes);
    }

    // The class of a form, 0 if none of its suffixes has one; of the empty form 0.
    std::uint32_t class_of(const char32_t* form, std::size_t length) const {
        if (length == 0) return 0;
        Hasher hasher;
        std::uint32_t found = table_.find(hasher.value());
        const auto look = [&](char32_t c) {
            hasher.add(c);
            const std::uint32_t longer = table_.find(hasher.value());
            found = longer | (longer == 0 ? found : 0);  // no branch depends on what nobody can foresee
        };
        for (std::size_t i = length; i-- > 0;) look(to_lower(form[i]));
        look(kWordStart);
        return found;
    }

   private:
    HashTable table_;
};

}  // namespace tesla
