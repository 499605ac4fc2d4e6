#include "base/front_coded.h"

#include <algorithm>
#include <utility>

#include "base/portable.h"
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
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(key.data());
    std::uint64_t head = key.size() < 8 ? few_bytes(bytes, key.size()) : eight_bytes(bytes);
    head = (head & 0x00FF00FF00FF00FF) << 8 | (head >> 8 & 0x00FF00FF00FF00FF);
    head = (head & 0x0000FFFF0000FFFF) << 16 | (head >> 16 & 0x0000FFFF0000FFFF);
    return head << 32 | head >> 32;
}

std::size_t common_prefix(std::string_view a, std::string_view b) {
    return static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
}

std::size_t read_long_number(std::string_view stream, std::size_t& position) {
    std::size_t value = 0;
    for (unsigned shift = 0; shift < 35; shift += 7) {
        if (position >= stream.size()) fail();
        const auto byte = static_cast<unsigned char>(stream[position++]);
        value |= static_cast<std::size_t>(byte & 0x7F) << shift;
        if ((byte & 0x80) == 0) return value;
    }
    fail();
}

inline std::size_t read_number(std::string_view stream, std::size_t& position) {
    if (position < stream.size() && static_cast<unsigned char>(stream[position]) < 0x80)  // nearly always
        return static_cast<unsigned char>(stream[position++]);
    return read_long_number(stream, position);
}

void append_number(std::size_t value, std::string& stream) {
    for (; value >= 0x80; value >>= 7) stream.push_back(static_cast<char>(value | 0x80));
    stream.push_back(static_cast<char>(value));
}

// What is stored of a key and its value.
struct Record {
    std::size_t shared;       // bytes of the key before, with which this key begins
    std::string_view added;   // the rest of the key
    unsigned char cut;        // bytes that the value leaves off the end of the key; or kSameAsBefore, kWhole
    std::string_view ending;  // the rest of the value

    std::size_t key_size() const { return shared + added.size(); }
    bool has_value() const { return cut != kSameAsBefore; }
    // How much of the key the value begins with.
    std::size_t stem() const {
        if (cut == kWhole) return 0;
        if (cut > key_size()) fail();
        return key_size() - cut;
    }
};

// The record at `position`, which moves on to the next one.
inline Record read_record(std::string_view stream, std::size_t& position) {
    Record record{};
    record.shared = read_number(stream, position);
    const std::size_t added = read_number(stream, position);
    if (added >= stream.size() - position) fail();
    record.added = stream.substr(position, added);
    position += added;
    record.cut = static_cast<unsigned char>(stream[position++]);
    if (!record.has_value()) return record;
    const std::size_t ending = read_number(stream, position);
    if (ending > stream.size() - position) fail();
    record.ending = stream.substr(position, ending);
    position += ending;
    return record;
}

// A key and its value, put together from one record after the other.
struct Entry {
    std::string key, value;

    void take(const Record& record) {
        if (record.shared > key.size()) fail();
        key.resize(record.shared);
        key.append(record.added);
        if (record.has_value()) value.assign(key, 0, record.stem()).append(record.ending);
    }
};

}  // namespace

FrontCodedDictionary::FrontCodedDictionary(std::string_view stream) {
    if (stream.substr(0, kMagic.size()) != kMagic || stream.size() == kMagic.size()) fail();
    std::size_t position = kMagic.size();
    reversed_ = (static_cast<unsigned char>(stream[position++]) & kReversed) != 0;
    const std::size_t promised = read_number(stream, position);
    records_.reserve(stream.size() + stream.size() / 4);
    std::vector<std::uint64_t> heads;
    Entry entry;
    std::size_t copied = position;  // records before it are in records_
    for (; position < stream.size(); ++size_) {
        const std::size_t start = position;
        const Record record = read_record(stream, position);
        if (record.shared > entry.key.size()) fail();
        if (size_ > 0 && record.added <= std::string_view(entry.key).substr(record.shared)) fail();  // look-ups rely on the order
        entry.take(record);
        if (size_ % kBlock != 0) continue;
        records_.append(stream.substr(copied, start - copied));
        heads.push_back(head_of(entry.key));
        begin_block(entry.key, entry.value);
        copied = position;
    }
    records_.append(stream.substr(copied));
    if (size_ != promised) fail();
    heads_ = AscendingNumbers(std::move(heads));
}

void FrontCodedDictionary::begin_block(std::string_view key, std::string_view value) {
    starts_.push_back(records_.size());
    append_number(0, records_);
    append_number(key.size(), records_);
    records_.append(key).push_back(static_cast<char>(kWhole));
    append_number(value.size(), records_);
    records_.append(value);
}

bool FrontCodedDictionary::find(std::string_view key, std::string& value) const {
    std::string turned;
    if (reversed_) key = turned.assign(key.rbegin(), key.rend());
    if (starts_.empty() || !find_in(block_of(key), key, value)) return false;
    if (reversed_) std::reverse(value.begin(), value.end());
    if (!is_utf8(value)) fail();  // to look at every value when the stream is scanned would take too long
    return true;
}

void FrontCodedDictionary::prefetch(std::string_view key) const {
    std::string turned;
    if (reversed_) key = turned.assign(key.rbegin(), key.rend());
    const std::size_t end = heads_.count_up_to(head_of(key));
    if (end == 0) return;
    const std::size_t start = starts_[end - 1];
    for (std::size_t at : {start, std::min(start + kCacheLine, records_.size())}) prefetch_memory(records_.data() + at);
}

std::size_t FrontCodedDictionary::block_of(std::string_view key) const {
    const std::uint64_t head = head_of(key);
    std::size_t end = heads_.count_up_to(head);
    if (end > 0 && heads_[end - 1] == head) {
        const std::size_t begin = head > 0 ? heads_.count_up_to(head - 1) : 0;
        const auto is_before = [this](std::string_view wanted, std::size_t start) { return wanted < key_at(start); };
        const auto after = std::upper_bound(starts_.begin() + begin, starts_.begin() + end, key, is_before);
        end = static_cast<std::size_t>(after - starts_.begin());
    }
    return end > 0 ? end - 1 : 0;
}

std::string_view FrontCodedDictionary::key_at(std::size_t start) const { return read_record(records_, start).added; }

// No key is put together. As long as keys come before the wanted one, all that counts is how many bytes they have in common
// with it: a record that shares more than that with the one before has no more in common with the wanted key either, one
// that shares less comes after it, and only one that shares as much must be looked at.
bool FrontCodedDictionary::find_in(std::size_t block, std::string_view key, std::string& value) const {
    const std::size_t start = starts_[block], end = block + 1 < starts_.size() ? starts_[block + 1] : records_.size();
    std::size_t common = 0;
    Record valued{};                 // the last record that has a value of its own
    std::size_t valued_end = start;  // where it ends
    std::size_t alike = 0;           // the first bytes of its key that the keys since then begin with
    for (std::size_t position = start; position < end;) {
        const Record record = read_record(records_, position);
        if (record.shared < common) return false;
        alike = std::min(alike, record.shared);
        if (record.has_value()) {
            valued = record;
            valued_end = position;
            alike = record.key_size();
        }
        if (record.shared > common) continue;
        const std::string_view wanted = key.substr(common);
        const std::size_t equal = common_prefix(wanted, record.added);
        common += equal;
        if (equal < record.added.size()) {
            if (equal == wanted.size() ||
                static_cast<unsigned char>(wanted[equal]) < static_cast<unsigned char>(record.added[equal]))
                return false;
        } else if (equal == wanted.size()) {
            if (valued.stem() <= alike) {
                value.assign(key, 0, valued.stem()).append(valued.ending);
                return true;
            }
            Entry entry;  // the value begins with more of another key than this one shares
            for (position = start; position < valued_end;) entry.take(read_record(records_, position));
            value = std::move(entry.value);
            return true;
        }
    }
    return false;
}

}  // namespace tesla
