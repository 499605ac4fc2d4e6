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
    std::size_t position = block->rest;
    for (std::size_t left = kBlock; record.key < stored; position = read(position, record)) {
        if (--left == 0 || position == stream_.size()) return std::nullopt;
    }
    if (record.key != stored) return std::nullopt;
    if (reversed_) std::reverse(record.value.begin(), record.value.end());
    if (!is_utf8(record.value)) fail();  // to look at every value when the stream is scanned would take too long
    return std::move(record.value);
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
