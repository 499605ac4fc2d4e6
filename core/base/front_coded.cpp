#include "base/front_coded.h"

#include <algorithm>
#include <utility>

#include "base/unicode.h"

namespace tesla {
namespace {

constexpr std::string_view kMagic = "SMFC1";
constexpr unsigned char kReversed = 0x01;
constexpr unsigned char kSameAsBefore = 254;  // instead of how much of the key to cut
constexpr unsigned char kWhole = 255;
constexpr std::size_t kBlock = 8;

[[noreturn]] void fail() { throw DamagedDictionary(); }

// The first eight bytes as a number that sorts like them; zeros follow a shorter key.
std::uint64_t head_of(std::string_view key) {
    std::uint64_t head = 0;
    for (std::size_t i = 0; i < sizeof head; ++i)
        head = head << 8 | (i < key.size() ? static_cast<unsigned char>(key[i]) : 0U);
    return head;
}

std::size_t common_prefix(std::string_view a, std::string_view b) {
    return static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
}

}  // namespace

FrontCodedDictionary::FrontCodedDictionary(std::string stream) : stream_(std::move(stream)) {
    if (stream_.compare(0, kMagic.size(), kMagic) != 0 || stream_.size() == kMagic.size()) fail();
    reversed_ = (static_cast<unsigned char>(stream_[kMagic.size()]) & kReversed) != 0;
    std::size_t promised = 0;
    std::size_t position = number(kMagic.size() + 1, promised);
    Record record;
    std::string before;
    while (position < stream_.size()) {
        position = read(position, record);
        if (size_ > 0 && record.key <= before) fail();  // look-ups rely on the order
        if (size_ % kBlock == 0) {
            blocks_.push_back({firsts_.size(), position, static_cast<std::uint32_t>(record.key.size()),
                               static_cast<std::uint32_t>(record.value.size())});
            firsts_.append(record.key).append(record.value);
            heads_.push_back(head_of(record.key));
        }
        before = record.key;
        ++size_;
    }
    if (size_ != promised) fail();
}

bool FrontCodedDictionary::find(std::string_view key, std::string& value) const {
    std::string turned;
    if (reversed_) key = turned.assign(key.rbegin(), key.rend());
    const Block* block = block_of(key);
    if (!block) return false;
    if (first_key(*block) == key) {
        value = first_value(*block);
    } else if (!find_in(*block, key, value)) {
        return false;
    }
    if (reversed_) std::reverse(value.begin(), value.end());
    if (!is_utf8(value)) fail();  // to look at every value when the stream is scanned would take too long
    return true;
}

const FrontCodedDictionary::Block* FrontCodedDictionary::block_of(std::string_view key) const {
    const auto [low, high] = std::equal_range(heads_.begin(), heads_.end(), head_of(key));
    const Block* const block = std::upper_bound(
        blocks_.data() + (low - heads_.begin()), blocks_.data() + (high - heads_.begin()), key,
        [this](std::string_view wanted, const Block& b) { return wanted < first_key(b); });
    return block == blocks_.data() ? nullptr : block - 1;
}

// No key is put together. As long as keys come before the wanted one, all that counts is how many bytes they have in common
// with it: a record that shares more than that with the one before has no more in common with the wanted key either, one
// that shares less comes after it, and only one that shares as much must be looked at.
bool FrontCodedDictionary::find_in(const Block& block, std::string_view key, std::string& value) const {
    std::size_t common = common_prefix(key, first_key(block)), position = block.rest;
    std::size_t valued = 0;  // where the last record begins that has a value of its own
    for (std::size_t left = kBlock; --left > 0 && position < stream_.size();) {
        const std::size_t start = position;
        std::size_t shared = 0, length = 0;
        position = number(number(position, shared), length);
        if (length >= stream_.size() - position) fail();
        if (shared < common) return false;
        bool found = false;
        if (shared == common) {
            const std::string_view added(stream_.data() + position, length), wanted = key.substr(common);
            const std::size_t equal = common_prefix(wanted, added);
            found = equal == wanted.size();
            if (found && equal < length) return false;
            if (equal < std::min(length, wanted.size()) &&
                static_cast<unsigned char>(wanted[equal]) < static_cast<unsigned char>(added[equal]))
                return false;
            common += equal;
        }
        position += length;
        const auto cut = static_cast<unsigned char>(stream_[position++]);
        if (cut != kSameAsBefore) {
            valued = start;
            position = number(position, length);
            if (length > stream_.size() - position) fail();
        }
        if (found && valued == start) {
            if (cut != kWhole && cut > key.size()) fail();
            value.assign(key, 0, cut == kWhole ? 0 : key.size() - cut);
            value.append(stream_, position, length);
            return true;
        }
        if (found) {  // the value is that of a record before, whose key must be put together
            Record record{std::string(first_key(block)), std::string(first_value(block))};
            for (std::size_t at = block.rest; at <= valued;) at = read(at, record);
            value = std::move(record.value);
            return true;
        }
        if (cut != kSameAsBefore) position += length;
    }
    return false;
}

std::size_t FrontCodedDictionary::read(std::size_t position, Record& record) const {
    std::size_t shared = 0, length = 0;
    position = number(number(position, shared), length);
    if (shared > record.key.size() || length >= stream_.size() - position) fail();
    record.key.resize(shared);
    record.key.append(stream_, position, length);
    position += length;
    const auto cut = static_cast<unsigned char>(stream_[position++]);
    if (cut == kSameAsBefore) return position;
    position = number(position, length);
    if (length > stream_.size() - position) fail();
    if (cut == kWhole) {
        record.value.clear();
    } else {
        if (cut > record.key.size()) fail();
        record.value.assign(record.key, 0, record.key.size() - cut);
    }
    record.value.append(stream_, position, length);
    return position + length;
}

std::size_t FrontCodedDictionary::number(std::size_t position, std::size_t& value) const {
    value = 0;
    if (position < stream_.size() && static_cast<unsigned char>(stream_[position]) < 0x80) {  // nearly always
        value = static_cast<unsigned char>(stream_[position]);
        return position + 1;
    }
    for (unsigned shift = 0; shift < 35; shift += 7) {
        if (position >= stream_.size()) fail();
        const auto byte = static_cast<unsigned char>(stream_[position++]);
        value |= static_cast<std::size_t>(byte & 0x7F) << shift;
        if ((byte & 0x80) == 0) return position;
    }
    fail();
}

}  // namespace tesla
