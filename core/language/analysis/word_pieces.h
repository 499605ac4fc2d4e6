// Words cut into the pieces of a vocabulary, the longest first, as BERT does (WordPiece).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/text_notes.h"
#include "base/text_table.h"

namespace tesla {

class WordPieces {
   public:
    // Pieces that begin with `prefix` continue a word; without a prefix every piece may. Texts of pieces outlive this.
    explicit WordPieces(std::string_view prefix) : prefix_(prefix) {}

    void reserve(std::size_t count) { beginnings_.reserve(count); }
    bool add(std::string_view piece, std::uint32_t number);  // false where it is there already
    // The piece that is the whole word; null if there is none.
    const std::uint32_t* find(std::string_view word) const { return beginnings_.find(word); }
    const std::uint32_t* find(std::string_view word, std::uint32_t hash) const { return beginnings_.find(word, hash); }
    // Asks for the memory that up to kAtOnce words need that are pieces. Returns the hashes.
    static constexpr std::size_t kAtOnce = TextTable<std::uint32_t>::kAtOnce;
    TextTable<std::uint32_t>::Hashes prefetch(const std::string_view* words, std::size_t count) const {
        return beginnings_.prefetch(words, count);
    }
    // Appends the pieces of a word. Where it cannot be covered, or has more than `longest` characters, there are none.
    bool cut(std::string_view word, std::size_t longest, std::vector<std::uint32_t>& pieces) const;

   private:
    // Entries by their text. Most beginnings of a word are none of them.
    class Entries {
       public:
        bool add(std::string_view entry, std::uint32_t number);
        void reserve(std::size_t count) { numbers_.reserve(count); }
        const std::uint32_t* find(std::string_view entry) const { return numbers_.find(entry); }
        const std::uint32_t* find(std::string_view entry, std::uint32_t hash) const { return numbers_.find(entry, hash); }
        TextTable<std::uint32_t>::Hashes prefetch(const std::string_view* entries, std::size_t count) const {
            return numbers_.prefetch(entries, count);
        }
        // The longest entry that `text` begins with: its length in bytes, or 0 if `text` begins with no entry.
        std::size_t longest_beginning(std::string_view text, std::uint32_t& number) const;

       private:
        TextTable<std::uint32_t> numbers_;
        TextNotes notes_{std::size_t{1} << 19};  // 64 KB: a part of the cache
        std::size_t longest_ = 0;
    };

    std::string prefix_;
    Entries beginnings_, continuations_;
};

}  // namespace tesla
