// What a word-form lexicon says of a word: the class of the longest suffix that has one.
//
// A lexicon of half a million forms shrinks to some ten thousand suffixes, and gives words that it does not hold the
// class of words that end like them. Case is ignored; a whole form is a suffix that begins with `kWordStart`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/fixed_table.h"
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
        std::uint32_t longest = 0;
        visit_keys(form, length, [&](std::uint32_t key) {
            const std::uint32_t longer = table_.find(key);
            longest = longer | (longer == 0 ? longest : 0);  // no branch depends on what nobody can foresee
        });
        return longest;
    }
    // Asks for the memory that `class_of` will need.
    void prefetch(const char32_t* form, std::size_t length) const {
        visit_keys(form, length, [&](std::uint32_t key) { table_.prefetch(key); });
    }

   private:
    // Of all suffixes, from the empty one to the whole form.
    template <class Visit>
    static void visit_keys(const char32_t* form, std::size_t length, Visit&& visit) {
        if (length == 0) return;
        Hasher hasher;
        visit(hasher.value());
        for (std::size_t i = length; i-- > 0;) {
            hasher.add(to_lower(form[i]));
            visit(hasher.value());
        }
        hasher.add(kWordStart);
        visit(hasher.value());
    }

    FixedTable table_;
};

}  // namespace tesla
