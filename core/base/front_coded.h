// A read-only dictionary in the format of simplemma 2 ("SMFC1"), looked up where it lies.
//
// Keys are sorted, and each is stored as what it does not share with the one before; a value is an edit of its key.
// Decoding all of it into a Python dictionary takes 1.8 s for German and 5 s and 600 MB for Finnish; here one scan
// of some milliseconds checks the stream and notes every eighth record, and a look-up decodes one such block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace tesla {

struct DamagedDictionary : std::invalid_argument {
    DamagedDictionary() : std::invalid_argument("damaged or in another format") {}
};

class FrontCodedDictionary {
   public:
    // Throws DamagedDictionary if the stream is damaged or in another format.
    explicit FrontCodedDictionary(std::string stream);

    // Whether the key is there; then its value is written. Throws DamagedDictionary if the value is damaged.
    bool find(std::string_view key, std::string& value) const;
    std::size_t size() const { return size_; }

   private:
    struct Record {
        std::string key;
        std::string value;
    };
    // Its first record is in `firsts_`, the key before the value; its second begins at `rest` in the stream.
    struct Block {
        std::size_t first, rest;
        std::uint32_t key_size, value_size;
    };
    std::string_view first_key(const Block& block) const { return {firsts_.data() + block.first, block.key_size}; }
    std::string_view first_value(const Block& block) const {
        return {firsts_.data() + block.first + block.key_size, block.value_size};
    }

    // Reads the record at `position` over the one before it; returns where the next one begins.
    std::size_t read(std::size_t position, Record& record) const;
    // The block whose first key is the last that does not come after this one; null if all do.
    const Block* block_of(std::string_view key) const;
    bool find_in(const Block& block, std::string_view key, std::string& value) const;
    std::size_t number(std::size_t position, std::size_t& value) const;

    std::string stream_, firsts_;
    std::vector<Block> blocks_;
    std::vector<std::uint64_t> heads_;  // the first bytes of the blocks' first keys
    std::size_t size_ = 0;
    bool reversed_ = false;
};

}  // namespace tesla
