// A read-only dictionary in the format of simplemma 2 ("SMFC1"), looked up where it lies.
//
// Keys are sorted, and each is stored as what it does not share with the one before; a value is an edit of its key.
// Decoding all of it into a Python dictionary takes 1.8 s for German and 5 s and 600 MB for Finnish; here one scan
// of some milliseconds checks the stream and stores every eighth key whole, and a look-up reads one such block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/ascending_numbers.h"

namespace tesla {

struct DamagedDictionary : std::invalid_argument {
    DamagedDictionary() : std::invalid_argument("damaged or in another format") {}
};

class FrontCodedDictionary {
   public:
    // Throws DamagedDictionary if the stream is damaged or in another format.
    explicit FrontCodedDictionary(std::string_view stream);

    // Whether the key is there; then its value is written. Throws DamagedDictionary if the value is damaged.
    bool find(std::string_view key, std::string& value) const;
    // Asks for the memory that `find` will most likely need.
    void prefetch(std::string_view key) const;
    std::size_t size() const { return size_; }

   private:
    void begin_block(std::string_view key, std::string_view value);
    // The block whose first key is the last that does not come after this one; the first block where all do.
    std::size_t block_of(std::string_view key) const;
    std::string_view key_at(std::size_t start) const;  // of a block
    bool find_in(std::size_t block, std::string_view key, std::string& value) const;

    std::string records_;               // those of the stream; of a block's first one, key and value are whole
    std::vector<std::size_t> starts_;   // of the blocks in records_
    AscendingNumbers heads_;            // the first bytes of the blocks' first keys
    std::size_t size_ = 0;
    bool reversed_ = false;
};

}  // namespace tesla
