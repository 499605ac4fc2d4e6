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
constexpr std::size_t kBlock = 32;

[[noreturn]] void fail() { throw DamagedDictionary(); }

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
        if (size_ % kBlock == 0) blocks_.push_back({record, position});
        before = record.key;
        ++size_;
    }
    if (size_ != promised) fail();
}

std::optional<std::string> FrontCodedDictionary::find(std::string_view key) const {
    std::string stored(key);
    if (reversed_) std::reverse(stored.begin(), stored.end());
    auto block = std::upper_bound(blocks_.begin(), blocks_.end(), stored,
                                  [](const std::string& wanted, const Block& b) { return wanted < b.first.key; });
    if (block == blocks_.begin()) return std::nullopt;
    --block;
    Record record = block->first;
    if (record.key != stored) {
        const std::size_t last = position_of(stored, *block);
        if (last == 0) return std::nullopt;
        for (std::size_t position = block->rest; position <= last;) position = read(position, record);
    }
    if (reversed_) std::reverse(record.value.begin(), record.value.end());
    if (!is_utf8(record.value)) fail();  // to look at every value when the stream is scanned would take too long
    return std::move(record.value);
}

// No key is put together. As long as keys come before the wanted one, all that counts is how many bytes they have in common
// with it: a record that shares more than that with the one before has no more in common with the wanted key either, one
// that shares less comes after it, and only one that shares as much must be looked at.
std::size_t FrontCodedDictionary::position_of(std::string_view key, const Block& block) const {
    const std::string& first = block.first.key;
    auto common = static_cast<std::size_t>(
        std::mismatch(key.begin(), key.end(), first.begin(), first.end()).first - key.begin());
    std::size_t position = block.rest;
    for (std::size_t left = kBlock; --left > 0 && position < stream_.size();) {
        const std::size_t start = position;
        std::size_t shared = 0, length = 0;
        position = number(number(position, shared), length);
        if (length >= stream_.size() - position) fail();
        if (shared < common) return 0;
        if (shared == common) {
            const std::string_view added(stream_.data() + position, length), wanted = key.substr(common);
            const auto equal = static_cast<std::size_t>(
                std::mismatch(wanted.begin(), wanted.end(), added.begin(), added.end()).first - wanted.begin());
            if (equal == wanted.size()) return equal == length ? start : 0;
            if (equal < length && static_cast<unsigned char>(wanted[equal]) < static_cast<unsigned char>(added[equal])) return 0;
            common += equal;
        }
        position += length;
        const auto cut = static_cast<unsigned char>(stream_[position++]);
        if (cut == kSameAsBefore) continue;
        position = number(position, length);
        if (length > stream_.size() - position) fail();
        position += length;
    }
    return 0;
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
    for (unsigned shift = 0; shift < 35; shift += 7) {
        if (position >= stream_.size()) fail();
        const auto byte = static_cast<unsigned char>(stream_[position++]);
        value |= static_cast<std::size_t>(byte & 0x7F) << shift;
        if ((byte & 0x80) == 0) return position;
    }
    fail();
}

}  // namespace tesla
